//! A template, or a part of one: a file of the theme, what somebody made of it, or both.

use contract::rest::form::percent_decode;
use contract::rest::{CompiledItem, Item, Links, Refusal, Reply, Schema, Stop};
use db::filter::Page;
use frame::appearance::{active_name, active_stylesheet};
use frame::text::render;
use frame::{Call, dates};
use serde_json::{Value, json};
use site_rows::post::{self, PostFilter, PostRow};
use site_rows::{revision, user};
use types::{Capability, Error, Result};

use super::rules::is_of_a_rule;
use super::theme::{self, NO_AREA, TemplateFile};
use crate::posts::kind::{Kind, TEMPLATE_PART};
use crate::posts::schema::{ALL, EDIT, FULL};
use crate::posts::status;
use crate::posts::versions::{Naming, Version};

/// Templates of one kind that are kept.
pub(super) const KEPT_MAX: i64 = 500;
/// The meta field with the name of the theme that a template belongs to.
pub(super) const THEME: &str = "theme";
/// The meta field with the area of a part.
pub(super) const AREA: &str = "area";

/// What the operations on one kind share.
#[derive(Debug)]
pub(super) struct Collection {
    pub(super) kind: &'static Kind,
    pub(super) item: CompiledItem,
    pub(super) namespace: String,
}

/// What stands under one name.
#[derive(Clone, Debug)]
pub(super) struct Template {
    pub(super) kind: &'static Kind,
    pub(super) theme: String,
    pub(super) slug: String,
    pub(super) file: Option<&'static TemplateFile>,
    /// What somebody made, alone or instead of the file.
    pub(super) row: Option<PostRow>,
}

/// Templates are named by their theme and their slug.
pub(super) const BY_SLUG: Naming = Naming {
    pattern: r#"([^\/:<>\*\?"\|]+(?:\/[^\/:<>\*\?"\|]+)?)[\/\w%-]+"#,
    schema: Schema::text,
    find: find_row,
    name: |row| id_of(&meta(row, THEME), &row.slug),
};

pub(super) fn id_of(theme: &str, slug: &str) -> String {
    format!("{theme}//{slug}")
}

pub(super) fn meta(row: &PostRow, name: &str) -> String {
    let meta: Value = serde_json::from_str(&row.meta).unwrap_or(Value::Null);
    meta.get(name).and_then(Value::as_str).unwrap_or_default().to_owned()
}

/// Theme and slug of a name, whose slashes may be encoded, or be a single one.
fn parts_of(id: &str) -> Option<(String, String)> {
    let id = percent_decode(id);
    let parts = id.split_once("//").or_else(|| id.rsplit_once('/'));
    parts.map(|(theme, slug)| (theme.to_owned(), slug.to_owned()))
}

/// What people made of a kind for a theme, without what is in the trash.
fn rows(call: &mut Call<'_>, kind: &Kind, theme: &str) -> Result<Vec<PostRow>> {
    let wanted = PostFilter {
        kinds: vec![kind.name.to_owned()],
        statuses: status::settable().iter().map(|status| (*status).to_owned()).collect(),
        page: Page { offset: 0, limit: KEPT_MAX },
        ..PostFilter::default()
    };
    let (rows, _) = post::list(call.conn()?, &wanted)?;
    Ok(rows.into_iter().filter(|row| meta(row, THEME) == theme).collect())
}

/// All templates of a kind that hold now: what people made first, then the files of the theme.
pub(super) fn all(call: &mut Call<'_>, kind: &'static Kind) -> Result<Vec<Template>> {
    let theme = active_stylesheet(call.options());
    let of_row = |row: PostRow| Template {
        kind,
        theme: theme.clone(),
        slug: row.slug.clone(),
        file: theme::file(kind, &row.slug),
        row: Some(row),
    };
    let mut all: Vec<Template> = rows(call, kind, &theme)?.into_iter().map(of_row).collect();
    for file in theme::files(kind) {
        if !all.iter().any(|template| template.slug == file.slug) {
            let (theme, slug) = (theme.clone(), file.slug.to_owned());
            all.push(Template { kind, theme, slug, file: Some(file), row: None });
        }
    }
    Ok(all)
}

/// The template of a name.
pub(super) fn find(call: &mut Call<'_>, kind: &'static Kind, id: &str) -> Result<Option<Template>> {
    let Some((theme, slug)) = parts_of(id) else { return Ok(None) };
    if theme == active_stylesheet(call.options()) {
        return Ok(all(call, kind)?.into_iter().find(|template| template.slug == slug));
    }
    let row = rows(call, kind, &theme)?.into_iter().find(|row| row.slug == slug);
    Ok(row.map(|row| Template { kind, theme, slug, file: None, row: Some(row) }))
}

