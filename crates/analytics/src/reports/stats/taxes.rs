//! Taxes over time: what each rate took, and in how many orders.

use contract::rest::{Args, Stop};
use frame::Call;

use super::segments::{self, Dimension, Split};
use super::{Stats, query_args};
use crate::columns::{Column, Shape, column};
use crate::compat::Rule;
use crate::context::QueryContext;
use crate::facts::{OrderNumber, OrderText};
use crate::query::Measure::{self, Distinct, Sum};
use crate::query::{Column as Of, DateColumn, Filter, Group, Per, Subject, Table, When};
use crate::reports::{args, filters};

const fn total(of: Of) -> Measure {
    Sum(of, When::Always, Per::Row)
}

const TAX_CODES: Column = column(
    "tax_codes",
    "Number of distinct tax rates.",
    Shape::Count,
    &[(1, Distinct(Subject::TaxRate, When::Always))],
);
const TOTAL_TAX: Column =
    column("total_tax", "Total tax.", Shape::Money, &[(1, total(Of::TaxOfBoth))])
        .indicator()
        .currency();
const ORDER_TAX: Column =
    column("order_tax", "Tax on items and fees.", Shape::Money, &[(1, total(Of::TaxOfGoods))])
        .indicator()
        .currency();
const SHIPPING_TAX: Column =
    column("shipping_tax", "Taxes on shipping.", Shape::Money, &[(1, total(Of::TaxOfShipping))])
        .indicator()
        .currency();
const ORDERS_COUNT: Column = column(
    "orders_count",
    "Number of taxed orders.",
    Shape::Count,
    &[(1, Distinct(Subject::Order, When::Order))],
);
const EACH_ORDERS_COUNT: Column = column(
    "orders_count",
    "Number of taxed orders and refunds.",
    Shape::Count,
    &[(1, Distinct(Subject::Order, When::Always))],
);

const COLUMNS: &[Column] = &[TAX_CODES, TOTAL_TAX, ORDER_TAX, SHIPPING_TAX, ORDERS_COUNT];
/// As the reference counts in segments.
const WITH_REFUNDS: &[Column] = &[TAX_CODES, TOTAL_TAX, ORDER_TAX, SHIPPING_TAX, EACH_ORDERS_COUNT];

/// What taxed orders come to besides, for sorting.
const OTHER_SORTS: &[Column] = &[
    column("items_sold", "Items sold.", Shape::Count, &[(1, of_order(OrderNumber::Items))]),
    column("total_sales", "Total sales.", Shape::Money, &[(1, of_order(OrderNumber::Total))]),
    column(
        "products_count",
        "Number of distinct products.",
        Shape::Count,
        &[(1, Distinct(Subject::Product, When::Always))],
    ),
];

/// An order counts once, however many rates it has.
const fn of_order(number: OrderNumber) -> Measure {
    Sum(Of::Order(number), When::Always, Per::Order)
}

pub static STATS: Stats = Stats {
    path: "/taxes/stats",
    title: "report_taxes_stats",
    table: Table::Taxes,
    columns: COLUMNS,
    of_totals: &[],
    always: &[],
    dimensions: &[Dimension::TaxRate, Dimension::Currency],
    sorts: OTHER_SORTS,
    product_params: ("", ""),
    variations_param: "",
    is_of_variations: false,
    coupons_param: "",
    args: stats_args,
    query_args: &[
        query_args::FIELDS,
        query_args::list("taxes"),
        query_args::INTERVAL,
        query_args::SEGMENTS,
        query_args::REFRESH,
    ],
    date: |_| DateColumn::Created,
    filter,
    split: |dimension, _, context| {
        let group = match dimension {
            Dimension::Currency => Group::Text(OrderText::Currency),
            _ => Group::TaxRate,
        };
        let columns = if context.follows(Rule::RefundsAreOrders) { WITH_REFUNDS } else { COLUMNS };
        Some(Split::of(Table::Taxes, group, columns))
    },
};

fn stats_args() -> Args {
    let columns = ["date", "items_sold", "total_sales", "orders_count", "products_count"];
    args::dated(1, "date", &columns)
        .with(args::fields())
        .with(args::interval())
        .with(args::ids("taxes", "Limit results to taxes at these rates."))
        .with(segments::arg(STATS.dimensions))
        .with(args::scope())
}

/// The list of taxes is filtered in the same way.
pub fn filter(call: &mut Call<'_>, context: &QueryContext) -> Result<Filter, Stop> {
    let rates = filters::ids(&call.params, "taxes").map(Filter::TaxRate);
    let conditions = rates.into_iter().chain(filters::scope(&call.params));
    Ok(conditions.fold(context.counted(), Filter::and))
}
