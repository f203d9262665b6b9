//! The checkout: addresses, the way of shipping, the way to pay, and the order.
//!
//! **Nobody orders for another total than the one that they saw**: the form brings it along, and
//! when an address or a way of shipping changes it, the page shows the new one and asks again.

use askama::Template;
use commerce::gateways;
use content::pages::{Masthead, rendered};
use content::web::{Fields, STALE, WebAnswer};
use contract::rest::Verb;
use serde_json::{Value, json};
use types::Result;

use super::address_form::{self, Field, FormErrors};
use super::cart::{chosen, rates, totals};
use super::path::{ACCOUNT, CART, CHECKOUT};
use super::shop_request::ShopRequest;
use super::values::{Choice, StoreAnswer, flag, list, number, part, plain_text, text};
use crate::address::Side;

const KIND: &str = "page:checkout";
const TOKEN: &str = "shop-checkout";
const CHANGED: &str = "The total has changed; check it and place the order again.";

#[derive(Template)]
#[template(path = "shop/checkout.html")]
#[expect(clippy::struct_excessive_bools, reason = "what a template asks is yes or no")]
struct CheckoutPage<'a> {
    site: Masthead<'a>,
    csrf: String,
    action: String,
    errors: &'a FormErrors,
    billing: Vec<Field>,
    shipping: Vec<Field>,
    needs_shipping: bool,
    ships_elsewhere: bool,
    rates: Vec<Choice>,
    lines: Vec<(String, i64)>,
    totals: Vec<(String, String)>,
    /// The total in the minor unit, as it is shown.
    total: String,
    needs_payment: bool,
    methods: Vec<Method>,
    method_error: String,
    note: String,
    /// Whether an account can be made, and whether it must be.
    offers_account: bool,
    needs_account: bool,
    wants_account: bool,
    sign_in: String,
    is_signed_in: bool,
}

/// A way to pay.
pub(super) struct Method {
    pub(super) id: String,
    pub(super) title: String,
    pub(super) description: String,
    pub(super) is_chosen: bool,
}

/// The ways to pay that are offered; the first unless one of them is chosen.
pub(super) fn methods(options: &frame::Options, chosen: &str) -> Vec<Method> {
    let offered = gateways::offered(options);
    let is_known = offered.iter().any(|own| own.id == chosen);
    let each = offered.into_iter().enumerate().map(|(place, own)| Method {
        is_chosen: if is_known { own.id == chosen } else { place == 0 },
        id: own.id,
        title: content::web::plain(&own.title),
        description: content::web::plain(&own.description),
    });
    each.collect()
}

