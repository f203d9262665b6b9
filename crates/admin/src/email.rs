//! E-mails of the shop as their sender can look at them beforehand: the subject, an e-mail to
//! oneself, and texts that are tried before they are saved. **Only for forms of our own pages**: a
//! REST token must come along.

use contract::rest::args::Checker;
use contract::rest::route::{CREATE, READ, Route, Verb};
use contract::rest::{Args, ParamError, Refusal, Reply, Schema, Stop, Treatment, clean};
use frame::action::{read, write};
use frame::auth::nonce;
use frame::mail::{self, Email, Presentation, Sender};
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
/// Stands for an order's number in previews.
const SAMPLE_NUMBER: &str = "1042";
/// What the names begin with that clients have for e-mails.
const CLASS_PREFIX: &str = "wc_email_";

/// An e-mail of the shop, as its settings describe it.
struct EmailType {
    title: String,
    subject: String,
    heading: String,
    text: String,
}

pub(crate) fn routes(names: &Names) -> Vec<Route<Action>> {
    let at = |path: &str| Route::at(&names.admin_email, &format!("/settings/email/{path}"));
    let text = |about: &str| Schema::text().about(about).required();
    let email_type = || {
        let schema = text("Type of e-mail.");
        Args::new().treated("type", schema, Treatment::Checked(IS_EMAIL_TYPE))
    };
    let message = || ("message", Schema::text().about("Result message."));
    let email = text("Recipient.").format("email");
    let key = text("Setting to preview.");
    let pages = format!("/{}/pages", names.content);
    let base = format!("/{}/settings", names.commerce_v3);
    let (of_subject, of_send) = (base.clone(), base.clone());
    let recreate = move |call: &mut Call<'_>| recreate(call, &pages, &base);
    let subject = move |call: &mut Call<'_>| subject(call, &of_subject);
    let send = move |call: &mut Call<'_>| send(call, &of_send);
    vec![
        at("send-preview")
            .on(CREATE, email_type().arg("email", email), write(may_use, send))
            .shows(Schema::object([message()])),
        at("preview-subject")
            .on(READ, email_type(), read(may_use, subject))
            .shows(Schema::object([("subject", Schema::text().about("Subject of the e-mail."))])),
        at("save-transient")
            .on(
                CREATE,
                Args::new().arg("key", key).arg("value", text("Value to preview.")),
                write(may_use, try_text),
            )
            .shows(Schema::object([message()])),
        at("listing/recreate-email-post")
            .on(
                CREATE,
                Args::new().arg("email_id", text("Type of e-mail.")),
                write(may_recreate, recreate),
            )
            .shows(Schema::object([message(), ("post_id", Schema::integer().about("Page ID."))])),
    ]
}

const IS_EMAIL_TYPE: Checker = |value, _| {
    if value.as_str().and_then(id_of_class).is_some() {
        return Ok(());
    }
    let message = "Unknown e-mail type.";
    let error = ParamError::new("woocommerce_rest_invalid_email_type", message);
    Err(Some(error.with_data(json!({ "status": 400 }))))
};

/// The e-mail that clients call so, such as `new_order` for `WC_Email_New_Order`.
fn id_of_class(class: &str) -> Option<String> {
    let id = class.to_ascii_lowercase().strip_prefix(CLASS_PREFIX)?.to_owned();
    is_email(&id).then_some(id)
}

/// Whether the shop has such an e-mail: each keeps its settings in an option of its own.
fn is_email(id: &str) -> bool {
    options::definition(&format!("woocommerce_{id}_settings")).is_some()
}

