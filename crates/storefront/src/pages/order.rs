//! Pages of one order: that it was received, and how it is paid. **Whoever knows the order's key
//! may read them**, so they hold no more than a bill does: no address, no e-mail. An order of a
//! customer is paid by that customer only.

use askama::Template;
use commerce::gateways;
use commerce::orders::{Order, pay_path, place, status};
use commerce::payments::{self, PaymentPage};
use content::pages::{Masthead, rendered};
use content::web::{Fields, STALE, WebAnswer, encoded};
use contract::rest::{Stop, Verb};
use frame::Call;
use frame::pages::{Address, Date, Link};
use serde_json::{Value, json};
use shop_rows::order::OrderKind;
use subtle::ConstantTimeEq as _;
use types::Result;

use super::address_form::FormErrors;
use super::cart::chosen;
use super::checkout::{Method, methods};
use super::path::{ACCOUNT, CHECKOUT};
use super::shop_request::ShopRequest;
use super::values::{amount, is_some_amount, list, number, part, plain_text, settled, text};
use crate::address::Side;

const RECEIVED: &str = "page:order-received";
const PAY: &str = "page:order-pay";
const TOKEN: &str = "shop-pay";

/// What pages show of an order.
pub(super) struct OrderView {
    pub(super) number: String,
    /// The day by the site's calendar.
    pub(super) day: String,
    pub(super) status: String,
    pub(super) method: String,
    pub(super) lines: Vec<OrderLine>,
    pub(super) totals: Vec<(String, String)>,
    /// Where it is paid; empty if there is nothing to pay.
    pub(super) pay: String,
    /// What the way to pay asks for, in paragraphs.
    pub(super) instructions: Vec<String>,
}

pub(super) struct OrderLine {
    pub(super) name: String,
    pub(super) chosen: String,
    pub(super) quantity: i64,
    pub(super) total: String,
}

impl OrderView {
    pub(super) fn date(&self) -> Date<'_> {
        Date(&self.day)
    }

    /// From the order and what the Store API shows of it.
    pub(super) fn of(options: &frame::Options, order: &Order, body: &Value) -> Self {
        let row = &order.row;
        let number =
            if row.number.is_empty() { row.order_id.to_string() } else { row.number.clone() };
        let offered = gateways::offered(options);
        let method = offered.into_iter().find(|own| own.id == row.payment_method);
        let instructions = method.map(|own| own.instructions).unwrap_or_default();
        let paragraphs = instructions.lines().map(content::web::plain);
        let pay = pay_path(options, (row.order_id, &row.order_key));
        Self {
            number,
            day: options.local(row.created).to_string(),
            status: status::name(&row.status).to_owned(),
            method: content::web::plain(&order.details.payment_method_title),
            lines: list(body, "items").iter().map(line).collect(),
            totals: totals(body),
            pay: if place::is_payable(order) { pay } else { String::new() },
            instructions: paragraphs.filter(|text| !text.is_empty()).collect(),
        }
    }
}

fn line(item: &Value) -> OrderLine {
    OrderLine {
        name: plain_text(item, "name"),
        chosen: chosen(item),
        quantity: number(item, "quantity"),
        total: amount(&item["totals"], "line_subtotal"),
    }
}

fn totals(body: &Value) -> Vec<(String, String)> {
    let totals = &body["totals"];
    let mut lines = vec![(String::from("Subtotal"), amount(totals, "subtotal"))];
    for (label, name) in [
        ("Discount", "total_discount"),
        ("Shipping", "total_shipping"),
        ("Fees", "total_fees"),
        ("Tax", "total_tax"),
        ("Refunded", "total_refund"),
    ] {
        if is_some_amount(totals, name) {
            let sign = if matches!(label, "Discount" | "Refunded") { "−" } else { "" };
            lines.push((label.to_owned(), format!("{sign}{}", amount(totals, name))));
        }
    }
    lines.push((String::from("Total"), amount(totals, "total_price")));
    lines
}

#[derive(Template)]
#[template(path = "shop/order_received.html")]
struct ReceivedPage<'a> {
    site: Masthead<'a>,
    order: OrderView,
}

#[derive(Template)]
#[template(path = "shop/order_pay.html")]
struct PayPage<'a> {
    site: Masthead<'a>,
    order: OrderView,
    action: String,
    csrf: String,
    methods: Vec<Method>,
    method_error: String,
    errors: &'a FormErrors,
}

#[derive(Template)]
#[template(path = "shop/pay_continue.html")]
struct ContinuePage<'a> {
    site: Masthead<'a>,
    url: &'a str,
    title: &'a str,
}

/// The order and what the Store API shows of it, for whoever knows its key.
struct Found {
    order: Order,
    body: Value,
}

fn by_key(call: &mut Call<'_>, id: i64, key: &str) -> Result<Option<Found>, Stop> {
    let found = Order::get(call.conn()?, id, OrderKind::Order)?;
    let fits = |order: &Order| {
        let known = order.row.order_key.as_bytes();
        !known.is_empty() && bool::from(known.ct_eq(key.as_bytes()))
    };
    let is_shown = |order: &Order| {
        !matches!(order.row.status.as_str(), status::TRASH | status::CHECKOUT_DRAFT)
    };
    let Some(order) = found.filter(fits).filter(is_shown) else { return Ok(None) };
    let body = crate::order::body(call, &order)?;
    Ok(Some(Found { order, body }))
}

