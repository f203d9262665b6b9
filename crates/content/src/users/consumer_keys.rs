//! The caller's own consumer keys over REST: made for one program of the shop each, and taken back.
//!
//! **Key and secret are shown once**, when they are made. Somebody else's key looks like none.

use contract::rest::route::{CREATE, DELETE, READ, Route};
use contract::rest::{Args, Item, Refusal, Reply, Schema, Stop, clean};
use db::Conn;
use frame::action::{read, write};
use frame::auth::application_password::NAME_LENGTH_MAX;
use frame::auth::consumer_key::{NewKey, Permissions, generate};
use frame::{Action, Call, Names};
use serde_json::{Value, json};
use site_rows::consumer_key::{self as rows, ConsumerKeyRow};
use types::{Capability, Error, Timestamp};
use vault::Vault;

use super::view::date_time;

/// Keys that one user may have.
const KEYS_MAX: usize = 100;
const PATH: &str = "/consumer-keys";

pub(super) fn routes(names: &Names) -> Vec<Route<Action>> {
    let at = |path: &str| Route::at(&names.docs, path).schema(item().document());
    let id = Args::new().arg("id", Schema::integer().about("Key ID."));
    vec![
        at(PATH)
            .on(READ, Args::new(), read(may_use, list))
            .lists()
            .on(CREATE, item().create_args(), write(may_use, create))
            .creates(),
        at(&format!(r"{PATH}/(?P<id>[\d]+)"))
            .on(DELETE, id, write(may_use, delete))
            .notes_deletion(),
    ]
}

fn item() -> Item {
    let shown = |schema: Schema| schema.context(&["view", "edit"]);
    let fixed = |schema: Schema| shown(schema).readonly();
    let once = |about: &str| Schema::text().about(about).context(&["edit"]).readonly();
    let permissions = [Permissions::Read, Permissions::Write, Permissions::ReadWrite];
    let choices = permissions.map(Permissions::name);
    let description = Schema::text().about("Description of the key.").min_length(1);
    let last = Schema::types(&["string", "null"]).format("date-time");
    let schema = Schema::object([
        ("id", fixed(Schema::integer().about("Key ID."))),
        ("description", shown(description).required()),
        (
            "permissions",
            shown(Schema::text().about("Permissions of the key.").choices(&choices)).required(),
        ),
        ("truncated_key", fixed(Schema::text().about("Last characters of the key."))),
        ("created", fixed(Schema::date_time().about("Date created, in UTC."))),
        ("last_access", fixed(last.about("Date last used, in UTC."))),
        ("consumer_key", once("The key, shown only once.")),
        ("consumer_secret", once("The secret, shown only once.")),
    ]);
    Item::new("consumer-key", schema)
}

fn may_use(call: &mut Call<'_>) -> Result<(), Stop> {
    let message = "Only shop managers can have consumer keys.";
    call.need(Capability::ManageWoocommerce, "rest_cannot_use_consumer_keys", message)
}

fn list(call: &mut Call<'_>) -> Result<Reply, Stop> {
    let keys = own(call)?;
    Ok(Reply::new(keys.iter().map(body).collect::<Vec<Value>>()))
}

fn create(call: &mut Call<'_>) -> Result<Reply, Stop> {
    call.may_issue_credentials()?;
    let description = clean::text_field(call.params.text("description").unwrap_or_default());
    if description.is_empty() || description.chars().count() > NAME_LENGTH_MAX {
        let message = format!("Describe the key with 1 to {NAME_LENGTH_MAX} characters.");
        return Err(Refusal::new(400, "consumer_key_description", message).into());
    }
    let named = call.params.text("permissions").and_then(Permissions::parse);
    let permissions = named.unwrap_or(Permissions::Read);
    let (site, now, user_id) = (call.site, call.now(), call.user_id());
    let wanted = (permissions, description.as_str());
    let Some(new) = issue(call.conn()?, site.vault(), user_id, wanted, now)? else {
        let message = "You have too many consumer keys; delete some first.";
        return Err(Refusal::new(400, "consumer_key_too_many", message).into());
    };
    let mut body = body(&new.row);
    if let Value::Object(members) = &mut body {
        members.insert(String::from("consumer_key"), json!(new.key.expose()));
        members.insert(String::from("consumer_secret"), json!(new.secret.expose()));
    }
    let location = format!("/{}{PATH}/{}", site.settings().names.docs, new.row.key_id);
    Ok(Reply::created(body, call.visit.rest(&location)))
}

/// Makes and keeps a key of a user, who is asked before and may do what it may. Nothing if the user
/// has as many as anybody may have.
pub(crate) fn issue(
    conn: &mut dyn Conn,
    vault: &Vault,
    user_id: i64,
    (permissions, description): (Permissions, &str),
    now: Timestamp,
) -> Result<Option<NewKey>, Error> {
    if rows::list(conn, Some(user_id))?.len() >= KEYS_MAX {
        return Ok(None);
    }
    let mut new = generate(vault, user_id, permissions, description, now)?;
    new.row.key_id = rows::insert(conn, &new.row)?;
    Ok(Some(new))
}

fn delete(call: &mut Call<'_>) -> Result<Reply, Stop> {
    let id = call.params.int("id").unwrap_or_default();
    let Some(key) = own(call)?.into_iter().find(|key| key.key_id == id) else {
        let message = "Consumer key not found.";
        return Err(Refusal::new(404, "rest_consumer_key_not_found", message).into());
    };
    rows::delete(call.conn()?, key.key_id)?;
    Ok(Reply::new(json!({ "deleted": true, "previous": body(&key) })))
}

fn own(call: &mut Call<'_>) -> Result<Vec<ConsumerKeyRow>, Stop> {
    let user_id = call.user_id();
    Ok(rows::list(call.conn()?, Some(user_id))?)
}

fn body(row: &ConsumerKeyRow) -> Value {
    json!({
        "id": row.key_id,
        "description": row.description,
        "permissions": row.permissions,
        "truncated_key": row.truncated_key,
        "created": date_time(row.created),
        "last_access": row.last_access.map(date_time),
    })
}
