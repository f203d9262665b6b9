//! The revisions of items: read and deleted by those who may edit the item.

use std::sync::Arc;

use contract::rest::route::{DELETE, READ, Route};
use contract::rest::{Args, Item, Refusal, Reply, Schema, Stop};
use db::filter::Direction;
use frame::action::{Action, read, write};
use frame::{Call, paging};
use serde_json::json;
use site_rows::post::PostRow;
use site_rows::revision::{self, RevisionRow};

use super::versions::{Version, Versions, invalid_parent};
use super::{list, permit, schema};

/// Routes to list, read and delete the revisions of a kind.
pub(crate) fn routes(versions: &Arc<Versions>) -> Vec<Route<Action>> {
    let item = &versions.item;
    let parent_arg = parent_arg(versions);
    let about = "Must be true: revisions have no trash.";
    let delete_args = parent_arg.clone().with(schema::delete_args(about));
    let deleted = Arc::clone(versions);
    let of_permit = Arc::clone(versions);
    let may_delete = move |call: &mut Call<'_>| permit_delete(&of_permit, call);
    let [all, one] = reading_routes(versions, parent_arg.with(list_args(item)));
    let one = one
        .on(
            DELETE,
            delete_args,
            write(may_delete, move |call: &mut Call<'_>| delete_one(&deleted, call)),
        )
        .notes_deletion()
        .refuses_with(&[501]);
    vec![all, one]
}

pub(crate) fn parent_arg(versions: &Versions) -> Args {
    Args::new().arg("parent", (versions.naming.schema)().about("Name of the item."))
}

/// Routes to list and read the revisions of a kind.
pub(crate) fn reading_routes(versions: &Arc<Versions>, list_args: Args) -> [Route<Action>; 2] {
    let item = &versions.item;
    let (all, one) = (Arc::clone(versions), Arc::clone(versions));
    let may_read = |versions: &Arc<Versions>| {
        let versions = Arc::clone(versions);
        move |call: &mut Call<'_>| versions.readable_parent(call, "parent").map(drop)
    };
    let read_args = parent_arg(versions).with(schema::id_args()).arg("context", item.context_arg());
    let base = versions.pattern("parent", "revisions");
    [
        Route::at(&versions.namespace, &base)
            .on(
                READ,
                list_args,
                read(may_read(versions), move |call: &mut Call<'_>| list_all(&all, call)),
            )
            .schema(item.document()),
        Route::at(&versions.namespace, &format!("{base}/(?P<id>[\\d]+)"))
            .on(
                READ,
                read_args,
                read(may_read(versions), move |call: &mut Call<'_>| read_one(&one, call)),
            )
            .schema(item.document()),
    ]
}

fn list_args(item: &Item) -> Args {
    let orders = ["date", "id", "include", "relevance", "slug", "include_slugs", "title"];
    let direction = Schema::text().about("Direction of the order.").default("desc");
    schema::page_args(item)
        .revise("per_page", |size| size.without("default"))
        .arg("exclude", schema::ids("None of these ids."))
        .arg("include", schema::ids("Only these ids."))
        .arg("offset", Schema::integer().about("Revisions to leave out at the start."))
        .arg("order", direction.choices(&["asc", "desc"]))
        .arg("orderby", Schema::text().about("What to sort by.").default("date").choices(&orders))
}

fn permit_delete(versions: &Versions, call: &mut Call<'_>) -> Result<(), Stop> {
    let parent = versions.parent(call, "parent", invalid_parent)?;
    revision_of(call, &parent)?;
    versions.readable_parent(call, "parent")?;
    if permit::may_delete(&call.visit.identity, &parent) {
        return Ok(());
    }
    let message = "You are not allowed to delete the revisions of this item.";
    Err(call.deny("rest_cannot_delete", message).into())
}

fn revision_of(call: &mut Call<'_>, parent: &PostRow) -> Result<RevisionRow, Stop> {
    let missing = || Refusal::new(404, "rest_post_invalid_id", "Invalid revision ID.");
    let id = call.params.int("id").unwrap_or_default();
    let found = revision::get(call.conn()?, id)?.ok_or_else(missing)?;
    if found.post_id != parent.post_id {
        let message = "The revision is one of another item.";
        let refusal = Refusal::new(404, "rest_revision_parent_id_mismatch", message);
        return Err(refusal.into());
    }
    Ok(found)
}

fn list_all(versions: &Versions, call: &mut Call<'_>) -> Result<Reply, Stop> {
    let parent = versions.readable_parent(call, "parent")?;
    let found = matching(revision::of_post(call.conn()?, parent.post_id)?, call);
    let total = i64::try_from(found.len()).unwrap_or(i64::MAX);
    let whole = call.params.int("per_page").is_none();
    let page = list::page(&call.params);
    let (offset, limit) = if whole {
        (call.params.int("offset").unwrap_or(0).max(0), total)
    } else {
        (page.offset, page.limit)
    };
    if total > 0 && offset >= total {
        let given = call.params.int("offset").is_some_and(|offset| offset > 0);
        let (code, message) = if given {
            ("rest_revision_invalid_offset_number", "Exclude fewer revisions.")
        } else {
            ("rest_revision_invalid_page_number", "The page number exceeds the number of pages.")
        };
        return Err(Refusal::new(400, code, message).into());
    }
    let context = call.context();
    let skip = usize::try_from(offset).unwrap_or(usize::MAX);
    let take = usize::try_from(limit).unwrap_or(usize::MAX);
    let mut items = Vec::new();
    for row in found.iter().skip(skip).take(take) {
        let version = Version::from(row.clone());
        let (mut fields, links) =
            versions.prepare(call, (&parent, &version), Vec::new(), &context)?;
        if let (Some(links), Some(members)) = (links.into_value(), fields.as_object_mut()) {
            members.insert(String::from("_links"), links);
        }
        items.push(fields);
    }
    let path = format!("{}/revisions", versions.path_of(&parent));
    if whole {
        call.params.set("per_page", json!(total.max(1)));
    }
    let reply = paging::with_totals(Reply::new(items), call, &path, total);
    Ok(reply)
}

/// A post has few revisions, so that they are chosen and sorted here.
fn matching(mut rows: Vec<RevisionRow>, call: &Call<'_>) -> Vec<RevisionRow> {
    let (include, exclude) = (call.params.ints("include"), call.params.ints("exclude"));
    let words = call.params.text("search").unwrap_or_default().to_lowercase();
    rows.retain(|row| {
        let texts = [&row.title, &row.content, &row.excerpt].map(|text| text.to_lowercase());
        let found =
            words.split_whitespace().all(|word| texts.iter().any(|text| text.contains(word)));
        found
            && (include.is_empty() || include.contains(&row.revision_id))
            && !exclude.contains(&row.revision_id)
    });
    let place = |row: &RevisionRow| include.iter().position(|id| *id == row.revision_id);
    match call.params.text("orderby") {
        Some("title") => rows.sort_by(|a, b| a.title.cmp(&b.title)),
        Some("include") => rows.sort_by_key(place),
        _ => rows.sort_by_key(|row| (row.date, row.revision_id)),
    }
    if list::direction(&call.params) == Direction::Descending {
        rows.reverse();
    }
    rows
}

fn read_one(versions: &Versions, call: &mut Call<'_>) -> Result<Reply, Stop> {
    let parent = versions.readable_parent(call, "parent")?;
    let row = revision_of(call, &parent)?;
    let context = call.context();
    let version = Version::from(row);
    let (fields, links) = versions.prepare(call, (&parent, &version), Vec::new(), &context)?;
    Ok(Reply::new(fields).links(links))
}

fn delete_one(versions: &Versions, call: &mut Call<'_>) -> Result<Reply, Stop> {
    let parent = versions.readable_parent(call, "parent")?;
    let row = revision_of(call, &parent)?;
    if !call.params.flag("force") {
        let message = "Revisions cannot be moved to the trash; set force to delete one.";
        return Err(Refusal::new(501, "rest_trash_not_supported", message).into());
    }
    let version = Version::from(row);
    let (previous, _) = versions.prepare(call, (&parent, &version), Vec::new(), "view")?;
    revision::delete(call.conn()?, version.row.revision_id)?;
    Ok(Reply::new(json!({ "deleted": true, "previous": previous })))
}
