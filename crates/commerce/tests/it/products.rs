//! Products as clients make, change, list, copy and delete them.

use serde_json::{Value, json};
use types::Role;

use super::support::{ADMIN, Answer, HOME, NOBODY, TestShop};

fn made(shop: &TestShop, body: &Value) -> Value {
    let answer = shop.ask("POST", "/wc/v3/products", ADMIN, body);
    assert_eq!(answer.status, 201, "{}", answer.json);
    answer.json
}

fn changed(shop: &TestShop, product: &Value, body: &Value) -> Answer {
    shop.ask("PUT", &format!("/wc/v3/products/{}", product["id"]), ADMIN, body)
}

fn ids(shop: &TestShop, query: &str) -> Vec<Value> {
    let answer = shop.get(&format!("/wc/v3/products?orderby=id&order=asc&{query}"), ADMIN);
    assert_eq!(answer.status, 200, "{query} {}", answer.json);
    answer.each("id")
}

#[test]
fn prices_stock_and_sale_follow_from_what_is_given() {
    let shop = TestShop::new();
    for (body, expected) in [
        (
            json!({ "regular_price": "20", "sale_price": "15.50" }),
            json!({ "price": "15.50", "on_sale": true, "purchasable": true }),
        ),
        (
            json!({ "regular_price": "20", "sale_price": "15", "date_on_sale_to": "2020-01-01" }),
            json!({ "price": "20", "on_sale": false }),
        ),
        (
            json!({ "regular_price": "20", "sale_price": "15",
                    "date_on_sale_from_gmt": "2026-11-16T00:00:00" }),
            json!({ "price": "20", "on_sale": false,
                    "date_on_sale_from_gmt": "2026-11-16T00:00:00" }),
        ),
        (json!({ "regular_price": "nonsense" }), json!({ "price": "", "purchasable": false })),
        (
            json!({ "manage_stock": true, "stock_quantity": 0 }),
            json!({ "stock_status": "outofstock", "stock_quantity": 0, "backordered": false }),
        ),
        (
            json!({ "manage_stock": true, "stock_quantity": -2, "backorders": "notify" }),
            json!({ "stock_status": "onbackorder", "backordered": true,
                    "backorders_allowed": true }),
        ),
        (
            json!({ "stock_quantity": 5, "stock_status": "outofstock" }),
            json!({ "stock_status": "outofstock", "stock_quantity": null, "manage_stock": false }),
        ),
        (
            json!({ "type": "external", "regular_price": "5", "manage_stock": true,
                    "external_url": "https://other.example/x", "button_text": "Go" }),
            json!({ "purchasable": false, "manage_stock": false, "stock_status": "instock",
                    "external_url": "https://other.example/x", "button_text": "Go" }),
        ),
        (
            json!({ "virtual": true, "weight": "3", "dimensions": { "length": "2" } }),
            json!({ "weight": "", "shipping_required": false, "shipping_taxable": false,
                    "dimensions": { "length": "", "width": "", "height": "" } }),
        ),
        (
            json!({ "downloadable": true, "download_limit": 3,
                    "downloads": [{ "file": format!("{HOME}/files/a.pdf") }, { "name": "x" }] }),
            json!({ "download_limit": 3 }),
        ),
    ] {
        let product = made(&shop, &body);
        for (name, value) in expected.as_object().unwrap() {
            assert_eq!(&product[name], value, "{name} of {body}");
        }
    }
}

