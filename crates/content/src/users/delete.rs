//! Deleting users. Their credentials and sessions go with them; their posts go to somebody else or
//! to the trash, where they can be rescued.

use contract::rest::{Refusal, Reply, Stop};
use serde_json::{Value, json};
use store::filter::Page;
use store::post::PostFilter;
use store::user::UserRow;

use super::{named, oneself, rights, view};
use crate::Call;

/// Posts handled at a time.
const POSTS_AT_A_TIME: i64 = 500;
const TRASH: &str = "trash";

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
        let message = "Users have no trash; set force=true to delete this one for good.";
        return Err(Refusal::new(501, "rest_trash_not_supported", message).into());
    }
    let heir = heir(call, user)?;
    let previous = view::body(call, user, "edit")?;
    remove_user(call, user, heir)?;
    Ok(Reply::new(json!({ "deleted": true, "previous": previous })))
}

/// Deletes the user with their credentials and sessions. Their posts go to the heir, or else to the
/// trash. The last administrator stays.
pub fn remove_user(call: &mut Call<'_>, user: &UserRow, heir: Option<i64>) -> Result<(), Stop> {
    rights::keep_an_administrator(call, user)?;
    match heir {
        Some(heir) => hand_over_posts(call, user.user_id, heir)?,
        None => trash_posts(call, user.user_id)?,
    }
    store::user::delete(call.conn()?, user.user_id)?;
    Ok(())
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
    let exists = store::user::get(call.conn()?, reassign)?.is_some();
    if exists && reassign != user.user_id {
        return Ok(Some(reassign));
    }
    let message = "Name another user who exists and gets the posts.";
    Err(Refusal::new(400, "rest_user_invalid_reassign", message).into())
}

fn hand_over_posts(call: &mut Call<'_>, user_id: i64, heir: i64) -> Result<(), Stop> {
    loop {
        // Those that were handed over are not found again.
        let page = Page { offset: 0, limit: POSTS_AT_A_TIME };
        let wanted = PostFilter { authors: vec![user_id], page, ..PostFilter::default() };
        let (posts, _) = store::post::list(call.conn()?, &wanted)?;
        if posts.is_empty() {
            return Ok(());
        }
        for mut post in posts {
            post.author_id = heir;
            store::post::update(call.conn()?, &post)?;
        }
    }
}

fn trash_posts(call: &mut Call<'_>, user_id: i64) -> Result<(), Stop> {
    let now = call.now();
    let mut offset = 0;
    loop {
        let page = Page { offset, limit: POSTS_AT_A_TIME };
        let wanted = PostFilter { authors: vec![user_id], page, ..PostFilter::default() };
        let (posts, _) = store::post::list(call.conn()?, &wanted)?;
        if posts.is_empty() {
            return Ok(());
        }
        for mut post in posts.into_iter().filter(|post| post.status != TRASH) {
            post.trashed_status = Some(std::mem::replace(&mut post.status, TRASH.to_owned()));
            post.trashed = Some(now);
            store::post::update(call.conn()?, &post)?;
        }
        offset += POSTS_AT_A_TIME;
    }
}
