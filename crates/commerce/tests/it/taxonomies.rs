//! Categories, tags, shipping classes and brands over REST.

use serde_json::{Value, json};
use shop_rows::product::{self, ProductRow};
use types::Role;

use super::support::{ADMIN, NOBODY, TestShop};

const CATEGORIES: &str = "/wc/v3/products/categories";

fn make(shop: &TestShop, path: &str, body: Value) -> i64 {
    let made = shop.ask("POST", path, ADMIN, &body);
    assert_eq!(made.status, 201, "{}", made.json);
    made.json["id"].as_i64().unwrap()
}

fn product(shop: &TestShop, taxonomy: &'static str, status: &'static str, terms: Vec<i64>) -> i64 {
    shop.write(move |conn| {
        let row = ProductRow {
            kind: "simple".to_owned(),
            status: status.to_owned(),
            catalog_visibility: "visible".to_owned(),
            details: "{}".to_owned(),
            ..ProductRow::default()
        };
        let id = product::insert(conn, &row)?;
        product::set_terms(conn, id, taxonomy, &terms)?;
        Ok(id)
    })
}

#[test]
fn a_category_is_made_changed_and_deleted() {
    let shop = TestShop::new();
    let parent = make(&shop, CATEGORIES, json!({ "name": "Home & <b>Garden</b>" }));
    let made = shop.ask(
        "POST",
        CATEGORIES,
        ADMIN,
        &json!({ "name": "Tools", "parent": parent, "display": "both", "menu_order": 3 }),
    );
    assert_eq!(made.status, 201);
    let id = made.json["id"].as_i64().unwrap();
    assert!(made.header("location").ends_with(&format!("/wc/v3/products/categories/{id}")));
    let expected = json!({
        "id": id, "name": "Tools", "slug": "tools", "parent": parent, "description": "",
        "display": "both", "image": null, "menu_order": 3, "count": 0,
    });
    let mut body = made.json.clone();
    body.as_object_mut().unwrap().remove("_links");
    assert_eq!(body, expected);
    assert!(
        made.json["_links"]["up"][0]["href"].as_str().unwrap().ends_with(&format!("/{parent}"))
    );
    let parent_path = format!("{CATEGORIES}/{parent}");
    assert_eq!(shop.get(&parent_path, ADMIN).json["name"], json!("Home &amp; Garden"));
    assert_eq!(shop.get(&parent_path, ADMIN).json["slug"], json!("home-garden"));

    let path = format!("{CATEGORIES}/{id}");
    let changed = shop.ask("PUT", &path, ADMIN, &json!({ "name": "Gear", "description": "d" }));
    assert_eq!((&changed.json["name"], &changed.json["slug"]), (&json!("Gear"), &json!("tools")));
    // A circle is cut where it would close.
    let circle = shop.ask("PUT", &parent_path, ADMIN, &json!({ "parent": id }));
    assert_eq!((circle.status, &circle.json["parent"]), (200, &json!(0)));

    let kept = shop.ask("DELETE", &path, ADMIN, &Value::Null);
    assert_eq!(kept.refusal(), (400, "woocommerce_rest_trash_not_supported"));
    let deleted = shop.ask("DELETE", &format!("{path}?force=true"), ADMIN, &Value::Null);
    assert_eq!((deleted.status, &deleted.json["description"]), (200, &json!("d")));
    assert!(deleted.json["_links"]["self"][0].get("targetHints").is_none());
    assert_eq!(shop.get(&path, ADMIN).refusal(), (404, "woocommerce_rest_term_invalid"));
}

#[test]
fn what_cannot_be_is_refused() {
    let shop = TestShop::new();
    let id = make(&shop, CATEGORIES, json!({ "name": "Tops" }));
    make(&shop, CATEGORIES, json!({ "name": "Other" }));
    for (method, path, body, expected) in [
        ("POST", CATEGORIES.to_owned(), json!({ "name": "tops" }), (400, "term_exists")),
        ("POST", CATEGORIES.to_owned(), json!({ "name": "<i></i>" }), (400, "empty_term_name")),
        ("POST", CATEGORIES.to_owned(), json!({}), (400, "rest_missing_callback_param")),
        (
            "POST",
            CATEGORIES.to_owned(),
            json!({ "name": "x", "parent": 999 }),
            (400, "missing_parent"),
        ),
        (
            "POST",
            "/wc/v3/products/tags".to_owned(),
            json!({ "name": "x", "parent": 1 }),
            (400, "woocommerce_rest_taxonomy_not_hierarchical"),
        ),
        (
            "POST",
            CATEGORIES.to_owned(),
            json!({ "name": "é".repeat(201) }),
            (400, "term_name_too_long"),
        ),
        (
            "PUT",
            format!("{CATEGORIES}/{id}"),
            json!({ "slug": "other" }),
            (400, "duplicate_term_slug"),
        ),
        ("PUT", format!("{CATEGORIES}/999"), json!({}), (404, "woocommerce_rest_term_invalid")),
        // A tag's number is none of a category.
        (
            "GET",
            format!("/wc/v3/products/tags/{id}"),
            Value::Null,
            (404, "woocommerce_rest_term_invalid"),
        ),
    ] {
        let answer = shop.ask(method, &path, ADMIN, &body);
        assert_eq!(answer.refusal(), expected, "{method} {path} {body}");
    }
    let exists = shop.ask("POST", CATEGORIES, ADMIN, &json!({ "name": "Tops" }));
    assert_eq!(exists.json["data"]["resource_id"], json!(id));
}