#[test]
fn files_and_pictures_are_kept_by_their_addresses() {
    let shop = TestShop::new();
    let product = made(
        &shop,
        &json!({
            "downloadable": true,
            "downloads": [{ "file": format!("{HOME}/files/a.pdf") }],
            "images": [{ "src": "https://pictures.example/tee.png", "alt": "A tee" }],
        }),
    );
    let file = &product["downloads"][0];
    assert_eq!(file["file"], json!(format!("{HOME}/files/a.pdf")));
    assert_eq!((file["name"].as_str(), file["id"].as_str().unwrap().len()), (Some("a.pdf"), 36));
    let image = &product["images"][0];
    assert_eq!(image["src"], json!("https://pictures.example/tee.png"));
    assert_eq!((&image["name"], &image["alt"]), (&json!("tee"), &json!("A tee")));
    let kept = changed(&shop, &product, &json!({ "images": [{ "id": image["id"] }] })).json;
    assert_eq!(kept["images"][0]["src"], image["src"]);
    for (body, code) in [
        (json!({ "images": [{ "id": 99999 }] }), "woocommerce_product_invalid_image_id"),
        (
            json!({ "images": [{ "src": "ftp://pictures.example/x" }] }),
            "woocommerce_product_image_upload_error",
        ),
    ] {
        assert_eq!(changed(&shop, &product, &body).refusal(), (400, code), "{body}");
    }
    assert_eq!(changed(&shop, &product, &json!({ "images": [] })).json["images"], json!([]));
}

#[test]
fn no_two_products_have_the_same_sku_or_slug() {
    let shop = TestShop::new();
    let first = made(&shop, &json!({ "name": "Tee", "sku": "T-1" }));
    let second = made(&shop, &json!({ "name": "Tee" }));
    assert_eq!((&first["slug"], &second["slug"]), (&json!("tee"), &json!("tee-2")));
    let refused = changed(&shop, &second, &json!({ "sku": "t-1" }));
    assert_eq!(refused.refusal(), (400, "product_invalid_sku"));
    assert_eq!(refused.json["data"]["unique_sku"], json!("t-1-1"));
    assert_eq!(refused.json["data"]["resource_id"], first["id"]);
    changed(&shop, &first, &json!({ "global_unique_id": "978-3" }));
    let refused = changed(&shop, &second, &json!({ "global_unique_id": "978-3" }));
    assert_eq!(refused.refusal(), (400, "product_invalid_global_unique_id"));
    let draft = made(&shop, &json!({ "name": "Tee", "status": "draft" }));
    assert_eq!(draft["slug"], json!(""));
    let id = &draft["id"];
    assert_eq!(draft["permalink"], json!(format!("{HOME}/?post_type=product&p={id}")));
    let published = changed(&shop, &draft, &json!({ "status": "publish" })).json;
    assert_eq!(published["permalink"], json!(format!("{HOME}/product/tee-3/")));
}

