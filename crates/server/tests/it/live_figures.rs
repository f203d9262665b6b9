//! Whatever happens in a shop, and in whatever order: figures that followed it are those that are
//! made anew of its records.

use analytics::facts::{DownloadFact, OrderFact, Snapshot};
use contract::rest::Verb;
use serde_json::{Value, json};
use shop_rows::download_log::{self, DownloadLogRow};
use shop_rows::download_permission::{self, DownloadPermissionRow};
use testkit::database::TestDatabase;

use crate::reports::{ROUTES, query};
use crate::shop::{MadeAnew, Shop, at};

testkit::on_both_engines!(
    live_figures_are_those_made_anew,
    downloads_go_with_their_order,
    orders_go_to_whoever_has_their_address,
);

const RANGE: &str = "after=2026-01-01T00:00:00&before=2027-01-01T00:00:00";
const SEEDS: [u64; 3] = [7, 1_234, 987_654];
const WRITES: usize = 150;
/// Writes after which both are compared.
const PORTION: usize = 15;

/// Numbers that are the same for the same seed.
struct Dice(u64);

impl Dice {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 11).unwrap_or_default() % end.max(1)
    }

    fn one<'a, T>(&mut self, of: &'a [T]) -> Option<&'a T> {
        of.get(self.below(of.len()))
    }

    fn text(&mut self, of: &[&'static str]) -> &'static str {
        of[self.below(of.len())]
    }
}

const STATUSES: [&str; 9] = [
    "pending",
    "processing",
    "on-hold",
    "completed",
    "completed",
    "cancelled",
    "failed",
    "refunded",
    "checkout-draft",
];
const EMAILS: [&str; 4] =
    ["ann@example.test", "ben@example.test", "Ann@Example.test", "cy@example.test"];
const MERCHANTS: [&str; 3] = ["", "merchant1", "merchant2"];

/// The ids of what was made, be it still there or not.
#[derive(Default)]
struct Made {
    products: Vec<Value>,
    categories: Vec<Value>,
    coupons: Vec<Value>,
    customers: Vec<Value>,
    orders: Vec<Value>,
    refunds: Vec<(Value, Value)>,
}

struct Story<'d> {
    shop: Shop,
    dice: &'d mut Dice,
    made: Made,
    carried_out: usize,
}

