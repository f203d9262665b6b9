//! `meta_data`: names and values of a record that others keep there.

use contract::rest::{Schema, loose};
use db::Conn;
use frame::Call;
use serde_json::{Value, json};

/// Entries of one record at most.
pub const ENTRIES_MAX: usize = 1_000;

const BOTH: &[&str] = &["view", "edit"];

/// The field as every record publishes it.
pub fn schema() -> Schema {
    let entry = Schema::object([
        ("id", Schema::integer().about("Metadata ID.").context(BOTH).readonly()),
        ("key", Schema::text().about("Metadata key.").context(BOTH)),
        ("value", Schema::typed("mixed").about("Metadata value.").context(BOTH)),
    ]);
    Schema::list(entry).about("Metadata.").context(BOTH)
}

/// The counter of the numbers of entries, which all kinds of records share.
pub(crate) const ENTRY_ID: &str = "meta.id";

/// Applies the entries of a request. One with an id changes that entry; one without changes the
/// entry of its key and removes others of the key; a null value removes; whatever is left is added.
pub fn merge(conn: &mut dyn Conn, current: &mut Vec<Value>, given: &[Value]) -> types::Result<()> {
    for entry in given {
        let id = entry.get("id").map(loose::to_int).unwrap_or_default();
        let key = entry.get("key").and_then(Value::as_str).filter(|key| !key.is_empty());
        let value = entry.get("value").map(kept).unwrap_or_default();
        let place = current.iter().position(|known| match (id, key) {
            (0, Some(key)) => known["key"] == *key,
            _ => known["id"] == id,
        });
        if let (0, Some(key), Some(place)) = (id, key, place) {
            let mut index = 0..;
            current.retain(|known| index.next() == Some(place) || known["key"] != *key);
        }
        match (place, value) {
            (Some(place), Value::Null) => {
                current.remove(place);
            }
            (Some(place), value) => {
                if let Some(known) = current.get_mut(place) {
                    let key = key.map_or_else(|| known["key"].clone(), |key| json!(key));
                    *known = json!({ "id": known["id"], "key": key, "value": value });
                }
            }
            (None, Value::Null) => {}
            (None, value) => {
                let Some(key) = key else { continue };
                add(conn, current, key, value)?;
            }
        }
    }
    Ok(())
}

/// Applies the entries of a request; those of an import are all that the record has, by numbers
/// that mean nothing here.
pub(crate) fn apply(
    call: &mut Call<'_>,
    current: &mut Vec<Value>,
    given: &[Value],
) -> types::Result<()> {
    if !call.visit.is_import {
        return merge(call.conn()?, current, given);
    }
    let mut before = std::mem::take(current);
    for entry in given {
        let Some(key) = entry.get("key").and_then(Value::as_str).filter(|key| !key.is_empty())
        else {
            continue;
        };
        let value = entry.get("value").map(kept).unwrap_or_default();
        match before.iter().position(|known| known["key"] == *key) {
            _ if value.is_null() => {}
            Some(place) => {
                let known = before.remove(place);
                current.push(json!({ "id": known.get("id"), "key": key, "value": value }));
            }
            None => add(call.conn()?, current, key, value)?,
        }
    }
    Ok(())
}

/// A value as it is kept: numbers and truth values are texts afterwards, as clients are used to;
/// what is inside of lists and objects stays.
pub(crate) fn kept(value: &Value) -> Value {
    match value {
        Value::Number(_) | Value::Bool(_) => {
            Value::from(loose::scalar_text(value).unwrap_or_default().into_owned())
        }
        other => other.clone(),
    }
}

/// Adds an entry with the next number.
pub fn add(
    conn: &mut dyn Conn,
    current: &mut Vec<Value>,
    key: &str,
    value: Value,
) -> types::Result<()> {
    if current.len() >= ENTRIES_MAX {
        let message = format!("a record must have at most {ENTRIES_MAX} entries in meta_data");
        return Err(types::Error::invalid(message));
    }
    let id = number(conn)?;
    current.push(entry(id, key, value));
    Ok(())
}

/// The next number of an entry.
pub(crate) fn number(conn: &mut dyn Conn) -> types::Result<i64> {
    Ok(db::counter::take(conn, ENTRY_ID, 1)? + 1)
}

pub(crate) fn entry(id: i64, key: &str, value: impl Into<Value>) -> Value {
    json!({ "id": id, "key": key, "value": value.into() })
}
