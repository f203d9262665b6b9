//! Orders and refunds, one by one.

use std::collections::{BTreeMap, BTreeSet};

use contract::rest::{Args, Links, Reply, Schema, Stop};
use frame::Call;
use serde_json::{Map, Value, json};
use types::Timestamp;

use super::{described, linked, page, record, reply};
use crate::calendar::{Calendar, Second};
use crate::columns::money;
use crate::compat::{self, Beyond, Rule};
use crate::context::{Cards, QueryContext, ReportContext, date_of_orders, seconds, span};
use crate::facts::{CouponFact, OrderFact, OrderNumber};
use crate::known;
use crate::query::{DateColumn, Filter, IdSet, OrderSort, Paging};
use crate::reports::lists::customers;
use crate::reports::stats::orders::conditions;
use crate::reports::{args, filters};

/// Where an order came from, if nothing is known about it.
const UNKNOWN_ORIGIN: &str = "Unknown";

pub fn args() -> Args {
    let customer_type = Schema::text().default("").choices(&["", "returning", "new"]);
    let refunds = Schema::text().default("").choices(&["", "all", "partial", "full", "none"]);
    args::dated(0, "date", &["date", "num_items_sold", "net_total"])
        .with(args::ids_or_none("product_includes", "Limit results to orders with these products."))
        .with(args::ids_or_none("product_excludes", "Exclude orders with these products."))
        .with(args::ids_or_none(
            "variation_includes",
            "Limit results to orders with these variations.",
        ))
        .with(args::ids_or_none("variation_excludes", "Exclude orders with these variations."))
        .with(args::ids_or_none("coupon_includes", "Limit results to orders with these coupons."))
        .with(args::ids_or_none("coupon_excludes", "Exclude orders with these coupons."))
        .with(args::ids_or_none(
            "tax_rate_includes",
            "Limit results to orders taxed at these rates.",
        ))
        .with(args::ids_or_none("tax_rate_excludes", "Exclude orders taxed at these rates."))
        .with(args::statuses())
        .arg("customer_type", customer_type.about("Limit results to new or returning customers."))
        .arg("refunds", refunds.about("Limit results by refunds: all, partial, full or none."))
        .with(args::extended_info())
        .with(args::ids("order_includes", "Limit results to these orders."))
        .with(args::ids("order_excludes", "Exclude these orders."))
        .with(args::attributes())
        .with(args::scope())
}

pub fn document() -> Value {
    let text = |about: &str| Schema::text().about(about);
    let whole = |about: &str| Schema::integer().about(about);
    let number = text("What people call the order.");
    let number = number.shown_as(Schema::types(&["string", "integer"]));
    let members = [
        ("order_id", whole("Order or refund ID.")),
        ("order_number", number),
        ("date_created", text("Date created, in the site's time zone.")),
        ("date_created_gmt", text("Date created, in UTC.")),
        ("status", text("Order status.")),
        ("customer_id", whole("Customer ID.")),
        ("num_items_sold", whole("Items sold.")),
        ("net_total", Schema::number().about("Net total, excluding tax and shipping.")),
        ("total_formatted", text("The total as people read it.")),
        ("customer_type", text("Whether the customer is returning.")),
        ("extended_info", Schema::map().about("Details of products, coupons and the customer.")),
    ];
    described("report_orders", members)
}

pub fn list(reports: &ReportContext, call: &mut Call<'_>) -> Result<Reply, Stop> {
    let context = reports.query_context(call)?;
    let date = date_of_orders(call.options());
    let filter = filter(call, &context)?;
    let (offset, limit) = page(call);
    let paging = Paging { descending: super::is_descending(call), offset, limit };
    let sort = match call.params.text("orderby") {
        Some("num_items_sold") => OrderSort::Number(OrderNumber::Items),
        Some("net_total") => OrderSort::Number(OrderNumber::Net),
        _ => OrderSort::Date,
    };
    let found = context.list_orders((date, span(context.range(call))), &filter, sort, paging)?;
    let more = More::of(reports, call, &context, &found.orders)?;
    let bodies = found.orders.iter().map(|order| {
        let address = record(call, reports, &format!("/orders/{}", order.order_id));
        linked(more.body(order, date, &context.calendar), Links::new().to("order", address))
    });
    let mut bodies: Vec<Value> = bodies.collect();
    if context.follows(Rule::LastRefundHasGoods) {
        compat::leave_goods_to_last_refund(&mut bodies);
    }
    let path = format!("{}/reports/orders", reports.base);
    Ok(reply(call, &path, bodies, found.total, (&context, Beyond::RowsOnly)))
}

/// The same filters as those of the report over time, so that both agree; and orders by number.
fn filter(call: &mut Call<'_>, context: &QueryContext) -> Result<Filter, Stop> {
    let mut conditions = conditions(call, context)?;
    let params = &call.params;
    let any = filters::is_any(params);
    let statuses = filters::statuses(params, context, any);
    let counted = if statuses.is_none() { context.counted() } else { Filter::everything() };
    conditions.extend(statuses);
    let orders = |name: &str| filters::ids(params, name).map(Filter::Orders);
    conditions.extend(orders("order_includes"));
    conditions.extend(orders("order_excludes").map(Filter::negated));
    let scope = Filter::All(filters::scope(params));
    Ok(filters::joined(conditions, any).and(counted).and(scope))
}

/// What is known about orders beyond the facts about them.
struct More {
    /// The orders of the refunds on the page.
    parents: BTreeMap<i64, OrderFact>,
    cards: Cards,
    /// Only where the request wants to know.
    extended: Option<Extended>,
    /// Whether a refund is of a customer like that of its order.
    is_of_parent: bool,
}

