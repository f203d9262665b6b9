//! Import of categories, their numbers kept.

use db::Conn;
use frame::bundle::records;
use serde::Deserialize;
use serde_json::{Value, json};
use site_rows::term::{self, TermRow};
use types::{Error, Result};

use super::{CATEGORY, DEFAULT_CATEGORY, write};

#[derive(Debug, Deserialize)]
struct Category {
    id: i64,
    name: String,
    slug: String,
    #[serde(default)]
    parent: i64,
    #[serde(default)]
    description: String,
    #[serde(default)]
    menu_order: i64,
}

pub(crate) fn default_category(conn: &mut dyn Conn, section: &Value) -> Result<usize> {
    let id = section.as_i64().ok_or_else(|| Error::invalid("expected a number"))?;
    frame::options::set(conn, DEFAULT_CATEGORY, &json!(id))?;
    Ok(1)
}

pub(crate) fn categories(conn: &mut dyn Conn, section: &Value) -> Result<usize> {
    let categories: Vec<Category> = records(section)?;
    make_room(conn, &categories)?;
    for category in &categories {
        let row = TermRow {
            term_id: category.id,
            taxonomy: CATEGORY.to_owned(),
            name: category.name.clone(),
            slug: category.slug.clone(),
            description: category.description.clone(),
            parent_id: category.parent,
            menu_order: category.menu_order,
            ..write::empty_row()
        };
        put(conn, row)?;
    }
    Ok(categories.len())
}

/// A shop that was founded before has a default category of its own; unused, it makes room for that
/// of the bundle.
fn make_room(conn: &mut dyn Conn, categories: &[Category]) -> Result<()> {
    for category in categories {
        let Some(founded) = term::find_by_slug(conn, CATEGORY, &category.slug)? else { continue };
        if founded.term_id != category.id && term::count(conn, founded.term_id)? == 0 {
            term::delete(conn, founded.term_id)?;
        }
    }
    Ok(())
}

/// Stores a term under its number. One that is there is replaced, but for what the bundle does not
/// know; a number that another taxonomy uses is refused.
pub(crate) fn put(conn: &mut dyn Conn, row: TermRow) -> Result<()> {
    match term::get(conn, row.term_id)? {
        None => term::insert_with_id(conn, &row),
        Some(present) if present.taxonomy == row.taxonomy => {
            term::update(conn, &TermRow { details: present.details, ..row }).map(drop)
        }
        Some(_) => {
            let message = format!("id {} belongs to a term of another taxonomy", row.term_id);
            Err(Error::conflict(message))
        }
    }
}