impl Story<'_> {
    /// Sends a request; what is refused leaves no trace and is no part of the story.
    fn send(&mut self, verb: Verb, path: &str, body: &Value) -> Option<Value> {
        let answer = self.shop.send(verb, path, body).ok();
        self.carried_out += usize::from(answer.is_some());
        answer
    }

    fn make(&mut self, path: &str, body: &Value) -> Option<Value> {
        self.send(Verb::Post, path, body).map(|made| made["id"].clone())
    }

    fn next(&mut self) {
        match self.dice.below(20) {
            0 | 1 => self.product(),
            2 => self.category(),
            3 => self.coupon(),
            4 | 5 => self.customer(),
            6..=10 => self.new_order(),
            11..=13 => self.changed_order(),
            14 => self.deleted_order(),
            15 | 16 => self.refund(),
            17 => self.download(),
            _ => self.option(),
        }
    }

    fn product(&mut self) {
        let categories = match self.dice.one(&self.made.categories) {
            Some(id) => json!([{ "id": id }]),
            None => json!([]),
        };
        let price = (1 + self.dice.below(40)).to_string();
        let body = json!({ "name": "Thing", "regular_price": price, "categories": categories });
        match (self.dice.below(4), self.dice.one(&self.made.products).cloned()) {
            (0, Some(id)) => {
                self.send(
                    Verb::Delete,
                    &format!("/wc/v3/products/{id}"),
                    &json!({ "force": true }),
                );
            }
            (1, Some(id)) => drop(self.send(Verb::Put, &format!("/wc/v3/products/{id}"), &body)),
            _ => {
                let made = self.make("/wc/v3/products", &body);
                self.made.products.extend(made);
            }
        }
    }

    fn category(&mut self) {
        let path = "/wc/v3/products/categories";
        let name = format!("Category {}", self.dice.below(1_000));
        let parent = self.dice.one(&self.made.categories).cloned().unwrap_or(json!(0));
        match (self.dice.below(4), self.dice.one(&self.made.categories).cloned()) {
            (0, Some(id)) => {
                self.send(Verb::Delete, &format!("{path}/{id}"), &json!({ "force": true }));
            }
            (1, Some(id)) => {
                self.send(Verb::Put, &format!("{path}/{id}"), &json!({ "parent": parent }));
            }
            _ => {
                let made = self.make(path, &json!({ "name": name, "parent": parent }));
                self.made.categories.extend(made);
            }
        }
    }

    fn coupon(&mut self) {
        let code = format!("code{}", self.dice.below(1_000));
        match (self.dice.below(4), self.dice.one(&self.made.coupons).cloned()) {
            (0, Some(id)) => {
                self.send(Verb::Delete, &format!("/wc/v3/coupons/{id}"), &json!({ "force": true }));
            }
            (1, Some(id)) => {
                self.send(Verb::Put, &format!("/wc/v3/coupons/{id}"), &json!({ "code": code }));
            }
            _ => {
                let made = self.make("/wc/v3/coupons", &json!({ "code": code, "amount": "1" }));
                self.made.coupons.extend(made);
            }
        }
    }

    fn customer(&mut self) {
        let email = self.dice.text(&EMAILS);
        match (self.dice.below(3), self.dice.one(&self.made.customers).cloned()) {
            (0, Some(id)) => {
                self.send(
                    Verb::Delete,
                    &format!("/wc/v3/customers/{id}"),
                    &json!({ "force": true }),
                );
            }
            (1, Some(id)) => {
                self.send(Verb::Put, &format!("/wc/v3/customers/{id}"), &json!({ "email": email }));
            }
            _ => {
                let made = self.make("/wc/v3/customers", &json!({ "email": email }));
                self.made.customers.extend(made);
            }
        }
    }

    fn buyer(&mut self) -> (Value, &'static str) {
        let user = self.dice.one(&self.made.customers).cloned();
        let user = user.filter(|_| self.dice.below(2) == 0).unwrap_or(json!(0));
        (user, self.dice.text(&EMAILS))
    }

    fn new_order(&mut self) {
        let (user, email) = self.buyer();
        let mut lines = Vec::new();
        for _ in 0..=self.dice.below(3) {
            let product = self.dice.one(&self.made.products).cloned();
            let quantity = 1 + self.dice.below(4);
            lines.extend(product.map(|id| json!({ "product_id": id, "quantity": quantity })));
        }
        let coupon = self.dice.one(&self.made.coupons).cloned();
        let code = coupon.and_then(|id| {
            let found = self.shop.get(&format!("/wc/v3/coupons?include={id}"));
            found[0]["code"].as_str().map(str::to_owned)
        });
        let codes: Vec<Value> = code.into_iter().map(|code| json!({ "code": code })).collect();
        let body = json!({
            "status": self.dice.text(&STATUSES),
            "customer_id": user,
            "billing": { "email": email },
            "merchant_id": self.dice.text(&MERCHANTS),
            "currency": self.dice.text(&["USD", "USD", "EUR"]),
            "line_items": lines,
            "fee_lines": [{ "name": "Service", "total": "3.335" }],
            "coupon_lines": codes,
        });
        let made = self.make("/wc/v3/orders", &body);
        self.made.orders.extend(made);
    }

    fn changed_order(&mut self) {
        let Some(id) = self.dice.one(&self.made.orders).cloned() else { return };
        let (user, email) = self.buyer();
        let body = match self.dice.below(4) {
            0 => json!({ "customer_id": user, "billing": { "email": email } }),
            1 => json!({ "merchant_id": self.dice.text(&MERCHANTS) }),
            2 => json!({ "fee_lines": [{ "name": "More", "total": "1.005" }] }),
            _ => json!({ "status": self.dice.text(&STATUSES) }),
        };
        self.send(Verb::Put, &format!("/wc/v3/orders/{id}"), &body);
    }

    fn deleted_order(&mut self) {
        let Some(id) = self.dice.one(&self.made.orders).cloned() else { return };
        let force = self.dice.below(2) == 0;
        self.send(Verb::Delete, &format!("/wc/v3/orders/{id}"), &json!({ "force": force }));
    }

    fn refund(&mut self) {
        if self.dice.below(3) == 0
            && let Some((order, refund)) = self.dice.one(&self.made.refunds).cloned()
        {
            let path = format!("/wc/v3/orders/{order}/refunds/{refund}");
            self.send(Verb::Delete, &path, &json!({ "force": true }));
            return;
        }
        let Some(order) = self.dice.one(&self.made.orders).cloned() else { return };
        let amount = (1 + self.dice.below(5)).to_string();
        let body = json!({ "amount": amount, "api_refund": false });
        let made = self.make(&format!("/wc/v3/orders/{order}/refunds"), &body);
        self.made.refunds.extend(made.map(|refund| (order, refund)));
    }

    fn download(&mut self) {
        let order = self.dice.one(&self.made.orders).and_then(Value::as_i64);
        if let Some(order_id) = order {
            download(&self.shop, order_id);
        }
    }

    fn option(&mut self) {
        let (path, body) = match self.dice.below(4) {
            0 => {
                let zone = self.dice.text(&["Europe/Berlin", "Asia/Kolkata", "UTC"]);
                (String::from("/wp/v2/settings"), json!({ "timezone": zone }))
            }
            1 => {
                let excluded = [json!(["pending"]), json!(["on-hold", "failed"]), json!([])];
                let value = excluded[self.dice.below(3)].clone();
                let name = "wc_admin/woocommerce_excluded_report_order_statuses";
                (format!("/wc/v3/settings/{name}"), json!({ "value": value }))
            }
            2 => {
                let value = self.dice.text(&["0", "2", "3"]);
                let name = "general/woocommerce_price_num_decimals";
                (format!("/wc/v3/settings/{name}"), json!({ "value": value }))
            }
            _ => {
                let value = self.dice.text(&["yes", "no"]);
                let name = "tax/woocommerce_tax_round_at_subtotal";
                (format!("/wc/v3/settings/{name}"), json!({ "value": value }))
            }
        };
        self.send(Verb::Put, &path, &body);
    }
}

