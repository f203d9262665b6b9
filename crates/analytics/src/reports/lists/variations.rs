//! What was sold, variation by variation.

use std::collections::BTreeMap;

use contract::rest::{Args, Links, Reply, Schema, Stop};
use frame::Call;
use serde_json::{Map, Value, json};

use super::products::{ITEMS_SOLD, NET_REVENUE};
use super::{Rank, chosen, described, linked, nothing, rank_of, record, reply, sorted_page, total};
use crate::columns::{Column, Plan, Shape, column, schemas};
use crate::compat::{Beyond, Rule};
use crate::context::{QueryContext, ReportContext, span};
use crate::known;
use crate::query::Measure::{self, Distinct};
use crate::query::{DateColumn, Group, IdSet, Key, Query, Subject, Table, When};
use crate::reports::stats::variations::filter;
use crate::reports::{args, filters};

const NEWEST: Measure = Measure::Latest(DateColumn::Created);
/// As the reference counts.
const EACH_ORDER: Column = column(
    "orders_count",
    "Number of orders.",
    Shape::Count,
    &[(1, Distinct(Subject::Order, When::Always))],
);
const ORDERS: Column = column(
    "orders_count",
    "Number of orders.",
    Shape::Count,
    &[(1, Distinct(Subject::Order, When::NotNegative))],
);
/// What is told about a variation.
const CARD: &[&str] = &[
    "name",
    "price",
    "image",
    "permalink",
    "stock_status",
    "stock_quantity",
    "low_stock_amount",
    "sku",
    "attributes",
];

pub fn args() -> Args {
    args::dated(1, "date", &["date", "net_revenue", "orders_count", "items_sold", "sku"])
        .with(args::matching())
        .with(args::ids_or_none(
            "product_includes",
            "Limit results to variations of these products.",
        ))
        .with(args::ids_or_none("product_excludes", "Exclude variations of these products."))
        .with(args::ids("variations", "Limit results to these variations."))
        .with(args::extended_info())
        .with(args::attributes())
        .with(args::ids("category_includes", "Limit results to products of these categories."))
        .with(args::ids("category_excludes", "Exclude products of these categories."))
        .with(args::ids("products", "Limit results to variations of these products."))
        .with(args::scope())
}

pub fn document() -> Value {
    let mut members = vec![
        ("product_id", Schema::integer().about("Product ID.")),
        ("variation_id", Schema::integer().about("Variation ID.")),
    ];
    members.extend(schemas(&[ITEMS_SOLD, NET_REVENUE, ORDERS]));
    members.push(("extended_info", Schema::map().about("Variation details.")));
    described("report_varitations", members)
}

#[derive(Clone)]
struct Row {
    product_id: i64,
    variation_id: i64,
    values: Vec<i64>,
}

pub fn list(reports: &ReportContext, call: &mut Call<'_>) -> Result<Reply, Stop> {
    let context = reports.query_context(call)?;
    let wanted = filters::ids(&call.params, "variations");
    let orders = if context.follows(Rule::RefundsAreOrders) { EACH_ORDER } else { ORDERS };
    let mut plan = Plan::of([ITEMS_SOLD, NET_REVENUE, orders]);
    plan.need(NEWEST);
    let query = Query {
        filter: filter(call, &context)?,
        group: Group::Variation,
        measures: plan.measures.clone(),
        ..Query::of(Table::Lines, DateColumn::Created, span(context.range(call)))
    };
    let rows = found(&context, wanted.as_ref(), &query)?;
    let rows = ranked(call, rows, &plan)?;
    let total = total(&context, wanted.as_ref().map(IdSet::len), rows.len());
    let shown = sorted_page(call, rows);
    let ids: Vec<i64> = shown.iter().flat_map(|row| [row.variation_id, row.product_id]).collect();
    let cards = super::product_cards(reports, call, &ids)?;
    let bodies: Vec<Value> = shown
        .iter()
        .map(|row| {
            let card = cards.as_ref().map(|cards| {
                let card = cards.get(&row.variation_id).or_else(|| cards.get(&row.product_id));
                match card {
                    Some(card) => Value::Object(chosen(card, CARD)),
                    None => json!({ "deleted": true, "attributes": [], "name": "(Deleted)" }),
                }
            });
            body(reports, call, row, &plan, card)
        })
        .collect();
    let beyond = if wanted.is_some() { Beyond::Kept } else { Beyond::Forgotten };
    let path = format!("{}/reports/variations", reports.base);
    Ok(reply(call, &path, bodies, total, (&context, beyond)))
}

fn body(
    reports: &ReportContext,
    call: &Call<'_>,
    row: &Row,
    plan: &Plan,
    card: Option<Value>,
) -> Value {
    let Row { product_id, variation_id, values } = row;
    let mut body = Map::new();
    body.insert(String::from("product_id"), json!(product_id));
    body.insert(String::from("variation_id"), json!(variation_id));
    body.extend(plan.members(values));
    body.insert(String::from("extended_info"), card.unwrap_or_else(nothing));
    let product = format!("/products/{product_id}");
    // Clients know the second address so, though nothing is there.
    let variation = format!("{product}/variation/{variation_id}");
    let links = Links::new()
        .to("product", record(call, reports, &product))
        .to("variation", record(call, reports, &variation));
    linked(body, links)
}

fn found(context: &QueryContext, wanted: Option<&IdSet>, query: &Query) -> Result<Vec<Row>, Stop> {
    let answer = context.answer(query)?;
    let mut rows: Vec<Row> = Vec::new();
    for found in answer.rows() {
        if let Key::Variation { product_id, variation_id } = found.key {
            let (product_id, variation_id) = (*product_id, *variation_id);
            rows.push(Row { product_id, variation_id, values: found.values.to_vec() });
        }
    }
    // Who sees some sales only is shown no variation without one.
    let shown = wanted.filter(|_| !context.is_bound());
    for variation_id in shown.into_iter().flat_map(IdSet::ids).copied() {
        if !rows.iter().any(|row| row.variation_id == variation_id) {
            rows.push(Row { product_id: 0, variation_id, values: Vec::new() });
        }
    }
    rows.sort_by_key(|row| (row.product_id, row.variation_id));
    Ok(rows)
}

fn ranked(call: &mut Call<'_>, rows: Vec<Row>, plan: &Plan) -> Result<Vec<(Rank, Row)>, Stop> {
    let by = call.params.text("orderby").unwrap_or("date").to_owned();
    let ids: Vec<i64> = rows.iter().map(|row| row.variation_id).collect();
    let records =
        if by == "sku" { known::product_rows(call.conn()?, &ids)? } else { BTreeMap::new() };
    let ranked = rows.into_iter().map(|row| {
        let rank = match by.as_str() {
            "sku" => records
                .get(&row.variation_id)
                .map_or(Rank::Nothing, |record| Rank::text(&record.sku)),
            "date" => Rank::int(plan.raw(NEWEST, &row.values)),
            name => rank_of(plan, name, &row.values),
        };
        (rank, row)
    });
    Ok(ranked.collect())
}
