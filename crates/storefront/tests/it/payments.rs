//! Payments at a gateway with a page of its own: from the checkout over the gateway's page to its
//! reports, and back by refunds. The sandbox's own gateway is the other side.

mod late;
mod unpaid;

use std::time::Duration;

use db::background_job;
use frame::signing;
use serde_json::{Value, json};
use types::Timestamp;

use super::browser::{Browser, Shown};
use super::harness::HOME;
use super::support::{ADMIN, Goods, NOBODY, TestShop, now, order_body};

const REPORTS: &str = "sandbox.gateway_report";
const REFUNDS: &str = "payment.refund";
const LEASE: Duration = Duration::from_mins(1);
const GATEWAYS: &str = "/boardwalk/v1/payment-gateways";
const CALLBACK: &str = "/boardwalk/v1/payments/hosted-test";

/// A shop with the sandbox's gateway, and the secret of it.
fn shop() -> (TestShop, Goods, String) {
    let (shop, goods) = TestShop::furnished();
    let body = json!({ "id": "test", "title": "Test card", "sandbox": true, "enabled": true });
    let made = shop.made("POST", GATEWAYS, &body);
    assert_eq!(made["id"], "hosted-test", "{made}");
    let secret = made["secret"].as_str().unwrap().to_owned();
    (shop, goods, secret)
}

/// Does the jobs of a kind that are due by then, and returns how many those were.
fn work(shop: &TestShop, kind: &'static str, at: Timestamp) -> usize {
    shop.work(kind, at).len()
}

fn soon() -> Timestamp {
    now()
}

fn later() -> Timestamp {
    now().plus(Duration::from_secs(30))
}

fn order_of(shop: &TestShop, id: &Value) -> Value {
    shop.made("GET", &format!("/wc/v3/orders/{id}"), &Value::Null)
}

fn notes_of(shop: &TestShop, id: &Value) -> String {
    let notes = shop.made("GET", &format!("/wc/v3/orders/{id}/notes"), &Value::Null);
    let texts = notes.as_array().unwrap().iter().map(|note| note["note"].as_str().unwrap());
    texts.collect::<Vec<_>>().join("\n")
}

/// Orders an anchor, and returns the order and the path that the buyer is sent to.
fn ordered(shop: &TestShop, goods: &Goods) -> (Value, String) {
    let buyer = shop.guest();
    buyer.add(goods.anchor, 1);
    let answer = buyer.ask("POST", "/checkout", &order_body("hosted-test", "ada@example.test"));
    assert_eq!((answer.status, &answer.json["status"]), (200, &json!("pending")), "{answer:?}");
    let url = answer.json["payment_result"]["redirect_url"].as_str().unwrap();
    (answer.json["order_id"].clone(), url.strip_prefix(HOME).unwrap().to_owned())
}

/// The gateway's page that the page at the path leads to.
fn gateway_page(buyer: &Browser<'_>, path: &str) -> Shown {
    let page = buyer.get(path);
    assert_eq!(page.status, 200, "{}", page.body);
    let refresh = page.header("refresh");
    let url = refresh.strip_prefix("0; url=").expect(&page.body);
    assert!(page.has(&format!("href=\"{url}\"")), "{}", page.body);
    buyer.get(url.strip_prefix(HOME).expect("the sandbox's own page"))
}

fn answer(buyer: &Browser<'_>, page: &Shown, choice: &str) -> Shown {
    assert_eq!(page.status, 200, "{}", page.body);
    assert!(page.header("content-security-policy").starts_with("default-src 'none'"));
    buyer.submit(page, "answer", &[("answer", choice)])
}

/// From a checkout to the buyer's choice on the gateway's page.
fn chosen(shop: &TestShop, goods: &Goods, choice: &str) -> (Value, Shown) {
    let (id, path) = ordered(shop, goods);
    let buyer = Browser::new(shop);
    let page = gateway_page(&buyer, &path);
    assert!(page.has("33.00 USD"), "{}", page.body);
    (id, answer(&buyer, &page, choice))
}

