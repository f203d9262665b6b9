//! Shipping zones, their places and their methods.

use serde_json::{Value, json};
use types::Role;

use super::support::{ADMIN, NOBODY, TestShop};

const ZONES: &str = "/wc/v3/shipping/zones";

fn zone(shop: &TestShop, name: &str) -> String {
    let made = shop.ask("POST", ZONES, ADMIN, &json!({ "name": name }));
    assert_eq!(made.status, 201);
    format!("{ZONES}/{}", made.json["id"])
}

#[test]
fn the_rest_of_the_world_is_always_there_and_stays_as_it_is() {
    let shop = TestShop::new();
    let listed = shop.get(ZONES, ADMIN);
    assert_eq!((listed.each("id"), listed.header("x-wp-total")), (vec![json!(0)], "1"));
    let rest = format!("{ZONES}/0");
    assert_eq!(
        shop.ask("PUT", &rest, ADMIN, &json!({ "name": "x" })).refusal(),
        (403, "woocommerce_rest_shipping_zone_invalid_zone")
    );
    assert_eq!(
        shop.ask("PUT", &format!("{rest}/locations"), ADMIN, &json!([])).refusal(),
        (403, "woocommerce_rest_shipping_zone_locations_invalid_zone")
    );
    assert_eq!(shop.get(&format!("{rest}/locations"), ADMIN).json, json!([]));
    let made =
        shop.ask("POST", &format!("{rest}/methods"), ADMIN, &json!({ "method_id": "flat_rate" }));
    assert_eq!((made.status, &made.json["enabled"]), (200, &json!(true)));
    shop.ask("DELETE", &format!("{rest}?force=true"), ADMIN, &Value::Null);
    assert_eq!(shop.get(&format!("{rest}/methods"), ADMIN).each("method_id"), ["flat_rate"]);
}

#[test]
fn zones_are_made_changed_and_deleted() {
    let shop = TestShop::new();
    let (far, near) = (zone(&shop, "Far"), zone(&shop, "Near"));
    shop.ask("PUT", &far, ADMIN, &json!({ "order": 5 }));
    let names = shop.get("/wc/v2/shipping/zones", ADMIN).each("name");
    assert_eq!(names[1..], [json!("Near"), json!("Far")]);
    assert_eq!(
        shop.ask("DELETE", &near, ADMIN, &Value::Null).refusal(),
        (400, "rest_trash_not_supported")
    );
    let deleted = shop.ask("DELETE", &format!("{near}?force=true"), ADMIN, &Value::Null);
    assert_eq!((deleted.status, &deleted.json["name"]), (200, &json!("Near")));
    assert_eq!(shop.get(&near, ADMIN).refusal(), (404, "woocommerce_rest_shipping_zone_invalid"));
    let nameless = shop.ask("POST", ZONES, ADMIN, &json!({}));
    assert_eq!(nameless.refusal(), (400, "rest_missing_callback_param"));
}

#[test]
fn places_are_set_all_at_once() {
    let shop = TestShop::new();
    let path = format!("{}/locations", zone(&shop, "Europe"));
    let places = json!([
        { "code": "EU", "type": "continent" },
        { "code": "CH" },
        { "type": "country" },
        { "code": "X", "type": "planet" },
    ]);
    let set = shop.ask("PUT", &path, ADMIN, &places);
    assert_eq!(set.each("code"), ["EU", "CH"]);
    assert_eq!(set.each("type"), ["continent", "country"]);
    shop.ask("PUT", &path, ADMIN, &json!([{ "code": "US:CA", "type": "state" }]));
    assert_eq!(shop.get(&path, ADMIN).each("code"), ["US:CA"]);
}

#[test]
fn methods_have_their_own_settings_in_each_zone() {
    let shop = TestShop::new();
    let (here, there) = (zone(&shop, "Here"), zone(&shop, "There"));
    let methods = format!("{here}/methods");
    let wanted = json!({ "method_id": "flat_rate", "settings": { "cost": "7.50" } });
    let made = shop.ask("POST", &methods, ADMIN, &wanted).json;
    assert_eq!(made["settings"]["cost"]["value"], "7.50");
    assert_eq!(made["settings"]["tax_status"]["options"]["none"], "None");
    let path = format!("{methods}/{}", made["id"]);
    let wanted = json!({ "enabled": false, "order": 3, "settings": { "title": "By mail" } });
    let changed = shop.ask("PUT", &path, ADMIN, &wanted).json;
    assert_eq!(
        [&changed["title"], &changed["enabled"], &changed["order"]],
        [&json!("By mail"), &json!(false), &json!(3)]
    );
    assert_eq!(changed["settings"]["cost"]["value"], "7.50");
    let wrong = shop.ask("PUT", &path, ADMIN, &json!({ "settings": { "tax_status": "x" } }));
    assert_eq!(wrong.refusal(), (400, "rest_setting_value_invalid"));
    let elsewhere = format!("{there}/methods/{}", made["id"]);
    let unknown = (404, "woocommerce_rest_shipping_zone_method_invalid");
    assert_eq!(shop.get(&elsewhere, ADMIN).refusal(), unknown);
    let refused = shop.ask("POST", &methods, ADMIN, &json!({ "method_id": "carrier_pigeon" }));
    assert_eq!(refused.refusal(), (400, "woocommerce_rest_shipping_zone_not_created"));
    shop.ask("DELETE", &format!("{path}?force=true"), ADMIN, &Value::Null);
    assert_eq!(shop.get(&path, ADMIN).refusal(), unknown);
}

#[test]
fn only_managers_see_zones() {
    let mut shop = TestShop::new();
    shop.user("shopper", Role::Customer);
    for (who, status) in [(NOBODY, 401), ("shopper", 403)] {
        for (method, code) in [
            ("GET", "woocommerce_rest_cannot_view"),
            ("PUT", "woocommerce_rest_cannot_edit"),
            ("DELETE", "woocommerce_rest_cannot_delete"),
        ] {
            let refused = shop.ask(method, &format!("{ZONES}/0"), who, &Value::Null);
            assert_eq!(refused.refusal(), (status, code), "{method} {who}");
        }
    }
}
