//! Making, changing and deleting terms, each with its event.

use contract::rest::{Refusal, Stop, clean, loose};
use db::{Conn, filter};
use frame::Call;
use frame::text::{clean_content, clean_title, slugify};
use frame::tree::lies_within;
use serde_json::{Value, json};
use shop_rows::product;
use site_rows::term::{self, TermFilter, TermRow};
use types::{Capability, Error};

use super::item::DISPLAYS;
use super::{CATEGORY, DEFAULT_CATEGORY, TermKind, image};
use crate::common::events;

/// Characters of a name.
const NAME_LENGTH_MAX: usize = 200;
/// How often a slug is tried with another number behind it.
const ATTEMPTS_MAX: u32 = 10_000;

/// Levels of terms that are looked at for a circle.
const DEPTH_MAX: usize = 100;

/// A term of which nothing is known yet.
pub(crate) fn empty_row() -> TermRow {
    TermRow {
        term_id: 0,
        taxonomy: String::new(),
        name: String::new(),
        slug: String::new(),
        description: String::new(),
        parent_id: 0,
        menu_order: 0,
        details: String::from("{}"),
    }
}

pub(super) fn create(
    kind: TermKind,
    call: &mut Call<'_>,
    taxonomy: String,
) -> Result<TermRow, Stop> {
    let mut row = TermRow { taxonomy, ..empty_row() };
    set_parent(kind, call, &mut row)?;
    set_texts(call, &mut row)?;
    let wanted = requested_slug(call);
    refuse_namesake(kind, call.conn()?, &row, wanted.as_deref())?;
    let own = wanted.unwrap_or_else(|| slugify(&row.name));
    let own = if own.is_empty() { String::from("term") } else { own };
    row.slug = free_slug(call.conn()?, kind, &row, &own)?;
    set_details(kind, call, &mut row)?;
    if let Some(id) = call.kept_id() {
        row.term_id = id;
        term::insert_with_id(call.conn()?, &row)?;
    } else {
        row.term_id = term::insert(call.conn()?, &row)?;
    }
    append_event(call, "term.created", &row)?;
    Ok(row)
}

pub(super) fn update(kind: TermKind, call: &mut Call<'_>, row: TermRow) -> Result<TermRow, Stop> {
    let before = row;
    let mut row = before.clone();
    set_parent(kind, call, &mut row)?;
    set_texts(call, &mut row)?;
    if let Some(slug) = requested_slug(call) {
        let taken = term::find_by_slug(call.conn()?, &row.taxonomy, &slug)?;
        let is_taken = taken.is_some_and(|other| other.term_id != row.term_id);
        if is_taken && row.parent_id == before.parent_id {
            let message = "This slug is already in use; choose another one.";
            return Err(Refusal::new(400, "duplicate_term_slug", message).into());
        }
        row.slug = free_slug(call.conn()?, kind, &row, &slug)?;
    }
    set_details(kind, call, &mut row)?;
    term::update(call.conn()?, &row)?;
    if kind == TermKind::AttributeTerm && row.slug != before.slug {
        product::rename_value(call.conn()?, &row.taxonomy, &before.slug, &row.slug)?;
    }
    append_event(call, "term.updated", &row)?;
    Ok(row)
}

pub(super) fn delete(call: &mut Call<'_>, row: &TermRow) -> Result<(), Stop> {
    if row.taxonomy == CATEGORY && call.options().integer(DEFAULT_CATEGORY) == row.term_id {
        let message = "The default category cannot be deleted; set another default first.";
        return Err(Refusal::new(400, "woocommerce_rest_cannot_delete", message).into());
    }
    term::delete(call.conn()?, row.term_id)?;
    append_event(call, "term.deleted", row)?;
    Ok(())
}

fn append_event(call: &mut Call<'_>, kind: &'static str, row: &TermRow) -> Result<(), Error> {
    events::append(call, kind, row.term_id, &json!({ "taxonomy": row.taxonomy }))
}

/// A text of the request; numbers are read as texts, as clients are used to.
fn text(call: &Call<'_>, name: &str) -> Option<String> {
    call.params.get(name).and_then(loose::scalar_text).map(|text| text.replace('\0', ""))
}

fn requested_slug(call: &Call<'_>) -> Option<String> {
    text(call, "slug").map(|slug| slugify(&slug)).filter(|slug| !slug.is_empty())
}

fn set_texts(call: &mut Call<'_>, row: &mut TermRow) -> Result<(), Stop> {
    if let Some(name) = text(call, "name") {
        // Names are stored as HTML.
        row.name = clean_title(&clean::text_field(&name));
    }
    if row.name.is_empty() {
        return Err(Refusal::new(400, "empty_term_name", "A name is required.").into());
    }
    if row.name.chars().count() > NAME_LENGTH_MAX {
        let message = format!("The name must have at most {NAME_LENGTH_MAX} characters.");
        return Err(Refusal::new(400, "term_name_too_long", message).into());
    }
    if let Some(description) = text(call, "description") {
        let trusted = call.can(Capability::UnfilteredHtml);
        row.description = if trusted { description } else { clean_content(&description) };
    }
    Ok(())
}

