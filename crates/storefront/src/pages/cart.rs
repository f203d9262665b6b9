//! The cart: quantities, coupons and the way of shipping, each changed by a form of its own.

use askama::Template;
use content::pages::{Masthead, rendered};
use content::web::{Fields, STALE, WebAnswer};
use contract::rest::Verb;
use serde_json::{Value, json};
use types::Result;

use super::path::{CART, CHECKOUT};
use super::shop_request::ShopRequest;
use super::values::{
    Choice, Picture, StoreAnswer, amount, flag, is_some_amount, list, number, plain_text, settled,
    text,
};

const KIND: &str = "page:cart";
const TOKEN: &str = "shop-cart";

#[derive(Template)]
#[template(path = "shop/cart.html")]
struct CartPage<'a> {
    site: Masthead<'a>,
    csrf: String,
    rows: Vec<Row>,
    coupons: Vec<(String, String)>,
    takes_coupons: bool,
    coupon_typed: &'a str,
    rates: Vec<Choice>,
    totals: Vec<(String, String)>,
    errors: CartErrors,
    notes: Vec<String>,
    checkout: String,
}

/// A product in the cart.
struct Row {
    key: String,
    name: String,
    link: String,
    /// What was chosen of a variation.
    chosen: String,
    picture: Option<Picture>,
    price: String,
    total: String,
    quantity: i64,
    quantity_max: i64,
    is_single: bool,
    error: String,
}

/// What was refused, beside what it is about.
#[derive(Default)]
struct CartErrors {
    /// By the key of the item.
    items: Vec<(String, String)>,
    coupon: String,
    general: String,
}

impl ShopRequest<'_> {
    pub(super) async fn cart(&mut self) -> Result<Option<WebAnswer>> {
        if let Some(moved) = self.page.with_slash(KIND).filter(|_| !self.is_post()) {
            return Ok(Some(moved));
        }
        self.adopt_cart().await?;
        if !self.is_post() {
            return Ok(Some(self.cart_page(200, CartErrors::default(), "").await));
        }
        let fields = self.page.form();
        if !self.is_genuine(TOKEN, &fields) {
            let errors = CartErrors { general: STALE.to_owned(), ..CartErrors::default() };
            return Ok(Some(self.cart_page(403, errors, "").await));
        }
        Ok(Some(match self.cart_changed(&fields).await {
            Ok(()) => self.redirect(KIND, &format!("{CART}/")),
            Err((status, errors)) => {
                self.cart_page(status, errors, fields.text("coupon_code")).await
            }
        }))
    }

    /// What somebody put into the cart before they signed in is theirs.
    pub(super) async fn adopt_cart(&self) -> Result<()> {
        if self.session.is_some() {
            settled(self.within().attempt(crate::cart::adopt).await)?;
        }
        Ok(())
    }

    /// Carries out what the form asks for, or says what was refused.
    async fn cart_changed(&mut self, fields: &Fields) -> Result<(), (u16, CartErrors)> {
        let general = |said: &StoreAnswer| {
            (said.status, CartErrors { general: said.message(), ..CartErrors::default() })
        };
        let coupon = |said: &StoreAnswer| {
            (said.status, CartErrors { coupon: said.message(), ..CartErrors::default() })
        };
        if fields.has("remove") {
            let body = json!({ "key": fields.text("remove") });
            return self.changed("/cart/remove-item", body, general).await;
        }
        if fields.has("remove_coupon") {
            let body = json!({ "code": fields.text("remove_coupon") });
            return self.changed("/cart/remove-coupon", body, coupon).await;
        }
        if fields.has("apply_coupon") {
            let body = json!({ "code": fields.text("coupon_code") });
            return self.changed("/cart/apply-coupon", body, coupon).await;
        }
        if fields.has("shipping_method") {
            let body = json!({ "package_id": 0, "rate_id": fields.text("shipping_method") });
            return self.changed("/cart/select-shipping-rate", body, general).await;
        }
        self.quantities_changed(fields).await
    }

    async fn changed(
        &mut self,
        path: &str,
        body: Value,
        error: impl Fn(&StoreAnswer) -> (u16, CartErrors),
    ) -> Result<(), (u16, CartErrors)> {
        let said = self.ask(Verb::Post, path, Some(body)).await;
        if said.is_fine() { Ok(()) } else { Err(error(&said)) }
    }

    /// Quantities by the keys of their items; none, or nothing, removes the item.
    async fn quantities_changed(&mut self, fields: &Fields) -> Result<(), (u16, CartErrors)> {
        let Some(Value::Object(wanted)) = fields.all().get("quantity") else { return Ok(()) };
        let known = self.ask(Verb::Get, "/cart", None).await.json;
        let mut errors = CartErrors::default();
        let mut status = 400;
        for item in list(&known, "items") {
            let key = text(item, "key");
            let Some(quantity) = wanted.get(key).and_then(Value::as_str) else { continue };
            let quantity = quantity.trim();
            if quantity == number(item, "quantity").to_string() {
                continue;
            }
            let said = if matches!(quantity, "" | "0") {
                self.ask(Verb::Post, "/cart/remove-item", Some(json!({ "key": key }))).await
            } else {
                let body = json!({ "key": key, "quantity": quantity });
                self.ask(Verb::Post, "/cart/update-item", Some(body)).await
            };
            if !said.is_fine() {
                status = said.status;
                errors.items.push((key.to_owned(), said.message()));
            }
        }
        if errors.items.is_empty() { Ok(()) } else { Err((status, errors)) }
    }

    async fn cart_page(
        &mut self,
        status: u16,
        errors: CartErrors,
        coupon_typed: &str,
    ) -> WebAnswer {
        let said = self.ask(Verb::Get, "/cart", None).await;
        let cart = &said.json;
        let page = CartPage {
            site: self.page.masthead(),
            csrf: self.token(TOKEN),
            rows: list(cart, "items").iter().map(|item| self.row(item, &errors)).collect(),
            coupons: coupons(cart),
            takes_coupons: self.options().is_on("woocommerce_enable_coupons"),
            coupon_typed,
            rates: rates(cart),
            totals: totals(cart),
            notes: list(cart, "errors").iter().map(|note| plain_text(note, "message")).collect(),
            checkout: format!("{CHECKOUT}/"),
            errors,
        };
        self.private((KIND, status), rendered(&page))
    }

    fn row(&self, item: &Value, errors: &CartErrors) -> Row {
        let (key, limits) = (text(item, "key"), &item["quantity_limits"]);
        let error = errors.items.iter().find(|(own, _)| own == key);
        Row {
            key: key.to_owned(),
            name: plain_text(item, "name"),
            link: text(item, "permalink").to_owned(),
            chosen: chosen(item),
            picture: self.pictures(item, true).into_iter().next(),
            price: amount(&item["prices"], "price"),
            total: amount(&item["totals"], "line_subtotal"),
            quantity: number(item, "quantity"),
            quantity_max: number(limits, "maximum"),
            is_single: !flag(limits, "editable"),
            error: error.map(|(_, message)| message.clone()).unwrap_or_default(),
        }
    }
}

