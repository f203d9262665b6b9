//! Refunds of orders: of lines or of a sum, in part or in full.
//!
//! **No more is paid back than was paid.** Nothing here moves money: a gateway that took the
//! payment is asked to pay back afterwards ([`payback`]); where none did, whoever asks is told so.

use contract::rest::route::{CREATE, DELETE, READ, Route};
use contract::rest::{Args, CompiledItem, Links, Refusal, Reply, Schema, Stop, clean, loose};
use frame::action::{read, write};
use frame::paging::with_totals;
use frame::{Action, Call};
use serde_json::{Value, json};
use shop_rows::order::{ItemKind, OrderKind};
use types::{Amount, Capability};

use super::effects::{self, Before, REDUCED, RESTOCKED};
use super::goods::Goods;
use super::payback::{self, cannot};
use super::record::{Line, Order};
use super::restocked::{REFUNDED_LINE, mark_restocked};
use super::totals::{self, Shop};
use super::{legacy, lines, list, notify, schema, status, view};
use crate::common::version::Version;
use crate::common::{amounts, first, meta, moments};

/// The entry that says whether a refund gives back all that was left.
pub(super) const REFUND_TYPE: &str = "_refund_type";

pub(super) fn type_of(is_full: bool) -> &'static str {
    if is_full { "full" } else { "partial" }
}

/// What a refund can be made with since the second version.
const AFTER_FIRST: &[&str] =
    &["refunded_by", "meta_data", "shipping_lines", "fee_lines", "api_refund", "api_restock"];

struct Endpoint {
    version: Version,
    namespace: String,
    item: CompiledItem,
    /// Whether the refunds of all orders are listed, each with its order.
    of_all: bool,
}

impl Endpoint {
    fn new(namespace: &str, version: Version, of_all: bool) -> Self {
        let item = schema::refund_item(of_all).compile().expect("the schema is well formed");
        Self { version, namespace: namespace.to_owned(), item, of_all }
    }
}

pub(super) fn routes(namespace: &str, version: Version) -> [Route<Action>; 2] {
    let item = schema::refund_item(false);
    macro_rules! on_endpoint {
        ($operation:path) => {{
            let endpoint = Endpoint::new(namespace, version, false);
            move |call: &mut Call<'_>| $operation(&endpoint, call)
        }};
    }
    let order_id = || Schema::integer().about("Order ID.");
    let on_order = || Args::new().arg("order_id", order_id());
    let on_refund = || on_order().arg("id", Schema::integer().about("Refund ID."));
    let force = Schema::boolean()
        .default(true)
        .about("Required to be true, as refunds cannot be moved to the trash.");
    let list_args = on_order().arg("context", item.context_arg()).with(list::refund_args(version));
    let create_args = crate::resource::request_args(item.create_args());
    let create_args = on_order().with(first::published(version, create_args, AFTER_FIRST));
    [
        Route::at(namespace, r"/orders/(?P<order_id>[\d]+)/refunds")
            .on(READ, list_args, read(may_list, on_endpoint!(list)))
            .on(CREATE, create_args, write(may_create, on_endpoint!(create)))
            .creates()
            .schema(item.document()),
        Route::at(namespace, r"/orders/(?P<order_id>[\d]+)/refunds/(?P<id>[\d]+)")
            .on(
                READ,
                on_refund().arg("context", item.context_arg()),
                read(may_list, on_endpoint!(get)),
            )
            .on(DELETE, on_refund().arg("force", force), write(may_delete, on_endpoint!(delete)))
            .schema(item.document()),
    ]
}

/// The refunds of all orders.
pub(super) fn route_of_all(namespace: &str) -> Route<Action> {
    let item = schema::refund_item(true);
    let args =
        Args::new().arg("context", item.context_arg()).with(list::refund_args(Version::Three));
    let endpoint = Endpoint::new(namespace, Version::Three, true);
    let list = move |call: &mut Call<'_>| list(&endpoint, call);
    Route::at(namespace, "/refunds").on(READ, args, read(may_list, list)).schema(item.document())
}

fn may_list(call: &mut Call<'_>) -> Result<(), Stop> {
    let message = "You are not allowed to view this resource.";
    call.need(Capability::ReadPrivateShopOrders, "woocommerce_rest_cannot_view", message)
}

