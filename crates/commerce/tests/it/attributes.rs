//! Attributes of products and their terms over REST.

use serde_json::{Value, json};
use shop_rows::product::{self, ProductRow, VariationAttribute};
use types::Role;

use super::support::{ADMIN, NOBODY, TestShop};

const ATTRIBUTES: &str = "/wc/v3/products/attributes";

fn make(shop: &TestShop, path: &str, body: Value) -> i64 {
    let made = shop.ask("POST", path, ADMIN, &body);
    assert_eq!(made.status, 201, "{}", made.json);
    made.json["id"].as_i64().unwrap()
}

#[test]
fn an_attribute_is_made_changed_and_deleted() {
    let shop = TestShop::new();
    let id = make(&shop, ATTRIBUTES, json!({ "name": "Größe XL" }));
    let path = format!("{ATTRIBUTES}/{id}");
    let mut body = shop.get(&path, ADMIN).json;
    body.as_object_mut().unwrap().remove("_links");
    let expected = json!({
        "id": id, "name": "Größe XL", "slug": "pa_grosse-xl", "type": "select",
        "order_by": "menu_order", "has_archives": false,
    });
    assert_eq!(body, expected);
    // The slug follows the name, and terms follow the slug.
    let term = make(&shop, &format!("{path}/terms"), json!({ "name": "Big", "menu_order": 2 }));
    let change = json!({ "name": "Size", "order_by": "id", "has_archives": true });
    let changed = shop.ask("PUT", &path, ADMIN, &change);
    assert_eq!(changed.json["slug"], json!("pa_size"));
    let same = shop.ask("PUT", &path, ADMIN, &json!({ "slug": "pa_sizes" }));
    assert_eq!((&same.json["slug"], &same.json["order_by"]), (&json!("pa_sizes"), &json!("id")));
    let found = shop.get(&format!("{path}/terms/{term}"), ADMIN);
    assert_eq!((found.status, &found.json["menu_order"]), (200, &json!(2)));
    let collection = found.json["_links"]["collection"][0]["href"].as_str().unwrap();
    assert!(collection.ends_with(&format!("/products/attributes/{id}/terms")), "{collection}");

    // Deleting needs no force, and its answer still says what could be done.
    let deleted = shop.ask("DELETE", &path, ADMIN, &Value::Null);
    assert_eq!((deleted.status, deleted.header("allow")), (200, "GET, POST, PUT, PATCH, DELETE"));
    assert!(deleted.json["_links"]["self"][0]["targetHints"]["allow"].is_array());
    assert_eq!(shop.get(&path, ADMIN).refusal(), (404, "woocommerce_rest_taxonomy_invalid"));
    assert!(shop.read(move |conn| site_rows::term::get(conn, term)).is_none());
}

#[test]
fn what_cannot_be_is_refused() {
    let mut shop = TestShop::new();
    shop.user("clerk", Role::Customer);
    let id = make(&shop, ATTRIBUTES, json!({ "name": "Material" }));
    make(&shop, ATTRIBUTES, json!({ "name": "Colour" }));
    let refused = "woocommerce_rest_cannot_create";
    for body in [
        json!({ "name": "Material" }),
        json!({ "name": "type" }),
        json!({ "name": "x".repeat(29) }),
        json!({ "name": "!" }),
        json!({ "name": "" }),
    ] {
        let answer = shop.ask("POST", ATTRIBUTES, ADMIN, &body);
        assert_eq!(answer.refusal(), (400, refused), "{body}");
    }
    let path = format!("{ATTRIBUTES}/{id}");
    let taken = shop.ask("PUT", &path, ADMIN, &json!({ "slug": "colour" }));
    assert_eq!(taken.refusal(), (400, "woocommerce_rest_cannot_edit"));
    let stranger = shop.ask("PUT", &path, "clerk", &json!({ "name": "x" }));
    assert_eq!(stranger.refusal(), (403, "woocommerce_rest_cannot_update"));
    let forced = shop.ask("DELETE", &format!("{path}?force=false"), ADMIN, &Value::Null);
    assert_eq!(forced.refusal(), (400, "woocommerce_rest_trash_not_supported"));
    // Of what there is not, everybody learns the same.
    for (path, code) in [
        ("/wc/v3/products/attributes/99", "woocommerce_rest_taxonomy_invalid"),
        ("/wc/v3/products/attributes/99/terms", "woocommerce_rest_taxonomy_invalid"),
        ("/wc/v3/products/attributes/99/terms/1", "woocommerce_rest_taxonomy_invalid"),
        ("/wc/v3/products/attributes/1/terms/99", "woocommerce_rest_term_invalid"),
    ] {
        for who in [ADMIN, "clerk", NOBODY] {
            assert_eq!(shop.get(path, who).refusal(), (404, code), "{path} {who}");
        }
    }
}

