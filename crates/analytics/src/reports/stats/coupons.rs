//! Coupons over time: what they took off, how many there were, and in how many orders.

use contract::rest::Args;
use frame::Call;

use super::segments::{self, Dimension, Split};
use super::{Stats, query_args};
use crate::columns::{Column, Shape, column};
use crate::compat::Rule;
use crate::context::QueryContext;
use crate::facts::{LineNumber, OrderText};
use crate::query::Measure::{Distinct, Sum};
use crate::query::{Column as Of, DateColumn, Filter, Group, Per, RollUp, Subject, Table, When};
use crate::reports::{args, filters};

const COUPONS_COUNT: Column = column(
    "coupons_count",
    "Number of distinct coupons.",
    Shape::Count,
    &[(1, Distinct(Subject::Coupon, When::Always))],
);
const ORDERS_COUNT: Column = column(
    "orders_count",
    "Number of orders with a coupon.",
    Shape::Count,
    &[(1, Distinct(Subject::Order, When::Always))],
)
.indicator();

/// What coupons took off.
const fn amount(of: &'static [(i64, crate::query::Measure)]) -> Column {
    column("amount", "What coupons took off.", Shape::Money, of).indicator().currency()
}

const COLUMNS: &[Column] =
    &[amount(&[(1, Sum(Of::CouponDiscount, When::Always, Per::Row))]), COUPONS_COUNT, ORDERS_COUNT];
const OF_LINES: &[Column] = &[
    amount(&[(1, Sum(Of::Line(LineNumber::Discount), When::Always, Per::Row))]),
    COUPONS_COUNT,
    ORDERS_COUNT,
];

const DIMENSIONS: &[Dimension] = &[
    Dimension::Product,
    Dimension::Variation,
    Dimension::Category,
    Dimension::Coupon,
    Dimension::Currency,
];

pub static STATS: Stats = Stats {
    path: "/coupons/stats",
    title: "report_coupons_stats",
    table: Table::Coupons,
    columns: COLUMNS,
    of_totals: &[],
    always: &[],
    dimensions: DIMENSIONS,
    sorts: &[],
    product_params: ("", ""),
    variations_param: "",
    is_of_variations: false,
    coupons_param: "coupons",
    args: stats_args,
    query_args: &[
        query_args::FIELDS,
        query_args::list("coupons"),
        query_args::no("extended_info"),
        query_args::INTERVAL,
        query_args::SEGMENTS,
        query_args::REFRESH,
    ],
    date: |_| DateColumn::Created,
    filter: |call, context| Ok(filter(call, context)),
    split,
};

fn stats_args() -> Args {
    args::dated(1, "date", &["date", "amount", "coupons_count", "orders_count"])
        .with(args::fields())
        .with(args::interval())
        .with(args::ids("coupons", "Limit results to these coupons."))
        .with(segments::arg(DIMENSIONS))
        .with(args::scope())
}

fn filter(call: &Call<'_>, context: &QueryContext) -> Filter {
    let coupons = filters::ids(&call.params, "coupons").map(Filter::Coupon);
    let conditions = coupons.into_iter().chain(filters::scope(&call.params));
    conditions.fold(context.counted(), Filter::and)
}

/// Lines of orders with a coupon have their share of what it took off.
fn split(dimension: Dimension, _: &Call<'_>, context: &QueryContext) -> Option<Split> {
    let group = match dimension {
        Dimension::Coupon => return Some(Split::of(Table::Coupons, Group::Coupon, COLUMNS)),
        Dimension::Currency => {
            let group = Group::Text(OrderText::Currency);
            return Some(Split::of(Table::Coupons, group, COLUMNS));
        }
        Dimension::Product => Group::Product,
        Dimension::Variation => Group::VariationId,
        Dimension::Category if context.follows(Rule::CategoriesByPath) => {
            Group::Category(RollUp::EachPath)
        }
        Dimension::Category => Group::Category(RollUp::Ancestors),
        _ => return None,
    };
    Some(Split { filter: Filter::HasAnyCoupon, ..Split::of(Table::Lines, group, OF_LINES) })
}
