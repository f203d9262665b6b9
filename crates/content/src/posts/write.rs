//! Making, changing, trashing and deleting posts and pages.

use std::collections::BTreeSet;

use contract::rest::{Refusal, Reply, Stop, params};
use frame::dates::Moment;
use frame::tree::lies_within;
use frame::{Call, ContentChange, text};
use serde_json::{Value, json};
use site_rows::post::{self, PostRow};
use site_rows::revision::{self, RevisionRow};
use site_rows::{autosave, comment, media, term, user};
use types::{Capability, Error};

use super::item::{self, Collection, ItemView, Terms};
use super::kind::{Field, Kind, POST, PRODUCT, STANDARD_FORMAT, kind_of};
use super::taxonomy::{CATEGORY, Taxonomy};
use super::{address, menu_items, permit, schema, slug, status};

/// Terms of one taxonomy that an item may bear.
const TERMS_MAX: usize = 100;
/// Behind the slug of what is in the trash, so that the slug is free meanwhile.
const TRASHED_SUFFIX: &str = "__trashed";
/// What is to be published less than this from now is published now.
const SOON_MICROS: i64 = 60 * 1_000_000;

/// Answers with the item as its editor sees it.
fn answer(collection: &Collection, call: &mut Call<'_>, row: &PostRow) -> Result<Reply, Stop> {
    let terms = Terms::read(call, collection.kind, std::slice::from_ref(row))?;
    let (fields, links) =
        item::prepare(collection, call, row, &terms, ItemView::in_context("edit"))?;
    Ok(Reply::new(fields).links(links))
}

pub(crate) fn create(collection: &Collection, call: &mut Call<'_>) -> Result<Reply, Stop> {
    let kind = collection.kind;
    let now = Moment::at(call.options(), call.now());
    let setting = |name: &str| match kind.name {
        _ if kind.name == POST.name => call.options().text(name),
        _ if kind.name == PRODUCT.name && name == "default_comment_status" => String::from("open"),
        _ => String::from("closed"),
    };
    let blank = PostRow {
        kind: kind.name.to_owned(),
        status: status::DRAFT.to_owned(),
        author_id: call.user_id(),
        comment_status: setting("default_comment_status"),
        ping_status: setting("default_ping_status"),
        format: STANDARD_FORMAT.to_owned(),
        date: now.local,
        meta: String::from("{}"),
        ..PostRow::default()
    };
    let mut row = changed(call, kind, blank)?;
    if call.site.content_source(kind.name).is_some() {
        row = save_elsewhere(call, kind, &row)?;
    } else {
        // What is made with a date was last changed then, as far as readers are told.
        if let Some(date_gmt) = row.date_gmt {
            (row.modified, row.modified_gmt) = (row.date, date_gmt);
        }
        row.post_id = post::insert(call.conn()?, &row)?;
        if row.slug.is_empty() && !status::is_unfinished(&row.status) {
            // Without a title it is called by the number that it has only now.
            set_slug(call, kind, &row.clone(), &mut row)?;
            post::update(call.conn()?, &row)?;
        }
        set_terms(call, kind, row.post_id)?;
        note_address(call, &mut row)?;
        if kind.hierarchical && row.parent_id == 0 && status::is_public(&row.status) {
            menu_items::add_page(call, &row)?;
        }
    }
    let location = call.visit.rest(&collection.path_of(row.post_id));
    let mut reply = answer(collection, call, &row)?.header("location", location);
    reply.status = 201;
    Ok(reply)
}

pub(crate) fn update(collection: &Collection, call: &mut Call<'_>) -> Result<Reply, Stop> {
    let before = permit::item_of(call, collection.kind, "id", permit::invalid_id)?;
    let row = store_change(collection.kind, call, before)?;
    answer(collection, call, &row)
}

/// Saves the item with what the request changes about it.
pub(super) fn store_change(
    kind: &'static Kind,
    call: &mut Call<'_>,
    before: PostRow,
) -> Result<PostRow, Stop> {
    let was_public = status::is_public(&before.status);
    let row = changed(call, kind, before)?;
    if call.site.content_source(kind.name).is_some() {
        return save_elsewhere(call, kind, &row);
    }
    post::update(call.conn()?, &row)?;
    set_terms(call, kind, row.post_id)?;
    keep_revision(call, kind, &row)?;
    let is_public = status::is_public(&row.status);
    if kind.hierarchical && row.parent_id == 0 && is_public && !was_public {
        menu_items::add_page(call, &row)?;
    }
    Ok(row)
}

