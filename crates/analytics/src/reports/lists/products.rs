//! What was sold, product by product.

use std::collections::BTreeMap;

use contract::rest::{Args, Links, Reply, Schema, Stop};
use frame::Call;
use serde_json::{Map, Value, json};

use super::{
    Rank, Row, chosen, cut, described, linked, nothing, rank_of, record, reply, rows, sort,
    sorted_page, total,
};
use crate::columns::{Column, Plan, Shape, column, schemas};
use crate::compat::Beyond;
use crate::context::{QueryContext, ReportContext, span};
use crate::facts::LineNumber;
use crate::known;
use crate::query::Measure::{self, Distinct, Sum};
use crate::query::{
    Column as Of, DateColumn, Filter, Group, IdSet, LineTest, Per, Query, Subject, Table, When,
};
use crate::reports::{args, filters};

const NEWEST: Measure = Measure::Latest(DateColumn::Created);
pub(crate) const ITEMS_SOLD: Column =
    column("items_sold", "Items sold.", Shape::Count, &[(1, sum(Of::Line(LineNumber::Quantity)))]);
pub(crate) const NET_REVENUE: Column =
    column("net_revenue", "Net sales.", Shape::Money, &[(1, sum(Of::Line(LineNumber::Net)))]);
const ORDERS_COUNT: Column = column(
    "orders_count",
    "Number of orders.",
    Shape::Count,
    &[(1, Distinct(Subject::Order, When::NotNegative))],
);
const COLUMNS: &[Column] = &[ITEMS_SOLD, NET_REVENUE, ORDERS_COUNT];
/// What is told about a product.
const CARD: &[&str] = &[
    "name",
    "price",
    "image",
    "permalink",
    "stock_status",
    "stock_quantity",
    "manage_stock",
    "low_stock_amount",
    "category_ids",
    "variations",
    "sku",
];

pub(crate) const fn sum(of: Of) -> Measure {
    Sum(of, When::Always, Per::Row)
}

pub fn args() -> Args {
    let columns =
        ["date", "net_revenue", "orders_count", "items_sold", "product_name", "variations", "sku"];
    args::dated(1, "date", &columns)
        .with(args::ids("categories", "Limit results to products of these categories."))
        .with(args::matching())
        .with(args::ids("products", "Limit results to these products."))
        .with(args::extended_info())
        .with(args::scope())
}

pub fn document() -> Value {
    let mut members = vec![("product_id", Schema::integer().about("Product ID."))];
    members.extend(schemas(COLUMNS));
    members.push(("extended_info", Schema::map().about("Product details.")));
    described("report_products", members)
}

pub fn list(reports: &ReportContext, call: &mut Call<'_>) -> Result<Reply, Stop> {
    let context = reports.query_context(call)?;
    let wanted = filters::products_in(&call.params, &context, "products", "categories");
    let mut plan = Plan::of(COLUMNS.iter().copied());
    plan.need(NEWEST);
    let query = query(call, &context, wanted.as_ref(), &plan);
    let rows = found(&context, wanted.as_ref(), &query)?;
    let count = wanted.as_ref().map(|set| set.ids().iter().filter(|id| **id > 0).count());
    let rows = ranked(call, rows, &plan)?;
    let total = total(&context, count, rows.len());
    let shown = sorted_page(call, rows);
    let ids: Vec<i64> = shown.iter().map(|(id, _)| *id).collect();
    let mut cards = super::product_cards(reports, call, &ids)?;
    if let Some(cards) = &mut cards {
        let deleted: Vec<i64> = ids.into_iter().filter(|id| !cards.contains_key(id)).collect();
        for id in deleted {
            cards.insert(id, json!({ "name": known::deleted_name(call.conn()?, id)? }));
        }
    }
    let bodies = shown.iter().map(|(id, values)| {
        let mut body = Map::new();
        body.insert(String::from("product_id"), json!(id));
        body.extend(plan.members(values));
        let card = cards.as_ref().and_then(|cards| cards.get(id));
        let card = card.map(|card| {
            let mut card = chosen(card, CARD);
            // What is not counted is known as none.
            if let Some(quantity @ Value::Null) = card.get_mut("stock_quantity") {
                *quantity = json!(0);
            }
            Value::Object(card)
        });
        body.insert(String::from("extended_info"), card.unwrap_or_else(nothing));
        let address = record(call, reports, &format!("/products/{id}"));
        linked(body, Links::new().to("product", address))
    });
    let bodies: Vec<Value> = bodies.collect();
    let beyond = if wanted.is_some() { Beyond::Kept } else { Beyond::Forgotten };
    let path = format!("{}/reports/products", reports.base);
    Ok(reply(call, &path, bodies, total, (&context, beyond)))
}

