//! Making, changing and deleting terms, and the category that every site has.

use contract::rest::{Refusal, Reply, Stop};
use db::{Conn, filter};
use frame::tree::lies_within;
use frame::{Call, text};
use serde_json::{Value, json};
use site_rows::post;
use site_rows::term::{self, TermFilter, TermRow};
use types::{Capability, Error, Result};

use super::slug;
use super::taxonomy::{CATEGORY, Taxonomy};
use super::term::{Collection, prepare, term_of};

/// The category of posts that name none.
const DEFAULT_CATEGORY_ID: i64 = 1;
const DEFAULT_CATEGORY_NAME: &str = "Uncategorized";
/// How often a slug is tried with another number behind it.
const ATTEMPTS_MAX: u32 = 10_000;
/// Posts that are given another category at a time when theirs goes.
const POSTS_AT_A_TIME: i64 = 500;

/// Makes the default category of a new site.
pub(super) fn found(conn: &mut dyn Conn) -> Result<()> {
    let wanted = TermFilter {
        taxonomies: vec![CATEGORY.name.to_owned()],
        page: filter::Page { offset: 0, limit: 0 },
        ..TermFilter::default()
    };
    if term::list(conn, &wanted)?.1 > 0 || term::get(conn, DEFAULT_CATEGORY_ID)?.is_some() {
        return Ok(());
    }
    let row = TermRow {
        term_id: DEFAULT_CATEGORY_ID,
        taxonomy: CATEGORY.name.to_owned(),
        name: DEFAULT_CATEGORY_NAME.to_owned(),
        slug: slug::slugify(DEFAULT_CATEGORY_NAME),
        description: String::new(),
        parent_id: 0,
        menu_order: 0,
        details: String::from("{}"),
    };
    term::insert_with_id(conn, &row)
}

pub(super) fn create(collection: &Collection, call: &mut Call<'_>) -> Result<Reply, Stop> {
    let taxonomy = collection.taxonomy;
    let blank = TermRow {
        term_id: 0,
        taxonomy: taxonomy.name.to_owned(),
        name: String::new(),
        slug: String::new(),
        description: String::new(),
        parent_id: 0,
        menu_order: 0,
        details: String::from("{}"),
    };
    let mut row = changed(taxonomy, call, blank)?;
    row.term_id = term::insert(call.conn()?, &row)?;
    let (fields, links) = prepare(collection, call, &row, "edit")?;
    let location = call.visit.rest(&collection.path_of(row.term_id));
    Ok(Reply::created(fields, location).links(links))
}

pub(super) fn update(collection: &Collection, call: &mut Call<'_>) -> Result<Reply, Stop> {
    let before = term_of(collection.taxonomy, call)?;
    let row = changed(collection.taxonomy, call, before)?;
    term::update(call.conn()?, &row)?;
    let (fields, links) = prepare(collection, call, &row, "edit")?;
    Ok(Reply::new(fields).links(links))
}

pub(super) fn delete(collection: &Collection, call: &mut Call<'_>) -> Result<Reply, Stop> {
    let row = term_of(collection.taxonomy, call)?;
    if !call.params.flag("force") {
        let message = "Terms cannot be moved to the trash; set force to delete one.";
        return Err(Refusal::new(501, "rest_trash_not_supported", message).into());
    }
    let (previous, _) = prepare(collection, call, &row, "view")?;
    if collection.taxonomy.name == CATEGORY.name {
        let default = call.options().integer("default_category");
        replace_in_posts(call.conn()?, row.term_id, default)?;
    }
    term::delete(call.conn()?, row.term_id)?;
    Ok(Reply::new(json!({ "deleted": true, "previous": previous })))
}

/// Posts that had no other category get the default one.
fn replace_in_posts(conn: &mut dyn Conn, deleted: i64, default: i64) -> Result<(), Error> {
    let known = term::get(conn, default)?.is_some_and(|term| term.taxonomy == CATEGORY.name);
    if !known {
        return Ok(());
    }
    let mut offset = 0;
    loop {
        let wanted = post::PostFilter {
            terms: vec![post::TermCondition::AnyOf(vec![deleted])],
            order: post::PostOrder::Id,
            page: filter::Page { offset, limit: POSTS_AT_A_TIME },
            ..post::PostFilter::default()
        };
        let (rows, total) = post::list(conn, &wanted)?;
        for row in &rows {
            let terms = term::terms_of(conn, row.post_id, CATEGORY.name)?;
            if terms.len() == 1 {
                // It bears both until the other one is deleted.
                term::set_terms(conn, row.post_id, CATEGORY.name, &[deleted, default])?;
            }
        }
        offset += POSTS_AT_A_TIME;
        if offset >= total {
            return Ok(());
        }
    }
}

