//! Templates of terminal parameters.

use types::{IsoId, Result, TemplateId, Timestamp};

use crate::conn::sql;
use crate::{Conn, Row, Sql};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TemplateRow {
    pub iso_id: IsoId,
    pub template_id: TemplateId,
    pub name: String,
    pub version: i64,
    /// A JSON object.
    pub parameters: String,
    pub created: Timestamp,
}

sql!(
    TEMPLATE_INSERT,
    "INSERT INTO templates (iso_id, template_id, name, version, parameters, created_us)
     VALUES ($1, $2, $3, $4, $5, $6)
     ON CONFLICT (iso_id, name) DO NOTHING"
);
sql!(
    TEMPLATE_LIST,
    "SELECT iso_id, template_id, name, version, parameters, created_us
     FROM templates ORDER BY iso_id, name"
);
sql!(TEMPLATE_FIND, "SELECT template_id, version FROM templates WHERE iso_id = $1 AND name = $2");

sql!(TEMPLATE_NAME, "SELECT name FROM templates WHERE iso_id = $1 AND template_id = $2");

pub(crate) const STATEMENTS: &[&Sql] =
    &[&TEMPLATE_INSERT, &TEMPLATE_LIST, &TEMPLATE_FIND, &TEMPLATE_NAME];

impl TemplateRow {
    fn read(row: &dyn Row) -> Result<Self> {
        Ok(Self {
            iso_id: row.get(0)?,
            template_id: row.get(1)?,
            name: row.get(2)?,
            version: row.get(3)?,
            parameters: row.get(4)?,
            created: row.get(5)?,
        })
    }
}

/// Returns whether the name was free.
pub fn insert(conn: &mut dyn Conn, template: &TemplateRow) -> Result<bool> {
    let inserted = conn.execute(
        &TEMPLATE_INSERT,
        &[
            (&template.iso_id).into(),
            (&template.template_id).into(),
            (&template.name).into(),
            template.version.into(),
            (&template.parameters).into(),
            template.created.into(),
        ],
    )?;
    Ok(inserted == 1)
}

pub fn list(conn: &mut dyn Conn) -> Result<Vec<TemplateRow>> {
    conn.rows(&TEMPLATE_LIST, &[], TemplateRow::read)
}

/// The name of one of the ISO's templates.
pub fn name(conn: &mut dyn Conn, iso: &IsoId, id: &TemplateId) -> Result<Option<String>> {
    conn.row(&TEMPLATE_NAME, &[iso.into(), id.into()], |row| row.get(0))
}

/// The id and current version of the ISO's template of that name.
pub fn find(conn: &mut dyn Conn, iso: &IsoId, name: &str) -> Result<Option<(TemplateId, i64)>> {
    conn.row(&TEMPLATE_FIND, &[iso.into(), name.into()], |row| Ok((row.get(0)?, row.get(1)?)))
}
