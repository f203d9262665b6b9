//! Attributes of products whose values are terms: the terms of an attribute are in the taxonomy
//! [`taxonomy`] of its name.

use db::{Conn, Record, SITE, counter, statements};
use types::{Error, Kind, Result};

const ATTRIBUTE_ID: &str = "attribute.id";

db::record! {
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct AttributeRow in "attributes", fixed(site_id = SITE), key(attribute_id: i64) {
        /// The name in addresses, without the `pa_` of the taxonomy.
        name: String,
        /// What people read.
        label: String,
        kind: String,
        /// How its terms are sorted: `menu_order`, `name`, `name_num` or `id`.
        order_by: String,
        has_archives: bool,
    }
    folded { label as "label_key" }
}

statements! {
    ATTRIBUTE_INSERT = db::insert!(AttributeRow);
    ATTRIBUTE_UPDATE = db::update!(AttributeRow);
    ATTRIBUTE_DELETE = "DELETE FROM attributes WHERE site_id = $1 AND attribute_id = $2";
    ATTRIBUTE_GET = db::select!(AttributeRow, "WHERE site_id = $1 AND attribute_id = $2");
    ATTRIBUTE_BY_NAME = db::select!(AttributeRow, "WHERE site_id = $1 AND name = $2");
    ATTRIBUTE_ALL = db::select!(AttributeRow, "WHERE site_id = $1 ORDER BY name, attribute_id");
}

/// The taxonomy of the attribute with this name.
pub fn taxonomy(name: &str) -> String {
    format!("pa_{name}")
}

/// Inserts the attribute with the next id, whatever `attribute_id` says, and returns that id.
pub fn insert(conn: &mut dyn Conn, attribute: &AttributeRow) -> Result<i64> {
    conn.insert_next(&ATTRIBUTE_INSERT, attribute, ATTRIBUTE_ID).map_err(explain_conflict)
}

/// Inserts the attribute with the id that it comes with, and sees to it that the id is not given
/// again.
pub fn insert_with_id(conn: &mut dyn Conn, attribute: &AttributeRow) -> Result<()> {
    counter::raise(conn, ATTRIBUTE_ID, attribute.attribute_id)?;
    conn.insert(&ATTRIBUTE_INSERT, attribute).map(drop).map_err(explain_conflict)
}

/// Returns whether there is such an attribute. Terms and variations keep the old name.
pub fn update(conn: &mut dyn Conn, attribute: &AttributeRow) -> Result<bool> {
    conn.update_existing(&ATTRIBUTE_UPDATE, attribute).map_err(explain_conflict)
}

/// Returns whether there was such an attribute. Its terms stay.
pub fn delete(conn: &mut dyn Conn, attribute_id: i64) -> Result<bool> {
    Ok(conn.execute(&ATTRIBUTE_DELETE, &[SITE.into(), attribute_id.into()])? == 1)
}

pub fn get(conn: &mut dyn Conn, attribute_id: i64) -> Result<Option<AttributeRow>> {
    conn.row(&ATTRIBUTE_GET, &[SITE.into(), attribute_id.into()], AttributeRow::read)
}

pub fn find_by_name(conn: &mut dyn Conn, name: &str) -> Result<Option<AttributeRow>> {
    conn.row(&ATTRIBUTE_BY_NAME, &[SITE.into(), name.into()], AttributeRow::read)
}

/// All attributes, by name.
pub fn all(conn: &mut dyn Conn) -> Result<Vec<AttributeRow>> {
    conn.rows(&ATTRIBUTE_ALL, &[SITE.into()], AttributeRow::read)
}

fn explain_conflict(error: Error) -> Error {
    match error.kind() {
        Kind::Conflict => {
            Error::conflict("an attribute with this name exists already").because(error)
        }
        _ => error,
    }
}
