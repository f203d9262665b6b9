//! Classes of taxes beside the standard one, which is always there and has no row.

use db::{Conn, Row, SITE, statements};
use types::{Error, Kind, Result};

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TaxClassRow {
    pub slug: String,
    pub name: String,
    pub position: i64,
}

statements! {
    TAX_CLASS_INSERT =
        "INSERT INTO tax_classes (site_id, slug, name, position) VALUES ($1, $2, $3, $4)";
    TAX_CLASS_DELETE = "DELETE FROM tax_classes WHERE site_id = $1 AND slug = $2";
    TAX_CLASS_GET = "SELECT slug, name, position FROM tax_classes WHERE site_id = $1 AND slug = $2";
    TAX_CLASS_ALL =
        "SELECT slug, name, position FROM tax_classes WHERE site_id = $1 ORDER BY position, slug";
}

pub fn insert(conn: &mut dyn Conn, class: &TaxClassRow) -> Result<()> {
    let params = [SITE.into(), (&class.slug).into(), (&class.name).into(), class.position.into()];
    match conn.execute(&TAX_CLASS_INSERT, &params) {
        Err(error) if error.kind() == Kind::Conflict => {
            Err(Error::conflict("a tax class with this slug exists already").because(error))
        }
        inserted => inserted.map(drop),
    }
}

/// Returns whether there was such a class. Its rates stay.
pub fn delete(conn: &mut dyn Conn, slug: &str) -> Result<bool> {
    Ok(conn.execute(&TAX_CLASS_DELETE, &[SITE.into(), slug.into()])? == 1)
}

pub fn get(conn: &mut dyn Conn, slug: &str) -> Result<Option<TaxClassRow>> {
    conn.row(&TAX_CLASS_GET, &[SITE.into(), slug.into()], TaxClassRow::read)
}

/// All classes, by position.
pub fn all(conn: &mut dyn Conn) -> Result<Vec<TaxClassRow>> {
    conn.rows(&TAX_CLASS_ALL, &[SITE.into()], TaxClassRow::read)
}

impl TaxClassRow {
    fn read(row: &dyn Row) -> Result<Self> {
        Ok(Self { slug: row.get(0)?, name: row.get(1)?, position: row.get(2)? })
    }
}
