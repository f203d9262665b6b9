//! A post or page as its clients see it: fields by view, and links.

use std::collections::{BTreeSet, HashMap};

use contract::rest::{CompiledItem, Links};
use db::filter;
use frame::text::{blocks, render};
use frame::{Call, Visit, dates};
use serde_json::{Map, Value, json};
use site_rows::post::PostRow;
use site_rows::revision;
use site_rows::term::{self, TermFilter};
use types::{Capability, Error};

use super::kind::{Field, Kind, STANDARD_FORMAT};
use super::taxonomy::Taxonomy;
use super::{address, page_list, records};

/// What the operations on one kind share.
#[derive(Debug)]
pub(crate) struct Collection {
    pub(crate) kind: &'static Kind,
    pub(crate) item: CompiledItem,
    /// The namespace of its routes.
    pub(crate) namespace: String,
}

impl Collection {
    /// The path of the list.
    pub(crate) fn path(&self) -> String {
        format!("/{}/{}", self.namespace, self.kind.base)
    }

    pub(crate) fn path_of(&self, id: i64) -> String {
        format!("{}/{id}", self.path())
    }
}

/// The terms of several items: taxonomy, id and slug of each.
#[derive(Debug, Default)]
pub(crate) struct Terms {
    of_item: HashMap<i64, Vec<(String, i64)>>,
    slugs: HashMap<i64, String>,
}

impl Terms {
    pub(crate) fn read(call: &mut Call<'_>, kind: &Kind, rows: &[PostRow]) -> Result<Self, Error> {
        let ids: Vec<i64> = rows.iter().map(|row| row.post_id).collect();
        let mut terms = Self::default();
        let mut term_ids = BTreeSet::new();
        let borne = records::terms(call, kind, &ids)?;
        let conn = call.conn()?;
        for (post_id, taxonomy, term_id) in borne {
            terms.of_item.entry(post_id).or_default().push((taxonomy, term_id));
            term_ids.insert(term_id);
        }
        let term_ids: Vec<i64> = term_ids.into_iter().collect();
        for include in term_ids.chunks(filter::LIST_MAX) {
            let wanted = TermFilter { include: include.to_vec(), ..TermFilter::default() };
            let (rows, _) = term::list(conn, &wanted)?;
            terms.slugs.extend(rows.into_iter().map(|row| (row.term_id, row.slug)));
        }
        Ok(terms)
    }

    fn ids(&self, post_id: i64, taxonomy: &Taxonomy) -> Vec<i64> {
        let all = self.of_item.get(&post_id).map(Vec::as_slice).unwrap_or_default();
        all.iter().filter(|(name, _)| name == taxonomy.name).map(|(_, id)| *id).collect()
    }
}

/// How an item is wanted.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ItemView<'a> {
    pub(crate) context: &'a str,
    /// Whether the caller told its password.
    pub(crate) is_open: bool,
    pub(crate) excerpt_words: usize,
    /// Its place in the list, from zero.
    pub(crate) place: usize,
}

impl<'a> ItemView<'a> {
    pub(crate) fn in_context(context: &'a str) -> Self {
        Self { context, is_open: false, excerpt_words: render::EXCERPT_WORDS, place: 0 }
    }

    /// Whether content and excerpt are hidden.
    fn hides(&self, row: &PostRow) -> bool {
        !row.password.is_empty() && self.context != "edit" && !self.is_open
    }
}

/// The item's fields in the wanted view, and its links.
pub(crate) fn prepare(
    collection: &Collection,
    call: &mut Call<'_>,
    row: &PostRow,
    terms: &Terms,
    wanted: ItemView<'_>,
) -> Result<(Value, Links), Error> {
    let kind = collection.kind;
    let mut fields = base(collection, call, row)?;
    let stored = page_list::filled(call, &row.content)?;
    fields.extend(texts(kind, (row, &stored), wanted));
    let mut say = |name: &str, value: Value| {
        fields.insert(name.to_owned(), value);
    };
    let optional = [
        (Field::Author, "author", json!(row.author_id)),
        (Field::Picture, "featured_media", json!(row.featured_media)),
        (Field::Discussion, "comment_status", json!(row.comment_status)),
        (Field::Discussion, "ping_status", json!(row.ping_status)),
        (Field::Order, "menu_order", json!(row.menu_order)),
        (Field::Sticky, "sticky", json!(row.sticky)),
        (Field::Format, "format", json!(format_of(row))),
        (Field::Meta, "meta", meta_of(kind, row)),
    ];
    for (_, name, value) in optional.into_iter().filter(|(field, ..)| kind.has(*field)) {
        say(name, value);
    }
    if kind.hierarchical {
        say("parent", json!(row.parent_id));
    }
    say("template", json!(row.template));
    for taxonomy in kind.taxonomies {
        say(taxonomy.base, json!(terms.ids(row.post_id, taxonomy)));
    }
    if kind.raw {
        say("wp_pattern_sync_status", json!(meta_text(row, "wp_pattern_sync_status")));
    }
    if kind.viewable {
        let mut classes = classes(kind, row, terms);
        classes.extend(records::classes(call, row, wanted.place)?);
        say("class_list", json!(classes));
    }
    if kind.viewable && wanted.context == "edit" {
        let generated = records::generated_slug(call, kind, row)?;
        let template = address::template(call, row)?;
        say("permalink_template", json!(template));
        say("generated_slug", json!(generated));
    }
    let links = links(collection, call, row, wanted.context)?;
    let shown = collection.item.filter_by_context(Value::Object(fields), wanted.context);
    Ok((shown, links))
}

