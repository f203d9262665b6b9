//! The shop that is measured, and its buyers. Everything is made over the interfaces that buyers
//! and the shop's own people use.

use std::path::Path;

use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};
use testkit::http::{Connection, Response};

use super::Size;
use crate::subject::{Running, Subject};

const STORE: &str = "/wp-json/wc/store/v1";
const LOGIN: &str = "bench";
/// Products made with one request.
const BATCH: usize = 100;
/// Pieces of each product: more than are ever sold.
const STOCK: u32 = 1_000_000;

/// A running shop, asked on one connection.
#[derive(Debug)]
pub(super) struct Shop {
    running: Running,
    connection: Connection,
    authorization: String,
    products: Vec<i64>,
    carts: usize,
    orders: usize,
}

/// Somebody with a cart.
#[derive(Debug, Default)]
pub(super) struct Buyer {
    token: String,
    /// The key of what is in the cart.
    item: String,
}

impl Shop {
    /// A shop with a tax, a way of shipping and a way to pay, and nothing to sell yet.
    pub(super) fn open(program: &Path, data: &Path, database: Option<String>) -> Result<Self> {
        let subject = Subject::create(program, data, database)?;
        let who = ["--login", LOGIN];
        let new = ["--email", "bench@site.example", "--role", "administrator"];
        subject.run(&[&["user", "create"], &who[..], &new[..]].concat())?;
        let made =
            subject.run(&[&["user", "app-password", "--name", "bench"], &who[..]].concat())?;
        let password = made.get("password").and_then(Value::as_str).context("no password")?;
        let authorization =
            format!("Basic {}", crate::rest::base64(&format!("{LOGIN}:{password}")));
        let (running, _) = subject.start()?;
        let connection = Connection::open(running.url())?;
        let (products, carts, orders) = (Vec::new(), 0, 0);
        let mut shop = Self { running, connection, authorization, products, carts, orders };
        for (method, path, body) in [
            ("PUT", "settings/general/woocommerce_calc_taxes", json!({ "value": "yes" })),
            ("PUT", "settings/general/woocommerce_default_country", json!({ "value": "US:CA" })),
            ("POST", "taxes", json!({ "country": "US", "rate": "10", "name": "Tax" })),
            (
                "POST",
                "shipping/zones/0/methods",
                json!({ "method_id": "flat_rate", "settings": { "cost": "5" } }),
            ),
            ("PUT", "payment_gateways/bacs", json!({ "enabled": true })),
        ] {
            shop.made(method, path, &body)?;
        }
        Ok(shop)
    }

    pub(super) fn pid(&self) -> u32 {
        self.running.pid()
    }

    pub(super) fn close(self) -> Result<()> {
        self.running.stop()
    }

    /// Adds what is missing to the size.
    pub(super) fn grow(&mut self, size: Size) -> Result<()> {
        while self.products.len() < size.products {
            let count = BATCH.min(size.products - self.products.len());
            self.add_products(count)?;
        }
        while self.orders < size.orders {
            let mut buyer = self.buyer()?;
            self.add(&mut buyer, self.orders)?;
            self.check_out(&mut buyer)?;
        }
        while self.carts < size.carts {
            let mut buyer = self.buyer()?;
            self.add(&mut buyer, self.carts)?;
            self.carts += 1;
        }
        Ok(())
    }

    fn add_products(&mut self, count: usize) -> Result<()> {
        let first = self.products.len();
        let product = |number: usize| {
            json!({
                "name": format!("Product {number}"), "regular_price": "25",
                "description": "Some words about a product. ".repeat(10),
                "manage_stock": true, "stock_quantity": STOCK,
            })
        };
        let create: Vec<Value> = (first..first + count).map(product).collect();
        let made = self.made("POST", "products/batch", &json!({ "create": create }))?;
        let rows = made.get("create").and_then(Value::as_array).context("no products")?;
        for row in rows {
            let id = row.get("id").and_then(Value::as_i64).filter(|id| *id > 0);
            self.products.push(id.with_context(|| format!("no product: {row}"))?);
        }
        Ok(())
    }

    fn made(&mut self, method: &str, path: &str, body: &Value) -> Result<Value> {
        let headers =
            [("Authorization", &*self.authorization), ("Content-Type", "application/json")];
        let path = format!("/wp-json/wc/v3/{path}");
        let body = body.to_string();
        let answer = self.connection.request(method, &path, &headers, body.as_bytes())?;
        ensure!(answer.status < 300, "{method} {path}: {} {}", answer.status, answer.text());
        answer.json()
    }

    fn ask(&mut self, token: &str, (method, path): (&str, &str), body: &Value) -> Result<Response> {
        let mut headers = vec![("Content-Type", "application/json")];
        if !token.is_empty() {
            headers.push(("Cart-Token", token));
        }
        let body = if body.is_null() { String::new() } else { body.to_string() };
        let path = format!("{STORE}{path}");
        let answer = self.connection.request(method, &path, &headers, body.as_bytes())?;
        ensure!(answer.status < 300, "{method} {path}: {} {}", answer.status, answer.text());
        Ok(answer)
    }

    pub(super) fn buyer(&mut self) -> Result<Buyer> {
        let answer = self.ask("", ("GET", "/cart"), &Value::Null)?;
        let token = answer.header("Cart-Token").context("the cart has no token")?;
        Ok(Buyer { token, item: String::new() })
    }

    /// Each time under another address, so that the answer is worked out and not remembered.
    pub(super) fn list(&mut self, number: usize) -> Result<()> {
        let path = format!("/products?per_page=10&_={number}");
        self.ask("", ("GET", &path), &Value::Null).map(drop)
    }

    fn product(&self, number: usize) -> Result<i64> {
        let place = number % self.products.len().max(1);
        self.products.get(place).copied().context("the shop sells nothing")
    }

    pub(super) fn show(&mut self, number: usize) -> Result<()> {
        let id = self.product(number)?;
        self.ask("", ("GET", &format!("/products/{id}")), &Value::Null).map(drop)
    }

    pub(super) fn add(&mut self, buyer: &mut Buyer, number: usize) -> Result<()> {
        let body = json!({ "id": self.product(number)?, "quantity": 1 });
        let answer = self.ask(&buyer.token, ("POST", "/cart/add-item"), &body)?.json()?;
        let key = answer.pointer("/items/0/key").and_then(Value::as_str);
        key.context("the cart is empty")?.clone_into(&mut buyer.item);
        Ok(())
    }

    pub(super) fn update(&mut self, buyer: &mut Buyer) -> Result<()> {
        let body = json!({ "key": buyer.item, "quantity": 2 });
        self.ask(&buyer.token, ("POST", "/cart/update-item"), &body).map(drop)
    }

    pub(super) fn check_out(&mut self, buyer: &mut Buyer) -> Result<()> {
        let address = json!({
            "first_name": "Ada", "last_name": "Lake", "company": "", "address_1": "1 Pier Rd",
            "address_2": "", "city": "Oakland", "state": "CA", "postcode": "94607",
            "country": "US", "phone": "5105550111",
        });
        let mut billing = address.clone();
        let email = format!("buyer{}@site.example", self.orders);
        if let Some(members) = billing.as_object_mut() {
            members.insert(String::from("email"), json!(email));
        }
        let body = json!({
            "billing_address": billing, "shipping_address": address, "payment_method": "bacs",
        });
        self.ask(&buyer.token, ("POST", "/checkout"), &body)?;
        self.orders += 1;
        Ok(())
    }
}
