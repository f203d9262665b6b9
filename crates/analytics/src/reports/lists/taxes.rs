//! Taxes, rate by rate. A rate whose code or percentage changed has a row for each.

use std::sync::Arc;

use contract::rest::{Args, Links, Reply, Schema, Stop};
use frame::Call;
use serde_json::{Map, Value, json};
use shop_rows::tax_rate::TaxRateRow;
use types::Amount;

use super::{Rank, cut, described, linked, page, rank_of, record, reply, sort, total as total_of};
use crate::columns::{Column, Plan, Shape, column, number, schemas};
use crate::compat::{Beyond, Rule};
use crate::context::{ReportContext, span};
use crate::known;
use crate::query::Measure::{self, Distinct, Sum};
use crate::query::{Column as Of, DateColumn, Group, IdSet, Key, Per, Query, Subject, Table, When};
use crate::reports::stats::taxes::filter;
use crate::reports::{args, filters};

const fn total(of: Of) -> Measure {
    Sum(of, When::Always, Per::Row)
}

const COLUMNS: &[Column] = &[
    column("total_tax", "Total tax.", Shape::Money, &[(1, total(Of::TaxOfBoth))]),
    column("order_tax", "Tax on items and fees.", Shape::Money, &[(1, total(Of::TaxOfGoods))]),
    column("shipping_tax", "Tax on shipping.", Shape::Money, &[(1, total(Of::TaxOfShipping))]),
    column(
        "orders_count",
        "Number of taxed orders.",
        Shape::Count,
        &[(1, Distinct(Subject::Order, When::Order))],
    ),
];

pub fn args() -> Args {
    let columns = [
        "name",
        "tax_rate_id",
        "tax_code",
        "rate",
        "order_tax",
        "total_tax",
        "shipping_tax",
        "orders_count",
    ];
    args::dated(1, "tax_rate_id", &columns)
        .with(args::texts("taxes", "Limit results to taxes at these rates."))
        .with(args::scope())
}

pub fn document() -> Value {
    let text = |about: &str| Schema::text().about(about);
    let mut members = vec![
        ("tax_rate_id", Schema::integer().about("Tax rate ID.")),
        ("name", text("Tax rate name.")),
        ("tax_rate", Schema::number().about("The rate in percent.")),
        ("country", text("Country of the tax rate.")),
        ("state", text("State of the tax rate.")),
        ("priority", Schema::integer().about("Priority of the tax rate.")),
    ];
    members.extend(schemas(COLUMNS));
    described("report_taxes", members)
}

struct Row {
    rate_id: i64,
    code: Arc<str>,
    percent: Amount,
    parts: Parts,
    values: Vec<i64>,
}

pub fn list(reports: &ReportContext, call: &mut Call<'_>) -> Result<Reply, Stop> {
    let context = reports.query_context(call)?;
    let wanted = filters::ids(&call.params, "taxes");
    let plan = Plan::of(COLUMNS.iter().copied());
    let query = Query {
        filter: filter(call, &context)?,
        group: Group::TaxCode,
        measures: plan.measures.clone(),
        ..Query::of(Table::Taxes, DateColumn::Created, span(context.range(call)))
    };
    let answer = context.answer(&query)?;
    let by = call.params.text("orderby").unwrap_or("tax_rate_id").to_owned();
    // A rate that is still there is shown as it is now.
    let known = known::tax_rate_rows(call.conn()?)?;
    let is_parsed = context.follows(Rule::TaxNamesFromCodes);
    let mut rows: Vec<(Rank, Row)> = Vec::new();
    for found in answer.rows() {
        let Key::TaxCode { rate_id, code, percent } = found.key else { continue };
        let (rate_id, code) = (*rate_id, Arc::clone(code));
        let rate = known.get(&rate_id);
        let percent = rate.and_then(|rate| rate.rate).unwrap_or(*percent);
        let parts = match rate.filter(|_| !is_parsed) {
            Some(rate) => Parts::of(rate),
            None => Parts::parse(&code),
        };
        let row = Row { rate_id, code, percent, parts, values: found.values.to_vec() };
        rows.push((row.rank(&by, &plan), row));
    }
    sort(&mut rows, super::is_descending(call));
    let total = total_of(&context, wanted.as_ref().map(IdSet::len), rows.len());
    let shown = cut(rows, page(call));
    let bodies: Vec<Value> = shown
        .iter()
        .map(|row| {
            let address = record(call, reports, &format!("/taxes/{}", row.rate_id));
            linked(row.body(&plan), Links::new().to("tax", address))
        })
        .collect();
    let beyond = if wanted.is_some() { Beyond::Kept } else { Beyond::Forgotten };
    let path = format!("{}/reports/taxes", reports.base);
    Ok(reply(call, &path, bodies, total, (&context, beyond)))
}

impl Row {
    fn rank(&self, by: &str, plan: &Plan) -> Rank {
        match by {
            "tax_rate_id" => Rank::int(self.rate_id),
            "name" => Rank::text(&self.parts.name),
            "tax_code" => Rank::text(&self.code),
            "rate" => Rank::Number(self.percent.to_f64()),
            name => rank_of(plan, name, &self.values),
        }
    }

    fn body(&self, plan: &Plan) -> Map<String, Value> {
        let Parts { country, state, name, priority } = &self.parts;
        let mut body = Map::new();
        body.insert(String::from("tax_rate_id"), json!(self.rate_id));
        body.insert(String::from("name"), json!(name));
        body.insert(String::from("tax_rate"), number(self.percent.to_f64()));
        body.insert(String::from("country"), json!(country));
        body.insert(String::from("state"), json!(state));
        body.insert(String::from("priority"), json!(priority));
        body.extend(plan.members(&self.values));
        body
    }
}

struct Parts {
    country: String,
    state: String,
    name: String,
    priority: i64,
}

impl Parts {
    fn of(rate: &TaxRateRow) -> Self {
        let TaxRateRow { country, state, name, priority, .. } = rate;
        let [country, state, name] = [country, state, name].map(String::clone);
        Self { country, state, name, priority: *priority }
    }

    /// From a code: country, state, name and priority with hyphens between. What is empty was left
    /// out there, so that a rate without a state shows its country in its place.
    fn parse(code: &str) -> Self {
        let mut from_end = code.rsplit('-');
        let priority = from_end.next().and_then(|text| text.parse().ok()).unwrap_or_default();
        let name = from_end.next().unwrap_or_default().to_owned();
        let state = from_end.next().unwrap_or_default().to_owned();
        let country = code.split('-').next().unwrap_or_default().to_owned();
        Self { country, state, name, priority }
    }
}
