//! Variations: what makes them, what their product has from them, and where they are.

use serde_json::{Value, json};
use types::Amount;

use super::support::{ADMIN, HOME, TestShop, now};

/// A shop with a variable product, by its REST path.
fn shop_with_poster() -> (TestShop, String, i64) {
    let shop = TestShop::new();
    let attribute = json!({ "name": "Colour", "slug": "colour" });
    let attribute = shop.ask("POST", "/wc/v3/products/attributes", ADMIN, &attribute).json;
    let body = json!({
        "name": "Poster",
        "type": "variable",
        "sku": "P",
        "attributes": [
            { "id": attribute["id"], "options": ["Red", "Blue"], "variation": true },
            { "name": "Paper Kind", "options": ["Matte", "Gloss"], "variation": true,
              "position": 1, "visible": true },
        ],
        "default_attributes": [{ "id": attribute["id"], "option": "Blue" }],
    });
    let product = shop.ask("POST", "/wc/v3/products", ADMIN, &body);
    assert_eq!(product.status, 201, "{}", product.json);
    let attributes = &product.json["attributes"];
    assert_eq!(attributes[0]["options"], json!(["Blue", "Red"]));
    assert_eq!((&attributes[1]["id"], &attributes[1]["name"]), (&json!(0), &json!("Paper Kind")));
    assert_eq!(product.json["default_attributes"][0]["option"], json!("blue"));
    let id = product.json["id"].as_i64().unwrap();
    (shop, format!("/wc/v3/products/{id}"), id)
}

fn variation(shop: &TestShop, product: &str, body: &Value) -> Value {
    let answer = shop.ask("POST", &format!("{product}/variations"), ADMIN, body);
    assert_eq!(answer.status, 201, "{}", answer.json);
    answer.json
}

#[test]
fn a_product_has_prices_and_stock_from_its_variations() {
    let (shop, path, _) = shop_with_poster();
    let shown = || shop.get(&path, ADMIN).json;
    assert_eq!((&shown()["price"], &shown()["purchasable"]), (&json!(""), &json!(false)));
    let cheap = json!({ "regular_price": "8.5", "sale_price": "7", "stock_status": "outofstock",
                        "attributes": [{ "name": "pa_colour", "option": "Red" }] });
    let cheap = variation(&shop, &path, &cheap);
    let dear = json!({ "regular_price": "12", "manage_stock": true, "stock_quantity": 2 });
    let dear = variation(&shop, &path, &dear);
    let product = shown();
    assert_eq!(
        (&product["price"], &product["on_sale"], &product["stock_status"]),
        (&json!("7"), &json!(true), &json!("instock")),
    );
    assert_eq!(product["variations"], json!([cheap["id"], dear["id"]]));
    assert!(product["price_html"].as_str().unwrap().contains("&ndash;"));
    let one = format!("{path}/variations/{}", dear["id"]);
    shop.ask("PUT", &one, ADMIN, &json!({ "stock_quantity": 0 }));
    assert_eq!(shown()["stock_status"], json!("outofstock"));
    shop.ask("DELETE", &format!("{one}?force=true"), ADMIN, &Value::Null);
    assert_eq!(shown()["variations"], json!([cheap["id"]]));
    let filtered = |query: &str| shop.get(&format!("{path}/variations?{query}"), ADMIN);
    assert_eq!(filtered("on_sale=true").each("id"), [cheap["id"].clone()]);
    assert_eq!(filtered("has_price=false").json, json!([]));
    let by_value = "attributes[0][attribute]=pa_colour&attributes[0][terms][]=red";
    assert_eq!(filtered(by_value).each("id"), [cheap["id"].clone()]);
}

#[test]
fn a_variation_has_from_its_product_what_it_lacks() {
    let (shop, path, id) = shop_with_poster();
    let body = json!({ "manage_stock": true, "stock_quantity": 9, "weight": "2",
                       "tax_class": "reduced-rate" });
    shop.ask("PUT", &path, ADMIN, &body);
    let body = json!({ "regular_price": "5", "attributes": [
        { "name": "Paper Kind", "option": "Matte" },
        { "name": "pa_colour", "option": "Red" },
        { "name": "unknown", "option": "x" },
    ] });
    let variation = variation(&shop, &path, &body);
    assert_eq!((&variation["sku"], &variation["weight"]), (&json!("P"), &json!("2")));
    assert_eq!(
        (&variation["manage_stock"], &variation["stock_quantity"], &variation["tax_class"]),
        (&json!("parent"), &json!(9), &json!("parent")),
    );
    let one = format!("{path}/variations/{}", variation["id"]);
    let shown = shop.get(&one, ADMIN).json;
    assert_eq!(shown["tax_class"], json!("reduced-rate"));
    let query = "attribute_paper-kind=Matte&attribute_pa_colour=red";
    assert_eq!(shown["permalink"], json!(format!("{HOME}/product/poster/?{query}")));
    assert_eq!(shown["name"], json!("Matte, Red"));
    assert_eq!(shown["attributes"].as_array().unwrap().len(), 2);
    let as_product = shop.get(&format!("/wc/v3/products/{}", variation["id"]), ADMIN).json;
    assert_eq!((&as_product["type"], &as_product["parent_id"]), (&json!("variation"), &json!(id)));
    assert_eq!(as_product["name"], json!("Poster"), "a name with two long words would be too long");
    let refused =
        shop.ask("PUT", &format!("/wc/v3/products/{}", variation["id"]), ADMIN, &json!({}));
    assert_eq!(refused.refusal(), (404, "woocommerce_rest_invalid_product_id"));
}

