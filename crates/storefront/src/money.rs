//! Amounts as the shop window writes them: whole numbers of the currency's minor unit, as texts,
//! beside what is needed to write them for people.

use commerce::common::amounts;
use frame::Options;
use serde_json::{Map, Value, json};
use types::Amount;

/// Decimals that an [`Amount`] has.
const DECIMALS_MAX: u32 = 6;

/// How the shop writes amounts.
#[derive(Clone, Debug)]
pub(crate) struct Money {
    pub(crate) decimals: u32,
    fields: Map<String, Value>,
}

impl Money {
    pub(crate) fn of(options: &Options) -> Self {
        Self::in_currency(options, &options.text("woocommerce_currency"))
    }

    pub(crate) fn in_currency(options: &Options, code: &str) -> Self {
        let decimals = amounts::decimals(options);
        let symbol = commerce::orders::currency_symbol(code);
        let (prefix, suffix) = match options.text("woocommerce_currency_pos").as_str() {
            "right" => (String::new(), symbol.clone()),
            "left_space" => (format!("{symbol} "), String::new()),
            "right_space" => (String::new(), format!(" {symbol}")),
            _ => (symbol.clone(), String::new()),
        };
        let fields = [
            ("currency_code", json!(code)),
            ("currency_symbol", json!(symbol)),
            ("currency_minor_unit", json!(decimals)),
            ("currency_decimal_separator", json!(options.text("woocommerce_price_decimal_sep"))),
            ("currency_thousand_separator", json!(options.text("woocommerce_price_thousand_sep"))),
            ("currency_prefix", json!(prefix)),
            ("currency_suffix", json!(suffix)),
        ];
        let fields = fields.map(|(name, value)| (name.to_owned(), value)).into_iter().collect();
        Self { decimals, fields }
    }

    /// The amount in the minor unit.
    pub(crate) fn minor(&self, amount: Amount) -> String {
        let unit = 10_i64.pow(DECIMALS_MAX.saturating_sub(self.decimals));
        amount.rounded(self.decimals).as_millionths().div_euclid(unit).to_string()
    }

    /// The amount that so many of the minor unit are; nothing for what is no whole number.
    pub(crate) fn amount(&self, minor: &str) -> Option<Amount> {
        let units: i64 = minor.trim().parse().ok()?;
        let unit = 10_i64.pow(DECIMALS_MAX.saturating_sub(self.decimals));
        units.checked_mul(unit).map(Amount::from_millionths)
    }

    /// These members, and how their amounts are written.
    pub(crate) fn with(&self, members: Value) -> Value {
        let Value::Object(mut members) = members else { return members };
        members.extend(self.fields.clone());
        Value::Object(members)
    }
}

/// An amount in the minor unit as people read it. `body` says how, as [`Money::with`] has it.
pub(crate) fn written(body: &Value, minor: &str) -> String {
    let text = |name: &str| body.get(name).and_then(Value::as_str).unwrap_or_default();
    let decimals = body.get("currency_minor_unit").and_then(Value::as_u64).unwrap_or_default();
    let decimals = usize::try_from(decimals).unwrap_or_default();
    let (sign, digits) = match minor.strip_prefix('-') {
        Some(digits) => ("-", digits),
        None => ("", minor),
    };
    let digits = format!("{digits:0>width$}", width = decimals + 1);
    let (whole, part) = digits.split_at_checked(digits.len() - decimals).unwrap_or((&digits, ""));
    let mut grouped = String::new();
    for (place, digit) in whole.chars().enumerate() {
        if place > 0 && (whole.len() - place).is_multiple_of(3) {
            grouped.push_str(text("currency_thousand_separator"));
        }
        grouped.push(digit);
    }
    let separator = if part.is_empty() { "" } else { text("currency_decimal_separator") };
    let (prefix, suffix) = (text("currency_prefix"), text("currency_suffix"));
    format!("{sign}{prefix}{grouped}{separator}{part}{suffix}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_whole_numbers_of_the_minor_unit() {
        frame::options::declare(&[commerce::options::DEFINITIONS]);
        let options = Options::default();
        let money = Money::of(&options);
        for (text, expected) in
            [("25", "2500"), ("19.999", "2000"), ("0.05", "5"), ("0", "0"), ("-1.5", "-150")]
        {
            assert_eq!(money.minor(text.parse().unwrap()), expected, "{text}");
        }
        assert_eq!(money.amount("4410"), "44.1".parse().ok());
        assert_eq!(money.amount("abc"), None);
        assert_eq!(money.amount("9223372036854775807"), None, "more than an amount can be");
        let shown = money.with(json!({ "price": "1" }));
        assert_eq!((&shown["price"], &shown["currency_prefix"]), (&json!("1"), &json!("$")));
    }

    #[test]
    fn people_read_amounts_as_the_shop_writes_them() {
        let body = |decimals: u32, prefix: &str, suffix: &str| {
            json!({
                "currency_minor_unit": decimals, "currency_decimal_separator": ",",
                "currency_thousand_separator": ".", "currency_prefix": prefix,
                "currency_suffix": suffix,
            })
        };
        for (minor, expected) in [
            ("0", "0,00 €"),
            ("5", "0,05 €"),
            ("123456", "1.234,56 €"),
            ("100000000", "1.000.000,00 €"),
            ("-150", "-1,50 €"),
        ] {
            assert_eq!(written(&body(2, "", " €"), minor), expected, "{minor}");
        }
        assert_eq!(written(&body(0, "¥", ""), "1500"), "¥1.500");
    }
}