fn may_create(call: &mut Call<'_>) -> Result<(), Stop> {
    let message = "You are not allowed to create resources.";
    call.need(Capability::PublishShopOrders, "woocommerce_rest_cannot_create", message)
}

fn may_delete(call: &mut Call<'_>) -> Result<(), Stop> {
    let message = "You are not allowed to delete this resource.";
    call.need(Capability::DeleteShopOrder, "woocommerce_rest_cannot_delete", message)
}

fn order_of(call: &mut Call<'_>) -> Result<Order, Stop> {
    let id = call.params.int("order_id").unwrap_or_default();
    let found = Order::get(call.conn()?, id, OrderKind::Order)?;
    let message = "Order not found.";
    Ok(found.ok_or_else(|| Refusal::new(404, "woocommerce_rest_invalid_order_id", message))?)
}

fn refund_of(call: &mut Call<'_>) -> Result<Order, Stop> {
    let id = call.params.int("id").unwrap_or_default();
    let found = Order::get(call.conn()?, id, OrderKind::Refund)?;
    let message = "Refund not found.";
    let code = "woocommerce_rest_shop_order_refund_invalid_id";
    let refund = found.ok_or_else(|| Refusal::new(404, code, message))?;
    let order = order_of(call)?;
    if refund.row.parent_id != order.id() {
        let message = "Order refund not found.";
        let code = "woocommerce_rest_invalid_order_refund_id";
        return Err(Refusal::new(404, code, message).into());
    }
    Ok(refund)
}

fn body(
    endpoint: &Endpoint,
    call: &Call<'_>,
    refund: &Order,
    goods: &Goods,
    context: &str,
) -> Value {
    let manner = view::Manner::of(endpoint.version, call);
    let body = view::refund_body(&manner, refund, goods, endpoint.of_all);
    let body = match endpoint.version {
        Version::One => legacy::refund(&manner, &body, refund, goods),
        _ => body,
    };
    endpoint.item.filter_by_context(body, context)
}

fn links(endpoint: &Endpoint, call: &Call<'_>, refund: &Order) -> Links {
    let order = format!("/{}/orders/{}", endpoint.namespace, refund.row.parent_id);
    let to = |path: String| call.visit.rest(&path);
    Links::new()
        .to("self", to(format!("{order}/refunds/{}", refund.id())))
        .to("collection", to(format!("{order}/refunds")))
        .to("up", to(order))
}

fn list(endpoint: &Endpoint, call: &mut Call<'_>) -> Result<Reply, Stop> {
    if endpoint.version == Version::One {
        first::take_conditions(call, || list::refund_args(endpoint.version));
    }
    let decimals = view::decimals(call);
    call.params.set("dp", decimals);
    let mut filter = list::filter(call, OrderKind::Refund);
    let base = if endpoint.of_all {
        format!("/{}/refunds", endpoint.namespace)
    } else {
        let order_id = call.params.int("order_id").unwrap_or_default();
        filter.parents = vec![order_id];
        format!("/{}/orders/{order_id}/refunds", endpoint.namespace)
    };
    let (rows, total) = shop_rows::order::list(call.conn()?, &filter)?;
    let stored = shop_rows::order::with_items(call.conn()?, rows)?;
    let refunds = stored.into_iter().map(Order::read).collect::<types::Result<Vec<Order>>>()?;
    let goods = Goods::of_orders(call.conn()?, refunds.iter())?;
    let context = call.context();
    let items = refunds.iter().map(|refund| {
        let body = body(endpoint, call, refund, &goods, &context);
        crate::managers::linked(body, links(endpoint, call, refund))
    });
    let reply = Reply::new(items.collect::<Vec<Value>>());
    Ok(with_totals(reply, call, &base, total))
}

fn reply(
    endpoint: &Endpoint,
    call: &mut Call<'_>,
    refund: &Order,
    context: &str,
) -> Result<Reply, Stop> {
    let goods = Goods::of_orders(call.conn()?, [refund].into_iter())?;
    let body = body(endpoint, call, refund, &goods, context);
    Ok(Reply::new(body).links(links(endpoint, call, refund)))
}

