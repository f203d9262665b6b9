//! An attempt to order. The checks come in the order in which clients know them; what the buyer can
//! correct leaves a draft.

use std::time::Duration;

use commerce::common::meta;
use commerce::gateways::{Offered, hosted};
use commerce::orders::{Address, Order, Quote, place, status};
use commerce::{customers, data, gateways};
use contract::rest::{Refusal, Reply, Stop};
use frame::Call;
use serde_json::{Map, Value, json};
use shop_rows::stock_hold;
use site_rows::user;
use types::Amount;

use super::{attribution, cleaned_note, hand_over, show};
use crate::address::{Email, FIELDS};
use crate::attempts;
use crate::cart::pricing::{self, Priced, Strictness};
use crate::cart::state::Cart;
use crate::cart::{self, conflict};
use crate::session::Session;

/// How long a draft holds the stock.
const HOLD: Duration = Duration::from_mins(10);

/// Attempts of one client in a minute. A program that sells for many people comes from one address.
const ATTEMPTS_PER_MINUTE_MAX: i64 = 60;

/// What a method of payment does to an order.
pub(super) fn status_after(
    call: &mut Call<'_>,
    order: &Order,
    method: Option<&Offered>,
    has_downloads: bool,
) -> Result<&'static str, Stop> {
    match method.map(|method| &*method.id) {
        None => place::paid_status(call, order),
        Some(id) if hosted::is_hosted(id) => Ok(status::PENDING),
        Some("cod") if !has_downloads => Ok(status::PROCESSING),
        Some(_) => Ok(status::ON_HOLD),
    }
}

/// A refusal, as the reply to an attempt that leaves its traces.
fn kept(refusal: &Refusal) -> Reply {
    Reply::from(refusal)
}

/// Orders what is in the cart.
pub(super) fn order(call: &mut Call<'_>, cart: &mut Cart) -> Result<Reply, Stop> {
    count(call)?;
    // What the buyer saw; a coupon that holds no longer is not dropped in silence.
    let applied = cart.state.coupons.clone();
    if let Some(refusal) = goods_refusal(call, cart)? {
        return Ok(kept(&refusal));
    }
    let options = std::sync::Arc::clone(&call.visit.options);
    let takes_guests = options.is_on("woocommerce_enable_guest_checkout");
    let signs_up = options.is_on("woocommerce_enable_signup_and_login_from_checkout");
    if call.user_id() == 0 && !takes_guests && !signs_up {
        let message = "Sign in to order.";
        let code = "woocommerce_rest_guest_checkout_disabled";
        return Err(Refusal::new(403, code, message).into());
    }
    cart::take_addresses(call, cart, Email::Strict)?;
    let priced = pricing::price(call, cart, Strictness::Ordering)?;
    if cart.state.coupons != applied {
        let refusal = coupon_refusal(&applied, cart, &priced);
        return Ok(kept(&conflict(call, cart, refusal)?));
    }
    let wants_account =
        call.user_id() == 0 && signs_up && (call.params.flag("create_account") || !takes_guests);
    let checked = check(call, cart, &priced, wants_account);
    let method = match checked {
        Ok(method) => method,
        Err(Stop::Refused(refusal)) => {
            keep_draft(call, cart, priced.quote)?;
            return Ok(kept(&refusal));
        }
        Err(failed) => return Err(failed),
    };
    finish(call, cart, priced, method, wants_account)
}

/// New accounts with a password that one client may ask for in a minute: their passwords are
/// hashed.
const PASSWORDS_PER_MINUTE_MAX: i64 = 10;

/// Whether a checkout that is to make an account gets as far as its password: the cart is the
/// buyer's, and there is something in it.
pub(super) fn is_worth_hashing(call: &mut Call<'_>) -> Result<bool, Stop> {
    let session = Session::of(call)?;
    session.prove(call)?;
    if Cart::load(call, &session)?.state.items.is_empty() {
        return Ok(false);
    }
    attempts::take(call, "new passwords of", PASSWORDS_PER_MINUTE_MAX)
}

/// Counts the attempts of a client: each may send e-mails, hold stock and leave a draft.
fn count(call: &mut Call<'_>) -> Result<(), Stop> {
    if attempts::take(call, "checkouts of", ATTEMPTS_PER_MINUTE_MAX)? {
        return Ok(());
    }
    let message = "Too many orders from this address; try again in a minute.";
    Err(Refusal::new(429, "woocommerce_rest_too_many_checkouts", message).into())
}

