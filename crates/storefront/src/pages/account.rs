//! The buyer's own pages: signing in, their orders, and their addresses. **Another customer's order
//! is the same as none.**

use askama::Template;
use commerce::orders::{Address, Order, pay_path, status};
use content::pages::{LOGIN_TOKEN_FIELD, Masthead, rendered};
use content::web::{
    Fields, Keep, STALE, Spelling, WRONG, WebAnswer, local_path, told_to_wait, typed_login,
};
use contract::rest::Stop;
use db::filter::{Direction, Page};
use frame::Call;
use frame::auth::login::SignIn;
use frame::pages::Date;
use serde_json::{Value, json};
use shop_rows::order::{self, OrderFilter, OrderKind, OrderRow, OrderSort};
use types::{Result, Secret};

use super::address_form::{self, Field, FormErrors};
use super::order::OrderView;
use super::path::ACCOUNT;
use super::shop_request::ShopRequest;
use super::values::{part, settled};
use crate::address::{self as addresses, Email, Side};
use crate::cart::state::default_addresses;
use crate::checkout::missing_fields;
use crate::money::{self, Money};

const KIND: &str = "page:account";
const SIGN_IN: &str = "shop-log-in";
const TOKEN: &str = "shop-address";
const PER_PAGE: i64 = 20;

#[derive(Template)]
#[template(path = "shop/sign_in.html")]
struct SignInPage<'a> {
    site: Masthead<'a>,
    action: String,
    csrf: String,
    referer: &'a str,
    redirect: &'a str,
    login: &'a str,
    error: &'a str,
}

#[derive(Template)]
#[template(path = "shop/account.html")]
struct AccountPage<'a> {
    site: Masthead<'a>,
    name: &'a str,
    menu: Menu,
}

#[derive(Template)]
#[template(path = "shop/orders.html")]
struct OrdersPage<'a> {
    site: Masthead<'a>,
    menu: Menu,
    orders: Vec<OrderEntry>,
    previous: Option<String>,
    next: Option<String>,
}

#[derive(Template)]
#[template(path = "shop/view_order.html")]
struct ViewOrderPage<'a> {
    site: Masthead<'a>,
    menu: Menu,
    order: OrderView,
    billing: Vec<String>,
    shipping: Vec<String>,
}

#[derive(Template)]
#[template(path = "shop/addresses.html")]
struct AddressesPage<'a> {
    site: Masthead<'a>,
    menu: Menu,
    /// What each is for, its lines, and where it is changed.
    addresses: [(&'static str, Vec<String>, String); 2],
}

#[derive(Template)]
#[template(path = "shop/edit_address.html")]
struct EditAddressPage<'a> {
    site: Masthead<'a>,
    menu: Menu,
    heading: &'static str,
    action: String,
    csrf: String,
    fields: Vec<Field>,
    errors: &'a FormErrors,
}

/// Where the pages of an account are.
pub(super) struct Menu {
    pub(super) orders: String,
    pub(super) downloads: String,
    pub(super) addresses: String,
    pub(super) sign_out: String,
}

struct OrderEntry {
    number: String,
    day: String,
    status: String,
    total: String,
    link: String,
    /// Empty if there is nothing to pay.
    pay: String,
}

impl OrderEntry {
    fn date(&self) -> Date<'_> {
        Date(&self.day)
    }
}

