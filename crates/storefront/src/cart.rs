//! The cart: what is in it, what it comes to, and how it changes.
//!
//! [`state`] is what is remembered of it, [`pricing`] what that comes to now, [`show`] how it
//! looks. **Every response about a cart, a refusal too, carries its token and a nonce.**

mod coupons;
mod items;
pub(crate) mod pricing;
pub(crate) mod show;
pub(crate) mod state;

use commerce::orders::Address;
use contract::rest::params::invalid_params;
use contract::rest::route::{CREATE, DELETE, EDIT, READ, Route};
use contract::rest::{
    Args, Body, Item, Links, ParamError, Refusal, Reply, Schema, Stop, Treatment, loose,
};
use frame::action::{anyone, write};
use frame::{Action, Call};
use serde_json::{Map, Value};

use self::pricing::{Priced, Strictness};
use self::state::{Cart, State};
use crate::address::{self, Email, Side};
use crate::products::context;
use crate::schemas;
use crate::session::{Session, reply_of};

/// Characters of the name of a way of shipping at most.
const RATE_LENGTH_MAX: usize = 200;

/// What a request must show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    /// Nothing: it only looks.
    Open,
    /// A token or a nonce.
    Proven,
}

/// Runs an operation on the caller's cart. What it refuses leaves the cart as it was.
pub(crate) fn with_cart(
    call: &mut Call<'_>,
    access: Access,
    operation: impl FnOnce(&mut Call<'_>, &mut Cart) -> Result<Reply, Stop>,
) -> Result<Reply, Stop> {
    let session = Session::of(call)?;
    let mut cart = Cart::load(call, &session)?;
    let proven = if access == Access::Proven { session.prove(call) } else { Ok(()) };
    let (before, hash_before) = (cart.state.clone(), cart.hash());
    let outcome = match proven {
        Ok(()) => operation(call, &mut cart),
        Err(refusal) => Err(refusal.into()),
    };
    match &outcome {
        Ok(_) => cart.save(call)?,
        Err(_) => cart.state = before,
    }
    let reply = reply_of(outcome)?;
    Ok(session.dress(call, reply, &hash_before, &cart.hash())?)
}

/// Gives the cart that a guest filled in this browser to the user who has signed in since, unless
/// theirs has something in it already.
pub(crate) fn adopt(call: &mut Call<'_>) -> Result<(), Stop> {
    let guest = Session::of_guest(call).filter(|_| call.user_id() != 0);
    let Some(guest) = guest else { return Ok(()) };
    let mut found = Cart::load(call, &guest)?;
    let session = Session::of(call)?;
    let mut own = Cart::load(call, &session)?;
    if found.state.items.is_empty() || !own.state.items.is_empty() {
        return Ok(());
    }
    let State { items, coupons, order_id, .. } = std::mem::take(&mut found.state);
    own.state = State { items, coupons, order_id, ..own.state };
    found.save(call)?;
    Ok(own.save(call)?)
}

/// The cart as it is shown.
pub(crate) fn shown(call: &mut Call<'_>, cart: &mut Cart) -> Result<Value, Stop> {
    let priced = pricing::price(call, cart, Strictness::Browsing)?;
    show::body(call, cart, &priced)
}

/// A refusal that shows the cart as it is.
pub(crate) fn conflict(
    call: &mut Call<'_>,
    cart: &mut Cart,
    refusal: Refusal,
) -> Result<Refusal, Stop> {
    let body = shown(call, cart)?;
    Ok(Refusal { status: 409, ..refusal }.with("cart", body))
}

pub(crate) fn item() -> Item {
    schemas::item("cart", include_str!("schemas/cart.txt"))
}

type Operation = fn(&mut Call<'_>, &mut Cart, &str) -> Result<Reply, Stop>;

/// An operation on the cart; `base` is the REST path of the cart.
fn action(base: &str, access: Access, operation: Operation) -> Action {
    let base = base.to_owned();
    write(anyone, move |call| with_cart(call, access, |call, cart| operation(call, cart, &base)))
}

pub(crate) fn routes(namespace: &str) -> Vec<Route<Action>> {
    let base = format!("/{namespace}/cart");
    let document = item().document();
    let text = |about: &str| Schema::text().about(about);
    let code = || Args::new().arg("code", text("Coupon code."));
    let key = || Args::new().arg("key", text("Key of the item in the cart."));
    let rate = Args::new()
        .arg("package_id", Schema::types(&["integer", "string", "null"]).about("Package ID."))
        .arg("rate_id", text("Rate ID.").required());
    let extension = Args::new()
        .arg("namespace", text("Namespace of the extension."))
        .arg("data", Schema::map().about("Data of the extension."));
    let posts: [(&str, Args, Operation, u16); 8] = [
        ("add-item", add_args(), add_item, 201),
        ("apply-coupon", code(), apply_coupon, 200),
        ("extensions", extension, extend, 200),
        ("remove-coupon", code(), remove_coupon, 200),
        ("remove-item", key(), remove_item, 200),
        ("select-shipping-rate", rate, select_rate, 200),
        ("update-item", key().with(quantity_arg()), update_item, 200),
        ("update-customer", customer_args(false), update_customer, 200),
    ];
    let scope = Args::new().arg("context", context(&["view", "embed", "edit"]));
    let mut routes = vec![
        Route::at(namespace, "/cart")
            .on(READ, scope, action(&base, Access::Open, get))
            .schema(document.clone())
            .batchable(),
    ];
    for (name, args, operation, status) in posts {
        let route = Route::at(namespace, &format!("/cart/{name}"))
            .on(CREATE, args, action(&base, Access::Proven, operation))
            .succeeds_with(&[status])
            .schema(document.clone())
            .batchable();
        routes.push(route);
    }
    routes.extend(collections(namespace, &base));
    routes
}

/// The items and the coupons as collections of their own.
fn collections(namespace: &str, base: &str) -> [Route<Action>; 4] {
    use Access::{Open, Proven};
    let text = |about: &str| Schema::text().about(about);
    let items = schemas::item("cart_item", include_str!("schemas/cart_item.txt")).document();
    let coupons = schemas::item("cart_coupon", include_str!("schemas/cart_coupon.txt")).document();
    let of_item = Args::new().arg("context", context(&["view", "embed", "edit"]));
    let of_coupon = Args::new().arg("context", context(&["view", "edit"]));
    let extensions = || Schema::object::<&str>([]).about("Data of extensions.");
    let key = || Args::new().arg("key", text("Key of the item in the cart."));
    let code = || Args::new().arg("code", text("Coupon code."));
    let create = Args::new().arg("extensions", extensions().default(Vec::<i64>::new()));
    let create = create.treat("extensions", Treatment::None).with(add_args().unpublished(&[
        "id",
        "quantity",
        "variation",
    ]));
    let update = key().treated("extensions", extensions(), Treatment::None);
    let update = update.with(quantity_arg().unpublished(&["quantity"]));
    let coupon = code().arg("discount_type", text("Discount type."));
    [
        Route::at(namespace, "/cart/items")
            .on(READ, of_item.clone(), action(base, Open, items_list))
            .lists()
            .on(CREATE, create, action(base, Proven, items_add))
            .creates()
            .on(DELETE, Args::new(), action(base, Proven, items_clear))
            .lists()
            .schema(items.clone())
            .batchable(),
        Route::at(namespace, r"/cart/items/(?P<key>[\w-]{32})")
            .on(READ, key().with(of_item), action(base, Open, items_get))
            .refuses_with(&[409])
            .on(EDIT, update, action(base, Proven, items_update))
            .on(DELETE, key(), action(base, Proven, items_remove))
            .succeeds_with(&[204])
            .schema(items)
            .batchable(),
        Route::at(namespace, "/cart/coupons")
            .on(READ, of_coupon.clone(), action(base, Open, coupons_list))
            .lists()
            .on(CREATE, coupon, action(base, Proven, coupons_add))
            .creates()
            .on(DELETE, Args::new(), action(base, Proven, coupons_clear))
            .lists()
            .schema(coupons.clone())
            .batchable(),
        Route::at(namespace, r"/cart/coupons/(?P<code>[\w-]+)")
            .on(READ, code().with(of_coupon), action(base, Open, coupons_get))
            .refuses_with(&[409])
            .on(DELETE, code(), action(base, Proven, coupons_remove))
            .succeeds_with(&[204])
            .schema(coupons)
            .batchable(),
    ]
}

fn quantity_arg() -> Args {
    let about = "Quantity, as a whole number.";
    Args::new().treated("quantity", Schema::number().about(about), Treatment::None)
}

/// A whole number; what is none is 0, which no product has.
#[expect(clippy::unnecessary_wraps, reason = "the form that its neighbours have")]
fn whole(value: &Value, _: &str) -> Result<Value, ParamError> {
    Ok(Value::from(if loose::is_whole(value) { loose::to_int(value) } else { 0 }))
}

fn add_args() -> Args {
    let both: &[&str] = &["view", "edit"];
    let attribute = Schema::object([
        ("attribute", Schema::text().about("Name or key of an attribute.").context(both)),
        ("value", Schema::text().about("Name or slug of a term.").context(both)),
    ]);
    let id = Schema::integer().about("Product or variation ID.");
    Args::new()
        .treated("id", id, Treatment::Own(whole))
        .with(quantity_arg())
        .arg("variation", Schema::list(attribute).about("Attributes of a variation."))
}

/// The two addresses. They are checked together with what is known already, so not by schema.
pub(crate) fn customer_args(needs_billing: bool) -> Args {
    let both: &[&str] = &["view", "edit"];
    let field = |name: &&'static str| {
        let about = format!("The address's {}.", name.replace('_', " "));
        (*name, Schema::text().about(&about).context(both).required())
    };
    let fields = || address::FIELDS.iter().chain(&["phone"]).map(field);
    let billing = Schema::object(fields().chain([field(&"email")])).about("Billing address.");
    let billing = if needs_billing { billing.required() } else { billing };
    let shipping = Schema::object(fields()).about("Shipping address.");
    Args::new().treated("billing_address", billing, Treatment::None).treated(
        "shipping_address",
        shipping,
        Treatment::None,
    )
}

fn get(call: &mut Call<'_>, cart: &mut Cart, _: &str) -> Result<Reply, Stop> {
    Ok(Reply::new(shown(call, cart)?))
}

fn created(reply: Reply) -> Reply {
    Reply { status: 201, ..reply }
}

fn add_item(call: &mut Call<'_>, cart: &mut Cart, _: &str) -> Result<Reply, Stop> {
    items::add(call, cart)?;
    Ok(created(Reply::new(shown(call, cart)?)))
}

/// The place of the item that the request names.
fn place_of(call: &mut Call<'_>, cart: &mut Cart) -> Result<usize, Stop> {
    let key = call.params.text("key").unwrap_or_default().to_owned();
    if let Some(place) = items::place_of(cart, &key) {
        return Ok(place);
    }
    let message = "There is no such item in the cart.";
    let refusal = Refusal::new(409, "woocommerce_rest_cart_invalid_key", message);
    Err(conflict(call, cart, refusal)?.into())
}

fn update_item(call: &mut Call<'_>, cart: &mut Cart, base: &str) -> Result<Reply, Stop> {
    let place = place_of(call, cart)?;
    items::update(call, cart, place)?;
    get(call, cart, base)
}

fn remove_item(call: &mut Call<'_>, cart: &mut Cart, base: &str) -> Result<Reply, Stop> {
    let place = place_of(call, cart)?;
    cart.state.items.remove(place);
    get(call, cart, base)
}

fn apply_coupon(call: &mut Call<'_>, cart: &mut Cart, base: &str) -> Result<Reply, Stop> {
    coupons::admit(call)?;
    let code = coupons::code_of(call);
    coupons::apply(call, cart, &code)?;
    get(call, cart, base)
}

fn remove_coupon(call: &mut Call<'_>, cart: &mut Cart, base: &str) -> Result<Reply, Stop> {
    coupons::admit(call)?;
    let code = coupons::code_of(call);
    if pricing::coupon_of(call, &code)?.is_none() {
        let message = "There is no such coupon.";
        return Err(Refusal::new(400, pricing::COUPON_ERROR, message).into());
    }
    if !cart.state.coupons.contains(&code) {
        return Err(conflict(call, cart, not_applied(409))?.into());
    }
    cart.state.coupons.retain(|applied| *applied != code);
    get(call, cart, base)
}

fn not_applied(status: u16) -> Refusal {
    let message = "The coupon is not applied to the cart.";
    Refusal::new(status, "woocommerce_rest_cart_coupon_invalid_code", message)
}

/// Any name is taken; one that is not offered means the first that is.
fn select_rate(call: &mut Call<'_>, cart: &mut Cart, base: &str) -> Result<Reply, Stop> {
    let rate = call.params.text("rate_id").unwrap_or_default();
    cart.state.rate = rate.chars().take(RATE_LENGTH_MAX).collect();
    get(call, cart, base)
}

fn update_customer(call: &mut Call<'_>, cart: &mut Cart, base: &str) -> Result<Reply, Stop> {
    take_addresses(call, cart, Email::Lenient)?;
    get(call, cart, base)
}

/// Takes over the addresses of the request. Where nothing is shipped, the bill's is the only one.
pub(crate) fn take_addresses(
    call: &mut Call<'_>,
    cart: &mut Cart,
    email: Email,
) -> Result<(), Stop> {
    let (billing, shipping) = read_addresses(call, cart, email)?;
    let follows = call.params.get(Side::Shipping.param()).is_none()
        && call.params.get(Side::Billing.param()).is_some()
        && !needs_shipping(call, cart)?;
    if billing != *cart.billing() {
        cart.state.billing = Some(billing.clone());
    }
    let shipping = if follows { Address { email: String::new(), ..billing } } else { shipping };
    if shipping != *cart.shipping() {
        cart.state.shipping = Some(shipping);
    }
    Ok(())
}

fn needs_shipping(call: &mut Call<'_>, cart: &mut Cart) -> Result<bool, Stop> {
    Ok(pricing::price(call, cart, Strictness::Browsing)?.needs_shipping)
}

/// The addresses with what the request gives; a refusal tells of both.
pub(crate) fn read_addresses(
    call: &Call<'_>,
    cart: &Cart,
    email: Email,
) -> Result<(Address, Address), Refusal> {
    let sides = [(Side::Billing, cart.billing()), (Side::Shipping, cart.shipping())];
    let mut errors = Vec::new();
    let [billing, shipping] = sides.map(|(side, known)| {
        let given = call.params.get(side.param());
        address::merged(known, given, side, email).unwrap_or_else(|error| {
            errors.push((side.param().to_owned(), Some(error)));
            known.clone()
        })
    });
    if errors.is_empty() { Ok((billing, shipping)) } else { Err(invalid_params(errors)) }
}

/// No extension takes data of carts.
fn extend(_: &mut Call<'_>, _: &mut Cart, _: &str) -> Result<Reply, Stop> {
    let message = "There is no extension with this namespace.";
    Err(Refusal::new(400, "woocommerce_rest_cart_extensions_error", message).into())
}

fn item_links(call: &Call<'_>, base: &str, body: &Value) -> Links {
    let key = body.get("key").and_then(Value::as_str).unwrap_or_default();
    Links::new()
        .to("self", call.visit.rest(&format!("{base}/items/{key}")))
        .to("collection", call.visit.rest(&format!("{base}/items")))
}

fn priced_items(call: &mut Call<'_>, cart: &mut Cart) -> Result<Vec<Value>, Stop> {
    let priced = pricing::price(call, cart, Strictness::Browsing)?;
    Ok(show::items(call.visit, cart, &priced))
}

fn items_list(call: &mut Call<'_>, cart: &mut Cart, base: &str) -> Result<Reply, Stop> {
    let items = priced_items(call, cart)?.into_iter().map(|body| {
        let links = item_links(call, base, &body);
        frame::managers::linked(body, links)
    });
    Ok(Reply::new(items.collect::<Vec<_>>()))
}

/// The reply about one item.
fn item_reply(call: &mut Call<'_>, cart: &mut Cart, base: &str, key: &str) -> Result<Reply, Stop> {
    let items = priced_items(call, cart)?;
    let body = items.into_iter().find(|body| body["key"] == key);
    let body = body.unwrap_or_else(|| Value::Object(Map::new()));
    let links = item_links(call, base, &body);
    Ok(Reply::new(body).links(links))
}

fn key_at(cart: &Cart, place: usize) -> String {
    cart.state.items.get(place).map(|item| item.key.clone()).unwrap_or_default()
}

fn items_add(call: &mut Call<'_>, cart: &mut Cart, base: &str) -> Result<Reply, Stop> {
    let place = items::add(call, cart)?;
    let key = key_at(cart, place);
    Ok(created(item_reply(call, cart, base, &key)?))
}

#[expect(clippy::unnecessary_wraps, reason = "the form that its neighbours have")]
fn items_clear(_: &mut Call<'_>, cart: &mut Cart, _: &str) -> Result<Reply, Stop> {
    cart.state.items.clear();
    cart.state.rate.clear();
    cart.state.rates.clear();
    Ok(Reply::new(Vec::<Value>::new()))
}

fn items_get(call: &mut Call<'_>, cart: &mut Cart, base: &str) -> Result<Reply, Stop> {
    let place = place_of(call, cart)?;
    let key = key_at(cart, place);
    item_reply(call, cart, base, &key)
}

fn items_update(call: &mut Call<'_>, cart: &mut Cart, base: &str) -> Result<Reply, Stop> {
    let place = place_of(call, cart)?;
    items::update(call, cart, place)?;
    let key = key_at(cart, place);
    item_reply(call, cart, base, &key)
}

fn nothing() -> Reply {
    Reply::of(204, Body::Nothing)
}

fn items_remove(call: &mut Call<'_>, cart: &mut Cart, _: &str) -> Result<Reply, Stop> {
    let place = place_of(call, cart)?;
    cart.state.items.remove(place);
    pricing::price(call, cart, Strictness::Browsing)?;
    Ok(nothing())
}

fn priced_coupons(call: &mut Call<'_>, cart: &mut Cart) -> Result<(Priced, Vec<Value>), Stop> {
    let priced = pricing::price(call, cart, Strictness::Browsing)?;
    let bodies = priced.coupons.iter().map(|own| show::coupon(&priced, own)).collect();
    Ok((priced, bodies))
}

fn coupons_list(call: &mut Call<'_>, cart: &mut Cart, base: &str) -> Result<Reply, Stop> {
    let (priced, bodies) = priced_coupons(call, cart)?;
    let base = format!("{base}/coupons");
    let pairs = bodies.into_iter().zip(&priced.coupons);
    let items = pairs.map(|(body, coupon)| {
        frame::managers::linked(body, show::coupon_links(call.visit, &base, &coupon.row.code))
    });
    Ok(Reply::new(items.collect::<Vec<_>>()))
}

/// The body of the coupon that the request names, if it is applied.
fn applied(call: &mut Call<'_>, cart: &mut Cart) -> Result<(String, Value), Stop> {
    let code = coupons::code_of(call);
    let (_, bodies) = priced_coupons(call, cart)?;
    let found = bodies.into_iter().find(|body| body["code"] == *code);
    Ok((code, found.ok_or_else(|| not_applied(404))?))
}

fn coupons_add(call: &mut Call<'_>, cart: &mut Cart, base: &str) -> Result<Reply, Stop> {
    coupons::admit(call)?;
    coupons::check_code(call)?;
    let code = coupons::code_of(call);
    coupons::apply(call, cart, &code)?;
    let (code, body) = applied(call, cart)?;
    let links = show::coupon_links(call.visit, &format!("{base}/coupons"), &code);
    Ok(created(Reply::new(body).links(links)))
}

#[expect(clippy::unnecessary_wraps, reason = "the form that its neighbours have")]
fn coupons_clear(_: &mut Call<'_>, cart: &mut Cart, _: &str) -> Result<Reply, Stop> {
    cart.state.coupons.clear();
    Ok(Reply::new(Vec::<Value>::new()))
}

fn coupons_get(call: &mut Call<'_>, cart: &mut Cart, _: &str) -> Result<Reply, Stop> {
    Ok(Reply::new(applied(call, cart)?.1))
}

fn coupons_remove(call: &mut Call<'_>, cart: &mut Cart, _: &str) -> Result<Reply, Stop> {
    let (code, _) = applied(call, cart)?;
    cart.state.coupons.retain(|own| *own != code);
    Ok(nothing())
}
