//! Application passwords over REST: what a user gives to one program each, and takes back.
//!
//! **A password is shown once**, when it is made; afterwards there is only its hash.

use std::sync::LazyLock;

use contract::rest::route::{CREATE, DELETE, EDIT, READ, Route};
use contract::rest::{Args, CompiledItem, Item, Links, Refusal, Reply, Schema, Stop, clean};
use frame::action::{read, write};
use frame::auth::application_password::{NAME_LENGTH_MAX, create_password, in_groups};
use frame::{Action, Call, Names, Via};
use serde_json::{Value, json};
use site_rows::application_password::{self as rows, ApplicationPasswordRow};
use site_rows::user::UserRow;
use types::Secret;

use super::view::date_time;
use super::{existing, item_path, linked, not_logged_in, rights};

/// Passwords that one user may have.
pub(crate) const PASSWORDS_MAX: usize = 500;
/// Without TLS nobody has application passwords.
const DISABLED: &[u16] = &[501];

static COMPILED: LazyLock<CompiledItem> =
    LazyLock::new(|| item().compile().expect("the fields of a password are written down right"));

pub(super) fn routes(names: &Names) -> Vec<Route<Action>> {
    let path =
        |rest: &str| format!(r"/users/(?P<user_id>(?:[\d]+|me))/application-passwords{rest}");
    let at = |rest: &str| Route::at(&names.content, &path(rest)).schema(item().document());
    let context = || Args::new().arg("context", item().context_arg());
    vec![
        at("")
            .on(READ, context(), read(may_list, list))
            .lists()
            .refuses_with(DISABLED)
            .on(CREATE, item().create_args(), write(may_create, create))
            .creates()
            .refuses_with(DISABLED)
            .on(DELETE, Args::new(), write(may_delete_all, delete_all))
            .shows(all_deleted())
            .refuses_with(DISABLED),
        at("/introspect")
            .on(READ, context(), read(may_introspect, introspect))
            .refuses_with(DISABLED),
        at(r"/(?P<uuid>[\w\-]+)")
            .on(READ, context(), read(may_get, get))
            .refuses_with(DISABLED)
            .on(EDIT, item().update_args(), write(may_edit, edit))
            .refuses_with(DISABLED)
            .on(DELETE, Args::new(), write(may_delete, delete))
            .notes_deletion()
            .refuses_with(DISABLED),
    ]
}

fn all_deleted() -> Schema {
    Schema::object([
        ("deleted", Schema::boolean().about("Whether they were deleted.")),
        ("count", Schema::integer().about("Number of deleted passwords.")),
    ])
}

fn item() -> Item {
    let everywhere = |schema: Schema| schema.context(&["view", "edit", "embed"]);
    let inner = |schema: Schema| schema.context(&["view", "edit"]).readonly();
    let app_id = Schema::text()
        .about("UUID provided by the application.")
        .keyword("oneOf", vec![Schema::text().format("uuid"), Schema::text().choices(&[""])]);
    let name = Schema::text().about("Application name.").min_length(1).pattern(r".*\S.*");
    let moment = |about: &str| inner(Schema::date_time().about(about));
    let moment_or_null =
        |about: &str| inner(Schema::types(&["string", "null"]).format("date-time").about(about));
    let address =
        Schema::types(&["string", "null"]).format("ip").about("IP address of the last use.");
    let password = Schema::text().about("The password, shown only once.").context(&["edit"]);
    let schema = Schema::object([
        ("uuid", everywhere(Schema::text().format("uuid").about("Its id.")).readonly()),
        ("app_id", everywhere(app_id)),
        ("name", everywhere(name).required()),
        ("password", password.readonly()),
        ("created", moment("Date created, in UTC.")),
        ("last_used", moment_or_null("Date last used, in UTC.")),
        ("last_ip", inner(address)),
    ]);
    Item::new("application-password", schema)
}

/// The user whose passwords these are.
fn owner(call: &mut Call<'_>) -> Result<UserRow, Stop> {
    if !call.visit.application_passwords {
        let message = "Application passwords require HTTPS.";
        return Err(Refusal::new(501, "application_passwords_disabled", message).into());
    }
    if call.params.text("user_id") == Some("me") {
        if call.user().is_none() {
            return Err(not_logged_in().into());
        }
        let user_id = call.user_id();
        return existing(call, user_id);
    }
    let user_id = call.params.int("user_id").unwrap_or_default();
    existing(call, user_id)
}

fn permit(call: &mut Call<'_>, code: &'static str, message: &'static str) -> Result<(), Stop> {
    let owner = owner(call)?;
    if rights::may_edit(call, &owner) { Ok(()) } else { Err(call.deny(code, message).into()) }
}

fn may_list(call: &mut Call<'_>) -> Result<(), Stop> {
    let message = "You are not allowed to view the application passwords of this user.";
    permit(call, "rest_cannot_list_application_passwords", message)
}

fn may_get(call: &mut Call<'_>) -> Result<(), Stop> {
    let message = "You are not allowed to view this application password.";
    permit(call, "rest_cannot_read_application_password", message)
}

fn may_create(call: &mut Call<'_>) -> Result<(), Stop> {
    let message = "You are not allowed to create application passwords for this user.";
    permit(call, "rest_cannot_create_application_passwords", message)?;
    call.may_issue_credentials()
}

fn may_edit(call: &mut Call<'_>) -> Result<(), Stop> {
    let message = "You are not allowed to edit this application password.";
    permit(call, "rest_cannot_edit_application_password", message)
}

fn may_delete_all(call: &mut Call<'_>) -> Result<(), Stop> {
    let message = "You are not allowed to delete the application passwords of this user.";
    permit(call, "rest_cannot_delete_application_passwords", message)
}

