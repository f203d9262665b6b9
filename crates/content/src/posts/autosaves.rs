//! Autosaves: what an editor typed and has not saved yet, kept beside the item for each user.
//!
//! **The item itself stays as it is**, but for a draft of the user's own, which nobody else reads:
//! there the autosave is the draft.

use std::sync::Arc;

use contract::rest::route::{CREATE, READ, Route};
use contract::rest::{Args, Refusal, Reply, Schema, Stop};
use frame::Call;
use frame::action::{Action, read, write as change};
use frame::auth::nonce::{self, Holder};
use frame::dates::Moment;
use serde_json::{Value, json};
use site_rows::autosave::{self, AutosaveRow};
use site_rows::post::PostRow;
use site_rows::revision::RevisionRow;
use types::Error;

use super::item::Collection;
use super::kind::{Field, Kind};
use super::schema::EDIT as EDITOR;
use super::versions::{Version, Versions};
use super::{address, item, permit, schema, status, write};

/// The autosaves of a kind.
struct Autosaves {
    versions: Arc<Versions>,
    /// The kind's collection, where its drafts are saved like other changes.
    drafts: Option<Arc<Collection>>,
}

/// Routes to list, read and make the autosaves of a kind, which take what a change of the item
/// takes.
pub(crate) fn routes(
    versions: &Versions,
    drafts: Option<Arc<Collection>>,
    update_args: Args,
) -> Vec<Route<Action>> {
    let versions = with_preview(versions);
    let document = versions.item.document();
    let autosaves = Arc::new(Autosaves { versions: Arc::clone(&versions), drafts });
    let (list, one, make) =
        (Arc::clone(&autosaves), Arc::clone(&autosaves), Arc::clone(&autosaves));
    let may_read = |parameter: &'static str| {
        let versions = Arc::clone(&versions);
        move |call: &mut Call<'_>| versions.readable_parent(call, parameter).map(drop)
    };
    let of_permit = Arc::clone(&versions);
    let may_save = move |call: &mut Call<'_>| permit_save(&of_permit, call);
    let context = versions.item.context_arg();
    let named = |variable: &str| {
        Args::new().arg(variable, (versions.naming.schema)().about("Name of the item."))
    };
    // Where items have numbers, the list's path says `id` and its parameters say `parent`.
    let listed = if versions.naming.pattern == super::versions::BY_NUMBER.pattern {
        named("parent")
    } else {
        named("id")
    };
    let list_args = listed.clone().arg("context", context.clone());
    let one_args = named("parent").with(schema::id_args()).arg("context", context);
    let list_path = versions.pattern("id", "autosaves");
    let one_path = format!("{}/(?P<id>[\\d]+)", versions.pattern("parent", "autosaves"));
    vec![
        Route::at(&versions.namespace, &list_path)
            .on(
                READ,
                list_args,
                read(may_read("id"), move |call: &mut Call<'_>| list_all(&list, call)),
            )
            .lists()
            .on(
                CREATE,
                listed.with(update_args),
                change(may_save, move |call: &mut Call<'_>| save(&make, call)),
            )
            .shows_item()
            .schema(document.clone()),
        Route::at(&versions.namespace, &one_path)
            .on(
                READ,
                one_args,
                read(may_read("parent"), move |call: &mut Call<'_>| read_one(&one, call)),
            )
            .schema(document),
    ]
}

/// What an autosave shows beyond a revision: the meta fields, and where the item is looked at.
fn with_preview(versions: &Versions) -> Arc<Versions> {
    let kind = versions.kind;
    let mut more = Vec::new();
    if kind.has(Field::Meta) {
        more.push(("meta", schema::meta(kind)));
    }
    if kind.viewable {
        let link = Schema::text().format("uri").about("Where the item can be looked at.");
        more.push(("preview_link", link.context(EDITOR).readonly()));
    }
    versions.with_fields(more)
}

fn permit_save(versions: &Versions, call: &mut Call<'_>) -> Result<(), Stop> {
    let row = versions.parent(call, "id", permit::invalid_id)?;
    if permit::may_edit(&call.visit.identity, &row) {
        return Ok(());
    }
    Err(call.deny("rest_cannot_edit", "You are not allowed to edit this item.").into())
}

fn list_all(autosaves: &Autosaves, call: &mut Call<'_>) -> Result<Reply, Stop> {
    let parent = autosaves.versions.readable_parent(call, "id")?;
    let context = call.context();
    let mut items = Vec::new();
    for row in autosave::of_post(call.conn()?, parent.post_id)? {
        let (mut fields, links) = prepare(autosaves, call, (&parent, row.into()), &context)?;
        if let (Some(links), Some(members)) = (links.into_value(), fields.as_object_mut()) {
            members.insert(String::from("_links"), links);
        }
        items.push(fields);
    }
    Ok(Reply::new(items))
}

/// The latest autosave of the item, whatever number is asked for, as clients know it.
fn read_one(autosaves: &Autosaves, call: &mut Call<'_>) -> Result<Reply, Stop> {
    let parent = autosaves.versions.readable_parent(call, "parent")?;
    let Some(row) = autosave::of_post(call.conn()?, parent.post_id)?.into_iter().next() else {
        let message = "There is no autosave of this item.";
        return Err(Refusal::new(404, "rest_post_no_autosave", message).into());
    };
    let context = call.context();
    let (fields, links) = prepare(autosaves, call, (&parent, row.into()), &context)?;
    Ok(Reply::new(fields).links(links))
}

fn save(autosaves: &Autosaves, call: &mut Call<'_>) -> Result<Reply, Stop> {
    let parent = autosaves.versions.parent(call, "id", permit::invalid_id)?;
    let is_own = parent.author_id == call.user_id() && parent.status == status::DRAFT;
    if let Some(collection) = autosaves.drafts.as_deref().filter(|_| is_own) {
        let row = write::store_change(collection.kind, call, parent)?;
        return saved(autosaves, call, (&row, itself(&row)));
    }
    let mut typed = parent.clone();
    write::set_texts(call, &mut typed);
    let texts = |row: &PostRow| [row.title.clone(), row.content.clone(), row.excerpt.clone()];
    if texts(&typed) == texts(&parent) {
        let message = "There is nothing to save: the item has these texts already.";
        return Err(Refusal::new(400, "rest_autosave_no_changes", message).into());
    }
    let now = Moment::at(call.options(), call.now());
    let mut row = AutosaveRow {
        autosave_id: 0,
        post_id: parent.post_id,
        author_id: call.user_id(),
        title: typed.title,
        content: typed.content,
        excerpt: typed.excerpt,
        date: now.local,
        date_gmt: now.gmt,
    };
    row.autosave_id = autosave::put(call.conn()?, &row)?;
    saved(autosaves, call, (&parent, row.into()))
}

fn saved(
    autosaves: &Autosaves,
    call: &mut Call<'_>,
    version: (&PostRow, Version),
) -> Result<Reply, Stop> {
    let (fields, links) = prepare(autosaves, call, version, "edit")?;
    Ok(Reply::new(fields).links(links))
}

/// A draft as the version that it is itself.
fn itself(row: &PostRow) -> Version {
    let row = row.clone();
    let of_draft = RevisionRow {
        revision_id: row.post_id,
        post_id: row.post_id,
        author_id: row.author_id,
        title: row.title,
        content: row.content,
        excerpt: row.excerpt,
        date: row.modified,
        date_gmt: row.modified_gmt,
    };
    Version { row: of_draft, word: "autosave" }
}

fn prepare(
    autosaves: &Autosaves,
    call: &mut Call<'_>,
    (parent, version): (&PostRow, Version),
    context: &str,
) -> Result<(Value, contract::rest::Links), Error> {
    let kind = autosaves.versions.kind;
    let mut more = Vec::new();
    if kind.has(Field::Meta) {
        more.push(("meta", item::meta_of(kind, parent)));
    }
    if kind.viewable {
        more.push(("preview_link", json!(preview_link(call, kind, parent)?)));
    }
    autosaves.versions.prepare(call, (parent, &version), more, context)
}

/// The item's page, with a proof of who looks at what is not published.
fn preview_link(call: &mut Call<'_>, kind: &Kind, row: &PostRow) -> Result<String, Error> {
    let visit = call.visit;
    let address = if status::is_public(&row.status) {
        address::permalink(call.conn()?, visit, row)?
    } else {
        address::plain_link(visit, kind, row)
    };
    let holder = Holder { user_id: call.user_id(), session: &[] };
    let action = format!("post_preview_{}", row.post_id);
    let proof = nonce::make(call.site.vault(), &action, holder, call.now());
    let separator = if address.contains('?') { '&' } else { '?' };
    let id = row.post_id;
    Ok(format!("{address}{separator}preview_id={id}&preview_nonce={proof}&preview=true"))
}