fn get(endpoint: &Endpoint, call: &mut Call<'_>) -> Result<Reply, Stop> {
    let refund = refund_of(call)?;
    let context = call.context();
    reply(endpoint, call, &refund, &context)
}

fn delete(endpoint: &Endpoint, call: &mut Call<'_>) -> Result<Reply, Stop> {
    let refund = refund_of(call)?;
    let answer = reply(endpoint, call, &refund, "edit")?;
    if !call.params.flag("force") {
        let message = "Refunds cannot be moved to the trash; set force to delete it.";
        return Err(Refusal::new(400, "woocommerce_rest_trash_not_supported", message).into());
    }
    payback::withdraw(call, &refund)?;
    shop_rows::order::delete(call.conn()?, refund.id())?;
    effects::append_event(call, "refund.deleted", &refund)?;
    if let Some(order) = Order::get(call.conn()?, refund.row.parent_id, OrderKind::Order)? {
        effects::append_event(call, "order.updated", &order)?;
    }
    Ok(answer)
}

/// What a request gives back of one line.
#[derive(Debug)]
pub(super) struct Part {
    pub(super) item_id: i64,
    pub(super) quantity: i64,
    pub(super) total: Amount,
    pub(super) taxes: Vec<(i64, Amount)>,
}

impl Part {
    fn read(param: &str, id: Option<&str>, posted: &lines::Posted) -> Result<Self, Refusal> {
        lines::check(param, posted)?;
        let whole = |name: &str| posted.get(name).map(loose::to_int).unwrap_or_default();
        let amount = |value: Option<&Value>| value.and_then(amounts::read).unwrap_or_default();
        let quantity = if posted.contains_key("quantity") { "quantity" } else { "qty" };
        let given: Vec<(i64, Option<&Value>)> = match posted.get("refund_tax") {
            Some(Value::Array(list)) => {
                let id = |tax: &Value| tax.get("id").map_or(0, loose::to_int);
                list.iter().map(|tax| (id(tax), tax.get("refund_total"))).collect()
            }
            Some(Value::Object(by_rate)) => {
                by_rate.iter().map(|(id, tax)| (loose::to_int(&json!(id)), Some(tax))).collect()
            }
            _ => Vec::new(),
        };
        let mut taxes = Vec::with_capacity(given.len());
        for (rate_id, tax) in given {
            amounts::check(&format!("{param}[refund_tax]"), tax, amounts::MONEY_MAX)?;
            taxes.push((rate_id, amount(tax)));
        }
        Ok(Self {
            item_id: id.map_or_else(|| whole("id"), |id| loose::to_int(&json!(id))),
            quantity: whole(quantity).max(0),
            total: amount(posted.get("refund_total")),
            taxes,
        })
    }

    fn is_nothing(&self) -> bool {
        self.quantity == 0 && self.total.is_zero() && self.tax().is_zero()
    }

    pub(super) fn tax(&self) -> Amount {
        self.taxes.iter().map(|(_, tax)| *tax).sum()
    }
}

/// The lines of a request: a list, or an object by the numbers of the order's lines.
fn parts(call: &Call<'_>) -> Result<Vec<Part>, Refusal> {
    let mut parts = Vec::new();
    for name in ["line_items", "shipping_lines", "fee_lines"] {
        match call.params.get(name) {
            Some(Value::Array(list)) => {
                for (index, posted) in list.iter().enumerate() {
                    let Some(posted) = posted.as_object() else { continue };
                    parts.push(Part::read(&format!("{name}[{index}]"), None, posted)?);
                }
            }
            Some(Value::Object(by_id)) => {
                for (id, posted) in by_id {
                    let Some(posted) = posted.as_object() else { continue };
                    parts.push(Part::read(&format!("{name}[{id}]"), Some(id), posted)?);
                }
            }
            _ => {}
        }
    }
    Ok(parts)
}