/// Writes down the address that a new item has, if it has one already.
fn note_address(call: &mut Call<'_>, row: &mut PostRow) -> Result<(), Stop> {
    let visit = call.visit;
    let address = address::permalink(call.conn()?, visit, row)?;
    let path = address.strip_prefix(&*visit.home).filter(|path| !path.contains('?'));
    let Some(path) = path else { return Ok(()) };
    let mut meta: Value = serde_json::from_str(&row.meta).unwrap_or_else(|_| json!({}));
    if let Some(members) = meta.as_object_mut() {
        members.insert(item::GUID.to_owned(), json!(path));
    }
    row.meta = meta.to_string();
    post::update(call.conn()?, row)?;
    Ok(())
}

/// Has the source of the kind keep the record, with the terms that the request names.
fn save_elsewhere(call: &mut Call<'_>, kind: &Kind, row: &PostRow) -> Result<PostRow, Stop> {
    let mut terms = Vec::new();
    for taxonomy in kind.taxonomies {
        if call.params.get(taxonomy.base).is_some() {
            terms.push((taxonomy.name, wanted_terms(call, taxonomy)?));
        }
    }
    let (site, visit) = (call.site, call.visit);
    let Some(source) = site.content_source(kind.name) else {
        return Err(Error::internal("a kind without a source is kept by one").into());
    };
    let change = ContentChange { row, terms: &terms };
    let id = source.save(site, call.conn()?, visit, &change)??;
    let saved = source.get(call.conn()?, visit, id)?;
    saved.ok_or_else(|| Error::internal("a record that was saved is not there").into())
}

pub(crate) fn delete(collection: &Collection, call: &mut Call<'_>) -> Result<Reply, Stop> {
    let mut row = permit::item_of(call, collection.kind, "id", permit::invalid_id)?;
    if call.params.flag("force") {
        let previous = answer(collection, call, &row)?.into_json_without_links();
        let (site, visit) = (call.site, call.visit);
        if let Some(source) = site.content_source(&row.kind) {
            source.delete(site, call.conn()?, visit, (row.post_id, true))??;
        } else {
            post::delete(call.conn()?, row.post_id)?;
            comment::delete_of(call.conn()?, row.post_id)?;
        }
        autosave::delete_of(call.conn()?, row.post_id)?;
        return Ok(Reply::new(json!({ "deleted": true, "previous": previous })));
    }
    if row.status == status::TRASH {
        let message = "The item is already in the trash; set force to delete it permanently.";
        return Err(Refusal::new(410, "rest_already_trashed", message).into());
    }
    let (site, visit) = (call.site, call.visit);
    if let Some(source) = site.content_source(&row.kind) {
        source.delete(site, call.conn()?, visit, (row.post_id, false))??;
        let trashed = source.get(call.conn()?, visit, row.post_id)?;
        return answer(collection, call, &trashed.unwrap_or(row));
    }
    let now = Moment::at(call.options(), call.now());
    row.trashed_status = Some(std::mem::replace(&mut row.status, status::TRASH.to_owned()));
    row.trashed = Some(now.gmt);
    if !row.slug.is_empty() && !row.slug.ends_with(TRASHED_SUFFIX) {
        row.slug.push_str(TRASHED_SUFFIX);
    }
    (row.modified, row.modified_gmt) = (now.local, now.gmt);
    post::update(call.conn()?, &row)?;
    keep_revision(call, collection.kind, &row)?;
    answer(collection, call, &row)
}

trait WithoutLinks {
    fn into_json_without_links(self) -> Value;
}

impl WithoutLinks for Reply {
    fn into_json_without_links(mut self) -> Value {
        self.links = contract::rest::Links::new();
        self.into_json().2
    }
}

