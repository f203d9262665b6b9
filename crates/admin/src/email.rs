//! Letters of the shop as their sender can look at them beforehand: the subject, a letter to
//! oneself, and texts that are tried before they are saved. **Only for forms of our own pages**: a
//! REST token must come along.

use contract::rest::args::Checker;
use contract::rest::route::{CREATE, READ, Route, Verb};
use contract::rest::{Args, Fault, Refusal, Reply, Schema, Stop, Treatment, clean};
use frame::action::{read, write};
use frame::auth::nonce;
use frame::mail::{self, Email, Sender};
use frame::{Action, Call, Names, Options, options};
use serde_json::{Map, Value, json};
use types::{Capability, Error};

use crate::notices::with_holder;

/// What is being tried, by the user who tries it.
const DRAFTS: &str = "boardwalk_email_drafts";
/// Names under which forms carry their token.
const NONCES: [&str; 2] = ["nonce", "_wpnonce"];
const NONCE_HEADER: &str = "x-wp-nonce";
/// Texts that can be tried: options of letters.
const TRIED: &[&str] = &[
    "woocommerce_email_from_name",
    "woocommerce_email_from_address",
    "woocommerce_email_footer_text",
];
const TRIED_CHARS_MAX: usize = 1_000;

/// A kind of letter.
struct Kind {
    /// As clients call it.
    class: &'static str,
    id: &'static str,
    subject: &'static str,
    text: &'static str,
}

const fn kind(
    class: &'static str,
    id: &'static str,
    subject: &'static str,
    text: &'static str,
) -> Kind {
    Kind { class, id, subject, text }
}

const KINDS: &[Kind] = &[
    kind("WC_Email_New_Order", "new_order", "A new order", "Somebody has ordered."),
    kind("WC_Email_Cancelled_Order", "cancelled_order", "Order cancelled", "An order is off."),
    kind("WC_Email_Failed_Order", "failed_order", "Payment failed", "An order was not paid."),
    kind(
        "WC_Email_Customer_Cancelled_Order",
        "customer_cancelled_order",
        "Your order is cancelled",
        "Your order will not be sent.",
    ),
    kind(
        "WC_Email_Customer_Failed_Order",
        "customer_failed_order",
        "Your payment failed",
        "Your order was not paid; try again.",
    ),
    kind(
        "WC_Email_Customer_On_Hold_Order",
        "customer_on_hold_order",
        "Order on hold",
        "Your order waits for its payment.",
    ),
    kind(
        "WC_Email_Customer_Processing_Order",
        "customer_processing_order",
        "Order received",
        "Your order is being prepared.",
    ),
    kind(
        "WC_Email_Customer_Completed_Order",
        "customer_completed_order",
        "Order complete",
        "Your order is on its way.",
    ),
    kind(
        "WC_Email_Customer_Refunded_Order",
        "customer_refunded_order",
        "Order refunded",
        "Your money is on its way back.",
    ),
    kind(
        "WC_Email_Customer_Invoice",
        "customer_invoice",
        "Order details",
        "This is what you ordered.",
    ),
    kind(
        "WC_Email_Customer_POS_Completed_Order",
        "customer_pos_completed_order",
        "Your receipt",
        "Thank you for your purchase at our till.",
    ),
    kind(
        "WC_Email_Customer_POS_Refunded_Order",
        "customer_pos_refunded_order",
        "Your refund",
        "Your money is on its way back.",
    ),
    kind("WC_Email_Customer_Note", "customer_note", "About your order", "There is news."),
    kind(
        "WC_Email_Customer_Reset_Password",
        "customer_reset_password",
        "A new password",
        "Somebody asked for a new password.",
    ),
    kind(
        "WC_Email_Customer_New_Account",
        "customer_new_account",
        "Your account",
        "Welcome to our store.",
    ),
];

pub(crate) fn routes(names: &Names) -> Vec<Route<Action>> {
    let at = |path: &str| Route::at(&names.admin_email, &format!("/settings/email/{path}"));
    let text = |about: &str| Schema::text().about(about).required();
    let kind = || {
        let schema = text("Kind of letter.");
        Args::new().treated("type", schema, Treatment::Checked(IS_KIND))
    };
    let email = text("Whom to send it to.").format("email");
    let key = text("The setting that is tried.");
    let pages = format!("/{}/pages", names.content);
    let recreate = move |call: &mut Call<'_>| recreate(call, &pages);
    vec![
        at("send-preview").on(CREATE, kind().arg("email", email), write(may_use, send)),
        at("preview-subject").on(READ, kind(), read(may_use, subject)),
        at("save-transient").on(
            CREATE,
            Args::new().arg("key", key).arg("value", text("What is tried.")),
            write(may_use, try_text),
        ),
        at("listing/recreate-email-post").on(
            CREATE,
            Args::new().arg("email_id", text("Kind of letter.")),
            write(may_recreate, recreate),
        ),
    ]
}

const IS_KIND: Checker = |value, _| {
    if value.as_str().and_then(of_class).is_some() {
        return Ok(());
    }
    let message = "There is no such kind of letter.";
    let fault = Fault::new("woocommerce_rest_invalid_email_type", message);
    Err(Some(fault.with_data(json!({ "status": 400 }))))
};

fn of_class(class: &str) -> Option<&'static Kind> {
    KINDS.iter().find(|kind| kind.class == class)
}

