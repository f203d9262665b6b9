//! Amounts as texts: read as generously as clients are used to, written with fixed decimals.

use contract::rest::{Schema, loose};
use serde_json::{Value, json};
use site::Options;
use types::Amount;

/// Decimals that the site shows.
pub fn decimals(options: &Options) -> u32 {
    u32::try_from(options.integer("woocommerce_price_num_decimals")).unwrap_or(2).min(6)
}

/// Reads an amount; what is none is zero, and blanks are nothing at all.
pub fn read(value: &Value) -> Option<Amount> {
    let text = loose::scalar_text(value)?;
    let text = text.trim();
    if text.is_empty() {
        return None;
    }
    Some(Amount::parse(text).unwrap_or_default())
}

/// An amount with the decimals of the site; nothing is an empty text.
pub fn written(amount: Option<Amount>, decimals: u32) -> Value {
    json!(amount.map(|amount| amount.to_text(decimals)).unwrap_or_default())
}

/// A JSON number, whole if it is.
pub fn number(amount: Amount) -> Value {
    if amount.rounded(0) == amount { json!(amount.to_whole()) } else { json!(amount.to_f64()) }
}

/// An amount in a request: a number, or a text with one.
pub fn schema(about: &str) -> Schema {
    Schema::types(&["number", "string"]).about(about)
}