/// The item with what the request changes about it.
fn changed(call: &mut Call<'_>, kind: &'static Kind, before: PostRow) -> Result<PostRow, Stop> {
    let mut row = before.clone();
    set_texts(call, &mut row);
    set_status(call, kind, &before, &mut row)?;
    if kind.has(Field::Author) {
        set_author(call, &mut row)?;
    }
    set_password(call, &mut row)?;
    set_place(call, kind, &mut row)?;
    set_choices(call, &mut row)?;
    set_picture(call, &mut row)?;
    set_dates(call, &before, &mut row);
    schedule(call, &mut row);
    set_slug(call, kind, &before, &mut row)?;
    let empty = [&row.title, &row.content, &row.excerpt].iter().all(|text| text.is_empty());
    if empty && (kind.name == POST.name || kind.name == PRODUCT.name) {
        let message = "A title, content or excerpt is required.";
        return Err(Refusal::new(400, "empty_content", message).into());
    }
    Ok(row)
}

/// A text may come alone or as the member `raw` of an object.
pub(crate) fn raw_text(call: &Call<'_>, name: &str) -> Option<String> {
    match call.params.get(name)? {
        Value::String(text) => Some(text.clone()),
        Value::Object(members) => Some(members.get("raw")?.as_str()?.to_owned()),
        _ => None,
    }
}

pub(crate) fn set_texts(call: &Call<'_>, row: &mut PostRow) {
    let trusted = call.can(Capability::UnfilteredHtml);
    // No engine stores this character, and it means nothing in HTML.
    let text_of = |name: &str| raw_text(call, name).map(|text| text.replace('\0', ""));
    let cleaned = |text: String, clean: fn(&str) -> String| {
        if trusted { text } else { clean(&text) }
    };
    if let Some(title) = text_of("title") {
        row.title = String::from(cleaned(title, text::clean_title).trim());
    }
    if let Some(content) = text_of("content") {
        row.content = cleaned(content, text::clean_content);
    }
    if let Some(excerpt) = text_of("excerpt") {
        row.excerpt = cleaned(excerpt, text::clean_content);
    }
}

fn set_status(
    call: &Call<'_>,
    kind: &Kind,
    before: &PostRow,
    row: &mut PostRow,
) -> Result<(), Stop> {
    let Some(wanted) = call.params.text("status") else { return Ok(()) };
    if wanted == status::TRASH && before.status != status::TRASH {
        let error = schema::unknown_status("status");
        return Err(params::invalid_params(vec![(String::from("status"), Some(error))]).into());
    }
    if matches!(wanted, status::PUBLISH | status::FUTURE | status::PRIVATE) {
        let message = "You are not allowed to publish items of this kind.";
        call.need(kind.may.publish, "rest_cannot_publish", message)?;
    }
    row.status = String::from(wanted);
    if wanted != status::TRASH {
        (row.trashed_status, row.trashed) = (None, None);
    }
    Ok(())
}

pub(crate) fn set_author(call: &mut Call<'_>, row: &mut PostRow) -> Result<(), Stop> {
    let Some(author) = call.params.int("author").filter(|author| *author != 0) else {
        return Ok(());
    };
    if author != call.user_id() && user::get(call.conn()?, author)?.is_none() {
        let message = "Invalid user ID.";
        return Err(Refusal::new(400, "rest_invalid_author", message).into());
    }
    row.author_id = author;
    Ok(())
}

/// A password and a place on top exclude each other.
fn set_password(call: &Call<'_>, row: &mut PostRow) -> Result<(), Stop> {
    if let Some(password) = call.params.text("password") {
        row.password = password.replace('\0', "");
    }
    if let Some(sticky) = call.params.get("sticky").and_then(Value::as_bool) {
        row.sticky = sticky && row.kind == POST.name;
    }
    if row.sticky && !row.password.is_empty() {
        let message = "An item cannot be both sticky and password protected.";
        return Err(Refusal::new(400, "rest_invalid_field", message).into());
    }
    Ok(())
}

/// Parent and order of pages.
fn set_place(call: &mut Call<'_>, kind: &Kind, row: &mut PostRow) -> Result<(), Stop> {
    if let Some(order) = call.params.int("menu_order").filter(|_| kind.has(Field::Order)) {
        row.menu_order = order;
    }
    if !kind.hierarchical {
        return Ok(());
    }
    let Some(parent_id) = call.params.int("parent") else { return Ok(()) };
    if parent_id != 0 && post::get(call.conn()?, parent_id)?.is_none() {
        let message = "Invalid parent ID.";
        return Err(Refusal::new(400, "rest_post_invalid_id", message).into());
    }
    let conn = call.conn()?;
    let parent_of = |id| Ok(post::get(conn, id)?.map_or(0, |row| row.parent_id));
    let circle = lies_within(parent_id, row.post_id, parent_of)?;
    row.parent_id = if circle { 0 } else { parent_id };
    Ok(())
}

