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
/// Settings of e-mails that can be previewed.
const TRIED: &[&str] = &[
    "woocommerce_email_from_name",
    "woocommerce_email_from_address",
    "woocommerce_email_footer_text",
];
const TRIED_CHARS_MAX: usize = 1_000;

/// A type of e-mail.
struct EmailType {
    /// As clients call it.
    class: &'static str,
    id: &'static str,
    subject: &'static str,
    text: &'static str,
}

const fn email_type(
    class: &'static str,
    id: &'static str,
    subject: &'static str,
    text: &'static str,
) -> EmailType {
    EmailType { class, id, subject, text }
}

const EMAIL_TYPES: &[EmailType] = &[
    email_type("WC_Email_New_Order", "new_order", "New order", "You have a new order."),
    email_type(
        "WC_Email_Cancelled_Order",
        "cancelled_order",
        "Order cancelled",
        "An order was cancelled.",
    ),
    email_type(
        "WC_Email_Failed_Order",
        "failed_order",
        "Payment failed",
        "The payment for an order failed.",
    ),
    email_type(
        "WC_Email_Customer_Cancelled_Order",
        "customer_cancelled_order",
        "Your order has been cancelled",
        "Your order has been cancelled and will not be shipped.",
    ),
    email_type(
        "WC_Email_Customer_Failed_Order",
        "customer_failed_order",
        "Your payment failed",
        "We could not process your payment. Please try again.",
    ),
    email_type(
        "WC_Email_Customer_On_Hold_Order",
        "customer_on_hold_order",
        "Your order is on hold",
        "We are holding your order until we receive your payment.",
    ),
    email_type(
        "WC_Email_Customer_Processing_Order",
        "customer_processing_order",
        "We received your order",
        "Thank you. We are preparing your order.",
    ),
    email_type(
        "WC_Email_Customer_Completed_Order",
        "customer_completed_order",
        "Your order is complete",
        "Your order is on its way.",
    ),
    email_type(
        "WC_Email_Customer_Refunded_Order",
        "customer_refunded_order",
        "Your order has been refunded",
        "Your refund is on its way.",
    ),
    email_type(
        "WC_Email_Customer_Invoice",
        "customer_invoice",
        "Order details",
        "Here are the details of your order.",
    ),
    email_type(
        "WC_Email_Customer_POS_Completed_Order",
        "customer_pos_completed_order",
        "Your receipt",
        "Thank you for your purchase.",
    ),
    email_type(
        "WC_Email_Customer_POS_Refunded_Order",
        "customer_pos_refunded_order",
        "Your refund",
        "Your refund is on its way.",
    ),
    email_type(
        "WC_Email_Customer_Note",
        "customer_note",
        "A note about your order",
        "There is an update to your order.",
    ),
    email_type(
        "WC_Email_Customer_Reset_Password",
        "customer_reset_password",
        "Reset your password",
        "We received a request to reset your password.",
    ),
    email_type(
        "WC_Email_Customer_New_Account",
        "customer_new_account",
        "Welcome",
        "Your account has been created.",
    ),
];

pub(crate) fn routes(names: &Names) -> Vec<Route<Action>> {
    let at = |path: &str| Route::at(&names.admin_email, &format!("/settings/email/{path}"));
    let text = |about: &str| Schema::text().about(about).required();
    let email_type = || {
        let schema = text("Type of e-mail.");
        Args::new().treated("type", schema, Treatment::Checked(IS_EMAIL_TYPE))
    };
    let email = text("Recipient.").format("email");
    let key = text("Setting to preview.");
    let pages = format!("/{}/pages", names.content);
    let recreate = move |call: &mut Call<'_>| recreate(call, &pages);
    vec![
        at("send-preview").on(CREATE, email_type().arg("email", email), write(may_use, send)),
        at("preview-subject").on(READ, email_type(), read(may_use, subject)),
        at("save-transient").on(
            CREATE,
            Args::new().arg("key", key).arg("value", text("Value to preview.")),
            write(may_use, try_text),
        ),
        at("listing/recreate-email-post").on(
            CREATE,
            Args::new().arg("email_id", text("Type of e-mail.")),
            write(may_recreate, recreate),
        ),
    ]
}

const IS_EMAIL_TYPE: Checker = |value, _| {
    if value.as_str().and_then(of_class).is_some() {
        return Ok(());
    }
    let message = "Unknown e-mail type.";
    let fault = Fault::new("woocommerce_rest_invalid_email_type", message);
    Err(Some(fault.with_data(json!({ "status": 400 }))))
};

fn of_class(class: &str) -> Option<&'static EmailType> {
    EMAIL_TYPES.iter().find(|email_type| email_type.class == class)
}

