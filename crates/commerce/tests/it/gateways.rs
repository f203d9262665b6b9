//! Ways to pay and ways of shipping, and the layouts that there are not.

use serde_json::{Value, json};
use types::Role;

use super::support::{ADMIN, HOME, NOBODY, TestShop};

#[test]
fn only_managers_see_and_change_them() {
    let mut shop = TestShop::new();
    shop.user("manager", Role::ShopManager);
    shop.user("editor", Role::Editor);
    let (view, edit) = ("woocommerce_rest_cannot_view", "woocommerce_rest_cannot_edit");
    for (method, path, code) in [
        ("GET", "/wc/v2/payment_gateways", view),
        ("GET", "/wc/v3/payment_gateways/cod", view),
        ("PUT", "/wc/v3/payment_gateways/cod", edit),
        ("GET", "/wc/v2/shipping_methods", view),
        ("GET", "/wc/v3/shipping_methods/flat_rate", view),
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
fn ways_to_pay_are_listed_with_their_settings() {
    let shop = TestShop::new();
    let gateways = shop.get("/wc/v3/payment_gateways", ADMIN);
    assert_eq!(gateways.each("id"), ["bacs", "cheque", "cod"]);
    let cod = &gateways.json[2];
    assert_eq!((&cod["enabled"], &cod["method_supports"]), (&json!(false), &json!(["products"])));
    assert_eq!(cod["settings"]["enable_for_virtual"]["value"], json!("yes"));
    let offered = &cod["settings"]["enable_for_methods"]["options"];
    assert_eq!(offered["Flat rate"], json!({ "flat_rate": "Any Flat rate method" }));
    assert_eq!(cod["settings"]["title"]["type"], json!("safe_text"));
    let link = &cod["_links"]["self"][0];
    assert_eq!(link["href"], json!(format!("{HOME}/wp-json/wc/v3/payment_gateways/cod")));
    assert_eq!(link["targetHints"]["allow"], json!(["GET", "POST", "PUT", "PATCH"]));
    let older = shop.get("/wc/v2/payment_gateways/cod", ADMIN).json;
    assert!(older.get("method_supports").is_none(), "told since the third version");
}

#[test]
fn a_way_to_pay_is_changed() {
    let shop = TestShop::new();
    let path = "/wc/v3/payment_gateways/cod";
    let change = json!({
        "enabled": true, "title": "Cash", "order": "-7",
        "settings": {
            "instructions": "Have it ready.",
            "enable_for_methods": ["flat_rate", "bogus"],
            "bogus": "x",
        },
    });
    let answer = shop.ask("PUT", path, ADMIN, &change);
    assert_eq!(answer.status, 200, "{}", answer.json);
    for gateway in [answer.json, shop.get(path, ADMIN).json] {
        assert_eq!((&gateway["enabled"], &gateway["title"]), (&json!(true), &json!("Cash")));
        assert_eq!(gateway["order"], json!(7));
        let settings = &gateway["settings"];
        assert_eq!(settings["title"]["value"], json!("Cash"));
        assert_eq!(settings["instructions"]["value"], json!("Have it ready."));
        assert_eq!(settings["enable_for_methods"]["value"], json!(["flat_rate"]));
        assert!(settings.get("bogus").is_none());
    }
    let wrong = json!({ "title": "X", "settings": { "enable_for_virtual": "maybe" } });
    let answer = shop.ask("PUT", path, ADMIN, &wrong);
    assert_eq!(answer.refusal(), (400, "rest_setting_value_invalid"));
    assert_eq!(shop.get(path, ADMIN).json["title"], json!("Cash"), "nothing of it is kept");
    let bad_type = shop.ask("PUT", path, ADMIN, &json!({ "enabled": "perhaps" }));
    assert_eq!(bad_type.refusal(), (400, "rest_invalid_param"));
    let unknown = shop.get("/wc/v3/payment_gateways/bogus", ADMIN);
    assert_eq!(unknown.refusal(), (404, "woocommerce_rest_payment_gateway_invalid"));
}

#[test]
fn methods_of_zones_are_offered_too() {
    let shop = TestShop::new();
    let zone = shop.ask("POST", "/wc/v3/shipping/zones", ADMIN, &json!({ "name": "North" })).json;
    let methods = format!("/wc/v3/shipping/zones/{}/methods", zone["id"]);
    let method = shop.ask("POST", &methods, ADMIN, &json!({ "method_id": "flat_rate" })).json;
    let id = format!("flat_rate:{}", method["instance_id"]);
    let path = "/wc/v3/payment_gateways/cod";
    let change = json!({ "settings": { "enable_for_methods": [id, "flat_rate:999"] } });
    let setting = &shop.ask("PUT", path, ADMIN, &change).json["settings"]["enable_for_methods"];
    assert_eq!(setting["value"], json!([id]));
    let name = setting["options"]["Flat rate"][&id].as_str().unwrap();
    assert!(name.starts_with("North"), "{name}");
}

#[test]
fn ways_of_shipping_are_listed() {
    let shop = TestShop::new();
    let methods = shop.get("/wc/v3/shipping_methods", ADMIN);
    let ids = ["flat_rate", "free_shipping", "local_pickup", "pickup_location"];
    assert_eq!(methods.each("id"), ids);
    let one = shop.get("/wc/v2/shipping_methods/flat_rate", ADMIN).json;
    let own = &one["_links"]["self"][0]["href"];
    assert_eq!(own, &json!(format!("{HOME}/wp-json/wc/v2/shipping_methods/flat_rate")));
    let unknown = shop.get("/wc/v3/shipping_methods/bogus", ADMIN);
    assert_eq!(unknown.refusal(), (404, "woocommerce_rest_shipping_method_invalid"));
}

#[test]
fn there_are_no_layouts() {
    let shop = TestShop::new();
    assert_eq!(shop.get("/wc/v3/layout-templates", NOBODY).json, json!([]));
    let unknown = shop.get("/wc/v3/layout-templates/simple", NOBODY);
    assert_eq!(unknown.refusal(), (404, "woocommerce_rest_layout_template_invalid_id"));
}