/// The template that a parameter names.
pub(super) fn named(
    call: &mut Call<'_>,
    kind: &'static Kind,
    parameter: &str,
) -> Result<Template, Stop> {
    let id = call.params.text(parameter).unwrap_or_default().to_owned();
    let missing = || Refusal::new(404, "rest_template_not_found", "There is no such template.");
    Ok(find(call, kind, &id)?.ok_or_else(missing)?)
}

/// What somebody made of a template; a file alone has no versions.
fn find_row(
    call: &mut Call<'_>,
    kind: &Kind,
    parameter: &str,
    missing: fn() -> Refusal,
) -> Result<PostRow, Stop> {
    let kind = crate::posts::kind::kind_of(kind.name).ok_or_else(missing)?;
    let id = call.params.text(parameter).unwrap_or_default().to_owned();
    let template = find(call, kind, &id)?.ok_or_else(missing)?;
    template.row.ok_or_else(|| {
        let message = "The template is a file of the theme, which nobody changed.";
        Refusal::new(400, "rest_invalid_template", message).into()
    })
}

pub(super) fn item(kind: &Kind) -> Item {
    let text = |about: &str| Schema::text().about(about);
    let shown = |about: &str| Schema::text().about(about).readonly();
    let raw = |about: &str| Schema::text().about(about);
    let slug = text("Its name within the theme.").pattern(r"[a-zA-Z0-9_\%-]+").min_length(1);
    let content = Schema::types(&["object", "string"]).properties([
        ("raw", raw("As it is stored.").context(FULL)),
        (
            "block_version",
            Schema::integer().about("Version of its blocks.").context(EDIT).readonly(),
        ),
    ]);
    let title = Schema::types(&["object", "string"]).properties([
        ("raw", raw("As it is stored.").context(ALL)),
        ("rendered", shown("As it is shown.").context(ALL)),
    ]);
    let modified = Schema::date_time().about("When it was last changed, in the site's time.");
    let mut fields = vec![
        ("id", shown("Theme and name.").context(ALL)),
        ("slug", slug.context(ALL).required()),
        ("theme", text("The theme that it belongs to.").context(ALL)),
        ("type", text("Kind of template.").context(ALL)),
        ("source", shown("Where it comes from.").context(ALL)),
        ("origin", shown("Where what was changed comes from.").or_null().context(ALL)),
        ("content", content.about("Its blocks.").default("").context(ALL)),
        ("title", title.about("Its title.").default("").context(ALL)),
        ("description", text("What it is for.").default("").context(ALL)),
        (
            "status",
            text("Its status.").choices(&status::settable()).default("publish").context(ALL),
        ),
        ("wp_id", Schema::integer().about("Number of what was changed.").context(ALL).readonly()),
        ("has_theme_file", Schema::boolean().about("Is a file.").context(ALL).readonly()),
        ("author", Schema::integer().about("Id of the user who made it.").context(FULL)),
        (
            "modified",
            modified.shown_as(Schema::types(&["string", "boolean"])).context(FULL).readonly(),
        ),
        ("author_text", shown("Who made it.").context(FULL)),
        (
            "original_source",
            shown("Who made it first.").choices(&["theme", "plugin", "site", "user"]).context(FULL),
        ),
    ];
    if kind.name == TEMPLATE_PART.name {
        fields.push(("area", text("Where the part belongs.").context(FULL)));
    } else {
        let custom = Schema::boolean().about("Whether items choose it.");
        fields.push(("is_custom", custom.context(ALL).readonly()));
    }
    Item::new(kind.name, Schema::object(fields))
}

impl Template {
    pub(super) fn id(&self) -> String {
        id_of(&self.theme, &self.slug)
    }

    /// Chosen by items, not by a rule.
    pub(super) fn is_custom(&self) -> bool {
        match self.file {
            Some(file) => file.is_custom(),
            None => !is_of_a_rule(&self.slug),
        }
    }

    pub(super) fn area(&self) -> String {
        let of_file = || self.file.map(|file| file.area.to_owned());
        let area = self.row.as_ref().map(|row| meta(row, AREA)).filter(|area| !area.is_empty());
        area.or_else(of_file).unwrap_or_else(|| NO_AREA.to_owned())
    }

    pub(super) fn content(&self) -> &str {
        let of_file = self.file.map_or("", |file| file.content);
        self.row.as_ref().map_or(of_file, |row| &row.content)
    }

    pub(super) fn title(&self) -> &str {
        let of_file = self.file.map_or(&*self.slug, |file| file.title);
        let of_row = self.row.as_ref().map(|row| row.title.as_str());
        of_row.filter(|title| !title.is_empty()).unwrap_or(of_file)
    }

