//! Deleting users. Their credentials and sessions go with them; their posts go to somebody else or
//! to the trash, where they can be rescued.

use contract::rest::{Refusal, Reply, Stop};
use frame::Call;
use frame::users::remove_user;
use serde_json::{Value, json};
use site_rows::user::UserRow;

use super::{named, oneself, rights, view};

pub(super) fn may_delete(call: &mut Call<'_>) -> Result<(), Stop> {
    let user = named(call)?;
    may_delete_user(call, &user)
}

pub(super) fn may_delete_me(call: &mut Call<'_>) -> Result<(), Stop> {
    let user = oneself(call)?;
    may_delete_user(call, &user)
}

fn may_delete_user(call: &Call<'_>, user: &UserRow) -> Result<(), Stop> {
    if rights::may_delete(call, user) {
        return Ok(());
    }
    Err(call.deny("rest_user_cannot_delete", "You are not allowed to delete this user.").into())
}

pub(super) fn delete(call: &mut Call<'_>) -> Result<Reply, Stop> {
    let user = named(call)?;
    delete_user(call, &user)
}

pub(super) fn delete_me(call: &mut Call<'_>) -> Result<Reply, Stop> {
    let user = oneself(call)?;
    delete_user(call, &user)
}

fn delete_user(call: &mut Call<'_>, user: &UserRow) -> Result<Reply, Stop> {
    if !call.params.flag("force") {
        let message = "Users cannot be moved to the trash; set force to delete this user \
                       permanently.";
        return Err(Refusal::new(501, "rest_trash_not_supported", message).into());
    }
    let heir = heir(call, user)?;
    let previous = view::body(call, user, "edit")?;
    remove_user(call, user, heir)?;
    Ok(Reply::new(json!({ "deleted": true, "previous": previous })))
}

/// The user who gets the posts, if anybody does.
fn heir(call: &mut Call<'_>, user: &UserRow) -> Result<Option<i64>, Stop> {
    let reassign = match call.params.get("reassign") {
        Some(Value::Bool(_)) | None => return Ok(None),
        Some(_) => call.params.int("reassign").unwrap_or_default().saturating_abs(),
    };
    if reassign == 0 {
        return Ok(None);
    }
    let exists = site_rows::user::get(call.conn()?, reassign)?.is_some();
    if exists && reassign != user.user_id {
        return Ok(Some(reassign));
    }
    let message = "Reassign posts to another existing user.";
    Err(Refusal::new(400, "rest_user_invalid_reassign", message).into())
}