pub(crate) fn set_choices(call: &Call<'_>, row: &mut PostRow) -> Result<(), Stop> {
    let chosen = |name: &str| call.params.text(name).filter(|text| !text.is_empty());
    if let Some(choice) = chosen("comment_status") {
        row.comment_status = String::from(choice);
    }
    if let Some(choice) = chosen("ping_status") {
        row.ping_status = String::from(choice);
    }
    if let Some(format) = chosen("format").filter(|_| row.kind == POST.name) {
        row.format = String::from(format);
    }
    if let Some(template) = call.params.text("template") {
        if !template.is_empty() && template != row.template {
            let message = "template must be empty: the theme has no others.";
            let error = contract::rest::ParamError::new("rest_invalid_param", message);
            let errors = vec![(String::from("template"), Some(error))];
            return Err(params::invalid_params(errors).into());
        }
        row.template = String::from(template);
    }
    set_meta(call, row);
    Ok(())
}

/// The picture of the item: one of the library, or none.
fn set_picture(call: &mut Call<'_>, row: &mut PostRow) -> Result<(), Stop> {
    let Some(picture) = call.params.int("featured_media") else { return Ok(()) };
    let known = media::get(call.conn()?, picture)?;
    if picture != 0 && known.is_none_or(|media| media.width == 0) {
        let message = "featured_media must be the ID of an image of the library.";
        return Err(Refusal::new(400, "rest_invalid_featured_media", message).into());
    }
    row.featured_media = picture;
    Ok(())
}

/// The meta fields of the item that the request gives, and those that clients give beside them.
fn set_meta(call: &Call<'_>, row: &mut PostRow) {
    let Some(kind) = kind_of(&row.kind) else { return };
    let mut meta: Value = serde_json::from_str(&row.meta).unwrap_or_else(|_| json!({}));
    let Some(members) = meta.as_object_mut() else { return };
    let names = kind.meta.iter().copied().chain(kind.raw.then_some("wp_pattern_sync_status"));
    for name in names {
        let given = call.params.get("meta").and_then(|meta| meta.get(name));
        if let Some(Value::String(text)) = given {
            let text = text.replace('\0', "");
            let trusted = call.can(Capability::UnfilteredHtml);
            let text = if trusted { text } else { text::clean_content(&text) };
            members.insert(name.to_owned(), json!(text));
        }
    }
    row.meta = meta.to_string();
}

/// The date that is given, or the present for what never had one. **What is unfinished has a date
/// in UTC only if somebody gave it one.**
pub(crate) fn set_dates(call: &Call<'_>, before: &PostRow, row: &mut PostRow) {
    let now = Moment::at(call.options(), call.now());
    (row.modified, row.modified_gmt) = (now.local, now.gmt);
    let given = |name: &str, is_gmt: bool| {
        let text = call.params.text(name).filter(|text| !text.is_empty())?;
        Moment::parse(call.options(), text, is_gmt)
    };
    let is_null = |name: &str| call.params.given(name) && call.params.get(name).is_none();
    let unfinished = status::is_unfinished(&row.status);
    if let Some(moment) = given("date", false).or_else(|| given("date_gmt", true)) {
        let shown_gmt = before.date_gmt.unwrap_or_else(|| call.options().from_local(before.date));
        // What a client reads and sends back is no new date.
        let same = before.post_id != 0 && moment.local == before.date && moment.gmt == shown_gmt;
        if !same || before.date_gmt.is_some() {
            (row.date, row.date_gmt) = (moment.local, Some(moment.gmt));
            return;
        }
    }
    if is_null("date") || is_null("date_gmt") || before.date_gmt.is_none() {
        row.date = now.local;
        row.date_gmt = (!unfinished).then_some(now.gmt);
    }
}

