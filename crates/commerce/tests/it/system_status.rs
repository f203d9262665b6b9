//! The state of the shop, and the tools that put things in order.

use serde_json::{Value, json};
use shop_rows::download_permission::{self, DownloadPermissionRow};
use site_rows::post::PostFilter;
use types::{Role, Timestamp};

use super::super::ENGINE;
use super::support::{ADMIN, HOME, NOBODY, TestShop, now};

const TOOLS: &str = "/wc/v3/system_status/tools";

#[test]
fn only_managers_see_the_state_and_run_tools() {
    let mut shop = TestShop::new();
    shop.user("manager", Role::ShopManager);
    shop.user("editor", Role::Editor);
    let (view, update) = ("woocommerce_rest_cannot_view", "woocommerce_rest_cannot_update");
    for (method, path, code) in [
        ("GET", "/wc/v2/system_status", view),
        ("GET", "/wc/v3/system_status", view),
        ("GET", TOOLS, view),
        ("GET", "/wc/v3/system_status/tools/clear_sessions", view),
        ("PUT", "/wc/v2/system_status/tools/clear_sessions", update),
    ] {
        let body = if method == "GET" { Value::Null } else { json!({}) };
        for (who, status) in [(NOBODY, 401), ("editor", 403)] {
            let answer = shop.ask(method, path, who, &body);
            assert_eq!(answer.refusal(), (status, code), "{method} {path} {who:?}");
        }
        assert_eq!(shop.ask(method, path, "manager", &body).status, 200, "{method} {path}");
    }
}

#[test]
fn the_state_is_that_of_this_shop() {
    let shop = TestShop::new();
    let currency = "/wc/v3/settings/general/woocommerce_currency";
    shop.ask("PUT", currency, ADMIN, &json!({ "value": "EUR" }));
    let state = shop.get("/wc/v3/system_status", ADMIN).json;
    assert_eq!(state["environment"]["home_url"], json!(HOME));
    assert_eq!(state["environment"]["wp_environment_type"], json!("sandbox"));
    assert_eq!(state["environment"]["php_version"], json!(""), "there is none");
    assert_eq!(state["environment"]["version"], json!(frame::compatible::SHOP));
    assert_eq!(state["environment"]["wp_version"], json!(frame::compatible::SITE));
    assert_eq!(state["environment"]["boardwalk_version"], json!(env!("CARGO_PKG_VERSION")));
    let version = state["environment"]["mysql_version"].as_str().unwrap();
    assert!(version.starts_with(|sign: char| sign.is_ascii_digit()), "{version}");
    assert!(state["database"]["database_size"]["data"].as_f64().unwrap() > 0.0, "{state}");
    assert_eq!(nulls(&state, ""), Vec::<String>::new());
    assert_eq!(state["settings"]["currency_symbol"], json!("&euro;"));
    assert_eq!(state["environment"]["mysql_version_string"], json!(ENGINE));
    assert_eq!(state["pages"][0]["page_set"], json!(false));
    let filter = PostFilter { kinds: vec!["post".to_owned()], ..PostFilter::default() };
    let posts = shop.read(move |conn| Ok(site_rows::post::list(conn, &filter)?.1)).to_string();
    let counts = state["post_type_counts"].as_array().unwrap();
    let of_posts = counts.iter().find(|count| count["type"] == "post").unwrap();
    assert_eq!(of_posts["count"], json!(posts));
}

/// Where the answer has nothing to say.
fn nulls(value: &Value, path: &str) -> Vec<String> {
    match value {
        Value::Null => vec![path.to_owned()],
        Value::Array(items) => items.iter().flat_map(|item| nulls(item, path)).collect(),
        Value::Object(members) => {
            let inside = |(name, value): (&String, &Value)| nulls(value, &format!("{path}/{name}"));
            members.iter().flat_map(inside).collect()
        }
        _ => Vec::new(),
    }
}