fn create(endpoint: &Endpoint, call: &mut Call<'_>) -> Result<Reply, Stop> {
    if call.params.int("id").is_some_and(|id| id != 0) {
        let message = "The ID of a new refund cannot be set.";
        let code = "woocommerce_rest_shop_order_refund_exists";
        return Err(Refusal::new(400, code, message).into());
    }
    let order = order_of(call)?;
    amounts::check("amount", call.params.get("amount"), amounts::MONEY_MAX)?;
    let parts = parts(call)?;
    let of_parts: Amount = parts.iter().map(|part| part.total + part.tax()).sum();
    let amount = call.params.get("amount").and_then(amounts::read).unwrap_or(of_parts);
    if amount.is_negative() {
        let message = "The amount must not be negative.";
        return Err(Refusal::new(400, "woocommerce_rest_invalid_order_refund", message).into());
    }
    if amount > left(call, &order)? {
        return Err(cannot("The amount exceeds what can still be refunded.").into());
    }
    let is_paid_back = call.params.flag("api_refund");
    let payment = is_paid_back.then(|| payback::payment_of(call, &order, amount)).transpose()?;
    let reason = clean::text_field(call.params.text("reason").unwrap_or_default());
    let mut refund = prepared(call, &order, amount, reason, &parts)?;
    if let Some(user_id) = call.params.int("refunded_by").filter(|id| *id > 0) {
        refund.row.refunded_by = user_id;
    }
    if let Some(Value::Array(entries)) = call.params.get("meta_data").cloned() {
        meta::merge(call.conn()?, &mut refund.details.meta_data, &entries)?;
    }
    let restocks = call.params.flag("api_restock");
    refund.details.refunded_payment = payment.is_some();
    let status_before = order.row.status.clone();
    let refund = carry_out(call, order, refund, if restocks { &parts } else { &[] })?;
    if let Some(payment) = &payment {
        payback::request(call, payment, &refund, &status_before)?;
    }
    let path = format!("/{}/orders/{}/refunds", endpoint.namespace, refund.row.parent_id);
    let location = call.visit.rest(&format!("{path}/{}", refund.id()));
    let answer = reply(endpoint, call, &refund, "edit")?;
    Ok(Reply { status: 201, ..answer }.header("location", location))
}

/// What of the order was not paid back yet.
pub(super) fn left(call: &mut Call<'_>, order: &Order) -> types::Result<Amount> {
    let refunds = shop_rows::order::refunds_of(call.conn()?, &[order.id()])?;
    Ok(order.row.total - refunds.iter().map(|refund| refund.refund_amount).sum())
}

/// A refund that is not written yet.
pub(super) fn prepared(
    call: &mut Call<'_>,
    order: &Order,
    amount: Amount,
    reason: String,
    parts: &[Part],
) -> Result<Order, Stop> {
    let now = moments::now(call);
    let options = std::sync::Arc::clone(&call.visit.options);
    let user_id = call.user_id();
    let conn = call.conn()?;
    let shop = Shop::load(conn, &options)?;
    let mut refund = drawn_up(order, &shop, amount, parts, &mut || meta::number(conn))?;
    refund.row.refunded_by = user_id;
    refund.row.reason = reason;
    (refund.row.created, refund.row.modified) = (now, now);
    Ok(refund)
}

/// What a refund of an order is by its parts, without a date. `number` gives out the numbers of
/// entries.
pub(super) fn drawn_up(
    order: &Order,
    shop: &Shop,
    amount: Amount,
    parts: &[Part],
    number: &mut dyn FnMut() -> types::Result<i64>,
) -> types::Result<Order> {
    let mut refund = Order::default();
    refund.row.kind = OrderKind::Refund;
    refund.row.parent_id = order.id();
    status::COMPLETED.clone_into(&mut refund.row.status);
    refund.row.currency.clone_from(&order.row.currency);
    refund.row.prices_include_tax = order.row.prices_include_tax;
    refund.row.merchant_id.clone_from(&order.row.merchant_id);
    refund.row.store_id.clone_from(&order.row.store_id);
    refund.row.tpn.clone_from(&order.row.tpn);
    for line in &order.items {
        let of_line = |part: &&Part| part.item_id == line.row.item_id && !part.is_nothing();
        let is_priced = !matches!(line.row.kind, ItemKind::Tax | ItemKind::Coupon);
        let Some(part) = parts.iter().find(of_line).filter(|_| is_priced) else { continue };
        let mut taken = line.clone();
        taken.row.item_id = 0;
        taken.row.total = -part.total;
        taken.details.meta_data.clear();
        if taken.row.kind == ItemKind::Line {
            taken.row.subtotal = -part.total;
            taken.row.quantity = -Amount::from_whole(part.quantity);
        }
        let taxes: Vec<(i64, Amount)> = part
            .taxes
            .iter()
            .filter(|(_, tax)| !tax.is_zero())
            .map(|(id, tax)| (*id, -*tax))
            .collect();
        totals::set_taxes(&mut taken, &taxes, Some(&taxes), shop);
        let of = line.row.item_id.to_string();
        taken.details.meta_data.push(meta::entry(number()?, REFUNDED_LINE, of));
        refund.items.push(taken);
    }
    totals::collect_taxes(&mut refund, shop);
    totals::sum_up(&mut refund, shop);
    refund.row.refund_amount = amount;
    refund.row.total = -amount;
    Ok(refund)
}

