//! Where a buyer pays: the address of the gateway's page, which the gateway is asked for once per
//! payment. **The transaction that made the order is over by then**; if the gateway cannot be
//! reached, the order waits for another attempt.

use std::sync::Arc;

use contract::rest::clean;
use frame::{Options, Site};
use serde_json::{Value, json};
use shop_rows::order::OrderKind;
use shop_rows::payment::{self, PaymentRow};
use types::{Environment, Result};
use url::Url;

use super::request::{Unanswered, ask};
use super::state;
use super::words::decimal;
use crate::gateways::hosted;
use crate::orders::{Order, pay_path, place};

/// Characters of what a gateway calls a payment that are kept.
const REFERENCE_LENGTH_MAX: usize = 100;
/// Characters of the address of a page at most.
const URL_LENGTH_MAX: usize = 2_000;

/// What comes of asking for a page.
#[derive(Debug, PartialEq, Eq)]
pub enum PaymentPage {
    /// Where to go, and what the gateway is called.
    At { url: String, title: String },
    /// There is nothing to pay any more, or not with this payment.
    Over,
    /// Why it is not possible now, in a sentence for the buyer.
    Not(String),
}

/// The gateway's page for a payment of the order.
pub async fn page_of(site: &Arc<Site>, order_id: i64, payment_id: &str) -> Result<PaymentPage> {
    let (own, id) = (Arc::clone(site), payment_id.to_owned());
    let found = site.store().read(move |conn| {
        let options = Options::read(conn)?;
        let payment = payment::get(conn, &id)?.filter(|found| found.order_id == order_id);
        let order = Order::get(conn, order_id, OrderKind::Order)?;
        let Some((payment, order)) = payment.zip(order) else { return Ok(None) };
        let gateway = hosted::find(own.vault(), &options, &payment.gateway)?;
        Ok(Some((payment, order, gateway, options)))
    });
    let Some((payment, order, gateway, options)) = found.await? else {
        return Ok(PaymentPage::Over);
    };
    let is_same = payment.amount == order.row.total && payment.currency == order.row.currency;
    if !place::is_payable(&order) || state::of(&payment) != state::State::Open || !is_same {
        return Ok(PaymentPage::Over);
    }
    let Some(gateway) = gateway else {
        let message = "This payment method is no longer offered; select another one.";
        return Ok(PaymentPage::Not(message.to_owned()));
    };
    let title = gateway.title.clone();
    if !payment.page_url.is_empty() {
        return Ok(PaymentPage::At { url: payment.page_url, title });
    }
    let body = request_body(site, &options, &order, &payment);
    let answer = ask(site, &gateway, &payment.payment_id, &body).await;
    let page = answer.and_then(|answer| page_in(site.environment(), &answer));
    match page {
        Ok((url, reference)) => {
            keep(site, payment, &url, reference).await?;
            Ok(PaymentPage::At { url, title })
        }
        Err(Unanswered::Failed(error)) => Err(error),
        Err(Unanswered::Unreachable(cause) | Unanswered::Refused(cause)) => {
            tracing::warn!(gateway = gateway.id, cause, "a payment gateway gave no page");
            Ok(PaymentPage::Not(format!(
                "{title} cannot take a payment at the moment. Your order is kept; try again, or \
                 select another payment method."
            )))
        }
    }
}

/// What the gateway is asked. Addresses are the site's own, never what a request claims.
fn request_body(site: &Site, options: &Options, order: &Order, payment: &PaymentRow) -> Value {
    let home = site.address_for_emails(options);
    let names = &site.settings().names;
    let (id, key) = (order.id(), &order.row.order_key);
    let received = options.text("woocommerce_checkout_order_received_endpoint");
    json!({
        "type": "payment",
        "payment": payment.payment_id,
        "amount": decimal(options, payment.amount),
        "currency": payment.currency,
        "order": { "id": id, "number": order.row.number },
        "description": format!("Order {}", order.row.number),
        "return_url": format!("{home}/checkout/{received}/{id}/?key={key}"),
        "cancel_url": format!("{home}{}", pay_path(options, (id, key))),
        "callback_url": format!(
            "{home}/{}/{}/payments/{}", names.rest_root, names.docs, payment.gateway
        ),
    })
}

/// The page and the reference in an answer.
fn page_in(environment: Environment, answer: &Value) -> Result<(String, String), Unanswered> {
    let text = |name: &str| answer.get(name).and_then(Value::as_str).unwrap_or_default();
    let is_allowed = |url: &Url| match url.scheme() {
        "https" => true,
        "http" => environment == Environment::Sandbox,
        _ => false,
    };
    let url = Url::parse(text("url")).ok().filter(is_allowed).map(String::from);
    let url = url.filter(|url| url.len() <= URL_LENGTH_MAX).ok_or_else(|| {
        Unanswered::Unreachable(String::from("the answer has no address of a page"))
    })?;
    let reference = clean::text_field(text("reference"));
    Ok((url, reference.chars().take(REFERENCE_LENGTH_MAX).collect()))
}

async fn keep(site: &Site, payment: PaymentRow, url: &str, reference: String) -> Result<()> {
    let (url, now) = (url.to_owned(), site.clock().now());
    let kept = site.store().write(move |conn| {
        // A message may have come meanwhile.
        let Some(mut current) = payment::get(conn, &payment.payment_id)? else { return Ok(()) };
        current.page_url.clone_from(&url);
        if current.reference.is_empty() {
            current.reference.clone_from(&reference);
        }
        current.modified = now;
        payment::update(conn, &current).map(drop)
    });
    kept.await
}
