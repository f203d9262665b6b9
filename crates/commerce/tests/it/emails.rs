//! E-mails that the shop sends by itself, and what its settings make of them.

use std::sync::Arc;
use std::time::Duration;

use db::background_job;
use frame::jobs::JobCx;
use frame::mail::{self, Message};
use serde_json::{Value, json};

use super::support::{ADMIN, TestShop, now};

const LEASE: Duration = Duration::from_secs(30);

/// The e-mails that were queued since the last time, opened.
fn sent(shop: &TestShop) -> Vec<Message> {
    let claim = |conn: &mut dyn db::Conn| {
        background_job::claim_due(conn, mail::JOB, now().plus(LEASE), 100, LEASE * 100)
    };
    let jobs = shop.write(claim).into_iter();
    let open = |job| mail::message_of(&JobCx::new(Arc::clone(&shop.site), job, LEASE)).unwrap();
    let mut messages: Vec<Message> = jobs.map(open).collect();
    messages.sort_by(|a, b| (&a.to, &a.subject).cmp(&(&b.to, &b.subject)));
    messages
}

fn pairs(messages: &[Message]) -> Vec<(&str, &str)> {
    messages.iter().map(|message| (&*message.to, &*message.subject)).collect()
}

fn set(shop: &TestShop, path: &str, value: &str) {
    let path = format!("/wc/v3/settings/{path}");
    let answer = shop.ask("PUT", &path, ADMIN, &json!({ "value": value }));
    assert_eq!(answer.status, 200, "{path} {}", answer.json);
}

fn shop() -> TestShop {
    let shop = TestShop::with_mail();
    shop.write(|conn| frame::options::set(conn, "admin_email", &json!("owner@example.test")));
    shop.site.note_write();
    shop
}

fn order(shop: &TestShop, body: &Value) -> (String, String) {
    let mut order = json!({
        "billing": { "first_name": "Ada", "email": "ada@example.test" },
        "fee_lines": [{ "name": "Gift & wrap", "total": "3" }],
    });
    for (name, value) in body.as_object().unwrap() {
        order[name] = value.clone();
    }
    let made = shop.ask("POST", "/wc/v3/orders", ADMIN, &order);
    assert_eq!(made.status, 201, "{}", made.json);
    let number = made.json["number"].as_str().unwrap().to_owned();
    (format!("/wc/v3/orders/{}", made.json["id"]), number)
}

#[test]
fn an_order_is_announced_and_followed() {
    let shop = shop();
    let (path, number) = order(&shop, &json!({}));
    assert_eq!(pairs(&sent(&shop)), [], "nobody has ordered yet");
    let status = |status: &str| {
        let answer = shop.ask("PUT", &path, ADMIN, &json!({ "status": status }));
        assert_eq!(answer.status, 200, "{}", answer.json);
        sent(&shop)
    };
    let hold = status("on-hold");
    let subjects = [
        format!("Order on hold ({number})"),
        format!("[Boardwalk] New order {number}"),
        format!("Order received ({number})"),
        format!("Order complete ({number})"),
        format!("Order partially refunded ({number})"),
        format!("Order refunded ({number})"),
    ];
    let [held, new, received, complete, partly, refunded] = &subjects;
    let ada = "ada@example.test";
    assert_eq!(pairs(&hold), [(ada, held.as_str()), ("owner@example.test", new.as_str())]);
    assert!(hold[1].text.contains("from Ada") && hold[1].text.contains("Gift & wrap: $3.00"));
    assert_eq!(pairs(&status("processing")), [(ada, received.as_str())], "announced once");
    assert_eq!(pairs(&status("completed")), [(ada, complete.as_str())]);
    assert_eq!(pairs(&status("completed")), [], "nothing changed");

    let refund = |amount: &str| {
        let body = json!({ "amount": amount, "api_refund": false });
        let answer = shop.ask("POST", &format!("{path}/refunds"), ADMIN, &body);
        assert_eq!(answer.status, 201, "{}", answer.json);
        sent(&shop)
    };
    assert_eq!(pairs(&refund("1")), [(ada, partly.as_str())]);
    assert_eq!(pairs(&refund("2")), [(ada, refunded.as_str())]);
    let note = json!({ "note": "Left at the <b>pier</b>.", "customer_note": true });
    assert_eq!(shop.ask("POST", &format!("{path}/notes"), ADMIN, &note).status, 201);
    let noted = sent(&shop);
    assert_eq!(noted.len(), 1);
    assert!(noted[0].text.contains("Left at the pier."), "{}", noted[0].text);
}

#[test]
fn cancelled_and_failed_orders_reach_both_sides() {
    let shop = shop();
    for (first, then, word) in
        [("processing", "cancelled", "cancelled"), ("pending", "failed", "failed")]
    {
        let (path, _) = order(&shop, &json!({ "status": first }));
        sent(&shop);
        assert_eq!(shop.ask("PUT", &path, ADMIN, &json!({ "status": then })).status, 200);
        let messages = sent(&shop);
        let to: Vec<&str> = messages.iter().map(|message| &*message.to).collect();
        assert_eq!(to, ["ada@example.test", "owner@example.test"], "{then}");
        assert!(messages.iter().all(|message| message.subject.contains(word)), "{messages:?}");
    }
}

