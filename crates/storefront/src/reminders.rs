//! Reminders of carts that were left: one e-mail with a link back, if the shop wants that, to
//! buyers whose address is known and who did not ask for none. **Off unless the shop switches it
//! on.**
//!
//! A cart that is saved with an address gets a job, which looks at the cart when its time has come.
//! An address that wants no reminders is kept as a keyed hash.

use std::sync::Arc;
use std::time::Duration;

use contract::rest::route::{EDIT, READ, Route};
use contract::rest::{Args, Params, Reply, Schema, Sources, Stop};
use data_encoding::HEXLOWER;
use db::Conn;
use db::background_job::Progress;
use frame::action::{read, write};
use frame::jobs::{self, Halt, JobCx, JobKind, Limits, Running};
use frame::mail::{self, Email, Sender};
use frame::managers::{may_edit, may_view};
use frame::pages::{Address, Link};
use frame::{Action, Call, Options, Site, options};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use shop_rows::cart::{self, CartRow};
use shop_rows::product;
use site_rows::user::{self, UserRow};
use subtle::ConstantTimeEq as _;
use types::{Error, Result};
use vault::Vault;

use crate::session::{self, LIFE};

const ENABLED: &str = "boardwalk_cart_reminders";
const HOURS: &str = "boardwalk_cart_reminder_hours";
const JOB: &str = "cart.reminder";
/// A cart is kept for two days; who is reminded must still find it.
const HOURS_MAX: i64 = 40;
/// Whoever changed the cart so recently is not reminded yet.
const REST: Duration = Duration::from_hours(1);
/// Products that the e-mail names.
const NAMED_MAX: usize = 10;
/// Characters of the proof in an address to unsubscribe.
const PROOF_LENGTH: usize = 32;