/// Who runs the shop, from one of our own pages.
fn may_use(call: &mut Call<'_>) -> Result<(), Stop> {
    let in_form = NONCES.iter().find_map(|name| call.params.text(name));
    let given = in_form.or_else(|| call.visit.header(NONCE_HEADER)).unwrap_or_default();
    let (vault, now) = (call.site.vault(), call.now());
    let is_own =
        with_holder(call, |holder| nonce::is_valid(vault, nonce::REST, holder, now, given));
    if !is_own {
        let message = "The page was open for too long; reload it and try again.";
        return Err(call.deny("invalid_nonce", message).into());
    }
    may_recreate(call)
}

fn may_recreate(call: &mut Call<'_>) -> Result<(), Stop> {
    let message = "You are not allowed to change letters.";
    call.need(Capability::ManageWoocommerce, "woocommerce_rest_cannot_view", message)
}

fn kind_of(call: &Call<'_>) -> Result<&'static Kind, Stop> {
    let class = call.params.text("type").unwrap_or_default();
    of_class(class).ok_or_else(|| Error::internal("a kind of letter was not checked").into())
}

/// What the user tries at the moment; else what was saved.
fn text_of(call: &mut Call<'_>, option: &str) -> Result<String, Stop> {
    let user = call.user_id().to_string();
    let stored = Options::read(call.conn()?)?;
    let drafts = stored.get(DRAFTS);
    let tried = drafts.get(&user).and_then(|tried| tried.get(option)?.as_str());
    Ok(tried.map_or_else(|| stored.text(option), str::to_owned))
}

fn sender_name(call: &mut Call<'_>) -> Result<String, Stop> {
    let name = text_of(call, "woocommerce_email_from_name")?;
    if !name.is_empty() {
        return Ok(name);
    }
    Ok(Options::read(call.conn()?)?.text("blogname"))
}

fn full_subject(call: &mut Call<'_>, kind: &Kind) -> Result<String, Stop> {
    Ok(format!("[{}] {}", sender_name(call)?, kind.subject))
}

fn subject(call: &mut Call<'_>) -> Result<Reply, Stop> {
    let kind = kind_of(call)?;
    Ok(Reply::new(json!({ "subject": full_subject(call, kind)? })))
}

fn send(call: &mut Call<'_>) -> Result<Reply, Stop> {
    let kind = kind_of(call)?;
    let to = call.params.text("email").unwrap_or_default().to_owned();
    if !mail::is_on(call.site) {
        let message = "Mail is off here; ask the operator to set mail.relay.";
        let code = "woocommerce_rest_email_preview_not_sent";
        return Err(Refusal::new(409, code, message).into());
    }
    mail::count_email(call)?;
    let subject = full_subject(call, kind)?;
    let site_name = sender_name(call)?;
    let footer = text_of(call, "woocommerce_email_footer_text")?;
    let mut paragraphs = vec![kind.text.to_owned(), String::from("This letter is a preview.")];
    paragraphs.extend(Some(footer).filter(|footer| !footer.is_empty()));
    let letter = Email { to: &to, subject: &subject, paragraphs: &paragraphs, link: None };
    let (site, now) = (call.site, call.now());
    let home = site.address_for_emails(call.options());
    let sender = Sender { site_name: &site_name, home: &home };
    mail::enqueue(site, call.conn()?, sender, &letter, now)?;
    Ok(Reply::new(json!({ "message": format!("A preview is on its way to {to}.") })))
}

fn try_text(call: &mut Call<'_>) -> Result<Reply, Stop> {
    let key = call.params.text("key").unwrap_or_default().to_owned();
    if !TRIED.contains(&key.as_str()) {
        let message = format!("These can be tried: {}.", TRIED.join(", "));
        return Err(Refusal::new(400, "woocommerce_rest_not_allowed_key", message).into());
    }
    let value = clean::textarea_field(call.params.text("value").unwrap_or_default());
    let value: String = value.chars().take(TRIED_CHARS_MAX).collect();
    let user = call.user_id().to_string();
    let stored = Options::read(call.conn()?)?.get(DRAFTS);
    let mut drafts = stored.as_object().cloned().unwrap_or_default();
    let tried = drafts.entry(user).or_insert_with(|| json!({}));
    if let Value::Object(tried) = tried {
        tried.insert(key.clone(), json!(value));
    }
    options::set(call.conn()?, DRAFTS, &Value::Object(drafts))?;
    Ok(Reply::new(json!({ "message": format!("{key} is being tried.") })))
}

/// Makes the page on which the text of a letter can be edited, unless it is there.
fn recreate(call: &mut Call<'_>, pages: &str) -> Result<Reply, Stop> {
    let id = call.params.text("email_id").unwrap_or_default();
    let Some(kind) = KINDS.iter().find(|kind| kind.id == id) else {
        let message = "There is no such kind of letter.";
        return Err(Refusal::new(400, "woocommerce_rest_invalid_email_id", message).into());
    };
    let slug = format!("letter-{}", kind.id.replace('_', "-"));
    let page_id = match site_rows::post::find_by_slug(call.conn()?, "page", &slug)? {
        Some(page) => page.post_id,
        None => made(call, pages, kind, &slug)?,
    };
    Ok(Reply::new(json!({ "message": "The page of the letter is there.", "post_id": page_id })))
}

fn made(call: &mut Call<'_>, pages: &str, kind: &Kind, slug: &str) -> Result<i64, Stop> {
    let body = json!({
        "title": kind.subject,
        "slug": slug,
        "status": "private",
        "content": format!("<p>{}</p>", kind.text),
    });
    let body: Map<String, Value> = body.as_object().cloned().unwrap_or_default();
    let made = call.ask(Verb::Post, pages, body)?;
    let id = made.get("id").and_then(Value::as_i64);
    id.ok_or_else(|| Error::internal("a page that was made has no id").into())
}
