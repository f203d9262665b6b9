//! Templates of terminal parameters with all their versions, and what an ISO sets for all its TPNs.

use db::{Conn, Record as _, statements};
use types::{IsoId, Result, TemplateId, Timestamp};

db::record! {
    /// A template in its newest version.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct TemplateRow in "templates", key(iso_id: IsoId, template_id: TemplateId) {
        name: String,
        version: i64,
        /// A JSON object.
        parameters: String,
        created: Timestamp,
        updated: Timestamp,
        /// Since when no TPN can be given it any more.
        retired: Option<Timestamp>,
    }
}

db::record! {
    /// What an ISO sets for all its TPNs.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct DefaultsRow in "iso_defaults", key(iso_id: IsoId) {
        version: i64,
        /// A JSON object.
        parameters: String,
        updated: Timestamp,
    }
}

statements! {
    TEMPLATE_INSERT = db::insert!(TemplateRow, "ON CONFLICT (iso_id, name) DO NOTHING");
    TEMPLATE_UPDATE = db::update!(TemplateRow);
    TEMPLATE_VERSION_INSERT =
        "INSERT INTO template_versions (iso_id, template_id, version, parameters, created_us)
         VALUES ($1, $2, $3, $4, $5)
         ON CONFLICT (iso_id, template_id, version) DO NOTHING";
    TEMPLATE_VERSION_GET =
        "SELECT parameters FROM template_versions
         WHERE iso_id = $1 AND template_id = $2 AND version = $3";
    TEMPLATE_LIST = db::select!(TemplateRow, "ORDER BY iso_id, name");
    TEMPLATE_PAGE =
        db::select!(TemplateRow, "WHERE iso_id = $1 AND name > $2 ORDER BY name LIMIT $3");
    TEMPLATE_GET = db::select!(TemplateRow, "WHERE iso_id = $1 AND name = $2");
    TEMPLATE_FIND =
        "SELECT template_id, version FROM templates
         WHERE iso_id = $1 AND name = $2 AND retired_us IS NULL";
    TEMPLATE_NAME = "SELECT name FROM templates WHERE iso_id = $1 AND template_id = $2";
    DEFAULTS_GET = db::select!(DefaultsRow, "WHERE iso_id = $1");
    DEFAULTS_PUT = db::upsert!(DefaultsRow);
}

/// Returns whether the name was free.
pub fn insert(conn: &mut dyn Conn, template: &TemplateRow) -> Result<bool> {
    let inserted = conn.insert(&TEMPLATE_INSERT, template)?;
    if inserted == 1 {
        keep_version(conn, template)?;
    }
    Ok(inserted == 1)
}

/// Stores a new version, or that the template is retired.
pub fn update(conn: &mut dyn Conn, template: &TemplateRow) -> Result<()> {
    conn.update(&TEMPLATE_UPDATE, template)?;
    keep_version(conn, template)
}

fn keep_version(conn: &mut dyn Conn, template: &TemplateRow) -> Result<()> {
    let params = [
        (&template.iso_id).into(),
        (&template.template_id).into(),
        template.version.into(),
        (&template.parameters).into(),
        template.updated.into(),
    ];
    conn.execute(&TEMPLATE_VERSION_INSERT, &params).map(drop)
}

/// The parameters of a version of the template.
pub fn version_parameters(
    conn: &mut dyn Conn,
    iso: &IsoId,
    id: &TemplateId,
    version: i64,
) -> Result<Option<String>> {
    let params = [iso.into(), id.into(), version.into()];
    conn.row(&TEMPLATE_VERSION_GET, &params, |row| row.get(0))
}

/// The templates of all ISOs.
pub fn list(conn: &mut dyn Conn) -> Result<Vec<TemplateRow>> {
    conn.rows(&TEMPLATE_LIST, &[], TemplateRow::read)
}

/// Up to `limit` templates of the ISO whose names come after `after`.
pub fn page(conn: &mut dyn Conn, iso: &IsoId, after: &str, limit: i64) -> Result<Vec<TemplateRow>> {
    conn.rows(&TEMPLATE_PAGE, &[iso.into(), after.into(), limit.into()], TemplateRow::read)
}

pub fn get(conn: &mut dyn Conn, iso: &IsoId, name: &str) -> Result<Option<TemplateRow>> {
    conn.row(&TEMPLATE_GET, &[iso.into(), name.into()], TemplateRow::read)
}

/// The name of one of the ISO's templates.
pub fn name(conn: &mut dyn Conn, iso: &IsoId, id: &TemplateId) -> Result<Option<String>> {
    conn.row(&TEMPLATE_NAME, &[iso.into(), id.into()], |row| row.get(0))
}

/// The id and current version of the ISO's template of that name, unless it is retired.
pub fn find(conn: &mut dyn Conn, iso: &IsoId, name: &str) -> Result<Option<(TemplateId, i64)>> {
    conn.row(&TEMPLATE_FIND, &[iso.into(), name.into()], |row| Ok((row.get(0)?, row.get(1)?)))
}

/// What the ISO sets for all its TPNs, if it ever did.
pub fn defaults(conn: &mut dyn Conn, iso: &IsoId) -> Result<Option<DefaultsRow>> {
    conn.row(&DEFAULTS_GET, &[iso.into()], DefaultsRow::read)
}

pub fn defaults_put(conn: &mut dyn Conn, row: &DefaultsRow) -> Result<()> {
    conn.insert(&DEFAULTS_PUT, row).map(drop)
}
