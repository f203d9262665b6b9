//! The twelve questions as somebody would write them who knows the tables: what the printed
//! statements are compared with. Both read the newest version of each row.

use std::thread;

use analytics::query::Span;
use testkit::http::{self, Request};

use crate::formula::{DAY, EXCLUDED, START};

pub(crate) struct ByHand {
    urls: Vec<String>,
    database: String,
    generation: i64,
}

impl ByHand {
    pub(crate) fn new(urls: Vec<String>, database: &str, generation: i64) -> Self {
        Self { urls, database: database.to_owned(), generation }
    }

    /// Asks all shards at once, and adds up all numbers that are no keys.
    pub(crate) fn ask(&self, question: &str, span: Span) -> i64 {
        let (keys, statement) = self.statement(question, span);
        let statement = &statement;
        let ask_one = |url: &str| {
            let path = format!("/?database={}", self.database);
            let request = Request::new("POST", &path).body(statement.clone());
            let response = http::send(url, &request).unwrap();
            assert_eq!(response.status, 200, "{statement}: {}", response.text());
            let text = response.text();
            let values = text.lines().flat_map(|line| line.split('\t').skip(keys));
            values.map(|value| value.parse::<i64>().unwrap()).fold(0, i64::wrapping_add)
        };
        thread::scope(|scope| {
            let asked: Vec<_> = self.urls.iter().map(|url| scope.spawn(|| ask_one(url))).collect();
            asked.into_iter().map(|one| one.join().unwrap()).fold(0, i64::wrapping_add)
        })
    }

    /// How many columns are keys, and the statement.
    fn statement(&self, question: &str, span: Span) -> (usize, String) {
        let (from, until) = (span.from.as_micros(), span.until.as_micros());
        let within = |date: &str| format!("{date} >= {from} AND {date} < {until}");
        let counts = format!("deleted = 0 AND status != '{EXCLUDED}'");
        let orders = format!("FROM orders_{} FINAL", self.generation);
        let paid = format!("{orders} WHERE {counts} AND {}", within("paid"));
        let made = format!("{orders} WHERE {counts} AND {}", within("created"));
        let unfold = |lists: &str, date: &str| {
            format!("{orders} ARRAY JOIN {lists} WHERE {counts} AND {}", within(date))
        };
        let revenue = "count(), sum(items), sum(total), sum(tax), sum(shipping), sum(net)";
        match question {
            "revenue totals" => (0, format!("SELECT {revenue} {paid}")),
            "revenue by day" => {
                (1, format!("SELECT {}, {revenue} {paid} GROUP BY day", day("paid")))
            }
            "distinct customers" => (0, format!("SELECT uniqExact(customer_id) {paid}")),
            "orders with 20 products" => {
                let has_one = "arrayExists(id -> id >= 1 AND id <= 20, line_product_id)";
                (0, format!("SELECT {revenue} {paid} AND {has_one}"))
            }
            "new and returning" => {
                // No two orders of the formula are of one moment.
                let columns = "customer_id, created, items, total, tax, shipping, net";
                let firsts = format!(
                    "SELECT customer_id, min(created) AS first {orders} WHERE {counts} \
                     AND parent_id = 0 GROUP BY customer_id"
                );
                let statement = format!(
                    "SELECT created > first AS returning, {revenue} FROM (SELECT {columns} {paid}) \
                     ANY LEFT JOIN ({firsts}) USING customer_id GROUP BY returning"
                );
                (1, statement)
            }
            "coupons" => {
                let used = unfold("coupon_id, coupon_discount", "created");
                let sums = "sum(coupon_discount), uniqExact(order_id)";
                (1, format!("SELECT coupon_id, {sums} {used} GROUP BY coupon_id"))
            }
            "taxes" => {
                let keys = "tax_rate_id, tax_code, tax_percent";
                let taken = unfold(&format!("{keys}, tax_of_goods, tax_of_shipping"), "paid");
                let sums = "sum(tax_of_goods + tax_of_shipping), uniqExact(order_id)";
                (3, format!("SELECT {keys}, {sums} {taken} GROUP BY {keys}"))
            }
            "customers" => {
                (1, format!("SELECT customer_id, count(), sum(total) {made} GROUP BY customer_id"))
            }
            about_lines => self.statement_about_lines(about_lines, &unfold(LINES, "created")),
        }
    }

    fn statement_about_lines(&self, question: &str, sold: &str) -> (usize, String) {
        let sales = "sum(line_quantity), sum(line_net), uniqExact(order_id)";
        match question {
            "sales totals" => (0, format!("SELECT {sales} {sold}")),
            "sales by day" => {
                (1, format!("SELECT {}, {sales} {sold} GROUP BY day", day("created")))
            }
            "products" => {
                (1, format!("SELECT line_product_id, {sales} {sold} GROUP BY line_product_id"))
            }
            "categories" => {
                let products = format!(
                    "SELECT product_id AS line_product_id, direct FROM products_{} FINAL \
                     WHERE deleted = 0",
                    self.generation
                );
                let statement = format!(
                    "SELECT category, {sales} FROM (SELECT line_quantity, line_net, order_id, \
                     direct FROM (SELECT {LINES}, order_id {sold}) ANY LEFT JOIN ({products}) \
                     USING line_product_id) ARRAY JOIN direct AS category GROUP BY category"
                );
                (1, statement)
            }
            other => panic!("nobody has written {other}"),
        }
    }
}

const LINES: &str = "line_product_id, line_quantity, line_net";

/// The number of the day.
fn day(date: &str) -> String {
    format!("intDiv({date} - {START}000000, {DAY}000000) AS day")
}
