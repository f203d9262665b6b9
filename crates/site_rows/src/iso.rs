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

/// Changes the name and the style of answers.
pub fn update(conn: &mut dyn Conn, iso: &IsoRow) -> Result<()> {
    let params = [(&iso.name).into(), (&iso.response_style).into(), (&iso.iso_id).into()];
    conn.execute_one(&ISO_UPDATE, &params)
}
