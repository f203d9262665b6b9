//! Making and changing users: the checks that need the store, then the change itself. A new
//! password ends the sessions that the old one began, and so does a new address.

use contract::rest::{Refusal, Reply, Stop, clean};
use frame::Call;
use frame::users::account::{self, NewUser};
use frame::users::{end_other_sessions, keep_an_administrator, leave_address, names};
use serde_json::Value;
use site_rows::user::UserRow;
use types::{Capability, Role};

use super::meta::Meta;
use super::{item_path, linked, named, oneself, rights, view};

/// What somebody is who was given no role.
const DEFAULT_ROLE: Role = Role::Subscriber;

pub(super) fn may_create(call: &mut Call<'_>) -> Result<(), Stop> {
    let message = "You are not allowed to create users.";
    call.need(Capability::CreateUsers, "rest_cannot_create_user", message)
}

pub(super) fn create(call: &mut Call<'_>) -> Result<Reply, Stop> {
    if call.params.int("id").is_some_and(|id| id != 0) {
        let message = "The ID of a new user cannot be set.";
        return Err(Refusal::new(400, "rest_user_exists", message).into());
    }
    let roles = if call.params.get("roles").is_some() {
        rights::grant(call, None, &call.params.texts("roles"))?
    } else {
        vec![DEFAULT_ROLE]
    };
    let text = |name: &str| call.params.text(name).unwrap_or_default().to_owned();
    let new = NewUser {
        password_hash: password_hash(call)?,
        roles,
        name: text("name"),
        first_name: text("first_name"),
        last_name: text("last_name"),
        nickname: text("nickname"),
        slug: text("slug"),
        description: clean::textarea_field(&text("description")),
        url: text("url"),
        locale: text("locale"),
        ..NewUser::new(text("username"), text("email"), call.now())
    };
    let mut user = account::create_user(call.conn()?, &new)?;
    if set_meta(call, &mut user)? {
        site_rows::user::update(call.conn()?, &user)?;
    }
    let location = call.visit.rest(&item_path(call, user.user_id));
    let body = view::body(call, &user, "edit")?;
    Ok(linked(Reply::created(body, location), call, view::links(call, &user)))
}

pub(super) fn may_edit(call: &mut Call<'_>) -> Result<(), Stop> {
    let user = named(call)?;
    may_edit_user(call, &user)
}

pub(super) fn may_edit_me(call: &mut Call<'_>) -> Result<(), Stop> {
    let user = oneself(call)?;
    may_edit_user(call, &user)
}

fn may_edit_user(call: &Call<'_>, user: &UserRow) -> Result<(), Stop> {
    if gives_roles(call) {
        if !rights::may_promote(call, user) {
            let message = "You are not allowed to change the roles of this user.";
            return Err(call.deny("rest_cannot_edit_roles", message).into());
        }
        let params = call.params.merged();
        if params.keys().all(|name| matches!(name.as_str(), "id" | "roles")) {
            return Ok(());
        }
    }
    if rights::may_edit(call, user) {
        return Ok(());
    }
    Err(call.deny("rest_cannot_edit", "You are not allowed to edit this user.").into())
}

/// Whether roles are given at all: taking the last role away is a change of roles, too.
fn gives_roles(call: &Call<'_>) -> bool {
    call.params.get("roles").is_some()
}

pub(super) fn edit(call: &mut Call<'_>) -> Result<Reply, Stop> {
    let user = named(call)?;
    edit_user(call, user)
}

pub(super) fn edit_me(call: &mut Call<'_>) -> Result<Reply, Stop> {
    let user = oneself(call)?;
    edit_user(call, user)
}

