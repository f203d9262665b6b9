//! Rates of taxes, the places where they hold, and the classes of goods that they are for.

use serde_json::{Value, json};
use shop_rows::tax_rate;
use types::Role;

use super::orders::{amount, create, product, tax};
use super::support::{ADMIN, HOME, NOBODY, TestShop, now};

const TAXES: &str = "/wc/v3/taxes";
const CLASSES: &str = "/wc/v3/taxes/classes";

#[test]
fn a_rate_holds_where_it_says() {
    let shop = TestShop::new();
    let body = json!({
        "country": "fr", "state": "*", "rate": "20", "name": "TVA",
        "postcodes": ["75001", " 75*… ", "*"], "cities": ["Paris", ""],
    });
    let answer = shop.ask("POST", TAXES, ADMIN, &body);
    assert_eq!(answer.status, 201);
    let expected = json!({
        "id": 1, "country": "FR", "state": "", "postcode": "75*...", "city": "PARIS",
        "rate": "20.0000", "name": "TVA", "priority": 1, "compound": false, "shipping": true,
        "order": 0, "class": "standard", "postcodes": ["75001", "75*..."], "cities": ["PARIS"],
    });
    let mut rate = answer.json;
    rate.as_object_mut().unwrap().shift_remove("_links");
    assert_eq!(rate, expected);
    let path = format!("{TAXES}/1");
    let change = |body: &Value| shop.ask("PUT", &path, ADMIN, body).json;
    let changed = change(&json!({ "rate": "abc", "name": "", "cities": [] }));
    assert_eq!(
        [&changed["rate"], &changed["name"], &changed["city"], &changed["postcode"]],
        [&json!("0.0000"), &json!("Tax"), &json!(""), &json!("75*...")],
    );
    let old = change(&json!({ "postcode": "1;2", "class": "zero-rate", "order": -3 }));
    assert_eq!(old["postcodes"], json!(["1", "2"]));
    assert_eq!((&old["class"], &old["order"]), (&json!("zero-rate"), &json!(3)));
    let first = shop.get("/wc/v1/taxes/1", ADMIN).json;
    assert_eq!((&first["postcode"], first.get("postcodes")), (&json!("2"), None));
    let empty = shop.ask("POST", TAXES, ADMIN, &json!({})).json;
    assert_eq!((&empty["rate"], &empty["name"]), (&json!(""), &json!("")));
}

#[test]
fn what_is_wrong_is_refused() {
    let shop = TestShop::new();
    shop.ask("POST", TAXES, ADMIN, &json!({ "country": "DE", "rate": "19" }));
    let one = format!("{TAXES}/1");
    let unknown = format!("{TAXES}/99");
    let table = [
        ("POST", TAXES, json!({ "id": 3 }), 400, "woocommerce_rest_tax_exists"),
        ("POST", TAXES, json!({ "class": "bogus" }), 400, "rest_invalid_param"),
        ("PUT", &one, json!({ "class": "bogus" }), 400, "rest_invalid_param"),
        ("PUT", &unknown, json!({}), 404, "woocommerce_rest_invalid_id"),
        ("DELETE", &one, json!({}), 400, "woocommerce_rest_trash_not_supported"),
        ("DELETE", &unknown, json!({ "force": true }), 400, "woocommerce_rest_invalid_id"),
        ("GET", &unknown, Value::Null, 404, "woocommerce_rest_invalid_id"),
        ("GET", "/wc/v3/taxes?class=bogus", Value::Null, 400, "rest_invalid_param"),
    ];
    for (method, path, body, status, code) in table {
        let answer = shop.ask(method, path, ADMIN, &body);
        assert_eq!(answer.refusal(), (status, code), "{method} {path} {body}");
    }
    let detail = shop.get("/wc/v3/taxes?class=bogus", ADMIN).json;
    assert_eq!(detail["data"]["details"]["class"]["code"], json!("rest_not_in_enum"));
    assert_eq!(shop.ask("DELETE", &format!("{one}?force=1"), ADMIN, &Value::Null).status, 200);
    assert_eq!(shop.get(&one, ADMIN).status, 404);
}

