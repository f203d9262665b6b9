//! Customers: made, changed, listed and deleted, by whom, and what each version shows of them.

use serde_json::{Value, json};
use types::Role;

use super::support::{ADMIN, NOBODY, TestShop, now};

const CUSTOMERS: &str = "/wc/v3/customers";

fn make(shop: &TestShop, body: &Value) -> Value {
    let made = shop.ask("POST", CUSTOMERS, ADMIN, body);
    assert_eq!(made.status, 201, "{:?}", made.json);
    made.json
}

#[test]
fn a_customer_is_made_changed_and_deleted() {
    let shop = TestShop::new();
    let made = make(
        &shop,
        &json!({
            "email": "ada@example.test",
            "first_name": "Ada",
            "billing": { "city": "London", "email": "bills@example.test" },
            "meta_data": [{ "key": "size", "value": "m" }],
        }),
    );
    let id = made["id"].as_i64().unwrap();
    assert_eq!(
        [&made["username"], &made["role"], &made["billing"]["city"], &made["shipping"]["city"]],
        [&json!("ada"), &json!("customer"), &json!("London"), &json!("")]
    );
    assert_eq!(made["is_paying_customer"], json!(false));
    assert!(made.get("orders_count").is_none());
    let path = format!("{CUSTOMERS}/{id}");
    let change = json!({ "last_name": "Lovelace", "shipping": { "city": "Bath" } });
    let changed = shop.ask("PUT", &path, ADMIN, &change);
    assert_eq!(changed.json["shipping"]["city"], "Bath");
    assert_eq!(changed.json["billing"], made["billing"], "what is not named stays");
    assert_eq!(shop.get(&path, ADMIN).json["last_name"], "Lovelace");
    let older = shop.get(&format!("/wc/v2/customers/{id}"), ADMIN).json;
    assert_eq!([&older["orders_count"], &older["total_spent"]], [&json!(0), &json!("0.00")]);
    let oldest = shop.get(&format!("/wc/v1/customers/{id}"), ADMIN).json;
    assert_eq!(oldest["last_order"], json!({ "id": null, "date": null }));
    assert!(oldest.get("meta_data").is_none() && oldest.get("role").is_none());
    assert_eq!(
        shop.ask("DELETE", &path, ADMIN, &Value::Null).refusal(),
        (400, "woocommerce_rest_trash_not_supported")
    );
    let reassigned =
        shop.ask("DELETE", &format!("{path}?force=true&reassign=99"), ADMIN, &json!({}));
    assert_eq!(reassigned.refusal(), (400, "woocommerce_rest_customer_invalid_reassign"));
    let deleted = shop.ask("DELETE", &format!("{path}?force=true"), ADMIN, &Value::Null);
    assert_eq!((deleted.status, &deleted.json["id"]), (200, &json!(id)));
    assert_eq!(shop.get(&path, ADMIN).refusal(), (404, "wc_user_invalid_id"));
    let zero = shop.get("/wc/v3/customers/0", ADMIN);
    assert_eq!(zero.refusal(), (404, "wc_user_invalid_id"));
    let deleted = shop.ask("DELETE", "/wc/v3/customers/99999?force=true", ADMIN, &Value::Null);
    assert_eq!(deleted.refusal(), (404, "wc_user_invalid_id"));
}

