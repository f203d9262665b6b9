//! Clients that place orders one after the other, and what became of each.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};
use testkit::http::{Connection, Response};

const ANSWER_TIMEOUT: Duration = Duration::from_secs(20);
const AFTER_REFUSAL: Duration = Duration::from_millis(100);
/// The member of an order's metadata by which it is found again.
pub(crate) const MARK: &str = "chaos_mark";
const PER_PAGE: usize = 100;

/// One order and how it ended.
#[derive(Clone, Debug)]
pub(crate) struct Placed {
    pub(crate) mark: String,
    pub(crate) end: Placing,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Placing {
    /// With its id.
    Acknowledged(i64),
    Refused(u16),
    Unanswered,
}

/// Who places orders, and where.
pub(crate) struct Shoppers<'a> {
    pub(crate) url: &'a str,
    pub(crate) authorization: &'a str,
    pub(crate) product: i64,
    pub(crate) stop: AtomicBool,
}

impl Shoppers<'_> {
    /// Places orders until it is stopped; a server that is gone is looked for again.
    pub(crate) fn place(&self, name: &str) -> Vec<Placed> {
        let mut placed = Vec::new();
        let mut connection = None;
        while !self.stop.load(Ordering::Relaxed) {
            let open = match connection.take() {
                Some(open) => Ok(open),
                None => Connection::open_with_timeout(self.url, ANSWER_TIMEOUT),
            };
            let Ok(mut open) = open else {
                thread::sleep(AFTER_REFUSAL);
                continue;
            };
            let mark = format!("{name} {}", placed.len());
            let answer = self.order(&mut open, &mark);
            let end = match &answer {
                Ok(answer) if answer.status == 201 => {
                    Placing::Acknowledged(answer.json().unwrap()["id"].as_i64().unwrap())
                }
                Ok(answer) => Placing::Refused(answer.status),
                Err(_) => Placing::Unanswered,
            };
            if matches!(end, Placing::Refused(_)) {
                thread::sleep(AFTER_REFUSAL);
            }
            placed.push(Placed { mark, end });
            if answer.is_ok() && open.is_open() {
                connection = Some(open);
            }
        }
        placed
    }

    fn order(&self, connection: &mut Connection, mark: &str) -> anyhow::Result<Response> {
        let quantity = 1 + mark.len() % 3;
        let body = json!({
            "status": "processing",
            "billing": { "email": format!("{}@shop.example", mark.replace(' ', "-")) },
            "line_items": [{ "product_id": self.product, "quantity": quantity }],
            "meta_data": [{ "key": MARK, "value": mark }],
        });
        let headers = [("Authorization", self.authorization), ("Content-Type", "application/json")];
        let body = body.to_string();
        connection.request("POST", "/wp-json/wc/v3/orders", &headers, body.as_bytes())
    }
}

/// Every stored order with its total, by mark. **No mark is there twice.**
pub(crate) fn stored(ask: impl Fn(&str) -> Value) -> BTreeMap<String, (i64, String)> {
    let mut found = BTreeMap::new();
    for page in 1.. {
        let fields = "_fields=id,total,meta_data";
        let list = ask(&format!("wc/v3/orders?per_page={PER_PAGE}&page={page}&order=asc&{fields}"));
        let orders = list.as_array().unwrap();
        for order in orders {
            let metadata = order["meta_data"].as_array().unwrap();
            let mark = metadata.iter().find(|one| one["key"] == MARK).unwrap();
            let mark = mark["value"].as_str().unwrap().to_owned();
            let total = order["total"].as_str().unwrap().to_owned();
            let before = found.insert(mark, (order["id"].as_i64().unwrap(), total));
            assert!(before.is_none(), "an order is there twice: {order}");
        }
        if orders.len() < PER_PAGE {
            break;
        }
    }
    found
}

/// Compares what clients were told with what is there.
pub(crate) fn compare(placed: &[Placed], stored: &BTreeMap<String, (i64, String)>) {
    for Placed { mark, end } in placed {
        let found = stored.get(mark).map(|(id, _)| *id);
        match end {
            Placing::Acknowledged(id) => assert_eq!(found, Some(*id), "{mark} was acknowledged"),
            Placing::Refused(status) => assert_eq!(found, None, "{mark} got {status}"),
            Placing::Unanswered => {}
        }
    }
    let marks: Vec<&str> = placed.iter().map(|one| one.mark.as_str()).collect();
    let unknown = stored.keys().find(|mark| !marks.contains(&mark.as_str()));
    assert_eq!(unknown, None, "nobody placed this order");
}