#[test]
fn an_approved_payment_pays_the_order() {
    let (shop, goods, _) = shop();
    let (id, shown) = chosen(&shop, &goods, "approve");
    assert!(shown.header("location").contains("/checkout/order-received/"), "{shown:?}");
    assert_eq!(shop.stock_of(goods.anchor), 3, "nothing is paid yet");
    for _ in 0..2 {
        shop.guest().add(goods.anchor, 1);
    }
    assert_eq!(shop.guest().add(goods.anchor, 3).status, 400, "one is held for the order");
    assert_eq!(work(&shop, REPORTS, soon()), 2);
    let order = order_of(&shop, &id);
    assert_eq!(order["status"], "processing", "{order}");
    assert_eq!(order["payment_method"], "hosted-test");
    assert_eq!(order["payment_method_title"], "Test card");
    assert!(order["date_paid"].is_string() && order["transaction_id"] != "", "{order}");
    assert_eq!(shop.stock_of(goods.anchor), 2);
    assert!(notes_of(&shop, &id).contains("Test card took the payment of 33.00 USD."));
    let mails = |conn: &mut dyn db::Conn| {
        background_job::claim_due(conn, frame::mail::JOB, later(), 50, LEASE)
    };
    assert!(!shop.write(mails).is_empty(), "the buyer and the shop are told");
}

#[test]
fn a_declined_payment_leaves_an_order_that_can_be_paid() {
    let (shop, goods, _) = shop();
    let (id, shown) = chosen(&shop, &goods, "decline");
    let back = shown.header("location").strip_prefix(HOME).unwrap().to_owned();
    assert_eq!(work(&shop, REPORTS, soon()), 1);
    assert_eq!(order_of(&shop, &id)["status"], "failed");
    assert_eq!(shop.stock_of(goods.anchor), 3);
    assert_eq!(shop.guest().add(goods.anchor, 3).status, 201, "nothing is held any more");
    assert!(notes_of(&shop, &id).contains("Test card declined the payment of 33.00 USD."));
    let buyer = Browser::new(&shop);
    let page = buyer.get(&back);
    let again = buyer.submit(&page, "pay", &[("payment_method", "hosted-test")]);
    let path = again.header("location").strip_prefix(HOME).unwrap().to_owned();
    answer(&buyer, &gateway_page(&buyer, &path), "approve");
    work(&shop, REPORTS, soon());
    assert_eq!(order_of(&shop, &id)["status"], "processing");
}

#[test]
fn a_payment_may_need_a_second_step() {
    let (shop, goods, _) = shop();
    let (id, path) = ordered(&shop, &goods);
    let buyer = Browser::new(&shop);
    let page = gateway_page(&buyer, &path);
    let second = buyer.follow(&answer(&buyer, &page, "action"));
    assert!(second.has("Confirm the payment"), "{}", second.body);
    assert_eq!(work(&shop, REPORTS, soon()), 0, "nothing happened yet");
    answer(&buyer, &second, "approve");
    work(&shop, REPORTS, soon());
    assert_eq!(order_of(&shop, &id)["status"], "processing");
    let over = buyer.submit(&page, "answer", &[("answer", "decline")]);
    assert_eq!((over.status, work(&shop, REPORTS, later())), (302, 0), "an answer counts once");
}

#[test]
fn a_payment_may_be_captured_later() {
    let (shop, goods, _) = shop();
    let (id, _) = chosen(&shop, &goods, "delay");
    assert_eq!(work(&shop, REPORTS, soon()), 1);
    assert_eq!(order_of(&shop, &id)["status"], "on-hold");
    assert_eq!(shop.stock_of(goods.anchor), 2, "what is authorised is set aside");
    assert_eq!(work(&shop, REPORTS, later()), 1);
    assert_eq!(order_of(&shop, &id)["status"], "processing");
    assert_eq!(shop.stock_of(goods.anchor), 2);
}

#[test]
fn a_payment_may_be_disputed() {
    let (shop, goods, _) = shop();
    let (id, _) = chosen(&shop, &goods, "dispute");
    work(&shop, REPORTS, soon());
    assert_eq!(order_of(&shop, &id)["status"], "processing");
    work(&shop, REPORTS, later());
    let order = order_of(&shop, &id);
    assert_eq!(order["status"], "on-hold");
    assert!(order["date_paid"].is_string());
    assert!(notes_of(&shop, &id).contains("disputes the payment of 33.00 USD"));
}

