//! Who may read, write and moderate comments: it depends on what they are about.

use contract::rest::{Refusal, Stop};
use frame::Call;
use site_rows::comment::{self, CommentRow};
use site_rows::post::PostRow;
use types::{Capability, Result};

use super::APPROVED;
use crate::posts::{permit as of_posts, records, status};

const MODERATE: Capability = Capability::ModerateComments;
/// What only those who write may ask the list for, and what everybody gets.
const PROTECTED: [(&str, &str); 5] = [
    ("author", ""),
    ("author_exclude", ""),
    ("author_email", ""),
    ("type", "comment"),
    ("status", "approve"),
];

/// The comment that the parameter `id` names.
pub(super) fn comment_of(call: &mut Call<'_>) -> Result<CommentRow, Stop> {
    let id = call.params.int("id").unwrap_or_default();
    let found = if id > 0 { comment::get(call.conn()?, id)? } else { None };
    let missing = || Refusal::new(404, "rest_comment_invalid_id", "Invalid comment ID.");
    let found = found.ok_or_else(missing)?;
    if found.post_id != 0 && records::get(call, found.post_id)?.is_none() {
        return Err(of_posts::invalid_id().into());
    }
    Ok(found)
}

/// Whether the caller may read what comments are about. A password counts where one thing was
/// asked about, so that nobody tries it on many; so does what was typed on the page itself.
fn may_read_post(call: &Call<'_>, post: &PostRow) -> Result<bool, Stop> {
    let identity = &call.visit.identity;
    let lock = of_posts::lock_of(post);
    if !call.site.is_open_to(call.visit, &lock) {
        let one = call.params.ints("post").len() == 1 || call.params.path().contains_key("id");
        let password = call.params.text("password").filter(|text| one && !text.is_empty());
        let is_right = match password {
            Some(password) => call.opens(&lock, password)?,
            None => false,
        };
        if !is_right {
            return Ok(of_posts::may_edit(identity, post));
        }
    }
    Ok(of_posts::may_read(identity, post))
}

pub(super) fn may_read(call: &mut Call<'_>, row: &CommentRow) -> Result<bool, Stop> {
    let post = match row.post_id {
        0 => None,
        id => records::get(call, id)?,
    };
    if let Some(post) = &post
        && row.status == APPROVED
        && may_read_post(call, post)?
    {
        return Ok(true);
    }
    let user_id = call.user_id();
    if user_id == 0 || (row.post_id == 0 && !call.can(MODERATE)) {
        return Ok(false);
    }
    let own = row.user_id == user_id;
    Ok(own || may_edit_of(call, post.as_ref()))
}

/// Whether the caller may edit comments on this.
fn may_edit_of(call: &Call<'_>, post: Option<&PostRow>) -> bool {
    match post {
        Some(post) => of_posts::may_edit(&call.visit.identity, post),
        None => call.can(Capability::EditPosts),
    }
}

pub(super) fn may_edit(call: &mut Call<'_>, row: &CommentRow) -> Result<bool> {
    if call.user_id() == 0 {
        return Ok(false);
    }
    let post = records::get(call, row.post_id)?;
    Ok(call.can(MODERATE) || may_edit_of(call, post.as_ref()))
}

pub(super) fn list(call: &mut Call<'_>) -> Result<(), Stop> {
    for id in call.params.ints("post") {
        if id == 0 {
            let message = "You are not allowed to view comments without a post.";
            call.need(MODERATE, "rest_cannot_read", message)?;
        } else if let Some(post) = records::get(call, id)?
            && !may_read_post(call, &post)?
        {
            let message = "You are not allowed to view the post of this comment.";
            return Err(call.deny("rest_cannot_read_post", message).into());
        }
    }
    if call.params.text("context") == Some("edit") {
        let message = "You are not allowed to edit comments.";
        call.need(MODERATE, "rest_forbidden_context", message)?;
    }
    if call.can(Capability::EditPosts) {
        return Ok(());
    }
    let asked = |(name, usual): &(&str, &str)| {
        let text = call.params.text(name);
        if usual.is_empty() {
            return !call.params.ints(name).is_empty() || text.is_some_and(is_given);
        }
        text.is_some_and(|text| text != *usual)
    };
    let forbidden: Vec<&str> =
        PROTECTED.iter().filter(|entry| asked(entry)).map(|entry| entry.0).collect();
    if forbidden.is_empty() {
        return Ok(());
    }
    let message = format!("You are not allowed to ask for: {}.", forbidden.join(", "));
    Err(call.deny("rest_forbidden_param", message).into())
}