impl ShopRequest<'_> {
    pub(super) async fn account(&mut self, rest: &str) -> Result<Option<WebAnswer>> {
        if let Some(moved) = self.page.with_slash(KIND).filter(|_| !self.is_post()) {
            return Ok(Some(moved));
        }
        if self.session.is_none() {
            return self.account_sign_in().await.map(Some);
        }
        let (endpoint, argument) = rest.split_once('/').unwrap_or((rest, ""));
        let is =
            |name: &str| endpoint == self.options().text(&format!("woocommerce_{name}_endpoint"));
        if endpoint.is_empty() {
            return Ok(Some(self.account_home()));
        }
        if is("myaccount_orders") && argument.is_empty() {
            return self.own_orders().await.map(Some);
        }
        if is("myaccount_downloads") && argument.is_empty() {
            return self.own_downloads().await.map(Some);
        }
        if is("myaccount_view_order") {
            return self.own_order(argument.parse().unwrap_or_default()).await;
        }
        if is("myaccount_edit_address") {
            return match argument {
                "" => self.own_addresses().await.map(Some),
                "billing" => self.own_address(Side::Billing).await.map(Some),
                "shipping" => self.own_address(Side::Shipping).await.map(Some),
                _ => Ok(None),
            };
        }
        if is("logout") {
            return Ok(Some(self.redirect(KIND, &self.menu().sign_out)));
        }
        Ok(None)
    }

    fn endpoint(&self, name: &str) -> String {
        let word = self.options().text(&format!("woocommerce_myaccount_{name}_endpoint"));
        format!("{ACCOUNT}/{word}/")
    }

    pub(super) fn menu(&self) -> Menu {
        let back = format!("{ACCOUNT}/");
        let sign_out = self
            .session
            .as_ref()
            .map(|session| self.page.sign_out_path(Spelling::Neutral, session, Some(&back)));
        Menu {
            orders: self.endpoint("orders"),
            downloads: self.endpoint("downloads"),
            addresses: self.endpoint("edit_address"),
            sign_out: sign_out.unwrap_or(back),
        }
    }

    /// Where the reader goes once they are signed in.
    fn wanted_path(&self, fields: &Fields) -> Option<String> {
        let query = self.page.query();
        let given = match fields.text("redirect") {
            "" => query.text("redirect_to"),
            given => given,
        };
        local_path(&self.visit.home, given)
    }

    async fn account_sign_in(&mut self) -> Result<WebAnswer> {
        let fields = self.page.form();
        let login = typed_login(fields.text("username"));
        let target = self.wanted_path(&fields);
        let again = |status: u16, error: &str| {
            let page = SignInPage {
                site: self.page.masthead(),
                action: format!("{ACCOUNT}/"),
                csrf: self.token(SIGN_IN),
                referer: &self.page.request.url_path,
                redirect: target.as_deref().unwrap_or_default(),
                login: &login,
                error,
            };
            self.private((KIND, status), rendered(&page))
        };
        if !self.is_post() || !fields.has("login") {
            return Ok(again(200, ""));
        }
        if !self.has_token(SIGN_IN, fields.text(LOGIN_TOKEN_FIELD)) {
            return Ok(again(403, STALE));
        }
        let password = Secret::new(fields.text("password").to_owned());
        match self.page.site.sign_in(self.page.request, &login, password).await? {
            SignIn::Welcome(user) => {
                let keep = if fields.has("rememberme") { Keep::Long } else { Keep::Usual };
                let target = target.unwrap_or_else(|| format!("{ACCOUNT}/"));
                self.page.welcome(user.id(), &self.visit.page(&target), keep).await
            }
            SignIn::Wrong => Ok(again(403, WRONG)),
            SignIn::Wait(wait) => told_to_wait(wait, |message| Ok(again(429, message))),
        }
    }

    fn account_home(&self) -> WebAnswer {
        let name = self.session.as_ref().map(|session| session.user.row.display_name.clone());
        let name = name.unwrap_or_default();
        let page = AccountPage { site: self.page.masthead(), name: &name, menu: self.menu() };
        self.private((KIND, 200), rendered(&page))
    }

    async fn own_orders(&self) -> Result<WebAnswer> {
        let page = self.page.query().text("paged").parse::<i64>().unwrap_or(1).max(1);
        let offset = (page - 1).saturating_mul(PER_PAGE);
        let wanted = OrderFilter {
            kinds: vec![OrderKind::Order],
            customers: vec![self.user_id()],
            statuses_exclude: HIDDEN.map(str::to_owned).to_vec(),
            sort: OrderSort::Date,
            direction: Direction::Descending,
            page: Page { offset, limit: PER_PAGE },
            ..OrderFilter::default()
        };
        let read = move |conn: &mut dyn db::Conn| order::list(conn, &wanted);
        let (rows, total) = self.page.site.store().read(read).await?;
        let orders = rows.iter().map(|row| self.entry(row)).collect();
        let turned = |number: i64| format!("{}?paged={number}", self.endpoint("orders"));
        let page = OrdersPage {
            site: self.page.masthead(),
            menu: self.menu(),
            orders,
            previous: (page > 1).then(|| turned(page - 1)),
            next: (offset.saturating_add(PER_PAGE) < total).then(|| turned(page + 1)),
        };
        Ok(self.private((KIND, 200), rendered(&page)))
    }

    fn entry(&self, row: &OrderRow) -> OrderEntry {
        let options = self.options();
        let money = Money::in_currency(options, &row.currency);
        let how = money.with(json!({}));
        let pay = pay_path(options, (row.order_id, &row.order_key));
        OrderEntry {
            number: match row.number.as_str() {
                "" => row.order_id.to_string(),
                number => number.to_owned(),
            },
            day: options.local(row.created).to_string(),
            status: status::name(&row.status).to_owned(),
            total: money::written(&how, &money.minor(row.total)),
            link: format!("{}{}/", self.endpoint("view_order"), row.order_id),
            pay: if status::awaits_payment(row) { pay } else { String::new() },
        }
    }

    async fn own_order(&self, id: i64) -> Result<Option<WebAnswer>> {
        let found = self.within().look(move |call| own_order(call, id)).await;
        let Some((order, body)) = settled(found)?.flatten() else { return Ok(None) };
        let page = ViewOrderPage {
            site: self.page.masthead(),
            menu: self.menu(),
            order: OrderView::of(self.options(), &order, &body),
            billing: address_form::lines(part(&body, "billing_address")),
            shipping: address_form::lines(part(&body, "shipping_address")),
        };
        Ok(Some(self.private((KIND, 200), rendered(&page))))
    }

    async fn known_addresses(&self) -> Result<(Address, Address)> {
        let found = self.within().look(default_addresses).await;
        Ok(settled(found)?.unwrap_or_default())
    }

    async fn own_addresses(&self) -> Result<WebAnswer> {
        let (billing, shipping) = self.known_addresses().await?;
        let base = self.endpoint("edit_address");
        let lines = |address: &Address, side| address_form::lines(&addresses::shown(address, side));
        let page = AddressesPage {
            site: self.page.masthead(),
            menu: self.menu(),
            addresses: [
                ("Billing address", lines(&billing, Side::Billing), format!("{base}billing/")),
                ("Shipping address", lines(&shipping, Side::Shipping), format!("{base}shipping/")),
            ],
        };
        Ok(self.private((KIND, 200), rendered(&page)))
    }

    async fn own_address(&self, side: Side) -> Result<WebAnswer> {
        let (billing, shipping) = self.known_addresses().await?;
        let known = if side == Side::Billing { &billing } else { &shipping };
        if !self.is_post() {
            let shown = addresses::shown(known, side);
            return Ok(self.address_page(200, side, &shown, &FormErrors::default()));
        }
        let fields = self.page.form();
        let typed = address_form::typed(self.options(), &fields, side);
        if !self.is_genuine(TOKEN, &fields) {
            return Ok(self.address_page(403, side, &typed, &FormErrors::general(STALE)));
        }
        let given = typed.clone();
        let saved = self.within().attempt(move |call| save_address(call, side, &given)).await;
        match saved {
            Ok(()) => Ok(self.redirect(KIND, &self.endpoint("edit_address"))),
            Err(Stop::Refused(refusal)) => {
                let country = typed.clone();
                let known = |_: Side| country.clone();
                let errors = FormErrors::read(&refusal.body(), self.options(), &known);
                Ok(self.address_page(refusal.status, side, &typed, &errors))
            }
            Err(Stop::Failed(error)) => Err(error),
        }
    }

    fn address_page(
        &self,
        status: u16,
        side: Side,
        shown: &Value,
        errors: &FormErrors,
    ) -> WebAnswer {
        let heading = match side {
            Side::Billing => "Billing address",
            Side::Shipping => "Shipping address",
        };
        let page = EditAddressPage {
            site: self.page.masthead(),
            menu: self.menu(),
            heading,
            action: format!("{}{}/", self.endpoint("edit_address"), address_form::prefix(side)),
            csrf: self.token(TOKEN),
            fields: address_form::fields(self.options(), side, shown, errors),
            errors,
        };
        self.private((KIND, status), rendered(&page))
    }
}

