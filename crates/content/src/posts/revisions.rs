//! The revisions of posts and pages: read and deleted by those who may edit the item.

use std::sync::Arc;

use contract::rest::route::{DELETE, READ, Route};
use contract::rest::{Args, CompiledItem, Item, Links, Refusal, Reply, Schema, Stop};
use db::filter::Direction;
use frame::action::{Action, read, write};
use frame::text::render;
use frame::{Call, dates, paging};
use serde_json::{Value, json};
use site_rows::post::PostRow;
use site_rows::revision::{self, RevisionRow};

use super::item::Collection;
use super::kind::Kind;
use super::schema::{ALL, FULL};
use super::{list, permit, schema};

/// What the operations on revisions of one kind share.
#[derive(Debug)]
struct Revisions {
    parent: Arc<Collection>,
    item: CompiledItem,
}

pub(super) fn routes(parent: &Arc<Collection>) -> Vec<Route<Action>> {
    let item = item(parent.kind);
    let compiled = item.compile().expect("the schema of a revision is well formed");
    let collection = Arc::new(Revisions { parent: Arc::clone(parent), item: compiled });
    let base = format!("/{}/(?P<parent>[\\d]+)/revisions", parent.kind.base);
    let parent_arg = Args::new().arg("parent", Schema::integer().about("Item ID."));
    let (all, one, gone) =
        (Arc::clone(&collection), Arc::clone(&collection), Arc::clone(&collection));
    let may_read = |collection: &Arc<Revisions>| {
        let collection = Arc::clone(collection);
        move |call: &mut Call<'_>| permit_read(&collection, call).map(drop)
    };
    let may_delete = {
        let collection = Arc::clone(&collection);
        move |call: &mut Call<'_>| permit_delete(&collection, call)
    };
    let read_args = parent_arg.clone().with(schema::id_args()).arg("context", item.context_arg());
    let about = "Must be true: revisions have no trash.";
    let delete_args = parent_arg.clone().with(schema::delete_args(about));
    vec![
        Route::at(&parent.namespace, &base)
            .on(
                READ,
                parent_arg.with(list_args(&item)),
                read(may_read(&collection), move |call: &mut Call<'_>| list_all(&all, call)),
            )
            .schema(item.document()),
        Route::at(&parent.namespace, &format!("{base}/(?P<id>[\\d]+)"))
            .on(
                READ,
                read_args,
                read(may_read(&collection), move |call: &mut Call<'_>| read_one(&one, call)),
            )
            .on(
                DELETE,
                delete_args,
                write(may_delete, move |call: &mut Call<'_>| delete_one(&gone, call)),
            )
            .notes_deletion()
            .refuses_with(&[501])
            .schema(item.document()),
    ]
}

fn item(kind: &Kind) -> Item {
    let date = |about: &str| Schema::date_time().about(about);
    let number = |about: &str| Schema::integer().about(about).context(ALL);
    let mut fields = vec![
        ("author", number("Id of the user who made the change.")),
        ("date", date("When it was kept, in the site's time.").context(ALL)),
        ("date_gmt", date("When it was kept, in UTC.").context(FULL)),
        ("guid", schema::guid()),
        ("id", number("Its number on the site.")),
        ("modified", date("When it was kept, in the site's time.").context(FULL)),
        ("modified_gmt", date("When it was kept, in UTC.").context(FULL)),
        ("parent", number("Id of the item that it is a revision of.")),
        ("slug", Schema::text().about("Its name.").context(ALL)),
    ];
    fields.extend(schema::texts_of(kind));
    Item::new(&format!("{}-revision", kind.name), Schema::object(fields))
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

fn invalid_parent() -> Refusal {
    Refusal::new(404, "rest_post_invalid_parent", "Invalid item ID.")
}

fn permit_read(collection: &Revisions, call: &mut Call<'_>) -> Result<PostRow, Stop> {
    let parent = permit::item_of(call, collection.parent.kind, "parent", invalid_parent)?;
    if permit::may_edit(&call.visit.identity, &parent) {
        return Ok(parent);
    }
    let message = "You are not allowed to view the revisions of this item.";
    Err(call.deny("rest_cannot_read", message).into())
}

fn permit_delete(collection: &Revisions, call: &mut Call<'_>) -> Result<(), Stop> {
    let parent = permit::item_of(call, collection.parent.kind, "parent", invalid_parent)?;
    revision_of(call, &parent)?;
    permit_read(collection, call)?;
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

fn list_all(collection: &Revisions, call: &mut Call<'_>) -> Result<Reply, Stop> {
    let parent = permit_read(collection, call)?;
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
        let (mut fields, links) = prepare(collection, call, row, &context);
        if let (Some(links), Some(members)) = (links.into_value(), fields.as_object_mut()) {
            members.insert(String::from("_links"), links);
        }
        items.push(fields);
    }
    let path = format!("{}/revisions", collection.parent.path_of(parent.post_id));
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

fn read_one(collection: &Revisions, call: &mut Call<'_>) -> Result<Reply, Stop> {
    let parent = permit_read(collection, call)?;
    let row = revision_of(call, &parent)?;
    let context = call.context();
    let (fields, links) = prepare(collection, call, &row, &context);
    Ok(Reply::new(fields).links(links))
}

fn delete_one(collection: &Revisions, call: &mut Call<'_>) -> Result<Reply, Stop> {
    let parent = permit_read(collection, call)?;
    let row = revision_of(call, &parent)?;
    if !call.params.flag("force") {
        let message = "Revisions cannot be moved to the trash; set force to delete one.";
        return Err(Refusal::new(501, "rest_trash_not_supported", message).into());
    }
    let (previous, _) = prepare(collection, call, &row, "view");
    revision::delete(call.conn()?, row.revision_id)?;
    Ok(Reply::new(json!({ "deleted": true, "previous": previous })))
}

fn prepare(
    collection: &Revisions,
    call: &Call<'_>,
    row: &RevisionRow,
    context: &str,
) -> (Value, Links) {
    let visit = call.visit;
    let guid = visit.page(&format!("/?p={}", row.revision_id));
    let excerpt = render::excerpt(&row.excerpt, "", render::EXCERPT_WORDS);
    let (date, date_gmt) = (dates::written(row.date), dates::written(row.date_gmt));
    let fields = json!({
        "author": row.author_id,
        "date": date,
        "date_gmt": date_gmt,
        "id": row.revision_id,
        "modified": date,
        "modified_gmt": date_gmt,
        "parent": row.post_id,
        "slug": format!("{}-revision-v1", row.post_id),
        "guid": { "rendered": guid, "raw": guid },
        "title": { "raw": row.title, "rendered": render::title(&row.title) },
        "content": { "raw": row.content, "rendered": render::content(&row.content) },
        "excerpt": { "raw": row.excerpt, "rendered": excerpt },
    });
    let links = Links::new().to("parent", visit.rest(&collection.parent.path_of(row.post_id)));
    (collection.item.filter_by_context(fields, context), links)
}
