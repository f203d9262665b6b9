//! Who is in the shop: buyers with a cart each, and somebody who works there.

use std::sync::Arc;

use frame::Site;
use serde_json::{Value, json};

use super::super::dice::Dice;
use super::super::support::{ADMIN, Answer, STORE, TestShop, ask_from, order_body};
use super::{COUPONS, Good, days_later};

type Headers = Vec<(String, String)>;

/// A guest, who now and then leaves a cart and takes another one.
pub(super) struct Shopper {
    site: Arc<Site>,
    goods: Arc<[Good]>,
    dice: Dice,
    address: [u8; 4],
    email: String,
    token: String,
    /// Id and key of each order.
    orders: Vec<(i64, String)>,
}

impl Shopper {
    pub(super) fn new(shop: &TestShop, number: u8, goods: &Arc<[Good]>, dice: Dice) -> Self {
        let mut shopper = Self {
            site: Arc::clone(&shop.site),
            goods: Arc::clone(goods),
            dice,
            address: [198, 51, 100, number],
            email: format!("buyer{number}@example.test"),
            token: String::new(),
            orders: Vec::new(),
        };
        shopper.leave();
        shopper
    }

    fn ask(&self, method: &str, path: &str, body: &Value) -> Answer {
        let headers = if self.token.is_empty() {
            Headers::new()
        } else {
            vec![(String::from("cart-token"), self.token.clone())]
        };
        let line = (method, &*format!("{STORE}{path}"));
        let answer = ask_from(self.address, &self.site, line, headers, body);
        assert!(answer.status < 500, "{method} {path} {body}: {answer:?}");
        let conflict = &answer.json["data"]["cart"];
        for cart in [&answer.json, conflict] {
            if let Some(email) = cart["billing_address"]["email"].as_str() {
                assert!(email.is_empty() || email == self.email, "{email} is another's");
            }
        }
        answer
    }

    pub(super) fn step(&mut self) {
        match self.dice.below(18) {
            0..=4 => {
                let id = self.dice.pick(&self.goods).id;
                let body = json!({ "id": id, "quantity": self.dice.between(1, 3) });
                self.ask("POST", "/cart/add-item", &body);
            }
            5 | 6 => {
                let quantity = self.dice.between(1, 4);
                self.change("update-item", &json!({ "quantity": quantity }));
            }
            7 => self.change("remove-item", &json!({})),
            8 | 9 => self.coupon("apply-coupon"),
            10 => self.coupon("remove-coupon"),
            11 | 12 => self.begin(),
            13..=15 => self.order(),
            16 => self.pay(),
            _ => self.leave(),
        }
    }

    /// Takes another cart, and leaves the e-mail address in it.
    fn leave(&mut self) {
        self.token.clear();
        let answer = self.ask("GET", "/cart", &Value::Null);
        answer.header("cart-token").clone_into(&mut self.token);
        let body = json!({ "billing_address": { "email": self.email } });
        assert_eq!(self.ask("POST", "/cart/update-customer", &body).status, 200);
    }

    fn change(&mut self, operation: &str, body: &Value) {
        let cart = self.ask("GET", "/cart", &Value::Null).json;
        let items = cart["items"].as_array().unwrap().clone();
        if items.is_empty() {
            return;
        }
        let mut body = body.clone();
        body["key"] = self.dice.pick(&items)["key"].clone();
        self.ask("POST", &format!("/cart/{operation}"), &body);
    }

    fn coupon(&mut self, operation: &str) {
        let (code, ..) = self.dice.pick(&COUPONS);
        self.ask("POST", &format!("/cart/{operation}"), &json!({ "code": code }));
    }

    /// An attempt to order that lacks something, and leaves a draft.
    fn begin(&self) {
        let mut body = order_body("cod", &self.email);
        body["billing_address"]["city"] = json!("");
        let answer = self.ask("POST", "/checkout", &body);
        assert_ne!(answer.status, 200, "{}", answer.json);
    }