#[test]
fn the_cents_of_an_amount_say_what_happens() {
    let (shop, _, _) = shop();
    for (cents, status, reports) in [
        ("00", "completed", 2),
        ("01", "failed", 1),
        ("02", "completed", 2),
        ("03", "completed", 2),
        ("04", "on-hold", 3),
    ] {
        let price = format!("10.{cents}");
        let song = shop.product(&json!({
            "name": "Song", "regular_price": price, "tax_status": "none", "virtual": true,
            "downloadable": true,
        }));
        let buyer = shop.guest();
        buyer.add(song, 1);
        let body = order_body("hosted-test", "ada@example.test");
        let placed = buyer.ask("POST", "/checkout", &body).json;
        let url = placed["payment_result"]["redirect_url"].as_str().unwrap();
        let reader = Browser::new(&shop);
        let page = gateway_page(&reader, url.strip_prefix(HOME).unwrap());
        assert!(page.has(&format!("{price} USD")), "{}", page.body);
        assert_eq!(page.has("An amount with these cents"), cents != "00", "{}", page.body);
        let mut shown = answer(&reader, &page, "approve");
        if cents == "02" {
            let second = reader.follow(&shown);
            assert!(second.has("Confirm the payment"), "{}", second.body);
            shown = answer(&reader, &second, "approve");
        }
        let is_back_at_the_checkout = shown.header("location").contains("/order-pay/");
        assert_eq!(is_back_at_the_checkout, cents == "01", "{shown:?}");
        assert_eq!(work(&shop, REPORTS, later()), reports, "{cents}");
        assert_eq!(order_of(&shop, &placed["order_id"])["status"], status, "{cents}");
    }
}

#[test]
fn refunds_go_to_the_gateway() {
    let (shop, goods, _) = shop();
    let (id, _) = chosen(&shop, &goods, "approve");
    work(&shop, REPORTS, soon());
    let path = format!("/wc/v3/orders/{id}/refunds");
    let too_much = shop.ask("POST", &path, ADMIN, &json!({ "amount": "33.01" }));
    assert_eq!(too_much.status, 400);
    let refund = shop.made("POST", &path, &json!({ "amount": "10.00" }));
    assert_eq!(refund["refunded_payment"], true);
    assert_eq!(work(&shop, REFUNDS, soon()), 1);
    assert!(notes_of(&shop, &id).contains("Test card paid back 10.00 USD."));
    let slow = json!({ "amount": "3.00", "reason": "slow" });
    shop.made("POST", &path, &slow);
    work(&shop, REFUNDS, soon());
    assert!(notes_of(&shop, &id).contains("has yet to confirm"));
    work(&shop, REPORTS, later());
    assert!(notes_of(&shop, &id).contains("Test card paid back 3.00 USD."));
    let rest = json!({ "amount": "20.00", "reason": "please decline" });
    shop.made("POST", &path, &rest);
    assert_eq!(order_of(&shop, &id)["status"], "refunded");
    work(&shop, REFUNDS, soon());
    let order = order_of(&shop, &id);
    assert_eq!(order["status"], "processing", "what was not paid back is no refund");
    assert_eq!(order["refunds"].as_array().unwrap().len(), 2);
    assert!(notes_of(&shop, &id).contains("declined the refund of 20.00 USD"));
    shop.made("POST", &path, &json!({ "amount": "20.00" }));
    work(&shop, REFUNDS, soon());
    assert_eq!(order_of(&shop, &id)["status"], "refunded");
    let other = shop.guest();
    other.add(goods.rope, 1);
    let bank = other.order("bacs").json["order_id"].clone();
    let path = format!("/wc/v3/orders/{bank}/refunds");
    let answer = shop.ask("POST", &path, ADMIN, &json!({ "amount": "1.00" }));
    assert_eq!(answer.refusal(), (400, "woocommerce_rest_cannot_create_order_refund"));
}

/// A signed message, as a gateway sends it.
fn report(shop: &TestShop, secret: &str, id: &str, body: &Value) -> (u16, String) {
    let key = signing::key_of(secret).unwrap();
    let bytes = body.to_string().into_bytes();
    let headers = signing::message_headers(&[key], id, &bytes, now()).unwrap();
    let answer = shop.send_bytes("POST", CALLBACK, headers.into(), &bytes);
    let (status, code) = answer.refusal();
    (status, if code.is_empty() { answer.json["state"].to_string() } else { code.to_owned() })
}