/// Title, content and excerpt, as they are stored and as readers see them.
fn texts(kind: &Kind, (row, stored): (&PostRow, &str), wanted: ItemView<'_>) -> Map<String, Value> {
    let (hidden, protected) = (wanted.hides(row), !row.password.is_empty());
    let unless_hidden = |text: &dyn Fn() -> String| if hidden { String::new() } else { text() };
    let rendered = unless_hidden(&|| render::content(stored));
    let excerpt =
        unless_hidden(&|| render::excerpt(&row.excerpt, &row.content, wanted.excerpt_words));
    let mut title = json!({ "raw": row.title, "rendered": render::title(&row.title) });
    let mut content = json!({
        "raw": row.content,
        "rendered": rendered,
        "protected": protected,
        "block_version": i64::from(blocks::has_blocks(&row.content)),
    });
    if kind.raw {
        for texts in [&mut title, &mut content] {
            texts.as_object_mut().map(|texts| texts.shift_remove("rendered"));
        }
    }
    let mut fields = Map::new();
    fields.insert(String::from("title"), title);
    fields.insert(String::from("content"), content);
    if kind.has(Field::Excerpt) {
        let excerpt = json!({ "raw": row.excerpt, "rendered": excerpt, "protected": protected });
        fields.insert(String::from("excerpt"), excerpt);
    }
    fields
}

/// The address that an item had when it was made: as it was written down then, or the one that
/// never changes.
fn guid(visit: &Visit, kind: &Kind, row: &PostRow) -> String {
    let path = meta_text(row, GUID);
    if path.is_empty() { address::plain_link(visit, kind, row) } else { visit.page(&path) }
}

/// The meta field that keeps the path which an item had when it was made.
pub(crate) const GUID: &str = "guid";

fn base(
    collection: &Collection,
    call: &mut Call<'_>,
    row: &PostRow,
) -> Result<Map<String, Value>, Error> {
    let visit = call.visit;
    let guid = guid(visit, collection.kind, row);
    let date_gmt = row.date_gmt.unwrap_or_else(|| visit.options.from_local(row.date));
    let link = address::permalink(call.conn()?, visit, row)?;
    let fields = json!({
        "id": row.post_id,
        "date": dates::written(row.date),
        "date_gmt": dates::written(date_gmt),
        "guid": { "rendered": guid, "raw": guid },
        "modified": dates::written(row.modified),
        "modified_gmt": dates::written(row.modified_gmt),
        "password": row.password,
        "slug": row.slug,
        "status": row.status,
        "type": row.kind,
        "link": link,
    });
    match fields {
        Value::Object(fields) => Ok(fields),
        _ => Err(Error::internal("an object is no object")),
    }
}

pub(crate) fn format_of(row: &PostRow) -> &str {
    if row.format.is_empty() { STANDARD_FORMAT } else { &row.format }
}

/// A text among the meta fields of an item.
pub(crate) fn meta_text(row: &PostRow, name: &str) -> String {
    let meta: Value = serde_json::from_str(&row.meta).unwrap_or(Value::Null);
    meta.get(name).and_then(Value::as_str).unwrap_or_default().to_owned()
}

pub(super) fn meta_of(kind: &Kind, row: &PostRow) -> Value {
    if kind.meta.is_empty() {
        return json!([]);
    }
    let text = |name: &&'static str| ((*name).to_owned(), json!(meta_text(row, name)));
    Value::Object(kind.meta.iter().map(text).collect())
}