#[test]
fn lists_are_sorted_and_searched() {
    let shop = TestShop::new();
    for (country, state, class, priority) in
        [("US", "CA", "standard", 2), ("US", "NY", "reduced-rate", 1), ("GB", "", "standard", 3)]
    {
        let body = json!({
            "country": country, "state": state, "class": class, "priority": priority,
            "rate": "1", "name": "x",
        });
        assert_eq!(shop.ask("POST", TAXES, ADMIN, &body).status, 201);
    }
    let ids = |path: &str| shop.get(path, ADMIN).each("id");
    for (path, expected) in [
        ("/wc/v3/taxes", vec![1, 2, 3]),
        ("/wc/v3/taxes?orderby=id&order=desc", vec![3, 2, 1]),
        ("/wc/v3/taxes?orderby=priority", vec![2, 1, 3]),
        ("/wc/v3/taxes?class=standard", vec![1, 3]),
        ("/wc/v3/taxes?class=reduced-rate", vec![2]),
        ("/wc/v3/taxes?offset=1&per_page=1", vec![2]),
        ("/wc-analytics/taxes?orderby=id&order=desc", vec![1, 2, 3]),
        ("/wc-analytics/taxes?search=us-ny", vec![2]),
        ("/wc-analytics/taxes?include=3,1", vec![1, 3]),
    ] {
        assert_eq!(ids(path), expected, "{path}");
    }
}

#[test]
fn classes_come_and_go_with_their_rates() {
    let shop = TestShop::new();
    let slugs = || shop.get(CLASSES, ADMIN).each("slug");
    assert_eq!(slugs(), ["standard", "reduced-rate", "zero-rate"]);
    let made = shop.ask("POST", CLASSES, ADMIN, &json!({ "name": "Holy Books" }));
    assert_eq!((made.status, &made.json["slug"]), (201, &json!("holy-books")));
    assert_eq!(made.header("location"), format!("{HOME}/wp-json{CLASSES}/holy-books"));
    let rate = json!({ "class": "holy-books", "rate": "2" });
    assert_eq!(shop.ask("POST", TAXES, ADMIN, &rate).json["class"], json!("holy-books"));
    assert_eq!(shop.get(&format!("{CLASSES}/holy-books"), ADMIN).each("name"), ["Holy Books"]);
    for (name, code) in [
        ("", "woocommerce_rest_tax_class_invalid_name"),
        ("Holy Books", "woocommerce_rest_tax_class_exists"),
        ("holy books", "woocommerce_rest_tax_class_slug_exists"),
        ("Standard", "woocommerce_rest_tax_class_slug_exists"),
        ("!", "woocommerce_rest_tax_class_slug_invalid"),
    ] {
        let answer = shop.ask("POST", CLASSES, ADMIN, &json!({ "name": name }));
        assert_eq!(answer.refusal(), (400, code), "{name}");
    }
    let delete = |slug: &str, force: bool| {
        shop.ask("DELETE", &format!("{CLASSES}/{slug}?force={force}"), ADMIN, &Value::Null)
    };
    let kept = delete("holy-books", false);
    assert_eq!(kept.refusal(), (400, "woocommerce_rest_trash_not_supported"));
    assert_eq!(delete("holy-books", true).json["name"], json!("Holy Books"));
    assert_eq!(shop.get(TAXES, ADMIN).json, json!([]), "its rates went with it");
    let standard = delete("standard", true);
    let unknown = (404, "woocommerce_rest_tax_class_invalid_slug");
    assert_eq!(standard.refusal(), unknown);
    for version in ["v2", "v3"] {
        let class = |slug: &str| shop.get(&format!("/wc/{version}/taxes/classes/{slug}"), ADMIN);
        assert_eq!(class("zed").refusal(), unknown, "{version}");
        assert_eq!(class("standard").each("slug"), ["standard"], "{version}");
    }
    assert_eq!(shop.get("/wc/v1/taxes/classes/zero-rate", ADMIN).status, 404);
}

#[test]
fn classes_that_were_deleted_stay_deleted() {
    let shop = TestShop::new();
    for slug in ["reduced-rate", "zero-rate"] {
        let path = format!("{CLASSES}/{slug}?force=true");
        assert_eq!(shop.ask("DELETE", &path, ADMIN, &Value::Null).status, 200);
    }
    shop.write(commerce::found);
    assert_eq!(shop.get(CLASSES, ADMIN).each("slug"), ["standard"]);
}