#[test]
fn each_email_has_its_settings() {
    let shop = shop();
    let group = "email_new_order";
    set(&shop, &format!("{group}/recipient"), "one@example.test, nobody, two@example.test");
    set(&shop, &format!("{group}/subject"), "{order_number} at {site_title} for {unknown}");
    set(&shop, &format!("{group}/heading"), "Hurry: {order_number}");
    set(&shop, &format!("{group}/additional_content"), "Pack it well.");
    set(&shop, &format!("{group}/email_type"), "plain");
    set(&shop, "email_customer_processing_order/enabled", "no");
    let (path, number) = order(&shop, &json!({ "status": "processing" }));
    let messages = sent(&shop);
    let subject = format!("{number} at Boardwalk for {{unknown}}");
    let expected = [("one@example.test", &*subject), ("two@example.test", &*subject)];
    assert_eq!(pairs(&messages), expected, "and nothing to the customer");
    let text = &messages[0].text;
    assert!(text.starts_with(&format!("Hurry: {number}\n")), "{text}");
    assert!(text.contains("Pack it well."), "{text}");
    assert_eq!(messages[0].html, "");

    let asked = json!({ "template_id": "customer_processing_order" });
    let refused = shop.ask("POST", &format!("{path}/actions/send_email"), ADMIN, &asked);
    assert_eq!(refused.refusal(), (400, "woocommerce_rest_email_not_sent"));
    set(&shop, "email_customer_processing_order/enabled", "yes");
    set(&shop, "email_customer_processing_order/email_type", "html");
    let answer = shop.ask("POST", &format!("{path}/actions/send_email"), ADMIN, &asked);
    assert_eq!(answer.status, 200, "{}", answer.json);
    let messages = sent(&shop);
    assert_eq!((messages.len(), messages[0].text.as_str()), (1, ""));
}

#[test]
fn all_emails_have_the_look_of_the_settings() {
    let shop = shop();
    for (id, value) in [
        ("base_color", "#00aa11"),
        ("background_color", "#00aa12"),
        ("body_background_color", "#00aa13"),
        ("text_color", "#00aa14"),
        ("footer_text_color", "#00aa15"),
        ("header_image", "https://shop.example/logo.png"),
        ("header_image_width", "77"),
        ("header_alignment", "center"),
        ("font_family", "Georgia"),
        ("footer_text", "{site_title}, open daily"),
        ("from_name", "Pier Two"),
        ("from_address", "desk@example.test"),
    ] {
        set(&shop, &format!("email/woocommerce_email_{id}"), value);
    }
    order(&shop, &json!({ "status": "completed" }));
    let messages = sent(&shop);
    let message = &messages[0];
    for part in [
        "#00aa11",
        "background:#00aa12;color:#00aa14;font:16px/1.5 &#39;Georgia&#39;,sans-serif",
        "background:#00aa13",
        "color:#00aa15",
        "<img src=\"https://shop.example/logo.png\" width=\"77\"",
        "text-align:center",
        "Boardwalk, open daily",
    ] {
        assert!(message.html.contains(part), "{part}: {}", message.html);
    }
    assert_eq!((&*message.from_name, &*message.reply_to), ("Pier Two", "desk@example.test"));
}

#[test]
fn accounts_and_payment_methods_are_announced() {
    let shop = shop();
    let customer = json!({ "email": "new@example.test", "username": "newcomer" });
    assert_eq!(shop.ask("POST", "/wc/v3/customers", ADMIN, &customer).status, 201);
    let welcome = sent(&shop);
    assert_eq!(pairs(&welcome), [("new@example.test", "Welcome to Boardwalk")]);
    assert!(welcome[0].text.contains("newcomer"), "{}", welcome[0].text);

    let switch = |enabled: bool| {
        let body = json!({ "enabled": enabled, "settings": { "instructions": "To account 7." } });
        assert_eq!(shop.ask("PUT", "/wc/v3/payment_gateways/bacs", ADMIN, &body).status, 200);
        sent(&shop)
    };
    let enabled = switch(true);
    assert_eq!(enabled.len(), 1);
    assert!(enabled[0].subject.ends_with("Bank transfer"), "{}", enabled[0].subject);
    assert_eq!((switch(true).len(), switch(false).len()), (0, 0), "only when it begins");

    order(&shop, &json!({ "status": "on-hold", "payment_method": "bacs" }));
    let to_customer = |message: &&Message| message.to == "ada@example.test";
    let messages = sent(&shop);
    let held = messages.iter().find(to_customer).unwrap();
    assert!(held.text.contains("To account 7."), "{}", held.text);
}
