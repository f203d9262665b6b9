//! Variations over time: what was sold of them, and in how many orders.

use contract::rest::{Args, Stop};
use frame::Call;

use super::products::{
    DIMENSIONS, EACH_ORDERS_COUNT, ITEMS_SOLD, NET_REVENUE, ORDERS_COUNT, OTHER_SORTS, SORTS,
    VARIATIONS_COUNT,
};
use super::segments::{self, Dimension, Split};
use super::{Stats, query_args};
use crate::columns::Column;
use crate::compat::Rule;
use crate::context::QueryContext;
use crate::facts::OrderText;
use crate::query::{DateColumn, Filter, Group, LineTest, RollUp, Table};
use crate::reports::{args, filters};

const COLUMNS: &[Column] = &[ITEMS_SOLD, NET_REVENUE, ORDERS_COUNT, VARIATIONS_COUNT];
/// As the reference counts in segments.
const WITH_REFUNDS: &[Column] = &[ITEMS_SOLD, NET_REVENUE, EACH_ORDERS_COUNT, VARIATIONS_COUNT];

pub static STATS: Stats = Stats {
    path: "/variations/stats",
    title: "report_variations_stats",
    table: Table::Lines,
    columns: COLUMNS,
    of_totals: &[],
    always: &[],
    dimensions: DIMENSIONS,
    sorts: OTHER_SORTS,
    product_params: ("product_includes", "category_includes"),
    variations_param: "variations",
    is_of_variations: true,
    coupons_param: "",
    args: stats_args,
    query_args: &[
        query_args::ALL_FIELDS,
        query_args::list("category_includes"),
        query_args::null("category_excludes").if_given(),
        query_args::list("product_includes"),
        query_args::list("product_excludes"),
        query_args::null("variation_includes").of("variations").if_given(),
        query_args::list("attribute_is"),
        query_args::list("attribute_is_not"),
        query_args::INTERVAL,
        query_args::text("match", "all"),
        query_args::SEGMENTS.if_given(),
        query_args::REFRESH.if_given(),
        query_args::text("context", "view"),
    ],
    date: |_| DateColumn::Created,
    filter,
    split,
};

fn stats_args() -> Args {
    args::dated(1, "date", SORTS)
        .with(args::fields())
        .with(args::interval())
        .with(args::matching())
        .with(args::ids("category_includes", "Limit results to products of these categories."))
        .with(args::ids("category_excludes", "Exclude products of these categories."))
        .with(args::ids_or_none("product_includes", "Limit results to these products."))
        .with(args::ids_or_none("product_excludes", "Exclude these products."))
        .with(args::ids("variations", "Limit results to these variations."))
        .with(segments::arg(DIMENSIONS))
        .with(args::attributes())
        .with(args::scope())
}

/// Of variations only; the list of them is filtered in the same way.
pub fn filter(call: &mut Call<'_>, context: &QueryContext) -> Result<Filter, Stop> {
    let attributes = filters::attributes(call)?;
    let params = &call.params;
    let line = |test: LineTest| Filter::Line(test);
    // Some clients call them products.
    let named = if params.get("products").is_some() { "products" } else { "product_includes" };
    let products = filters::products_in(params, context, named, "category_includes");
    let excluded = filters::products_out(params, context, "product_excludes", "category_excludes");
    let conditions = [
        filters::ids(params, "variations").map(|set| line(LineTest::Variation(set))),
        products.map(|set| line(LineTest::Product(set))),
        excluded.map(|set| line(LineTest::Product(set)).negated()),
        attributes.map(line),
    ];
    let conditions: Vec<Filter> = conditions.into_iter().flatten().collect();
    let any = filters::is_any(params) && !context.follows(Rule::VariationsMatchAll);
    // What is asked for by number may be none.
    let is_open = filters::ids(params, "variations").is_some() && !any;
    let kind = if is_open { Filter::everything() } else { line(LineTest::HasVariation) };
    let all = [context.counted(), kind, filters::joined(conditions, any)];
    Ok(Filter::All(all.into_iter().chain(filters::scope(params)).collect()))
}

fn split(dimension: Dimension, _: &Call<'_>, context: &QueryContext) -> Option<Split> {
    let group = match dimension {
        Dimension::Variation => Group::VariationId,
        Dimension::Currency => Group::Text(OrderText::Currency),
        _ if context.follows(Rule::FigurelessSegments) => return None,
        Dimension::Product => Group::Product,
        Dimension::Category => Group::Category(RollUp::Ancestors),
        _ => return None,
    };
    let columns = if context.follows(Rule::RefundsAreOrders) { WITH_REFUNDS } else { COLUMNS };
    Some(Split::of(Table::Lines, group, columns))
}