    fn order(&mut self) {
        let method = self.dice.pick(&["bacs", "cheque", "cod", "hosted-test", "hosted-test"]);
        let answer = self.ask("POST", "/checkout", &order_body(method, &self.email));
        if answer.status != 200 {
            return;
        }
        let key = answer.json["order_key"].as_str().unwrap().to_owned();
        self.orders.push((answer.json["order_id"].as_i64().unwrap(), key));
    }

    /// Pays an order in another way, if it waits for that.
    fn pay(&mut self) {
        if self.orders.is_empty() {
            return;
        }
        let (id, key) = self.dice.pick(&self.orders);
        let mut body = order_body(self.dice.pick(&["cheque", "cod"]), &self.email);
        body["key"] = json!(key);
        body["billing_email"] = json!(self.email);
        self.ask("POST", &format!("/checkout/{id}"), &body);
    }

    /// Neither a cart without its token nor an order without its e-mail address is shown.
    pub(super) fn sees_nothing_of(&self, other: &Self) {
        let line = ("GET", &*format!("{STORE}/cart"));
        let stranger = ask_from(self.address, &self.site, line, Headers::new(), &Value::Null);
        assert_eq!(stranger.json["items"], json!([]));
        for (id, key) in &other.orders {
            let own = format!("/order/{id}?key={key}&billing_email={}", self.email);
            assert_eq!(self.ask("GET", &own, &Value::Null).status, 401);
            let guessed = format!("/order/{id}?billing_email={}", other.email);
            assert_eq!(self.ask("GET", &guessed, &Value::Null).status, 401);
        }
    }
}

/// Forgets what was left and cancels what was not paid, as if days had gone by.
pub(super) fn forget(site: &Arc<Site>) {
    let sweep = |conn: &mut dyn db::Conn| storefront::sweep::sweep(conn, days_later());
    site.store().write_blocking(sweep).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(storefront::sweep::cancel_unpaid(site, days_later())).unwrap();
}

/// Somebody of the shop: cancels, completes, pays back, and forgets what buyers left.
pub(super) struct Clerk {
    site: Arc<Site>,
    dice: Dice,
    headers: Headers,
}

impl Clerk {
    pub(super) fn new(shop: &TestShop, dice: Dice) -> Self {
        Self { site: Arc::clone(&shop.site), dice, headers: shop.credentials(ADMIN) }
    }

    fn ask(&self, method: &str, path: &str, body: &Value) -> Value {
        let line = (method, path);
        let answer = ask_from([192, 0, 2, 7], &self.site, line, self.headers.clone(), body);
        assert!(answer.status < 500, "{method} {path} {body}: {answer:?}");
        answer.json
    }

    pub(super) fn step(&mut self) {
        if self.dice.one_in(8) {
            return forget(&self.site);
        }
        let orders = self.ask("GET", "/wc/v3/orders?per_page=20", &Value::Null);
        let orders = orders.as_array().unwrap().clone();
        if orders.is_empty() {
            return;
        }
        let order = self.dice.pick(&orders);
        let path = format!("/wc/v3/orders/{}", order["id"]);
        let cancels = self.dice.one_in(3);
        match order["status"].as_str().unwrap() {
            "pending" | "on-hold" | "processing" if cancels => {
                self.ask("PUT", &path, &json!({ "status": "cancelled" }));
            }
            "on-hold" => {
                self.ask("PUT", &path, &json!({ "status": "completed" }));
            }
            "processing" | "completed" => self.pay_back(&order, &path),
            _ => {}
        }
    }

    /// Takes one piece of a line back, for a dollar.
    fn pay_back(&mut self, order: &Value, path: &str) {
        let line = self.dice.pick(order["line_items"].as_array().unwrap());
        let part = json!({ "id": line["id"], "quantity": 1, "refund_total": 1 });
        let body = json!({ "amount": "1", "api_refund": false, "line_items": [part] });
        self.ask("POST", &format!("{path}/refunds"), &body);
    }
}