#[test]
fn only_managers_have_to_do_with_taxes() {
    let mut shop = TestShop::new();
    shop.user("editor", Role::Editor);
    let unknown = format!("{TAXES}/99");
    for (method, path, code) in [
        ("GET", TAXES, "woocommerce_rest_cannot_view"),
        ("GET", &unknown, "woocommerce_rest_cannot_view"),
        ("PUT", &unknown, "woocommerce_rest_cannot_edit"),
        ("DELETE", &unknown, "woocommerce_rest_cannot_delete"),
        ("POST", TAXES, "woocommerce_rest_cannot_create"),
        ("POST", "/wc/v3/taxes/batch", "woocommerce_rest_cannot_batch"),
        ("GET", CLASSES, "woocommerce_rest_cannot_view"),
        ("POST", CLASSES, "woocommerce_rest_cannot_create"),
    ] {
        let body = if method == "GET" { Value::Null } else { json!({ "name": "x" }) };
        for (who, status) in [(NOBODY, 401), ("editor", 403)] {
            let answer = shop.ask(method, path, who, &body);
            assert_eq!(answer.refusal(), (status, code), "{method} {path} {who}");
        }
    }
}

#[test]
fn a_bundle_can_be_imported_again() {
    let shop = TestShop::new();
    let classes = json!([{ "tax_rate_class_id": "3", "name": "Books", "slug": "books" }]);
    let rates = json!([{
        "tax_rate_id": "7", "tax_rate_country": "US", "tax_rate_state": "CA",
        "tax_rate": "1.2500", "tax_rate_name": "City", "tax_rate_priority": "2",
        "tax_rate_compound": "1", "tax_rate_shipping": "0", "tax_rate_order": "4",
        "tax_rate_class": "books",
        "locations": [{ "location_code": "SAN FRANCISCO", "location_type": "city" }],
    }]);
    let sections = std::collections::BTreeMap::from([
        ("tax_classes".to_owned(), classes),
        ("tax_rates".to_owned(), rates),
    ]);
    for _ in 0..2 {
        let sections = sections.clone();
        let totals = shop.write(move |conn| commerce::bundle::import(conn, &sections, now()));
        assert_eq!((totals["tax_classes"], totals["tax_rates"]), (1, 1));
        assert_eq!(shop.get(CLASSES, ADMIN).each("slug"), ["standard", "books"]);
        let rate = &shop.get(TAXES, ADMIN).json[0];
        assert_eq!([&rate["id"], &rate["rate"]], [&json!(7), &json!("1.2500")]);
        assert_eq!([&rate["compound"], &rate["shipping"]], [&json!(true), &json!(false)]);
        assert_eq!([&rate["class"], &rate["cities"]], [&json!("books"), &json!(["SAN FRANCISCO"])]);
    }
    assert_eq!(shop.ask("POST", TAXES, ADMIN, &json!({})).json["id"], json!(8));
}

#[test]
fn taxes_are_those_of_the_rates_as_they_are() {
    let shop = TestShop::new();
    tax(&shop);
    let tee = product(&shop, "Tee", "100");
    let body = json!({ "line_items": [{ "product_id": tee, "quantity": 1 }] });
    let total = || create(&shop, &body)["total"].clone();
    assert_eq!([total(), total()], [json!("115.50"), json!("115.50")]);
    let put = |rate: &str| shop.ask("PUT", "/wc/v3/taxes/1", ADMIN, &json!({ "rate": rate }));
    put("20");
    assert_eq!(total(), json!("126.00"));
    // Undone, and then something else is done in its place.
    let undone = shop.site.store().write_blocking(|conn| {
        let mut rate = tax_rate::get(conn, 1)?.unwrap();
        rate.rate = Some(amount("50"));
        tax_rate::update(conn, &rate)?;
        Err::<(), _>(types::Error::conflict("no"))
    });
    assert!(undone.is_err());
    assert_eq!(total(), json!("126.00"));
    put("30");
    assert_eq!(total(), json!("136.50"));
    // Within one transaction.
    let requests = json!({ "requests": [
        { "method": "PUT", "path": "/wc/v3/taxes/1", "body": { "rate": "0" } },
        { "method": "POST", "path": "/wc/v3/orders", "body": body },
        { "method": "DELETE", "path": "/wc/v3/taxes/2?force=true" },
        { "method": "POST", "path": "/wc/v3/orders", "body": body },
    ] });
    let answer = shop.ask("POST", "/batch/v1", ADMIN, &requests).json;
    let total_of = |place: usize| answer["responses"][place]["body"]["total"].clone();
    assert_eq!([total_of(1), total_of(3)], [json!("105.00"), json!("100.00")], "{answer}");
    assert_eq!(total(), json!("100.00"));
}