fn edit_user(call: &mut Call<'_>, before: UserRow) -> Result<Reply, Stop> {
    let mut user = before.clone();
    set_unique(call, &mut user)?;
    set_roles(call, &mut user)?;
    set_texts(call, &mut user);
    set_meta(call, &mut user)?;
    account::check_fields(&user)?;
    let hash = password_hash(call)?;
    let has_new_password = hash.is_some();
    user.password_hash = hash.or(user.password_hash);
    if user != before {
        site_rows::user::update(call.conn()?, &user)?;
    }
    if has_new_password {
        end_other_sessions(call, &user)?;
        site_rows::identity::delete_of_user(call.conn()?, user.user_id)?;
    }
    if user.email != before.email {
        leave_address(call, &before)?;
    }
    let body = view::body(call, &user, "edit")?;
    Ok(linked(Reply::new(body), call, view::links(call, &user)))
}

/// What no two users share.
fn set_unique(call: &mut Call<'_>, user: &mut UserRow) -> Result<(), Stop> {
    let refused = |code: &'static str, message: &'static str| Refusal::new(400, code, message);
    if let Some(email) = call.params.text("email").map(str::to_owned) {
        let owner = site_rows::user::find_by_email(call.conn()?, &email)?;
        if owner.is_some_and(|owner| owner.user_id != user.user_id) {
            let message = "This e-mail address is already in use.";
            return Err(refused("rest_user_invalid_email", message).into());
        }
        user.email = email;
    }
    let login = call.params.text("username").unwrap_or_default();
    if !login.is_empty() && login != user.login {
        let message = "The username cannot be changed.";
        return Err(refused("rest_user_invalid_argument", message).into());
    }
    let Some(slug) = call.params.text("slug").map(str::to_owned) else { return Ok(()) };
    if slug.is_empty() {
        let wanted = names::slug_of_login(&user.login);
        user.nicename = site_rows::user::free_nicename(call.conn()?, &wanted, user.user_id)?;
        return Ok(());
    }
    let owner = site_rows::user::find_by_nicename(call.conn()?, &slug)?;
    if owner.is_some_and(|owner| owner.user_id != user.user_id) {
        return Err(refused("rest_user_invalid_slug", "This slug is already in use.").into());
    }
    user.nicename = slug;
    Ok(())
}

fn set_roles(call: &mut Call<'_>, user: &mut UserRow) -> Result<(), Stop> {
    if !gives_roles(call) {
        return Ok(());
    }
    let roles = rights::grant(call, Some(user), &call.params.texts("roles"))?;
    if !roles.contains(&Role::Administrator) {
        keep_an_administrator(call, user)?;
    }
    user.roles = roles;
    Ok(())
}

fn set_texts(call: &Call<'_>, user: &mut UserRow) {
    let given = |name: &str| call.params.text(name).map(str::to_owned);
    let or_login = |name: String| if name.is_empty() { user.login.clone() } else { name };
    let (name, nickname) = (given("name").map(or_login), given("nickname").map(or_login));
    let description = given("description").map(|text| clean::textarea_field(&text));
    let UserRow { display_name, first_name, last_name, .. } = user;
    for (field, value) in [
        (display_name, name),
        (first_name, given("first_name")),
        (last_name, given("last_name")),
        (&mut user.nickname, nickname),
        (&mut user.description, description),
        (&mut user.url, given("url")),
        (&mut user.locale, given("locale")),
    ] {
        if let Some(value) = value {
            *field = value;
        }
    }
}

/// Returns whether anything was given.
fn set_meta(call: &Call<'_>, user: &mut UserRow) -> Result<bool, Stop> {
    let (meta, shop) = (call.params.get("meta"), call.params.get("woocommerce_meta"));
    if meta.is_none() && shop.is_none() {
        return Ok(false);
    }
    let mut stored = Meta::read(user)?;
    stored.set_preferences(meta.unwrap_or(&Value::Null));
    stored.set_shop(shop.unwrap_or(&Value::Null));
    user.meta = stored.text()?;
    Ok(true)
}

/// The hash of the password, if one is given.
fn password_hash(call: &Call<'_>) -> Result<Option<String>, Stop> {
    let Some(given) = call.params.text("password") else { return Ok(None) };
    Ok(Some(call.visit.hashes.of(given)?))
}
