//! What must not be stored is refused at every door, what is secret is not readable on the disk, and
//! whoever asks to be forgotten is.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};

use crate::shop_client::ShopClient;
use crate::support::{Site, body};

const STOPPED_WITHIN: Duration = Duration::from_secs(30);
const CARD: &str = "4111 1111 1111 1111";

on_both_engines!(
    card_numbers_are_refused_everywhere,
    card_numbers_are_only_reported_if_the_operator_says_so,
    secrets_are_unreadable_on_the_disk,
    secrets_of_older_versions_are_sealed_at_the_start,
    a_buyer_is_exported_and_forgotten,
);

/// Every way to write a text, with a card number in it.
fn writes() -> Vec<(&'static str, String, Value)> {
    let post = |path: &str, body: Value| ("POST", path.to_owned(), body);
    vec![
        post("/wc/v3/orders", json!({ "customer_note": CARD })),
        post("/wc/v3/orders", json!({ "billing": { "address_1": "4111.1111.1111.1111" } })),
        post("/wc/v3/orders", json!({ "meta_data": [{ "key": "memo", "value": CARD }] })),
        post("/wc/v3/orders", json!({ "line_items": [{ "name": format!("Gift {CARD}") }] })),
        post("/wc/v3/orders/batch", json!({ "create": [{ "customer_note": CARD }] })),
        post("/wc/v3/products", json!({ "name": format!("Lamp {CARD}") })),
        post("/wc/v3/products", json!({ "name": "Lamp", "description": "4111/1111/1111/1111" })),
        post("/wc/v3/products/tags", json!({ "name": "4111_1111_1111_1111" })),
        post("/wc/v3/coupons", json!({ "code": "4111111111111111" })),
        post("/wc/v3/customers", json!({ "email": "a@b.example", "first_name": CARD })),
        post("/wc/v3/webhooks", json!({ "name": CARD })),
        post("/wp/v2/posts", json!({ "title": "A", "content": format!("<p>{CARD}</p>") })),
        post(
            "/wp/v2/users",
            json!({ "username": "u", "email": "u@b.example",
            "password": "Long enough 1", "description": CARD }),
        ),
        post("/wp/v2/settings", json!({ "description": CARD })),
        post("/wc-admin/options", json!({ "woocommerce_demo_store_notice": CARD })),
        post(
            "/batch/v1",
            json!({ "requests": [
            { "path": "/wc/v3/products", "body": { "name": CARD } },
        ] }),
        ),
        (
            "PUT",
            String::from("/wc/v3/settings/general/woocommerce_store_address"),
            json!({ "value": CARD }),
        ),
    ]
}

fn card_numbers_are_refused_everywhere(site: Site) {
    let client = ShopClient::open(site);
    for (method, path, body) in writes() {
        let answer = client.send(method, &path, &body);
        assert_eq!(answer.status, 400, "{path} {body}: {}", answer.text());
        let told = answer.text();
        assert!(told.contains("prohibited_data"), "{path}: {told}");
        assert!(!repeats_a_card(&told), "{path} repeats it: {told}");
    }
    let order =
        client.ask("POST", "/wc/v3/orders", &json!({ "transaction_id": "4111111111111111" }));
    let notes = format!("/wc/v3/orders/{}/notes", order["id"]);
    let answer = client.send("POST", &notes, &json!({ "note": "4111*1111*1111*1111" }));
    assert_eq!(answer.status, 400, "{}", answer.text());
    client.ask("POST", &notes, &json!({ "note": "UPS tracking number 4111111111111111" }));

    let (_, key) = client.shop.site.key_with(&client.shop.site.iso("Guarded"), &[]);
    let mut merchant = body("Guarded");
    merchant["merchantData"]["merchantLogoUrl"] =
        json!("https://shop.example/4111111111111111.png");
    merchant["merchantData"]["addressLine2"] = json!("(4111) (1111) (1111) (1111)");
    let answer = client.running.onboard(&key, &merchant);
    assert_eq!(answer.status, 400, "{}", answer.text());
    let errors = answer.json().unwrap()["errors"].clone();
    for param in ["merchantData.merchantLogoUrl", "merchantData.addressLine2"] {
        let found = errors.as_array().unwrap().iter().find(|error| error["param"] == *param);
        assert_eq!(found.unwrap()["code"], "prohibited_data", "{errors}");
    }
    let log = client.running.server.stderr();
    assert!(log.contains("request has card data"), "{log}");
    assert!(!repeats_a_card(&log), "the log repeats it: {log}");
    imports_are_refused(&client.shop.site);
    for (place, bytes) in files_of(client.shop.site.data()) {
        assert!(!holds(&bytes, CARD) && !holds(&bytes, "4111.1111"), "{place}");
    }
}

