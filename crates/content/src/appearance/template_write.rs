//! Making, changing and deleting templates. **A file of the theme is never changed**: what somebody
//! makes of it is kept beside it, and deleting that brings the file back.

use contract::rest::{Refusal, Reply, Stop};
use frame::appearance::active_stylesheet;
use frame::dates::Moment;
use frame::{Call, text};
use serde_json::{Value, json};
use site_rows::post::{self, PostRow};
use site_rows::{autosave, user};
use types::Capability;

use super::template::{self, AREA, Collection, KEPT_MAX, THEME, Template, prepare};
use super::theme::{self, AREAS, NO_AREA};
use crate::posts::kind::TEMPLATE_PART;
use crate::posts::status;
use crate::posts::write::{keep_revision, raw_text};

pub(super) fn create(collection: &Collection, call: &mut Call<'_>) -> Result<Reply, Stop> {
    let kind = collection.kind;
    let given = call.params.text("theme").filter(|theme| !theme.is_empty());
    let theme = given.map_or_else(|| active_stylesheet(call.options()), str::to_owned);
    let wanted = text::slugify(call.params.text("slug").unwrap_or_default());
    let known = template::all(call, kind)?;
    if i64::try_from(known.len()).unwrap_or(i64::MAX) >= KEPT_MAX {
        let message = "The site has as many templates as it can keep; delete one first.";
        return Err(Refusal::new(400, "rest_too_many_templates", message).into());
    }
    let is_taken = |slug: &str| {
        known.iter().any(|other| other.slug == slug && other.theme == theme && other.row.is_some())
    };
    let numbered = (2..).map(|number: u32| format!("{wanted}-{number}"));
    let mut names = std::iter::once(wanted.clone()).chain(numbered);
    let slug = names.find(|slug| !is_taken(slug)).unwrap_or(wanted);
    let file = theme::file(kind, &slug);
    let template = Template { kind, theme, slug, file, row: None };
    let template = store(call, template)?;
    let path = format!("/{}/{}/{}", collection.namespace, kind.base, template.id());
    let location = call.visit.rest(&path);
    let mut reply = prepare(collection, call, &template, "edit")?.header("location", location);
    reply.status = 201;
    Ok(reply)
}

pub(super) fn update(collection: &Collection, call: &mut Call<'_>) -> Result<Reply, Stop> {
    let mut template = template::named(call, collection.kind, "id")?;
    let reverts = call.params.text("source") == Some("theme");
    if let Some(row) = template.row.take_if(|_| reverts && template.file.is_some()) {
        remove(call, &row)?;
        return prepare(collection, call, &template, "edit");
    }
    let template = store(call, template)?;
    if let Some(row) = &template.row {
        keep_revision(call, collection.kind, row)?;
    }
    prepare(collection, call, &template, "edit")
}

pub(super) fn delete(collection: &Collection, call: &mut Call<'_>) -> Result<Reply, Stop> {
    let template = template::named(call, collection.kind, "id")?;
    let Some(row) = &template.row else {
        let message = "Files of the theme cannot be deleted.";
        return Err(Refusal::new(400, "rest_invalid_template", message).into());
    };
    if call.params.flag("force") {
        let mut previous = prepare(collection, call, &template, "edit")?;
        previous.links = contract::rest::Links::new();
        remove(call, row)?;
        let previous = previous.into_json().2;
        return Ok(Reply::new(json!({ "deleted": true, "previous": previous })));
    }
    let now = Moment::at(call.options(), call.now());
    let trashed = PostRow {
        status: status::TRASH.to_owned(),
        trashed_status: Some(row.status.clone()),
        trashed: Some(now.gmt),
        modified: now.local,
        modified_gmt: now.gmt,
        ..row.clone()
    };
    post::update(call.conn()?, &trashed)?;
    prepare(collection, call, &Template { row: Some(trashed), ..template }, "edit")
}

fn remove(call: &mut Call<'_>, row: &PostRow) -> Result<(), Stop> {
    post::delete(call.conn()?, row.post_id)?;
    autosave::delete_of(call.conn()?, row.post_id)?;
    Ok(())
}

/// Keeps the template with what the request says about it.
fn store(call: &mut Call<'_>, template: Template) -> Result<Template, Stop> {
    let now = Moment::at(call.options(), call.now());
    let blank = || PostRow {
        kind: template.kind.name.to_owned(),
        status: status::PUBLISH.to_owned(),
        slug: template.slug.clone(),
        title: template.title().to_owned(),
        content: template.content().to_owned(),
        author_id: call.user_id(),
        comment_status: String::from("closed"),
        ping_status: String::from("closed"),
        date: now.local,
        date_gmt: Some(now.gmt),
        meta: json!({ THEME: template.theme }).to_string(),
        ..PostRow::default()
    };
    let mut row = template.row.clone().unwrap_or_else(blank);
    (row.modified, row.modified_gmt) = (now.local, now.gmt);
    set_texts(call, &mut row);
    if let Some(status) = call.params.text("status") {
        status.clone_into(&mut row.status);
    }
    if let Some(author) = call.params.int("author").filter(|author| *author != 0) {
        if user::get(call.conn()?, author)?.is_none() {
            let message = "Invalid user ID.";
            return Err(Refusal::new(400, "rest_invalid_author", message).into());
        }
        row.author_id = author;
    }
    if template.kind.name == TEMPLATE_PART.name {
        set_area(call, &template, &mut row);
    }
    if row.post_id == 0 {
        row.post_id = post::insert(call.conn()?, &row)?;
    } else {
        post::update(call.conn()?, &row)?;
    }
    Ok(Template { row: Some(row), ..template })
}

fn set_texts(call: &Call<'_>, row: &mut PostRow) {
    let trusted = call.can(Capability::UnfilteredHtml);
    let text_of = |name: &str| raw_text(call, name).map(|text| text.replace('\0', ""));
    let cleaned = |text: String, clean: fn(&str) -> String| {
        if trusted { text } else { clean(&text) }
    };
    if let Some(title) = text_of("title").filter(|title| !title.is_empty()) {
        row.title = cleaned(title, text::clean_title);
    }
    if let Some(content) = text_of("content").filter(|_| call.params.given("content")) {
        row.content = cleaned(content, text::clean_content);
    }
    if let Some(description) = text_of("description").filter(|_| call.params.given("description")) {
        row.excerpt = cleaned(description, text::clean_content);
    }
}

/// A part belongs to an area that there is, or to none.
fn set_area(call: &Call<'_>, template: &Template, row: &mut PostRow) {
    let given = call.params.text("area").map(str::to_owned);
    let area = given.unwrap_or_else(|| template.area());
    let area = if AREAS.contains(&area.as_str()) { area } else { NO_AREA.to_owned() };
    let mut meta: Value = serde_json::from_str(&row.meta).unwrap_or_else(|_| json!({}));
    if let Some(members) = meta.as_object_mut() {
        members.insert(AREA.to_owned(), json!(area));
    }
    row.meta = meta.to_string();
}