#[test]
fn the_default_category_stays() {
    let shop = TestShop::new();
    let id = shop.get(CATEGORIES, ADMIN).json[0]["id"].clone();
    let path = format!("{CATEGORIES}/{id}?force=true");
    let kept = shop.ask("DELETE", &path, ADMIN, &Value::Null);
    assert_eq!(kept.refusal(), (400, "woocommerce_rest_cannot_delete"));
}

#[test]
fn slugs_become_unique() {
    let shop = TestShop::new();
    let (men, women) = (
        make(&shop, CATEGORIES, json!({ "name": "Men" })),
        make(&shop, CATEGORIES, json!({ "name": "Women" })),
    );
    let slug = |body: Value| shop.ask("POST", CATEGORIES, ADMIN, &body).json["slug"].clone();
    assert_eq!(slug(json!({ "name": "Shoes", "parent": men })), "shoes");
    assert_eq!(slug(json!({ "name": "Shoes", "parent": women })), "shoes-women");
    assert_eq!(slug(json!({ "name": "Boots", "slug": "shoes" })), "shoes-2");
    assert_eq!(slug(json!({ "name": "Boots", "slug": "my Boots" })), "my-boots");
    assert_eq!(slug(json!({ "name": "日" })), "%e6%97%a5");

    let suggest = "/wc/v3/products/shipping_classes/slug-suggestion";
    make(&shop, "/wc/v3/products/shipping_classes", json!({ "name": "Bulky" }));
    assert_eq!(shop.get(suggest, ADMIN).json, json!(""));
    assert_eq!(shop.get(&format!("{suggest}?name=Bulky"), ADMIN).json, json!("bulky-2"));
    assert_eq!(shop.get(&format!("{suggest}?name=Small"), ADMIN).json, json!("small"));
    assert_eq!(shop.get(suggest, NOBODY).status, 401);
}

/// A slug of other letters is percent-encoded, and a product is given its class by it all the same.
#[test]
fn every_stored_slug_is_found() {
    let shop = TestShop::new();
    for name in ["Bulky", "日本", "Fish & <b>chips</b>"] {
        let class = json!({ "name": name });
        let class = shop.ask("POST", "/wc/v3/products/shipping_classes", ADMIN, &class).json;
        let product = json!({ "name": "Sofa", "shipping_class": class["slug"] });
        let product = shop.ask("POST", "/wc/v3/products", ADMIN, &product);
        assert_eq!(product.json["shipping_class_id"], class["id"], "{class}");
        assert_eq!(product.json["shipping_class"], class["slug"]);
        let taxes = shop.ask("POST", "/wc/v3/taxes/classes", ADMIN, &json!({ "name": name })).json;
        let product = json!({ "name": "Sofa", "tax_class": taxes["slug"] });
        let product = shop.ask("POST", "/wc/v3/products", ADMIN, &product);
        assert_eq!(product.json["tax_class"], taxes["slug"], "{taxes}");
    }
}