/// Whether one of the cards is told, however it is written. A group of four digits alone proves
/// nothing: it can be part of a time, a port or an identifier.
fn repeats_a_card(text: &str) -> bool {
    let digits: String = text.chars().filter(char::is_ascii_digit).collect();
    digits.contains("111111111111") || digits.contains("555555555555")
}

fn imports_are_refused(site: &Site) {
    const OTHER: &str = "5555-5555-5555-4444";
    let file = site.data().join("orders.jsonl");
    let order = json!({
        "record": "order", "id": 900_001, "total": "5.00", "customer_note": OTHER,
    });
    fs::write(&file, order.to_string()).unwrap();
    let output = site.run(&["import", "orders", file.to_str().unwrap()]);
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && told.contains("customer_note"), "{told}");
    assert!(!repeats_a_card(&told), "{told}");
    let bundle = json!({ "orders": [{ "customer_note": OTHER }] });
    fs::write(&file, bundle.to_string()).unwrap();
    let output = site.run(&["import", "bundle", file.to_str().unwrap()]);
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && told.contains("orders[0].customer_note"), "{told}");
    assert!(!repeats_a_card(&told), "{told}");
    fs::remove_file(&file).unwrap();
}

fn card_numbers_are_only_reported_if_the_operator_says_so(site: Site) {
    let client = ShopClient::open(site.set("security.card_data", "report"));
    let order = client.ask("POST", "/wc/v3/orders", &json!({ "customer_note": CARD }));
    assert_eq!(order["customer_note"], CARD);
    let (_, key) = client.shop.site.key_with(&client.shop.site.iso("Reported"), &[]);
    let mut merchant = body("Reported");
    merchant["merchantData"]["addressLine2"] = json!(CARD);
    assert_eq!(client.running.onboard(&key, &merchant).status, 200);
    let log = client.running.server.stderr();
    assert_eq!(log.matches("request has card data").count(), 2, "{log}");
    assert!(!repeats_a_card(&log), "the log repeats it: {log}");
}

const SECRETS: [&str; 3] = ["sk_live_Quizzical77", "DE00Canary12345", "pp_Secret_Zephyr"];

fn settings() -> Value {
    json!({
        "woocommerce_stripe_settings": { "enabled": "yes", "secret_key": SECRETS[0] },
        "woocommerce_bacs_accounts": [{ "account_name": "Shop", "iban": SECRETS[1] }],
        "woocommerce-ppcp-settings": { "client_secret": SECRETS[2] },
    })
}

fn names() -> String {
    settings().as_object().unwrap().keys().cloned().collect::<Vec<_>>().join(",")
}

fn secrets_are_unreadable_on_the_disk(site: Site) {
    let client = ShopClient::open(site.set("log.level", "trace"));
    let changed = client.ask("POST", "/wc-admin/options", &settings());
    assert!(changed.as_object().unwrap().values().all(|changed| *changed == true), "{changed}");
    // The same once more is no change.
    let changed = client.ask("POST", "/wc-admin/options", &settings());
    assert!(changed.as_object().unwrap().values().all(|changed| *changed == false), "{changed}");
    assert_eq!(client.get(&format!("/wc-admin/options?options={}", names())), settings());
    check_unreadable(client);
}

/// Writes values in clear text, as older versions did.
fn secrets_of_older_versions_are_sealed_at_the_start(site: Site) {
    let client = ShopClient::open(site);
    let ShopClient { shop, running, .. } = client;
    running.server.terminate(STOPPED_WITHIN).unwrap();
    let clear = settings();
    shop.site
        .store()
        .write_blocking(move |conn| {
            for (name, value) in clear.as_object().unwrap() {
                site_rows::option::set(conn, name, &value.to_string())?;
            }
            Ok(())
        })
        .unwrap();
    let client = ShopClient::of(shop);
    assert_eq!(client.get(&format!("/wc-admin/options?options={}", names())), settings());
    check_unreadable(client);
}

