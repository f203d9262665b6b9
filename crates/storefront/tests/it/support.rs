//! A shop to buy in: goods, a tax, ways of shipping and of paying, and buyers with their tokens.

use std::sync::Arc;
use std::time::Duration;

use db::background_job::{self, Ending};
use frame::Site;
use frame::jobs::{JobCx, JobKind, Running};
use frame::options::Tables;
use serde_json::{Value, json};
use types::Timestamp;

use super::super::DATABASE;
use super::harness::{Plan, TestSite, request, understood};

pub(crate) use super::harness::{ADMIN, Answer, NOBODY, now};

const LEASE: Duration = Duration::from_mins(1);
pub(crate) const STORE: &str = "/wc/store/v1";

pub(crate) type TestShop = TestSite;

/// The ids of what the shop sells.
pub(crate) struct Goods {
    /// 25.00, three pieces.
    pub(crate) anchor: i64,
    /// 10.00, nobody counts.
    pub(crate) rope: i64,
    /// 60.00, nothing to ship.
    pub(crate) course: i64,
}

/// Takes e-mails, and is never asked to send one.
#[derive(Debug)]
struct TestInbox;

impl JobKind for TestInbox {
    fn name(&self) -> &'static str {
        frame::mail::JOB
    }

    fn run<'a>(&'a self, _: &'a JobCx) -> Running<'a> {
        Box::pin(async { Ok(json!({})) })
    }
}

impl TestSite {
    pub(crate) fn new() -> Self {
        let options: Tables = &[commerce::options::DEFINITIONS, commerce::emails::OPTIONS];
        let routes = |names: &frame::Names| {
            [commerce::routes(names), storefront::routes(names)].into_iter().flatten().collect()
        };
        let furnish = |site: Site| {
            let products = commerce::products::ProductPages::new(&site.settings().names);
            let site = site.with_pages(Box::new(products));
            let of_shop = commerce::payments::jobs().into_iter().chain(storefront::jobs());
            of_shop.fold(site.with_job(Box::new(TestInbox)), Site::with_job)
        };
        let plan = Plan { database: DATABASE(), routes, options, furnish, ..Plan::bare() };
        let shop = Self::make(plan);
        shop.write(commerce::found);
        shop
    }

    /// A shop with goods, a tax of ten percent, a flat rate of five and all ways to pay.
    pub(crate) fn furnished() -> (Self, Goods) {
        let shop = Self::new();
        for (group, id, value) in [
            ("general", "woocommerce_calc_taxes", "yes"),
            ("general", "woocommerce_default_country", "US:CA"),
        ] {
            shop.made("PUT", &format!("/wc/v3/settings/{group}/{id}"), &json!({ "value": value }));
        }
        let tax = json!({ "country": "US", "rate": "10", "name": "Tax", "shipping": true });
        shop.made("POST", "/wc/v3/taxes", &tax);
        let flat = json!({ "method_id": "flat_rate", "settings": { "cost": "5" } });
        shop.made("POST", "/wc/v3/shipping/zones/0/methods", &flat);
        for gateway in ["bacs", "cheque", "cod"] {
            let path = format!("/wc/v3/payment_gateways/{gateway}");
            shop.made("PUT", &path, &json!({ "enabled": true }));
        }
        let anchor = shop.product(&json!({
            "name": "Anchor", "regular_price": "25", "manage_stock": true, "stock_quantity": 3,
        }));
        let rope = shop.product(&json!({ "name": "Rope", "regular_price": "10" }));
        let course = json!({ "name": "Course", "regular_price": "60", "virtual": true });
        let course = shop.product(&course);
        (shop, Goods { anchor, rope, course })
    }

    /// What an administrator makes; it must succeed.
    pub(crate) fn made(&self, method: &str, path: &str, body: &Value) -> Value {
        let answer = self.ask(method, path, ADMIN, body);
        assert!(answer.status < 300, "{method} {path}: {}", answer.json);
        answer.json
    }