impl ShopRequest<'_> {
    /// The checkout, or a page of an order below it.
    pub(super) async fn checkout_at(&mut self, rest: &str) -> Result<Option<WebAnswer>> {
        if let Some(moved) = self.page.with_slash(KIND).filter(|_| !self.is_post()) {
            return Ok(Some(moved));
        }
        if rest.is_empty() {
            return self.checkout().await.map(Some);
        }
        let Some((endpoint, id)) = rest.split_once('/') else { return Ok(None) };
        let Ok(id) = id.parse::<i64>() else { return Ok(None) };
        let options = self.options();
        if endpoint == options.text("woocommerce_checkout_pay_endpoint") {
            return self.order_pay(id).await;
        }
        if endpoint == options.text("woocommerce_checkout_order_received_endpoint") {
            return self.order_received(id).await;
        }
        Ok(None)
    }

    async fn checkout(&mut self) -> Result<WebAnswer> {
        self.adopt_cart().await?;
        let cart = self.ask(Verb::Get, "/cart", None).await.json;
        if list(&cart, "items").is_empty() {
            return Ok(self.redirect(KIND, &format!("{CART}/")));
        }
        if !self.is_post() {
            let kept = self.ask(Verb::Get, "/checkout", None).await.json;
            let typed = Typed::kept(&cart, &kept);
            return Ok(self.checkout_page(200, &cart, &typed, &FormErrors::default()));
        }
        let fields = self.page.form();
        let typed = Typed::read(self.options(), &fields);
        if !self.is_genuine(TOKEN, &fields) {
            return Ok(self.checkout_page(403, &cart, &typed, &FormErrors::general(STALE)));
        }
        self.checkout_posted(&fields, typed, cart).await
    }

    async fn checkout_posted(
        &mut self,
        fields: &Fields,
        typed: Typed,
        cart: Value,
    ) -> Result<WebAnswer> {
        let addresses =
            json!({ "billing_address": typed.billing, "shipping_address": typed.shipping });
        let said = self.ask(Verb::Post, "/cart/update-customer", Some(addresses)).await;
        if !said.is_fine() {
            return Ok(self.checkout_refused(&said, &cart, &typed));
        }
        let mut cart = said.json;
        if fields.has("shipping_method") {
            let body = json!({ "package_id": 0, "rate_id": fields.text("shipping_method") });
            let said = self.ask(Verb::Post, "/cart/select-shipping-rate", Some(body)).await;
            if said.is_fine() {
                cart = said.json;
            }
        }
        let kept = json!({
            "payment_method": typed.known_method(self.options()), "customer_note": typed.note,
        });
        self.ask(Verb::Put, "/checkout", Some(kept)).await;
        if fields.has("update_totals") {
            return Ok(self.redirect(KIND, &format!("{CHECKOUT}/")));
        }
        if text(part(&cart, "totals"), "total_price") != fields.text("total") {
            return Ok(self.checkout_page(409, &cart, &typed, &FormErrors::general(CHANGED)));
        }
        let said = self.ask(Verb::Post, "/checkout", Some(typed.order())).await;
        if said.is_fine() {
            let url = text(part(&said.json, "payment_result"), "redirect_url");
            return Ok(WebAnswer::redirect(KIND, url));
        }
        let cart = self.ask(Verb::Get, "/cart", None).await.json;
        Ok(self.checkout_refused(&said, &cart, &typed))
    }

    fn checkout_refused(&self, said: &StoreAnswer, cart: &Value, typed: &Typed) -> WebAnswer {
        let known = |side: Side| match side {
            Side::Billing => typed.billing.clone(),
            Side::Shipping => typed.shipping.clone(),
        };
        let mut errors = FormErrors::read(&said.json, self.options(), &known);
        let removed =
            part(part(&said.json, "data"), "removed_coupons").as_object().into_iter().flatten();
        errors.general.extend(removed.filter_map(|(_, reason)| reason.as_str()).map(String::from));
        self.checkout_page(said.status, cart, typed, &errors)
    }

    fn checkout_page(
        &self,
        status: u16,
        cart: &Value,
        typed: &Typed,
        errors: &FormErrors,
    ) -> WebAnswer {
        let options = self.options();
        let takes_guests = options.is_on("woocommerce_enable_guest_checkout");
        let signs_up = options.is_on("woocommerce_enable_signup_and_login_from_checkout");
        let is_signed_in = self.session.is_some();
        let needs_shipping = flag(cart, "needs_shipping");
        let lines = list(cart, "items").iter().map(|item| {
            let name = plain_text(item, "name");
            let chosen = chosen(item);
            let name = if chosen.is_empty() { name } else { format!("{name} ({chosen})") };
            (name, number(item, "quantity"))
        });
        let back = format!("{CHECKOUT}/");
        let page = CheckoutPage {
            site: self.page.masthead(),
            csrf: self.token(TOKEN),
            action: back.clone(),
            billing: address_form::fields(options, Side::Billing, &typed.billing, errors),
            shipping: address_form::fields(options, Side::Shipping, &typed.shipping, errors),
            needs_shipping,
            ships_elsewhere: typed.ships_elsewhere,
            rates: rates(cart),
            lines: lines.collect(),
            totals: totals(cart),
            total: text(part(cart, "totals"), "total_price").to_owned(),
            needs_payment: flag(cart, "needs_payment"),
            methods: methods(options, &typed.method),
            method_error: errors.of("payment_method"),
            note: typed.note.clone(),
            offers_account: !is_signed_in && signs_up,
            needs_account: !takes_guests,
            wants_account: typed.wants_account,
            sign_in: format!("{ACCOUNT}/?redirect_to={}", content::web::encoded(&back)),
            is_signed_in,
            errors,
        };
        self.private((KIND, status), rendered(&page))
    }
}

/// What the form brings, or what is known before there is one.
struct Typed {
    billing: Value,
    shipping: Value,
    ships_elsewhere: bool,
    method: String,
    note: String,
    wants_account: bool,
    password: String,
}

impl Typed {
    /// From a cart and its checkout, as the Store API shows them.
    fn kept(cart: &Value, checkout: &Value) -> Self {
        let (billing, shipping) = (part(cart, "billing_address"), part(cart, "shipping_address"));
        let differs = |(name, value): (&String, &Value)| billing.get(name) != Some(value);
        let ships_elsewhere = shipping.as_object().is_some_and(|own| own.iter().any(differs));
        Self {
            ships_elsewhere: ships_elsewhere && !text(shipping, "address_1").is_empty(),
            billing: billing.clone(),
            shipping: shipping.clone(),
            method: text(checkout, "payment_method").to_owned(),
            note: text(checkout, "customer_note").to_owned(),
            wants_account: false,
            password: String::new(),
        }
    }

    fn read(options: &frame::Options, fields: &Fields) -> Self {
        let billing = address_form::typed(options, fields, Side::Billing);
        let ships_elsewhere = fields.has("ship_to_different_address");
        let shipping = if ships_elsewhere {
            address_form::typed(options, fields, Side::Shipping)
        } else {
            without_email(&billing)
        };
        Self {
            billing,
            shipping,
            ships_elsewhere,
            method: fields.text("payment_method").to_owned(),
            note: fields.text("order_comments").to_owned(),
            wants_account: fields.has("createaccount"),
            password: fields.text("account_password").to_owned(),
        }
    }

    /// The chosen way to pay, if it is one.
    fn known_method(&self, options: &frame::Options) -> &str {
        let is_offered = gateways::offered(options).iter().any(|own| own.id == self.method);
        if is_offered { &self.method } else { "" }
    }

    /// The order as the Store API takes it.
    fn order(&self) -> Value {
        json!({
            "billing_address": self.billing,
            "shipping_address": self.shipping,
            "payment_method": self.method,
            "customer_note": self.note,
            "create_account": self.wants_account,
            "customer_password": self.password,
        })
    }
}

fn without_email(billing: &Value) -> Value {
    let mut same = billing.clone();
    if let Some(members) = same.as_object_mut() {
        members.remove("email");
    }
    same
}