/// Looks for the secrets in the database with its log, in a backup, in exports and in the log.
fn check_unreadable(client: ShopClient) {
    let ShopClient { shop, running, .. } = client;
    let site = &shop.site;
    let backup = site.data().join("copy.backup");
    site.json(&["backup", backup.to_str().unwrap()]);
    let export = site.data().join("orders.csv");
    site.json(&["export", "report", "orders", "--output", export.to_str().unwrap()]);
    let log = running.server.stderr();
    // What an older version left in a page is gone once the log is folded into the database.
    running.server.terminate(STOPPED_WITHIN).unwrap();
    let mut files = files_of(site.data());
    assert!(files.iter().any(|(place, _)| place.ends_with("copy.backup")));
    files.push((String::from("the log"), log.into_bytes()));
    for (place, bytes) in files {
        for secret in SECRETS {
            assert!(!holds(&bytes, secret), "{secret} is in {place}");
        }
    }
}

fn holds(bytes: &[u8], text: &str) -> bool {
    bytes.windows(text.len()).any(|window| window == text.as_bytes())
}

fn files_of(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.append(&mut files_of(&path));
        } else {
            files.push((path.display().to_string(), fs::read(&path).unwrap_or_default()));
        }
    }
    files
}

const EMAIL: &str = "Zinnia@Canarybird.example";
const PERSONAL: [&str; 6] =
    ["canarybird", "Zinnia", "Quetzalford", "77 Parakeet Row", "5550177123", "203.0.113.219"];

/// What is kept about the person, wherever it is.
fn make_person(client: &ShopClient) -> Value {
    let address = json!({
        "first_name": "Zinnia", "last_name": "Quetzalford", "address_1": "77 Parakeet Row",
        "city": "New York", "state": "NY", "postcode": "10001", "country": "US",
        "phone": "5550177123", "email": EMAIL,
    });
    let customer = client.ask(
        "POST",
        "/wc/v3/customers",
        &json!({
            "email": EMAIL, "first_name": "Zinnia", "last_name": "Quetzalford",
            "username": "canarybird", "password": "Long enough 1", "billing": address,
        }),
    );
    let coupon = client.ask(
        "POST",
        "/wc/v3/coupons",
        &json!({
            "code": "fly", "amount": "1.00", "email_restrictions": [EMAIL],
        }),
    );
    assert_eq!(coupon["email_restrictions"], json!([EMAIL.to_lowercase()]));
    let product = client.ask(
        "POST",
        "/wc/v3/products",
        &json!({
            "name": "Birdcage", "regular_price": "40.00",
        }),
    );
    let order = |customer: &Value| {
        client.ask(
            "POST",
            "/wc/v3/orders",
            &json!({
                "status": "completed", "customer_id": customer, "billing": address,
                "shipping": address, "customer_note": "Ring for Zinnia",
                "line_items": [{ "product_id": product["id"], "quantity": 2,
                    "meta_data": [{ "key": "Engraving", "value": "For Quetzalford" }] }],
                "coupon_lines": [{ "code": "fly" }],
                "meta_data": [{ "key": "_gift", "value": "from Zinnia" },
                    { "key": "_customer_ip", "value": "203.0.113.219" }],
            }),
        )
    };
    let (own, as_guest) = (order(&customer["id"]), order(&json!(0)));
    let notes = format!("/wc/v3/orders/{}/notes", own["id"]);
    client.ask("POST", &notes, &json!({ "note": "Zinnia called: leave it at 77 Parakeet Row" }));
    let refunds = format!("/wc/v3/orders/{}/refunds", own["id"]);
    client.ask(
        "POST",
        &refunds,
        &json!({ "amount": "5.00", "api_refund": false, "reason": "Ms Quetzalford is sad" }),
    );
    client.ask(
        "POST",
        "/wc/v3/products/reviews",
        &json!({
            "product_id": product["id"], "review": "Sturdy.", "reviewer": "Zinnia Quetzalford",
            "reviewer_email": EMAIL, "rating": 4,
        }),
    );
    let post = client.ask("POST", "/wp/v2/posts", &json!({ "title": "News", "status": "publish" }));
    client.ask(
        "POST",
        "/wp/v2/comments",
        &json!({
            "post": post["id"], "content": "Lovely.", "author_name": "Zinnia Quetzalford",
            "author_email": EMAIL,
        }),
    );
    json!({ "own": own, "guest": as_guest, "customer": customer["id"], "notes": notes })
}