/// The term with what the request changes about it.
fn changed(taxonomy: &Taxonomy, call: &mut Call<'_>, before: TermRow) -> Result<TermRow, Stop> {
    let mut row = before.clone();
    set_parent(taxonomy, call, &mut row)?;
    if let Some(name) = call.params.text("name") {
        row.name = escaped(name);
    }
    if row.name.trim().is_empty() {
        let message = "Give the term a name.";
        return Err(Refusal::new(400, "empty_term_name", message).into());
    }
    if let Some(description) = call.params.text("description") {
        let description = description.replace('\0', "");
        let trusted = call.can(Capability::UnfilteredHtml);
        row.description = if trusted { description } else { text::clean_content(&description) };
    }
    if taxonomy.of_menus {
        set_menu(call, &mut row)?;
    }
    let given = call.params.text("slug").filter(|slug| !slug.is_empty()).map(str::to_owned);
    let is_new = before.term_id == 0;
    if is_new {
        refuse_namesake(call.conn()?, &row, given.is_some())?;
    }
    if is_new || given.is_some() {
        let own = given.is_some();
        let made_up = slug::slugify(&row.name);
        let made_up = if made_up.is_empty() { String::from("term") } else { made_up };
        let wanted = given.unwrap_or(made_up);
        row.slug = free_slug(call.conn()?, &row, &wanted, own)?;
    }
    Ok(row)
}

/// Whether new pages are added to a menu; no theme has places for one.
fn set_menu(call: &Call<'_>, row: &mut TermRow) -> Result<(), Stop> {
    if !call.params.texts("locations").is_empty() {
        let message = "The theme has no such place for a menu.";
        return Err(Refusal::new(400, "rest_invalid_menu_location", message).into());
    }
    if let Some(adds) = call.params.get("auto_add").and_then(Value::as_bool) {
        row.details = json!({ "auto_add": adds }).to_string();
    }
    Ok(())
}

/// Names are stored as HTML; the cleaning of the parameter took the tags away.
fn escaped(name: &str) -> String {
    text::clean_title(&name.replace('\0', ""))
}

fn set_parent(taxonomy: &Taxonomy, call: &mut Call<'_>, row: &mut TermRow) -> Result<(), Stop> {
    let Some(parent_id) = call.params.int("parent") else { return Ok(()) };
    if !taxonomy.hierarchical {
        let message = "Terms of this taxonomy have no hierarchy.";
        return Err(Refusal::new(400, "rest_taxonomy_not_hierarchical", message).into());
    }
    let known = match parent_id {
        0 => true,
        id => term::get(call.conn()?, id)?.is_some_and(|term| term.taxonomy == taxonomy.name),
    };
    if !known {
        let message = "Invalid parent ID.";
        return Err(Refusal::new(400, "rest_term_invalid", message).into());
    }
    let conn = call.conn()?;
    let parent_of = |id| Ok(term::get(conn, id)?.map_or(0, |row| row.parent_id));
    let circle = lies_within(parent_id, row.term_id, parent_of)?;
    row.parent_id = if circle { 0 } else { parent_id };
    Ok(())
}

/// Two terms with the same parent cannot have the same name, unless the new one brings a slug of
/// its own.
fn refuse_namesake(conn: &mut dyn Conn, row: &TermRow, has_slug: bool) -> Result<(), Stop> {
    let wanted = TermFilter {
        taxonomies: vec![row.taxonomy.clone()],
        search: Some(row.name.clone()),
        parent: Some(row.parent_id),
        ..TermFilter::default()
    };
    let (found, _) = term::list(conn, &wanted)?;
    let folded = filter::fold(&row.name);
    let namesake = found.iter().find(|term| filter::fold(&term.name) == folded);
    match namesake {
        Some(term) if !has_slug => Err(exists(term.term_id)),
        _ => Ok(()),
    }
}

fn exists(term_id: i64) -> Stop {
    let message = "A term with this name or slug already exists.";
    Refusal::new(400, "term_exists", message).with("term_id", term_id).into()
}

/// A slug that was asked for must be free; one that was made up gets a number.
fn free_slug(
    conn: &mut dyn Conn,
    row: &TermRow,
    wanted: &str,
    asked_for: bool,
) -> Result<String, Stop> {
    let mut candidate = wanted.to_owned();
    for number in 2..ATTEMPTS_MAX {
        match term::find_by_slug(conn, &row.taxonomy, &candidate)? {
            Some(other) if other.term_id != row.term_id => {
                if asked_for && row.term_id != 0 {
                    let message = "Another term has this slug; choose another one.";
                    return Err(Refusal::new(400, "duplicate_term_slug", message).into());
                }
                if asked_for {
                    return Err(exists(other.term_id));
                }
                candidate = format!("{wanted}-{number}");
            }
            _ => return Ok(candidate),
        }
    }
    Err(Error::conflict("too many terms share this slug; choose another one").into())
}