    fn description(&self) -> &str {
        let of_file = self.file.map_or("", |file| file.description);
        let of_row = self.row.as_ref().map(|row| row.excerpt.as_str());
        of_row.filter(|text| !text.is_empty()).unwrap_or(of_file)
    }

    /// The fields of all views.
    pub(super) fn fields(&self, call: &mut Call<'_>) -> Result<Value, Error> {
        let row = self.row.as_ref();
        let author = match row {
            Some(row) if self.file.is_none() => user::get(call.conn()?, row.author_id)?,
            _ => None,
        };
        let by_theme = || active_name(call.options());
        let author_text = author.map_or_else(by_theme, |user| user.display_name);
        let origin = row.and(self.file).map(|_| "theme");
        let mut fields = json!({
            "id": self.id(),
            "theme": self.theme,
            "content": {
                "raw": self.content(),
                "block_version": i64::from(frame::text::blocks::has_blocks(self.content())),
            },
            "slug": self.slug,
            "source": if row.is_some() { "custom" } else { "theme" },
            "origin": origin,
            "type": self.kind.name,
            "description": self.description(),
            "title": { "raw": self.title(), "rendered": render::title(self.title()) },
            "status": row.map_or(status::PUBLISH, |row| &row.status),
            "wp_id": row.map_or(0, |row| row.post_id),
            "has_theme_file": self.file.is_some(),
            "author": row.map_or(0, |row| row.author_id),
            "modified": row.map_or(json!(false), |row| json!(dates::written(row.modified))),
            "author_text": author_text,
            "original_source": if self.file.is_some() { "theme" } else { "user" },
        });
        let more = if self.kind.name == TEMPLATE_PART.name {
            ("area", json!(self.area()))
        } else {
            ("is_custom", json!(self.is_custom()))
        };
        if let Some(members) = fields.as_object_mut() {
            members.insert(more.0.to_owned(), more.1);
        }
        Ok(fields)
    }

    pub(super) fn links(&self, call: &mut Call<'_>, namespace: &str) -> Result<Links, Error> {
        let visit = call.visit;
        let at = |path: &str| visit.rest(&format!("/{namespace}/{path}"));
        let own = at(&format!("{}/{}", self.kind.base, self.id()));
        let mut links = Links::new()
            .to("self", &*own)
            .to("collection", at(self.kind.base))
            .to("about", at(&format!("types/{}", self.kind.name)));
        let (count, latest) = match &self.row {
            Some(row) => revision::count(call.conn()?, row.post_id)?,
            None => (0, 0),
        };
        let history = format!("{own}/revisions");
        links = links.add("version-history", json!({ "count": count, "href": history }));
        if count > 0 {
            let target = json!({ "id": latest, "href": format!("{history}/{latest}") });
            links = links.add("predecessor-version", target);
        }
        let rights =
            [(self.kind.may.publish, "publish"), (Capability::UnfilteredHtml, "unfiltered-html")];
        let granted = rights.into_iter().filter(|(needed, _)| call.can(*needed));
        Ok(granted.fold(links, |links, (_, right)| links.to(&format!("wp:action-{right}"), &*own)))
    }
}

/// An earlier version of a template is shown as the template was.
pub(super) fn show_version(
    call: &mut Call<'_>,
    parent: &PostRow,
    version: &Version,
) -> Result<Value, Error> {
    let kind = crate::posts::kind::kind_of(&parent.kind);
    let kind = kind.ok_or_else(|| Error::internal("a template of no kind is versioned"))?;
    let earlier = &version.row;
    let row = PostRow {
        post_id: earlier.revision_id,
        author_id: earlier.author_id,
        title: earlier.title.clone(),
        content: earlier.content.clone(),
        excerpt: earlier.excerpt.clone(),
        modified: earlier.date,
        ..parent.clone()
    };
    let (theme, slug) = (meta(parent, THEME), parent.slug.clone());
    let file = theme::file(kind, &slug);
    let template = Template { kind, theme, slug, file, row: Some(row) };
    let mut fields = template.fields(call)?;
    if let Some(members) = fields.as_object_mut() {
        members.insert(String::from("parent"), json!(parent.post_id));
    }
    Ok(fields)
}

/// The answer with a template in a view.
pub(super) fn prepare(
    collection: &Collection,
    call: &mut Call<'_>,
    template: &Template,
    context: &str,
) -> Result<Reply, Stop> {
    let fields = template.fields(call)?;
    let links = template.links(call, &collection.namespace)?;
    Ok(Reply::new(collection.item.filter_by_context(fields, context)).links(links))
}
