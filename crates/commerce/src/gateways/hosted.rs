//! Gateways with a payment page of their own. Each is a record of settings: an address that takes
//! our signed requests, and a secret that both sides sign with. **No code is needed here for one**:
//! an operator adds it by a request, a plugin by its manifest.
//!
//! The secrets are an option of their own, which is sealed where it is kept.

use std::borrow::Cow;

use contract::rest::route::{CREATE, DELETE, READ, Route};
use contract::rest::{Args, Refusal, Reply, Schema, Stop, clean};
use db::Conn;
use frame::action::{read, write};
use frame::options::{self, secrets};
use frame::signing::{self, Unproven};
use frame::{Action, Call, Names, Options};
use serde_json::{Map, Value, json};
use types::{Environment, Result, Secret};
use url::Url;
use vault::Vault;

use super::table::{Field, Gateway, INSTRUCTIONS, Kept, title};
use crate::managers::{may_edit, may_view};

/// The option with the settings of all of them, by id.
pub const GATEWAYS: &str = "boardwalk_hosted_gateways";
/// The option with their secrets, by id.
pub const SECRETS: &str = "boardwalk_hosted_gateway_secrets";
/// What their ids begin with, so that they are never mistaken for those of the program.
pub const PREFIX: &str = "hosted-";
/// The job that asks a gateway to pay back.
pub const REFUND_JOB: &str = "payment.refund";

const NAME_LENGTH_MAX: usize = 60;
const TEXT_LENGTH_MAX: usize = 1_000;
const URL_LENGTH_MAX: usize = 500;
/// Gateways of one site.
const GATEWAYS_MAX: usize = 20;
/// Their place at the checkout unless somebody moves them: before bank transfer.
const ORDER: i64 = 1;
const ABOUT: &str = "Customers pay on the provider's own page.";
const FIELDS: &[Field] = &[title(""), INSTRUCTIONS];

/// A gateway, ready to be asked.
#[derive(Debug)]
pub struct Hosted {
    pub id: String,
    /// What buyers read.
    pub title: String,
    pub url: Url,
    pub key: Secret<Vec<u8>>,
}

impl Hosted {
    /// The same for messages to another address, if it is one.
    #[must_use]
    pub fn at(self, url: &str) -> Option<Self> {
        Some(Self { url: Url::parse(url).ok()?, ..self })
    }
}

