//! A user as clients see it. Which fields a view shows follows from the schema in
//! [`super::fields`]; what is beside the schema is shown in every view.

use contract::rest::{Links, Stop};
use frame::Call;
use frame::users::{avatar_urls, names};
use serde_json::{Map, Value, json};
use site_rows::user::UserRow;
use types::{Capability, Role, Timestamp};

use super::fields;
use super::meta::Meta;
use super::{item_path, list_path, rights};

/// The user who was there first; until they name an own site, it is this one.
const FIRST_USER: i64 = 1;
/// The language of a site that named none.
const LOCALE: &str = "en_US";

/// The user in a view, without links.
pub(super) fn body(call: &Call<'_>, user: &UserRow, context: &str) -> Result<Value, Stop> {
    let meta = Meta::read(user)?;
    let mut fields = json!({
        "id": user.user_id,
        "username": user.login,
        "name": names::escaped(&user.display_name),
        "first_name": names::escaped(&user.first_name),
        "last_name": names::escaped(&user.last_name),
        "email": user.email,
        "url": url(call, user),
        "description": user.description,
        "link": link(call, user),
        "locale": locale(call, user),
        "nickname": names::escaped(&user.nickname),
        "slug": user.nicename,
        "roles": user.roles.iter().map(|role| role.name()).collect::<Vec<_>>(),
        "registered_date": format!("{}+00:00", date_time(user.registered)),
        "capabilities": capabilities(user),
        "extra_capabilities": extra_capabilities(user),
        "avatar_urls": avatar_urls(&user.email),
        "meta": if context == "edit" { meta.preferences() } else { json!([]) },
    });
    fields = fields::in_context(fields, context);
    if let Value::Object(members) = &mut fields {
        // Who looks after the site is nobody's business who may not see the users.
        let is_seen = call.can(Capability::ListUsers) || rights::may_edit(call, user);
        let is_super = is_seen && user.roles.contains(&Role::Administrator);
        members.insert(String::from("is_super_admin"), json!(is_super));
        let shop = if rights::may_edit(call, user) { meta.shop() } else { Meta::shop_hidden() };
        members.insert(String::from("woocommerce_meta"), shop);
    }
    Ok(fields)
}

pub(super) fn links(call: &Call<'_>, user: &UserRow) -> Links {
    Links::new()
        .to("self", call.visit.rest(&item_path(call, user.user_id)))
        .to("collection", call.visit.rest(&list_path(call)))
}

/// The user as an item of a list, with its links inside.
pub(super) fn listed(call: &Call<'_>, user: &UserRow, context: &str) -> Result<Value, Stop> {
    let mut body = body(call, user, context)?;
    if let (Value::Object(members), Some(links)) = (&mut body, links(call, user).into_value()) {
        members.insert(String::from("_links"), links);
    }
    Ok(body)
}

/// A moment in UTC as clients of this family write it, without a zone.
pub(crate) fn date_time(time: Timestamp) -> String {
    let moment = jiff::Timestamp::from_microsecond(time.as_micros()).unwrap_or_default();
    moment.strftime("%Y-%m-%dT%H:%M:%S").to_string()
}

pub(crate) fn url(call: &Call<'_>, user: &UserRow) -> String {
    if user.url.is_empty() && user.user_id == FIRST_USER {
        return call.visit.home.clone();
    }
    user.url.clone()
}

fn link(call: &Call<'_>, user: &UserRow) -> String {
    call.visit.page(&format!("/author/{}/", user.nicename))
}

fn locale(call: &Call<'_>, user: &UserRow) -> String {
    let of_the_site = || call.options().text("WPLANG");
    let chosen = if user.locale.is_empty() { of_the_site() } else { user.locale.clone() };
    if chosen.is_empty() { String::from(LOCALE) } else { chosen }
}

/// What the roles allow, and the roles themselves, which old clients take for capabilities.
fn capabilities(user: &UserRow) -> Value {
    let of_roles = user.roles.iter().flat_map(|role| role.capabilities());
    let mut all: Map<String, Value> =
        of_roles.map(|capability| (capability.name().to_owned(), json!(true))).collect();
    if let Value::Object(roles) = extra_capabilities(user) {
        all.extend(roles);
    }
    Value::Object(all)
}

fn extra_capabilities(user: &UserRow) -> Value {
    let roles = user.roles.iter().map(|role| (role.name().to_owned(), json!(true)));
    Value::Object(roles.collect())
}