#[test]
fn what_cannot_be_is_refused_by_its_code() {
    let shop = TestShop::new();
    make(&shop, &json!({ "email": "ada@example.test", "username": "ada" }));
    for (body, code) in [
        (json!({ "email": "ada@example.test" }), "registration-error-email-exists"),
        (json!({ "email": "none" }), "registration-error-invalid-email"),
        (
            json!({ "email": "b@example.test", "username": "ada" }),
            "registration-error-username-exists",
        ),
        (
            json!({ "email": "b@example.test", "username": "#" }),
            "registration-error-invalid-username",
        ),
        (json!({ "email": "b@example.test", "id": 7 }), "woocommerce_rest_customer_exists"),
        (json!({ "first_name": "Bob" }), "rest_missing_callback_param"),
    ] {
        let refused = shop.ask("POST", CUSTOMERS, ADMIN, &body);
        assert_eq!(refused.refusal(), (400, code), "{body}");
    }
    let bob = make(&shop, &json!({ "email": "bob@example.test" }));
    let path = format!("{CUSTOMERS}/{}", bob["id"]);
    for (body, code) in [
        (json!({ "username": "robert" }), "woocommerce_rest_customer_invalid_argument"),
        (json!({ "email": "ada@example.test" }), "woocommerce_rest_customer_invalid_email"),
        (json!({ "billing": { "email": "none" } }), "rest_invalid_param"),
    ] {
        assert_eq!(shop.ask("PUT", &path, ADMIN, &body).refusal(), (400, code), "{body}");
    }
    let unknown = shop.ask("PUT", &format!("{CUSTOMERS}/999"), ADMIN, &json!({}));
    assert_eq!(unknown.refusal(), (400, "woocommerce_rest_invalid_id"));
}

#[test]
fn managers_change_customers_but_nobody_above_them() {
    let mut shop = TestShop::new();
    shop.user("manager", Role::ShopManager);
    let shopper = shop.user("shopper", Role::Customer);
    let admin = shop.read(|conn| Ok(site_rows::user::find_by_login(conn, ADMIN)?.unwrap().user_id));
    let path = |id: i64| format!("{CUSTOMERS}/{id}");
    let change = json!({ "first_name": "Eve", "password": "a password of mine" });
    let refused = (403, "woocommerce_rest_cannot_edit");
    assert_eq!(shop.ask("PUT", &path(admin), "manager", &change).refusal(), refused);
    assert_eq!(shop.ask("PUT", &path(shopper), "manager", &change).status, 200);
    assert_eq!(shop.get(&path(admin), "manager").status, 200);
    for (who, status) in [(NOBODY, 401), ("shopper", 403)] {
        let listed = shop.get(CUSTOMERS, who);
        assert_eq!(listed.refusal(), (status, "woocommerce_rest_cannot_view"));
        let unknown = shop.get(&path(999), who);
        assert_eq!(unknown.refusal(), (status, "woocommerce_rest_cannot_view"));
        let made = shop.ask("POST", CUSTOMERS, who, &json!({ "email": "x@example.test" }));
        assert_eq!(made.refusal(), (status, "woocommerce_rest_cannot_create"));
    }
    let batch = json!({ "delete": [shopper] });
    let refused = shop.ask("POST", &format!("{CUSTOMERS}/batch"), "manager", &batch);
    assert_eq!(refused.refusal(), (403, "woocommerce_rest_cannot_batch"));
}

#[test]
fn the_last_administrator_stays() {
    let shop = TestShop::new();
    let admin = shop.read(|conn| Ok(site_rows::user::find_by_login(conn, ADMIN)?.unwrap().user_id));
    let path = format!("{CUSTOMERS}/{admin}?force=true");
    assert!(shop.ask("DELETE", &path, ADMIN, &Value::Null).status >= 400);
    assert_eq!(shop.get(&format!("{CUSTOMERS}/{admin}"), ADMIN).status, 200);
}

#[test]
fn lists_filter_by_role_address_and_text() {
    let mut shop = TestShop::new();
    for name in ["carl", "anna", "bert"] {
        let body = json!({ "email": format!("{name}@example.test"), "first_name": name });
        make(&shop, &body);
    }
    shop.user("editor", Role::Editor);
    for (query, expected) in [
        ("", json!(["anna", "bert", "carl"])),
        ("?orderby=id&order=desc", json!(["bert", "anna", "carl"])),
        ("?search=ann", json!(["anna"])),
        ("?email=BERT@example.test", json!(["bert"])),
        ("?email=editor@example.test", json!([])),
        ("?role=editor", json!(["editor"])),
        ("?per_page=1&page=2", json!(["bert"])),
    ] {
        let listed = shop.get(&format!("{CUSTOMERS}{query}"), ADMIN);
        assert_eq!(Value::Array(listed.each("username")), expected, "{query}");
    }
    assert_eq!(shop.get(CUSTOMERS, ADMIN).header("x-wp-total"), "3");
    assert_eq!(shop.get(&format!("{CUSTOMERS}?role=all"), ADMIN).header("x-wp-total"), "5");
}

