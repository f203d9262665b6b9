//! Reminders of carts that were left.

use std::sync::Arc;
use std::time::Duration;

use db::background_job;
use frame::jobs::JobCx;
use frame::mail;
use serde_json::{Value, json};

use super::browser::Browser;
use super::harness::HOME;
use super::support::{Buyer, TestShop, address, now};

const LEASE: Duration = Duration::from_mins(1);
const JOB: &str = "cart.reminder";
const SETTINGS: &str = "/boardwalk/v1/cart-reminders";

fn name_address(buyer: &Buyer<'_>, email: &str) {
    let mut billing = address();
    billing["email"] = json!(email);
    let said = buyer.ask("POST", "/cart/update-customer", &json!({ "billing_address": billing }));
    assert_eq!(said.status, 200, "{}", said.json);
}

/// Lets the cart grow old, and does the jobs that are due then.
fn a_day_later(shop: &TestShop) -> Vec<Value> {
    shop.write(|conn| {
        let rows = shop_rows::cart::of_person(conn, "ada@example.test", None)?;
        for row in rows {
            let expires = now().plus(Duration::from_hours(24));
            shop_rows::cart::put(conn, &shop_rows::cart::CartRow { expires, ..row })?;
        }
        Ok(())
    });
    shop.work(JOB, now().plus(Duration::from_hours(24)))
}

pub(super) fn mails(shop: &TestShop) -> Vec<mail::Message> {
    let then = now().plus(LEASE);
    let jobs = shop.write(move |conn| background_job::claim_due(conn, mail::JOB, then, 50, LEASE));
    let open = |job| mail::message_of(&JobCx::new(Arc::clone(&shop.site), job, LEASE)).unwrap();
    jobs.into_iter().map(open).collect()
}

/// The path behind an address of the shop in an e-mail.
fn path_in(text: &str, start: &str) -> String {
    let address = text.split(&format!("{HOME}{start}")).nth(1).expect(text);
    let rest = address.split(|c: char| c.is_whitespace() || "\"<>)".contains(c)).next().unwrap();
    format!("{start}{rest}")
}

#[test]
fn nobody_is_reminded_unless_the_shop_wants_it() {
    let (shop, goods) = TestShop::furnished();
    assert_eq!(shop.made("GET", SETTINGS, &Value::Null)["enabled"], false);
    let buyer = shop.guest();
    buyer.add(goods.anchor, 2);
    name_address(&buyer, "ada@example.test");
    assert!(a_day_later(&shop).is_empty());
    assert!(mails(&shop).is_empty());
}

#[test]
fn a_cart_that_was_left_is_remembered_once() {
    let (shop, goods) = TestShop::furnished();
    shop.made("POST", SETTINGS, &json!({ "enabled": true, "hours": 10 }));
    assert_eq!(shop.ask("POST", SETTINGS, "admin", &json!({ "hours": 99 })).status, 400);
    let nameless = shop.guest();
    nameless.add(goods.rope, 1);
    let buyer = shop.guest();
    buyer.add(goods.anchor, 2);
    name_address(&buyer, "ada@example.test");
    assert_eq!(a_day_later(&shop), [json!({ "reminded": true })]);
    let sent = mails(&shop);
    assert_eq!(sent.len(), 1);
    let text = sent[0].text.clone();
    assert!(sent[0].to == "ada@example.test" && text.contains("Anchor"), "{text}");
    // The link leads to a form, and the form copies the goods into the reader's own cart.
    let reader = Browser::new(&shop);
    let page = reader.get(&path_in(&text, "/cart/?restore="));
    assert!(page.has("We kept what you left"), "{}", page.body);
    assert!(reader.get("/cart/").has("Your cart is empty"), "a link changes nothing");
    let cart = reader.follow(&reader.submit(&page, "confirm", &[]));
    assert!(cart.has("Anchor") && cart.has("$50.00"), "{}", cart.body);
    assert_eq!(reader.get("/cart/?restore=forged").status, 404);
    buyer.add(goods.rope, 1);
    assert!(a_day_later(&shop).is_empty(), "one reminder is enough");
}

#[test]
fn who_wants_no_reminders_gets_none() {
    let (shop, goods) = TestShop::furnished();
    shop.made("POST", SETTINGS, &json!({ "enabled": true }));
    let buyer = shop.guest();
    buyer.add(goods.anchor, 1);
    name_address(&buyer, "ada@example.test");
    a_day_later(&shop);
    let text = mails(&shop)[0].text.clone();
    let reader = Browser::new(&shop);
    let path = path_in(&text, "/cart/?unsubscribe=");
    let page = reader.get(&path);
    assert!(page.has("Stop reminders"), "{}", page.body);
    let done = reader.submit(&page, "confirm", &[]);
    assert!(done.has("You get no more reminders"), "{}", done.body);
    assert_eq!(reader.get("/cart/?unsubscribe=00.00").status, 404);
    let again = shop.guest();
    again.add(goods.rope, 1);
    name_address(&again, "Ada@example.test");
    assert_eq!(a_day_later(&shop), [json!({ "reminded": false })]);
    assert!(mails(&shop).is_empty());
}
