//! Looking at one user. Users who published something are public; the others are seen by
//! themselves and by those who may list or change users.

use contract::rest::{Reply, Stop};
use db::filter::Page;
use frame::Call;
use site_rows::user::{UserFilter, UserRow};
use types::Capability;

use super::fields::PUBLIC_KINDS;
use super::{linked, named, not_logged_in, oneself, rights, view};

pub(super) fn may_get(call: &mut Call<'_>) -> Result<(), Stop> {
    let user = named(call)?;
    if rights::is_oneself(call, &user) {
        return Ok(());
    }
    let may_edit = rights::may_edit(call, &user);
    if call.context() == "edit" && !may_edit {
        let message = "You are not allowed to edit this user.";
        return Err(call.deny("rest_forbidden_context", message).into());
    }
    if may_edit || call.can(Capability::ListUsers) || has_published(call, &user)? {
        return Ok(());
    }
    Err(call.deny("rest_user_cannot_view", "You are not allowed to list users.").into())
}

pub(super) fn get(call: &mut Call<'_>) -> Result<Reply, Stop> {
    let user = named(call)?;
    shown(call, &user)
}

pub(super) fn get_me(call: &mut Call<'_>) -> Result<Reply, Stop> {
    if call.user().is_none() {
        return Err(not_logged_in().into());
    }
    let user = oneself(call)?;
    shown(call, &user)
}

fn shown(call: &Call<'_>, user: &UserRow) -> Result<Reply, Stop> {
    let body = view::body(call, user, &call.context())?;
    Ok(linked(Reply::new(body), call, view::links(call, user)))
}

fn has_published(call: &mut Call<'_>, user: &UserRow) -> Result<bool, Stop> {
    let published = UserFilter {
        include: vec![user.user_id],
        published_kinds: PUBLIC_KINDS.iter().map(|kind| (*kind).to_owned()).collect(),
        page: Page { offset: 0, limit: 1 },
        ..UserFilter::default()
    };
    let (found, _) = site_rows::user::list(call.conn()?, &published)?;
    Ok(!found.is_empty())
}
