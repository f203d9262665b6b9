//! Amounts of orders as people read them, and the ways in which they are rounded.

use frame::Options;
use types::Amount;

use crate::data::tables;

/// The sign of a currency as plain text; nothing for a code that is not in the table.
pub fn symbol(code: &str) -> String {
    tables::currency(code).map(|currency| plain(currency.symbol)).unwrap_or_default()
}

/// An amount with its currency, as the shop writes prices.
pub(super) fn formatted(options: &Options, amount: Amount, currency: &str) -> String {
    let decimals = crate::common::amounts::decimals(options);
    let text = amount.abs().to_text(decimals);
    let (whole, fraction) = text.split_once('.').unwrap_or((&text, ""));
    let thousands = options.text("woocommerce_price_thousand_sep");
    let mut number = grouped(whole, &thousands);
    if !fraction.is_empty() {
        number.push_str(&options.text("woocommerce_price_decimal_sep"));
        number.push_str(fraction);
    }
    let symbol = symbol(currency);
    let priced = match options.text("woocommerce_currency_pos").as_str() {
        "right" => format!("{number}{symbol}"),
        "left_space" => format!("{symbol}\u{a0}{number}"),
        "right_space" => format!("{number}\u{a0}{symbol}"),
        _ => format!("{symbol}{number}"),
    };
    if amount.is_negative() { format!("-{priced}") } else { priced }
}

fn grouped(digits: &str, separator: &str) -> String {
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push_str(separator);
        }
        text.push(digit);
    }
    text
}

/// The text without HTML's spellings of characters.
fn plain(html: &str) -> String {
    let mut text = String::new();
    let mut rest = html;
    while let Some(start) = rest.find('&') {
        let (before, tail) = rest.split_at(start);
        text.push_str(before);
        let entity = tail.split_once(';').and_then(|(name, after)| Some((letter(name)?, after)));
        let Some((letter, after)) = entity else {
            text.push_str(tail);
            return text;
        };
        text.push(letter);
        rest = after;
    }
    text.push_str(rest);
    text
}

fn letter(entity: &str) -> Option<char> {
    let number =
        |digits: &str, base: u32| u32::from_str_radix(digits, base).ok().and_then(char::from_u32);
    match entity {
        "&pound" => Some('£'),
        "&euro" => Some('€'),
        "&yen" => Some('¥'),
        "&fnof" => Some('ƒ'),
        "&nbsp" => Some('\u{a0}'),
        _ => match entity.strip_prefix("&#")? {
            hexadecimal if hexadecimal.starts_with('x') => number(hexadecimal.get(1..)?, 16),
            decimal => number(decimal, 10),
        },
    }
}

/// How taxes and discounts are rounded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Half {
    /// Away from zero.
    Up,
    /// Towards zero.
    Down,
}

/// Rounds to so many decimals.
pub(super) fn round(amount: Amount, decimals: u32, half: Half) -> Amount {
    let up = amount.rounded(decimals);
    let step = unit(decimals).as_millionths();
    let is_half = amount.as_millionths().rem_euclid(step).saturating_mul(2) == step;
    if half == Half::Up || !is_half || step == 1 {
        return up;
    }
    let down = amount.as_millionths().div_euclid(step);
    let down = if amount.is_negative() { down + 1 } else { down };
    Amount::from_millionths(down.saturating_mul(step))
}

/// Rounds down to so many decimals; for amounts that are not negative.
pub(super) fn floor(amount: Amount, decimals: u32) -> Amount {
    let step = unit(decimals).as_millionths();
    Amount::from_millionths(amount.as_millionths().div_euclid(step).saturating_mul(step))
}

/// The least amount that has so many decimals.
pub(super) fn unit(decimals: u32) -> Amount {
    Amount::from_millionths(10_i64.pow(6_u32.saturating_sub(decimals)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn amount(text: &str) -> Amount {
        text.parse().unwrap()
    }

    #[test]
    fn signs_of_currencies_are_plain_text() {
        for (code, expected) in
            [("USD", "$"), ("GBP", "£"), ("EUR", "€"), ("CHF", "CHF"), ("AED", "د.إ"), ("??", "")]
        {
            assert_eq!(symbol(code), expected, "{code}");
        }
    }

    #[test]
    fn prices_are_grouped() {
        let options = crate::options::defaults();
        for (text, expected) in [
            ("1522.68", "$1,522.68"),
            ("0", "$0.00"),
            ("-2", "-$2.00"),
            ("123456789.5", "$123,456,789.50"),
            ("999", "$999.00"),
        ] {
            assert_eq!(formatted(&options, amount(text), "USD"), expected);
        }
    }

    #[test]
    fn halves_go_where_they_are_told() {
        for (text, up, down) in [
            ("1.005", "1.01", "1"),
            ("1.0051", "1.01", "1.01"),
            ("1.0049", "1", "1"),
            ("-1.005", "-1.01", "-1"),
            ("-1.0051", "-1.01", "-1.01"),
            ("0", "0", "0"),
        ] {
            assert_eq!(round(amount(text), 2, Half::Up), amount(up), "{text}");
            assert_eq!(round(amount(text), 2, Half::Down), amount(down), "{text}");
        }
        assert_eq!(floor(amount("1.009999"), 2), amount("1"));
        assert_eq!(round(amount("0.0000005"), 6, Half::Down), amount("0.000001"));
    }
}
