//! Options that a definition marks secret. **They are sealed where they are kept**, and opened only
//! for whoever may see or use them; [`super::Options`] holds them sealed.

use data_encoding::BASE64;
use db::Conn;
use serde_json::{Value, json};
use types::{Error, Result};
use vault::{Aad, Vault};

use super::{Definition, definition};

/// The one member of a sealed value.
const SEALED: &str = "sealed";

fn aad(name: &str) -> Aad<'_> {
    Aad { kind: "option", id: name, column: "value" }
}

fn seal(vault: &Vault, name: &str, value: &Value) -> Result<Value> {
    if value.is_null() {
        return Ok(Value::Null);
    }
    let sealed = vault.site_seal(&aad(name), value.to_string().as_bytes())?;
    Ok(json!({ SEALED: BASE64.encode(&sealed) }))
}

/// The value of an option as it was given.
pub fn open(vault: &Vault, name: &str, value: Value) -> Result<Value> {
    if !definition(name).is_some_and(|definition| definition.is_secret) || value.is_null() {
        return Ok(value);
    }
    let damaged = || Error::internal(format!("cannot read the option {name}"));
    let sealed = sealed_bytes(&value).ok_or_else(damaged)?;
    let opened = vault.site_open(&aad(name), &sealed)?;
    serde_json::from_slice(opened.expose()).map_err(|error| damaged().because(error))
}

fn sealed_bytes(value: &Value) -> Option<Vec<u8>> {
    let members = value.as_object().filter(|members| members.len() == 1)?;
    BASE64.decode(members.get(SEALED)?.as_str()?.as_bytes()).ok()
}

/// Stores the value of a listed option, sealed if it is secret, and returns whether it was another
/// before.
pub fn change(conn: &mut dyn Conn, vault: &Vault, name: &str, value: &Value) -> Result<bool> {
    let Some(Definition { name, .. }) = definition(name).filter(|found| found.is_secret) else {
        return super::change(conn, name, value);
    };
    let stored = stored(conn, name)?;
    if open(vault, name, stored).is_ok_and(|before| before == *value) {
        return Ok(false);
    }
    site_rows::option::set(conn, name, &seal(vault, name, value)?.to_string())
}

fn stored(conn: &mut dyn Conn, name: &str) -> Result<Value> {
    let text = site_rows::option::get(conn, name)?;
    Ok(text.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or(Value::Null))
}

/// Seals what an older version kept in clear text, and returns how many options that were. Called
/// at each start.
pub fn seal_all(conn: &mut dyn Conn, vault: &Vault) -> Result<usize> {
    let mut count = 0;
    for (name, text) in site_rows::option::all(conn)? {
        let is_secret = definition(&name).is_some_and(|definition| definition.is_secret);
        let value: Value = serde_json::from_str(&text).unwrap_or(Value::Null);
        if is_secret && !value.is_null() && sealed_bytes(&value).is_none() {
            site_rows::option::set(conn, &name, &seal(vault, &name, &value)?.to_string())?;
            count += 1;
        }
    }
    Ok(count)
}
