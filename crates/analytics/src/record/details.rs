//! The details of records, as far as facts follow from them.

use memchr::memmem;
use serde::Deserialize;
use serde_json::Value;
use shop_rows::order::figures::{ItemFigures, OrderFigures};
use types::{Amount, Error, Result};

use super::Rules;

/// Attributes of a line that count, and bytes of the name or value of one.
const ATTRIBUTES_MAX: usize = 32;
const ATTRIBUTE_LENGTH_MAX: usize = 256;

/// How the member with entries is written.
const ENTRIES: &[u8] = b"\"meta_data\"";

/// An entry that anybody may have added to a record.
#[derive(Debug, Deserialize)]
struct Entry {
    key: String,
    #[serde(default)]
    value: Value,
}

fn entry<'a>(entries: &'a [Entry], key: &str) -> Option<&'a Value> {
    entries.iter().find(|entry| entry.key == key).map(|entry| &entry.value)
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct OrderDetails {
    meta_data: Vec<Entry>,
}

impl OrderDetails {
    pub(crate) fn read(order: &OrderFigures) -> Result<Self> {
        // Addresses and notes are long, and most orders have no entries.
        if memmem::find(order.details.as_bytes(), ENTRIES).is_none() {
            return Ok(Self::default());
        }
        read(&order.details)
    }

    /// Whether no money moved, since the payment service was being tried out.
    pub(crate) fn is_test(&self) -> bool {
        entry(&self.meta_data, "_wcpay_mode").is_some_and(|mode| mode == "test")
    }

    /// Whether a refund was made to pay all back that was left.
    pub(crate) fn is_full_refund(&self) -> bool {
        entry(&self.meta_data, "_refund_type").is_some_and(|kind| kind == "full")
    }
}

/// What one rate takes of a line.
#[derive(Debug, Deserialize)]
struct TaxShare {
    rate_id: i64,
    total: Amount,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct LineDetails {
    meta_data: Vec<Entry>,
    taxes: Vec<TaxShare>,
    pub(crate) rate_percent: Option<Amount>,
    pub(crate) shipping_tax: Option<Amount>,
}

impl LineDetails {
    pub(crate) fn read(item: &ItemFigures) -> Result<Self> {
        read(&item.details)
    }

    /// What the rates take of the line.
    pub(crate) fn tax(&self, rates: &[i64]) -> Amount {
        let of_rate = |rate: &i64| {
            let own = self.taxes.iter().find(|share| share.rate_id == *rate);
            own.map(|share| share.total).unwrap_or_default()
        };
        rates.iter().map(of_rate).sum()
    }

    /// What the rates take of the line, as it is written down.
    pub(crate) fn rounded_tax(&self, rules: Rules, rates: &[i64]) -> Amount {
        let tax = self.tax(rates);
        if rules.rounds_taxes_late { tax } else { tax.rounded(rules.decimals) }
    }

    /// The line of the order that a line of a refund is about.
    pub(crate) fn refunded_item(&self) -> Option<i64> {
        number(entry(&self.meta_data, "_refunded_item_id")?)
    }

    /// The id of a coupon, as it was noted when the coupon was used.
    pub(crate) fn coupon_id(&self) -> Option<i64> {
        let noted = entry(&self.meta_data, "coupon_info").and_then(Value::as_str);
        let noted: Option<Value> = noted.and_then(|text| serde_json::from_str(text).ok());
        let first = noted.as_ref().and_then(|list| list.get(0)).and_then(number);
        let older = entry(&self.meta_data, "coupon_data").and_then(|data| data.get("id"));
        first.or_else(|| older.and_then(number)).filter(|id| *id > 0)
    }

    /// What was chosen, by name. Entries that programs keep for themselves begin with `_`.
    pub(crate) fn attributes(&self) -> Vec<(String, String)> {
        let chosen = self.meta_data.iter().filter_map(|entry| {
            let value = entry.value.as_str()?;
            let is_short = entry.key.len().max(value.len()) <= ATTRIBUTE_LENGTH_MAX;
            let counts = is_short && !entry.key.starts_with('_');
            counts.then(|| (entry.key.clone(), value.to_owned()))
        });
        let mut attributes: Vec<(String, String)> = chosen.take(ATTRIBUTES_MAX).collect();
        attributes.sort();
        attributes
    }
}

/// A number that may be written as a text.
fn number(value: &Value) -> Option<i64> {
    value.as_i64().or_else(|| value.as_str()?.trim().parse().ok())
}

fn read<'a, T: Deserialize<'a>>(text: &'a str) -> Result<T> {
    serde_json::from_str(text)
        .map_err(|error| Error::internal("the details of an order are damaged").because(error))
}