#[test]
fn lists_keep_what_is_asked_for() {
    let shop = TestShop::new();
    let parent = shop
        .ask("POST", "/wc/v3/products/categories", ADMIN, &json!({ "name": "Clothes" }))
        .json["id"]
        .clone();
    let child = json!({ "name": "Shirts", "parent": parent });
    let child = shop.ask("POST", "/wc/v3/products/categories", ADMIN, &child).json["id"].clone();
    let shirt = made(
        &shop,
        &json!({ "name": "Linen shirt", "sku": "S-1", "regular_price": "30",
                 "sale_price": "20", "featured": true, "categories": [{ "id": child }],
                 "tags": [{ "name": "summer" }] }),
    );
    let mug = made(
        &shop,
        &json!({ "name": "Mug", "sku": "M-1", "regular_price": "8", "virtual": true,
                 "manage_stock": true, "stock_quantity": 1, "tax_class": "reduced-rate",
                 "description": "Holds linen tea" }),
    );
    let draft = made(&shop, &json!({ "name": "Hidden", "status": "draft", "type": "grouped" }));
    let (shirt_id, mug_id, draft_id) =
        (shirt["id"].clone(), mug["id"].clone(), draft["id"].clone());
    let tag = shirt["tags"][0]["id"].clone();
    let table: Vec<(String, Vec<&Value>)> = vec![
        (String::new(), vec![&shirt_id, &mug_id, &draft_id]),
        ("search=linen".into(), vec![&shirt_id, &mug_id]),
        ("search=linen&search_fields=name".into(), vec![&shirt_id]),
        ("search_name_or_sku=m-".into(), vec![&mug_id]),
        ("search_sku=-1".into(), vec![&shirt_id, &mug_id]),
        ("sku=S-1,M-1".into(), vec![&shirt_id, &mug_id]),
        ("status=draft".into(), vec![&draft_id]),
        ("exclude_status=draft".into(), vec![&shirt_id, &mug_id]),
        ("include_status=draft,publish".into(), vec![&shirt_id, &mug_id, &draft_id]),
        ("type=grouped".into(), vec![&draft_id]),
        ("exclude_types=grouped".into(), vec![&shirt_id, &mug_id]),
        ("pos_products_only=true".into(), vec![&shirt_id, &mug_id]),
        (format!("category={parent}"), vec![&shirt_id]),
        (format!("category={parent},none"), vec![&shirt_id]),
        ("category=none".into(), vec![]),
        ("category=0".into(), vec![]),
        (format!("tag={tag}"), vec![&shirt_id]),
        ("featured=false".into(), vec![&mug_id, &draft_id]),
        ("on_sale=true".into(), vec![&shirt_id]),
        ("min_price=10".into(), vec![&shirt_id]),
        ("max_price=10".into(), vec![&mug_id]),
        ("virtual=true".into(), vec![&mug_id]),
        ("tax_class=reduced-rate".into(), vec![&mug_id]),
        ("slug=mug".into(), vec![&mug_id]),
        (format!("exclude={mug_id}"), vec![&shirt_id, &draft_id]),
        ("after=2030-01-01T00:00:00".into(), vec![]),
    ];
    for (query, expected) in table {
        let expected: Vec<Value> = expected.into_iter().cloned().collect();
        assert_eq!(ids(&shop, &query), expected, "{query}");
    }
    let low = shop.get("/wc-analytics/products?low_in_stock=true", ADMIN);
    assert_eq!(low.each("id"), [mug_id]);
    let by_price = shop.get("/wc/v3/products?orderby=price&order=asc&_fields=name", ADMIN);
    assert_eq!(by_price.each("name"), ["Hidden", "Mug", "Linen shirt"]);
    let conditions = "filter[posts_per_page]=1&filter[orderby]=ID&filter[order]=ASC";
    let first = shop.get(&format!("/wc/v1/products?{conditions}"), ADMIN);
    assert_eq!(first.each("name"), ["Linen shirt"], "the first version takes conditions");
}

#[test]
fn conditions_show_what_parameters_show() {
    let shop = TestShop::new();
    for status in ["publish", "draft"] {
        made(&shop, &json!({ "name": status, "status": status }));
    }
    let removed = made(&shop, &json!({ "name": "gone" }));
    let deleted = format!("/wc/v3/products/{}", removed["id"]);
    assert_eq!(shop.ask("DELETE", &deleted, ADMIN, &json!({})).status, 200);
    let names = |query: &str| shop.get(&format!("/wc/v1/products?{query}"), ADMIN).each("name");
    assert_eq!(names("filter[post_status]=trash"), names(""), "the trash is no choice");
    assert_eq!(names("").len(), 2);
    assert_eq!(names("filter[post_status]=wc-draft"), ["draft"]);
}

#[test]
fn free_data_is_shown_as_asked_and_named() {
    let shop = TestShop::new();
    let entries =
        json!([{ "key": "colour", "value": "red" }, { "key": "_own", "value": { "a": 1 } }]);
    let product = made(&shop, &json!({ "meta_data": entries }));
    let keys = |query: &str| -> Vec<Value> {
        let list = shop.get(&format!("/wc/v3/products?{query}"), ADMIN).json;
        let entries = list[0]["meta_data"].as_array().unwrap();
        entries.iter().map(|entry| entry["key"].clone()).collect()
    };
    assert_eq!(keys(""), ["colour", "_own"]);
    assert_eq!(keys("include_meta=colour"), ["colour"]);
    assert_eq!(keys("exclude_meta=colour"), ["_own"]);
    let names = shop.get("/wc/v3/products/custom-fields/names", ADMIN);
    assert_eq!(
        (names.json.clone(), names.header("x-wp-total")),
        (json!(["colour", "total_sales"]), "2")
    );
    let found = shop.get("/wc/v3/products/custom-fields/names?search=COL&order=desc", ADMIN);
    assert_eq!(found.json, json!(["colour"]));
    let entry = json!({ "id": product["meta_data"][0]["id"], "value": null });
    let changed = changed(&shop, &product, &json!({ "meta_data": [entry] })).json;
    assert_eq!(changed["meta_data"].as_array().unwrap().len(), 1);
}