/// The question for the sales of each product, or of those that were asked for.
fn query(call: &Call<'_>, context: &QueryContext, wanted: Option<&IdSet>, plan: &Plan) -> Query {
    let mut conditions = vec![context.counted()];
    conditions.extend(wanted.map(|set| Filter::Line(LineTest::Product(set.clone()))));
    conditions.extend(filters::scope(&call.params));
    Query {
        filter: Filter::All(conditions),
        group: Group::Product,
        measures: plan.measures.clone(),
        ..Query::of(Table::Lines, DateColumn::Created, span(context.range(call)))
    }
}

/// The products that were sold, or those that were asked for.
fn found(context: &QueryContext, wanted: Option<&IdSet>, query: &Query) -> Result<Vec<Row>, Stop> {
    let answer = context.answer(query)?;
    let known = |(id, _): &Row| *id > 0 || wanted.is_none();
    Ok(rows(context, &answer, wanted).into_iter().filter(known).collect())
}

/// The rows with what they are sorted by, by their numbers among equals.
fn ranked(call: &mut Call<'_>, rows: Vec<Row>, plan: &Plan) -> Result<Vec<(Rank, Row)>, Stop> {
    let by = call.params.text("orderby").unwrap_or("date").to_owned();
    let ids: Vec<i64> = rows.iter().map(|(id, _)| *id).collect();
    let needs_records = matches!(by.as_str(), "product_name" | "sku" | "variations");
    let records =
        if needs_records { known::product_rows(call.conn()?, &ids)? } else { BTreeMap::new() };
    let children = if by == "variations" {
        known::variation_counts(call.conn()?, &ids)?
    } else {
        BTreeMap::new()
    };
    let ranked = rows.into_iter().filter_map(|(id, values)| {
        let record = records.get(&id);
        let rank = match by.as_str() {
            "product_name" => Rank::text(&record?.name),
            "sku" => Rank::text(record.map_or("", |record| &record.sku)),
            "variations" => Rank::int(children.get(&id).copied().unwrap_or_default()),
            "date" => Rank::int(plan.raw(NEWEST, &values)),
            name => rank_of(plan, name, &values),
        };
        Some((rank, (id, values)))
    });
    Ok(ranked.collect())
}

/// The products that sold most: id, name, pieces, and net sales in millionths.
pub fn best(
    context: &QueryContext,
    call: &mut Call<'_>,
    page: (usize, usize),
) -> Result<Vec<(i64, String, i64, i64)>, Stop> {
    let plan = Plan::of(COLUMNS.iter().copied());
    let rows = found(context, None, &query(call, context, None, &plan))?;
    let pieces = |values: &[i64]| plan.raw(sum(Of::Line(LineNumber::Quantity)), values);
    let mut rows: Vec<(Rank, Row)> =
        rows.into_iter().map(|(id, values)| (Rank::int(pieces(&values)), (id, values))).collect();
    sort(&mut rows, true);
    let rows = cut(rows, page);
    let ids: Vec<i64> = rows.iter().map(|(id, _)| *id).collect();
    let names = known::product_rows(call.conn()?, &ids)?;
    let mut best = Vec::new();
    for (id, values) in rows {
        let name = match names.get(&id) {
            Some(record) => record.name.clone(),
            None => known::deleted_name(call.conn()?, id)?,
        };
        best.push((id, name, pieces(&values), plan.raw(sum(Of::Line(LineNumber::Net)), &values)));
    }
    Ok(best)
}
