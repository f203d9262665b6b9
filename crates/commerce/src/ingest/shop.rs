//! A shop that is asked through the third version of its interface: which lists it has, in which
//! order they refer to each other, and how a request is proven to come from the holder of its key.

use std::collections::HashMap;
use std::time::Duration;

use frame::auth::{basic, oauth};
use frame::outbound::{Fetch, Method};
use serde_json::{Map, Value, json};
use types::{Error, Result, Secret, Timestamp};
use url::Url;

use super::{Record, RecordKind};

/// Categories that lie within each other.
const DEPTH_MAX: usize = 100;
/// Bytes of one page.
const PAGE_BYTES_MAX: usize = 64 * 1024 * 1024;
const TIMEOUT: Duration = Duration::from_mins(1);

/// By the beginning of a path, the parameter that tells how a record is kept. Shops calculate with
/// six decimals.
const AS_KEPT: &[(&str, &str, &str)] =
    &[("wc/v3/orders", "dp", "6"), ("wc/v3/products", "context", "edit")];

/// The lists of a shop in the order in which they refer to each other: what is asked for, whether
/// the list can be sorted by number and has pages, and whether it can be asked for what changed.
pub const LISTS: &[List] = &[
    List::whole(RecordKind::TaxClass, "taxes/classes"),
    List::sorted(RecordKind::TaxRate, "taxes"),
    List::sorted(RecordKind::ShippingClass, "products/shipping_classes"),
    List::whole(RecordKind::Category, "products/categories"),
    List::sorted(RecordKind::Tag, "products/tags"),
    List {
        below: Some((RecordKind::AttributeTerm, "terms")),
        ..List::whole(RecordKind::Attribute, "products/attributes")
    },
    List {
        below: Some((RecordKind::Variation, "variations")),
        ..List::changing(RecordKind::Product, "products")
    },
    List::sorted(RecordKind::Customer, "customers"),
    List::changing(RecordKind::Coupon, "coupons"),
    List {
        below: Some((RecordKind::Refund, "refunds")),
        ..List::changing(RecordKind::Order, "orders")
    },
];

/// A list of a shop.
#[derive(Clone, Copy, Debug)]
pub struct List {
    pub kind: RecordKind,
    pub path: &'static str,
    pub is_sorted: bool,
    pub tells_changes: bool,
    /// What belongs to each of the records, and where it is below them.
    pub below: Option<(RecordKind, &'static str)>,
}

impl List {
    const fn whole(kind: RecordKind, path: &'static str) -> Self {
        Self { kind, path, is_sorted: false, tells_changes: false, below: None }
    }

    const fn sorted(kind: RecordKind, path: &'static str) -> Self {
        Self { is_sorted: true, ..Self::whole(kind, path) }
    }

    const fn changing(kind: RecordKind, path: &'static str) -> Self {
        Self { tells_changes: true, ..Self::sorted(kind, path) }
    }

    /// What belongs to a record of the list: its kind, and the path at which the shop lists it.
    pub fn below(&self, item: &Map<String, Value>) -> Option<(RecordKind, String)> {
        let (kind, path) = self.below?;
        let has_more = match kind {
            RecordKind::Variation => item.get("type") == Some(&json!("variable")),
            RecordKind::Refund => {
                item.get("refunds").and_then(Value::as_array).is_some_and(|list| !list.is_empty())
            }
            _ => true,
        };
        let id = item.get("id").and_then(Value::as_i64).filter(|_| has_more)?;
        Some((kind, format!("{}/{id}/{path}", self.path)))
    }

    /// A record that belongs to the one with this number.
    pub fn inner(kind: RecordKind, above: i64, mut body: Map<String, Value>) -> Record {
        let field = if kind == RecordKind::AttributeTerm { "attribute_id" } else { "parent_id" };
        body.insert(field.to_owned(), json!(above));
        record(kind, body)
    }
}

/// The shop to ask.
#[derive(Debug)]
pub struct Shop {
    /// Its address, with or without the path of the interface.
    pub url: Url,
    pub consumer_key: String,
    pub consumer_secret: Secret<String>,
    /// Only what was changed after this, where the shop can tell.
    pub since: Option<Timestamp>,
}

impl Shop {
    /// A request below the REST root. Over TLS the key is sent as it is; without it the request is
    /// signed, and `nonce` makes the signature another one each time.
    pub fn request(
        &self,
        method: Method,
        path: &str,
        query: &str,
        (nonce, now): (u64, Timestamp),
    ) -> Result<Fetch> {
        let base = self.url.as_str().trim_end_matches('/');
        let base = base.strip_suffix("/wp-json").unwrap_or(base);
        let wrong = |error| Error::invalid("this is not a store URL").because(error);
        let mark = if query.is_empty() { "" } else { "?" };
        let mut url = Url::parse(&format!("{base}/wp-json/{path}{mark}{query}")).map_err(wrong)?;
        if method == Method::Get {
            ask_as_kept(path, &mut url);
        }
        let (key, secret) = (&self.consumer_key, &self.consumer_secret);
        let fetch = |url| Fetch { method, ..Fetch::get(url, PAGE_BYTES_MAX, TIMEOUT) };
        if url.scheme() == "https" {
            let mut fetch = fetch(url);
            let pair = basic::header(key, secret);
            fetch.headers.push((String::from("authorization"), pair));
            return Ok(fetch);
        }
        let nonce = format!("{}-{nonce}", now.as_micros());
        Ok(fetch(oauth::signed(method.name(), &url, (key, secret), &nonce, now)))
    }
}

/// Asks for records as the shop keeps them, not as it shows them: prices without rounding, texts
/// without the markup that is made from them.
fn ask_as_kept(path: &str, url: &mut Url) {
    let kept = AS_KEPT.iter().filter(|(list, ..)| path.starts_with(list));
    for (_, name, value) in kept {
        url.query_pairs_mut().append_pair(name, value);
    }
}

/// Categories, each after the one above it.
pub fn from_the_top(items: Vec<Map<String, Value>>) -> Vec<Map<String, Value>> {
    let number = |item: &Map<String, Value>, name: &str| item.get(name).and_then(Value::as_i64);
    let above: HashMap<Option<i64>, Option<i64>> =
        items.iter().map(|item| (number(item, "id"), number(item, "parent"))).collect();
    let depth = |item: &Map<String, Value>| {
        let next = |id: &Option<i64>| above.get(id).copied();
        std::iter::successors(Some(number(item, "parent")), next).take(DEPTH_MAX).count()
    };
    let mut items = items;
    items.sort_by_cached_key(depth);
    items
}

/// The number of a record is where it stands.
pub fn record(kind: RecordKind, body: Map<String, Value>) -> Record {
    let line = body.get("id").and_then(Value::as_u64).unwrap_or_default();
    Record { kind, body, line }
}