pub(crate) fn route(namespace: &str) -> Route<Action> {
    let hours = Schema::integer()
        .keyword("minimum", 1)
        .keyword("maximum", HOURS_MAX)
        .about("Hours after which a buyer is reminded.");
    let args = Args::new()
        .arg("enabled", Schema::boolean().about("Whether buyers are reminded of their carts."))
        .arg("hours", hours);
    let settings = || {
        Schema::object([
            ("enabled", Schema::boolean().about("Whether buyers are reminded.")),
            ("hours", Schema::integer().about("Hours after which they are.")),
        ])
    };
    Route::at(namespace, "/cart-reminders")
        .on(READ, Args::new(), read(may_view, |call: &mut Call<'_>| shown(call)))
        .shows(settings())
        .on(EDIT, args, write(may_edit, change))
        .shows(settings())
}

fn shown(call: &mut Call<'_>) -> Result<Reply, Stop> {
    let stored = Options::read(call.conn()?)?;
    let body = json!({ "enabled": stored.is_on(ENABLED), "hours": stored.integer(HOURS) });
    Ok(Reply::new(body))
}

fn change(call: &mut Call<'_>) -> Result<Reply, Stop> {
    if call.params.get("enabled").is_some() {
        let enabled = if call.params.flag("enabled") { "yes" } else { "no" };
        options::set(call.conn()?, ENABLED, &json!(enabled))?;
    }
    if let Some(hours) = call.params.int("hours") {
        options::set(call.conn()?, HOURS, &json!(hours))?;
    }
    shown(call)
}

/// Lets the cart be looked at later, if the shop wants that.
pub(crate) fn plan(call: &mut Call<'_>, cart_key: &str) -> Result<()> {
    if !call.options().is_on(ENABLED) {
        return Ok(());
    }
    let hours = call.options().integer(HOURS).clamp(1, HOURS_MAX);
    let now = call.now();
    let due = now.plus(Duration::from_hours(u64::try_from(hours).unwrap_or(1)));
    let arguments = ReminderArguments { cart_key: cart_key.to_owned() };
    jobs::enqueue_for(call.conn()?, JOB, Some(cart_key), &arguments, (now, due)).map(drop)
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct ReminderArguments {
    cart_key: String,
}

/// What is read of a cart's contents.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Left {
    items: Vec<LeftItem>,
    billing: Option<Buyer>,
    is_reminded: bool,
}

#[derive(Debug, Deserialize)]
struct LeftItem {
    product_id: i64,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Buyer {
    email: String,
}

/// Reminds one buyer.
#[derive(Debug)]
pub(crate) struct ReminderJob;

impl JobKind for ReminderJob {
    fn name(&self) -> &'static str {
        JOB
    }

    fn run<'a>(&'a self, cx: &'a JobCx) -> Running<'a> {
        Box::pin(run(cx))
    }

    fn limits(&self) -> Limits {
        Limits { first_wait: REST, longest_wait: REST, attempts: 30, ..Limits::USUAL }
    }

    fn is_told(&self) -> bool {
        false
    }
}

async fn run(cx: &JobCx) -> Result<Value, Halt> {
    let wanted: ReminderArguments = cx.arguments()?;
    let (site, now) = (Arc::clone(cx.site()), cx.now());
    let step = move |conn: &mut dyn Conn| {
        let params = Params::unchecked(Sources::default());
        let reminded = site.call_by(conn, UserRow::default(), params, now, |call| {
            remind(call, &wanted.cart_key)
        })?;
        reminded.map_err(|refusal| Error::internal(refusal.message.into_owned()))
    };
    match cx.step(Progress { done: 1, total: Some(1) }, &(), step).await? {
        Outcome::Busy => Err(Halt::Retry(Error::unavailable("the cart was changed just now"))),
        Outcome::Reminded => Ok(json!({ "reminded": true })),
        Outcome::Not => Ok(json!({ "reminded": false })),
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    Reminded,
    Not,
    Busy,
}

fn remind(call: &mut Call<'_>, cart_key: &str) -> Result<Outcome, Stop> {
    let now = call.now();
    if !call.options().is_on(ENABLED) {
        return Ok(Outcome::Not);
    }
    let Some(row) = cart::get(call.conn()?, cart_key, now)? else { return Ok(Outcome::Not) };
    let left: Left = serde_json::from_str(&row.contents).unwrap_or_default();
    let Some(email) = email_of(call, cart_key, &left)? else { return Ok(Outcome::Not) };
    if left.items.is_empty() || left.is_reminded {
        return Ok(Outcome::Not);
    }
    if row.expires.plus(REST) > now.plus(LIFE) {
        return Ok(Outcome::Busy);
    }
    let hash = address_hash(call.site.vault(), &email);
    let is_wanted = !cart::is_unsubscribed(call.conn()?, &hash)?
        && mail::may_receive(call.conn()?, &email, now)?;
    if !is_wanted {
        return Ok(Outcome::Not);
    }
    send(call, (cart_key, &email), &left)?;
    let mut contents: Value = serde_json::from_str(&row.contents).unwrap_or_default();
    if let Some(members) = contents.as_object_mut() {
        members.insert(String::from("is_reminded"), json!(true));
    }
    // Who follows the link must find the cart.
    let kept = CartRow { contents: contents.to_string(), expires: now.plus(LIFE), ..row };
    cart::put(call.conn()?, &kept)?;
    Ok(Outcome::Reminded)
}

fn email_of(call: &mut Call<'_>, cart_key: &str, left: &Left) -> Result<Option<String>, Stop> {
    let given = left.billing.as_ref().map(|buyer| buyer.email.clone());
    if let Some(email) = given.filter(|email| !email.is_empty()) {
        return Ok(Some(email));
    }
    let Ok(user_id) = cart_key.parse::<i64>() else { return Ok(None) };
    Ok(user::get(call.conn()?, user_id)?.map(|user| user.email))
}

fn send(call: &mut Call<'_>, (cart_key, email): (&str, &str), left: &Left) -> Result<(), Stop> {
    let site_name = call.options().text("blogname");
    let home = call.site.address_for_emails(call.options());
    let mut names = Vec::new();
    for item in left.items.iter().take(NAMED_MAX) {
        names.extend(product::get(call.conn()?, item.product_id)?.map(|row| row.name));
    }
    let href = match session::link_token(call, cart_key)? {
        Some(token) => format!("{home}/cart/?restore={token}"),
        None => format!("{home}/cart/"),
    };
    let stop = format!("{home}/cart/?unsubscribe={}", unsubscribe_token(call.site, email));
    let paragraphs = [
        String::from("You left something in your cart:"),
        names.join(", "),
        String::from("It is kept for you for two more days."),
        format!("You get this e-mail once. If you want no reminders at all: {stop}"),
    ];
    let link = Some(Link { text: "Back to your cart", href: Address::new(&href) });
    let subject = format!("Your cart at {site_name}");
    let message = Email { to: email, subject: &subject, paragraphs: &paragraphs, link };
    let sender = Sender { site_name: &site_name, home: &home };
    let (site, now) = (call.site, call.now());
    if mail::is_on(site) {
        mail::enqueue(site, call.conn()?, sender, &message, now)?;
    }
    Ok(())
}

fn address_hash(vault: &Vault, email: &str) -> Vec<u8> {
    vault.site_hash("cart reminder", &email.to_lowercase(), "").to_vec()
}

fn proof(vault: &Vault, hash: &str) -> String {
    let proof = HEXLOWER.encode(&vault.site_hash("cart unsubscribe", hash, ""));
    proof.chars().take(PROOF_LENGTH).collect()
}

/// What stands in the address by which somebody asks for no reminders. Nobody else can make it.
fn unsubscribe_token(site: &Site, email: &str) -> String {
    let hash = HEXLOWER.encode(&address_hash(site.vault(), email));
    format!("{hash}.{}", proof(site.vault(), &hash))
}

/// The address that a token is for, as it is kept.
fn unsubscribed(site: &Site, token: &str) -> Option<Vec<u8>> {
    let (hash, given) = token.split_once('.')?;
    let expected = proof(site.vault(), hash);
    bool::from(expected.as_bytes().ct_eq(given.as_bytes()))
        .then(|| HEXLOWER.decode(hash.as_bytes()).ok())
        .flatten()
}

/// Whether the token is one that was sent to somebody.
pub(crate) fn is_unsubscribe_token(site: &Site, token: &str) -> bool {
    unsubscribed(site, token).is_some()
}

/// Sends no more reminders to whoever the token was sent to. `false` for any other text.
pub(crate) fn unsubscribe(call: &mut Call<'_>, token: &str) -> Result<bool, Stop> {
    let Some(hash) = unsubscribed(call.site, token) else { return Ok(false) };
    let now = call.now();
    cart::unsubscribe(call.conn()?, &hash, now)?;
    Ok(true)
}
