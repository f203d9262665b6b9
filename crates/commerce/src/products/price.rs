//! Prices: what a product costs now, and how a shop window shows it.

use frame::Options;
use frame::text::escaped;
use types::{Amount, Timestamp};

use super::record::{EXTERNAL, GROUPED, Product, SIMPLE, VARIABLE, amount_of};
use crate::data::tables;

/// Brings what follows from the prices up to date: the columns, whether there is a sale, and what
/// the product costs now. Prices of variable and grouped products come from others.
pub fn settle(product: &mut Product, now: Timestamp) {
    let (row, details) = (&mut product.row, &mut product.details);
    row.regular_price = amount_of(&details.regular_price);
    row.sale_price = amount_of(&details.sale_price);
    if matches!(row.kind.as_str(), VARIABLE | GROUPED) {
        return;
    }
    row.on_sale = is_lower(row.sale_price, row.regular_price)
        && row.sale_from.is_none_or(|from| from <= now)
        && row.sale_to.is_none_or(|to| to > now);
    let current = if row.on_sale { &details.sale_price } else { &details.regular_price };
    details.price = current.clone();
    row.price = amount_of(&details.price);
    row.price_max = row.price;
}

fn is_lower(sale: Option<Amount>, regular: Option<Amount>) -> bool {
    sale.is_some_and(|sale| sale < regular.unwrap_or_default())
}

/// The price as HTML; nothing without a price.
pub fn html(product: &Product, options: &Options) -> String {
    let row = &product.row;
    let Some(price) = row.price else { return String::new() };
    let highest = row.price_max.unwrap_or(price);
    let suffix = options.text("woocommerce_price_display_suffix");
    let suffix = if suffix.is_empty() {
        suffix
    } else {
        format!(" <small class=\"woocommerce-price-suffix\">{}</small>", escaped(&suffix))
    };
    let shown = if highest > price {
        format!("{} &ndash; {}", amount(price, options), amount(highest, options))
    } else if row.on_sale && matches!(row.kind.as_str(), SIMPLE | EXTERNAL | "variation") {
        let before = amount(row.regular_price.unwrap_or_default(), options);
        format!("<del>{before}</del> <ins>{}</ins>", amount(price, options))
    } else {
        amount(price, options)
    };
    format!("{shown}{suffix}")
}

/// An amount of money as HTML, in the shop's currency and spelling.
fn amount(amount: Amount, options: &Options) -> String {
    marked_amount(amount, options, "")
}

/// The same for places where nothing in it shall be translated.
pub(crate) fn amount_html(amount: Amount, options: &Options) -> String {
    marked_amount(amount, options, " translate=\"no\"")
}

fn marked_amount(amount: Amount, options: &Options, mark: &str) -> String {
    let code = options.text("woocommerce_currency");
    let symbol = tables::currency(&code).map_or(code.as_str(), |currency| currency.symbol);
    let symbol = format!("<span class=\"woocommerce-Price-currencySymbol\"{mark}>{symbol}</span>");
    let sign = if amount.is_negative() { "-" } else { "" };
    let number = number(amount.abs(), options);
    let text = match options.text("woocommerce_currency_pos").as_str() {
        "right" => format!("{sign}{number}{symbol}"),
        "left_space" => format!("{sign}{symbol}&nbsp;{number}"),
        "right_space" => format!("{sign}{number}&nbsp;{symbol}"),
        _ => format!("{sign}{symbol}{number}"),
    };
    format!("<span class=\"woocommerce-Price-amount amount\"><bdi>{text}</bdi></span>")
}

fn number(amount: Amount, options: &Options) -> String {
    let text = amount.to_text(crate::common::amounts::decimals(options));
    let (whole, fraction) = text.split_once('.').unwrap_or((&text, ""));
    let separator = escaped(&options.text("woocommerce_price_thousand_sep"));
    let mut grouped = String::new();
    for (place, digit) in whole.chars().enumerate() {
        if place > 0 && (whole.len() - place).is_multiple_of(3) {
            grouped.push_str(&separator);
        }
        grouped.push(digit);
    }
    if fraction.is_empty() {
        return grouped;
    }
    format!("{grouped}{}{fraction}", escaped(&options.text("woocommerce_price_decimal_sep")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn priced(regular: &str, sale: &str) -> Product {
        let mut product = Product::new(SIMPLE);
        product.details.regular_price = regular.to_owned();
        product.details.sale_price = sale.to_owned();
        settle(&mut product, Timestamp::from_micros(0));
        product
    }

    #[test]
    fn a_sale_is_a_lower_price_within_its_dates() {
        for (regular, sale, expected) in [
            ("20", "", ("20", false)),
            ("20", "15.50", ("15.50", true)),
            ("20", "20", ("20", false)),
            ("20", "25", ("20", false)),
            ("20", "0", ("0", true)),
            ("", "5", ("", false)),
            ("", "", ("", false)),
        ] {
            let product = priced(regular, sale);
            let found = (product.details.price.as_str(), product.row.on_sale);
            assert_eq!(found, expected, "{regular} {sale}");
        }
        let mut product = priced("20", "15");
        for (from, to, expected) in [(None, Some(9), false), (Some(11), None, false)] {
            product.row.sale_from = from.map(Timestamp::from_micros);
            product.row.sale_to = to.map(Timestamp::from_micros);
            settle(&mut product, Timestamp::from_micros(10));
            assert_eq!(product.row.on_sale, expected);
        }
        product.row.sale_from = Some(Timestamp::from_micros(10));
        product.row.sale_to = Some(Timestamp::from_micros(11));
        settle(&mut product, Timestamp::from_micros(10));
        assert!(product.row.on_sale, "the first moment is one of the sale");
    }

    #[test]
    fn a_price_is_shown_in_the_shops_spelling() {
        let options = crate::options::defaults();
        let html = html(&priced("1234.5", ""), &options);
        assert!(html.contains("&#36;</span>1,234.50</bdi>"), "{html}");
        assert_eq!(super::html(&priced("", ""), &options), "");
        assert!(super::html(&priced("2", "1"), &options).starts_with("<del>"));
    }
}