/// What was chosen of a variation, in words.
pub(super) fn chosen(item: &Value) -> String {
    let pairs = list(item, "variation")
        .iter()
        .map(|one| format!("{}: {}", plain_text(one, "attribute"), plain_text(one, "value")));
    pairs.collect::<Vec<_>>().join(", ")
}

fn coupons(cart: &Value) -> Vec<(String, String)> {
    let each = list(cart, "coupons").iter().map(|coupon| {
        (text(coupon, "code").to_owned(), amount(&coupon["totals"], "total_discount"))
    });
    each.collect()
}

/// The ways of shipping that are offered.
pub(super) fn rates(cart: &Value) -> Vec<Choice> {
    let packages = list(cart, "shipping_rates").iter();
    let rates = packages.flat_map(|package| list(package, "shipping_rates")).map(|rate| {
        let cost = match text(rate, "price") {
            "0" => String::from("free"),
            _ => amount(rate, "price"),
        };
        Choice {
            value: text(rate, "rate_id").to_owned(),
            text: format!("{}: {cost}", plain_text(rate, "name")),
            is_chosen: flag(rate, "selected"),
        }
    });
    rates.collect()
}

/// The lines of what a cart comes to, the last of which is to be paid.
pub(super) fn totals(cart: &Value) -> Vec<(String, String)> {
    let totals = &cart["totals"];
    let line = |label: &str, name: &str| (label.to_owned(), amount(totals, name));
    let mut lines = vec![line("Subtotal", "total_items")];
    if is_some_amount(totals, "total_discount") {
        lines.push((String::from("Discount"), format!("−{}", amount(totals, "total_discount"))));
    }
    if !text(totals, "total_shipping").is_empty() {
        lines.push(line("Shipping", "total_shipping"));
    }
    if is_some_amount(totals, "total_tax") {
        lines.push(line("Tax", "total_tax"));
    }
    lines.push(line("Total", "total_price"));
    lines
}