#[test]
fn what_leaves_the_trash_has_its_slug_again() {
    let shop = TestShop::new();
    let product = made(&shop, &json!({ "name": "Lamp", "type": "variable" }));
    let path = format!("/wc/v3/products/{}", product["id"]);
    let variation =
        shop.ask("POST", &format!("{path}/variations"), ADMIN, &json!({ "regular_price": "5" }));
    assert_eq!(variation.status, 201, "{}", variation.json);
    assert_eq!(shop.ask("DELETE", &path, ADMIN, &Value::Null).status, 200);
    let trashed = shop.get(&path, ADMIN).json;
    assert_eq!((&trashed["status"], &trashed["slug"]), (&json!("trash"), &json!("lamp__trashed")));
    assert_eq!(shop.get(&format!("{path}/variations"), ADMIN).json, json!([]));
    let again = shop.ask("DELETE", &path, ADMIN, &Value::Null);
    assert_eq!(again.refusal(), (410, "woocommerce_rest_already_trashed"));
    let restored = changed(&shop, &product, &json!({ "status": "publish" })).json;
    assert_eq!((&restored["slug"], &restored["meta_data"]), (&json!("lamp"), &json!([])));
    assert_eq!(shop.get(&format!("{path}/variations"), ADMIN).each("status"), ["publish"]);
    assert_eq!(shop.ask("DELETE", &format!("{path}?force=true"), ADMIN, &Value::Null).status, 200);
    let removed = shop.get(&format!("/wc/v3/products/{}", variation.json["id"]), ADMIN);
    assert_eq!(removed.refusal(), (404, "woocommerce_rest_product_invalid_id"));
}

#[test]
fn a_copy_is_a_draft_of_its_own() {
    let shop = TestShop::new();
    let product = made(
        &shop,
        &json!({ "name": "Tee", "sku": "T-7", "regular_price": "9",
                 "meta_data": [{ "key": "a", "value": "b" }] }),
    );
    let path = format!("/wc/v3/products/{}/duplicate", product["id"]);
    let copy = shop.ask("POST", &path, ADMIN, &json!({ "regular_price": "11" })).json;
    assert_eq!(
        (&copy["name"], &copy["status"], &copy["sku"], &copy["price"]),
        (&json!("Tee (Copy)"), &json!("draft"), &json!("T-8"), &json!("11")),
    );
    assert_ne!(copy["meta_data"][0]["id"], product["meta_data"][0]["id"]);
    let original = shop.get(&format!("/wc/v3/products/{}", product["id"]), ADMIN).json;
    assert_eq!((&original["price"], &original["name"]), (&json!("9"), &json!("Tee")));
    let unknown = shop.ask("POST", "/wc/v3/products/99999/duplicate", ADMIN, &Value::Null);
    assert_eq!(unknown.refusal(), (404, "woocommerce_rest_product_invalid_id"));
}

