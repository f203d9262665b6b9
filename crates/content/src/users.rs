//! Users over REST: lists, one user, oneself, and the passwords that users give to applications.
//!
//! [`rights`] says who may do what to whom, and [`view`] is what others see of a user; users are
//! made and removed by [`frame::users`]. **Nobody gains rights here that they could not give**:
//! roles need `promote_users`, roles that act for somebody need the binding to that somebody, and
//! the last administrator stays one.

pub(crate) mod application_passwords;
pub(crate) mod consumer_keys;
mod delete;
mod fields;
mod list;
mod meta;
mod read;
mod rights;
mod view;
mod write;

pub(crate) use self::view::{date_time, url};

use contract::rest::route::{CREATE, DELETE, EDIT, READ, Route};
use contract::rest::{Fields, Links, Refusal, Reply, Stop};
use frame::action::{anyone, read as reading, write as writing};
use frame::{Action, Call, Names};
use site_rows::user::UserRow;

pub(crate) fn routes(names: &Names) -> Vec<Route<Action>> {
    let item = fields::item();
    let id = || contract::rest::Args::new().arg("id", fields::id());
    let collection = Route::at(&names.content, "/users")
        .on(READ, fields::list_args(), reading(list::may_list, list::list))
        .on(CREATE, fields::create_args(), writing(write::may_create, write::create))
        .creates()
        .batchable()
        .schema(item.document());
    let one = Route::at(&names.content, r"/users/(?P<id>[\d]+)")
        .on(READ, id().with(fields::get_args()), reading(read::may_get, read::get))
        .on(EDIT, id().with(fields::edit_args()), writing(write::may_edit, write::edit))
        .on(DELETE, id().with(fields::delete_args()), writing(delete::may_delete, delete::delete))
        .notes_deletion()
        .refuses_with(&[501])
        .batchable()
        .schema(item.document());
    let me = Route::at(&names.content, "/users/me")
        .on(READ, fields::get_args(), reading(anyone, read::get_me))
        .on(EDIT, fields::edit_args(), writing(write::may_edit_me, write::edit_me))
        .on(DELETE, fields::delete_args(), writing(delete::may_delete_me, delete::delete_me))
        .notes_deletion()
        .refuses_with(&[501])
        .schema(item.document());
    let mut routes = vec![collection, one, me];
    routes.extend(application_passwords::routes(names));
    routes.extend(consumer_keys::routes(names));
    routes
}

/// The path of the list, as links name it.
fn list_path(call: &Call<'_>) -> String {
    format!("/{}/users", call.site.settings().names.content)
}

fn item_path(call: &Call<'_>, user_id: i64) -> String {
    format!("{}/{user_id}", list_path(call))
}

/// Adds links to a single item unless the client listed fields without them.
fn linked(reply: Reply, call: &Call<'_>, links: Links) -> Reply {
    let wants = |fields: Fields| fields.includes("_links") || fields.includes("_embedded");
    if Fields::read(&call.params).is_none_or(wants) { reply.links(links) } else { reply }
}

/// The user with this id, or the refusal of an id that nobody has.
pub(crate) fn existing(call: &mut Call<'_>, user_id: i64) -> Result<UserRow, Stop> {
    let user = match user_id {
        1.. => site_rows::user::get(call.conn()?, user_id)?,
        _ => None,
    };
    user.ok_or_else(|| Stop::from(unknown_user()))
}

/// The user whom the parameter `id` names.
fn named(call: &mut Call<'_>) -> Result<UserRow, Stop> {
    let user_id = call.params.int("id").unwrap_or_default();
    existing(call, user_id)
}

/// The caller as they are now; what was known when the request began may be a moment old.
fn oneself(call: &mut Call<'_>) -> Result<UserRow, Stop> {
    let user_id = call.user_id();
    existing(call, user_id)
}

fn unknown_user() -> Refusal {
    Refusal::new(404, "rest_user_invalid_id", "User not found.")
}

pub(crate) fn not_logged_in() -> Refusal {
    Refusal::new(401, "rest_not_logged_in", "You are not signed in.")
}
