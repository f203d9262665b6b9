//! What it costs to make an order does not depend on how many there are: every statement finds its
//! rows by an index, reads as many of them and as many bytes as in a young shop, and writes no more.

use std::collections::BTreeMap;
use std::sync::Arc;

use contract::rest::Verb;
use db::{Conn, Engine, Row, Sql, Val};
use serde_json::{Value, json};
use testkit::database::TestDatabase;
use types::Result;

use crate::shop::Shop;
use crate::statements::parameters;

/// Tables of which a shop has few rows, however large it is.
const SMALL: [&str; 6] =
    ["attributes", "tax_rates", "tax_classes", "options", "counters", "tax_rate_locations"];
/// Orders of a young shop, and of an older one.
const FEW: usize = 12;
const MANY: usize = 240;

/// What a statement took and gave, over all its calls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Cost {
    calls: usize,
    rows: usize,
    bytes: usize,
}

/// A transaction that notes what runs in it.
struct Recording<'c> {
    inner: &'c mut dyn Conn,
    costs: BTreeMap<String, Cost>,
}

impl Recording<'_> {
    fn note(&mut self, text: &str, params: &[Val<'_>]) -> &mut Cost {
        let cost = self.costs.entry(text.to_owned()).or_default();
        cost.calls += 1;
        cost.bytes += params.iter().map(size).sum::<usize>();
        cost
    }
}

fn size(value: &Val<'_>) -> usize {
    match value {
        Val::Text(text) => text.len(),
        Val::Bytes(bytes) => bytes.len(),
        _ => 0,
    }
}

impl Conn for Recording<'_> {
    fn engine(&self) -> Engine {
        self.inner.engine()
    }

    fn execute(&mut self, sql: &Sql, params: &[Val<'_>]) -> Result<u64> {
        self.note(sql.text, params);
        self.inner.execute(sql, params)
    }

    fn query(
        &mut self,
        sql: &Sql,
        params: &[Val<'_>],
        each: &mut dyn FnMut(&dyn Row) -> Result<()>,
    ) -> Result<()> {
        self.query_text(sql.text, params, each)
    }

    fn script(&mut self, text: &str) -> Result<()> {
        self.inner.script(text)
    }

    fn query_text(
        &mut self,
        text: &str,
        params: &[Val<'_>],
        each: &mut dyn FnMut(&dyn Row) -> Result<()>,
    ) -> Result<()> {
        let (mut rows, bytes) = (0, std::cell::Cell::new(0));
        self.inner.query_text(text, params, &mut |row| {
            rows += 1;
            each(&Measured { row, bytes: &bytes })
        })?;
        let cost = self.note(text, params);
        cost.rows += rows;
        cost.bytes += bytes.get();
        Ok(())
    }

    fn prepare(&mut self, sql: &Sql) -> Result<()> {
        self.inner.prepare(sql)
    }

    fn together(
        &mut self,
        work: &mut dyn FnMut(&mut dyn Conn) -> Result<bool>,
    ) -> Result<Option<usize>> {
        work(self).map(|_| None)
    }
}

struct Measured<'r> {
    row: &'r dyn Row,
    bytes: &'r std::cell::Cell<usize>,
}

impl Row for Measured<'_> {
    fn int(&self, index: usize) -> Result<Option<i64>> {
        self.row.int(index)
    }

    fn text(&self, index: usize) -> Result<Option<String>> {
        let text = self.row.text(index)?;
        self.bytes.set(self.bytes.get() + text.as_ref().map_or(0, String::len));
        Ok(text)
    }

    fn bytes(&self, index: usize) -> Result<Option<Vec<u8>>> {
        let bytes = self.row.bytes(index)?;
        self.bytes.set(self.bytes.get() + bytes.as_ref().map_or(0, Vec::len));
        Ok(bytes)
    }
}

/// An order of a user or of a guest, with a coupon, of goods that are counted.
fn order(shop: &Value, number: usize) -> Value {
    let user = if number.is_multiple_of(2) { shop["customer"].clone() } else { json!(0) };
    json!({
        "status": "processing",
        "customer_id": user,
        "billing": { "email": format!("buyer{:04}@example.test", number) },
        "line_items": [{ "product_id": shop["product"], "quantity": 1 }],
        "coupon_lines": [{ "code": "one" }],
    })
}

/// What the statements cost by which an order is made, by their texts.
fn cost(shop: &Shop, body: &Value) -> BTreeMap<String, Cost> {
    let (site, body, now) = (shop.site(), body.clone(), shop.now());
    shop.write(move |conn| {
        let mut recording = Recording { inner: conn, costs: BTreeMap::new() };
        let user = crate::shop::administrator();
        let path = (Verb::Post, "/wc/v3/orders");
        Arc::clone(&site).done_by(&mut recording, user, path, body.clone(), now)?;
        Ok(recording.costs)
    })
}

#[test]
fn making_an_order_costs_the_same_in_a_large_shop() {
    let mut shop = Shop::new(&TestDatabase::sqlite());
    let product = json!({ "name": "Lamp", "regular_price": "20", "manage_stock": true,
                          "stock_quantity": 100_000 });
    let product = shop.post("/wc/v3/products", &product)["id"].clone();
    shop.post("/wc/v3/coupons", &json!({ "code": "one", "amount": "1" }));
    let customer = shop.post("/wc/v3/customers", &json!({ "email": "a@example.test" }));
    let records = json!({ "product": product, "customer": customer["id"] });
    let mut young = BTreeMap::new();
    for number in 1_000..1_000 + MANY {
        if number == 1_000 + FEW {
            young = cost(&shop, &order(&records, number));
        }
        shop.post("/wc/v3/orders", &order(&records, number));
    }
    let old = cost(&shop, &order(&records, 1_000 + MANY));
    let mut grown = Vec::new();
    for (text, cost) in &old {
        let before = young.get(text).copied().unwrap_or_default();
        // Ids and dates grow by a digit now and then.
        let is_flat = before.calls == cost.calls
            && before.rows == cost.rows
            && cost.bytes <= before.bytes + 8 * cost.calls.max(1);
        if !is_flat {
            grown.push(format!("{before:?} became {cost:?}: {text}"));
        }
    }
    assert_eq!(grown, Vec::<String>::new(), "{} of {} statements", grown.len(), old.len());
    let texts: Vec<String> = old.into_keys().collect();
    let scans = shop.write(move |conn| {
        let mut scans = Vec::new();
        for text in &texts {
            let explained = format!("EXPLAIN QUERY PLAN {text}");
            let params: Vec<Val<'_>> = (0..parameters(text)).map(|_| Val::Null).collect();
            conn.query_text(&explained, &params, &mut |row| {
                let step = row.text(3)?.unwrap_or_default();
                // With the site's number alone, all rows of the table are gone through.
                let is_whole = step.starts_with("SCAN ") || step.ends_with("(site_id=?)");
                let table = step.split(' ').nth(1).unwrap_or_default();
                if is_whole && !SMALL.contains(&table) {
                    scans.push(format!("{step}: {text}"));
                }
                Ok(())
            })?;
        }
        Ok(scans)
    });
    assert_eq!(scans, Vec::<String>::new());
}