#[test]
fn stock_of_a_variation_may_be_that_of_its_product() {
    let (shop, path, id) = shop_with_poster();
    shop.ask("PUT", &path, ADMIN, &json!({ "manage_stock": true, "stock_quantity": 3 }));
    let variation = variation(&shop, &path, &json!({ "regular_price": "5" }));
    let variation_id = variation["id"].as_i64().unwrap();
    let change = |by: i64| {
        shop.write(move |conn| {
            let options = frame::Options::read(conn)?;
            let by = Amount::from_whole(by);
            commerce::products::stock::change(conn, &options, variation_id, by, now())
        })
    };
    assert_eq!(change(-2), Some((Amount::from_whole(3), Amount::ONE)));
    assert_eq!(change(-1), Some((Amount::ONE, Amount::ZERO)));
    let product = shop.get(&path, ADMIN).json;
    assert_eq!((&product["id"], &product["stock_status"]), (&json!(id), &json!("outofstock")));
    shop.ask("PUT", &path, ADMIN, &json!({ "manage_stock": false }));
    assert_eq!(change(5), None, "nobody counts");
}

#[test]
fn an_order_of_a_variation_takes_from_the_stock_of_its_product() {
    let (shop, path, id) = shop_with_poster();
    shop.ask("PUT", &path, ADMIN, &json!({ "manage_stock": true, "stock_quantity": 3 }));
    let variation = variation(&shop, &path, &json!({ "regular_price": "5" }));
    let line = json!({ "product_id": id, "variation_id": variation["id"], "quantity": 2 });
    let order = json!({ "status": "processing", "line_items": [line] });
    assert_eq!(shop.ask("POST", "/wc/v3/orders", ADMIN, &order).status, 201);
    assert_eq!(shop.get(&path, ADMIN).json["stock_quantity"], json!(1));
}

#[test]
fn all_variations_that_are_missing_are_made() {
    let (shop, path, _) = shop_with_poster();
    let generate =
        |body: &Value| shop.ask("POST", &format!("{path}/variations/generate"), ADMIN, body);
    let made = generate(&json!({ "default_values": { "regular_price": "4" } }));
    assert_eq!((made.status, made.json), (200, json!({ "count": 4 })));
    let prices = shop.get(&format!("{path}/variations"), ADMIN).each("price");
    assert_eq!(prices, vec![json!("4"); 4]);
    assert_eq!(generate(&Value::Null).json, json!({ "count": 0 }));
    variation(&shop, &path, &json!({}));
    assert_eq!(
        generate(&json!({ "delete": true })).json,
        json!({ "count": 0, "deleted_count": 1 })
    );
    let unknown =
        shop.ask("POST", "/wc/v3/products/99999/variations/generate", ADMIN, &Value::Null);
    assert_eq!(unknown.refusal(), (404, "woocommerce_rest_product_invalid_id"));
}

#[test]
fn a_variation_is_found_below_its_own_product_only() {
    let (shop, path, id) = shop_with_poster();
    let variation = variation(&shop, &path, &json!({ "regular_price": "4" }));
    let other = shop.ask("POST", "/wc/v3/products", ADMIN, &json!({ "name": "Other" })).json;
    let wrong = format!("/wc/v3/products/{}/variations/{}", other["id"], variation["id"]);
    let expected = (404, "woocommerce_rest_product_variation_invalid_id");
    for method in ["GET", "PUT", "DELETE"] {
        assert_eq!(shop.ask(method, &wrong, ADMIN, &json!({})).refusal(), expected, "{method}");
    }
    let orphan = shop.ask("POST", "/wc/v3/products/99999/variations", ADMIN, &json!({}));
    let expected = (404, "woocommerce_rest_product_variation_invalid_parent");
    assert_eq!(orphan.refusal(), expected);
    let all = shop.get("/wc/v3/variations", ADMIN);
    assert_eq!(all.each("parent_id"), [json!(id)]);
    let batch = json!({ "update": [{ "id": variation["id"], "regular_price": "6" }],
                        "delete": [other["id"]] });
    let batch = shop.ask("POST", &format!("{path}/variations/batch"), ADMIN, &batch).json;
    assert_eq!(batch["update"][0]["price"], json!("6"));
    let code = &batch["delete"][0]["error"]["code"];
    assert_eq!(code, &json!("woocommerce_rest_product_variation_invalid_id"));
}

#[test]
fn sales_begin_and_end_in_their_time() {
    let (shop, path, id) = shop_with_poster();
    let body = json!({ "regular_price": "10", "sale_price": "8",
                       "date_on_sale_from_gmt": "2026-11-20T00:00:00",
                       "date_on_sale_to_gmt": "2026-11-25T00:00:00" });
    variation(&shop, &path, &body);
    let at = |text: &str| {
        let time = types::Timestamp::parse(text).unwrap();
        shop.write(move |conn| commerce::products::sync::catch_up(conn, time))
    };
    // Past the answers that the site keeps for a moment: nobody tells it of these writes.
    let price = || {
        let product = shop.read(move |conn| shop_rows::product::get(conn, id)).unwrap();
        (product.price.unwrap().to_string(), product.on_sale)
    };
    assert_eq!(at("2026-11-19T00:00:00Z"), 0);
    assert_eq!(price(), (String::from("10"), false));
    assert_eq!((at("2026-11-21T00:00:00Z"), at("2026-11-21T00:00:01Z")), (1, 0));
    assert_eq!(price(), (String::from("8"), true));
    assert_eq!(at("2026-11-25T00:00:00Z"), 1);
    assert_eq!(price(), (String::from("10"), false));
}