impl ShopRequest<'_> {
    async fn order_found(&self, id: i64) -> Result<Option<Found>> {
        let key = self.page.query().text("key").to_owned();
        let found = self.within().look(move |call| by_key(call, id, &key)).await;
        Ok(settled(found)?.flatten())
    }

    pub(super) async fn order_received(&mut self, id: i64) -> Result<Option<WebAnswer>> {
        let Some(found) = self.order_found(id).await? else { return Ok(None) };
        let order = OrderView::of(self.options(), &found.order, &found.body);
        let page = ReceivedPage { site: self.page.masthead(), order };
        Ok(Some(self.private((RECEIVED, 200), rendered(&page))))
    }

    pub(super) async fn order_pay(&mut self, id: i64) -> Result<Option<WebAnswer>> {
        let Some(found) = self.order_found(id).await? else { return Ok(None) };
        let owner = found.order.row.customer_id;
        if owner != 0 && owner != self.user_id() {
            return Ok(Some(self.owner_wanted(&found.order)));
        }
        let payment = self.page.query().text("payment").to_owned();
        if !self.is_post() && !payment.is_empty() {
            return self.gateway_page(&found, &payment).await.map(Some);
        }
        if !self.is_post() || !place::is_payable(&found.order) {
            return Ok(Some(self.pay_page(200, &found, "", &FormErrors::default())));
        }
        let fields = self.page.form();
        if !self.is_genuine(TOKEN, &fields) {
            let errors = FormErrors::general(STALE);
            return Ok(Some(self.pay_page(403, &found, "", &errors)));
        }
        self.order_paid(&found, &fields).await.map(Some)
    }

    async fn order_paid(&mut self, found: &Found, fields: &Fields) -> Result<WebAnswer> {
        let order = &found.order;
        let (id, key) = (order.id(), &order.row.order_key);
        let body = json!({
            "key": key,
            "billing_email": order.details.billing.email,
            "billing_address": {},
            "payment_method": fields.text("payment_method"),
        });
        let said = self.ask(Verb::Post, &format!("/checkout/{id}"), Some(body)).await;
        if said.is_fine() {
            let url = text(part(&said.json, "payment_result"), "redirect_url");
            return Ok(WebAnswer::redirect(PAY, url));
        }
        let known = |_: Side| Value::Null;
        let errors = FormErrors::read(&said.json, self.options(), &known);
        Ok(self.pay_page(said.status, found, fields.text("payment_method"), &errors))
    }

    /// Leads to the gateway's page. It is a page of its own, since browsers let no form end up on
    /// another site here.
    async fn gateway_page(&mut self, found: &Found, payment: &str) -> Result<WebAnswer> {
        let row = &found.order.row;
        match payments::page_of(self.page.site, row.order_id, payment).await? {
            PaymentPage::At { url, title } => {
                let page = ContinuePage { site: self.page.masthead(), url: &url, title: &title };
                let mut answer = self.private((PAY, 200), rendered(&page));
                answer.headers.push(("refresh", format!("0; url={url}")));
                Ok(answer)
            }
            PaymentPage::Over if place::is_payable(&found.order) => {
                Ok(self.redirect(PAY, &pay_path(self.options(), (row.order_id, &row.order_key))))
            }
            PaymentPage::Over => {
                let endpoint = self.options().text("woocommerce_checkout_order_received_endpoint");
                let (id, key) = (row.order_id, &row.order_key);
                Ok(self.redirect(PAY, &format!("{CHECKOUT}/{endpoint}/{id}/?key={key}")))
            }
            PaymentPage::Not(sentence) => {
                let errors = FormErrors::general(&sentence);
                Ok(self.pay_page(409, found, &row.payment_method, &errors))
            }
        }
    }

    fn pay_page(&self, status: u16, found: &Found, chosen: &str, errors: &FormErrors) -> WebAnswer {
        let row = &found.order.row;
        let page = PayPage {
            site: self.page.masthead(),
            order: OrderView::of(self.options(), &found.order, &found.body),
            action: pay_path(self.options(), (row.order_id, &row.order_key)),
            csrf: self.token(TOKEN),
            methods: methods(self.options(), chosen),
            method_error: errors.of("payment_method"),
            errors,
        };
        self.private((PAY, status), rendered(&page))
    }

    /// Asks for the customer whose order it is.
    fn owner_wanted(&self, order: &Order) -> WebAnswer {
        let back = pay_path(self.options(), (order.id(), &order.row.order_key));
        let href = format!("{ACCOUNT}/?redirect_to={}", encoded(&back));
        let link = Link { text: "Sign in", href: Address::new(&href) };
        let message = "This order belongs to a customer account. Sign in to that account to pay.";
        self.page.error((PAY, 403), ("Sign in to pay for this order", message), Some(link))
    }
}
