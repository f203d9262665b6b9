//! Earlier and unsaved versions of items: what revisions and autosaves have in common, for every
//! kind of content that has them.
//!
//! What differs between kinds is data: how an item is named in paths, what a version shows, and
//! which rows it is made of.

use std::sync::Arc;

use contract::rest::{CompiledItem, Item, Links, Refusal, Schema, Stop};
use frame::text::render;
use frame::{Call, dates};
use serde_json::{Value, json};
use site_rows::autosave::AutosaveRow;
use site_rows::post::PostRow;
use site_rows::revision::RevisionRow;
use types::Error;

use super::kind::Kind;
use super::schema::{ALL, FULL};
use super::{permit, schema};

/// Finds the item that a parameter names, or refuses what names none.
type Find = fn(&mut Call<'_>, &Kind, &str, fn() -> Refusal) -> Result<PostRow, Stop>;

/// How items of a kind are named in paths.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Naming {
    /// The pattern of a name.
    pub(crate) pattern: &'static str,
    /// A name as a parameter.
    pub(crate) schema: fn() -> Schema,
    /// The item that a parameter names, or the refusal of what names none.
    pub(crate) find: Find,
    pub(crate) name: fn(&PostRow) -> String,
}

/// Most items are named by their numbers.
pub(crate) const BY_NUMBER: Naming = Naming {
    pattern: r"[\d]+",
    schema: Schema::integer,
    find: permit::item_of,
    name: |row| row.post_id.to_string(),
};

/// A version of an item's texts.
#[derive(Clone, Debug)]
pub(crate) struct Version {
    pub(crate) row: RevisionRow,
    /// `revision` or `autosave`, as its slug says.
    pub(crate) word: &'static str,
}

impl From<RevisionRow> for Version {
    fn from(row: RevisionRow) -> Self {
        Self { row, word: "revision" }
    }
}

impl From<AutosaveRow> for Version {
    fn from(row: AutosaveRow) -> Self {
        let row = RevisionRow {
            revision_id: row.autosave_id,
            post_id: row.post_id,
            author_id: row.author_id,
            title: row.title,
            content: row.content,
            excerpt: row.excerpt,
            date: row.date,
            date_gmt: row.date_gmt,
        };
        Self { row, word: "autosave" }
    }
}