/// What is no order yet, or none any more.
const HIDDEN: [&str; 2] = [status::TRASH, status::CHECKOUT_DRAFT];

fn own_order(call: &mut Call<'_>, id: i64) -> Result<Option<(Order, Value)>, Stop> {
    let user_id = call.user_id();
    let found = Order::get(call.conn()?, id, OrderKind::Order)?;
    let is_own = |order: &Order| {
        order.row.customer_id == user_id && !HIDDEN.contains(&order.row.status.as_str())
    };
    let Some(order) = found.filter(is_own).filter(|_| user_id != 0) else { return Ok(None) };
    let body = crate::order::body(call, &order)?;
    Ok(Some((order, body)))
}

fn save_address(call: &mut Call<'_>, side: Side, given: &Value) -> Result<(), Stop> {
    let (mut billing, mut shipping) = default_addresses(call)?;
    let known = if side == Side::Billing { &mut billing } else { &mut shipping };
    let merged = addresses::merged(known, Some(given), side, Email::Strict);
    let changed = merged.map_err(|error| {
        contract::rest::params::invalid_params(vec![(side.param().to_owned(), Some(error))])
    })?;
    let missing = missing_fields(call, &changed);
    if !missing.is_empty() {
        let message = "Fill in the required fields of the address.";
        let refusal =
            contract::rest::Refusal::new(400, "woocommerce_rest_invalid_address", message);
        let errors = json!({ address_form::prefix(side): missing });
        return Err(refusal.with("errors", errors).into());
    }
    *known = changed;
    let user_id = call.user_id();
    commerce::customers::remember_addresses(call, user_id, &billing, &shipping)
}
