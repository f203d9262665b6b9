//! The shop's settings, in groups and one by one.

use frame::Options;
use serde_json::{Value, json};
use types::Role;

use super::support::{ADMIN, HOME, NOBODY, TestShop};

const CURRENCY: &str = "/wc/v3/settings/general/woocommerce_currency";
const ADMIN_GROUP: &str = "/wc-analytics/settings/wc_admin";

#[test]
fn only_managers_see_and_change_settings() {
    let mut shop = TestShop::new();
    shop.user("manager", Role::ShopManager);
    shop.user("editor", Role::Editor);
    let (view, edit) = ("woocommerce_rest_cannot_view", "woocommerce_rest_cannot_edit");
    for (method, path, code) in [
        ("GET", "/wc/v2/settings", view),
        ("GET", "/wc/v3/settings", view),
        ("GET", ADMIN_GROUP, view),
        ("GET", CURRENCY, view),
        ("PUT", CURRENCY, edit),
        ("POST", "/wc/v3/settings/batch", edit),
        ("POST", "/wc/v2/settings/general/batch", edit),
    ] {
        let body = if method == "GET" { Value::Null } else { json!({ "value": "EUR" }) };
        for (who, status) in [(NOBODY, 401), ("editor", 403)] {
            let answer = shop.ask(method, path, who, &body);
            assert_eq!(answer.refusal(), (status, code), "{method} {path} {who:?}");
        }
        assert_eq!(shop.ask(method, path, "manager", &body).status, 200, "{method} {path}");
    }
}

#[test]
fn groups_lead_to_their_settings() {
    let shop = TestShop::new();
    let groups = shop.get("/wc/v3/settings", ADMIN);
    let ids = groups.each("id");
    assert_eq!(ids[..4], ["wc_admin", "general", "products", "tax"]);
    let link = &groups.json[1]["_links"]["options"][0]["href"];
    assert_eq!(link, &json!(format!("{HOME}/wp-json/wc/v3/settings/general")));
    for id in ids {
        let path = format!("/wc/v3/settings/{}", id.as_str().unwrap());
        let settings = shop.get(&path, ADMIN);
        assert_eq!((settings.status, settings.header("allow")), (200, "GET"), "{path}");
        for setting in settings.json.as_array().unwrap() {
            for member in ["id", "label", "description", "type", "value", "_links"] {
                assert!(setting.get(member).is_some(), "{path} {setting} {member}");
            }
            assert!(setting.get("group_id").is_none(), "only a single setting tells its group");
        }
    }
    let unknown = (404, "rest_setting_setting_group_invalid");
    for path in ["/wc/v3/settings/bogus", "/wc-analytics/settings/bogus/bogus"] {
        assert_eq!(shop.get(path, ADMIN).refusal(), unknown, "{path}");
    }
    assert_eq!(shop.get("/wc-analytics/settings", ADMIN).status, 404);
}

#[test]
fn versions_differ_in_what_they_tell() {
    let shop = TestShop::new();
    let group = |namespace: &str| {
        let path = format!("/{namespace}/settings/general/woocommerce_currency");
        shop.get(&path, ADMIN).json.get("group_id").cloned()
    };
    assert_eq!(group("wc/v2"), None);
    assert_eq!([group("wc/v3"), group("wc-analytics")], [(); 2].map(|()| Some(json!("general"))));
    let page = |namespace: &str| {
        let path = format!("/{namespace}/settings/products/woocommerce_shop_page_id");
        shop.get(&path, ADMIN).status
    };
    assert_eq!([page("wc/v2"), page("wc/v3")], [404, 200]);
}

#[test]
fn a_change_changes_the_option() {
    let shop = TestShop::new();
    for (path, value, shown) in [
        ("general/woocommerce_currency", json!("EUR"), json!("EUR")),
        ("general/woocommerce_price_num_decimals", json!(3), json!("3")),
        ("general/woocommerce_calc_taxes", json!("yes"), json!("yes")),
        ("general/woocommerce_calc_taxes", json!(""), json!("no")),
        ("general/woocommerce_default_country", json!("DE:DE-BE"), json!("DE:DE-BE")),
        ("general/woocommerce_specific_allowed_countries", json!(["DE", "??"]), json!(["DE"])),
        ("general/woocommerce_ship_to_countries", json!(""), json!("")),
        ("wc_admin/woocommerce_date_type", json!("date_created"), json!("date_created")),
        ("wc_admin/woocommerce_excluded_report_order_statuses", json!(["bogus"]), json!([])),
        ("email/woocommerce_email_from_address", json!("a@b.example"), json!("a@b.example")),
    ] {
        let path = format!("/wc/v3/settings/{path}");
        let answer = shop.ask("PUT", &path, ADMIN, &json!({ "value": value }));
        assert_eq!((answer.status, &answer.json["value"]), (200, &shown), "{path}");
        assert_eq!(answer.header("allow"), "GET, POST, PUT, PATCH");
        assert_eq!(shop.get(&path, ADMIN).json["value"], shown, "{path} is kept");
    }
    let options = shop.read(Options::read);
    assert_eq!(options.text("woocommerce_currency"), "EUR");
    assert_eq!(options.integer("woocommerce_price_num_decimals"), 3);
    assert_eq!(shop.get("/wc/v3/data/currencies/current", ADMIN).json["code"], json!("EUR"));
}