/// What is published with a date to come waits for it, and the other way round.
fn schedule(call: &Call<'_>, row: &mut PostRow) {
    let Some(date) = row.date_gmt else { return };
    let ahead = date.as_micros().saturating_sub(call.now().as_micros());
    match row.status.as_str() {
        status::PUBLISH if ahead >= SOON_MICROS => row.status = String::from(status::FUTURE),
        status::FUTURE if ahead < SOON_MICROS => row.status = String::from(status::PUBLISH),
        _ => {}
    }
}

fn set_slug(
    call: &mut Call<'_>,
    kind: &Kind,
    before: &PostRow,
    row: &mut PostRow,
) -> Result<(), Stop> {
    if let Some(slug) = call.params.text("slug") {
        row.slug = String::from(slug);
    } else if before.status == status::TRASH
        && row.status != status::TRASH
        && let Some(slug) = row.slug.strip_suffix(TRASHED_SUFFIX)
    {
        row.slug = String::from(slug);
    }
    // Who may not publish does not choose the address of what waits for review.
    if row.status == status::PENDING && !call.can(kind.may.publish) {
        row.slug.clear();
    }
    if row.slug.is_empty() && !status::is_unfinished(&row.status) {
        row.slug = slug::slugify(&row.title);
        if row.slug.is_empty() && row.post_id != 0 {
            row.slug = row.post_id.to_string();
        }
    }
    let item = slug::Item { id: row.post_id, parent_id: row.parent_id, status: &row.status };
    row.slug = slug::unique(call.conn()?, kind, &row.slug, item)?;
    Ok(())
}

/// The terms of the request; for a post without a category, the default one.
fn set_terms(call: &mut Call<'_>, kind: &Kind, post_id: i64) -> Result<(), Stop> {
    for taxonomy in kind.taxonomies {
        if call.params.get(taxonomy.base).is_some() {
            let ids = wanted_terms(call, taxonomy)?;
            term::set_terms(call.conn()?, post_id, taxonomy.name, &ids)?;
        } else if taxonomy.name == CATEGORY.name
            && term::terms_of(call.conn()?, post_id, taxonomy.name)?.is_empty()
        {
            let default = call.options().integer("default_category");
            let known = term::get(call.conn()?, default)?;
            if known.is_some_and(|term| term.taxonomy == taxonomy.name) {
                term::set_terms(call.conn()?, post_id, taxonomy.name, &[default])?;
            }
        }
    }
    Ok(())
}

/// The terms of a taxonomy that the request names.
fn wanted_terms(call: &mut Call<'_>, taxonomy: &Taxonomy) -> Result<Vec<i64>, Stop> {
    let wanted: BTreeSet<i64> = call.params.ints(taxonomy.base).into_iter().collect();
    if wanted.len() > TERMS_MAX {
        let message = format!("{} must have {TERMS_MAX} items at most.", taxonomy.base);
        let error = contract::rest::ParamError::new("rest_too_many_items", message);
        let errors = vec![(taxonomy.base.to_owned(), Some(error))];
        return Err(params::invalid_params(errors).into());
    }
    let mut ids = Vec::new();
    for id in wanted {
        // An id that is none is left out, as in the reference.
        let known = term::get(call.conn()?, id)?;
        if known.is_some_and(|term| term.taxonomy == taxonomy.name) {
            ids.push(id);
        }
    }
    Ok(ids)
}

/// Keeps the texts as they are now, unless the latest revision has them already.
pub(crate) fn keep_revision(call: &mut Call<'_>, kind: &Kind, row: &PostRow) -> Result<(), Stop> {
    if !kind.has(Field::Revisions) {
        return Ok(());
    }
    let author_id = call.user_id();
    let conn = call.conn()?;
    let (_, latest) = revision::count(conn, row.post_id)?;
    let latest = if latest == 0 { None } else { revision::get(conn, latest)? };
    let same = latest.is_some_and(|latest| {
        (latest.title, latest.content, latest.excerpt)
            == (row.title.clone(), row.content.clone(), row.excerpt.clone())
    });
    if same {
        return Ok(());
    }
    let revision = RevisionRow {
        revision_id: 0,
        post_id: row.post_id,
        author_id,
        title: row.title.clone(),
        content: row.content.clone(),
        excerpt: row.excerpt.clone(),
        date: row.modified,
        date_gmt: row.modified_gmt,
    };
    revision::insert(conn, &revision)?;
    Ok(())
}