struct Extended {
    products: BTreeMap<i64, String>,
    coupons: BTreeMap<i64, String>,
    customers: BTreeMap<i64, Value>,
}

impl More {
    fn of(
        reports: &ReportContext,
        call: &mut Call<'_>,
        context: &QueryContext,
        orders: &[OrderFact],
    ) -> Result<Self, Stop> {
        let parent_ids: IdSet = orders.iter().map(|order| order.parent_id).collect();
        let parents = context.view.orders_with_ids(context.scope(), parent_ids)?;
        let parents: BTreeMap<i64, OrderFact> =
            parents.into_iter().map(|order| (order.order_id, order)).collect();
        let ids: BTreeSet<i64> = orders.iter().map(sale).collect();
        let cards = (reports.shop.orders)(call, &ids.into_iter().collect::<Vec<_>>())?;
        let extended = if call.params.flag("extended_info") {
            Some(Extended::of(call, orders, &parents)?)
        } else {
            None
        };
        let is_of_parent = !context.follows(Rule::RefundsReturn);
        Ok(Self { parents, cards, extended, is_of_parent })
    }

    fn body(&self, order: &OrderFact, date: DateColumn, calendar: &Calendar) -> Map<String, Value> {
        let text = |time: Timestamp| calendar.text(seconds(time));
        let dated = second_of(order, date).map(|at| calendar.text(at));
        let of_refund = self.parents.get(&order.parent_id).filter(|_| self.is_of_parent);
        let returning = of_refund.unwrap_or(order).returning;
        let card = self.cards.get(&sale(order));
        let told = |name: &str| card.and_then(|card| card.get(name)).cloned();
        let mut body = Map::new();
        let mut put = |name: &str, value: Value| body.insert(name.to_owned(), value);
        put("order_id", json!(order.order_id));
        put("parent_id", json!(order.parent_id));
        put("date", json!(dated));
        put("date_created", json!(text(order.created)));
        put("date_created_gmt", json!(Calendar::utc().text(seconds(order.created))));
        put("status", json!(&*order.status));
        put("customer_id", json!(order.customer_id));
        put("net_total", money(order.net.as_millionths()));
        put("total_sales", money(order.total.as_millionths()));
        put("num_items_sold", json!(order.items));
        put("customer_type", json!(if returning == Some(false) { "new" } else { "returning" }));
        if let Some(extended) = &self.extended {
            let origin = if order.is_refund() { None } else { told("origin") };
            let parent = self.parents.get(&order.parent_id);
            put("extended_info", extended.body(order, parent, origin));
        }
        put("order_number", told("number").unwrap_or_default());
        put("total_formatted", told("total_formatted").unwrap_or_default());
        body
    }
}

/// When the order was, by this date.
fn second_of(order: &OrderFact, date: DateColumn) -> Option<Second> {
    let at = match date {
        DateColumn::Created => Some(order.created),
        DateColumn::Paid => order.paid,
        DateColumn::Completed => order.completed,
    };
    at.map(seconds)
}

/// The order itself, or that of a refund.
fn sale(order: &OrderFact) -> i64 {
    if order.is_refund() { order.parent_id } else { order.order_id }
}

impl Extended {
    fn of(
        call: &mut Call<'_>,
        orders: &[OrderFact],
        parents: &BTreeMap<i64, OrderFact>,
    ) -> Result<Self, Stop> {
        let all = || orders.iter().chain(parents.values());
        let goods: BTreeSet<i64> = all().flat_map(|order| &order.lines).map(good).collect();
        let coupons: BTreeSet<i64> =
            all().flat_map(|order| &order.coupons).map(|coupon| coupon.coupon_id).collect();
        let buyers: BTreeSet<i64> = orders.iter().map(|order| order.customer_id).collect();
        let list = |ids: BTreeSet<i64>| ids.into_iter().collect::<Vec<i64>>();
        let products = known::product_rows(call.conn()?, &list(goods))?;
        let coupons = known::coupon_rows(call.conn()?, &list(coupons))?;
        Ok(Self {
            products: known::sold_names(call.conn()?, products.into_values())?,
            coupons: coupons.into_iter().map(|(id, row)| (id, row.code)).collect(),
            customers: customers::records(call, &list(buyers))?,
        })
    }

    /// A refund shows what its order was about.
    fn body(&self, order: &OrderFact, parent: Option<&OrderFact>, origin: Option<Value>) -> Value {
        let lines = order.lines.iter().chain(parent.into_iter().flat_map(|order| &order.lines));
        let lines = lines.filter(|line| line.quantity > 0);
        let products = lines.filter_map(|line| {
            let id = good(line);
            let name = self.products.get(&id)?;
            Some(json!({
                "id": id.to_string(),
                "name": name,
                "quantity": line.quantity.to_string(),
            }))
        });
        // Clients know them by their numbers, and not in the order in which they were given.
        let mut coupons: Vec<&CouponFact> = order.coupons.iter().collect();
        coupons.sort_by_key(|coupon| coupon.coupon_id);
        let coupons = coupons.into_iter().filter_map(|coupon| {
            let code = self.coupons.get(&coupon.coupon_id)?;
            Some(json!({ "id": coupon.coupon_id.to_string(), "code": code }))
        });
        let customer = self.customers.get(&order.customer_id).cloned();
        json!({
            "products": products.collect::<Vec<Value>>(),
            "coupons": coupons.collect::<Vec<Value>>(),
            "customer": customer.unwrap_or_else(|| json!([])),
            "attribution": { "origin": origin.unwrap_or_else(|| json!(UNKNOWN_ORIGIN)) },
        })
    }
}

/// The variation of a line, or its product.
fn good(line: &crate::facts::LineFact) -> i64 {
    if line.variation_id == 0 { line.product_id } else { line.variation_id }
}