#[test]
fn older_versions_show_the_same_product_in_their_shapes() {
    let shop = TestShop::new();
    let product = made(&shop, &json!({ "name": "Tee", "regular_price": "9", "type": "simple" }));
    let shown =
        |version: &str| shop.get(&format!("/wc/{version}/products/{}", product["id"]), ADMIN).json;
    let (first, second, third) = (shown("v1"), shown("v2"), shown("v3"));
    assert_eq!((&first["in_stock"], &second["in_stock"]), (&json!(true), &json!(true)));
    assert_eq!(first["images"][0]["position"], json!(0), "a picture stands in");
    assert_eq!((first["date_on_sale_from"].as_str(), &third["in_stock"]), (Some(""), &Value::Null));
    for name in ["date_created_gmt", "meta_data", "stock_status", "brands", "low_stock_amount"] {
        assert!(first.get(name).is_none() && third.get(name).is_some(), "{name}");
    }
    assert!(second.get("meta_data").is_some() && second.get("has_options").is_none());
    let body = json!({ "in_stock": false });
    let path = format!("/wc/v2/products/{}", product["id"]);
    assert_eq!(shop.ask("PUT", &path, ADMIN, &body).json["in_stock"], json!(false));
    assert_eq!(shown("v3")["stock_status"], json!("outofstock"));
}

#[test]
fn only_who_may_sees_and_changes_products() {
    let mut shop = TestShop::new();
    shop.user("manager", Role::ShopManager);
    shop.user("editor", Role::Editor);
    let product = made(&shop, &json!({ "name": "Tee" }));
    let one = format!("/wc/v3/products/{}", product["id"]);
    for (method, path, code) in [
        ("GET", "/wc/v3/products", "woocommerce_rest_cannot_view"),
        ("GET", one.as_str(), "woocommerce_rest_cannot_view"),
        ("POST", "/wc/v3/products", "woocommerce_rest_cannot_create"),
        ("PUT", one.as_str(), "woocommerce_rest_cannot_edit"),
        ("DELETE", one.as_str(), "woocommerce_rest_cannot_delete"),
        ("POST", "/wc/v3/products/batch", "woocommerce_rest_cannot_batch"),
        ("GET", "/wc/v3/products/suggested-products", "woocommerce_rest_cannot_view"),
        ("GET", "/wc/v3/products/custom-fields/names", "woocommerce_rest_cannot_view"),
        ("GET", "/wc-analytics/products/low-in-stock", "woocommerce_rest_cannot_view"),
    ] {
        for (who, status) in [(NOBODY, 401), ("editor", 403)] {
            let answer = shop.ask(method, path, who, &json!({}));
            assert_eq!(answer.refusal(), (status, code), "{method} {path} {who:?}");
        }
    }
    assert_eq!(shop.get(&one, "manager").status, 200);
}

#[test]
fn every_change_is_told_once() {
    let shop = TestShop::new();
    let product = made(&shop, &json!({ "name": "Tee" }));
    changed(&shop, &product, &json!({ "name": "Shirt" }));
    let path = format!("/wc/v3/products/{}?force=true", product["id"]);
    shop.ask("DELETE", &path, ADMIN, &Value::Null);
    let events = shop.write(|conn| {
        db::outbox::sequence(conn, 1_000)?;
        db::outbox::after(conn, 0, 1_000)
    });
    let id = product["id"].to_string();
    let kinds: Vec<String> =
        events.into_iter().filter(|event| event.object_id == id).map(|event| event.kind).collect();
    assert_eq!(kinds, ["product.created", "product.updated", "product.deleted"]);
}

#[test]
fn a_product_has_a_page() {
    let shop = TestShop::new();
    let body = json!({ "name": "Fish & <b>chips</b>", "slug": "fish", "regular_price": "3",
                       "description": "With salt.<script>x()</script>" });
    let product = made(&shop, &body);
    let page = shop.page("/product/fish/").unwrap();
    assert!(page.title.contains("chips"), "{page:?}");
    assert!(page.content.contains("<p>With salt.") && !page.content.contains("x()"), "{page:?}");
    assert!(page.content.contains("3.00</bdi>"), "{page:?}");
    assert_eq!(page.permalink, format!("{HOME}/product/fish/"));
    assert_eq!(shop.page(&format!("/?p={}", product["id"])).unwrap(), page);
    for path in ["/product/", "/product/none/", "/product/fish/more/", "/fish/"] {
        assert_eq!(shop.page(path), None, "{path}");
    }
    changed(&shop, &product, &json!({ "post_password": "secret" }));
    let page = shop.page("/product/fish/").unwrap();
    assert!(page.lock.is_set() && page.summary.is_empty(), "{page:?}");
    changed(&shop, &product, &json!({ "status": "private" }));
    assert_eq!(shop.page("/product/fish/"), None);
}