#[test]
fn a_batch_does_all_three() {
    let shop = TestShop::new();
    let ids = ["a@example.test", "b@example.test"]
        .map(|email| make(&shop, &json!({ "email": email }))["id"].as_i64().unwrap());
    let batch = json!({
        "create": [{ "email": "c@example.test" }, { "email": "a@example.test" }],
        "update": [{ "id": ids[0], "first_name": "Al" }],
        "delete": [ids[1]],
    });
    let done = shop.ask("POST", &format!("{CUSTOMERS}/batch"), ADMIN, &batch).json;
    assert_eq!(done["create"][0]["username"], "c");
    assert_eq!(done["create"][1]["error"]["code"], "registration-error-email-exists");
    assert_eq!(done["update"][0]["first_name"], "Al");
    assert_eq!(done["delete"][0]["id"], json!(ids[1]));
}

#[test]
fn a_bundle_gives_users_their_addresses_and_is_imported_twice_alike() {
    let mut shop = TestShop::new();
    let shopper = shop.user("shopper", Role::Customer);
    let sections = json!({
        "users": [{
            "id": shopper, "wc_last_active": "1790812800",
            "billing": { "city": "Rome" }, "shipping": {},
        }],
        "customer_lookup": [{
            "customer_id": "7", "user_id": shopper.to_string(), "username": "shopper",
            "first_name": "", "last_name": "", "email": "shopper@example.test",
            "date_last_active": "2026-11-14 06:41:44", "date_registered": "\\N",
            "country": "IT", "postcode": "", "city": "Rome", "state": "",
        }],
    });
    let sections: std::collections::BTreeMap<String, Value> =
        serde_json::from_value(sections).unwrap();
    let path = format!("{CUSTOMERS}/{shopper}");
    let mut seen = Vec::new();
    for _ in 0..2 {
        let sections = sections.clone();
        shop.write(move |conn| commerce::bundle::import(conn, &sections, now()).map(drop));
        seen.push(shop.get(&path, ADMIN).json);
    }
    assert_eq!(seen[0], seen[1]);
    assert_eq!(seen[0]["billing"]["city"], "Rome");
    assert_eq!(seen[0]["meta_data"][0]["key"], "wc_last_active");
    let row = shop.read(|conn| shop_rows::customer_lookup::get(conn, 7)).unwrap();
    assert_eq!((row.user_id, row.registered), (Some(shopper), None));
    let active = shop.read(move |conn| shop_rows::customer::get(conn, shopper)).unwrap();
    assert!(active.row.last_active.is_some());
}

#[test]
fn reports_know_every_customer() {
    let shop = TestShop::new();
    let body = json!({ "email": "ada@example.test", "first_name": "Ada",
                       "billing": { "city": "London", "country": "GB" } });
    let id = make(&shop, &body)["id"].as_i64().unwrap();
    let known =
        || shop.read(move |conn| shop_rows::customer_lookup::find_by_user(conn, id)).unwrap();
    let made = known();
    assert_eq!((made.username.as_str(), made.city.as_str()), ("ada", "London"));
    assert!(made.registered.is_some());
    let change = json!({ "last_name": "Lovelace", "billing": { "city": "Bath" } });
    shop.ask("PUT", &format!("{CUSTOMERS}/{id}"), ADMIN, &change);
    let changed = known();
    assert_eq!(
        (changed.customer_id, changed.last_name.as_str(), changed.city.as_str()),
        (made.customer_id, "Lovelace", "Bath")
    );
}
