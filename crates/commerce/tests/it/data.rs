//! Continents, countries, currencies and the forms of addresses.

use serde_json::json;
use types::Role;

use super::support::{ADMIN, HOME, NOBODY, TestShop};

#[test]
fn only_managers_see_the_tables() {
    let mut shop = TestShop::new();
    shop.user("manager", Role::ShopManager);
    shop.user("editor", Role::Editor);
    let paths = [
        "/wc/v3/data",
        "/wc/v3/data/continents",
        "/wc/v3/data/continents/eu",
        "/wc/v3/data/countries",
        "/wc/v3/data/countries/us",
        "/wc/v3/data/currencies",
        "/wc/v3/data/currencies/current",
        "/wc/v3/data/currencies/usd",
        "/wc-analytics/data",
        "/wc-analytics/data/countries",
        "/wc-analytics/data/countries/us",
        "/wc-analytics/data/countries/locales",
    ];
    for path in paths {
        for (who, status) in [(NOBODY, 401), ("editor", 403)] {
            let expected = (status, "woocommerce_rest_cannot_view");
            assert_eq!(shop.get(path, who).refusal(), expected, "{path} {who:?}");
        }
        let answer = shop.get(path, "manager");
        assert_eq!((answer.status, answer.header("allow")), (200, "GET"), "{path}");
    }
}

#[test]
fn the_index_names_the_tables() {
    let shop = TestShop::new();
    let commerce = shop.get("/wc/v3/data", ADMIN);
    assert_eq!(commerce.each("slug"), ["continents", "countries", "currencies"]);
    let link = &commerce.json[0]["_links"]["self"][0];
    assert_eq!(link["href"], json!(format!("{HOME}/wp-json/wc/v3/data/continents")));
    assert_eq!(link["targetHints"], json!({ "allow": ["GET"] }));
    let analytics = shop.get("/wc-analytics/data", ADMIN);
    assert_eq!(analytics.each("slug"), ["continents", "countries", "currencies", "download-ips"]);
}

#[test]
fn places_are_found_by_their_codes_in_any_case() {
    let shop = TestShop::new();
    let country = shop.get("/wc-analytics/data/countries/gB", ADMIN).json;
    let links = |path: &str| json!([{ "href": format!("{HOME}/wp-json/wc-analytics/{path}") }]);
    assert_eq!((&country["code"], &country["states"]), (&json!("GB"), &json!([])));
    assert_eq!(country["_links"]["collection"], links("data/countries"));
    let own = &country["_links"]["self"][0]["href"];
    assert_eq!(own, &json!(format!("{HOME}/wp-json/wc-analytics/data/countries/gb")));
    let europe = shop.get("/wc/v3/data/continents/Eu", ADMIN).json;
    let countries = europe["countries"].as_array().unwrap();
    let germany = countries.iter().find(|country| country["code"] == "DE").unwrap();
    assert_eq!(
        [&germany["currency_code"], &germany["currency_pos"], &germany["thousand_sep"]],
        [&json!("EUR"), &json!("right_space"), &json!(".")],
    );
    assert_eq!(germany["num_decimals"], json!(2));
    assert_eq!(germany["states"].as_array().unwrap().len(), 16);
    let numbered = shop.get("/wc/v3/data/countries/um", ADMIN).json;
    assert_eq!(numbered["states"][0]["code"], json!(81), "as clients know it");
    let unknown = (404, "woocommerce_rest_data_invalid_location");
    for path in ["/wc/v3/data/countries/xx", "/wc/v3/data/continents/us"] {
        assert_eq!(shop.get(path, ADMIN).refusal(), unknown, "{path}");
    }
}

#[test]
fn the_current_currency_is_the_shops() {
    let shop = TestShop::new();
    let current = || shop.get("/wc/v3/data/currencies/current", ADMIN).json;
    assert_eq!((&current()["code"], &current()["symbol"]), (&json!("USD"), &json!("&#36;")));
    let own = &current()["_links"]["self"][0]["href"];
    assert_eq!(own, &json!(format!("{HOME}/wp-json/wc/v3/data/currencies/USD")));
    assert_eq!(shop.get("/wc/v3/data/currencies/eur", ADMIN).json["name"], json!("Euro"));
    let unknown = shop.get("/wc/v3/data/currencies/xxx", ADMIN);
    assert_eq!(unknown.refusal(), (404, "woocommerce_rest_data_invalid_currency"));
}

#[test]
fn addresses_differ_by_country() {
    let shop = TestShop::new();
    let locales = shop.get("/wc-analytics/data/countries/locales", ADMIN).json;
    assert_eq!(locales["DE"]["state"], json!({ "required": false }));
    assert_eq!(locales["CY"]["state"], json!({ "required": false, "hidden": true }));
    assert_eq!(locales["CL"]["postcode"], json!({ "required": false, "hidden": false }));
    assert_eq!(locales["JP"]["first_name"]["class"], json!(["form-row-last"]));
    assert_eq!(locales["default"]["country"]["type"], json!("country"));
    assert!(locales["default"].get("company").is_none(), "the shop hides it");
    assert_eq!(locales["default"]["address_2"]["required"], json!(false));
}

#[test]
fn a_field_may_be_hidden_at_home_alone() {
    let shop = TestShop::new();
    let country = "/wc/v3/settings/general/woocommerce_default_country";
    shop.ask("PUT", country, ADMIN, &json!({ "value": "CL:CL-AI" }));
    let locales = shop.get("/wc-analytics/data/countries/locales", ADMIN).json;
    assert_eq!(locales["CL"]["postcode"], json!({ "required": false, "hidden": true }));
}

#[test]
fn a_new_shop_has_the_units_of_its_country() {
    let shop = TestShop::new();
    let unit = |name: &str| {
        let setting = shop.get(&format!("/wc/v3/settings/products/woocommerce_{name}_unit"), ADMIN);
        (setting.json["value"].clone(), setting.json["default"].clone())
    };
    assert_eq!(unit("weight"), (json!("lbs"), json!("kg")));
    assert_eq!(unit("dimension"), (json!("in"), json!("cm")));
    // Nobody's choice is changed by a start, nor by a move.
    shop.ask(
        "PUT",
        "/wc/v3/settings/products/woocommerce_weight_unit",
        ADMIN,
        &json!({ "value": "g" }),
    );
    shop.write(|conn| commerce::found(conn));
    assert_eq!(unit("weight").0, json!("g"));
}
