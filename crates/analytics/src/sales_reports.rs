//! The older sales reports of commerce: what was sold in a period, day by day or month by month,
//! and what sold best in it. Newer clients ask for [`reports`](crate::reports) instead; both are
//! answered from the same facts.
//!
//! A sale counts when the order was made, a refund when it was made. An order that was paid back
//! as a whole counts as sold and as refunded.

mod period;

use std::sync::Arc;

use contract::rest::route::{READ, Route};
use contract::rest::{Args, Item, Links, Reply, Schema, Stop};
use frame::action::read;
use frame::managers::linked;
use frame::{Action, Call, Names};
use serde_json::{Map, Value, json};
use site_rows::user;
use types::{Amount, Capability, Role, Timestamp};

use crate::columns::number;
use crate::context::{CANNOT_VIEW, NOT_ALLOWED, QueryContext, ReportContext, may_view_all};
use crate::facts::{LineNumber, OrderNumber, OrderText};
use crate::known;
use crate::query::Measure::{self, Rows, Sum};
use crate::query::{
    Column, DateColumn, Filter, Group, Key, Per, Query, RowKind, Span, Table, When,
};

/// Orders of these statuses are sales.
const SALES: [&str; 3] = ["completed", "processing", "on-hold"];
/// An order of this status was a sale until all of it was paid back.
const REFUNDED: &str = "refunded";
/// Amounts of these reports have two decimals, whatever the shop's have.
const DECIMALS: u32 = 2;
/// Products that the list of the best has.
const BEST_MAX: usize = 12;

pub(crate) fn routes(names: &Names, reports: &Arc<ReportContext>) -> Vec<Route<Action>> {
    let versions = [&names.commerce_v1, &names.commerce_v2, &names.commerce_v3];
    versions.into_iter().flat_map(|namespace| routes_of(namespace, reports)).collect()
}