fn payment_in(path: &str) -> &str {
    path.split("payment=").nth(1).unwrap()
}

fn told(kind: &str, path: &str, amount: &str) -> Value {
    json!({
        "type": kind, "payment": payment_in(path), "amount": amount, "currency": "USD",
        "occurred": "2026-11-15T08:00:00Z",
    })
}

#[test]
fn reports_are_believed_once_and_only_if_they_fit() {
    let (shop, goods, secret) = shop();
    let (id, path) = ordered(&shop, &goods);
    let send = |id: &str, body: &Value| report(&shop, &secret, id, body);
    let captured = told("captured", &path, "33.00");
    let unsigned = shop.ask("POST", CALLBACK, NOBODY, &captured);
    assert_eq!(unsigned.refusal(), (401, "payment_message_unsigned"));
    let (other, _) = signing::new_secret().unwrap();
    let forged = report(&shop, other.expose(), "m1", &captured);
    assert_eq!(forged, (401, String::from("payment_signature_invalid")));
    for (field, value) in
        [("currency", "EUR"), ("amount", "33.01"), ("amount", "-1"), ("occurred", "now")]
    {
        let mut body = captured.clone();
        body[field] = json!(value);
        assert_eq!(send("m1", &body), (400, String::from("payment_mismatch")), "{field}");
    }
    let mut unknown = captured.clone();
    unknown["payment"] = json!("pay_none");
    assert_eq!(send("m1", &unknown).0, 404);
    assert_eq!(order_of(&shop, &id)["status"], "pending");
    assert_eq!(send("m1", &captured), (200, String::from("\"captured\"")));
    assert_eq!(order_of(&shop, &id)["status"], "processing");
    // People go on with the order; what comes again, or late, changes nothing.
    shop.made("PUT", &format!("/wc/v3/orders/{id}"), &json!({ "status": "completed" }));
    let notes = notes_of(&shop, &id);
    for (message, body) in [
        ("m1", captured.clone()),
        ("m2", captured.clone()),
        ("m3", told("authorised", &path, "33.00")),
        ("m4", told("declined", &path, "33.00")),
    ] {
        assert_eq!(send(message, &body), (200, String::from("\"captured\"")), "{message}");
    }
    assert_eq!(order_of(&shop, &id)["status"], "completed");
    assert_eq!(notes_of(&shop, &id), notes);
    assert_eq!(shop.stock_of(goods.anchor), 2);
}

#[test]
fn reports_may_come_in_any_order() {
    let (shop, goods, secret) = shop();
    let (id, path) = ordered(&shop, &goods);
    let mut refunded = told("refunded", &path, "5.00");
    refunded["refund"] = json!("re_1");
    for (number, body) in [
        told("disputed", &path, "33.00"),
        refunded.clone(),
        told("captured", &path, "10.00"),
        told("captured", &path, "33.00"),
        refunded,
        told("authorised", &path, "33.00"),
    ]
    .iter()
    .enumerate()
    {
        assert_eq!(report(&shop, &secret, &format!("m{number}"), body).0, 200, "{body}");
    }
    let order = order_of(&shop, &id);
    assert_eq!(order["status"], "on-hold", "it is disputed");
    assert!(order["date_paid"].is_string(), "{order}");
    let refunds = order["refunds"].as_array().unwrap();
    assert_eq!((refunds.len(), &refunds[0]["total"]), (1, &json!("-5.00")));
    assert_eq!(shop.stock_of(goods.anchor), 2);
}

#[test]
fn a_gateway_that_does_not_answer_leaves_an_order_to_pay() {
    let (shop, goods, _) = shop();
    let body = json!({ "id": "test", "url": "https://pay.example/" });
    shop.made("POST", GATEWAYS, &body);
    let (id, path) = ordered(&shop, &goods);
    let buyer = Browser::new(&shop);
    let page = buyer.get(&path);
    assert!(page.has("Test card cannot take a payment at the moment"), "{}", page.body);
    assert_eq!(order_of(&shop, &id)["status"], "pending");
    let paid = buyer.submit(&page, "pay", &[("payment_method", "bacs")]);
    assert!(paid.header("location").contains("/checkout/order-received/"), "{}", paid.body);
    assert_eq!(order_of(&shop, &id)["status"], "on-hold");
}