#[test]
fn tools_do_what_they_say() {
    let shop = TestShop::new();
    let list = shop.get(TOOLS, ADMIN);
    let ids = list.each("id");
    assert!(ids.contains(&json!("clear_sessions")) && ids.contains(&json!("verify_db_tables")));
    assert!(list.json[0].get("success").is_none(), "only a run has a result");
    for id in &ids {
        let path = format!("{TOOLS}/{}", id.as_str().unwrap());
        let answer = shop.ask("PUT", &path, ADMIN, &json!({}));
        assert_eq!((answer.status, &answer.json["success"]), (200, &json!(true)), "{path}");
        assert!(answer.json["message"].is_string(), "{path}");
    }
    let unknown = (404, "woocommerce_rest_system_status_tool_invalid_id");
    assert_eq!(shop.get(&format!("{TOOLS}/bogus"), ADMIN).refusal(), unknown);
    let run = shop.ask("PUT", &format!("{TOOLS}/bogus"), ADMIN, &json!({}));
    assert_eq!(run.refusal(), unknown);
}

#[test]
fn used_up_download_permissions_are_deleted_and_no_others() {
    let shop = TestShop::new();
    let permission = |remaining: Option<i64>, expires: Option<&str>| DownloadPermissionRow {
        remaining,
        expires: expires.map(|time| Timestamp::parse(time).unwrap()),
        granted: now(),
        ..DownloadPermissionRow::default()
    };
    let ids = shop.write(move |conn| {
        let permissions = [
            permission(None, None),
            permission(Some(0), None),
            permission(Some(3), Some("2026-11-15T07:00:00Z")),
            permission(Some(3), Some("2026-11-16T07:00:00Z")),
        ];
        permissions
            .iter()
            .map(|permission| download_permission::insert(conn, permission))
            .collect::<types::Result<Vec<i64>>>()
    });
    let path = format!("{TOOLS}/clear_expired_download_permissions");
    let answer = shop.ask("PUT", &path, ADMIN, &json!({}));
    assert_eq!(answer.json["message"], json!("Download permissions deleted: 2."));
    let left = shop.read(move |conn| {
        let exists = ids.iter().map(|id| Ok(download_permission::get(conn, *id)?.is_some()));
        exists.collect::<types::Result<Vec<bool>>>()
    });
    assert_eq!(left, [true, false, false, true]);
}

#[test]
fn what_is_kept_of_products_is_calculated_again() {
    let shop = TestShop::new();
    let made = json!({ "name": "Oar", "regular_price": "10", "manage_stock": true,
                       "stock_quantity": 0 });
    let id = shop.ask("POST", "/wc/v3/products", ADMIN, &made).json["id"].as_i64().unwrap();
    let review = json!({ "product_id": id, "review": "Fine", "reviewer": "Ada",
                         "reviewer_email": "ada@example.test", "rating": 4 });
    assert_eq!(shop.ask("POST", "/wc/v3/products/reviews", ADMIN, &review).status, 201);
    // As if somebody had written to the table by hand.
    shop.write(move |conn| {
        let row = shop_rows::product::get(conn, id)?.unwrap();
        let row = shop_rows::product::ProductRow {
            price: None,
            stock_status: "instock".to_owned(),
            rating_count: 9,
            ..row
        };
        shop_rows::product::update(conn, &row).map(drop)
    });
    let run = || {
        let path = format!("{TOOLS}/regenerate_product_lookup_tables");
        shop.ask("PUT", &path, ADMIN, &json!({})).json["message"].clone()
    };
    assert_eq!(run(), json!("Products checked: 1; corrected: 1."));
    let product = shop.get(&format!("/wc/v3/products/{id}"), ADMIN).json;
    assert_eq!((&product["price"], &product["rating_count"]), (&json!("10"), &json!(1)));
    assert_eq!(product["stock_status"], json!("outofstock"));
    let cheap = shop.get("/wc/v3/products?max_price=11", ADMIN).each("id");
    assert_eq!(cheap, [json!(id)], "lists find it by its price again");
    assert_eq!(run(), json!("Products checked: 1; corrected: 0."));
}
