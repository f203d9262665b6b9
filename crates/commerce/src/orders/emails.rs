//! E-mails about an order, sent on request: the templates available for an order in its state, and
//! the routes that send them. **An e-mail is queued in the transaction that notes it.**

use contract::rest::route::{CREATE, READ, Route};
use contract::rest::{Args, CompiledItem, Item, Refusal, Reply, Schema, Stop, formats};
use frame::action::{read, write};
use frame::mail::{self, Email, Sender};
use frame::{Action, Call};
use serde_json::{Value, json};
use shop_rows::order::OrderKind;
use types::Capability;

use super::record::Order;
use super::{effects, receipt, status};

/// The template that every order has: what it consists of and comes to.
const DETAILS: &str = "customer_invoice";

/// An e-mail template with its subject and description. Those without a subject are not about the
/// state of an order, or not for its customer, so they cannot be sent from here.
struct Template {
    id: &'static str,
    subject: &'static str,
    about: &'static str,
}

const fn template(id: &'static str, subject: &'static str, about: &'static str) -> Template {
    Template { id, subject, about }
}

static TEMPLATES: &[Template] = &[
    template("new_order", "", ""),
    template("cancelled_order", "", ""),
    template("customer_cancelled_order", "Order cancelled", "Sent when the order was cancelled."),
    template("failed_order", "", ""),
    template("customer_failed_order", "Payment failed", "Sent when the payment failed."),
    template("customer_on_hold_order", "Order on hold", "Sent while the order waits for payment."),
    template(
        "customer_processing_order",
        "Order received",
        "Sent when the order is being prepared.",
    ),
    template("customer_completed_order", "Order complete", "Sent when the order is complete."),
    template("customer_refunded_order", "Order refunded", "Sent when the order was refunded."),
    template(DETAILS, "Order details", "Lists the items and the totals of the order."),
    template("customer_note", "", ""),
    template("customer_reset_password", "", ""),
    template("customer_new_account", "", ""),
    template("admin_payment_gateway_enabled", "", ""),
    template("customer_pos_completed_order", "Your purchase", "Receipt for an in-person purchase."),
    template(
        "customer_pos_refunded_order",
        "Purchase refunded",
        "Sent when an in-person purchase was refunded.",
    ),
];

pub(super) fn routes(namespace: &str) -> [Route<Action>; 3] {
    let ids: Vec<&str> = TEMPLATES.iter().map(|template| template.id).collect();
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
    let body = |template: &Template| {
        let (title, about) = (template.subject, template.about);
        let body = json!({ "id": template.id, "title": title, "description": about });
        item.filter_by_context(body, &context)
    };
    Ok(Reply::new(available(&order, has_refunds).map(body).collect::<Vec<Value>>()))
}

/// The templates that fit the order's state.
fn available(order: &Order, has_refunds: bool) -> impl Iterator<Item = &'static Template> {
    let is_pos = order.row.created_via.starts_with("pos");
    let status = order.row.status.clone();
    TEMPLATES.iter().filter(move |template| match template.id {
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
    let Some(template) = available(&order, has_refunds).find(|template| template.id == id) else {
        let message =
            "This e-mail template is not available for the order; see its email_templates.";
        return Err(refused("woocommerce_rest_invalid_email_template", message));
    };
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
    queue_email(call, &order, template, &to)?;
    let message = format!("{} sent to {to}.", template.subject);
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

fn queue_email(
    call: &mut Call<'_>,
    order: &Order,
    template: &Template,
    to: &str,
) -> Result<(), Stop> {
    let options = std::sync::Arc::clone(&call.visit.options);
    let number = &order.row.number;
    let rows = receipt::rows(&options, order).into_iter();
    let mut paragraphs = vec![format!("Order {number}")];
    paragraphs.extend(rows.map(|(name, amount)| format!("{name}: {amount}")));
    let subject = format!("{} ({number})", template.subject);
    let site_name = options.text("blogname");
    let (site, now) = (call.site, call.now());
    let home = site.address_for_emails(&options);
    let sender = Sender { site_name: &site_name, home: &home };
    let letter = Email { to, subject: &subject, paragraphs: &paragraphs, link: None };
    mail::enqueue(site, call.conn()?, sender, &letter, now)?;
    Ok(())
}