pub(super) fn routes(names: &Names) -> [Route<Action>; 2] {
    let text =
        |about: &str, length: usize| Schema::text().keyword("maxLength", length).about(about);
    let id = || {
        let pattern = "^[a-z0-9](?:[a-z0-9-]{0,38}[a-z0-9])?$";
        Schema::text().pattern(pattern).about("Name in addresses, without the prefix.")
    };
    let only_new = Schema::boolean()
        .default(false)
        .about("Whether to refuse the request if there is a gateway with this ID.");
    let of_sandbox = Schema::boolean()
        .default(false)
        .about("Whether the sandbox's own gateway answers for it. Sandbox only.");
    let create = Args::new()
        .arg("id", id().required())
        .arg("name", text("Name for the shop's staff.", NAME_LENGTH_MAX))
        .arg("title", text("Title shown at checkout.", NAME_LENGTH_MAX))
        .arg("description", text("Description shown at checkout.", TEXT_LENGTH_MAX))
        .arg("url", text("Address that takes our requests.", URL_LENGTH_MAX))
        .arg("secret", text("Secret of both sides; a new one if left out.", URL_LENGTH_MAX))
        .arg("sandbox", of_sandbox)
        .arg("only_new", only_new)
        .arg("enabled", Schema::boolean().about("Whether it is offered at checkout."));
    let callback = format!("/{}/payments", names.docs);
    let of_sandbox = format!("/{}/sandbox/gateways", names.docs);
    let paths = (callback.clone(), of_sandbox);
    [
        Route::at(&names.docs, "/payment-gateways")
            .on(READ, Args::new(), read(may_view, move |call: &mut Call<'_>| list(call, &callback)))
            .shows(Schema::list(gateway()))
            .on(CREATE, create, write(may_edit, move |call: &mut Call<'_>| put(call, &paths)))
            .shows(gateway()),
        Route::at(&names.docs, r"/payment-gateways/(?P<id>[a-z0-9-]+)")
            .on(
                DELETE,
                Args::new().arg("id", Schema::text().about("Gateway ID.")),
                write(may_edit, remove),
            )
            .shows(Schema::object([
                ("deleted", Schema::boolean().about("Always true.")),
                ("id", Schema::text().about("Gateway ID.")),
            ])),
    ]
}

fn records(options: &Options) -> Map<String, Value> {
    match options.get(GATEWAYS) {
        Value::Object(records) => records,
        _ => Map::new(),
    }
}

/// What is kept of one of them; null if there is none.
pub(super) fn settings(options: &Options, id: &str) -> Value {
    records(options).get(id).cloned().unwrap_or_default()
}

/// Keeps the settings of one of them, or forgets it.
pub(super) fn keep(
    conn: &mut dyn Conn,
    id: &str,
    settings: Option<Map<String, Value>>,
) -> Result<()> {
    let mut all = records(&Options::read(conn)?);
    match settings {
        Some(settings) => all.insert(id.to_owned(), Value::Object(settings)),
        None => all.shift_remove(id),
    };
    options::set(conn, GATEWAYS, &Value::Object(all))
}

fn text_of<'a>(record: &'a Value, name: &str) -> &'a str {
    record.get(name).and_then(Value::as_str).unwrap_or_default()
}

/// All of them, as ways to pay.
pub(super) fn all(options: &Options) -> Vec<Gateway> {
    let gateway = |(id, record): (String, Value)| Gateway {
        kept: Kept::Hosted,
        order: ORDER,
        name: Cow::Owned(text_of(&record, "name").to_owned()),
        about: ABOUT,
        title: Cow::Owned(text_of(&record, "name").to_owned()),
        description: Cow::Borrowed(""),
        supports: &["products", "refunds"],
        fields: FIELDS,
        id: Cow::Owned(id),
    };
    records(options).into_iter().map(gateway).collect()
}

/// Whether this is the id of a gateway with a payment page, as far as the text tells.
pub fn is_hosted(id: &str) -> bool {
    id.starts_with(PREFIX)
}

/// The gateway, with the key that signs; none if there is none of this id.
pub fn find(vault: &Vault, options: &Options, id: &str) -> Result<Option<Hosted>> {
    let record = settings(options, id);
    let Ok(url) = Url::parse(text_of(&record, "url")) else { return Ok(None) };
    let known = secrets::open(vault, SECRETS, options.get(SECRETS))?;
    let Some(key) = known.get(id).and_then(Value::as_str).and_then(signing::key_of) else {
        return Ok(None);
    };
    let title = Some(text_of(&record, "title")).filter(|title| !title.is_empty());
    let title = title.unwrap_or_else(|| text_of(&record, "name")).to_owned();
    Ok(Some(Hosted { id: id.to_owned(), title, url, key }))
}

fn keep_secret(call: &mut Call<'_>, id: &str, secret: Option<&str>) -> Result<()> {
    let (site, stored) = (call.site, Options::read(call.conn()?)?);
    let mut known = match secrets::open(site.vault(), SECRETS, stored.get(SECRETS))? {
        Value::Object(known) => known,
        _ => Map::new(),
    };
    match secret {
        Some(secret) => known.insert(id.to_owned(), json!(secret)),
        None => known.shift_remove(id),
    };
    secrets::change(call.conn()?, site.vault(), SECRETS, &Value::Object(known)).map(drop)
}

/// What [`body`] shows.
fn gateway() -> Schema {
    let text = |about: &str| Schema::text().about(about);
    Schema::object([
        ("id", text("Gateway ID.")),
        ("name", text("Name for the shop's staff.")),
        ("title", text("Title shown at checkout.")),
        ("description", text("Description shown at checkout.")),
        ("enabled", Schema::boolean().about("Whether it is offered at checkout.")),
        ("url", text("Address that takes our requests.")),
        ("callback_url", text("Address that takes the gateway's reports.")),
        ("secret", text("Secret of both sides; only when it was just made.")),
    ])
}

fn body(call: &Call<'_>, callback: &str, id: &str, record: &Value) -> Value {
    json!({
        "id": id,
        "name": text_of(record, "name"),
        "title": text_of(record, "title"),
        "description": text_of(record, "description"),
        "enabled": text_of(record, "enabled") == "yes",
        "url": text_of(record, "url"),
        "callback_url": call.visit.rest(&format!("{callback}/{id}")),
    })
}

fn list(call: &mut Call<'_>, callback: &str) -> Result<Reply, Stop> {
    let known = records(&Options::read(call.conn()?)?);
    let items = known.iter().map(|(id, record)| body(call, callback, id, record));
    Ok(Reply::new(items.collect::<Vec<Value>>()))
}

fn refused(message: impl Into<Cow<'static, str>>) -> Stop {
    Refusal::new(400, "payment_gateway_invalid", message.into()).into()
}

/// The address that the request names, or that of the sandbox's own gateway.
fn address(call: &mut Call<'_>, id: &str, of_sandbox: &str) -> Result<Option<String>, Stop> {
    if call.params.flag("sandbox") {
        if call.site.environment() != Environment::Sandbox {
            return Err(refused("Only the sandbox has a gateway of its own; set url."));
        }
        let home = call.site.address_for_emails(call.options());
        let root = &call.site.settings().names.rest_root;
        return Ok(Some(format!("{home}/{root}{of_sandbox}/{id}")));
    }
    let Some(given) = call.params.text("url") else { return Ok(None) };
    let url = Url::parse(given).ok().filter(|url| matches!(url.scheme(), "http" | "https"));
    let url = url.ok_or_else(|| refused("url must begin with https:// or http://."))?;
    if url.scheme() != "https" && call.site.environment() == Environment::Production {
        return Err(refused("url must begin with https:// in production."));
    }
    call.site.may_ever_deliver(&url).map_err(|error| refused(format!("url: {error}.")))?;
    Ok(Some(url.to_string()))
}

/// Adds a gateway, or changes the one of this id. A new secret is shown once.
fn put(call: &mut Call<'_>, (callback, of_sandbox): &(String, String)) -> Result<Reply, Stop> {
    let bare = call.params.text("id").unwrap_or_default().to_owned();
    let id = format!("{PREFIX}{bare}");
    let stored = Options::read(call.conn()?)?;
    let mut record = match settings(&stored, &id) {
        Value::Object(_) if call.params.flag("only_new") => {
            let message = "There is a payment gateway with this ID already; delete it first.";
            return Err(Refusal::new(409, "payment_gateway_exists", message).into());
        }
        Value::Object(record) => record,
        _ if records(&stored).len() >= GATEWAYS_MAX => {
            return Err(refused("There are too many gateways; delete one first."));
        }
        _ => Map::from_iter([(String::from("name"), json!(bare))]),
    };
    for name in ["name", "title", "description"] {
        if let Some(text) = call.params.text(name) {
            record.insert(name.to_owned(), json!(clean::text_field(text)));
        }
    }
    if call.params.get("enabled").is_some() {
        let enabled = if call.params.flag("enabled") { "yes" } else { "no" };
        record.insert(String::from("enabled"), json!(enabled));
    }
    if let Some(url) = address(call, &id, of_sandbox)? {
        record.insert(String::from("url"), json!(url));
    }
    if !record.contains_key("url") {
        return Err(refused("url is required."));
    }
    let given = call.params.text("secret").map(str::to_owned);
    if given.as_deref().is_some_and(|given| signing::key_of(given).is_none()) {
        let message = "secret must be whsec_ and at least 16 bytes in base64.";
        return Err(refused(message));
    }
    let has_secret = find(call.site.vault(), &stored, &id)?.is_some();
    let made = match given {
        None if !has_secret => Some(signing::new_secret()?.0),
        _ => None,
    };
    if let Some(secret) = given.as_deref().or(made.as_ref().map(|made| made.expose().as_str())) {
        keep_secret(call, &id, Some(secret))?;
    }
    keep(call.conn()?, &id, Some(record.clone()))?;
    let mut body = body(call, callback, &id, &Value::Object(record));
    if let (Some(made), Some(members)) = (made, body.as_object_mut()) {
        members.insert(String::from("secret"), json!(made.expose()));
    }
    Ok(Reply { status: 201, ..Reply::new(body) })
}

fn remove(call: &mut Call<'_>) -> Result<Reply, Stop> {
    let id = call.params.text("id").unwrap_or_default().to_owned();
    if settings(&Options::read(call.conn()?)?, &id).is_null() {
        let message = "Payment gateway not found.";
        return Err(Refusal::new(404, "payment_gateway_not_found", message).into());
    }
    keep(call.conn()?, &id, None)?;
    keep_secret(call, &id, None)?;
    Ok(Reply::new(json!({ "deleted": true, "id": id })))
}

fn unproven(why: Unproven) -> Refusal {
    let (code, message) = match why {
        Unproven::Unsigned => (
            "payment_message_unsigned",
            "The message must have the headers webhook-id, webhook-timestamp and \
             webhook-signature.",
        ),
        Unproven::Expired => (
            "payment_message_expired",
            "The message was signed more than five minutes ago or in the future; sign it again.",
        ),
        Unproven::Wrong => (
            "payment_signature_invalid",
            "No signature of the message fits the secret of this gateway.",
        ),
    };
    Refusal::new(401, code, message)
}

/// Refuses a request that the gateway's secret did not sign. Who cannot sign does not learn which
/// gateways there are. **Only the body is signed**, so that nothing may come from elsewhere.
pub fn check_signature(call: &mut Call<'_>, id: &str) -> Result<(), Stop> {
    let mut why = Unproven::Wrong;
    let proven = call.look_up_secret(|call| {
        let options = Options::read(call.conn()?)?;
        let found = find(call.site.vault(), &options, id)?;
        let key = found.as_ref().map_or(&[][..], |found| found.key.expose().as_slice());
        let body = call.visit.signed_body.as_deref().unwrap_or_default();
        let header = |name: &str| call.visit.header(name);
        match signing::verify_message(key, header, body, call.now()) {
            Ok(_) if found.is_some() => Ok(Some(())),
            Ok(_) => Ok(None),
            Err(unproven) => {
                why = unproven;
                Ok(None)
            }
        }
    })?;
    proven.ok_or_else(|| unproven(why))?;
    let body = call.visit.signed_body.as_deref().unwrap_or_default();
    let is_object = matches!(serde_json::from_slice(body), Ok(Value::Object(_)));
    let media_type = call.visit.header("content-type").unwrap_or_default();
    if !is_object
        || !media_type.starts_with("application/json")
        || call.visit.requested.contains('?')
    {
        let message = "The message must be a JSON object in the body, without a query string.";
        return Err(Refusal::new(400, "payment_message_invalid", message).into());
    }
    Ok(())
}
