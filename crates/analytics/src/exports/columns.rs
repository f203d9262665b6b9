//! What a row of an export consists of: a heading, and where in the report's own row its value is.
//! **A column is written down once**; every format of a file follows it.

use std::collections::BTreeMap;

use contract::rest::Stop;
use frame::Call;
use serde_json::Value;

use super::Export;
use crate::known;

/// Between several values in one cell.
const COMMA: &str = ", ";
const NOT_KNOWN: &str = "N/A";

/// What a column holds, for formats that have types.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Text,
    /// A day and time in the site's time zone, written as text.
    Moment,
    Whole,
    Real,
    /// An amount in the shop's currency, with all its decimals.
    Amount,
    /// An amount in the shop's currency, rounded to its decimals where it is text.
    Money,
}

/// The value of a column in one row.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    Nothing,
    Text(String),
    Whole(i64),
    Real(f64),
    Money(f64),
}

/// Where a value comes from.
#[derive(Clone, Copy, Debug)]
enum From {
    /// A place in the row.
    Pointer(&'static str),
    Made(fn(&Value, &More) -> Cell),
}

#[derive(Clone, Copy, Debug)]
pub struct Column {
    pub heading: &'static str,
    pub kind: Kind,
    from: From,
}

const fn column(heading: &'static str, kind: Kind, place: &'static str) -> Column {
    Column { heading, kind, from: From::Pointer(place) }
}

const fn text(heading: &'static str, place: &'static str) -> Column {
    column(heading, Kind::Text, place)
}

const fn whole(heading: &'static str, place: &'static str) -> Column {
    column(heading, Kind::Whole, place)
}

const fn real(heading: &'static str, place: &'static str) -> Column {
    column(heading, Kind::Real, place)
}

const fn moment(heading: &'static str, place: &'static str) -> Column {
    column(heading, Kind::Moment, place)
}

const fn amount(heading: &'static str, place: &'static str) -> Column {
    column(heading, Kind::Amount, place)
}

const fn money(heading: &'static str, place: &'static str) -> Column {
    column(heading, Kind::Money, place)
}

const fn made(heading: &'static str, kind: Kind, make: fn(&Value, &More) -> Cell) -> Column {
    Column { heading, kind, from: From::Made(make) }
}

pub(super) const ORDERS: &[Column] = &[
    moment("Date", "/date"),
    text("Order #", "/order_number"),
    text("N. Revenue (formatted)", "/total_formatted"),
    text("Status", "/status"),
    made("Customer", Kind::Text, customer),
    text("Customer type", "/customer_type"),
    made("Product(s)", Kind::Text, |row, _| {
        list(row, "/extended_info/products", |product| {
            format!("{}× {}", plain(product, "/quantity"), plain(product, "/name"))
        })
    }),
    whole("Items sold", "/num_items_sold"),
    made("Coupon(s)", Kind::Text, |row, _| {
        list(row, "/extended_info/coupons", |coupon| plain(coupon, "/code"))
    }),
    amount("Net Sales", "/net_total"),
    text("Attribution", "/extended_info/attribution/origin"),
];

pub(super) const REVENUE: &[Column] = &[
    moment("Date", "/date_start"),
    whole("Orders", "/subtotals/orders_count"),
    money("Gross sales", "/subtotals/gross_sales"),
    money("Returns", "/subtotals/refunds"),
    money("Coupons", "/subtotals/coupons"),
    money("Net sales", "/subtotals/net_revenue"),
    money("Taxes", "/subtotals/taxes"),
    money("Shipping", "/subtotals/shipping"),
    money("Total sales", "/subtotals/total_sales"),
];

pub(super) const PRODUCTS: &[Column] = &[
    text("Product title", "/extended_info/name"),
    text("SKU", "/extended_info/sku"),
    whole("Items sold", "/items_sold"),
    amount("N. Revenue", "/net_revenue"),
    whole("Orders", "/orders_count"),
    made("Category", Kind::Text, categories),
    made("Variations", Kind::Whole, |row, _| {
        let variations = row.pointer("/extended_info/variations").and_then(Value::as_array);
        Cell::Whole(variations.map_or(0, |all| i64::try_from(all.len()).unwrap_or(i64::MAX)))
    }),
];

pub(super) const STOCK_OF_PRODUCTS: &[Column] = &[
    made("Status", Kind::Text, |row, _| counted(row, |row| stock(row, "/extended_info"))),
    made("Stock", Kind::Text, |row, _| {
        counted(row, |row| cell(row, "/extended_info/stock_quantity", Kind::Real))
    }),
];

pub(super) const VARIATIONS: &[Column] = &[
    made("Product / Variation title", Kind::Text, variation),
    text("SKU", "/extended_info/sku"),
    whole("Items sold", "/items_sold"),
    money("N. Revenue", "/net_revenue"),
    whole("Orders", "/orders_count"),
];

pub(super) const STOCK_OF_VARIATIONS: &[Column] = &[
    made("Status", Kind::Text, |row, _| stock(row, "/extended_info")),
    real("Stock", "/extended_info/stock_quantity"),
];

pub(super) const CATEGORIES: &[Column] = &[
    text("Category", "/extended_info/name"),
    whole("Items sold", "/items_sold"),
    amount("Net Revenue", "/net_revenue"),
    whole("Products", "/products_count"),
    whole("Orders", "/orders_count"),
];

pub(super) const COUPONS: &[Column] = &[
    text("Coupon code", "/extended_info/code"),
    whole("Orders", "/orders_count"),
    amount("Amount discounted", "/amount"),
    moment("Created", "/extended_info/date_created"),
    made("Expires", Kind::Moment, |row, _| match plain(row, "/extended_info/date_expires") {
        none if none.is_empty() => Cell::Text(NOT_KNOWN.to_owned()),
        date => Cell::Text(date),
    }),
    text("Type", "/extended_info/discount_type"),
];

pub(super) const TAXES: &[Column] = &[
    made("Tax code", Kind::Text, |row, _| {
        let parts = ["/country", "/state", "/name", "/priority"].map(|place| plain(row, place));
        Cell::Text(parts.join("-"))
    }),
    real("Rate", "/tax_rate"),
    money("Total tax", "/total_tax"),
    money("Order tax", "/order_tax"),
    money("Shipping tax", "/shipping_tax"),
    whole("Orders", "/orders_count"),
];

pub(super) const CUSTOMERS: &[Column] = &[
    text("Name", "/name"),
    text("Username", "/username"),
    moment("Last Active", "/date_last_active"),
    moment("Sign Up", "/date_registered"),
    text("Email", "/email"),
    whole("Orders", "/orders_count"),
    money("Total Spend", "/total_spend"),
    money("AOV", "/avg_order_value"),
    text("Country / Region", "/country"),
    text("City", "/city"),
    text("Region", "/state"),
    text("Postal Code", "/postcode"),
];

pub(super) const STOCK: &[Column] = &[
    text("Product / Variation", "/name"),
    text("SKU", "/sku"),
    made("Status", Kind::Text, |row, _| stock(row, "")),
    real("Stock", "/stock_quantity"),
];

pub(super) const DOWNLOADS: &[Column] = &[
    moment("Date", "/date"),
    made("Product title", Kind::Text, |row, more| {
        let id = row.get("product_id").and_then(Value::as_i64).unwrap_or_default();
        more.names.get(&id).map_or(Cell::Nothing, |name| Cell::Text(name.clone()))
    }),
    text("File name", "/file_name"),
    text("Order #", "/order_number"),
    text("User Name", "/username"),
    text("IP", "/ip_address"),
];

impl Column {
    /// Its value in a row of the report.
    pub(super) fn cell(&self, row: &Value, more: &More) -> Cell {
        match self.from {
            From::Pointer(place) => cell(row, place, self.kind),
            From::Made(make) => make(row, more),
        }
    }

