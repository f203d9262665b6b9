//! Devices on TPNs, and the one-time codes by which they get there. Secrets are hashes here.

use db::{Conn, Record as _, statements};
use types::{IsoId, Result, Timestamp, Tpn};

db::record! {
    /// A code that has not been used yet. A TPN has one at most.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct PairingCode in "pairing_codes", key(iso_id: IsoId, tpn: Tpn) {
        code_hash: Vec<u8>,
        created: Timestamp,
        expires: Timestamp,
        /// Of the characters that a code is found by; none for one that was made before these
        /// were kept.
        prefix_hash: Option<Vec<u8>>,
        wrong_tries: i64,
    }
}

/// Tries of other codes with the same beginning that a code withstands.
pub const WRONG_TRIES_MAX: i64 = 10;

db::record! {
    /// The device that a TPN is bound to.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct DeviceRow in "devices", key(iso_id: IsoId, tpn: Tpn) {
        device_id: String,
        token_hash: Vec<u8>,
        serial_number: String,
        bound: Timestamp,
        last_seen: Option<Timestamp>,
    }
    pairs {
        /// The tag and the JSON object of the parameters that it was last given.
        parameters: (String as "parameters_tag", String as "parameters"),
    }
}

statements! {
    PAIRING_PUT = db::upsert!(PairingCode);
    PAIRING_FIND = db::select!(PairingCode, "WHERE code_hash = $1");
    PAIRING_CANDIDATES = db::select!(
        PairingCode,
        "WHERE prefix_hash = $1 OR (prefix_hash IS NULL AND code_hash = $2)"
    );
    PAIRING_COUNT_TRY =
        "UPDATE pairing_codes SET wrong_tries = wrong_tries + 1 WHERE prefix_hash = $1";
    PAIRING_DELETE = "DELETE FROM pairing_codes WHERE iso_id = $1 AND tpn = $2";
    DEVICE_INSERT = db::insert!(DeviceRow);
    DEVICE_DELETE = "DELETE FROM devices WHERE iso_id = $1 AND tpn = $2";
    DEVICE_GET = db::select!(DeviceRow, "WHERE iso_id = $1 AND tpn = $2");
    DEVICE_BY_TOKEN = db::select!(DeviceRow, "WHERE token_hash = $1");
    // Asked for in the sandbox only, where devices are few.
    DEVICE_BY_SERIAL =
        db::select!(DeviceRow, "WHERE iso_id = $1 AND serial_number = $2 LIMIT 1");
    DEVICE_SEEN =
        "UPDATE devices SET last_seen_us = $1, parameters_tag = $2, parameters = $3
         WHERE iso_id = $4 AND tpn = $5";
}

/// Stores a code; the one that the TPN had before is worth nothing any more.
pub fn pairing_put(conn: &mut dyn Conn, code: &PairingCode) -> Result<()> {
    conn.insert(&PAIRING_PUT, code).map(drop)
}

/// The code by its hash, whether it has expired or not.
pub fn pairing_find(conn: &mut dyn Conn, code_hash: &[u8]) -> Result<Option<PairingCode>> {
    conn.row(&PAIRING_FIND, &[code_hash.into()], PairingCode::read)
}

/// The codes that begin as the one that is shown does, and have not been tried too often.
pub fn pairing_candidates(
    conn: &mut dyn Conn,
    prefix_hash: &[u8],
    code_hash: &[u8],
) -> Result<Vec<PairingCode>> {
    let params = [prefix_hash.into(), code_hash.into()];
    let mut codes = conn.rows(&PAIRING_CANDIDATES, &params, PairingCode::read)?;
    codes.retain(|code| code.wrong_tries < WRONG_TRIES_MAX);
    Ok(codes)
}

/// The code that is shown, whether it has expired or not. A wrong one counts as a try of every code
/// that begins as it does.
pub fn pairing_try(
    conn: &mut dyn Conn,
    prefix_hash: &[u8],
    code_hash: &[u8],
) -> Result<Option<PairingCode>> {
    let candidates = pairing_candidates(conn, prefix_hash, code_hash)?;
    let found = candidates.into_iter().find(|code| code.code_hash == code_hash);
    if found.is_none() {
        conn.execute(&PAIRING_COUNT_TRY, &[prefix_hash.into()])?;
    }
    Ok(found)
}

/// Forgets the TPN's code.
pub fn pairing_delete(conn: &mut dyn Conn, iso_id: &IsoId, tpn: &Tpn) -> Result<()> {
    conn.execute(&PAIRING_DELETE, &[iso_id.into(), tpn.into()]).map(drop)
}

/// Binds a device. The TPN must have none.
pub fn insert(conn: &mut dyn Conn, device: &DeviceRow) -> Result<()> {
    conn.insert(&DEVICE_INSERT, device).map(drop)
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