fn a_buyer_is_exported_and_forgotten(site: Site) {
    let client = ShopClient::open(site);
    let made = make_person(&client);
    let asked = json!({ "email": EMAIL.to_lowercase() });
    let exported = client.ask("POST", "/boardwalk/v1/privacy/export", &asked);
    assert_eq!(client.shop.site.json(&["privacy", "export", EMAIL])["data"], exported["data"]);
    let text = exported.to_string();
    for personal in PERSONAL {
        assert!(text.contains(personal), "{personal} is not in {text}");
    }
    let nobody =
        client.ask("POST", "/boardwalk/v1/privacy/export", &json!({ "email": "n@o.example" }));
    assert_eq!(nobody["data"], json!([]));

    let erased = client.ask("POST", "/boardwalk/v1/privacy/erase", &asked);
    assert_eq!(erased["account"], true, "{erased}");
    assert_eq!(
        (&erased["orders"], &erased["reviews"], &erased["coupons"]),
        (&json!(3), &json!(2), &json!(1)),
        "{erased}"
    );
    for order in ["own", "guest"] {
        let before = &made[order];
        let after = client.get(&format!("/wc/v3/orders/{}", before["id"]));
        for figure in ["total", "discount_total", "date_created", "status", "currency"] {
            assert_eq!(after[figure], before[figure], "{figure}");
        }
        assert_eq!(after["line_items"][0]["quantity"], 2);
        assert_eq!(after["customer_id"], 0);
        assert_eq!(after["billing"]["first_name"], "[deleted]");
    }
    let customer = format!("/wc/v3/customers/{}", made["customer"]);
    assert_eq!(client.look(&customer).status, 404);
    assert_eq!(client.ask("POST", "/boardwalk/v1/privacy/export", &asked)["data"], json!([]));
    let again = client.shop.site.json(&["privacy", "erase", EMAIL]);
    assert_eq!((&again["orders"], &again["account"]), (&json!(0), &json!(false)), "{again}");
    check_forgotten(&client);
}

/// Looks for the person in a backup, in exports, in what reports tell and in the log.
fn check_forgotten(client: &ShopClient) {
    let site = &client.shop.site;
    let backup = site.data().join("after.backup");
    site.json(&["backup", backup.to_str().unwrap()]);
    let mut places = vec![(String::from("the log"), client.running.server.stderr())];
    for report in ["customers", "orders"] {
        let file = site.data().join(format!("{report}.csv"));
        site.json(&["export", "report", report, "--output", file.to_str().unwrap()]);
        places.push((report.to_owned(), fs::read_to_string(file).unwrap()));
    }
    for path in ["/wc-analytics/customers?per_page=100", "/wc/v3/coupons?code=fly"] {
        places.push((path.to_owned(), client.look(path).text().clone()));
    }
    // Bodies of deliveries end by themselves.
    let backup = fs::read_to_string(backup).unwrap();
    places.push((String::from("the backup"), backup));
    for (place, text) in places {
        let text = text.to_lowercase();
        for personal in PERSONAL {
            assert!(!text.contains(&personal.to_lowercase()), "{personal} is in {place}");
        }
    }
}

/// The list of what can be read on the disk is that of the tables.
#[test]
fn the_list_of_readable_columns_is_complete() {
    let mut tables: Vec<(&str, Vec<&str>)> = Vec::new();
    for line in schema::MIGRATIONS.iter().flat_map(|(_, text)| text.lines()) {
        let line = line.split("--").next().unwrap_or_default();
        let words: Vec<&str> =
            line.split_whitespace().map(|word| word.trim_end_matches([',', ';'])).collect();
        match words.as_slice() {
            ["CREATE", "TABLE", name, ..] => tables.push((name, Vec::new())),
            ["ALTER", "TABLE", name, "ADD", "COLUMN", column, "@text" | "@bytes", ..] => {
                let table = tables.iter_mut().find(|(known, _)| known == name).unwrap();
                table.1.push(column);
            }
            [column, "@text" | "@bytes", ..] => tables.last_mut().unwrap().1.push(column),
            _ => {}
        }
    }
    let is_readable = |column: &&&str| {
        !["sealed", "hash", "_index"].iter().any(|end| column.ends_with(end))
            && !["data_key", "seal"].contains(*column)
    };
    tables.sort_unstable();
    let mut expected = String::from("| Table | Readable columns |\n|---|---|\n");
    for (table, columns) in &tables {
        let readable: Vec<String> =
            columns.iter().filter(is_readable).map(|column| format!("`{column}`")).collect();
        if !readable.is_empty() {
            writeln!(expected, "| `{table}` | {} |", readable.join(", ")).unwrap();
        }
    }
    let documented = include_str!("../../../../docs/security.md");
    assert!(documented.ends_with(&expected), "docs/security.md must end with\n{expected}");
}