    /// The heading as programs spell names.
    pub fn key(&self) -> String {
        let heading = self.heading.replace("(s)", "s");
        let words = heading.split(|letter: char| !letter.is_ascii_alphanumeric());
        let words: Vec<String> =
            words.filter(|word| !word.is_empty()).map(str::to_ascii_lowercase).collect();
        words.join("_")
    }
}

fn cell(row: &Value, place: &str, kind: Kind) -> Cell {
    let value = row.pointer(place).unwrap_or(&Value::Null);
    let number = || value.as_f64().unwrap_or_default();
    match kind {
        _ if value.is_null() => Cell::Nothing,
        Kind::Text | Kind::Moment => Cell::Text(plain(row, place)),
        Kind::Whole => Cell::Whole(value.as_i64().unwrap_or_default()),
        Kind::Real | Kind::Amount => Cell::Real(number()),
        Kind::Money => Cell::Money(number()),
    }
}

/// A value as text.
fn plain(row: &Value, place: &str) -> String {
    match row.pointer(place) {
        Some(Value::String(text)) => text.clone(),
        None | Some(Value::Null) => String::new(),
        Some(other) => other.to_string(),
    }
}

fn list(row: &Value, place: &str, written: impl Fn(&Value) -> String) -> Cell {
    let items = row.pointer(place).and_then(Value::as_array).into_iter().flatten();
    Cell::Text(items.map(written).collect::<Vec<String>>().join(COMMA))
}

/// First and last name, as they are.
fn customer(row: &Value, _: &More) -> Cell {
    let name = |part: &str| plain(row, &format!("/extended_info/customer/{part}"));
    Cell::Text(format!("{} {}", name("first_name"), name("last_name")))
}

fn categories(row: &Value, more: &More) -> Cell {
    let ids = row.pointer("/extended_info/category_ids").and_then(Value::as_array);
    let Some(ids) = ids else { return Cell::Text(String::new()) };
    let name = |id: &Value| more.names.get(&id.as_i64()?).cloned();
    let mut names: Vec<String> = ids.iter().filter_map(name).collect();
    names.sort();
    Cell::Text(names.join(COMMA))
}

/// What is told only of products whose pieces are counted.
fn counted(row: &Value, told: impl Fn(&Value) -> Cell) -> Cell {
    if row.pointer("/extended_info/manage_stock") == Some(&Value::Bool(true)) {
        told(row)
    } else {
        Cell::Text(NOT_KNOWN.to_owned())
    }
}

fn stock(row: &Value, place: &str) -> Cell {
    let label = match plain(row, &format!("{place}/stock_status")).as_str() {
        "instock" => "In stock",
        "outofstock" => "Out of stock",
        "onbackorder" => "On backorder",
        _ => NOT_KNOWN,
    };
    Cell::Text(label.to_owned())
}

/// A variation whose name does not tell what it is about has its values behind it.
fn variation(row: &Value, _: &More) -> Cell {
    let name = plain(row, "/extended_info/name");
    let attributes = row.pointer("/extended_info/attributes").and_then(Value::as_array);
    let values: Vec<String> = attributes.into_iter().flatten().map(value_of).collect();
    if name.contains(known::SEPARATOR) || values.is_empty() {
        return Cell::Text(name);
    }
    Cell::Text(format!("{name}{}{}", known::SEPARATOR, values.join(COMMA)))
}

fn value_of(attribute: &Value) -> String {
    match plain(attribute, "/option") {
        any if any.is_empty() => {
            let name = plain(attribute, "/name");
            let mut letters = name.chars();
            let first = letters.next().map(|letter| letter.to_uppercase().to_string());
            format!("Any {}{}", first.unwrap_or_default(), letters.as_str())
        }
        value => value,
    }
}

/// Names of what rows only have the numbers of.
#[derive(Debug, Default)]
pub(super) struct More {
    names: BTreeMap<i64, String>,
}

impl More {
    pub(super) fn of(export: &Export, call: &mut Call<'_>, rows: &[Value]) -> Result<Self, Stop> {
        let mut more = Self::default();
        match export.name {
            "products" => {
                let ids = rows.iter().filter_map(|row| {
                    row.pointer("/extended_info/category_ids").and_then(Value::as_array)
                });
                let mut ids: Vec<i64> = ids.flatten().filter_map(Value::as_i64).collect();
                ids.sort_unstable();
                ids.dedup();
                more.names = known::category_names(call.conn()?, &ids)?;
            }
            "downloads" => {
                let ids = rows.iter().filter_map(|row| row.get("product_id")?.as_i64());
                let ids: Vec<i64> = ids.collect();
                let found = known::product_rows(call.conn()?, &ids)?;
                more.names = found.into_iter().map(|(id, row)| (id, row.name)).collect();
            }
            _ => {}
        }
        Ok(more)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_variation_tells_what_it_is_about() {
        for (name, option, expected) in [
            ("Hoodie - Large", "Large", "Hoodie - Large"),
            ("Phone Case", "", "Phone Case - Any Colour"),
            ("Phone Case", "Red", "Phone Case - Red"),
        ] {
            let attributes = json!([{ "name": "colour", "option": option }]);
            let row = json!({ "extended_info": { "name": name, "attributes": attributes } });
            assert_eq!(variation(&row, &More::default()), Cell::Text(expected.to_owned()));
        }
    }

    #[test]
    fn keys_of_an_export_are_plain_and_different() {
        for export in super::super::ALL {
            let columns = export.columns.iter().chain(export.of_stock);
            let mut keys: Vec<String> = columns.map(Column::key).collect();
            let is_plain = |letter: char| letter.is_ascii_lowercase() || letter == '_';
            assert!(
                keys.iter().all(|key| !key.is_empty() && key.chars().all(is_plain)),
                "{keys:?}"
            );
            let count = keys.len();
            keys.sort();
            keys.dedup();
            assert_eq!(keys.len(), count, "{}", export.name);
        }
    }
}
