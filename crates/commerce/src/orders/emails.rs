//! E-mails about an order, sent on request: the templates available for an order in its state, and
//! the routes that send them. **An e-mail is queued in the transaction that notes it.**

use contract::rest::route::{CREATE, READ, Route};
use contract::rest::{Args, CompiledItem, Item, Refusal, Reply, Schema, Stop, formats};
use frame::action::{read, write};
use frame::{Action, Call, mail};
use serde_json::{Value, json};
use shop_rows::order::OrderKind;
use types::Capability;

use super::notify::queue;
use super::record::Order;
use super::{effects, status};
use crate::emails::{self, EmailKind, KINDS};

/// The template that every order has: what it consists of and comes to.
const DETAILS: &str = "customer_invoice";

pub(super) fn routes(namespace: &str) -> [Route<Action>; 3] {
    let ids = published_ids();
    let item = templates_item(&ids);
    let compiled = item.compile().expect("the schema is well formed");
    let answer = Schema::text().about("Result message.").context(&["edit"]).readonly();
    let answer = Item::new("order_action", Schema::object([("message", answer)])).document();
    let id = || Args::new().arg("id", Schema::integer().about("Order ID."));
    let email = Schema::text().format("email").about("E-mail address, for an order without one.");
    let force = Schema::boolean().about("Whether to replace the order's e-mail address.");
    let send_args = id().arg("email", email).arg("force_email_update", force);
    let chosen = Schema::text().choices(&ids).about("E-mail template.");
    let path = |action: &str| format!(r"/orders/(?P<id>[\d]+)/actions/{action}");
    let list = move |call: &mut Call<'_>| list(&compiled, call);
    [
        Route::at(namespace, &path("email_templates"))
            .on(READ, id(), read(may_read, list))
            .lists()
            .schema(item.document()),
        Route::at(namespace, &path("send_email"))
            .on(CREATE, send_args.clone().arg("template_id", chosen), write(may_send, send_chosen))
            .schema(answer.clone()),
        Route::at(namespace, &path("send_order_details"))
            .on(CREATE, send_args, write(may_send, |call| send(call, DETAILS)))
            .schema(answer),
    ]
}

/// The names of e-mails that the interface publishes: those of the shop, and one that it does not
/// send, since links for passwords are none of its business.
fn published_ids() -> Vec<&'static str> {
    let mut ids: Vec<&str> = KINDS.iter().map(|kind| kind.id).collect();
    let place = ids.iter().position(|id| *id == "customer_new_account").unwrap_or(ids.len());
    ids.insert(place, "customer_reset_password");
    ids
}

fn templates_item(ids: &[&str]) -> Item {
    let shown = |about: &str| Schema::text().about(about).context(&["view"]);
    let id = Schema::text().choices(ids).about("E-mail template ID.").context(&["view", "embed"]);
    let fields = [
        ("id", id),
        ("title", shown("E-mail title.")),
        ("description", shown("E-mail description.")),
    ];
    Item::new("email_template", Schema::object(fields))
}

fn may_read(call: &mut Call<'_>) -> Result<(), Stop> {
    let message = "You are not allowed to list e-mail templates.";
    call.need(Capability::ReadPrivateShopOrders, "woocommerce_rest_cannot_view", message)
}

fn may_send(call: &mut Call<'_>) -> Result<(), Stop> {
    let message = "You are not allowed to send order e-mails.";
    call.need(Capability::EditShopOrder, "woocommerce_rest_cannot_create", message)
}

fn order_of(call: &mut Call<'_>) -> Result<Order, Stop> {
    let id = call.params.int("id").unwrap_or_default();
    let message = "Order not found.";
    let unknown = || Refusal::new(404, "woocommerce_rest_invalid_order", message);
    Ok(Order::get(call.conn()?, id, OrderKind::Order)?.ok_or_else(unknown)?)
}

