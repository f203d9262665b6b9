//! Who may see, upload, change and delete files: as with posts of the status that the item has from
//! what it is attached to.

use contract::rest::{Refusal, Stop};
use frame::Call;
use frame::library::item::STATUS;
use site_rows::media::{self, MediaRow};
use site_rows::post::{self, PostRow};
use types::Capability;

use crate::posts::kind::{POST, kind_of};
use crate::posts::{permit as posts, status};

/// The item that the parameter `id` names.
pub(super) fn item_of(call: &mut Call<'_>) -> Result<(PostRow, MediaRow), Stop> {
    let id = call.params.int("id").filter(|id| *id > 0);
    let Some(id) = id else { return Err(posts::invalid_id().into()) };
    let found = post::get(call.conn()?, id)?.filter(|row| row.kind == media::KIND);
    let media = media::get(call.conn()?, id)?;
    found.zip(media).ok_or_else(|| posts::invalid_id().into())
}

/// What the item is attached to, if that is there.
pub(super) fn parent_of(call: &mut Call<'_>, row: &PostRow) -> Result<Option<PostRow>, Stop> {
    if row.parent_id == 0 {
        return Ok(None);
    }
    Ok(post::get(call.conn()?, row.parent_id)?)
}

/// The item as a post of the status that it has from its parent.
fn as_post(row: &PostRow, parent: Option<&PostRow>) -> PostRow {
    let inherited = match parent {
        Some(parent) if kind_of(&parent.kind).is_some() => parent.status.as_str(),
        _ => status::PUBLISH,
    };
    let status = if row.status == STATUS { inherited } else { &row.status };
    PostRow { kind: POST.name.to_owned(), status: status.to_owned(), ..row.clone() }
}

pub(super) fn may_edit(call: &mut Call<'_>, row: &PostRow) -> Result<bool, Stop> {
    let parent = parent_of(call, row)?;
    Ok(posts::may_edit(&call.visit.identity, &as_post(row, parent.as_ref())))
}

pub(super) fn may_read(call: &mut Call<'_>, row: &PostRow) -> Result<bool, Stop> {
    let parent = parent_of(call, row)?;
    let identity = &call.visit.identity;
    let by_parent = parent.as_ref().is_some_and(|parent| posts::may_read(identity, parent));
    Ok(by_parent || posts::may_read(identity, &as_post(row, parent.as_ref())))
}

pub(super) fn list(call: &mut Call<'_>) -> Result<(), Stop> {
    posts::list(call, &POST)
}

pub(super) fn read(call: &mut Call<'_>) -> Result<(), Stop> {
    let (row, _) = item_of(call)?;
    if call.params.text("context") == Some("edit") && !may_edit(call, &row)? {
        let message = "You are not allowed to edit this item.";
        return Err(call.deny("rest_forbidden_context", message).into());
    }
    if may_read(call, &row)? { Ok(()) } else { Err(call.forbidden().into()) }
}

pub(super) fn create(call: &mut Call<'_>) -> Result<(), Stop> {
    if call.params.int("id").is_some_and(|id| id != 0) {
        let message = "The ID of a new item cannot be set.";
        return Err(Refusal::new(400, "rest_post_exists", message).into());
    }
    as_others(call)?;
    let message = "You are not allowed to upload files.";
    call.need(Capability::UploadFiles, "rest_cannot_create", message)?;
    attach(call)
}

pub(super) fn update(call: &mut Call<'_>) -> Result<(), Stop> {
    let (row, _) = item_of(call)?;
    if !may_edit(call, &row)? {
        let message = "You are not allowed to edit this item.";
        return Err(call.deny("rest_cannot_edit", message).into());
    }
    as_others(call)?;
    attach(call)
}

pub(super) fn edit_image(call: &mut Call<'_>) -> Result<(), Stop> {
    let message = "You are not allowed to upload files.";
    call.need(Capability::UploadFiles, "rest_cannot_edit_image", message)?;
    update(call)
}

pub(super) fn delete(call: &mut Call<'_>) -> Result<(), Stop> {
    let (row, _) = item_of(call)?;
    let parent = parent_of(call, &row)?;
    if posts::may_delete(&call.visit.identity, &as_post(&row, parent.as_ref())) {
        return Ok(());
    }
    Err(call.deny("rest_cannot_delete", "You are not allowed to delete this item.").into())
}

/// Uploading in another's name.
fn as_others(call: &Call<'_>) -> Result<(), Stop> {
    let author = call.params.int("author").filter(|author| *author != 0);
    if author.is_some_and(|author| author != call.user_id()) {
        let message = "You are not allowed to create items as this user.";
        call.need(POST.may.edit_others, "rest_cannot_edit_others", message)?;
    }
    Ok(())
}

/// What a file is attached to must be the caller's to edit; files are not attached to files.
fn attach(call: &mut Call<'_>) -> Result<(), Stop> {
    let Some(parent_id) = call.params.int("post").filter(|id| *id > 0) else { return Ok(()) };
    let Some(parent) = post::get(call.conn()?, parent_id)? else { return Ok(()) };
    if parent.kind == media::KIND {
        let message = "A file cannot be attached to a file.";
        return Err(Refusal::new(400, "rest_invalid_param", message).into());
    }
    if kind_of(&parent.kind).is_some() && !posts::may_edit(&call.visit.identity, &parent) {
        let message = "You are not allowed to attach files to this item.";
        return Err(call.deny("rest_cannot_edit", message).into());
    }
    Ok(())
}