/// What a version of an item shows in all views together.
type Show = fn(&mut Call<'_>, &PostRow, &Version) -> Result<Value, Error>;

/// The versions of the items of a kind.
#[derive(Debug)]
pub(crate) struct Versions {
    pub(crate) kind: &'static Kind,
    pub(crate) namespace: String,
    pub(crate) naming: Naming,
    pub(crate) item: Item,
    compiled: CompiledItem,
    show: Show,
}

impl Versions {
    /// Of items that are named by their numbers and show their texts.
    pub(crate) fn of_kind(kind: &'static Kind, namespace: &str) -> Arc<Self> {
        Self::new(kind, namespace, BY_NUMBER, (item(kind), shown))
    }

    pub(crate) fn new(
        kind: &'static Kind,
        namespace: &str,
        naming: Naming,
        (item, show): (Item, Show),
    ) -> Arc<Self> {
        let compiled = item.compile().expect("the schema of a version is well formed");
        Arc::new(Self { kind, namespace: namespace.to_owned(), naming, item, compiled, show })
    }

    /// The same with more fields.
    pub(crate) fn with_fields(&self, more: Vec<(&'static str, Schema)>) -> Arc<Self> {
        let properties = self.item.schema().get("properties").and_then(Value::as_object);
        let mut properties = properties.cloned().unwrap_or_default();
        properties.extend(more.into_iter().map(|(name, field)| (name.to_owned(), field.into())));
        let schema = self.item.schema().clone().keyword("properties", properties);
        let item = Item::new(self.item.title(), schema);
        Self::new(self.kind, &self.namespace, self.naming, (item, self.show))
    }

    /// The path of the item's part named `part`, with a gap for the item's name.
    pub(crate) fn pattern(&self, variable: &str, part: &str) -> String {
        format!("/{}/(?P<{variable}>{})/{part}", self.kind.base, self.naming.pattern)
    }

    pub(crate) fn path_of(&self, row: &PostRow) -> String {
        format!("/{}/{}/{}", self.namespace, self.kind.base, (self.naming.name)(row))
    }

    /// The item that the parameter names.
    pub(crate) fn parent(
        &self,
        call: &mut Call<'_>,
        parameter: &str,
        missing: fn() -> Refusal,
    ) -> Result<PostRow, Stop> {
        (self.naming.find)(call, self.kind, parameter, missing)
    }

    /// The item, for those who may see versions of it: who may edit it.
    pub(crate) fn readable_parent(
        &self,
        call: &mut Call<'_>,
        parameter: &str,
    ) -> Result<PostRow, Stop> {
        let parent = self.parent(call, parameter, invalid_parent)?;
        if permit::may_edit(&call.visit.identity, &parent) {
            return Ok(parent);
        }
        let message = "You are not allowed to view the revisions of this item.";
        Err(call.deny("rest_cannot_read", message).into())
    }

    /// The version's fields in a view, with more of them, and its links.
    pub(crate) fn prepare(
        &self,
        call: &mut Call<'_>,
        (parent, version): (&PostRow, &Version),
        more: Vec<(&str, Value)>,
        context: &str,
    ) -> Result<(Value, Links), Error> {
        let mut fields = (self.show)(call, parent, version)?;
        if let Some(members) = fields.as_object_mut() {
            members.extend(more.into_iter().map(|(name, value)| (name.to_owned(), value)));
        }
        let links = Links::new().to("parent", call.visit.rest(&self.path_of(parent)));
        Ok((self.compiled.filter_by_context(fields, context), links))
    }
}

pub(crate) fn invalid_parent() -> Refusal {
    Refusal::new(404, "rest_post_invalid_parent", "Invalid item ID.")
}

/// Who made a version and when.
pub(crate) fn origin_fields() -> Vec<(&'static str, Schema)> {
    let date = |about: &str| Schema::date_time().about(about);
    let number = |about: &str| Schema::integer().about(about).context(ALL);
    vec![
        ("author", number("Id of the user who made the change.")),
        ("date", date("When it was kept, in the site's time.").context(ALL)),
        ("date_gmt", date("When it was kept, in UTC.").context(FULL)),
        ("id", number("Its number on the site.")),
        ("modified", date("When it was kept, in the site's time.").context(FULL)),
        ("modified_gmt", date("When it was kept, in UTC.").context(FULL)),
        ("parent", number("Id of the item that it is a version of.")),
    ]
}

pub(crate) fn origin(row: &RevisionRow) -> Value {
    let (date, date_gmt) = (dates::written(row.date), dates::written(row.date_gmt));
    json!({
        "author": row.author_id,
        "date": date,
        "date_gmt": date_gmt,
        "id": row.revision_id,
        "modified": date,
        "modified_gmt": date_gmt,
        "parent": row.post_id,
    })
}

fn item(kind: &Kind) -> Item {
    let mut fields = origin_fields();
    fields.push(("guid", schema::guid()));
    fields.push(("slug", Schema::text().about("Its name.").context(ALL)));
    fields.extend(schema::texts_of(kind));
    Item::new(&format!("{}-revision", kind.name), Schema::object(fields))
}

#[expect(clippy::unnecessary_wraps, reason = "it has the form of every version")]
fn shown(call: &mut Call<'_>, _: &PostRow, version: &Version) -> Result<Value, Error> {
    let Version { row, word } = version;
    let guid = call.visit.page(&format!("/?p={}", row.revision_id));
    let excerpt = render::excerpt(&row.excerpt, "", render::EXCERPT_WORDS);
    let mut fields = origin(row);
    let texts = json!({
        "slug": format!("{}-{word}-v1", row.post_id),
        "guid": { "rendered": guid, "raw": guid },
        "title": { "raw": row.title, "rendered": render::title(&row.title) },
        "content": { "raw": row.content, "rendered": render::content(&row.content) },
        "excerpt": { "raw": row.excerpt, "rendered": excerpt },
    });
    if let (Some(members), Value::Object(texts)) = (fields.as_object_mut(), texts) {
        members.extend(texts);
    }
    Ok(fields)
}
