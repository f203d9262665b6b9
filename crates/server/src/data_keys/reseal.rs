//! Sealing the values of some rows again, in whichever form they are kept.

use data_encoding::{BASE64, HEXLOWER};
use serde_json::{Value, json};
use site_rows::sealed::{Content, Form, Found, Place};
use types::{Error, Result};
use vault::{Aad, DataKey};

/// The member that holds a sealed value in JSON.
const SEALED: &str = "sealed";

/// What is to be written.
#[derive(Debug, Default)]
pub(super) struct Resealed {
    pub(super) changes: Vec<(Found, Content)>,
    /// Values that no version opens.
    pub(super) unreadable: i64,
}

/// Seals what is under another version. A value that cannot be opened stays as it is: it was lost
/// before.
pub(super) fn reseal(place: &'static Place, key: &DataKey, found: Vec<Found>) -> Resealed {
    let mut resealed = Resealed::default();
    for found in found {
        match reseal_one(place, key, &found) {
            Ok(None) => {}
            Ok(Some(content)) => resealed.changes.push((found, content)),
            Err(error) => {
                let error = error.report();
                tracing::warn!(place = place.name, error, "a sealed value cannot be opened");
                resealed.unreadable += 1;
            }
        }
    }
    resealed
}

fn reseal_one(place: &Place, key: &DataKey, found: &Found) -> Result<Option<Content>> {
    let id = id_of(found);
    let aad = Aad { kind: place.kind, id: &id, column: place.column };
    match (&found.content, place.form) {
        (Content::Bytes(sealed), _) => Ok(key.reseal(&aad, sealed)?.map(Content::Bytes)),
        (Content::Text(text), Form::SettingsJson) => settings(key, found, text),
        (Content::Text(text), form) => member(key, &aad, text, form),
    }
}

/// By what the value is authenticated, beside its kind and column.
fn id_of(found: &Found) -> String {
    let at = &found.at;
    if !found.hash.is_empty() {
        HEXLOWER.encode(&found.hash)
    } else if at.first.is_empty() {
        at.number.to_string()
    } else if at.second.is_empty() {
        at.first.clone()
    } else {
        format!("{}/{}", at.first, at.second)
    }
}

fn damaged() -> Error {
    Error::internal("a sealed value in JSON is damaged")
}

/// A JSON object with the value in its member `sealed`.
fn member(key: &DataKey, aad: &Aad<'_>, text: &str, form: Form) -> Result<Option<Content>> {
    let encoding = if form == Form::RecordJson { &HEXLOWER } else { &BASE64 };
    let Ok(mut value) = serde_json::from_str::<Value>(text) else { return Ok(None) };
    let Some(members) = value.as_object_mut() else { return Ok(None) };
    // An option that is not secret may have a member of this name, among others.
    if form == Form::OptionJson && members.len() != 1 {
        return Ok(None);
    }
    let Some(sealed) = members.get(SEALED).and_then(Value::as_str) else { return Ok(None) };
    let decoded: std::result::Result<Vec<u8>, _> = encoding.decode(sealed.as_bytes());
    let Ok(sealed) = decoded else {
        return if form == Form::OptionJson { Ok(None) } else { Err(damaged()) };
    };
    let Some(new) = key.reseal(aad, &sealed)? else { return Ok(None) };
    members.insert(SEALED.to_owned(), Value::String(encoding.encode(&new)));
    Ok(Some(Content::Text(value.to_string())))
}

/// A JSON object whose members may be sealed, each under its own name.
fn settings(key: &DataKey, found: &Found, text: &str) -> Result<Option<Content>> {
    let Ok(mut value) = serde_json::from_str::<Value>(text) else { return Ok(None) };
    let Some(members) = value.as_object_mut() else { return Ok(None) };
    let mut is_new = false;
    for (name, member) in members.iter_mut() {
        let Some(sealed) = member.get(SEALED).and_then(Value::as_str) else { continue };
        let sealed = BASE64.decode(sealed.as_bytes()).map_err(|_| damaged())?;
        let aad = Aad { kind: "plugin_setting", id: &found.at.second, column: name };
        if let Some(new) = key.reseal(&aad, &sealed)? {
            *member = json!({ SEALED: BASE64.encode(&new) });
            is_new = true;
        }
    }
    Ok(is_new.then(|| Content::Text(value.to_string())))
}
