//! Exact amounts: whole numbers of millionths, as records write them and as reports show them.

use serde_json::Value;

/// An amount in millionths.
pub(super) type Millionths = i64;

const DIGITS: usize = 6;
const ONE: i64 = 1_000_000;

/// Reads `-12.5`, as a text or as a number.
pub(super) fn amount(value: &Value) -> Millionths {
    match value {
        Value::String(text) => parse(text),
        Value::Number(number) => parse(&number.to_string()),
        Value::Null => 0,
        other => panic!("{other} is no amount"),
    }
}

pub(super) fn parse(text: &str) -> Millionths {
    let (sign, digits) = match text.strip_prefix('-') {
        Some(digits) => (-1, digits),
        None => (1, text),
    };
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    assert!(fraction.len() <= DIGITS, "{text} has more decimals than are compared");
    let number = |text: &str| -> i64 {
        if text.is_empty() { 0 } else { text.parse().unwrap_or_else(|_| panic!("`{text}`")) }
    };
    sign * (number(whole) * ONE + number(&format!("{fraction:0<DIGITS$}")))
}

/// As records write it, with so many decimals.
pub(super) fn text(value: Millionths, decimals: u32) -> String {
    let unit = 10_i64.pow(6 - decimals);
    let units = rounded(value, decimals) / unit;
    let base = 10_i64.pow(decimals);
    let sign = if units < 0 { "-" } else { "" };
    let (whole, rest) = (units.abs() / base, units.abs() % base);
    let width = usize::try_from(decimals).unwrap();
    if decimals == 0 { format!("{sign}{whole}") } else { format!("{sign}{whole}.{rest:0>width$}") }
}

/// To so many decimals; halves go away from zero.
pub(super) fn rounded(value: Millionths, decimals: u32) -> Millionths {
    let unit = i128::from(10_i64.pow(6 - decimals));
    i64::try_from(divided(i128::from(value), unit) * unit).unwrap()
}

/// The part of a sum that belongs to `own` of `all` pieces.
pub(super) fn share(sum: Millionths, all: i64, own: i64) -> Millionths {
    if all == 0 {
        return 0;
    }
    i64::try_from(divided(i128::from(sum) * i128::from(own), i128::from(all))).unwrap()
}

/// The nearest whole number; halves go away from zero.
fn divided(number: i128, by: i128) -> i128 {
    let sign = number.signum() * by.signum();
    let (number, by) = (number.abs(), by.abs());
    sign * ((2 * number + by) / (2 * by))
}

/// As a number of an answer.
pub(super) fn shown(value: Millionths) -> Value {
    Value::from(float(value))
}

/// In units.
pub(super) fn float(value: Millionths) -> f64 {
    whole(value) / 1e6
}

/// So much to each of so many; nothing to none.
pub(super) fn average(sum: Millionths, count: i64) -> Value {
    Value::from(if count == 0 { 0.0 } else { float(sum) / whole(count) })
}

/// So many to each of so many, with the four decimals that reports show.
pub(super) fn ratio(sum: i64, count: i64) -> Value {
    Value::from(if count == 0 { 0.0 } else { (whole(sum) / whole(count) * 1e4).round() / 1e4 })
}

#[expect(clippy::as_conversions, clippy::cast_precision_loss, reason = "amounts fit 53 bits")]
pub(super) fn whole(value: i64) -> f64 {
    value as f64
}