fn list(item: &CompiledItem, call: &mut Call<'_>) -> Result<Reply, Stop> {
    let order = order_of(call)?;
    let has_refunds = !shop_rows::order::refunds_of(call.conn()?, &[order.id()])?.is_empty();
    let context = call.context();
    let body = |kind: &EmailKind| {
        let body = json!({ "id": kind.id, "title": kind.title, "description": kind.about });
        item.filter_by_context(body, &context)
    };
    Ok(Reply::new(available(&order, has_refunds).map(body).collect::<Vec<Value>>()))
}

/// The templates that fit the order's state.
fn available(order: &Order, has_refunds: bool) -> impl Iterator<Item = &'static EmailKind> {
    let is_pos = order.row.created_via.starts_with("pos");
    let status = order.row.status.clone();
    KINDS.iter().filter(move |kind| match kind.id {
        DETAILS => true,
        "customer_cancelled_order" => status == status::CANCELLED,
        "customer_failed_order" => status == status::FAILED,
        "customer_on_hold_order" => status == status::ON_HOLD,
        "customer_processing_order" => status == status::PROCESSING,
        "customer_completed_order" => status == status::COMPLETED,
        "customer_refunded_order" => has_refunds,
        "customer_pos_completed_order" => is_pos && status == status::COMPLETED,
        "customer_pos_refunded_order" => is_pos && has_refunds,
        _ => false,
    })
}

fn send_chosen(call: &mut Call<'_>) -> Result<Reply, Stop> {
    let chosen = call.params.text("template_id").unwrap_or(DETAILS).to_owned();
    send(call, &chosen)
}

fn send(call: &mut Call<'_>, id: &str) -> Result<Reply, Stop> {
    let mut order = order_of(call)?;
    let has_refunds = !shop_rows::order::refunds_of(call.conn()?, &[order.id()])?.is_empty();
    let Some(kind) = available(&order, has_refunds).find(|kind| kind.id == id) else {
        let message =
            "This e-mail template is not available for the order; see its email_templates.";
        return Err(refused("woocommerce_rest_invalid_email_template", message));
    };
    if !emails::is_on(call.options(), kind) {
        let message = "This e-mail is turned off; enable it in the e-mail settings.";
        return Err(refused("woocommerce_rest_email_not_sent", message));
    }
    if set_address(call, &mut order)? {
        order = order.update(call.conn()?)?;
        effects::append_event(call, "order.updated", &order)?;
    }
    let to = order.details.billing.email.clone();
    if to.is_empty() {
        let message = "The order has no e-mail address; email is required.";
        return Err(refused("woocommerce_rest_missing_email", message));
    }
    if !mail::is_on(call.site) {
        let message = "E-mail is turned off; ask the operator to set mail.relay.";
        return Err(refused("woocommerce_rest_email_not_sent", message));
    }
    mail::count_email(call)?;
    let case = match kind.id {
        DETAILS if order.row.paid.is_some() => "_paid",
        "customer_refunded_order" if order.row.status != status::REFUNDED => "_partial",
        _ => kind.wordings.first().map_or("", |wording| wording.suffix),
    };
    queue(call, &order, kind, case, Vec::new())?;
    let message = format!("{} sent to {to}.", kind.title);
    effects::note(call, order.id(), message.clone())?;
    Ok(Reply::new(json!({ "message": message })))
}

fn refused(code: &'static str, message: &'static str) -> Stop {
    Refusal::new(400, code, message).into()
}

/// Sets the order's address to that of the request. An existing address is kept unless the request
/// forces the change.
fn set_address(call: &Call<'_>, order: &mut Order) -> Result<bool, Stop> {
    let given = call.params.text("email").unwrap_or_default().trim();
    let known = &order.details.billing.email;
    if given.is_empty() || given == known {
        return Ok(false);
    }
    if !known.is_empty() && !call.params.flag("force_email_update") {
        let message = "The order has another e-mail address; set force_email_update to replace it.";
        return Err(refused("woocommerce_rest_order_billing_email_exists", message));
    }
    if !formats::is_email(given) {
        return Err(refused("rest_invalid_param", "email is not a valid e-mail address."));
    }
    given.clone_into(&mut order.details.billing.email);
    Ok(true)
}
