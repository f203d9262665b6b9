//! What the bundled plugins do while they are active: e-mails to customers, labels and tracking
//! numbers of parcels; and which experiments run. On both engines, against a mail server on loopback.

use std::time::Duration;

use serde_json::{Value, json};
use testkit::smtp::{Mail, Sink};

use crate::shop_client::ShopClient;
use crate::support::{Site, eventually};

const PATIENCE: Duration = Duration::from_mins(1);

on_both_engines!(emails_and_parcels_work);

fn emails_and_parcels_work(site: Site) {
    let sink = Sink::start().unwrap();
    let site = site
        .set("mail.relay", "127.0.0.1")
        .set("mail.port", sink.port())
        .set("mail.security", "none")
        .set("mail.from", "Pier Shop <shop@pier.example>")
        .set("admin.experiments", r#"["one"]"#);
    let client = ShopClient::open(site);
    experiments_are_the_operators(&client);
    emails_are_sent(&client, &sink);
    parcels_have_labels(&client, &sink);
}

fn experiments_are_the_operators(client: &ShopClient) {
    let side = |name: &str| {
        let path = format!("/wc-admin/experiments/assignment?experiment_name={name}");
        client.get(&path)["variations"][name].clone()
    };
    let one = side("one");
    assert!(one == "control" || one == "treatment", "{one}");
    assert_eq!((side("one"), side("two")), (one, Value::Null), "the same each time");
}

fn activate(client: &ShopClient, slug: &str) {
    let body = json!({ "plugins": [slug] });
    client.ask("POST", "/wc-admin/onboarding/plugins/install-and-activate", &body);
}

fn sent_to(sink: &Sink, address: &str, words: &str) -> Vec<Mail> {
    let is_it = |mail: &Mail| mail.to == [address] && mail.data.contains(words);
    sink.got().into_iter().filter(is_it).collect()
}

fn emails_are_sent(client: &ShopClient, sink: &Sink) {
    let customer = |email: &str| {
        client.ask("POST", "/wc/v3/customers", &json!({ "email": email }));
    };
    activate(client, "letters");
    let sender = json!({ "values": { "sender": "Pier Desk" } });
    client.ask("POST", "/boardwalk/v1/plugins/letters/settings", &sender);
    customer("ada@home.example");
    let welcome = || sent_to(sink, "ada@home.example", "Good to have you");
    eventually("the welcome arrives", PATIENCE, || welcome().len() == 1);
    assert!(welcome()[0].data.contains("From: \"Pier Desk\" <shop@pier.example>"));

    let order = |email: &str| {
        let body = json!({ "status": "completed", "billing": { "email": email } });
        client.ask("POST", "/wc/v3/orders", &body)["id"].clone()
    };
    order("ada@home.example");
    order("bo@home.example");
    let review = |email: &str| sent_to(sink, email, "How do you like order").len();
    eventually("the request arrives", PATIENCE, || review("bo@home.example") == 1);
    assert_eq!(review("ada@home.example"), 0, "one e-mail a month is enough");
    client.ask("POST", "/boardwalk/v1/plugins/letters/deactivate", &json!({}));
}

fn parcels_have_labels(client: &ShopClient, sink: &Sink) {
    let address = json!({
        "first_name": "Zoë", "last_name": "Quay", "address_1": "1 Pier (North)", "city": "Bay",
        "postcode": "94000", "country": "US", "state": "CA",
    });
    let mut billing = address.clone();
    billing["email"] = json!("zoe@home.example");
    let body = json!({ "status": "processing", "billing": billing, "shipping": address });
    let id = client.ask("POST", "/wc/v3/orders", &body)["id"].clone();
    let label = || client.look(&format!("/boardwalk/v1/orders/{id}/shipping-label"));
    let code = |body: &Value| body["code"].clone();
    let without = label();
    let expected = (404, json!("boardwalk_no_shipping_labels"));
    assert_eq!((without.status, code(&without.json().unwrap())), expected);

    activate(client, "parcels");
    let choose = |values: Value| {
        let body = json!({ "values": values });
        client.ask("POST", "/boardwalk/v1/plugins/parcels/settings", &body);
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
    let empty = client.ask("POST", "/wc/v3/orders", &json!({}))["id"].clone();
    let nowhere = client.look(&format!("/boardwalk/v1/orders/{empty}/shipping-label"));
    assert_eq!(
        (nowhere.status, code(&nowhere.json().unwrap())),
        (400, json!("boardwalk_no_address"))
    );

    let path = format!("/boardwalk/v1/orders/{id}/tracking");
    let tracking =
        json!({ "number": "PX-77", "carrier": "Gull", "url": "https://gull.example/77" });
    let told = client.send("POST", &path, &tracking);
    assert_eq!(told.status, 201, "{told:?}");
    eventually("the number arrives", PATIENCE, || {
        sent_to(sink, "zoe@home.example", "Tracking number: PX-77").len() == 1
    });
    let order = client.get(&format!("/wc/v3/orders/{id}"));
    let entries = order["meta_data"].as_array().unwrap();
    let number = entries.iter().find(|entry| entry["key"] == "tracking_number").unwrap();
    assert_eq!(number["value"], json!("PX-77"));
    let missing = client.send("POST", &path, &json!({ "number": " " }));
    assert_eq!(missing.status, 400);
}
