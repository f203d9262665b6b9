//! The columns of reports over what they count, each by a loop of its own.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::filter::Counted;
use super::money::{self, Millionths, average, ratio, shown};
use super::rows::{Line, Row};

pub(super) type Columns = Map<String, Value>;

fn columns<const COUNT: usize>(list: [(&str, Value); COUNT]) -> Columns {
    list.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

fn distinct<T: Ord>(values: impl Iterator<Item = T>) -> Value {
    json!(values.collect::<BTreeSet<T>>().len())
}

/// Different orders and refunds among what is counted.
fn rows<'w>(counted: &[Counted<'w>]) -> Vec<&'w Row> {
    let mut rows: Vec<&Row> = counted.iter().map(|counted| counted.row).collect();
    rows.sort_by_key(|row| row.id);
    rows.dedup_by_key(|row| row.id);
    rows
}

fn line<'w>(counted: &Counted<'w>) -> &'w Line {
    counted.line.expect("a line")
}

fn sum<'w>(counted: &[Counted<'w>], of: impl Fn(&Counted<'w>) -> i64) -> i64 {
    counted.iter().map(of).sum()
}

fn count(number: usize) -> i64 {
    i64::try_from(number).unwrap()
}

/// Of orders and revenue.
pub(super) fn of_orders(counted: &[Counted<'_>]) -> Columns {
    let rows = rows(counted);
    let sum = |of: fn(&Row) -> i64| -> i64 { rows.iter().map(|row| of(row)).sum() };
    let orders: Vec<&&Row> = rows.iter().filter(|row| row.is_order()).collect();
    let of_orders = |of: fn(&Row) -> i64| -> i64 { orders.iter().map(|row| of(row)).sum() };
    let coupons = sum(Row::discounts);
    let paid_back: Millionths =
        rows.iter().map(|row| row.net + row.tax + row.shipping).filter(|sum| *sum < 0).sum();
    columns([
        ("orders_count", json!(orders.len())),
        ("num_items_sold", json!(sum(|row| row.items))),
        ("gross_sales", shown(of_orders(|row| row.total - row.tax - row.shipping) + coupons)),
        ("total_sales", shown(sum(|row| row.total))),
        ("coupons", shown(coupons)),
        (
            "coupons_count",
            distinct(rows.iter().flat_map(|row| row.coupons.iter().map(|(code, _)| code))),
        ),
        ("refunds", shown(paid_back.abs())),
        ("taxes", shown(sum(|row| row.tax))),
        ("shipping", shown(sum(|row| row.shipping))),
        ("net_revenue", shown(sum(|row| row.net))),
        ("avg_items_per_order", ratio(of_orders(|row| row.items), count(orders.len()))),
        ("avg_order_value", average(of_orders(|row| row.net), count(orders.len()))),
        ("total_customers", distinct(rows.iter().map(|row| &row.buyer))),
    ])
}

/// What the totals of orders and revenue have besides.
pub(super) fn products_of(counted: &[Counted<'_>]) -> Value {
    distinct(rows(counted).iter().flat_map(|row| row.lines.iter().map(|line| line.product)))
}

/// Of orders and revenue, where a segment has some of the lines of its orders, or some coupons.
pub(super) fn of_order_segment(counted: &[Counted<'_>]) -> Columns {
    let rows = rows(counted);
    let by_line = counted.iter().all(|counted| counted.line.is_some());
    let of = |line_of: fn(&Line) -> i64, row_of: fn(&Row) -> i64| -> i64 {
        sum(counted, |counted| counted.line.map_or_else(|| row_of(counted.row), line_of))
    };
    let paid_back: Millionths = if by_line {
        sum(counted, |counted| line(counted).gross.min(0))
    } else {
        sum(counted, |counted| if counted.row.is_order() { 0 } else { counted.row.total })
    };
    let sales: Vec<&&Row> = rows.iter().filter(|row| row.is_order()).collect();
    let of_sales = |of: fn(&Row) -> i64| -> i64 { sales.iter().map(|row| of(row)).sum() };
    let coupons = match counted.first().and_then(|counted| counted.coupon) {
        Some(_) => distinct(counted.iter().filter_map(|counted| counted.coupon).map(|(id, _)| id)),
        None => distinct(rows.iter().flat_map(|row| row.coupons.iter().map(|(code, _)| code))),
    };
    let taken_off = sum(counted, |counted| {
        counted.coupon.map_or_else(|| line(counted).discount, |(_, discount)| discount)
    });
    columns([
        ("num_items_sold", json!(of(|line| line.quantity, |row| row.items))),
        ("total_sales", shown(of(|line| line.gross, |row| row.total))),
        ("coupons", shown(taken_off)),
        ("coupons_count", coupons),
        ("refunds", shown(paid_back.abs())),
        ("taxes", shown(of(|line| line.tax, |row| row.tax))),
        ("shipping", shown(of(|line| line.shipping, |row| row.shipping))),
        ("net_revenue", shown(of(|line| line.net, |row| row.net))),
        ("orders_count", json!(sales.len())),
        ("avg_items_per_order", ratio(of_sales(|row| row.items), count(sales.len()))),
        ("avg_order_value", average(of_sales(|row| row.net), count(sales.len()))),
        ("total_customers", distinct(rows.iter().map(|row| &row.buyer))),
    ])
}

/// Orders among lines: refunds take goods back, and are none.
pub(super) fn orders_of_lines(counted: &[Counted<'_>]) -> i64 {
    let sold = counted.iter().filter(|counted| line(counted).gross >= 0);
    count(sold.map(|counted| counted.row.id).collect::<BTreeSet<i64>>().len())
}

pub(super) fn items(counted: &[Counted<'_>]) -> i64 {
    sum(counted, |counted| line(counted).quantity)
}

pub(super) fn net(counted: &[Counted<'_>]) -> Millionths {
    sum(counted, |counted| line(counted).net)
}

fn products(counted: &[Counted<'_>]) -> Value {
    distinct(counted.iter().map(|counted| line(counted).product))
}

fn variations(counted: &[Counted<'_>]) -> Value {
    let all = counted.iter().map(|counted| line(counted).variation);
    distinct(all.filter(|variation| *variation != 0))
}

pub(super) fn of_products(counted: &[Counted<'_>]) -> Columns {
    columns([
        ("items_sold", json!(items(counted))),
        ("net_revenue", shown(net(counted))),
        ("orders_count", json!(orders_of_lines(counted))),
        ("products_count", products(counted)),
        ("variations_count", variations(counted)),
    ])
}

pub(super) fn of_variations(counted: &[Counted<'_>]) -> Columns {
    let mut columns = of_products(counted);
    columns.remove("products_count");
    columns
}

/// Of coupons, or of the lines of orders with coupons.
pub(super) fn of_coupons(counted: &[Counted<'_>]) -> Columns {
    let taken_off = sum(counted, |counted| {
        counted.line.map_or_else(|| counted.coupon.expect("a coupon").1, |line| line.discount)
    });
    let of_rows = rows(counted);
    let coupons = if counted.iter().any(|counted| counted.line.is_some()) {
        distinct(of_rows.iter().flat_map(|row| row.coupons.iter().map(|(code, _)| code)))
    } else {
        distinct(counted.iter().filter_map(|counted| counted.coupon).map(|(id, _)| id))
    };
    columns([
        ("amount", shown(taken_off)),
        ("coupons_count", coupons),
        ("orders_count", json!(of_rows.len())),
    ])
}

pub(super) fn of_taxes(counted: &[Counted<'_>]) -> Columns {
    let taxes: Vec<_> = counted.iter().filter_map(|counted| counted.tax).collect();
    let goods: Millionths = taxes.iter().map(|tax| tax.of_goods).sum();
    let shipping: Millionths = taxes.iter().map(|tax| tax.of_shipping).sum();
    let orders = rows(counted).iter().filter(|row| row.is_order()).count();
    columns([
        ("tax_codes", distinct(taxes.iter().map(|tax| tax.rate))),
        ("total_tax", shown(goods + shipping)),
        ("order_tax", shown(goods)),
        ("shipping_tax", shown(shipping)),
        ("orders_count", json!(orders)),
    ])
}

/// A number of a column.
pub(super) fn number(columns: &Columns, name: &str) -> f64 {
    columns.get(name).and_then(Value::as_f64).unwrap_or_else(|| panic!("no {name} in {columns:?}"))
}

/// What goods can be sorted by although they do not show it.
pub(super) fn hidden(counted: &[Counted<'_>], name: &str) -> Option<f64> {
    let of: fn(&Line) -> i64 = match name {
        "coupons" => |line| line.discount,
        "refunds" => |line| -line.gross.min(0),
        "shipping" => |line| line.shipping,
        "taxes" => |line| line.tax,
        _ => return None,
    };
    let lines = counted.iter().filter_map(|counted| counted.line);
    Some(money::float(lines.map(of).sum()))
}
