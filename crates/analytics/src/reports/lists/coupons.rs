//! What coupons took off, coupon by coupon.

use contract::rest::{Args, Links, Reply, Schema, Stop};
use frame::Call;
use frame::dates::{Moment, written};
use serde_json::{Map, Value, json};
use shop_rows::coupon::CouponRow;

use super::{
    Rank, Row, cut, described, linked, nothing, page, rank_of, record, reply, rows, sort, total,
};
use crate::columns::{Column, Plan, Shape, column, schemas};
use crate::compat::{Beyond, Rule};
use crate::context::{QueryContext, ReportContext, span};
use crate::known;
use crate::query::Measure::{Distinct, Sum};
use crate::query::{
    Column as Of, DateColumn, Filter, Group, IdSet, Per, Query, Subject, Table, When,
};
use crate::reports::{args, filters};

const COLUMNS: &[Column] = &[
    column(
        "amount",
        "Discount amount.",
        Shape::Money,
        &[(1, Sum(Of::CouponDiscount, When::Always, Per::Row))],
    ),
    column(
        "orders_count",
        "Number of orders with the coupon.",
        Shape::Count,
        &[(1, Distinct(Subject::Order, When::Always))],
    ),
];

pub fn args() -> Args {
    args::dated(1, "coupon_id", &["coupon_id", "code", "amount", "orders_count"])
        .with(args::ids("coupons", "Limit results to these coupons."))
        .with(args::extended_info())
        .with(args::scope())
}

pub fn document() -> Value {
    let mut members = vec![("coupon_id", Schema::integer().about("Coupon ID."))];
    members.extend(schemas(COLUMNS));
    members.push(("extended_info", Schema::map().about("Coupon details.")));
    described("report_coupons", members)
}

/// What a coupon is called that nobody knows any more.
const DELETED: &str = "(Deleted)";

pub fn list(reports: &ReportContext, call: &mut Call<'_>) -> Result<Reply, Stop> {
    let context = reports.query_context(call)?;
    let wanted = filters::ids(&call.params, "coupons");
    let plan = Plan::of(COLUMNS.iter().copied());
    let rows = found(call, &context, wanted.as_ref(), &plan)?;
    let ids: Vec<i64> = rows.iter().map(|(id, _)| *id).collect();
    let records = known::coupon_rows(call.conn()?, &ids)?;
    let by = call.params.text("orderby").unwrap_or("coupon_id").to_owned();
    let ranked = rows.into_iter().filter_map(|(id, values)| {
        let rank = match by.as_str() {
            "coupon_id" => Rank::int(id),
            // Who has no code any more has no place among the codes.
            "code" => Rank::text(&records.get(&id)?.code),
            name => rank_of(&plan, name, &values),
        };
        Some((rank, (id, values)))
    });
    let mut rows: Vec<(Rank, Row)> = ranked.collect();
    sort(&mut rows, super::is_descending(call));
    let total = total(&context, wanted.as_ref().map(IdSet::len), rows.len());
    let is_extended = call.params.flag("extended_info");
    let bodies = cut(rows, page(call)).into_iter().map(|(id, values)| {
        let mut body = Map::new();
        body.insert(String::from("coupon_id"), json!(id));
        body.extend(plan.members(&values));
        let more = if is_extended { extended(call, &context, records.get(&id)) } else { nothing() };
        body.insert(String::from("extended_info"), more);
        let address = record(call, reports, &format!("/coupons/{id}"));
        linked(body, Links::new().to("coupon", address))
    });
    let bodies: Vec<Value> = bodies.collect();
    let beyond = if wanted.is_some() { Beyond::Kept } else { Beyond::Forgotten };
    let path = format!("{}/reports/coupons", reports.base);
    Ok(reply(call, &path, bodies, total, (&context, beyond)))
}

fn found(
    call: &Call<'_>,
    context: &QueryContext,
    wanted: Option<&IdSet>,
    plan: &Plan,
) -> Result<Vec<Row>, Stop> {
    let scope = filters::scope(&call.params).into_iter();
    let query = Query {
        filter: scope.fold(context.counted(), Filter::and),
        group: Group::Coupon,
        measures: plan.measures.clone(),
        ..Query::of(Table::Coupons, DateColumn::Created, span(context.range(call)))
    };
    let answer = context.answer(&query)?;
    Ok(rows(context, &answer, wanted))
}

/// What is known about a coupon.
fn extended(call: &Call<'_>, context: &QueryContext, coupon: Option<&CouponRow>) -> Value {
    let Some(coupon) = coupon else {
        return json!({
            "code": DELETED,
            "date_created": "",
            "date_created_gmt": "",
            "date_expires": "",
            "date_expires_gmt": "",
            "discount_type": "N/A",
        });
    };
    let moments = |time: Option<types::Timestamp>| {
        let moment = time.map(|time| Moment::at(call.options(), time));
        let local = moment.map(|moment| written(moment.local)).unwrap_or_default();
        let gmt = moment.map(|moment| written(moment.gmt)).unwrap_or_default();
        if context.follows(Rule::CouponDatesRepeat) { [local.clone(), local] } else { [local, gmt] }
    };
    let [created, created_gmt] = moments(Some(coupon.created));
    let [expires, expires_gmt] = moments(coupon.expires);
    json!({
        "code": coupon.code,
        "date_created": created,
        "date_created_gmt": created_gmt,
        "date_expires": expires,
        "date_expires_gmt": expires_gmt,
        "discount_type": coupon.discount_kind,
    })
}

/// The coupons of most orders: id, code, orders, and what they took off in millionths.
pub fn best(
    context: &QueryContext,
    call: &mut Call<'_>,
    page: (usize, usize),
) -> Result<Vec<(i64, String, i64, i64)>, Stop> {
    let plan = Plan::of(COLUMNS.iter().copied());
    let orders = |values: &[i64]| plan.raw(Distinct(Subject::Order, When::Always), values);
    let amount = |values: &[i64]| plan.raw(Sum(Of::CouponDiscount, When::Always, Per::Row), values);
    let rows = found(call, context, None, &plan)?.into_iter();
    let mut rows: Vec<(Rank, Row)> =
        rows.map(|(id, values)| (Rank::int(orders(&values)), (id, values))).collect();
    sort(&mut rows, true);
    let rows = cut(rows, page);
    let ids: Vec<i64> = rows.iter().map(|(id, _)| *id).collect();
    let records = known::coupon_rows(call.conn()?, &ids)?;
    let best = rows.into_iter().map(|(id, values)| {
        let code = records.get(&id).map_or(DELETED, |record| record.code.as_str());
        (id, code.to_owned(), orders(&values), amount(&values))
    });
    Ok(best.collect())
}