/// Somebody fetches a file that came with the order.
fn download(shop: &Shop, order_id: i64) {
    shop.write(move |conn| {
        let permission = DownloadPermissionRow {
            download_id: String::from("file"),
            product_id: 1,
            order_id,
            ..DownloadPermissionRow::default()
        };
        let permission_id = download_permission::insert(conn, &permission)?;
        let at = at("2026-11-15T13:00:00Z");
        let entry = DownloadLogRow { permission_id, at, ..DownloadLogRow::default() };
        download_log::insert(conn, &entry).map(drop)
    });
}

fn orders(snapshot: &Snapshot) -> Vec<OrderFact> {
    let mut all: Vec<OrderFact> = snapshot.order_facts().collect();
    all.sort_by_key(|fact| fact.order_id);
    all
}

fn downloads(snapshot: &Snapshot) -> Vec<DownloadFact> {
    snapshot.downloads().iter().map(|download| (**download).clone()).collect()
}

#[track_caller]
fn compare(shop: &mut Shop, told: &str) -> MadeAnew {
    shop.catch_up();
    let anew = shop.made_anew();
    let (live, fresh) = (shop.facts.snapshot(), anew.facts.snapshot());
    let (of_live, of_fresh) = (orders(&live), orders(&fresh));
    for (one, other) in of_live.iter().zip(&of_fresh) {
        assert_eq!(one, other, "{told}");
    }
    assert_eq!(of_live.len(), of_fresh.len(), "{told}");
    assert_eq!(downloads(&live), downloads(&fresh), "{told}");
    assert_eq!(live.catalog(), fresh.catalog(), "{told}");
    anew
}

fn live_figures_are_those_made_anew(database: &TestDatabase) {
    let mut dice = Dice(SEEDS[0]);
    let shop = Shop::new(database);
    let mut story = Story { shop, dice: &mut dice, made: Made::default(), carried_out: 0 };
    for seed in SEEDS {
        story.dice.0 = seed;
        for number in 1..=WRITES {
            story.next();
            if number % PORTION == 0 {
                compare(&mut story.shop, &format!("seed {seed}, after {number} writes"));
            }
        }
    }
    assert!(story.carried_out * 2 > WRITES * SEEDS.len(), "{} writes", story.carried_out);
    let anew = compare(&mut story.shop, "the end");
    for route in ROUTES {
        let path = format!("/wc-analytics/{route}?{RANGE}&{}", query(route));
        assert_eq!(story.shop.get(&path), story.shop.get_anew(&anew, &path), "{route}");
    }
}

fn downloads_go_with_their_order(database: &TestDatabase) {
    let mut shop = Shop::new(database);
    let order = shop.post("/wc/v3/orders", &json!({ "status": "completed" }));
    let id = order["id"].as_i64().unwrap();
    download(&shop, id);
    download(&shop, id);
    compare(&mut shop, "two downloads");
    let path = format!("/wc-analytics/reports/downloads/stats?{RANGE}");
    assert_eq!(shop.get(&path)["totals"]["download_count"], 2);
    let merchant = json!({ "merchant_id": "merchant1" });
    shop.send(Verb::Put, &format!("/wc/v3/orders/{id}"), &merchant).unwrap();
    compare(&mut shop, "the order is a merchant's");
    assert_eq!(&*downloads(&shop.facts.snapshot())[0].merchant_id, "merchant1");
    shop.send(Verb::Delete, &format!("/wc/v3/orders/{id}"), &json!({ "force": true })).unwrap();
    compare(&mut shop, "the order is gone");
    assert_eq!(shop.get(&path)["totals"]["download_count"], 0);
}

fn orders_go_to_whoever_has_their_address(database: &TestDatabase) {
    let mut shop = Shop::new(database);
    let buy = |shop: &mut Shop, user: &Value, email: &str| {
        let billing = json!({ "email": email });
        let order = json!({ "status": "completed", "customer_id": user, "billing": billing });
        shop.post("/wc/v3/orders", &order);
    };
    buy(&mut shop, &json!(0), "ann@example.test");
    compare(&mut shop, "a guest buys");
    let ann = shop.post("/wc/v3/customers", &json!({ "email": "ann@example.test" }))["id"].clone();
    compare(&mut shop, "the guest registers");
    buy(&mut shop, &ann, "elsewhere@example.test");
    compare(&mut shop, "who registered buys with another address");
    let path = format!("/wc/v3/customers/{ann}");
    shop.send(Verb::Put, &path, &json!({ "email": "anna@example.test" })).unwrap();
    compare(&mut shop, "who registered has another address");
    shop.send(Verb::Delete, &path, &json!({ "force": true })).unwrap();
    compare(&mut shop, "who registered goes");
}
