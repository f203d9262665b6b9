//! How the fields of an item are spelt in requests: the published description of an item knows
//! dates and values of any type, which a parameter has to name by the types of JSON.

use contract::rest::{Args, Schema};
use serde_json::{Map, Value, json};

/// What a parameter takes that the item's description calls `mixed`.
const ANY: [&str; 7] = ["null", "object", "string", "number", "boolean", "integer", "array"];
/// What a parameter takes that the item's description calls `date-time`.
const MOMENT: [&str; 2] = ["null", "string"];

/// The parameters with types that JSON knows.
pub(super) fn args(args: Args) -> Args {
    let spelt = args.iter().map(|arg| {
        let document = arg.schema.document().clone();
        (arg.name.clone(), Schema::from_document(spelt(document)), arg.treatment)
    });
    let spelt: Vec<_> = spelt.collect();
    spelt
        .into_iter()
        .fold(args, |args, (name, schema, treatment)| args.treated(&name, schema, treatment))
}

/// What the parameters are if nobody gives them.
pub(super) fn defaults(args: &Args) -> Map<String, Value> {
    let default = |schema: &Schema| schema.get("default").filter(|value| !value.is_null()).cloned();
    args.iter().filter_map(|arg| Some((arg.name.clone(), default(&arg.schema)?))).collect()
}

fn spelt(document: Map<String, Value>) -> Map<String, Value> {
    let keyword = |(name, value): (String, Value)| {
        let value = match (name.as_str(), value) {
            ("type", Value::String(kind)) if kind == "mixed" => json!(ANY),
            ("type", Value::String(kind)) if kind == "date-time" => json!(MOMENT),
            ("items", Value::Object(items)) => Value::Object(spelt(items)),
            ("properties", Value::Object(properties)) => {
                let inner = properties.into_iter().map(|(name, property)| match property {
                    Value::Object(property) => (name, Value::Object(spelt(property))),
                    other => (name, other),
                });
                Value::Object(inner.collect())
            }
            (_, value) => value,
        };
        (name, value)
    };
    document.into_iter().map(keyword).collect()
}

#[cfg(test)]
mod tests {
    use contract::rest::Item;

    use super::*;

    #[test]
    fn parameters_name_types_of_json() {
        let entry = Schema::object([("value", Schema::typed("mixed"))]);
        let item = Item::new(
            "thing",
            Schema::object([
                ("expires", Schema::typed("date-time")),
                ("entries", Schema::list(entry)),
                ("kind", Schema::text().default("plain")),
            ]),
        );
        let args = args(item.create_args());
        let kind = |name: &str| args.get(name).unwrap().schema.document()["type"].clone();
        assert_eq!(kind("expires"), json!(["null", "string"]));
        let entries = args.get("entries").unwrap().schema.document().clone();
        assert_eq!(entries["items"]["properties"]["value"]["type"], json!(ANY));
        assert_eq!(defaults(&args), Map::from_iter([("kind".to_owned(), json!("plain"))]));
    }
}