#[test]
fn a_group_shows_the_sale_of_its_parts_and_is_not_found_by_it() {
    let shop = TestShop::new();
    let prices = json!({ "name": "Cup", "regular_price": "9", "sale_price": "7" });
    let part = made(&shop, &prices);
    let group = json!({ "name": "Set", "type": "grouped", "grouped_products": [part["id"]] });
    let group = made(&shop, &group);
    assert_eq!(group["on_sale"], true);
    let found = |query: &str| shop.get(&format!("/wc/v3/products?{query}"), ADMIN).each("id");
    assert_eq!(found("on_sale=true"), [part["id"].clone()]);
    assert_eq!(found("on_sale=false"), [group["id"].clone()]);
}

#[test]
fn what_is_dated_ahead_appears_in_its_time() {
    let shop = TestShop::new();
    let later = json!({ "name": "Later", "date_created_gmt": "2026-11-20T10:00:00" });
    let later = made(&shop, &later);
    assert_eq!(later["status"], "future");
    let id = later["id"].as_i64().unwrap();
    let at = |text: &str| {
        let time = types::Timestamp::parse(text).unwrap();
        shop.write(move |conn| {
            let is_due = commerce::products::sync::is_any_due(conn, time)?;
            let count = commerce::products::sync::catch_up(conn, time)?;
            Ok((is_due, count, shop_rows::product::get(conn, id)?.unwrap().status))
        })
    };
    assert_eq!(at("2026-11-20T09:59:59Z"), (false, 0, String::from("future")));
    assert_eq!(at("2026-11-20T10:00:00Z"), (true, 1, String::from("publish")));
    assert_eq!(at("2026-11-20T10:00:01Z"), (false, 0, String::from("publish")));
    let past = json!({ "status": "future", "date_created_gmt": "2026-11-01T10:00:00" });
    assert_eq!(changed(&shop, &later, &past).json["status"], "publish");
}

#[test]
fn a_list_tells_how_many_there_are_whatever_happened_to_them() {
    let shop = TestShop::new();
    let total = |query: &str| -> usize {
        let answer = shop.get(&format!("/wc/v3/products?per_page=1&{query}"), ADMIN);
        answer.header("x-wp-total").parse().unwrap()
    };
    let recount = || {
        shop.write(shop_rows::product::recount);
        shop.site.note_write();
    };
    let check = |expected: [usize; 3]| {
        let found = [total("status=publish"), total("status=draft"), total("type=simple")];
        assert_eq!(found, expected);
        recount();
        let again = [total("status=publish"), total("status=draft"), total("type=simple")];
        assert_eq!(again, found, "as if counted anew");
    };
    let cup = made(&shop, &json!({ "name": "Cup" }));
    let mug = made(&shop, &json!({ "name": "Mug" }));
    made(&shop, &json!({ "name": "Jar", "status": "draft" }));
    check([2, 1, 3]);
    changed(&shop, &cup, &json!({ "status": "draft" }));
    changed(&shop, &mug, &json!({ "type": "variable", "name": "Mugs" }));
    check([1, 2, 2]);
    let path = |product: &Value| format!("/wc/v3/products/{}", product["id"]);
    shop.ask("DELETE", &path(&cup), ADMIN, &Value::Null);
    check([1, 1, 1]);
    shop.ask("DELETE", &format!("{}?force=true", path(&mug)), ADMIN, &Value::Null);
    check([0, 1, 1]);
    // A backup of former times has no counts.
    shop.write(|conn| conn.script("DELETE FROM product_counts"));
    shop.site.note_write();
    assert_eq!(total("status=draft"), 0);
    recount();
    check([0, 1, 1]);
}