/// Writes the refund, lets goods come back, and closes an order of which nothing is left.
pub(super) fn carry_out(
    call: &mut Call<'_>,
    mut order: Order,
    mut refund: Order,
    restocked: &[Part],
) -> Result<Order, Stop> {
    let is_full = left(call, &order)? <= refund.row.refund_amount;
    meta::add(call.conn()?, &mut refund.details.meta_data, REFUND_TYPE, json!(type_of(is_full)))?;
    let came_back = restock(call, &mut order, restocked)?;
    // A gateway may decline to pay back, and then what came back goes again.
    if refund.details.refunded_payment {
        mark_restocked(call, &mut refund, &came_back)?;
    }
    let refund = refund.insert(call.conn()?)?;
    if is_full {
        effects::set_status(call, &mut order, status::REFUNDED)?;
    }
    order.row.modified = moments::now(call);
    let before = Before::same(&order);
    effects::settle(call, &mut order, &before)?;
    let order = order.update(call.conn()?)?;
    effects::append_event(call, "refund.created", &refund)?;
    effects::append_event(call, "order.updated", &order)?;
    notify::tell_refund(call, &order, is_full)?;
    Ok(refund)
}

/// Puts goods back into the stock; says how many of which line.
fn restock(
    call: &mut Call<'_>,
    order: &mut Order,
    parts: &[Part],
) -> Result<Vec<(i64, Amount)>, Stop> {
    let (mut changes, mut came_back) = (Vec::new(), Vec::new());
    let id = order.id();
    for part in parts.iter().filter(|part| part.quantity > 0) {
        let line = order.lines_mut(ItemKind::Line).find(|line| line.row.item_id == part.item_id);
        let Some(line) = line else { continue };
        let entry = |line: &Line, key: &str| line.meta(key).and_then(Amount::parse);
        let reduced = entry(line, REDUCED).unwrap_or_default();
        let count = Amount::from_whole(part.quantity).min(reduced);
        if count <= Amount::ZERO {
            continue;
        }
        let Some((from, to)) = effects::change_stock(call, line.sold_id(), count)? else {
            continue;
        };
        changes.push(format!("{} (#{}) {from}→{to}", line.row.name, line.sold_id()));
        let restocked = entry(line, RESTOCKED).unwrap_or_default() + count;
        let entries = [
            json!({ "key": REDUCED, "value": (reduced - count).to_string() }),
            json!({ "key": RESTOCKED, "value": restocked.to_string() }),
        ];
        meta::merge(call.conn()?, &mut line.details.meta_data, &entries)?;
        came_back.push((part.item_id, count));
    }
    if !changes.is_empty() {
        effects::note(call, id, format!("Items restocked: {}.", changes.join(", ")))?;
    }
    Ok(came_back)
}

/// Refunds what is left of an order whose status says that all of it was paid back.
pub(super) fn refund_rest(call: &mut Call<'_>, order: &Order) -> Result<(), Stop> {
    let amount = left(call, order)?;
    if amount <= Amount::ZERO {
        return Ok(());
    }
    let reason = "Order fully refunded.".to_owned();
    let mut refund = prepared(call, order, amount, reason, &[])?;
    meta::add(call.conn()?, &mut refund.details.meta_data, REFUND_TYPE, json!(type_of(true)))?;
    let refund = refund.insert(call.conn()?)?;
    Ok(effects::append_event(call, "refund.created", &refund)?)
}