#[test]
fn a_gateway_is_a_payment_method_like_others() {
    let (shop, goods, secret) = shop();
    let path = "/wc/v3/payment_gateways/hosted-test";
    let shown = shop.made("GET", path, &Value::Null);
    assert_eq!((&shown["enabled"], &shown["title"]), (&json!(true), &json!("Test card")));
    assert_eq!(shown["method_supports"], json!(["products", "refunds"]));
    assert!(!shown.to_string().contains(&secret));
    let listed = shop.made("GET", GATEWAYS, &Value::Null).to_string();
    assert!(listed.contains("hosted-test") && !listed.contains(&secret));
    shop.made("PUT", path, &json!({ "enabled": false }));
    let buyer = shop.guest();
    buyer.add(goods.rope, 1);
    let refused = buyer.order("hosted-test");
    let code = "woocommerce_rest_checkout_payment_method_disabled";
    assert_eq!(refused.refusal(), (400, code));
    assert_eq!(buyer.order("hosted-none").refusal(), (400, code));
    assert_eq!(buyer.order("none").refusal(), (400, "rest_invalid_param"));
    for (body, code) in [
        (json!({ "id": "new" }), "payment_gateway_invalid"),
        (json!({ "id": "new", "url": "ftp://pay.example" }), "payment_gateway_invalid"),
        (
            json!({ "id": "new", "url": "https://pay.example", "secret": "short" }),
            "payment_gateway_invalid",
        ),
        (json!({ "id": "No!", "url": "https://pay.example" }), "rest_invalid_param"),
    ] {
        assert_eq!(shop.ask("POST", GATEWAYS, ADMIN, &body).refusal(), (400, code), "{body}");
    }
    assert_eq!(shop.ask("POST", GATEWAYS, NOBODY, &json!({ "id": "x" })).status, 401);
    shop.made("DELETE", &format!("{GATEWAYS}/hosted-test"), &Value::Null);
    assert_eq!(shop.get(path, ADMIN).status, 404);
    let message = json!({
        "type": "captured", "payment": "p", "amount": "1", "currency": "USD", "occurred": "now",
    });
    let removed = report(&shop, &secret, "m1", &message);
    assert_eq!(removed, (401, String::from("payment_signature_invalid")));
}

/// Opens another payment of an order that can be paid, and returns where it is paid.
fn opened_again(shop: &TestShop, id: &Value) -> String {
    let mut body = order_body("hosted-test", "ada@example.test");
    body["key"] = order_of(shop, id)["order_key"].clone();
    body["billing_email"] = json!("ada@example.test");
    let answer = shop.guest().ask("POST", &format!("/checkout/{id}"), &body);
    assert_eq!(answer.status, 200, "{answer:?}");
    answer.json["payment_result"]["redirect_url"].as_str().unwrap().to_owned()
}

fn told_refund(name: &str, path: &str, amount: &str) -> Value {
    let mut body = told("refunded", path, amount);
    body["refund"] = json!(name);
    body
}

fn refunds_of(shop: &TestShop, id: &Value) -> Vec<Value> {
    let order = order_of(shop, id);
    order["refunds"].as_array().unwrap().iter().map(|refund| refund["total"].clone()).collect()
}

#[test]
fn one_of_two_payments_pays_the_order() {
    let (shop, goods, secret) = shop();
    let (id, first) = ordered(&shop, &goods);
    let send = |time: &str, mut body: Value| {
        body["occurred"] = json!(format!("2026-11-15T{time}:00Z"));
        assert_eq!(report(&shop, &secret, time, &body).0, 200, "{body}");
        order_of(&shop, &id)["status"].clone()
    };
    assert_eq!(send("08:00", told("declined", &first, "33.00")), "failed");
    let second = opened_again(&shop, &id);
    assert_ne!(payment_in(&first), payment_in(&second));
    assert_eq!(send("08:10", told("authorised", &second, "33.00")), "on-hold");
    assert_eq!(send("08:20", told("authorised", &first, "33.00")), "on-hold");
    let declined = send("08:30", told("declined", &first, "33.00"));
    assert_eq!(declined, "on-hold", "the other one is authorised");
    assert_eq!(send("08:40", told("captured", &second, "33.00")), "processing");
    assert_eq!(send("08:50", told("captured", &first, "33.00")), "processing");
    assert!(notes_of(&shop, &id).contains("Check whether it was paid twice"));
    assert_eq!(send("09:00", told_refund("re_1", &first, "33.00")), "processing");
    assert_eq!(refunds_of(&shop, &id), Vec::<Value>::new());
    assert!(notes_of(&shop, &id).contains("another one paid the order"));
    assert_eq!(send("09:10", told_refund("re_2", &second, "33.00")), "refunded");
}

