//! `meta_data`: names and values of a record that others keep there.

use contract::rest::Schema;
use serde_json::{Value, json};

/// Entries of one record at most.
pub const ENTRIES_MAX: usize = 1_000;

const BOTH: &[&str] = &["view", "edit"];

/// The field as every record publishes it.
pub fn schema() -> Schema {
    let any = ["null", "object", "string", "number", "boolean", "integer", "array"];
    let entry = Schema::object([
        ("id", Schema::integer().about("Number of the entry.").context(BOTH).readonly()),
        ("key", Schema::text().about("Name of the entry.").context(BOTH)),
        ("value", Schema::types(&any).about("What it holds.").context(BOTH)),
    ]);
    Schema::list(entry).about("Names and values that others keep here.").context(BOTH)
}

/// Applies the entries of a request: one with an id changes that entry, one with a null value
/// removes it, any other is added. `next_id` gives the numbers of new entries.
pub fn merge(
    current: &mut Vec<Value>,
    wanted: &[Value],
    mut next_id: impl FnMut() -> types::Result<i64>,
) -> types::Result<()> {
    for entry in wanted {
        let id = entry.get("id").and_then(Value::as_i64).unwrap_or_default();
        let key = entry.get("key").and_then(Value::as_str);
        let value = entry.get("value").cloned().unwrap_or(Value::Null);
        let place = current
            .iter()
            .position(|known| known.get("id").and_then(Value::as_i64) == Some(id) && id != 0);
        match (place, value) {
            (Some(place), Value::Null) => {
                current.remove(place);
            }
            (Some(place), value) => {
                if let Some(known) = current.get_mut(place) {
                    let key = key.map_or_else(|| known["key"].clone(), |key| json!(key));
                    *known = json!({ "id": id, "key": key, "value": value });
                }
            }
            (None, Value::Null) => {}
            (None, value) => {
                let Some(key) = key.filter(|key| !key.is_empty()) else { continue };
                if current.len() >= ENTRIES_MAX {
                    let message =
                        format!("a record has at most {ENTRIES_MAX} entries of meta_data");
                    return Err(types::Error::invalid(message));
                }
                current.push(json!({ "id": next_id()?, "key": key, "value": value }));
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_added_changed_and_removed() {
        let mut entries = vec![json!({ "id": 1, "key": "a", "value": "x" })];
        let wanted = [
            json!({ "id": 1, "value": "y" }),
            json!({ "key": "b", "value": { "c": 1 } }),
            json!({ "key": "", "value": 1 }),
            json!({ "id": 99, "value": null }),
        ];
        merge(&mut entries, &wanted, || Ok(7)).unwrap();
        assert_eq!(
            entries,
            [
                json!({ "id": 1, "key": "a", "value": "y" }),
                json!({ "id": 7, "key": "b", "value": { "c": 1 } }),
            ]
        );
        merge(&mut entries, &[json!({ "id": 1, "value": null })], || Ok(8)).unwrap();
        assert_eq!(entries.len(), 1);
    }
}
