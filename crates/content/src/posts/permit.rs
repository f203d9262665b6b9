//! Who may read, make, change and delete content: by capability, author and status.

use contract::rest::{Refusal, Stop};
use frame::lock::Lock;
use frame::{Call, Identity};
use site_rows::post::PostRow;
use types::Capability;

use super::kind::{Field, Kind, kind_of};
use super::{records, status};

/// The refusal of an id that is none of an item of this kind.
pub(crate) fn invalid_id() -> Refusal {
    Refusal::new(404, "rest_post_invalid_id", "Invalid item ID.")
}

/// The item that the parameter names.
pub(crate) fn item_of(
    call: &mut Call<'_>,
    kind: &Kind,
    parameter: &str,
    missing: fn() -> Refusal,
) -> Result<PostRow, Stop> {
    let id = call.params.int(parameter).filter(|id| *id > 0);
    let Some(id) = id else { return Err(missing().into()) };
    let found = records::get(call, id)?.filter(|row| row.kind == kind.name);
    found.ok_or_else(|| missing().into())
}

fn is_own(identity: &Identity, row: &PostRow) -> bool {
    identity.user.as_ref().is_some_and(|user| user.id() == row.author_id)
}

/// The status that counts: in the trash, the one from before.
fn status_of(row: &PostRow) -> &str {
    match &row.trashed_status {
        Some(before) if row.status == status::TRASH => before,
        _ => &row.status,
    }
}

struct Needs {
    own: Capability,
    others: Capability,
    published: Capability,
    private: Capability,
}

fn may_handle(identity: &Identity, row: &PostRow, needs: &Needs) -> bool {
    let status = status_of(row);
    let published = matches!(status, status::PUBLISH | status::FUTURE);
    if is_own(identity, row) {
        return identity.can(if published { needs.published } else { needs.own });
    }
    let further = match status {
        _ if published => identity.can(needs.published),
        status::PRIVATE => identity.can(needs.private),
        _ => true,
    };
    identity.can(needs.others) && further
}

pub(crate) fn may_edit(identity: &Identity, row: &PostRow) -> bool {
    let Some(kind) = kind_of(&row.kind) else { return false };
    let may = &kind.may;
    let (own, others) = (may.edit, may.edit_others);
    let needs = Needs { own, others, published: may.edit_published, private: may.edit_private };
    may_handle(identity, row, &needs)
}

pub(crate) fn may_delete(identity: &Identity, row: &PostRow) -> bool {
    let Some(kind) = kind_of(&row.kind) else { return false };
    let may = &kind.may;
    let (own, others) = (may.delete, may.delete_others);
    let needs = Needs { own, others, published: may.delete_published, private: may.delete_private };
    may_handle(identity, row, &needs)
}

/// Whether the item may be read at all; a password may still hide its content.
pub(crate) fn may_read(identity: &Identity, row: &PostRow) -> bool {
    let Some(kind) = kind_of(&row.kind) else { return false };
    if status::is_public(&row.status) {
        return kind.may.read.is_none_or(|needed| identity.can(needed));
    }
    if row.status == status::PRIVATE {
        let own = is_own(identity, row) && identity.can(Capability::Read);
        return own || identity.can(kind.may.read_private);
    }
    // What is unfinished is read by those who may work on it.
    (is_own(identity, row) && identity.can(Capability::Read)) || may_edit(identity, row)
}

/// Listing: the editor's view is for those who write.
pub(crate) fn list(call: &mut Call<'_>, kind: &Kind) -> Result<(), Stop> {
    if call.params.text("context") == Some("edit") {
        let message = "You are not allowed to edit items of this type.";
        call.need(kind.may.edit, "rest_forbidden_context", message)?;
    }
    Ok(())
}

pub(crate) fn read(call: &mut Call<'_>, kind: &Kind) -> Result<(), Stop> {
    let row = item_of(call, kind, "id", invalid_id)?;
    let identity = &call.visit.identity;
    if call.params.text("context") == Some("edit") && !may_edit(identity, &row) {
        let message = "You are not allowed to edit this item.";
        return Err(call.deny("rest_forbidden_context", message).into());
    }
    let is_typed = call.params.text("password").is_some_and(|text| !text.is_empty());
    if is_typed && !is_told(call, &row)? {
        let message = "Incorrect password.";
        return Err(Refusal::new(403, "rest_post_incorrect_password", message).into());
    }
    if may_read(identity, &row) { Ok(()) } else { Err(call.forbidden().into()) }
}

/// Whether the caller brings the item's password. What has none is not guessed at.
pub(crate) fn is_told(call: &Call<'_>, row: &PostRow) -> Result<bool, Stop> {
    let lock = lock_of(row);
    match call.params.text("password") {
        Some(typed) if lock.is_set() && !typed.is_empty() => call.opens(&lock, typed),
        _ => Ok(false),
    }
}

/// What keeps the item's content from those who do not know its password.
pub(crate) fn lock_of(row: &PostRow) -> Lock {
    Lock::new("post", row.post_id, &row.password)
}

pub(crate) fn create(call: &mut Call<'_>, kind: &Kind) -> Result<(), Stop> {
    if call.params.int("id").is_some_and(|id| id != 0) {
        let message = "The ID of a new item cannot be set.";
        return Err(Refusal::new(400, "rest_post_exists", message).into());
    }
    as_others(call, kind)?;
    call.need(
        kind.may.create,
        "rest_cannot_create",
        "You are not allowed to create items of this type.",
    )?;
    terms(call, kind)
}

pub(crate) fn update(call: &mut Call<'_>, kind: &Kind) -> Result<(), Stop> {
    let row = item_of(call, kind, "id", invalid_id)?;
    if !may_edit(&call.visit.identity, &row) {
        let message = "You are not allowed to edit this item.";
        return Err(call.deny("rest_cannot_edit", message).into());
    }
    as_others(call, kind)?;
    terms(call, kind)
}

pub(crate) fn delete(call: &mut Call<'_>, kind: &Kind) -> Result<(), Stop> {
    let row = item_of(call, kind, "id", invalid_id)?;
    if may_delete(&call.visit.identity, &row) {
        return Ok(());
    }
    Err(call.deny("rest_cannot_delete", "You are not allowed to delete this item.").into())
}

/// Writing in another's name, or putting a post on top.
fn as_others(call: &Call<'_>, kind: &Kind) -> Result<(), Stop> {
    let author = call.params.int("author").filter(|author| *author != 0);
    if author.is_some_and(|author| author != call.user_id()) {
        let message = "You are not allowed to create items as this user.";
        call.need(kind.may.edit_others, "rest_cannot_edit_others", message)?;
    }
    let sticky = kind.has(Field::Sticky) && call.params.flag("sticky");
    if sticky && !call.can(kind.may.edit_others) && !call.can(kind.may.publish) {
        let message = "You are not allowed to make items sticky.";
        return Err(call.deny("rest_cannot_assign_sticky", message).into());
    }
    Ok(())
}

fn terms(call: &Call<'_>, kind: &Kind) -> Result<(), Stop> {
    for taxonomy in kind.taxonomies {
        if !call.params.ints(taxonomy.base).is_empty() {
            let message = "You are not allowed to use these terms.";
            call.need(taxonomy.assign, "rest_cannot_assign_term", message)?;
        }
    }
    Ok(())
}