#[test]
fn a_wrong_value_changes_nothing() {
    let shop = TestShop::new();
    for (path, value) in [
        ("general/woocommerce_currency", json!("XXX")),
        ("general/woocommerce_price_num_decimals", json!("many")),
        ("general/woocommerce_price_num_decimals", json!(7)),
        ("general/woocommerce_calc_taxes", json!("maybe")),
        ("wc_admin/woocommerce_date_type", json!("bogus")),
        ("wc_admin/woocommerce_date_type", Value::Null),
        ("wc_admin/woocommerce_actionable_order_statuses", json!("pending")),
        ("general/woocommerce_store_city", json!(["a", "b"])),
        ("products/woocommerce_shop_page_id", json!("999999")),
    ] {
        let path = format!("/wc-analytics/settings/{path}");
        let before = shop.get(&path, ADMIN).json;
        let answer = shop.ask("PUT", &path, ADMIN, &json!({ "value": value }));
        assert_eq!(answer.refusal(), (400, "rest_setting_value_invalid"), "{path} {value}");
        assert_eq!(shop.get(&path, ADMIN).json, before, "{path}");
    }
    let unknown = shop.ask("PUT", &format!("{ADMIN_GROUP}/bogus"), ADMIN, &json!({ "value": "x" }));
    assert_eq!(unknown.refusal(), (404, "rest_setting_setting_invalid"));
}

#[test]
fn what_nobody_chose_has_its_default() {
    let shop = TestShop::new();
    let value = |path: &str| shop.get(&format!("/wc/v3/settings/{path}"), ADMIN).json;
    let excluded = value("wc_admin/woocommerce_excluded_report_order_statuses");
    assert_eq!(excluded["value"], json!(["pending", "cancelled", "failed"]));
    assert_eq!(excluded["options"].as_object().unwrap().len(), 8);
    let date = value("wc_admin/woocommerce_date_type");
    assert_eq!((date.get("default"), &date["value"]), (None, &json!("")));
    let sender = value("email/woocommerce_email_from_name");
    assert_eq!((&sender["value"], &sender["default"]), (&json!("Boardwalk"), &json!("Boardwalk")));
    let currency = value("general/woocommerce_currency");
    assert_eq!(currency["options"]["EUR"], json!("Euro (&euro;) — EUR"));
    assert_eq!(currency["tip"], currency["description"]);
}

#[test]
fn a_batch_changes_what_it_can() {
    let shop = TestShop::new();
    let update = json!({ "update": [
        { "id": "woocommerce_date_type", "value": "date_paid" },
        { "id": "bogus", "value": "x" },
        { "id": "woocommerce_actionable_order_statuses", "value": ["on-hold"] },
    ], "create": [{ "id": "x" }] });
    let answer = shop.ask("POST", &format!("{ADMIN_GROUP}/batch"), ADMIN, &update);
    assert_eq!((answer.status, answer.header("allow")), (200, "POST, PUT, PATCH"));
    assert!(answer.json.get("create").is_none(), "passed over where something is changed");
    let updated = &answer.json["update"];
    assert_eq!(updated[0]["value"], json!("date_paid"));
    assert_eq!(updated[1]["id"], json!("bogus"));
    assert_eq!(updated[1]["error"]["code"], json!("rest_setting_setting_invalid"));
    assert_eq!(updated[2]["value"], json!(["on-hold"]));
    let create = json!({ "create": [{ "id": "x" }], "delete": [7, 0] });
    let answer = shop.ask("POST", &format!("{ADMIN_GROUP}/batch"), ADMIN, &create);
    assert_eq!(answer.json["create"][0]["error"]["data"]["status"], json!(405));
    assert_eq!(answer.json["delete"].as_array().unwrap().len(), 1);
    let across = json!({ "update": [
        { "group_id": "general", "id": "woocommerce_currency", "value": "JPY" },
        { "group_id": "tax", "id": "woocommerce_tax_based_on", "value": "base" },
        { "id": "woocommerce_currency", "value": "EUR" },
    ] });
    let answer = shop.ask("PUT", "/wc/v3/settings/batch", ADMIN, &across);
    assert_eq!(answer.json["update"][1]["value"], json!("base"));
    let code = &answer.json["update"][2]["error"]["code"];
    assert_eq!(code, &json!("rest_setting_setting_group_invalid"));
    assert_eq!(shop.get(CURRENCY, ADMIN).json["value"], json!("JPY"));
    let many = json!({ "update": vec![json!({ "id": "x" }); 101] });
    let answer = shop.ask("PUT", "/wc/v3/settings/batch", ADMIN, &many);
    assert_eq!(answer.refusal(), (413, "woocommerce_rest_request_entity_too_large"));
    assert_eq!(shop.ask("PUT", "/wc/v3/settings/batch", ADMIN, &json!({})).json, json!([]));
}

