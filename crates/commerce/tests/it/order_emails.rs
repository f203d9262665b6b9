//! Receipts of orders and e-mails about them: who gets which, and what is refused.

use db::background_job;
use serde_json::{Value, json};

use super::support::{ADMIN, HOME, NOBODY, TestShop};

fn order(shop: &TestShop, body: &Value) -> String {
    let made = shop.ask("POST", "/wc/v3/orders", ADMIN, body);
    assert_eq!(made.status, 201, "{}", made.json);
    format!("/wc/v3/orders/{}", made.json["id"])
}

fn bought() -> Value {
    json!({ "status": "completed", "fee_lines": [{ "name": "Gift & wrap", "total": "3" }] })
}

#[test]
fn a_receipt_is_read_by_its_address_until_its_day() {
    let shop = TestShop::new();
    let path = format!("{}/receipt", order(&shop, &bought()));
    assert_eq!(shop.get(&path, ADMIN).refusal(), (404, "woocommerce_rest_not_found"));
    let made = shop.ask("POST", &path, ADMIN, &json!({})).json;
    assert_eq!(made["expiration_date"], "2026-11-16");
    assert_eq!(shop.get(&path, ADMIN).json, made);
    let again = shop.ask("POST", &path, ADMIN, &json!({ "expiration_days": 9 })).json;
    assert_eq!(again, made, "the first one is good still");
    let local = |answer: &Value| {
        let url = answer["receipt_url"].as_str().unwrap().to_owned();
        url.strip_prefix(HOME).unwrap().to_owned()
    };
    let page = shop.page(&local(&made)).unwrap();
    let content = &page.content;
    assert!(content.contains("Gift &amp; wrap") && content.contains("$3.00"), "{content}");
    let forced = json!({ "force_new": true, "expiration_date": "2026-12-24" });
    let forced = shop.ask("POST", &path, ADMIN, &forced).json;
    assert_eq!(forced["expiration_date"], "2026-12-24");
    assert_eq!((shop.page(&local(&made)), shop.page(&local(&forced)).is_some()), (None, true));
    assert_eq!(shop.page("/receipt/1-00/"), None);

    for body in [
        json!({ "force_new": true, "expiration_date": "2026-11-14" }),
        json!({ "force_new": true, "expiration_date": "2026-02-30" }),
        json!({ "force_new": true, "expiration_date": "soon" }),
        json!({ "force_new": true, "expiration_days": -1 }),
        json!({ "force_new": true, "expiration_days": 999_999 }),
    ] {
        let refused = shop.ask("POST", &path, ADMIN, &body);
        assert_eq!(refused.refusal(), (400, "woocommerce_rest_invalid_argument"), "{body}");
    }
    assert_eq!(shop.get(&path, NOBODY).refusal(), (401, "woocommerce_rest_cannot_view"));
    let none = shop.ask("POST", "/wc/v3/orders/999/receipt", ADMIN, &json!({}));
    assert_eq!(none.refusal(), (404, "woocommerce_rest_not_found"));
}

#[test]
fn an_order_has_the_emails_of_its_state() {
    let shop = TestShop::new();
    for (status, expected) in [
        ("pending", vec!["customer_invoice"]),
        ("completed", vec!["customer_completed_order", "customer_invoice"]),
        ("on-hold", vec!["customer_on_hold_order", "customer_invoice"]),
    ] {
        let path = order(&shop, &json!({ "status": status }));
        let listed = shop.get(&format!("{path}/actions/email_templates"), ADMIN);
        assert_eq!(listed.each("id"), expected, "{status}");
        assert!(listed.each("title").iter().all(|title| title != ""));
    }
}

#[test]
fn an_email_is_queued_and_noted() {
    let shop = TestShop::with_mail();
    let path = order(&shop, &bought());
    let send = |action: &str, body: Value| {
        shop.ask("POST", &format!("{path}/actions/{action}"), ADMIN, &body)
    };
    let queued = || {
        let job = shop.read(|conn| background_job::get(conn, 1));
        job.map(|job| job.kind)
    };
    let nowhere = send("send_order_details", json!({}));
    assert_eq!(nowhere.refusal(), (400, "woocommerce_rest_missing_email"));
    let unfit = send("send_email", json!({ "template_id": "customer_failed_order" }));
    assert_eq!(unfit.refusal(), (400, "woocommerce_rest_invalid_email_template"));
    assert_eq!(queued(), None);

    let sent = send("send_order_details", json!({ "email": "ada@example.test" }));
    assert_eq!(sent.status, 200, "{}", sent.json);
    assert!(sent.json["message"].as_str().unwrap().contains("ada@example.test"));
    assert_eq!(queued().as_deref(), Some("mail"));
    assert_eq!(shop.get(&path, ADMIN).json["billing"]["email"], "ada@example.test");
    let notes = shop.get(&format!("{path}/notes"), ADMIN).each("note");
    assert!(notes.contains(&sent.json["message"]), "{notes:?}");

    let other = json!({ "email": "eve@example.test", "template_id": "customer_completed_order" });
    let refused = send("send_email", other.clone());
    assert_eq!(refused.refusal(), (400, "woocommerce_rest_order_billing_email_exists"));
    let mut insisting = other;
    insisting["force_email_update"] = json!(true);
    assert_eq!(send("send_email", insisting).status, 200);
    assert_eq!(shop.get(&path, ADMIN).json["billing"]["email"], "eve@example.test");
}

#[test]
fn one_user_sends_so_many_emails_an_hour() {
    let shop = TestShop::with_mail();
    let mut order_of_ada = bought();
    order_of_ada["billing"] = json!({ "email": "ada@example.test" });
    let path = order(&shop, &order_of_ada);
    let send =
        || shop.ask("POST", &format!("{path}/actions/send_order_details"), ADMIN, &json!({}));
    for number in 0..30 {
        assert_eq!(send().status, 200, "{number}");
    }
    let refused = send();
    assert_eq!(refused.refusal(), (429, "rest_too_many_letters"));
    assert_eq!(refused.header("retry-after"), "3600");
}

#[test]
fn without_a_relay_nothing_is_sent() {
    let shop = TestShop::new();
    let mut order_of_ada = bought();
    order_of_ada["billing"] = json!({ "email": "ada@example.test" });
    let path = order(&shop, &order_of_ada);
    let refused = shop.ask("POST", &format!("{path}/actions/send_email"), ADMIN, &json!({}));
    assert_eq!(refused.refusal(), (400, "woocommerce_rest_email_not_sent"));
    let anybody = shop.ask("POST", &format!("{path}/actions/send_email"), NOBODY, &json!({}));
    assert_eq!(anybody.status, 401);
}
