//! Devices on TPNs, and the one-time codes by which they get there. Secrets are hashes here.

use db::{Conn, Row, statements};
use types::{IsoId, Result, Timestamp, Tpn};

/// A code that has not been used yet. A TPN has one at most.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PairingCode {
    pub iso_id: IsoId,
    pub tpn: Tpn,
    pub code_hash: Vec<u8>,
    pub created: Timestamp,
    pub expires: Timestamp,
}

/// The device that a TPN is bound to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceRow {
    pub iso_id: IsoId,
    pub tpn: Tpn,
    pub device_id: String,
    pub token_hash: Vec<u8>,
    pub serial_number: String,
    pub bound: Timestamp,
    pub last_seen: Option<Timestamp>,
    /// The tag and the JSON object of the parameters that it was last given.
    pub parameters: Option<(String, String)>,
}

statements! {
    PAIRING_PUT =
        "INSERT INTO pairing_codes (iso_id, tpn, code_hash, created_us, expires_us)
         VALUES ($1, $2, $3, $4, $5)
         ON CONFLICT (iso_id, tpn) DO UPDATE SET code_hash = excluded.code_hash,
           created_us = excluded.created_us, expires_us = excluded.expires_us";
    PAIRING_FIND =
        "SELECT iso_id, tpn, code_hash, created_us, expires_us
         FROM pairing_codes WHERE code_hash = $1";
    PAIRING_DELETE = "DELETE FROM pairing_codes WHERE iso_id = $1 AND tpn = $2";
    DEVICE_INSERT =
        "INSERT INTO devices (iso_id, tpn, device_id, token_hash, serial_number, bound_us)
         VALUES ($1, $2, $3, $4, $5, $6)";
    DEVICE_DELETE = "DELETE FROM devices WHERE iso_id = $1 AND tpn = $2";
    DEVICE_GET =
        "SELECT iso_id, tpn, device_id, token_hash, serial_number, bound_us, last_seen_us,
            parameters_tag, parameters
         FROM devices WHERE iso_id = $1 AND tpn = $2";
    DEVICE_BY_TOKEN =
        "SELECT iso_id, tpn, device_id, token_hash, serial_number, bound_us, last_seen_us,
            parameters_tag, parameters
         FROM devices WHERE token_hash = $1";
    // Asked for in the sandbox only, where devices are few.
    DEVICE_BY_SERIAL =
        "SELECT iso_id, tpn, device_id, token_hash, serial_number, bound_us, last_seen_us,
            parameters_tag, parameters
         FROM devices WHERE iso_id = $1 AND serial_number = $2 LIMIT 1";
    DEVICE_SEEN =
        "UPDATE devices SET last_seen_us = $1, parameters_tag = $2, parameters = $3
         WHERE iso_id = $4 AND tpn = $5";
}

/// Stores a code; the one that the TPN had before is worth nothing any more.
pub fn pairing_put(conn: &mut dyn Conn, code: &PairingCode) -> Result<()> {
    let PairingCode { iso_id, tpn, code_hash, created, expires } = code;
    let params =
        [iso_id.into(), tpn.into(), code_hash.into(), (*created).into(), (*expires).into()];
    conn.execute_one(&PAIRING_PUT, &params)
}

/// The code by its hash, whether it has expired or not.
pub fn pairing_find(conn: &mut dyn Conn, code_hash: &[u8]) -> Result<Option<PairingCode>> {
    conn.row(&PAIRING_FIND, &[code_hash.into()], |row| {
        Ok(PairingCode {
            iso_id: row.get(0)?,
            tpn: row.get(1)?,
            code_hash: row.get(2)?,
            created: row.get(3)?,
            expires: row.get(4)?,
        })
    })
}

/// Forgets the TPN's code.
pub fn pairing_delete(conn: &mut dyn Conn, iso_id: &IsoId, tpn: &Tpn) -> Result<()> {
    conn.execute(&PAIRING_DELETE, &[iso_id.into(), tpn.into()]).map(drop)
}

/// Binds a device. The TPN must have none.
pub fn insert(conn: &mut dyn Conn, device: &DeviceRow) -> Result<()> {
    conn.execute_one(
        &DEVICE_INSERT,
        &[
            (&device.iso_id).into(),
            (&device.tpn).into(),
            (&device.device_id).into(),
            (&device.token_hash).into(),
            (&device.serial_number).into(),
            device.bound.into(),
        ],
    )
}

/// Unbinds the TPN's device. False if it had none.
pub fn delete(conn: &mut dyn Conn, iso_id: &IsoId, tpn: &Tpn) -> Result<bool> {
    Ok(conn.execute(&DEVICE_DELETE, &[iso_id.into(), tpn.into()])? == 1)
}

pub fn get(conn: &mut dyn Conn, iso_id: &IsoId, tpn: &Tpn) -> Result<Option<DeviceRow>> {
    conn.row(&DEVICE_GET, &[iso_id.into(), tpn.into()], DeviceRow::read)
}

pub fn by_token(conn: &mut dyn Conn, token_hash: &[u8]) -> Result<Option<DeviceRow>> {
    conn.row(&DEVICE_BY_TOKEN, &[token_hash.into()], DeviceRow::read)
}

/// A device of the ISO by its serial number.
pub fn by_serial(conn: &mut dyn Conn, iso_id: &IsoId, serial: &str) -> Result<Option<DeviceRow>> {
    conn.row(&DEVICE_BY_SERIAL, &[iso_id.into(), serial.into()], DeviceRow::read)
}

/// Notes that the device was here, and what it was given.
pub fn seen(
    conn: &mut dyn Conn,
    device: &DeviceRow,
    at: Timestamp,
    (tag, parameters): (&str, &str),
) -> Result<()> {
    let key = [(&device.iso_id).into(), (&device.tpn).into()];
    let values = [at.into(), tag.into(), parameters.into()];
    conn.execute(&DEVICE_SEEN, &[&values[..], &key].concat()).map(drop)
}

impl DeviceRow {
    fn read(row: &dyn Row) -> Result<Self> {
        let (tag, parameters): (Option<String>, Option<String>) = (row.get(7)?, row.get(8)?);
        Ok(Self {
            iso_id: row.get(0)?,
            tpn: row.get(1)?,
            device_id: row.get(2)?,
            token_hash: row.get(3)?,
            serial_number: row.get(4)?,
            bound: row.get(5)?,
            last_seen: row.get(6)?,
            parameters: tag.zip(parameters),
        })
    }
}
