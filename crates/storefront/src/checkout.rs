//! The checkout: from a cart to an order.
//!
//! Looking at a checkout makes nothing. An attempt to order that fails on what the buyer can
//! correct leaves a draft, which holds the stock for a short time; the order that comes about has
//! its number. **Stock is checked and taken in one transaction**, so that of two buyers of the last
//! piece one wins.

mod attempt;
mod hand_over;
pub(crate) mod pay;
mod show;

use std::sync::LazyLock;

use commerce::gateways::{self, hosted};
use contract::rest::route::{CREATE, EDIT, READ, Route};
use contract::rest::{Args, Node, ParamError, Reply, Schema, Stop, Treatment, check, clean, loose};
use frame::action::{anyone, write};
use frame::{Action, Call};
use serde_json::{Value, json};

pub(crate) use self::attempt::missing_fields;
use crate::address::Email;
use crate::cart::state::Cart;
use crate::cart::{self, Access, with_cart};
use crate::products::context;
use crate::schemas;

/// Characters of a buyer's note at most.
const NOTE_LENGTH_MAX: usize = 5_000;
/// Where the shop's own notes on where a buyer came from are.
const ATTRIBUTION: &str = "woocommerce/order-attribution";
const ATTRIBUTES: &[&str] = &[
    "source_type",
    "referrer",
    "utm_campaign",
    "utm_source",
    "utm_medium",
    "utm_content",
    "utm_id",
    "utm_term",
    "utm_source_platform",
    "utm_creative_format",
    "utm_marketing_tactic",
    "session_entry",
    "session_start_time",
    "session_pages",
    "session_count",
    "user_agent",
];

pub(crate) fn routes(namespace: &str) -> [Route<Action>; 2] {
    let item = schemas::item("checkout", include_str!("schemas/checkout.txt"));
    let order = schemas::item("checkout-order", include_str!("schemas/checkout.txt"));
    let scope = Args::new().arg("context", context(&["view", "embed", "edit"]));
    let look = |call: &mut Call<'_>| with_cart(call, Access::Proven, look);
    let change = |call: &mut Call<'_>| with_cart(call, Access::Proven, change);
    [
        Route::at(namespace, "/checkout")
            .on(READ, scope, write(anyone, look))
            .on(CREATE, order_args(), write(anyone, submit).hashing_if(attempt::is_worth_hashing))
            .on(EDIT, change_args(), write(anyone, change))
            .schema(item.document())
            .batchable(),
        Route::at(namespace, r"/checkout/(?P<id>[\d]+)")
            .on(CREATE, pay_args(), write(pay::may_pay, pay::run))
            .schema(order.document())
            .batchable(),
    ]
}

fn methods() -> Vec<&'static str> {
    [vec![""], gateways::ids()].concat()
}

fn payment_method() -> Schema {
    Schema::text().choices(&methods()).about("Payment method.")
}

/// Which gateways have a payment page is known only once a shop has them: their ids are told by
/// what they begin with, and looked up later.
fn is_method(value: &Value, name: &str) -> Result<(), Option<ParamError>> {
    static OF_PROGRAM: LazyLock<Node> =
        LazyLock::new(|| payment_method().compile().expect("the schema is well formed"));
    if value.as_str().is_some_and(hosted::is_hosted) {
        return Ok(());
    }
    check::validate(&OF_PROGRAM, value, name).map_err(Some)
}

#[expect(clippy::unnecessary_wraps, reason = "the form that all converters have")]
fn method_text(value: &Value, _: &str) -> Result<Value, ParamError> {
    Ok(json!(loose::scalar_text(value).unwrap_or_default()))
}

const METHOD: Treatment = Treatment::Custom(is_method, method_text);

fn extensions() -> Schema {
    let both: &[&str] = &["view", "edit"];
    let none: &[&str] = &[];
    let text = |name: &&'static str| {
        let about = format!("Attribution: {}.", name.replace('_', " "));
        (*name, Schema::types(&["string", "null"]).about(&about).context(none))
    };
    let attribution = Schema::types(&["object", "null"])
        .about("Where the buyer came from.")
        .context(both)
        .properties(ATTRIBUTES.iter().map(text));
    Schema::object([(ATTRIBUTION, attribution)]).about("Data of extensions.")
}

fn additional_fields() -> Schema {
    Schema::object::<&str>([]).about("Additional fields.")
}

/// What an order takes, be it new or one that waits for its payment.
fn payment_args() -> Args {
    let entry = Schema::object([
        ("key", Schema::text().about("Key.")),
        ("value", Schema::types(&["string", "boolean"]).about("Value.")),
    ]);
    Args::new()
        .arg("payment_data", Schema::list(entry).about("Data of the payment method."))
        .arg("customer_note", Schema::text().about("Note of the buyer."))
}

fn last_args() -> Args {
    let none = json!({ ATTRIBUTION: [] });
    Args::new().treated("additional_fields", additional_fields(), Treatment::None).treated(
        "extensions",
        extensions().default(none),
        Treatment::None,
    )
}

fn order_args() -> Args {
    let password = Schema::text().about("Password of the new account.");
    let account = Schema::boolean().about("Whether to create an account.");
    payment_args()
        .arg("customer_password", password)
        .with(cart::customer_args(true))
        .treated("payment_method", payment_method(), METHOD)
        .arg("create_account", account)
        .with(last_args())
}

fn pay_args() -> Args {
    payment_args()
        .with(cart::customer_args(true))
        .treated("payment_method", payment_method(), METHOD)
        .with(last_args())
}

fn change_args() -> Args {
    let account = Schema::boolean().about("Whether to create an account.");
    Args::new()
        .treated("additional_fields", additional_fields(), Treatment::None)
        .treated("payment_method", payment_method(), METHOD)
        .arg("order_notes", Schema::text().about("Note of the buyer."))
        .arg("customer_note", Schema::text().about("Note of the buyer."))
        .with(cart::customer_args(false))
        .arg("create_account", account)
        .treated("extensions", extensions(), Treatment::None)
}

fn look(call: &mut Call<'_>, cart: &mut Cart) -> Result<Reply, Stop> {
    let body = show::of_cart(call, cart)?;
    Ok(Reply::new(body))
}

/// Remembers the note and the way to pay. Addresses are the affair of the cart.
fn change(call: &mut Call<'_>, cart: &mut Cart) -> Result<Reply, Stop> {
    let note = call.params.text("order_notes").or_else(|| call.params.text("customer_note"));
    if let Some(note) = note {
        cart.state.note = cleaned_note(note);
    }
    if let Some(method) = call.params.text("payment_method") {
        method.clone_into(&mut cart.state.payment_method);
    }
    look(call, cart)
}

fn cleaned_note(note: &str) -> String {
    clean::textarea_field(note).chars().take(NOTE_LENGTH_MAX).collect()
}

/// What the request says comes first, then whose cart it is.
fn submit(call: &mut Call<'_>) -> Result<Reply, Stop> {
    with_cart(call, Access::Proven, |call, cart| {
        cart::read_addresses(call, cart, Email::Strict)?;
        attempt::order(call, cart)
    })
}

/// What is kept of where a buyer came from.
fn attribution(call: &Call<'_>) -> Vec<(String, String)> {
    let given = call.params.get("extensions").and_then(|extensions| extensions.get(ATTRIBUTION));
    let text = |name: &&str| {
        let value = given?.get(*name).and_then(Value::as_str)?;
        let value: String = clean::text_field(value).chars().take(255).collect();
        Some((format!("_wc_order_attribution_{name}"), value))
    };
    ATTRIBUTES.iter().filter_map(text).collect()
}
