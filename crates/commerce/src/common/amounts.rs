//! Amounts as texts: read as generously as clients are used to, written with fixed decimals.

use contract::rest::check::ParamError;
use contract::rest::params::invalid_params;
use contract::rest::{Refusal, Schema, loose};
use frame::Options;
use serde_json::{Value, json};
use types::Amount;

/// The greatest amount of money that a request may name, and all lines of an order together: far
/// beyond any sale, and far below what an [`Amount`] holds, so that sums of orders stay exact.
pub const MONEY_MAX: i64 = 100_000_000_000;
/// Pieces of one line at most.
pub const QUANTITY_MAX: i64 = 1_000_000_000;

/// Refuses a number that is greater than `most`, whatever its sign. What is no number is left to
/// whoever reads it. `param` is the way to it, such as `line_items[0][total]`.
pub fn check(param: &str, value: Option<&Value>, most: i64) -> Result<(), Refusal> {
    let size = value.map(loose::to_float).unwrap_or_default().abs();
    if size <= Amount::from_whole(most).to_f64() {
        return Ok(());
    }
    let outermost = param.split('[').next().unwrap_or(param);
    Err(wrong(outermost, format!("{param} must be at most {most}.")))
}

/// The refusal of a parameter that is wrong by itself.
pub fn wrong(param: &str, message: impl Into<String>) -> Refusal {
    invalid_params(vec![(param.to_owned(), Some(ParamError::new("rest_invalid_param", message)))])
}

/// Decimals that the site shows.
pub fn decimals(options: &Options) -> u32 {
    u32::try_from(options.integer("woocommerce_price_num_decimals")).unwrap_or(2).min(6)
}

/// Reads an amount, with an exponent or without; what is none is zero, and blanks are nothing at
/// all.
pub fn read(value: &Value) -> Option<Amount> {
    let text = loose::scalar_text(value)?;
    let text = text.trim();
    if text.is_empty() {
        return None;
    }
    let by_exponent = || loose::numeric(value).and_then(Amount::from_f64);
    Some(Amount::parse(text).or_else(by_exponent).unwrap_or_default())
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