fn classes(kind: &Kind, row: &PostRow, terms: &Terms) -> Vec<String> {
    let mut classes = vec![
        format!("post-{}", row.post_id),
        row.kind.clone(),
        format!("type-{}", row.kind),
        format!("status-{}", row.status),
    ];
    if kind.has(Field::Format) {
        classes.push(format!("format-{}", format_of(row)));
    }
    // A password in a request opens the texts of that answer, and no page.
    let is_locked = !row.password.is_empty();
    if is_locked {
        classes.push(String::from("post-password-required"));
    }
    if row.featured_media != 0 && !is_locked {
        classes.push(String::from("has-post-thumbnail"));
    }
    if kind.has(Field::Revisions) {
        classes.push(String::from("hentry"));
    }
    for taxonomy in kind.taxonomies {
        for id in terms.ids(row.post_id, taxonomy) {
            let slug = terms.slugs.get(&id).map(|slug| class_name(slug)).unwrap_or_default();
            let numeric = slug.bytes().all(|byte| byte.is_ascii_digit());
            let name = if numeric { id.to_string() } else { slug };
            classes.push(format!("{}-{name}", taxonomy.word));
        }
    }
    classes
}

/// A slug as the name of a class: without what is percent-encoded.
fn class_name(slug: &str) -> String {
    let mut name = String::new();
    let mut rest = slug;
    while let Some((before, after)) = rest.split_once('%') {
        name.push_str(before);
        rest = after.get(2..).unwrap_or_default();
    }
    name.push_str(rest);
    name
}

fn links(
    collection: &Collection,
    call: &mut Call<'_>,
    row: &PostRow,
    context: &str,
) -> Result<Links, Error> {
    let visit = call.visit;
    let (namespace, id) = (&collection.namespace, row.post_id);
    let own = visit.rest(&collection.path_of(id));
    let at = |path: &str| visit.rest(&format!("/{namespace}{path}"));
    let mut links = Links::new()
        .to("self", &*own)
        .to("collection", visit.rest(&collection.path()))
        .to("about", at(&format!("/types/{}", collection.kind.name)));
    let kind = collection.kind;
    if row.author_id != 0 && kind.has(Field::Author) {
        links = links.embeddable("author", at(&format!("/users/{}", row.author_id)));
    }
    if kind.has(Field::Discussion) {
        links = links.embeddable("replies", at(&format!("/comments?post={id}")));
    }
    if kind.has(Field::Revisions) {
        let (count, latest) = revision::count(call.conn()?, id)?;
        let history = format!("{own}/revisions");
        links = links.add("version-history", json!({ "count": count, "href": history }));
        if count > 0 {
            let target = json!({ "id": latest, "href": format!("{history}/{latest}") });
            links = links.add("predecessor-version", target);
        }
    }
    if collection.kind.hierarchical && row.parent_id != 0 {
        links = links.embeddable("up", visit.rest(&collection.path_of(row.parent_id)));
    }
    if row.featured_media != 0 && kind.has(Field::Picture) {
        let media = at(&format!("/media/{}", row.featured_media));
        links = links.embeddable("wp:featuredmedia", media);
    }
    links = links.to("wp:attachment", at(&format!("/media?parent={id}")));
    for taxonomy in collection.kind.taxonomies {
        let href = at(&format!("/{}?post={id}", taxonomy.base));
        let target = json!({ "taxonomy": taxonomy.name, "embeddable": true, "href": href });
        links = links.add("wp:term", target);
    }
    if context == "edit" {
        links = actions(collection.kind, call, &own, links);
    }
    Ok(links)
}

/// What the caller may do with the item, one relation for each right.
fn actions(kind: &Kind, call: &Call<'_>, own: &str, links: Links) -> Links {
    let (publish, others) = (call.can(kind.may.publish), call.can(kind.may.edit_others));
    let mut rights = vec![
        (publish, String::from("publish")),
        (call.can(Capability::UnfilteredHtml), String::from("unfiltered-html")),
        (kind.has(Field::Sticky) && others && publish, String::from("sticky")),
        (others && kind.has(Field::Author), String::from("assign-author")),
    ];
    for taxonomy in kind.taxonomies {
        let create = if taxonomy.hierarchical { taxonomy.manage } else { taxonomy.assign };
        rights.push((call.can(create), format!("create-{}", taxonomy.base)));
        rights.push((call.can(taxonomy.assign), format!("assign-{}", taxonomy.base)));
    }
    let granted = rights.into_iter().filter(|(has, _)| *has);
    granted.fold(links, |links, (_, right)| links.to(&format!("wp:action-{right}"), own))
}