/// The e-mail as its group of settings describes it; nothing if there is no such group.
fn described(call: &mut Call<'_>, base: &str, id: &str) -> Result<Option<EmailType>, Stop> {
    let group_id = format!("email_{id}");
    let groups = call.ask(Verb::Get, base, Map::new())?;
    let mut groups = groups.as_array().into_iter().flatten();
    let is_it = |group: &&Value| group.get("id").and_then(Value::as_str) == Some(&*group_id);
    let Some(group) = groups.find(is_it) else { return Ok(None) };
    let settings = call.ask(Verb::Get, &format!("{base}/{group_id}"), Map::new())?;
    // An e-mail with several cases is shown in its first.
    let text = |name: &str| {
        let items = settings.as_array().into_iter().flatten();
        let mut own = items.filter(|setting| {
            setting.get("id").and_then(Value::as_str).is_some_and(|id| id.starts_with(name))
        });
        let setting = own.next()?;
        let told = |member: &str| setting.get(member).and_then(Value::as_str);
        let value = told("value").filter(|value| !value.is_empty());
        value.or_else(|| told("placeholder")).map(str::to_owned)
    };
    let about =
        |member: &str| group.get(member).and_then(Value::as_str).unwrap_or_default().to_owned();
    Ok(Some(EmailType {
        title: about("label"),
        subject: text("subject").unwrap_or_default(),
        heading: text("heading").unwrap_or_default(),
        text: text("additional_content").unwrap_or_else(|| about("description")),
    }))
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

fn requested_type(call: &mut Call<'_>, base: &str) -> Result<EmailType, Stop> {
    let id = id_of_class(call.params.text("type").unwrap_or_default()).unwrap_or_default();
    let found = described(call, base, &id)?;
    found.ok_or_else(|| unknown("woocommerce_rest_invalid_email_type"))
}

fn unknown(code: &'static str) -> Stop {
    Refusal::new(400, code, "Unknown e-mail type.").into()
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

/// What is known without an order stands for the names in braces.
fn filled(call: &mut Call<'_>, text: &str) -> Result<String, Stop> {
    let title = sender_name(call)?;
    Ok(text.replace("{site_title}", &title).replace("{order_number}", SAMPLE_NUMBER))
}

fn subject(call: &mut Call<'_>, base: &str) -> Result<Reply, Stop> {
    let email_type = requested_type(call, base)?;
    Ok(Reply::new(json!({ "subject": filled(call, &email_type.subject)? })))
}

fn send(call: &mut Call<'_>, base: &str) -> Result<Reply, Stop> {
    let email_type = requested_type(call, base)?;
    let to = call.params.text("email").unwrap_or_default().to_owned();
    if !mail::is_on(call.site) {
        let message = "E-mail is turned off; ask the operator to set mail.relay.";
        let code = "woocommerce_rest_email_preview_not_sent";
        return Err(Refusal::new(409, code, message).into());
    }
    mail::count_email(call)?;
    let subject = filled(call, &email_type.subject)?;
    let heading = filled(call, &email_type.heading)?;
    let site_name = sender_name(call)?;
    let footer = text_of(call, "woocommerce_email_footer_text")?;
    let mut paragraphs =
        vec![filled(call, &email_type.text)?, String::from("This e-mail is a preview.")];
    paragraphs.extend(Some(footer).filter(|footer| !footer.is_empty()));
    let email = Email { to: &to, subject: &subject, paragraphs: &paragraphs, link: None };
    let (site, now) = (call.site, call.now());
    let home = site.address_for_emails(call.options());
    let sender = Sender { site_name: &site_name, home: &home };
    let presentation = Presentation { heading: Some(&heading), ..Presentation::default() };
    mail::enqueue_presented(site, call.conn()?, sender, &email, presentation, now)?;
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

/// Makes the page on which the text of an e-mail can be edited, unless it is there.
fn recreate(call: &mut Call<'_>, pages: &str, base: &str) -> Result<Reply, Stop> {
    let id = call.params.text("email_id").unwrap_or_default().to_owned();
    let code = "woocommerce_rest_invalid_email_id";
    let email_type = described(call, base, &id)?.ok_or_else(|| unknown(code))?;
    let slug = format!("letter-{}", id.replace('_', "-"));
    let page_id = match site_rows::post::find_by_slug(call.conn()?, "page", &slug)? {
        Some(page) => page.post_id,
        None => made(call, pages, &email_type, &slug)?,
    };
    Ok(Reply::new(json!({ "message": "The e-mail's page was created.", "post_id": page_id })))
}

fn made(call: &mut Call<'_>, pages: &str, email_type: &EmailType, slug: &str) -> Result<i64, Stop> {
    let body = json!({
        "title": email_type.title,
        "slug": slug,
        "status": "private",
        "content": format!("<p>{}</p>", email_type.text),
    });
    let body: Map<String, Value> = body.as_object().cloned().unwrap_or_default();
    let made = call.ask(Verb::Post, pages, body)?;
    let id = made.get("id").and_then(Value::as_i64);
    id.ok_or_else(|| Error::internal("a new page has no id").into())
}