/// What is wrong with the goods: there are none, or fewer than the buyer saw.
fn goods_refusal(call: &mut Call<'_>, cart: &mut Cart) -> Result<Option<Refusal>, Stop> {
    let before = cart.state.items.len();
    let priced = pricing::price(call, cart, Strictness::Browsing)?;
    let out = "woocommerce_rest_product_out_of_stock";
    let missing = priced.errors.iter().find(|error| error.code == out).cloned();
    let refusal = if let Some(missing) = missing {
        Some(missing.with("0", 409))
    } else if cart.state.items.is_empty() {
        let message = if before == 0 { "The cart is empty." } else { UNAVAILABLE };
        Some(Refusal::new(409, "woocommerce_rest_cart_empty", message).with("0", 400))
    } else if priced.is_reduced {
        let code = "woocommerce_rest_product_partially_out_of_stock";
        let message = "There is less left than the cart contained; its quantities were lowered.";
        Some(Refusal::new(409, code, message))
    } else if before != cart.state.items.len() {
        Some(Refusal::new(409, "woocommerce_rest_product_not_purchasable", UNAVAILABLE))
    } else {
        None
    };
    refusal.map(|refusal| conflict(call, cart, refusal)).transpose()
}

const UNAVAILABLE: &str = "A product of the cart can no longer be bought.";

fn coupon_refusal(applied: &[String], cart: &Cart, priced: &Priced) -> Refusal {
    let deleted = applied.iter().filter(|code| !cart.state.coupons.contains(code));
    let mut removed = Map::new();
    let mut reasons = priced.errors.iter().filter(|error| error.code == pricing::COUPON_ERROR);
    for code in deleted {
        let reason = reasons.next().map_or("It can no longer be used.", |error| &error.message);
        removed.insert(code.clone(), json!(reason));
    }
    let message = "Coupons that cannot be used were removed from the cart.";
    Refusal::new(409, "woocommerce_rest_cart_coupon_errors", message)
        .with("removed_coupons", Value::Object(removed))
}

fn refused(code: &'static str, message: impl Into<String>) -> Stop {
    Refusal::new(400, code, message.into()).into()
}

/// Whatever the buyer can correct. Gives the way to pay, if one is needed.
fn check(
    call: &mut Call<'_>,
    cart: &Cart,
    priced: &Priced,
    wants_account: bool,
) -> Result<Option<Offered>, Stop> {
    let total = priced.quote.order().row.total;
    let method = chosen_method(call, total)?;
    let email = &cart.billing().email;
    if email.is_empty() {
        return Err(refused("woocommerce_rest_missing_email_address", "Enter an e-mail address."));
    }
    if wants_account && user::find_by_email(call.conn()?, email)?.is_some() {
        let message = "An account with this e-mail address already exists; sign in to use it.";
        return Err(refused("registration-error-email-exists", message));
    }
    let is_offered = priced.rates.iter().any(|rate| rate.id() == cart.state.rate);
    if priced.needs_shipping && !is_offered {
        let message = "Nothing can be shipped to this address.";
        return Err(refused("woocommerce_rest_invalid_shipping_option", message));
    }
    check_fields(call, cart, priced.needs_shipping)?;
    Ok(method)
}

/// The way to pay that the request names; none where there is nothing to pay.
pub(super) fn chosen_method(call: &Call<'_>, total: Amount) -> Result<Option<Offered>, Stop> {
    if total <= Amount::ZERO {
        return Ok(None);
    }
    let named = call.params.text("payment_method").unwrap_or_default();
    if named.is_empty() {
        let code = "woocommerce_rest_checkout_missing_payment_method";
        return Err(refused(code, "Select a payment method."));
    }
    let found = gateways::offered(call.options()).into_iter().find(|own| own.id == named);
    let disabled = || {
        let code = "woocommerce_rest_checkout_payment_method_disabled";
        refused(code, "This payment method is not offered; select another one.")
    };
    found.ok_or_else(disabled).map(Some)
}

