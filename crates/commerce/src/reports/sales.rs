//! What was sold in a period, day by day or month by month, and what sold best in it.
//!
//! A sale counts when the order was made, a refund when it was made. An order that was paid back
//! as a whole counts as sold and as refunded.

use contract::rest::route::{READ, Route};
use contract::rest::{Item, Links, Reply, Schema, Stop};
use db::filter::Page;
use frame::action::read;
use frame::{Action, Call};
use serde_json::{Map, Value, json};
use shop_rows::order::sales::{self, SalesSum, Sold, Span};
use shop_rows::product;
use site_rows::user::{self, UserFilter};
use types::{Amount, Result, Role};

use super::period::{self, Period};
use super::{base, may_view, shown};
use crate::common::amounts;
use crate::managers::linked;
use crate::orders::status;

/// Orders of these statuses are sales.
const SALES: [&str; 3] = [status::COMPLETED, status::PROCESSING, status::ON_HOLD];
/// Amounts of these reports have two decimals, whatever the shop's have.
const DECIMALS: u32 = 2;
/// Products that the list of the best has.
const BEST_MAX: i64 = 12;

pub(super) fn routes(namespace: &str) -> [Route<Action>; 2] {
    let about = base(namespace);
    let products = format!("/{namespace}/products");
    let report = {
        let about = about.clone();
        move |call: &mut Call<'_>| sales_report(call, &about)
    };
    let best = move |call: &mut Call<'_>| best_sellers(call, &about, &products);
    [
        route(namespace, "sales", &sales_item(), read(may_view, report)),
        route(namespace, "top_sellers", &best_item(), read(may_view, best)),
    ]
}

fn route(namespace: &str, name: &str, item: &Item, action: Action) -> Route<Action> {
    let args = contract::rest::Args::new().arg("context", item.context_arg());
    Route::at(namespace, &format!("/reports/{name}"))
        .on(READ, args.with(period::args()), action)
        .schema(item.document())
}

fn sales_item() -> Item {
    let text = |about: &str| shown(Schema::text(), about);
    let count = |about: &str| shown(Schema::integer(), about);
    let parts = Schema::list(Schema::typed("array"));
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
            ("total_refunds", count("Total refunds.")),
            ("total_discount", count("Total discount.")),
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

fn sales_report(call: &mut Call<'_>, about: &str) -> Result<Reply, Stop> {
    let Period { whole, grouped_by, parts } = period::of(call);
    let customers = customers_in(call, whole)?;
    let mut all = Sold::default();
    let mut totals = Map::new();
    let count = i64::try_from(parts.len()).unwrap_or(i64::MAX);
    for (name, span) in parts {
        let sold =
            sales::sold(call.conn()?, span, [SALES[0], SALES[1], SALES[2], status::REFUNDED])?;
        let new = if customers == 0 { 0 } else { customers_in(call, span)? };
        totals.insert(name, part_body(&sold, new));
        all.sum = added(all.sum, sold.sum);
        all.items += sold.items;
        all.discount += sold.discount;
    }
    let in_part = sales::refunded_in_part(call.conn()?, whole, SALES)?;
    let entirely = sales::refunded_whole(call.conn()?, whole, status::REFUNDED)?;
    let left = |all: Amount, part: Amount, entire: Amount| all - part.abs() - entire;
    let sum = all.sum;
    let refunds = in_part.total + entirely.total;
    let shipping = left(sum.shipping, in_part.shipping, entirely.shipping);
    let tax = left(sum.tax, in_part.tax, entirely.tax);
    let shipping_tax = left(sum.shipping_tax, in_part.shipping_tax, entirely.shipping_tax);
    let total = (sum.total - refunds).rounded(DECIMALS);
    let net = total - shipping - tax.max(Amount::ZERO) - shipping_tax.max(Amount::ZERO);
    let average = net.divided_by(Amount::from_whole(count)).unwrap_or_default();
    let body = json!({
        "total_sales": money(total),
        "net_sales": money(net),
        "average_sales": money(average),
        "total_orders": (sum.count - entirely.count).max(0),
        "total_items": all.items.to_whole().max(0),
        "total_tax": money(tax + shipping_tax),
        "total_shipping": money(shipping),
        "total_refunds": amounts::number(refunds.rounded(DECIMALS)),
        "total_discount": money(all.discount),
        "totals_grouped_by": grouped_by,
        "totals": totals,
        "total_customers": customers,
    });
    let links = Links::new().to("about", call.visit.rest(about));
    Ok(Reply::new(vec![linked(body, links)]))
}

/// What a day or month came to, before refunds.
fn part_body(sold: &Sold, customers: i64) -> Value {
    json!({
        "sales": money(sold.sum.total),
        "orders": sold.sum.count,
        "items": sold.items.to_whole(),
        "tax": money(sold.sum.tax + sold.sum.shipping_tax),
        "shipping": money(sold.sum.shipping),
        "discount": money(sold.discount),
        "customers": customers,
    })
}

fn added(one: SalesSum, other: SalesSum) -> SalesSum {
    SalesSum {
        count: one.count + other.count,
        total: one.total + other.total,
        shipping: one.shipping + other.shipping,
        tax: one.tax + other.tax,
        shipping_tax: one.shipping_tax + other.shipping_tax,
    }
}

fn money(amount: Amount) -> String {
    amount.to_text(DECIMALS)
}

/// How many customers registered in the span.
fn customers_in(call: &mut Call<'_>, span: Span) -> Result<i64> {
    let wanted = UserFilter {
        roles: vec![Role::Customer],
        registered_from: Some(span.from),
        registered_before: Some(span.to),
        page: Page { offset: 0, limit: 0 },
        ..UserFilter::default()
    };
    Ok(user::list(call.conn()?, &wanted)?.1)
}

fn best_sellers(call: &mut Call<'_>, about: &str, products: &str) -> Result<Reply, Stop> {
    let Period { whole, .. } = period::of(call);
    let mut items = Vec::new();
    for (product_id, quantity) in sales::best_sellers(call.conn()?, whole, SALES, BEST_MAX)? {
        let Some(product) = product::get(call.conn()?, product_id)? else { continue };
        let body = json!({
            "name": product.name,
            "product_id": product_id,
            "quantity": amounts::number(quantity),
        });
        let links = Links::new()
            .to("about", call.visit.rest(about))
            .to("product", call.visit.rest(&format!("{products}/{product_id}")));
        items.push(linked(body, links));
    }
    Ok(Reply::new(items))
}