type Run = fn(&ReportContext, &mut Call<'_>, &str) -> Result<Reply, Stop>;

fn routes_of(namespace: &str, reports: &Arc<ReportContext>) -> [Route<Action>; 2] {
    let route = |name: &str, item: &Item, run: Run| {
        let (reports, waiting) = (Arc::clone(reports), Arc::clone(reports));
        let base = format!("/{namespace}");
        let run = read(may_view, move |call: &mut Call<'_>| run(&reports, call, &base))
            .after(move |site, visit, params| waiting.fresh(site, visit, params))
            .in_turns();
        let args = Args::new().arg("context", item.context_arg()).with(period::args());
        let route = Route::at(namespace, &format!("/reports/{name}"));
        route.on(READ, args, run).lists().schema(item.document())
    };
    [route("sales", &sales_item(), sales_report), route("top_sellers", &best_item(), best_sellers)]
}

/// For those who run the shop: these sums are of all its sales.
fn may_view(call: &mut Call<'_>) -> Result<(), Stop> {
    may_view_all(call)?;
    call.need(Capability::ViewWoocommerceReports, CANNOT_VIEW, NOT_ALLOWED)?;
    call.need(Capability::ManageWoocommerce, CANNOT_VIEW, NOT_ALLOWED)
}

/// A field of a report: there is nothing to write.
fn shown(schema: Schema, about: &str) -> Schema {
    schema.about(about).context(&["view"]).readonly()
}

fn sales_item() -> Item {
    let text = |about: &str| shown(Schema::text(), about);
    let count = |about: &str| shown(Schema::integer(), about);
    let parts = Schema::list(Schema::typed("array"));
    // By the text of the day or month; without any it is an empty list.
    let parts = parts.shown_as(Schema::types(&["object", "array"]));
    Item::new(
        "sales_report",
        Schema::object([
            ("total_sales", text("Gross sales, less refunds.")),
            ("net_sales", text("Net sales.")),
            ("average_sales", text("Average net sales per day or month.")),
            ("total_orders", count("Number of orders, without fully refunded ones.")),
            ("total_items", count("Number of items sold.")),
            ("total_tax", text("Total tax, less refunds.")),
            ("total_shipping", text("Total shipping, less refunds.")),
            ("total_refunds", count("Total refunds.").shown_as(Schema::number())),
            ("total_discount", count("Total discount.").shown_as(Schema::text())),
            ("totals_grouped_by", text("Whether totals are grouped by day or month.")),
            ("totals", shown(parts, "Totals by day or month.")),
        ]),
    )
}

fn best_item() -> Item {
    Item::new(
        "top_sellers_report",
        Schema::object([
            ("name", shown(Schema::text(), "Product name.")),
            ("product_id", shown(Schema::integer(), "Product ID.")),
            ("quantity", shown(Schema::integer(), "Quantity sold.")),
        ]),
    )
}

const fn sum(number: OrderNumber) -> Measure {
    Sum(Column::Order(number), When::Always, Per::Row)
}

const MEASURES: [Measure; 6] = [
    Rows(When::Always),
    sum(OrderNumber::Total),
    sum(OrderNumber::Shipping),
    sum(OrderNumber::Tax),
    sum(OrderNumber::Items),
    Sum(Column::Discounts, When::Always, Per::Row),
];

/// Orders or refunds, added up.
#[derive(Clone, Copy, Debug, Default)]
struct SalesSum {
    count: i64,
    total: Amount,
    shipping: Amount,
    tax: Amount,
    items: i64,
    discount: Amount,
}

impl SalesSum {
    fn of(values: &[i64]) -> Self {
        let [count, total, shipping, tax, items, discount] = values else {
            return Self::default();
        };
        let [total, shipping, tax, discount] =
            [total, shipping, tax, discount].map(|value| Amount::from_millionths(*value));
        Self { count: *count, total, shipping, tax, items: *items, discount }
    }
}

/// A question for the sums of orders, or of refunds, of some statuses.
fn query(span: Span, kind: RowKind, statuses: &[&str]) -> Query {
    Query {
        filter: Filter::Kind(kind).and(of_status(statuses)),
        measures: MEASURES.to_vec(),
        ..Query::of(Table::Orders, DateColumn::Created, span)
    }
}

/// A refund has the status of its order.
fn of_status(statuses: &[&str]) -> Filter {
    let statuses = statuses.iter().map(|status| (*status).to_owned()).collect();
    Filter::Text(OrderText::Status, statuses)
}

fn sales_report(reports: &ReportContext, call: &mut Call<'_>, base: &str) -> Result<Reply, Stop> {
    let context = reports.query_context(call)?;
    let period = period::of(call);
    let (span, bounds) = (period.whole, period.bounds());
    let mut registered =
        user::registered_between(call.conn()?, Role::Customer, span.from, span.until)?;
    registered.sort_unstable();
    let sold = [SALES[0], SALES[1], SALES[2], REFUNDED];
    let of_orders = query(span, RowKind::Order, &sold);
    let by_part = context.answer(&Query { bounds, ..of_orders.clone() })?;
    let mut totals = Map::new();
    for (bucket, (name, span)) in period.parts.iter().enumerate() {
        let part = SalesSum::of(by_part.totals(bucket));
        totals.insert(name.clone(), part_body(&part, count_in(&registered, *span)));
    }
    let sum = SalesSum::of(context.answer(&of_orders)?.totals(0));
    let in_part = query(span, RowKind::Refund, &SALES);
    let in_part = SalesSum::of(context.answer(&in_part)?.totals(0));
    let entirely = refunded_entirely(&context, span)?;
    let left = |all: Amount, part: Amount, entire: Amount| all - part.abs() - entire;
    // The sums of refunds are negative.
    let refunds = entirely.total - in_part.total;
    let shipping = left(sum.shipping, in_part.shipping, entirely.shipping);
    let tax = left(sum.tax, in_part.tax, entirely.tax);
    let total = (sum.total - refunds).rounded(DECIMALS);
    let net = total - shipping - tax.max(Amount::ZERO);
    let parts = Amount::from_whole(i64::try_from(period.parts.len()).unwrap_or(i64::MAX));
    let body = json!({
        "total_sales": money(total),
        "net_sales": money(net),
        "average_sales": money(net.divided_by(parts).unwrap_or_default()),
        "total_orders": (sum.count - entirely.count).max(0),
        "total_items": sum.items.max(0),
        "total_tax": money(tax),
        "total_shipping": money(shipping),
        "total_refunds": number(refunds.rounded(DECIMALS).to_f64()),
        "total_discount": money(sum.discount),
        "totals_grouped_by": period.grouped_by,
        "totals": totals,
        "total_customers": registered.len(),
    });
    let links = Links::new().to("about", about(call, base));
    Ok(context.with_notes(Reply::new(vec![linked(body, links)])))
}

/// What the orders came to that were paid back as a whole and have a refund of the span.
fn refunded_entirely(context: &QueryContext, span: Span) -> Result<SalesSum, Stop> {
    let refunds = query(span, RowKind::Refund, &[REFUNDED]).filter;
    let orders = context.refunded_orders((DateColumn::Created, span), &refunds)?;
    let whole = query(Span::ALWAYS, RowKind::Order, &[REFUNDED]);
    let filter = whole.filter.clone().and(Filter::Orders(orders));
    Ok(SalesSum::of(context.answer(&Query { filter, ..whole })?.totals(0)))
}

/// What a day or month came to, before refunds.
fn part_body(sold: &SalesSum, customers: usize) -> Value {
    json!({
        "sales": money(sold.total),
        "orders": sold.count,
        "items": sold.items,
        "tax": money(sold.tax),
        "shipping": money(sold.shipping),
        "discount": money(sold.discount),
        "customers": customers,
    })
}

/// How many of the moments, which ascend, lie in the span.
fn count_in(moments: &[Timestamp], span: Span) -> usize {
    let before = |end: Timestamp| moments.partition_point(|moment| *moment < end);
    before(span.until).saturating_sub(before(span.from))
}

fn money(amount: Amount) -> String {
    amount.to_text(DECIMALS)
}

fn about(call: &Call<'_>, base: &str) -> String {
    call.visit.rest(&format!("{base}/reports"))
}

fn best_sellers(reports: &ReportContext, call: &mut Call<'_>, base: &str) -> Result<Reply, Stop> {
    let context = reports.query_context(call)?;
    let query = Query {
        filter: of_status(&SALES),
        group: Group::Product,
        measures: vec![Sum(Column::Line(LineNumber::Quantity), When::Always, Per::Row)],
        ..Query::of(Table::Lines, DateColumn::Created, period::of(call).whole)
    };
    let answer = context.answer(&query)?;
    let mut best: Vec<(i64, i64)> = answer
        .rows()
        .filter_map(|row| match (row.key, row.values) {
            (Key::Id(id), [quantity]) if *id != 0 => Some((*id, *quantity)),
            _ => None,
        })
        .collect();
    best.sort_by_key(|(id, quantity)| (std::cmp::Reverse(*quantity), *id));
    best.truncate(BEST_MAX);
    let ids: Vec<i64> = best.iter().map(|(id, _)| *id).collect();
    let products = known::product_rows(call.conn()?, &ids)?;
    let items = best.into_iter().filter_map(|(product_id, quantity)| {
        let name = &products.get(&product_id)?.name;
        let body = json!({ "name": name, "product_id": product_id, "quantity": quantity });
        let links = Links::new()
            .to("about", about(call, base))
            .to("product", call.visit.rest(&format!("{base}/products/{product_id}")));
        Some(linked(body, links))
    });
    Ok(context.with_notes(Reply::new(items.collect::<Vec<Value>>())))
}