#[test]
fn a_deleted_refund_is_not_paid_back() {
    let (shop, goods, secret) = shop();
    let (id, path) = ordered(&shop, &goods);
    let buyer = Browser::new(&shop);
    answer(&buyer, &gateway_page(&buyer, &path), "approve");
    work(&shop, REPORTS, soon());
    let refunds = format!("/wc/v3/orders/{id}/refunds");
    let deleted = shop.made("POST", &refunds, &json!({ "amount": "10.00" }))["id"].clone();
    shop.made("DELETE", &format!("{refunds}/{deleted}"), &Value::Null);
    assert_eq!(shop.work(REFUNDS, soon()), [json!({ "state": "gone" })]);
    assert!(!notes_of(&shop, &id).contains("paid back 10.00"));
    let paid = shop.made("POST", &refunds, &json!({ "amount": "3.00" }))["id"].clone();
    work(&shop, REFUNDS, soon());
    let refused = shop.ask("DELETE", &format!("{refunds}/{paid}"), ADMIN, &Value::Null);
    assert_eq!(refused.refusal(), (400, "woocommerce_rest_cannot_delete"));
    assert_eq!(refunds_of(&shop, &id), ["-3.00"]);
    // The gateway may have paid back before it could be stopped, and something else than wanted.
    let other = told_refund(&format!("refund-{paid}"), &path, "2.00");
    assert_eq!(report(&shop, &secret, "m1", &other).0, 200);
    let text = "reports that it paid back 2.00 USD, but the refund is of 3.00 USD";
    assert!(notes_of(&shop, &id).contains(text));
    let late = told_refund(&format!("refund-{deleted}"), &path, "10.00");
    assert_eq!(report(&shop, &secret, "m2", &late).0, 200);
    let mut totals = refunds_of(&shop, &id);
    totals.sort_by_key(Value::to_string);
    assert_eq!(totals, ["-10.00", "-3.00"]);
}

#[test]
fn goods_of_a_declined_refund_are_sold_again() {
    let (shop, goods, _) = shop();
    let (id, _) = chosen(&shop, &goods, "approve");
    work(&shop, REPORTS, soon());
    let line = order_of(&shop, &id)["line_items"][0]["id"].clone();
    let path = format!("/wc/v3/orders/{id}/refunds");
    for (reason, stock) in [("please decline", 2), ("Torn", 3)] {
        let lines = json!([{ "id": line, "quantity": 1, "refund_total": "25" }]);
        let body = json!({ "amount": "25.00", "reason": reason, "line_items": lines });
        assert_eq!(shop.stock_of(goods.anchor), 2);
        shop.made("POST", &path, &body);
        assert_eq!(shop.stock_of(goods.anchor), 3);
        work(&shop, REFUNDS, soon());
        assert_eq!(shop.stock_of(goods.anchor), stock, "{reason}");
    }
}

#[test]
fn what_was_taken_in_part_can_be_paid_back() {
    let (shop, goods, secret) = shop();
    let (id, path) = ordered(&shop, &goods);
    let send = |name: &str, body: Value| {
        assert_eq!(report(&shop, &secret, name, &body).0, 200, "{body}");
        refunds_of(&shop, &id).len()
    };
    assert_eq!(send("m1", told("captured", &path, "10.00")), 0);
    assert_eq!(send("m2", told_refund("re_1", &path, "4.00")), 1);
    assert_eq!(send("m3", told_refund("re_2", &path, "20.00")), 1, "not so much was taken yet");
    assert!(notes_of(&shop, &id).contains("so far only that it took 10.00 USD"));
    assert_eq!(send("m4", told("captured", &path, "33.00")), 2);
    assert_eq!(order_of(&shop, &id)["status"], "processing");
}