#[test]
fn groups_of_emails_belong_to_their_group() {
    let shop = TestShop::new();
    let groups = shop.get("/wc/v3/settings", ADMIN).json;
    let group = |id: &str| {
        let found = groups.as_array().unwrap().iter().find(|group| group["id"] == id);
        found.cloned().unwrap_or_default()
    };
    assert_eq!(group("email_new_order")["parent_id"], json!("email"));
    let parts = group("email")["sub_groups"].as_array().unwrap().clone();
    assert!(parts.contains(&json!("email_new_order")), "{parts:?}");
    for part in &parts {
        assert_eq!(group(part.as_str().unwrap())["parent_id"], json!("email"), "{part}");
    }
    for id in ["checkout", "integration"] {
        let empty = shop.get(&format!("/wc/v3/settings/{id}"), ADMIN);
        assert_eq!((empty.status, &empty.json), (200, &json!([])), "{id}");
        assert_eq!(group(id)["sub_groups"], json!([]), "{id}");
    }
    let path = "/wc/v3/settings/email_new_order";
    let ids = shop.get(path, ADMIN).each("id");
    let expected = ["enabled", "recipient", "subject", "heading", "additional_content"];
    assert_eq!(ids[..5], expected);
    let refunded = shop.get("/wc/v3/settings/email_customer_refunded_order", ADMIN).each("id");
    assert!(refunded.contains(&json!("subject_partial")), "{refunded:?}");
    let subject = shop.get(&format!("{path}/subject"), ADMIN).json;
    assert_eq!((&subject["value"], &subject["group_id"]), (&json!(""), &json!("email_new_order")));
    assert!(subject["placeholder"].as_str().unwrap().contains("{order_number}"));
    let batch = json!({ "update": [
        { "id": "enabled", "value": "no" }, { "id": "email_type", "value": "fax" },
    ] });
    let answer = shop.ask("POST", &format!("{path}/batch"), ADMIN, &batch).json;
    assert_eq!(answer["update"][0]["value"], json!("no"));
    assert_eq!(answer["update"][1]["error"]["code"], json!("rest_setting_value_invalid"));
    assert_eq!(shop.get(&format!("{path}/enabled"), ADMIN).json["value"], json!("no"));
    let other = "/wc/v3/settings/email_cancelled_order/enabled";
    assert_eq!(shop.get(other, ADMIN).json["value"], json!("yes"), "each keeps its own");
}

#[test]
fn colours_follow_the_theme_until_one_is_chosen() {
    let shop = TestShop::new();
    let path = "/wc/v3/settings/email/woocommerce_email_base_color";
    let usual = shop.get(path, ADMIN).json;
    assert_eq!((&usual["type"], &usual["value"]), (&json!("color"), &usual["default"]));
    assert!(usual["value"].as_str().unwrap().starts_with('#'));
    let set = |value: &str| shop.ask("PUT", path, ADMIN, &json!({ "value": value }));
    assert_eq!(set("#ABC").json["value"], json!("#aabbcc"));
    assert_eq!(set("reddish").refusal(), (400, "rest_setting_value_invalid"));
    assert_eq!(set("").json["value"], usual["value"], "back to the theme");
}

#[test]
fn tax_classes_are_a_setting_too() {
    let shop = TestShop::new();
    let path = "/wc/v3/settings/tax/woocommerce_tax_classes";
    assert_eq!(shop.get(path, ADMIN).json["value"], json!("Reduced rate\nZero rate"));
    let rate = json!({ "country": "DE", "rate": "7", "name": "Low", "class": "reduced-rate" });
    assert_eq!(shop.ask("POST", "/wc/v3/taxes", ADMIN, &rate).status, 201);
    let value = json!({ "value": "Zero rate\n\n Books \n" });
    let answer = shop.ask("PUT", path, ADMIN, &value);
    assert_eq!((answer.status, &answer.json["value"]), (200, &json!("Zero rate\nBooks")));
    let slugs = shop.get("/wc/v3/taxes/classes", ADMIN).each("slug");
    assert_eq!(slugs, ["standard", "zero-rate", "books"]);
    assert_eq!(shop.get("/wc/v3/taxes", ADMIN).json, json!([]), "a class goes with its rates");
    let offered = shop.get("/wc/v3/settings/tax/woocommerce_shipping_tax_class", ADMIN).json;
    assert_eq!(offered["options"]["books"], json!("Books"));
    let unfit = shop.ask("PUT", path, ADMIN, &json!({ "value": "???" }));
    assert_eq!(unfit.status, 400, "{}", unfit.json);
    assert_eq!(shop.get(path, ADMIN).json["value"], json!("Zero rate\nBooks"), "nothing is lost");
}