#[test]
fn lists_are_filtered_and_count_what_is_below() {
    let shop = TestShop::new();
    let default = shop.get(CATEGORIES, ADMIN).json[0]["id"].as_i64().unwrap();
    let top = make(&shop, CATEGORIES, json!({ "name": "Clothing" }));
    let below = make(&shop, CATEGORIES, json!({ "name": "Tops", "parent": top }));
    let empty = make(&shop, CATEGORIES, json!({ "name": "Audio" }));
    let worn = product(&shop, "product_cat", "publish", vec![below]);
    product(&shop, "product_cat", "publish", vec![top, below]);
    product(&shop, "product_cat", "draft", vec![empty]);
    for (query, expected) in [
        ("", vec![empty, top, below, default]),
        ("orderby=id&order=desc", vec![empty, below, top, default]),
        ("hide_empty=true", vec![top, below]),
        ("parent=0", vec![empty, top, default]),
        ("search=TOP", vec![below]),
        ("slug=tops", vec![below]),
        ("slug[]=tops&slug[]=audio", vec![empty, below]),
        (&format!("product={worn}"), vec![below]),
        (&format!("exclude={top}"), vec![empty, below, default]),
        ("per_page=1&page=2", vec![top]),
    ] {
        let list = shop.get(&format!("{CATEGORIES}?{query}"), ADMIN);
        assert_eq!(list.each("id"), expected, "{query}");
    }
    let list = shop.get(CATEGORIES, ADMIN);
    assert_eq!(list.each("count"), [0, 2, 2, 0]);
    assert_eq!((list.header("x-wp-total"), list.header("x-wp-totalpages")), ("4", "1"));
    // On its own, a term counts only its own.
    assert_eq!(shop.get(&format!("{CATEGORIES}/{top}"), ADMIN).json["count"], json!(1));
}

#[test]
fn pictures_are_references() {
    let shop = TestShop::new();
    let image = json!({ "src": "https://img.example/a.png", "name": "A", "alt": "<b>x</b>" });
    let id = make(&shop, CATEGORIES, json!({ "name": "Tops", "image": image }));
    let path = format!("{CATEGORIES}/{id}");
    let image = shop.get(&path, ADMIN).json["image"].clone();
    assert_eq!(image["src"], json!("https://img.example/a.png"));
    assert_eq!((&image["name"], &image["alt"]), (&json!("A"), &json!("x")));
    assert_eq!(image["date_created"], json!("2026-11-15T08:00:00"));
    let older = shop.get(&format!("/wc/v1/products/categories/{id}"), ADMIN).json["image"].clone();
    assert_eq!((&older["title"], older.get("date_created_gmt")), (&json!("A"), None));
    let change = json!({ "image": { "id": image["id"], "alt": "y" } });
    let changed = shop.ask("PUT", &path, ADMIN, &change).json["image"].clone();
    assert_eq!((&changed["src"], &changed["alt"]), (&image["src"], &json!("y")));
    for other in [json!({ "id": 4711 }), json!(null)] {
        let deleted = shop.ask("PUT", &path, ADMIN, &json!({ "image": other }));
        assert_eq!(deleted.json["image"], Value::Null, "{other}");
    }
}

#[test]
fn batches_and_strangers() {
    let mut shop = TestShop::new();
    shop.user("clerk", Role::Customer);
    let id = make(&shop, CATEGORIES, json!({ "name": "Tops" }));
    let path = format!("{CATEGORIES}/batch");
    let body = json!({
        "create": [{ "name": 7 }, {}],
        "update": [{ "id": 999, "name": "z" }],
        "delete": [id],
    });
    let done = shop.ask("POST", &path, ADMIN, &body);
    assert_eq!(done.json["create"][0]["name"], json!("7"));
    assert_eq!(done.json["create"][1]["error"]["code"], json!("empty_term_name"));
    assert_eq!(done.json["update"][0]["error"]["code"], json!("woocommerce_rest_term_invalid"));
    assert_eq!(done.json["delete"][0]["id"], json!(id));
    for path in [CATEGORIES, "/wc/v2/products/tags", "/wc/v2/products/brands"] {
        let refused = shop.get(path, "clerk");
        assert_eq!(refused.refusal(), (403, "woocommerce_rest_cannot_view"), "{path}");
    }
    assert_eq!(shop.ask("POST", &path, NOBODY, &body).status, 401);
}

#[test]
fn every_change_is_told() {
    let shop = TestShop::new();
    let id = make(&shop, CATEGORIES, json!({ "name": "Tops" }));
    let path = format!("{CATEGORIES}/{id}");
    shop.ask("PUT", &path, ADMIN, &json!({ "name": "Gear" }));
    shop.ask("DELETE", &format!("{path}?force=true"), ADMIN, &Value::Null);
    shop.write(|conn| db::outbox::sequence(conn, 100).map(drop));
    let events = shop.read(|conn| db::outbox::after(conn, 0, 100));
    let kinds: Vec<&str> = events.iter().map(|event| event.kind.as_str()).collect();
    let ours: Vec<&str> = kinds.into_iter().filter(|kind| kind.starts_with("term.")).collect();
    assert_eq!(ours, ["term.created", "term.updated", "term.deleted"]);
}
