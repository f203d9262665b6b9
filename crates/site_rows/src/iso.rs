//! ISOs, the tenants of the onboarding side.

use db::{Conn, Row, statements};
use types::{IsoId, Result, Timestamp};

/// The state of an ISO that still waits for the operator's word.
pub const PENDING_APPROVAL: &str = "pending_approval";

/// An ISO as stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IsoRow {
    pub iso_id: IsoId,
    pub name: String,
    pub response_style: String,
    /// The ISO's data key, wrapped by the master key.
    pub data_key: Vec<u8>,
    pub created: Timestamp,
}

statements! {
    ISO_INSERT =
        "INSERT INTO isos (iso_id, name, response_style, data_key, created_us)
         VALUES ($1, $2, $3, $4, $5)";
    ISO_LIST =
        "SELECT iso_id, name, response_style, data_key, created_us FROM isos
         ORDER BY created_us, iso_id";
    ISO_GET =
        "SELECT iso_id, name, response_style, data_key, created_us FROM isos WHERE iso_id = $1";
    ISO_UPDATE = "UPDATE isos SET name = $1, response_style = $2 WHERE iso_id = $3";
    ISO_PAGE =
        "SELECT iso_id, name, response_style, data_key, created_us FROM isos
         WHERE iso_id > $1 ORDER BY iso_id LIMIT $2";
    ISO_COUNT = "SELECT COUNT(*) FROM isos";
    ISO_DATA_KEY_SET = "UPDATE isos SET data_key = $1 WHERE iso_id = $2";
}

impl IsoRow {
    pub fn read(row: &dyn Row) -> Result<Self> {
        Ok(Self {
            iso_id: row.get(0)?,
            name: row.get(1)?,
            response_style: row.get(2)?,
            data_key: row.get(3)?,
            created: row.get(4)?,
        })
    }
}

pub fn insert(conn: &mut dyn Conn, iso: &IsoRow) -> Result<()> {
    conn.execute_one(
        &ISO_INSERT,
        &[
            (&iso.iso_id).into(),
            (&iso.name).into(),
            (&iso.response_style).into(),
            (&iso.data_key).into(),
            iso.created.into(),
        ],
    )
}

pub fn list(conn: &mut dyn Conn) -> Result<Vec<IsoRow>> {
    conn.rows(&ISO_LIST, &[], IsoRow::read)
}

pub fn get(conn: &mut dyn Conn, iso_id: &IsoId) -> Result<Option<IsoRow>> {
    conn.row(&ISO_GET, &[iso_id.into()], IsoRow::read)
}

/// The ISOs behind an id, in the order of their ids.
pub fn page(conn: &mut dyn Conn, after: &str, limit: i64) -> Result<Vec<IsoRow>> {
    conn.rows(&ISO_PAGE, &[after.into(), limit.into()], IsoRow::read)
}

pub fn count(conn: &mut dyn Conn) -> Result<i64> {
    Ok(conn.row(&ISO_COUNT, &[], |row| row.get(0))?.unwrap_or(0))
}

/// Stores the ISO's data key in another form.
pub fn data_key_set(conn: &mut dyn Conn, iso_id: &IsoId, data_key: &[u8]) -> Result<()> {
    conn.execute_one(&ISO_DATA_KEY_SET, &[data_key.into(), iso_id.into()])
}

/// Changes the name and the style of answers.
pub fn update(conn: &mut dyn Conn, iso: &IsoRow) -> Result<()> {
    let params = [(&iso.name).into(), (&iso.response_style).into(), (&iso.iso_id).into()];
    conn.execute_one(&ISO_UPDATE, &params)
}