fn is_given(text: &str) -> bool {
    !text.is_empty()
}

pub(super) fn read(call: &mut Call<'_>) -> Result<(), Stop> {
    let row = comment_of(call)?;
    if call.params.text("context") == Some("edit") {
        let message = "You are not allowed to edit comments.";
        call.need(MODERATE, "rest_forbidden_context", message)?;
    }
    if !may_read(call, &row)? {
        let message = "You are not allowed to view this comment.";
        return Err(call.deny("rest_cannot_read", message).into());
    }
    if let Some(post) = records::get(call, row.post_id)?
        && !may_read_post(call, &post)?
    {
        let message = "You are not allowed to view the post of this comment.";
        return Err(call.deny("rest_cannot_read_post", message).into());
    }
    Ok(())
}

pub(super) fn create(call: &mut Call<'_>) -> Result<(), Stop> {
    if call.visit.identity.is_anonymous() {
        let message = "You must be signed in to comment.";
        return Err(Refusal::new(401, "rest_comment_login_required", message).into());
    }
    as_somebody_else(call)?;
    takes_comments(call)
}

/// Whether there is something to comment on, and it takes comments.
pub(super) fn takes_comments(call: &mut Call<'_>) -> Result<(), Stop> {
    let post = match call.params.int("post").unwrap_or_default() {
        0 => None,
        id => records::get(call, id)?,
    };
    let Some(post) = post else {
        let message = "A comment needs a post that it is about.";
        return Err(Refusal::new(403, "rest_comment_invalid_post_id", message).into());
    };
    let unfit = match post.status.as_str() {
        status::DRAFT => Some("rest_comment_draft_post"),
        status::TRASH => Some("rest_comment_trash_post"),
        _ => None,
    };
    if let Some(code) = unfit {
        let message = "You are not allowed to comment on this post.";
        return Err(Refusal::new(403, code, message).into());
    }
    if !may_read_post(call, &post)? {
        let message = "You are not allowed to view the post of this comment.";
        return Err(call.deny("rest_cannot_read_post", message).into());
    }
    if post.comment_status != "open" {
        let message = "This post takes no comments.";
        return Err(Refusal::new(403, "rest_comment_closed", message).into());
    }
    Ok(())
}

/// Writing in another's name or from another's address, and approving, are for moderators.
fn as_somebody_else(call: &Call<'_>) -> Result<(), Stop> {
    if call.can(MODERATE) {
        return Ok(());
    }
    let other = call.params.int("author").is_some_and(|author| author != call.user_id());
    let address = call.visit.client.address.to_string();
    let elsewhere = call.params.text("author_ip").is_some_and(|ip| ip != address);
    let code = if other {
        "rest_comment_invalid_author"
    } else if elsewhere {
        "rest_comment_invalid_author_ip"
    } else if call.params.get("status").is_some() {
        "rest_comment_invalid_status"
    } else {
        return Ok(());
    };
    Err(call.deny(code, "You are not allowed to set this for comments.").into())
}

pub(super) fn update(call: &mut Call<'_>) -> Result<(), Stop> {
    let row = comment_of(call)?;
    if may_edit(call, &row)? {
        return Ok(());
    }
    Err(call.deny("rest_cannot_edit", "You are not allowed to edit this comment.").into())
}

pub(super) fn delete(call: &mut Call<'_>) -> Result<(), Stop> {
    let row = comment_of(call)?;
    if may_edit(call, &row)? {
        return Ok(());
    }
    Err(call.deny("rest_cannot_delete", "You are not allowed to delete this comment.").into())
}
