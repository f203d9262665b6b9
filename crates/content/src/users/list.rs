//! The list of users. Those who may not list users see the authors of what is published.

use contract::rest::{Reply, Stop};
use db::filter::{Direction, Page};
use frame::{Call, paging};
use serde_json::Value;
use site_rows::user::{UserColumn, UserFilter, UserOrder};
use types::{Capability, Role};

use super::fields::PUBLIC_KINDS;
use super::{list_path, rights, view};

pub(super) fn may_list(call: &mut Call<'_>) -> Result<(), Stop> {
    let (params, lists) = (&call.params, call.can(Capability::ListUsers));
    let filters = ["roles", "capabilities"];
    if !lists && filters.iter().any(|name| !params.texts(name).is_empty()) {
        let message = "You are not allowed to filter users by role or capability.";
        return Err(call.deny("rest_user_cannot_view", message).into());
    }
    if !lists && call.context() == "edit" {
        let message = "You are not allowed to list users for editing.";
        return Err(call.deny("rest_forbidden_context", message).into());
    }
    if !lists && matches!(params.text("orderby"), Some("email" | "registered_date")) {
        let message = "You are not allowed to order users by this.";
        return Err(call.deny("rest_forbidden_orderby", message).into());
    }
    let writes = [Capability::EditPosts, Capability::EditPages, Capability::EditProducts];
    if params.text("who") == Some("authors") && !writes.iter().any(|what| call.can(*what)) {
        let message = "You are not allowed to list authors.";
        return Err(call.deny("rest_forbidden_who", message).into());
    }
    Ok(())
}

pub(super) fn list(call: &mut Call<'_>) -> Result<Reply, Stop> {
    let (users, total) = match filter(call) {
        Some(filter) => site_rows::user::list(call.conn()?, &filter)?,
        None => (Vec::new(), 0),
    };
    let context = call.context();
    let mut items = Vec::with_capacity(users.len());
    for user in &users {
        if context == "edit" && !rights::may_edit(call, user) {
            continue;
        }
        items.push(view::listed(call, user, &context)?);
    }
    let path = list_path(call);
    Ok(paging::with_totals(Reply::new(Value::Array(items)), call, &path, total))
}

/// What the parameters ask for; nothing if nobody can match.
fn filter(call: &Call<'_>) -> Option<UserFilter> {
    let params = &call.params;
    let is_descending = params.text("order") == Some("desc");
    let direction = if is_descending { Direction::Descending } else { Direction::Ascending };
    Some(UserFilter {
        search: search(call),
        include: params.ints("include"),
        exclude: params.ints("exclude"),
        roles: roles(call)?,
        nicenames: params.texts("slug"),
        published_kinds: published_kinds(call),
        order: order(call),
        direction,
        page: page(call),
        ..UserFilter::default()
    })
}

fn page(call: &Call<'_>) -> Page {
    let number = |name: &str| call.params.int(name).unwrap_or(1).max(1);
    let limit = number("per_page");
    let offset = match call.params.int("offset") {
        Some(offset) if offset != 0 => offset.max(0),
        _ => (number("page") - 1).saturating_mul(limit),
    };
    Page { offset, limit: if call.leaves_out_items() { 0 } else { limit } }
}

fn order(call: &Call<'_>) -> UserOrder {
    match call.params.text("orderby") {
        Some("id") => UserOrder::Id,
        Some("include") => UserOrder::Include,
        Some("registered_date") => UserOrder::Registered,
        Some("slug") => UserOrder::Nicename,
        Some("include_slugs") => UserOrder::IncludeNicenames,
        Some("email") => UserOrder::Email,
        Some("url") => UserOrder::Url,
        _ => UserOrder::DisplayName,
    }
}

/// The roles of which a user must have one, as `roles`, `capabilities` and `who` ask for it; an
/// empty list asks for nothing, and nothing says that no role will do.
fn roles(call: &Call<'_>) -> Option<Vec<Role>> {
    let mut wanted: Option<Vec<Role>> = None;
    let mut narrow = |fitting: &dyn Fn(Role) -> bool| {
        let candidates = wanted.take().unwrap_or_else(|| Role::ALL.to_vec());
        wanted = Some(candidates.into_iter().filter(|role| fitting(*role)).collect());
    };
    let names = call.params.texts("roles");
    if !names.is_empty() {
        narrow(&|role| names.iter().any(|name| name == role.name()));
    }
    let capabilities = call.params.texts("capabilities");
    if !capabilities.is_empty() {
        let parsed: Vec<Capability> =
            capabilities.iter().filter_map(|name| name.parse().ok()).collect();
        narrow(&|role| parsed.iter().any(|capability| role.may(*capability)));
    }
    if call.params.text("who") == Some("authors") {
        narrow(&|role| role.may(Capability::EditPosts));
    }
    match wanted {
        Some(roles) if roles.is_empty() => None,
        roles => Some(roles.unwrap_or_default()),
    }
}

/// The kinds of which a user must have published something.
fn published_kinds(call: &Call<'_>) -> Vec<String> {
    let public = || PUBLIC_KINDS.iter().map(|kind| (*kind).to_owned()).collect();
    match call.params.get("has_published_posts") {
        Some(Value::Bool(true)) => return public(),
        Some(Value::Array(kinds)) if !kinds.is_empty() => {
            return call.params.texts("has_published_posts");
        }
        _ => {}
    }
    let asks_for_authors = call.params.text("who") == Some("authors");
    if asks_for_authors || call.can(Capability::ListUsers) { Vec::new() } else { public() }
}

/// The text, and where it is looked for. Addresses are searched only by those who may see them.
fn search(call: &Call<'_>) -> Option<(String, Vec<UserColumn>)> {
    let text = call.params.text("search").filter(|text| !text.is_empty())?;
    let lists = call.can(Capability::ListUsers);
    let chosen = call.params.texts("search_columns");
    let mut columns: Vec<UserColumn> = chosen.iter().filter_map(|name| column(name)).collect();
    columns.retain(|column| lists || *column != UserColumn::Email);
    if !columns.is_empty() {
        return Some((text.to_owned(), columns));
    }
    Some((text.to_owned(), usual_columns(text, lists).to_vec()))
}

/// Where a text is looked for when nobody says where.
fn usual_columns(text: &str, lists: bool) -> &'static [UserColumn] {
    use UserColumn::{DisplayName, Email, Id, Login, Nicename, Url};
    if !lists {
        return &[Id, Login, Nicename, DisplayName];
    }
    match text {
        text if text.contains('@') => &[Email],
        text if is_number(text) => &[Login, Id],
        text if text.starts_with("http://") || text.starts_with("https://") => &[Url],
        _ => &[Login, Url, Email, Nicename, DisplayName],
    }
}

fn is_number(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit())
}

fn column(name: &str) -> Option<UserColumn> {
    Some(match name {
        "id" => UserColumn::Id,
        "username" => UserColumn::Login,
        "slug" => UserColumn::Nicename,
        "email" => UserColumn::Email,
        "name" => UserColumn::DisplayName,
        _ => return None,
    })
}