#[test]
fn variations_follow_their_attributes() {
    let shop = TestShop::new();
    let id = make(&shop, ATTRIBUTES, json!({ "name": "Colour" }));
    let path = format!("{ATTRIBUTES}/{id}");
    let term = make(&shop, &format!("{path}/terms"), json!({ "name": "Red" }));
    let (product_id, variation_id) = shop.write(|conn| {
        let details = json!({
            "attributes": [{ "name": "pa_colour", "is_global": true }],
            "default_attributes": [["pa_colour", "red"]],
        });
        let row = ProductRow {
            kind: "variable".to_owned(),
            status: "publish".to_owned(),
            details: details.to_string(),
            ..ProductRow::default()
        };
        let product_id = product::insert(conn, &row)?;
        let row = ProductRow { kind: "variation".to_owned(), details: "{}".to_owned(), ..row };
        let variation_id = product::insert(conn, &row)?;
        let (name, value) = ("pa_colour".to_owned(), "red".to_owned());
        product::set_attributes(conn, variation_id, &[VariationAttribute { name, value }])?;
        Ok((product_id, variation_id))
    });
    shop.ask("PUT", &format!("{path}/terms/{term}"), ADMIN, &json!({ "slug": "ruby" }));
    shop.ask("PUT", &path, ADMIN, &json!({ "slug": "shade" }));
    let (chosen, details) = shop.read(move |conn| {
        let chosen = product::attributes_of(conn, &[variation_id])?;
        Ok((chosen, product::get(conn, product_id)?.unwrap().details))
    });
    assert_eq!((chosen[0].1.name.as_str(), chosen[0].1.value.as_str()), ("pa_shade", "ruby"));
    let details: Value = serde_json::from_str(&details).unwrap();
    assert_eq!(details["attributes"][0]["name"], json!("pa_shade"));
    assert_eq!(details["default_attributes"][0][0], json!("pa_shade"));
}

#[test]
fn analytics_knows_attributes_that_are_products_own() {
    let shop = TestShop::new();
    let base = "/wc-analytics/products/attributes";
    make(&shop, base, json!({ "name": "Finishing" }));
    shop.write(|conn| {
        let own = json!({ "name": "Finish", "is_global": false, "options": ["Matte", "Gloss"] });
        let row = ProductRow {
            kind: "variable".to_owned(),
            details: json!({ "attributes": [own] }).to_string(),
            ..ProductRow::default()
        };
        product::insert(conn, &row)?;
        let row = ProductRow { kind: "variation".to_owned(), details: "{}".to_owned(), ..row };
        let id = product::insert(conn, &row)?;
        let (name, value) = ("finish".to_owned(), "Gloss".to_owned());
        product::set_attributes(conn, id, &[VariationAttribute { name, value }])
    });
    let found = shop.get(&format!("{base}?search=FINISH"), ADMIN);
    assert_eq!(found.each("slug"), ["finish", "pa_finishing"]);
    assert_eq!(found.header("x-wp-total"), "2");
    let one = shop.get(&format!("{base}/finish"), ADMIN);
    assert_eq!((&one.json["id"], &one.json["name"]), (&json!("finish"), &json!("Finish")));
    let terms = shop.get(&format!("{base}/finish/terms"), ADMIN);
    assert_eq!(terms.each("name"), ["Gloss", "Matte"]);
    assert_eq!(terms.each("count"), [1, 0]);
    for path in ["finishing", "pa_finishing/terms"] {
        let unknown = shop.get(&format!("{base}/{path}"), ADMIN);
        let expected = (404, "woocommerce_rest_product_attribute_not_found");
        assert_eq!(unknown.refusal(), expected, "{path}");
    }
    assert_eq!(shop.get(&format!("{base}/finish"), NOBODY).status, 401);
}

#[test]
fn all_attributes_are_on_one_page() {
    let shop = TestShop::new();
    for number in 0..12 {
        make(&shop, ATTRIBUTES, json!({ "name": format!("A{number}") }));
    }
    let list = shop.get(ATTRIBUTES, ADMIN);
    assert_eq!(list.json.as_array().unwrap().len(), 12);
    assert_eq!((list.header("x-wp-total"), list.header("x-wp-totalpages")), ("12", "1"));
}
