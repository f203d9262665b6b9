//! The loose typing that clients of this dialect count on: numbers in text, lists in text, maps
//! with numbered keys that are lists. Every conversion of a scalar is decided here, once.

use std::borrow::Cow;

use serde_json::{Map, Number, Value};

/// Whitespace in the sense of the dialect: ASCII only, with the vertical tab.
pub(super) fn is_space(character: char) -> bool {
    matches!(character, ' ' | '\t' | '\n' | '\r' | '\u{b}' | '\u{c}')
}

/// Whether a character stands between the items of a list that is written as text.
fn separates(character: char) -> bool {
    character == ',' || is_space(character)
}

/// The items of a list that is written as text: `1, 2 3` has three.
pub fn split_list(text: &str) -> impl Iterator<Item = &str> {
    text.split(separates).filter(|item| !item.is_empty())
}

/// The number that a value stands for: a JSON number, or text with nothing but a decimal number and
/// surrounding spaces. May be infinite when the text is out of range.
pub fn numeric(value: &Value) -> Option<f64> {
    match value {
        Value::Number(number) => number.as_f64(),
        Value::String(text) => {
            let number = numeric_text(text)?;
            number.parse().ok()
        }
        _ => None,
    }
}

/// Whether a value counts as a whole number: `12`, `"12 "`, `1.0` and `"1e3"` do.
pub fn is_whole(value: &Value) -> bool {
    numeric(value).is_some_and(|number| number.is_infinite() || number.fract() == 0.0)
}

/// The whole number that a value is converted to. Text counts as far as it begins with a number;
/// what is out of range becomes the nearest number in range, what is no number becomes 0.
pub fn to_int(value: &Value) -> i64 {
    match value {
        Value::Null => 0,
        Value::Bool(flag) => i64::from(*flag),
        Value::Number(number) => match number.as_i64() {
            Some(whole) => whole,
            None => truncate(number.as_f64().unwrap_or_default()),
        },
        Value::String(text) => {
            let (number, _) = split_number(text);
            match number.parse::<i64>() {
                Ok(whole) => whole,
                Err(_) => truncate(number.parse().unwrap_or_default()),
            }
        }
        Value::Array(items) => i64::from(!items.is_empty()),
        Value::Object(members) => i64::from(!members.is_empty()),
    }
}

/// The number that a value is converted to, by the rules of [`to_int`]; never infinite.
pub fn to_float(value: &Value) -> f64 {
    let number = match value {
        Value::Number(number) => number.as_f64().unwrap_or_default(),
        Value::String(text) => split_number(text).0.parse().unwrap_or_default(),
        other => return Number::from(to_int(other)).as_f64().unwrap_or_default(),
    };
    number.clamp(f64::MIN, f64::MAX)
}

/// The truth value that a value is converted to.
pub fn to_bool(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Bool(flag) => *flag,
        Value::Number(number) => number.as_f64() != Some(0.0),
        Value::String(text) => {
            !(text.is_empty() || text == "0" || text.eq_ignore_ascii_case("false"))
        }
        Value::Array(items) => !items.is_empty(),
        Value::Object(members) => !members.is_empty(),
    }
}