/// Who runs the shop, from one of our own pages.
fn may_use(call: &mut Call<'_>) -> Result<(), Stop> {
    let in_form = NONCES.iter().find_map(|name| call.params.text(name));
    let given = in_form.or_else(|| call.visit.header(NONCE_HEADER)).unwrap_or_default();
    let (vault, now) = (call.site.vault(), call.now());
    let is_own =
        with_holder(call, |holder| nonce::is_valid(vault, nonce::REST, holder, now, given));
    if !is_own {
        let message = "The page has expired; reload it and try again.";
        return Err(call.deny("invalid_nonce", message).into());
    }
    may_recreate(call)
}

fn may_recreate(call: &mut Call<'_>) -> Result<(), Stop> {
    let message = "You are not allowed to edit e-mails.";
    call.need(Capability::ManageWoocommerce, "woocommerce_rest_cannot_view", message)
}

fn requested_type(call: &Call<'_>) -> Result<&'static EmailType, Stop> {
    let class = call.params.text("type").unwrap_or_default();
    of_class(class).ok_or_else(|| Error::internal("an e-mail type was not validated").into())
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

fn full_subject(call: &mut Call<'_>, email_type: &EmailType) -> Result<String, Stop> {
    Ok(format!("[{}] {}", sender_name(call)?, email_type.subject))
}

fn subject(call: &mut Call<'_>) -> Result<Reply, Stop> {
    let email_type = requested_type(call)?;
    Ok(Reply::new(json!({ "subject": full_subject(call, email_type)? })))
}

fn send(call: &mut Call<'_>) -> Result<Reply, Stop> {
    let email_type = requested_type(call)?;
    let to = call.params.text("email").unwrap_or_default().to_owned();
    if !mail::is_on(call.site) {
        let message = "E-mail is turned off; ask the operator to set mail.relay.";
        let code = "woocommerce_rest_email_preview_not_sent";
        return Err(Refusal::new(409, code, message).into());
    }
    mail::count_email(call)?;
    let subject = full_subject(call, email_type)?;
    let site_name = sender_name(call)?;
    let footer = text_of(call, "woocommerce_email_footer_text")?;
    let mut paragraphs =
        vec![email_type.text.to_owned(), String::from("This e-mail is a preview.")];
    paragraphs.extend(Some(footer).filter(|footer| !footer.is_empty()));
    let letter = Email { to: &to, subject: &subject, paragraphs: &paragraphs, link: None };
    let (site, now) = (call.site, call.now());
    let home = site.address_for_emails(call.options());
    let sender = Sender { site_name: &site_name, home: &home };
    mail::enqueue(site, call.conn()?, sender, &letter, now)?;
    Ok(Reply::new(json!({ "message": format!("Preview sent to {to}.") })))
}

fn try_text(call: &mut Call<'_>) -> Result<Reply, Stop> {
    let key = call.params.text("key").unwrap_or_default().to_owned();
    if !TRIED.contains(&key.as_str()) {
        let message = format!("Only these settings can be previewed: {}.", TRIED.join(", "));
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
    Ok(Reply::new(json!({ "message": format!("{key} updated for the preview.") })))
}

/// Makes the page on which the text of a letter can be edited, unless it is there.
fn recreate(call: &mut Call<'_>, pages: &str) -> Result<Reply, Stop> {
    let id = call.params.text("email_id").unwrap_or_default();
    let Some(email_type) = EMAIL_TYPES.iter().find(|email_type| email_type.id == id) else {
        let message = "Unknown e-mail type.";
        return Err(Refusal::new(400, "woocommerce_rest_invalid_email_id", message).into());
    };
    let slug = format!("letter-{}", email_type.id.replace('_', "-"));
    let page_id = match site_rows::post::find_by_slug(call.conn()?, "page", &slug)? {
        Some(page) => page.post_id,
        None => made(call, pages, email_type, &slug)?,
    };
    Ok(Reply::new(json!({ "message": "The e-mail's page was created.", "post_id": page_id })))
}

fn made(call: &mut Call<'_>, pages: &str, email_type: &EmailType, slug: &str) -> Result<i64, Stop> {
    let body = json!({
        "title": email_type.subject,
        "slug": slug,
        "status": "private",
        "content": format!("<p>{}</p>", email_type.text),
    });
    let body: Map<String, Value> = body.as_object().cloned().unwrap_or_default();
    let made = call.ask(Verb::Post, pages, body)?;
    let id = made.get("id").and_then(Value::as_i64);
    id.ok_or_else(|| Error::internal("a new page has no id").into())
}
