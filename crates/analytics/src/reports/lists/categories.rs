//! What was sold, category by category. A product counts in each category that it was put into.

use contract::rest::{Args, Links, Reply, Schema, Stop};
use frame::Call;
use serde_json::{Map, Value, json};

use super::products::{ITEMS_SOLD, NET_REVENUE, sum};
use super::{Rank, Row, cut, described, linked, nothing, page, rank_of, record, reply, rows, sort};
use crate::columns::{Column, Plan, Shape, column, schemas};
use crate::compat::{Beyond, Rule};
use crate::context::{QueryContext, ReportContext, span};
use crate::facts::LineNumber;
use crate::known;
use crate::query::Measure::Distinct;
use crate::query::{Column as Of, DateColumn, Filter, Group, Query, RollUp, Subject, Table, When};
use crate::reports::{args, filters};

/// As the reference counts.
const WITH_REFUNDS: Column = column(
    "orders_count",
    "Number of orders and refunds.",
    Shape::Count,
    &[(1, Distinct(Subject::Order, When::Always))],
);

/// The columns of the list.
fn plan(context: &QueryContext) -> Plan {
    let is_compat = context.follows(Rule::RefundsAreOrders);
    let each = |column: &Column| match column.name {
        "orders_count" if is_compat => WITH_REFUNDS,
        _ => *column,
    };
    Plan::of(COLUMNS.iter().map(each))
}

const COLUMNS: &[Column] = &[
    ITEMS_SOLD,
    NET_REVENUE,
    column(
        "orders_count",
        "Number of orders.",
        Shape::Count,
        &[(1, Distinct(Subject::Order, When::NotNegative))],
    ),
    column(
        "products_count",
        "Number of distinct products.",
        Shape::Count,
        &[(1, Distinct(Subject::Product, When::Always))],
    ),
];

pub fn args() -> Args {
    let columns =
        ["category_id", "items_sold", "net_revenue", "orders_count", "products_count", "category"];
    args::dated(1, "category_id", &columns)
        .with(args::interval())
        .with(args::statuses())
        .with(args::ids("categories", "Limit results to these categories."))
        .with(args::extended_info())
        .with(args::scope())
}

pub fn document() -> Value {
    let mut members = vec![("category_id", Schema::integer().about("Category ID."))];
    members.extend(schemas(COLUMNS));
    members.push(("extended_info", Schema::map().about("Category details.")));
    described("report_categories", members)
}

pub fn list(reports: &ReportContext, call: &mut Call<'_>) -> Result<Reply, Stop> {
    let context = reports.query_context(call)?;
    let plan = plan(&context);
    let rows = found(call, &context, &plan)?;
    let ids: Vec<i64> = rows.iter().map(|(id, _)| *id).collect();
    let names = known::category_names(call.conn()?, &ids)?;
    let by = call.params.text("orderby").unwrap_or("category_id").to_owned();
    let rank = |(id, values): &Row| match by.as_str() {
        "category_id" => Rank::int(*id),
        "category" => names.get(id).map_or(Rank::Nothing, |name| Rank::text(name)),
        name => rank_of(&plan, name, values),
    };
    let mut rows: Vec<(Rank, Row)> = rows.into_iter().map(|row| (rank(&row), row)).collect();
    sort(&mut rows, super::is_descending(call));
    let total = rows.len();
    let is_extended = call.params.flag("extended_info");
    let bodies = cut(rows, page(call)).into_iter().map(|(id, values)| {
        let mut body = Map::new();
        body.insert(String::from("category_id"), json!(id));
        body.extend(plan.members(&values));
        let name = names.get(&id).map_or("", String::as_str);
        let more = if is_extended { json!({ "name": name }) } else { nothing() };
        body.insert(String::from("extended_info"), more);
        let address = record(call, reports, &format!("/products/categories/{id}"));
        linked(body, Links::new().to("category", address))
    });
    let bodies: Vec<Value> = bodies.collect();
    let path = format!("{}/reports/categories", reports.base);
    Ok(reply(call, &path, bodies, total, (&context, Beyond::Forgotten)))
}

fn found(call: &Call<'_>, context: &QueryContext, plan: &Plan) -> Result<Vec<Row>, Stop> {
    let params = &call.params;
    let statuses = filters::statuses(params, context, false);
    let filter = statuses.unwrap_or_else(|| context.counted());
    let query = Query {
        filter: filters::scope(params).into_iter().fold(filter, Filter::and),
        group: Group::Category(RollUp::Direct),
        measures: plan.measures.clone(),
        ..Query::of(Table::Lines, DateColumn::Created, span(context.range(call)))
    };
    let answer = context.answer(&query)?;
    Ok(rows(context, &answer, filters::ids(params, "categories").as_ref()))
}

/// The categories that sold most: id, name, pieces, and net sales in millionths.
pub fn best(
    context: &QueryContext,
    call: &mut Call<'_>,
    page: (usize, usize),
) -> Result<Vec<(i64, String, i64, i64)>, Stop> {
    let plan = plan(context);
    let pieces = |values: &[i64]| plan.raw(sum(Of::Line(LineNumber::Quantity)), values);
    let rows = found(call, context, &plan)?.into_iter();
    let mut rows: Vec<(Rank, Row)> =
        rows.map(|(id, values)| (Rank::int(pieces(&values)), (id, values))).collect();
    sort(&mut rows, true);
    let rows = cut(rows, page);
    let ids: Vec<i64> = rows.iter().map(|(id, _)| *id).collect();
    let names = known::category_names(call.conn()?, &ids)?;
    let best = rows.into_iter().map(|(id, values)| {
        let name = names.get(&id).cloned().unwrap_or_default();
        (id, name, pieces(&values), plan.raw(sum(Of::Line(LineNumber::Net)), &values))
    });
    Ok(best.collect())
}