    pub(crate) fn product(&self, body: &Value) -> i64 {
        self.made("POST", "/wc/v3/products", body)["id"].as_i64().unwrap()
    }

    pub(crate) fn stock_of(&self, id: i64) -> Value {
        self.made("GET", &format!("/wc/v3/products/{id}"), &Value::Null)["stock_quantity"].clone()
    }

    /// Does the jobs of a kind that are due by then, and returns what they came to.
    pub(crate) fn work(&self, kind: &'static str, at: Timestamp) -> Vec<Value> {
        let claim =
            move |conn: &mut dyn db::Conn| background_job::claim_due(conn, kind, at, 50, LEASE);
        let mut results = Vec::new();
        for job in self.write(claim) {
            let cx = JobCx::new(Arc::clone(&self.site), job.clone(), LEASE);
            let done = self.run(self.site.job_kind(kind).unwrap().run(&cx));
            let result = done.unwrap_or_else(|halt| panic!("{kind}: {halt:?}"));
            let (site, ending) = (Arc::clone(&self.site), Ending::Done(result.to_string()));
            self.write(move |conn| frame::jobs::finish(&site, conn, &job, &ending, now()));
            results.push(result);
        }
        results
    }

    /// A guest with an empty cart.
    pub(crate) fn guest(&self) -> Buyer<'_> {
        let token = self.get(&format!("{STORE}/cart"), NOBODY).header("cart-token").to_owned();
        Buyer { shop: self, token }
    }
}

/// Somebody with a cart of their own.
pub(crate) struct Buyer<'s> {
    shop: &'s TestShop,
    pub(crate) token: String,
}

impl Buyer<'_> {
    pub(crate) fn ask(&self, method: &str, path: &str, body: &Value) -> Answer {
        let headers = vec![(String::from("cart-token"), self.token.clone())];
        self.shop.send(method, &format!("{STORE}{path}"), headers, body)
    }

    pub(crate) fn cart(&self) -> Value {
        self.ask("GET", "/cart", &Value::Null).json
    }

    pub(crate) fn add(&self, id: i64, quantity: i64) -> Answer {
        self.ask("POST", "/cart/add-item", &json!({ "id": id, "quantity": quantity }))
    }

    pub(crate) fn order(&self, method: &str) -> Answer {
        self.ask("POST", "/checkout", &order_body(method, "ada@example.test"))
    }
}

pub(crate) fn address() -> Value {
    json!({
        "first_name": "Ada", "last_name": "Lake", "company": "", "address_1": "1 Pier Rd",
        "address_2": "", "city": "Oakland", "state": "CA", "postcode": "94607", "country": "US",
        "phone": "5105550111",
    })
}

pub(crate) fn order_body(method: &str, email: &str) -> Value {
    let mut billing = address();
    billing["email"] = json!(email);
    json!({
        "billing_address": billing, "shipping_address": address(), "payment_method": method,
    })
}

/// Orders from a thread of its own, which the harness cannot.
pub(crate) fn ask_alone(site: &Arc<Site>, path: &str, token: &str, body: &Value) -> (u16, Value) {
    let headers = vec![(String::from("cart-token"), token.to_owned())];
    let answer = ask_from([192, 0, 2, 9], site, ("POST", &format!("{STORE}{path}")), headers, body);
    (answer.status, answer.json)
}

/// Asks from a thread and an address of its own.
pub(crate) fn ask_from(
    address: [u8; 4],
    site: &Arc<Site>,
    (method, path): (&str, &str),
    mut headers: Vec<(String, String)>,
    body: &Value,
) -> Answer {
    headers.push((String::from("content-type"), String::from("application/json")));
    let bytes = if body.is_null() { Vec::new() } else { body.to_string().into_bytes() };
    let mut request = request(method, path, headers, bytes);
    request.client.address = address.into();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    understood(runtime.block_on(site.answer(request)))
}
