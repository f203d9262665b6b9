//! Products over time: what was sold, in how many orders, of how many kinds.

use contract::rest::Args;
use site::Call;

use super::segments::{Dimension, Ids, Split};
use super::{Habit, Stats, query_args};
use crate::columns::{Column, Shape, column};
use crate::context::QueryContext;
use crate::query::Measure::{self, Distinct, Sum};
use crate::query::{
    Column as Of, DateColumn, Filter, Group, LineTest, Per, RollUp, Subject, Table, When,
};
use crate::reports::{args, filters};

const ITEMS: Measure = Sum(Of::Quantity, When::Always, Per::Row);
const NET: Measure = Sum(Of::LineNet, When::Always, Per::Row);
/// Refunds take money back, and are no orders.
const ORDERS: Measure = Distinct(Subject::Order, When::NotNegative);
const EACH_ORDER: Measure = Distinct(Subject::Order, When::Always);

pub(super) const ITEMS_SOLD: Column =
    column("items_sold", "Pieces sold.", Shape::Count, &[(1, ITEMS)]).indicator();
pub(super) const NET_REVENUE: Column =
    column("net_revenue", "Sales without tax and shipping.", Shape::Money, &[(1, NET)]).currency();
pub(super) const ORDERS_COUNT: Column =
    column("orders_count", "Number of orders.", Shape::Count, &[(1, ORDERS)]);
/// As segments count orders: refunds too.
pub(super) const EACH_ORDERS_COUNT: Column =
    column("orders_count", "Number of orders.", Shape::Count, &[(1, EACH_ORDER)]);
pub(super) const VARIATIONS_COUNT: Column = column(
    "variations_count",
    "Number of different variations.",
    Shape::Count,
    &[(1, Distinct(Subject::Variation, When::Always))],
);
const PRODUCTS_COUNT: Column = column(
    "products_count",
    "Number of different products.",
    Shape::Count,
    &[(1, Distinct(Subject::Product, When::Always))],
);

const SEGMENT_COLUMNS: &[Column] =
    &[ITEMS_SOLD, NET_REVENUE, EACH_ORDERS_COUNT, PRODUCTS_COUNT, VARIATIONS_COUNT];

pub(super) const DIMENSIONS: &[Dimension] =
    &[Dimension::Product, Dimension::Category, Dimension::Variation];

pub static STATS: Stats = Stats {
    path: "/products/stats",
    title: "report_products_stats",
    table: Table::Lines,
    columns: &[ITEMS_SOLD, NET_REVENUE, ORDERS_COUNT, PRODUCTS_COUNT, VARIATIONS_COUNT],
    of_totals: &[],
    always: &[],
    dimensions: DIMENSIONS,
    habit: Habit::Unsorted,
    product_params: ("products", "categories"),
    variations_param: "variations",
    splits_all_variations: false,
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

/// What both reports about goods can be asked to sort by; some of it they do not have.
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
        .with(args::ids("categories", "Count only products of these categories."))
        .with(args::ids("products", "Count only these products."))
        .with(args::ids("variations", "Count only these variations."))
        .with(args::segments(DIMENSIONS))
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
        Dimension::Variation => Group::Variation,
        Dimension::Category if context.is_strict => Group::Category(RollUp::Ancestors),
        // Clients know that categories which are asked for count by themselves.
        Dimension::Category if filters::ids(&call.params, "categories").is_some() => {
            Group::Category(RollUp::Direct)
        }
        Dimension::Category => Group::Category(RollUp::EachPath),
        _ => return None,
    };
    Some(Split {
        table: Table::Lines,
        group,
        columns: SEGMENT_COLUMNS,
        filter: Filter::everything(),
        ids: Ids::TextIfFound,
    })
}