fn set_parent(kind: TermKind, call: &mut Call<'_>, row: &mut TermRow) -> Result<(), Stop> {
    let Some(parent) = call.params.get("parent") else { return Ok(()) };
    let parent_id = loose::to_int(parent).max(0);
    if !kind.is_hierarchical() {
        let message = "These terms have no hierarchy.";
        return Err(Refusal::new(400, "woocommerce_rest_taxonomy_not_hierarchical", message).into());
    }
    let parent = if parent_id == 0 { None } else { term::get(call.conn()?, parent_id)? };
    if parent_id != 0 && parent.is_none_or(|parent| parent.taxonomy != row.taxonomy) {
        let message = "Parent term not found.";
        return Err(Refusal::new(400, "missing_parent", message).into());
    }
    let conn = call.conn()?;
    let parent_of = |id| Ok(term::get(conn, id)?.map_or(0, |row| row.parent_id));
    let is_circle = lies_within(parent_id, row.term_id, parent_of)?;
    row.parent_id = if is_circle { 0 } else { parent_id };
    Ok(())
}

fn set_details(kind: TermKind, call: &mut Call<'_>, row: &mut TermRow) -> Result<(), Stop> {
    if kind.has_menu_order()
        && let Some(order) = call.params.get("menu_order")
    {
        row.menu_order = loose::to_int(order);
    }
    if !kind.is_hierarchical() {
        return Ok(());
    }
    let mut details: Value = serde_json::from_str(&row.details).unwrap_or_else(|_| json!({}));
    if let Some(display) = call.params.text("display") {
        let known = DISPLAYS.iter().find(|known| **known == display).unwrap_or(&"default");
        if let Some(members) = details.as_object_mut() {
            members.insert(String::from("display"), json!(known));
        }
    }
    if call.params.given("image") {
        let asked = call.params.get("image").cloned().unwrap_or_default();
        let image = image::wanted(call, &asked, details.get("image"))?;
        if let Some(members) = details.as_object_mut() {
            members.insert(String::from("image"), image);
        }
    }
    row.details = details.to_string();
    Ok(())
}

/// Two terms of one parent do not have the same name, unless the new one has a slug of its own.
fn refuse_namesake(
    kind: TermKind,
    conn: &mut dyn Conn,
    row: &TermRow,
    slug: Option<&str>,
) -> Result<(), Stop> {
    let wanted = TermFilter {
        taxonomies: vec![row.taxonomy.clone()],
        search: Some(row.name.clone()),
        parent: kind.is_hierarchical().then_some(row.parent_id),
        ..TermFilter::default()
    };
    let (found, _) = term::list(conn, &wanted)?;
    let folded = filter::fold(&row.name);
    let namesake = found.iter().find(|term| filter::fold(&term.name) == folded);
    let Some(namesake) = namesake else { return Ok(()) };
    let own_slug_is_free = match slug {
        None => false,
        Some(slug) => term::find_by_slug(conn, &row.taxonomy, slug)?.is_none(),
    };
    if own_slug_is_free {
        return Ok(());
    }
    let message = "A term with this name already exists; use it or choose another name.";
    Err(Refusal::new(400, "term_exists", message).with("resource_id", namesake.term_id).into())
}

/// The wanted slug if it is free for the term; else with the slugs of those in which it lies behind
/// it, else with a number.
pub(super) fn free_slug(
    conn: &mut dyn Conn,
    kind: TermKind,
    row: &TermRow,
    wanted: &str,
) -> Result<String, Stop> {
    let is_free = |conn: &mut dyn Conn, slug: &str| -> Result<bool, Error> {
        let other = term::find_by_slug(conn, &row.taxonomy, slug)?;
        Ok(other.is_none_or(|other| other.term_id == row.term_id))
    };
    let mut base = wanted.to_owned();
    if is_free(conn, &base)? {
        return Ok(base);
    }
    let mut parent_id = if kind.is_hierarchical() { row.parent_id } else { 0 };
    for _ in 0..DEPTH_MAX {
        let Some(parent) = term::get(conn, parent_id)? else { break };
        base = format!("{base}-{}", parent.slug);
        if is_free(conn, &base)? {
            return Ok(base);
        }
        parent_id = parent.parent_id;
    }
    for number in 2..ATTEMPTS_MAX {
        let candidate = format!("{base}-{number}");
        if is_free(conn, &candidate)? {
            return Ok(candidate);
        }
    }
    Err(Error::conflict("too many terms have this slug; choose another one").into())
}