/// Asks for what the countries of the addresses require.
fn check_fields(call: &Call<'_>, cart: &Cart, needs_shipping: bool) -> Result<(), Stop> {
    let mut errors = Map::new();
    let mut sides = vec![("billing", cart.billing())];
    if needs_shipping {
        sides.insert(0, ("shipping", cart.shipping()));
    }
    for (name, address) in sides {
        let missing = missing_fields(call, address);
        if !missing.is_empty() {
            errors.insert(name.to_owned(), json!(missing));
        }
    }
    if errors.is_empty() {
        return Ok(());
    }
    let message = "Fill in the required fields of the address.";
    let refusal = Refusal::new(400, "woocommerce_rest_invalid_address", message);
    Err(refusal.with("errors", Value::Object(errors)).into())
}

/// What the country of an address requires and is not there, in sentences.
pub(crate) fn missing_fields(call: &Call<'_>, address: &Address) -> Vec<String> {
    let mut copy = address.clone();
    let mut missing = Vec::new();
    for name in FIELDS.iter().chain(&["phone"]) {
        let is_empty = copy.field_mut(name).is_some_and(|field| field.is_empty());
        let field = data::address_field(call.options(), &address.country, name);
        if let Some((label, true)) = field.filter(|_| is_empty) {
            missing.push(format!("{label} is required"));
        }
    }
    missing
}

/// Keeps the attempt as a draft, with the stock held for its buyer.
fn keep_draft(call: &mut Call<'_>, cart: &mut Cart, quote: Quote) -> Result<(), Stop> {
    let former = place::draft(call, cart.state.order_id)?;
    let order = place::save_draft(call, quote.into_order(), former)?;
    // Whoever has said neither who they are nor how they pay holds nothing back from others.
    if order.details.billing.email.is_empty() || call.params.text("payment_method").is_none() {
        stock_hold::release(call.conn()?, order.id())?;
    } else {
        let pieces = hand_over::counted_pieces(call, &order)?;
        let until = call.now().plus(HOLD);
        stock_hold::set(call.conn()?, order.id(), &pieces, until)?;
    }
    cart.state.order_id = order.id();
    Ok(())
}

/// Makes the order and empties the cart.
fn finish(
    call: &mut Call<'_>,
    cart: &mut Cart,
    priced: Priced,
    method: Option<Offered>,
    wants_account: bool,
) -> Result<Reply, Stop> {
    let has_downloads = priced.goods.iter().any(|one| one.loaded.product.row.downloadable);
    let (billing, shipping) = (cart.billing().clone(), cart.shipping().clone());
    let customer_id = customer_id(call, &billing, &shipping, wants_account)?;
    let mut order = priced.quote.into_order();
    order.row.customer_id = customer_id;
    order.details.cart_hash = cart.hash();
    order.details.customer_note =
        cleaned_note(call.params.text("customer_note").unwrap_or_default());
    if let Some(method) = &method {
        method.id.clone_into(&mut order.row.payment_method);
        order.details.payment_method_title.clone_from(&method.title);
    }
    for (key, value) in attribution(call) {
        meta::add(call.conn()?, &mut order.details.meta_data, &key, json!(value))?;
    }
    let to = status_after(call, &order, method.as_ref(), has_downloads)?;
    let former = place::draft(call, cart.state.order_id)?;
    let order = place::place(call, order, former, to)?;
    let address = hand_over::address(call, &order, method.as_ref())?;
    cart.state.items.clear();
    cart.state.coupons.clear();
    cart.state.rate.clear();
    cart.state.rates.clear();
    cart.state.order_id = 0;
    cart.state.is_reminded = false;
    if let Some(method) = &method {
        method.id.clone_into(&mut cart.state.payment_method);
    }
    Ok(Reply::new(show::of_order(&order, method.is_some(), &address)))
}

/// Whose order it is: a customer's, who is remembered with the addresses, or a guest's.
fn customer_id(
    call: &mut Call<'_>,
    billing: &Address,
    shipping: &Address,
    wants_account: bool,
) -> Result<i64, Stop> {
    let user_id = call.user_id();
    if user_id != 0 {
        customers::remember_addresses(call, user_id, billing, shipping)?;
        return Ok(user_id);
    }
    if !wants_account {
        return Ok(0);
    }
    // A password that breaks the rules is not set; the buyer chooses one with the link to do so.
    let given = call.params.text("customer_password").filter(|text| !text.is_empty());
    let is_fine = |given: &&str| frame::password::error(given).is_none();
    let hash = match given.filter(is_fine) {
        // Hashing takes too long for a transaction; in a batch it was not done beforehand.
        Some(given) => call.visit.hashes.made(given),
        None => None,
    };
    Ok(customers::register(call, billing, shipping, hash)?.user.user_id)
}
