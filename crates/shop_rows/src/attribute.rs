//! Attributes of products whose values are terms: the terms of an attribute are in the taxonomy
//! [`taxonomy`] of its name.

use db::filter::fold;
use db::{Conn, Row, SITE, Sql, Val, counter, statements};
use types::{Error, Kind, Result};

const ATTRIBUTE_ID: &str = "attribute.id";

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AttributeRow {
    pub attribute_id: i64,
    /// The name in addresses, without the `pa_` of the taxonomy.
    pub name: String,
    /// What people read.
    pub label: String,
    pub kind: String,
    /// How its terms are sorted: `menu_order`, `name`, `name_num` or `id`.
    pub order_by: String,
    pub has_archives: bool,
}

/// What [`AttributeRow::read`] reads, in its order.
macro_rules! attribute_columns {
    () => {
        "attribute_id, name, label, kind, order_by, has_archives"
    };
}

statements! {
    ATTRIBUTE_INSERT =
        "INSERT INTO attributes
           (name, label, label_key, kind, order_by, has_archives, site_id, attribute_id)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8)";
    ATTRIBUTE_UPDATE =
        "UPDATE attributes SET name = $1, label = $2, label_key = $3, kind = $4, order_by = $5,
           has_archives = $6
         WHERE site_id = $7 AND attribute_id = $8";
    ATTRIBUTE_DELETE = "DELETE FROM attributes WHERE site_id = $1 AND attribute_id = $2";
    ATTRIBUTE_GET = concat!(
        "SELECT ",
        attribute_columns!(),
        " FROM attributes WHERE site_id = $1 AND attribute_id = $2"
    );
    ATTRIBUTE_BY_NAME = concat!(
        "SELECT ",
        attribute_columns!(),
        " FROM attributes WHERE site_id = $1 AND name = $2"
    );
    ATTRIBUTE_ALL = concat!(
        "SELECT ",
        attribute_columns!(),
        " FROM attributes WHERE site_id = $1 ORDER BY name, attribute_id"
    );
}

/// The taxonomy of the attribute with this name.
pub fn taxonomy(name: &str) -> String {
    format!("pa_{name}")
}

/// Inserts the attribute with the next id, whatever `attribute_id` says, and returns that id.
pub fn insert(conn: &mut dyn Conn, attribute: &AttributeRow) -> Result<i64> {
    let attribute_id = counter::take(conn, ATTRIBUTE_ID, 1)? + 1;
    write(conn, &ATTRIBUTE_INSERT, attribute, attribute_id)?;
    Ok(attribute_id)
}

/// Inserts the attribute with the id that it comes with, and sees to it that the id is not given
/// again.
pub fn insert_with_id(conn: &mut dyn Conn, attribute: &AttributeRow) -> Result<()> {
    counter::raise(conn, ATTRIBUTE_ID, attribute.attribute_id)?;
    write(conn, &ATTRIBUTE_INSERT, attribute, attribute.attribute_id).map(drop)
}

/// Returns whether there is such an attribute. Terms and variations keep the old name.
pub fn update(conn: &mut dyn Conn, attribute: &AttributeRow) -> Result<bool> {
    write(conn, &ATTRIBUTE_UPDATE, attribute, attribute.attribute_id)
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

fn write(conn: &mut dyn Conn, sql: &Sql, row: &AttributeRow, attribute_id: i64) -> Result<bool> {
    let label_key = fold(&row.label);
    let params: [Val<'_>; 8] = [
        (&row.name).into(),
        (&row.label).into(),
        (&label_key).into(),
        (&row.kind).into(),
        (&row.order_by).into(),
        row.has_archives.into(),
        SITE.into(),
        attribute_id.into(),
    ];
    match conn.execute(sql, &params) {
        Err(error) if error.kind() == Kind::Conflict => {
            Err(Error::conflict("an attribute with this name exists already").because(error))
        }
        written => Ok(written? == 1),
    }
}

impl AttributeRow {
    fn read(row: &dyn Row) -> Result<Self> {
        Ok(Self {
            attribute_id: row.get(0)?,
            name: row.get(1)?,
            label: row.get(2)?,
            kind: row.get(3)?,
            order_by: row.get(4)?,
            has_archives: row.get(5)?,
        })
    }
}