/// The text of a scalar; nothing for null, lists and maps.
pub fn scalar_text(value: &Value) -> Option<Cow<'_, str>> {
    match value {
        Value::String(text) => Some(Cow::Borrowed(text)),
        Value::Bool(true) => Some(Cow::Borrowed("1")),
        Value::Bool(false) => Some(Cow::Borrowed("")),
        Value::Number(number) => Some(Cow::Owned(number_text(number))),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

/// A number as text, without the fraction of a float that has none.
fn number_text(number: &Number) -> String {
    let text = number.to_string();
    match text.strip_suffix(".0") {
        Some(whole) => whole.to_owned(),
        None => text,
    }
}

/// Whether every key is a whole number in its plain spelling: then the map counts as a list.
pub fn has_numbered_keys(members: &Map<String, Value>) -> bool {
    members.keys().all(|key| is_index(key))
}

/// Whether a key is a whole number in its plain spelling: `7` and `-7`, not `07` or `+7`.
pub(super) fn is_index(key: &str) -> bool {
    index(key).is_some()
}

pub(super) fn index(key: &str) -> Option<i64> {
    let digits = key.strip_prefix('-').unwrap_or(key);
    let first = digits.bytes().next()?;
    if !first.is_ascii_digit() || (first == b'0' && key.len() > 1) {
        return None;
    }
    key.parse().ok()
}

/// The fraction is cut off, and what is out of range becomes the nearest number in range.
fn truncate(number: f64) -> i64 {
    if number.is_nan() {
        return 0;
    }
    let out_of_range = if number < 0.0 { i64::MIN } else { i64::MAX };
    format!("{:.0}", number.trunc()).parse().unwrap_or(out_of_range)
}

/// The number in a text that holds nothing else.
fn numeric_text(text: &str) -> Option<&str> {
    let (number, rest) = split_number(text);
    let complete = !number.is_empty() && rest.chars().all(is_space);
    complete.then_some(number)
}

/// Splits a text after the decimal number it begins with, which is empty when there is none.
fn split_number(text: &str) -> (&str, &str) {
    let text = text.trim_start_matches(is_space);
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let after_whole = skip_digits(unsigned);
    let whole_digits = unsigned.len() - after_whole.len();
    let mut rest = after_whole;
    let mut fraction_digits = 0;
    if let Some(fraction) = after_whole.strip_prefix('.') {
        let after_fraction = skip_digits(fraction);
        fraction_digits = fraction.len() - after_fraction.len();
        if whole_digits + fraction_digits > 0 {
            rest = after_fraction;
        }
    }
    if whole_digits + fraction_digits == 0 {
        return ("", text);
    }
    if let Some(exponent) = rest.strip_prefix(['e', 'E']) {
        let digits = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
        let after_exponent = skip_digits(digits);
        if after_exponent.len() < digits.len() {
            rest = after_exponent;
        }
    }
    text.split_at_checked(text.len() - rest.len()).unwrap_or(("", text))
}

fn skip_digits(text: &str) -> &str {
    text.trim_start_matches(|character: char| character.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn numbers_in_text() {
        for (text, expected) in [
            ("12 ", Some(12.0)),
            (" \t-7\n", Some(-7.0)),
            ("+5", Some(5.0)),
            ("1e3", Some(1000.0)),
            (".5", Some(0.5)),
            ("5.", Some(5.0)),
            ("1.5E-1", Some(0.15)),
            ("1e999", Some(f64::INFINITY)),
            ("", None),
            (" ", None),
            (".", None),
            ("-", None),
            ("0x1A", None),
            ("1e", None),
            ("1 2", None),
            ("inf", None),
            ("nan", None),
            ("1_000", None),
            ("١", None),
        ] {
            assert_eq!(numeric(&json!(text)), expected, "{text:?}");
        }
    }

    #[test]
    fn casts_to_whole_numbers() {
        for (value, expected) in [
            (json!("12abc"), 12),
            (json!("abc"), 0),
            (json!("1e3x"), 1000),
            (json!("9223372036854775808"), i64::MAX),
            (json!("-9223372036854775809"), i64::MIN),
            (json!("1e999"), i64::MAX),
            (json!(1.9), 1),
            (json!(-1.9), -1),
            (json!(u64::MAX), i64::MAX),
            (json!(true), 1),
            (json!(null), 0),
            (json!([]), 0),
            (json!({"a": 1}), 1),
        ] {
            assert_eq!(to_int(&value), expected, "{value}");
        }
    }

    #[test]
    fn keys_that_are_numbers() {
        for key in ["0", "7", "-7", "1000"] {
            assert!(is_index(key), "{key}");
        }
        for key in ["", "-", "07", "+7", "-0", "1.0", "a", "9223372036854775808"] {
            assert!(!is_index(key), "{key}");
        }
    }
}
