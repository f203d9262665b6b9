//! Applying coupons to a cart and removing them.

use commerce::orders::{Buyer, Quote, QuoteItem};
use contract::rest::params::invalid_params;
use contract::rest::{Refusal, Stop, clean};
use frame::Call;
use serde_json::json;

use super::pricing::{COUPON_ERROR, Strictness, checked, coupon_of};
use super::state::{COUPONS_MAX, Cart};
use crate::attempts;

fn refused(message: &'static str) -> Refusal {
    Refusal::new(400, COUPON_ERROR, message)
}

/// Codes that one client may try in a minute, right ones among them: who may go on until one is
/// right has guessed it.
const CODES_PER_MINUTE_MAX: i64 = 60;

/// Refuses where the shop has no coupons, and who tries too many codes. Comes before anything is
/// told about a code.
pub(crate) fn admit(call: &mut Call<'_>) -> Result<(), Stop> {
    if !call.options().is_on("woocommerce_enable_coupons") {
        let message = "Coupons are disabled.";
        return Err(Refusal::new(404, "woocommerce_rest_cart_coupon_disabled", message).into());
    }
    if attempts::take(call, "coupon codes of", CODES_PER_MINUTE_MAX)? {
        return Ok(());
    }
    let message = "Too many coupon codes from this address; try again in a minute.";
    Err(Refusal::new(429, "woocommerce_rest_too_many_coupons", message).into())
}

/// The code that the request names, in the form in which codes are kept.
pub(crate) fn code_of(call: &Call<'_>) -> String {
    clean::code(call.params.text("code").unwrap_or_default())
}

/// Refuses a code that is given and none.
pub(crate) fn check_code(call: &mut Call<'_>) -> Result<(), Stop> {
    let code = code_of(call);
    if !code.is_empty() && coupon_of(call, &code)?.is_none() {
        return Err(invalid_params(vec![(String::from("code"), None)]).into());
    }
    Ok(())
}

/// Applies the coupon of the code. One that is for itself alone takes the place of the others.
pub(crate) fn apply(call: &mut Call<'_>, cart: &mut Cart, code: &str) -> Result<(), Stop> {
    let Some(coupon) = coupon_of(call, code)? else {
        return Err(refused("There is no such coupon.").into());
    };
    let code = coupon.row.code.clone();
    if cart.state.coupons.contains(&code) {
        return Err(refused("This coupon has already been applied.").into());
    }
    for applied in cart.state.coupons.clone() {
        let other = coupon_of(call, &applied)?;
        if other.is_some_and(|other| other.details.individual_use) {
            return Err(refused("The applied coupon cannot be combined with others.").into());
        }
    }
    let quote = quote(call, cart)?;
    if !quote.is_for_buyer(&coupon) {
        let text = "Enter the e-mail address that this coupon is for.";
        let details = json!({ "cart": text, "checkout": text });
        return Err(refused(text).with("details", details).into());
    }
    let individual = coupon.details.individual_use;
    if let Err(refusal) = checked(call, &quote, coupon, Strictness::Browsing)? {
        return Err(Refusal { status: 400, code: COUPON_ERROR.into(), ..refusal }.into());
    }
    if individual {
        cart.state.coupons.clear();
    }
    if cart.state.coupons.len() >= COUPONS_MAX {
        return Err(refused("A cart has no room for more coupons.").into());
    }
    cart.state.coupons.push(code);
    Ok(())
}

/// What the coupon is checked against: the goods before any discount.
fn quote(call: &mut Call<'_>, cart: &Cart) -> Result<Quote, Stop> {
    let options = std::sync::Arc::clone(&call.visit.options);
    let buyer = Buyer {
        customer_id: call.user_id(),
        billing: cart.billing().clone(),
        shipping: cart.shipping().clone(),
    };
    let wanted = cart.state.items.iter().map(|item| QuoteItem {
        sold_id: item.sold_id(),
        quantity: item.quantity,
        chosen: Vec::new(),
    });
    let wanted: Vec<QuoteItem> = wanted.collect();
    let mut quote = Quote::of(call.conn()?, &options, buyer, &wanted)?;
    quote.prepare_coupons(call.conn()?)?;
    Ok(quote)
}
