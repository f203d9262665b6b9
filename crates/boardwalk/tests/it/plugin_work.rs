//! What the bundled plugins do while they are active: e-mails to customers, labels and tracking
//! numbers of parcels; and which experiments run. On both engines, against a mail server on loopback.

use std::time::Duration;

use serde_json::{Value, json};
use testkit::smtp::{Mail, Sink};

use crate::shop_desk::ShopDesk;
use crate::support::{Site, eventually, on_both_engines};

const PATIENCE: Duration = Duration::from_mins(1);

on_both_engines!(letters_and_parcels_work);

fn letters_and_parcels_work(site: Site) {
    let sink = Sink::start().unwrap();
    let site = site
        .set("mail.relay", "127.0.0.1")
        .set("mail.port", sink.port())
        .set("mail.security", "none")
        .set("mail.from", "Pier Shop <shop@pier.example>")
        .set("admin.experiments", r#"["one"]"#);
    let desk = ShopDesk::open(site);
    experiments_are_the_operators(&desk);
    letters_are_sent(&desk, &sink);
    parcels_have_labels(&desk, &sink);
}

fn experiments_are_the_operators(desk: &ShopDesk) {
    let side = |name: &str| {
        let path = format!("/wc-admin/experiments/assignment?experiment_name={name}");
        desk.get(&path)["variations"][name].clone()
    };
    let one = side("one");
    assert!(one == "control" || one == "treatment", "{one}");
    assert_eq!((side("one"), side("two")), (one, Value::Null), "the same each time");
}

fn activate(desk: &ShopDesk, slug: &str) {
    let body = json!({ "plugins": [slug] });
    desk.ask("POST", "/wc-admin/onboarding/plugins/install-and-activate", &body);
}

fn sent_to(sink: &Sink, address: &str, words: &str) -> Vec<Mail> {
    let is_it = |mail: &Mail| mail.to == [address] && mail.data.contains(words);
    sink.got().into_iter().filter(is_it).collect()
}

fn letters_are_sent(desk: &ShopDesk, sink: &Sink) {
    let customer = |email: &str| {
        desk.ask("POST", "/wc/v3/customers", &json!({ "email": email }));
    };
    activate(desk, "letters");
    let sender = json!({ "values": { "sender": "Pier Desk" } });
    desk.ask("POST", "/boardwalk/v1/plugins/letters/settings", &sender);
    customer("ada@home.example");
    let welcome = || sent_to(sink, "ada@home.example", "Good to have you");
    eventually("the welcome arrives", PATIENCE, || welcome().len() == 1);
    assert!(welcome()[0].data.contains("From: \"Pier Desk\" <shop@pier.example>"));

    let order = |email: &str| {
        let body = json!({ "status": "completed", "billing": { "email": email } });
        desk.ask("POST", "/wc/v3/orders", &body)["id"].clone()
    };
    order("ada@home.example");
    order("bo@home.example");
    let review = |email: &str| sent_to(sink, email, "How do you like order").len();
    eventually("the request arrives", PATIENCE, || review("bo@home.example") == 1);
    assert_eq!(review("ada@home.example"), 0, "one e-mail a month is enough");
    desk.ask("POST", "/boardwalk/v1/plugins/letters/deactivate", &json!({}));
}

fn parcels_have_labels(desk: &ShopDesk, sink: &Sink) {
    let address = json!({
        "first_name": "Zoë", "last_name": "Quay", "address_1": "1 Pier (North)", "city": "Bay",
        "postcode": "94000", "country": "US", "state": "CA",
    });
    let mut billing = address.clone();
    billing["email"] = json!("zoe@home.example");
    let body = json!({ "status": "processing", "billing": billing, "shipping": address });
    let id = desk.ask("POST", "/wc/v3/orders", &body)["id"].clone();
    let label = || desk.look(&format!("/boardwalk/v1/orders/{id}/shipping-label"));
    let code = |body: &Value| body["code"].clone();
    let without = label();
    let expected = (404, json!("boardwalk_no_shipping_labels"));
    assert_eq!((without.status, code(&without.json().unwrap())), expected);

    activate(desk, "parcels");
    let choose = |values: Value| {
        let body = json!({ "values": values });
        desk.ask("POST", "/boardwalk/v1/plugins/parcels/settings", &body);
    };
    choose(json!({ "sender": "Pier Desk", "label_size": "a5", "insured": true }));
    let made = label();
    assert_eq!(made.status, 200, "{made:?}");
    assert_eq!(made.header("Content-Type").as_deref(), Some("application/pdf"));
    let text = made.text();
    for part in [
        "%PDF-1.4",
        "/MediaBox [0 0 419.53 595.28]",
        "(Pier Desk)",
        "(Zo\\353 Quay)",
        "(1 Pier \\(North\\))",
        "(94000 Bay CA)",
        "(INSURED)",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    choose(json!({ "label_size": "letter", "insured": false }));
    let text = label().text();
    assert!(text.contains("[0 0 612.00 792.00]") && !text.contains("INSURED"), "{text}");
    let empty = desk.ask("POST", "/wc/v3/orders", &json!({}))["id"].clone();
    let nowhere = desk.look(&format!("/boardwalk/v1/orders/{empty}/shipping-label"));
    assert_eq!(
        (nowhere.status, code(&nowhere.json().unwrap())),
        (400, json!("boardwalk_no_address"))
    );

    let path = format!("/boardwalk/v1/orders/{id}/tracking");
    let tracking =
        json!({ "number": "PX-77", "carrier": "Gull", "url": "https://gull.example/77" });
    let told = desk.send("POST", &path, &tracking);
    assert_eq!(told.status, 201, "{told:?}");
    eventually("the number arrives", PATIENCE, || {
        sent_to(sink, "zoe@home.example", "Tracking number: PX-77").len() == 1
    });
    let order = desk.get(&format!("/wc/v3/orders/{id}"));
    let entries = order["meta_data"].as_array().unwrap();
    let number = entries.iter().find(|entry| entry["key"] == "tracking_number").unwrap();
    assert_eq!(number["value"], json!("PX-77"));
    let missing = desk.send("POST", &path, &json!({ "number": " " }));
    assert_eq!(missing.status, 400);
}
