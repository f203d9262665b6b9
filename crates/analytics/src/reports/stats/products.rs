//! Products over time: what was sold, in how many orders, of how many kinds.

use contract::rest::Args;
use frame::Call;

use super::segments::{self, Dimension, Split};
use super::{Stats, query_args};
use crate::columns::{Column, Shape, column};
use crate::compat::Rule;
use crate::context::QueryContext;
use crate::facts::{LineNumber, OrderText};
use crate::query::Measure::{self, Distinct, Sum};
use crate::query::{
    Column as Of, DateColumn, Filter, Group, LineTest, Per, RollUp, Subject, Table, When,
};
use crate::reports::{args, filters};

const ITEMS: Measure = total(LineNumber::Quantity);
const NET: Measure = total(LineNumber::Net);
/// Refunds take money back, and are no orders.
const ORDERS: Measure = Distinct(Subject::Order, When::NotNegative);
const EACH_ORDER: Measure = Distinct(Subject::Order, When::Always);

pub(super) const ITEMS_SOLD: Column =
    column("items_sold", "Items sold.", Shape::Count, &[(1, ITEMS)]).indicator();
pub(super) const NET_REVENUE: Column =
    column("net_revenue", "Net sales, excluding tax and shipping.", Shape::Money, &[(1, NET)])
        .currency();
pub(super) const ORDERS_COUNT: Column =
    column("orders_count", "Number of orders.", Shape::Count, &[(1, ORDERS)]);
/// As segments count orders: refunds too.
pub(super) const EACH_ORDERS_COUNT: Column =
    column("orders_count", "Number of orders.", Shape::Count, &[(1, EACH_ORDER)]);
pub(super) const VARIATIONS_COUNT: Column = column(
    "variations_count",
    "Number of distinct variations.",
    Shape::Count,
    &[(1, Distinct(Subject::Variation, When::Always))],
);
/// As the reference counts.
pub(super) const VARIATIONS_OR_NONE: Column = column(
    "variations_count",
    "Number of distinct variations.",
    Shape::Count,
    &[(1, Distinct(Subject::VariationOrNone, When::Always))],
);
const PRODUCTS_COUNT: Column = column(
    "products_count",
    "Number of distinct products.",
    Shape::Count,
    &[(1, Distinct(Subject::Product, When::Always))],
);

const COLUMNS: &[Column] =
    &[ITEMS_SOLD, NET_REVENUE, ORDERS_COUNT, PRODUCTS_COUNT, VARIATIONS_COUNT];
/// As the reference counts in segments.
const WITH_REFUNDS: &[Column] =
    &[ITEMS_SOLD, NET_REVENUE, EACH_ORDERS_COUNT, PRODUCTS_COUNT, VARIATIONS_OR_NONE];

pub(super) const DIMENSIONS: &[Dimension] =
    &[Dimension::Product, Dimension::Category, Dimension::Variation, Dimension::Currency];

/// What lines come to besides, for sorting.
pub(super) const OTHER_SORTS: &[Column] = &[
    column("coupons", "What coupons took off.", Shape::Money, &[(1, total(LineNumber::Discount))]),
    column(
        "refunds",
        "What was paid back.",
        Shape::Magnitude,
        &[(1, Sum(Of::Line(LineNumber::Gross), When::Negative, Per::Row))],
    ),
    column(
        "shipping",
        "Shipping, excluding tax.",
        Shape::Money,
        &[(1, total(LineNumber::Shipping))],
    ),
    column("taxes", "Taxes.", Shape::Money, &[(1, total(LineNumber::Tax))]),
];

const fn total(number: LineNumber) -> Measure {
    Sum(Of::Line(number), When::Always, Per::Row)
}

pub static STATS: Stats = Stats {
    path: "/products/stats",
    title: "report_products_stats",
    table: Table::Lines,
    columns: COLUMNS,
    of_totals: &[],
    always: &[],
    dimensions: DIMENSIONS,
    sorts: OTHER_SORTS,
    product_params: ("products", "categories"),
    variations_param: "variations",
    is_of_variations: false,
    coupons_param: "",
    args: stats_args,
    query_args: &[
        query_args::ALL_FIELDS,
        query_args::list("category_includes").of("categories"),
        query_args::list("product_includes").of("products"),
        query_args::null("variation_includes").of("variations").if_given(),
        query_args::INTERVAL,
        query_args::SEGMENTS.if_given(),
        query_args::REFRESH.if_given(),
        query_args::text("context", "view"),
    ],
    date: |_| DateColumn::Created,
    filter: |call, context| Ok(filter(call, context)),
    split,
};

/// What both reports about goods can be asked to sort by.
pub(super) const SORTS: &[&str] = &[
    "date",
    "net_revenue",
    "coupons",
    "refunds",
    "shipping",
    "taxes",
    "net_revenue",
    "orders_count",
    "items_sold",
];

fn stats_args() -> Args {
    args::dated(1, "date", SORTS)
        .with(args::fields())
        .with(args::interval())
        .with(args::ids("categories", "Limit results to products of these categories."))
        .with(args::ids("products", "Limit results to these products."))
        .with(args::ids("variations", "Limit results to these variations."))
        .with(segments::arg(DIMENSIONS))
        .with(args::scope())
}

fn filter(call: &Call<'_>, context: &QueryContext) -> Filter {
    let params = &call.params;
    let products = filters::products_in(params, context, "products", "categories");
    let variations = filters::ids(params, "variations");
    let mut conditions = vec![context.counted()];
    conditions.extend(products.map(|set| Filter::Line(LineTest::Product(set))));
    conditions.extend(variations.map(|set| Filter::Line(LineTest::Variation(set))));
    conditions.extend(filters::scope(params));
    Filter::All(conditions)
}

fn split(dimension: Dimension, call: &Call<'_>, context: &QueryContext) -> Option<Split> {
    let group = match dimension {
        Dimension::Product => Group::Product,
        Dimension::Variation => Group::VariationId,
        Dimension::Currency => Group::Text(OrderText::Currency),
        Dimension::Category if context.follows(Rule::CategoriesByPath) => {
            // There, categories that are asked for count by themselves.
            let is_chosen = filters::ids(&call.params, "categories").is_some();
            Group::Category(if is_chosen { RollUp::Direct } else { RollUp::EachPath })
        }
        Dimension::Category => Group::Category(RollUp::Ancestors),
        _ => return None,
    };
    let columns = if context.follows(Rule::RefundsAreOrders) { WITH_REFUNDS } else { COLUMNS };
    Some(Split::of(Table::Lines, group, columns))
}