fn may_delete(call: &mut Call<'_>) -> Result<(), Stop> {
    let message = "You are not allowed to delete this application password.";
    permit(call, "rest_cannot_delete_application_password", message)
}

fn may_introspect(call: &mut Call<'_>) -> Result<(), Stop> {
    let owner = owner(call)?;
    if rights::is_oneself(call, &owner) {
        return Ok(());
    }
    let code = "rest_cannot_introspect_app_password_for_non_authenticated_user";
    Err(call
        .deny(code, "Only the application password of the current request can be introspected.")
        .into())
}

fn list(call: &mut Call<'_>) -> Result<Reply, Stop> {
    let owner = owner(call)?;
    let passwords = rows::list(call.conn()?, owner.user_id)?;
    let context = call.context();
    let items: Vec<Value> = passwords
        .iter()
        .map(|password| {
            let mut body = body(password, None, &context);
            let links = links(call, password).into_value();
            if let (Value::Object(members), Some(links)) = (&mut body, links) {
                members.insert(String::from("_links"), links);
            }
            body
        })
        .collect();
    Ok(Reply::new(Value::Array(items)))
}

fn get(call: &mut Call<'_>) -> Result<Reply, Stop> {
    let password = named(call)?;
    let body = body(&password, None, &call.context());
    Ok(linked(Reply::new(body), call, links(call, &password)))
}

fn introspect(call: &mut Call<'_>) -> Result<Reply, Stop> {
    let owner = owner(call)?;
    let Via::ApplicationPassword { uuid } = call.visit.identity.via.clone() else {
        let message = "This request was not made with an application password.";
        return Err(Refusal::new(404, "rest_no_authenticated_app_password", message).into());
    };
    let Some(password) = rows::get(call.conn()?, owner.user_id, &uuid)? else {
        return Err(not_found(500).into());
    };
    let body = body(&password, None, &call.context());
    Ok(linked(Reply::new(body), call, links(call, &password)))
}

fn create(call: &mut Call<'_>) -> Result<Reply, Stop> {
    let owner = owner(call)?;
    let name = name(call)?;
    let app_id = call.params.text("app_id").unwrap_or_default().to_owned();
    if rows::list(call.conn()?, owner.user_id)?.len() >= PASSWORDS_MAX {
        let message = "The user has too many application passwords; delete some first.";
        return Err(Refusal::new(400, "application_password_too_many", message).into());
    }
    let (site, now) = (call.site, call.now());
    let (password, secret) =
        create_password(call.conn()?, site.vault(), owner.user_id, (&name, &app_id), now)?;
    let body = body(&password, Some(&secret), "edit");
    let location = call.visit.rest(&path(call, &password));
    Ok(linked(Reply::created(body, location), call, links(call, &password)))
}

fn edit(call: &mut Call<'_>) -> Result<Reply, Stop> {
    let mut password = named(call)?;
    if call.params.text("name").is_some() {
        password.name = name(call)?;
        rows::rename(call.conn()?, password.user_id, &password.uuid, &password.name)?;
    }
    let body = body(&password, None, "edit");
    Ok(linked(Reply::new(body), call, links(call, &password)))
}

fn delete(call: &mut Call<'_>) -> Result<Reply, Stop> {
    let password = named(call)?;
    rows::delete(call.conn()?, password.user_id, &password.uuid)?;
    let previous = body(&password, None, "edit");
    Ok(Reply::new(json!({ "deleted": true, "previous": previous })))
}

fn delete_all(call: &mut Call<'_>) -> Result<Reply, Stop> {
    let owner = owner(call)?;
    let count = rows::delete_all(call.conn()?, owner.user_id)?;
    Ok(Reply::new(json!({ "deleted": true, "count": count })))
}

/// The name as it will be kept: the pattern lets pass what cleaning may leave nothing of.
fn name(call: &Call<'_>) -> Result<String, Stop> {
    let name = clean::text_field(call.params.text("name").unwrap_or_default());
    if name.is_empty() {
        let message = "A name is required.";
        return Err(Refusal::new(400, "application_password_empty_name", message).into());
    }
    if name.chars().count() > NAME_LENGTH_MAX {
        let message = "The name of the application password is too long.";
        return Err(Refusal::new(400, "application_password_name_too_long", message).into());
    }
    Ok(name)
}

/// The password that the path names.
fn named(call: &mut Call<'_>) -> Result<ApplicationPasswordRow, Stop> {
    let owner = owner(call)?;
    let uuid = call.params.text("uuid").unwrap_or_default().to_owned();
    let found = rows::get(call.conn()?, owner.user_id, &uuid)?;
    found.ok_or_else(|| not_found(404).into())
}

fn not_found(status: u16) -> Refusal {
    let message = "Application password not found.";
    Refusal::new(status, "rest_application_password_not_found", message)
}

fn path(call: &Call<'_>, password: &ApplicationPasswordRow) -> String {
    let user = item_path(call, password.user_id);
    format!("{user}/application-passwords/{}", password.uuid)
}

fn links(call: &Call<'_>, password: &ApplicationPasswordRow) -> Links {
    Links::new().to("self", call.visit.rest(&path(call, password)))
}

fn body(row: &ApplicationPasswordRow, secret: Option<&Secret<String>>, context: &str) -> Value {
    let mut body = json!({
        "uuid": row.uuid,
        "app_id": row.app_id,
        "name": row.name,
        "created": date_time(row.created),
        "last_used": row.last_used.map(date_time),
        "last_ip": row.last_ip,
    });
    if let (Value::Object(members), Some(secret)) = (&mut body, secret) {
        members.insert(String::from("password"), json!(in_groups(secret.expose())));
    }
    COMPILED.filter_by_context(body, context)
}
