//! How a document is written for review: whole, and as short as that can be. What stands there for
//! the second time is only pointed at (`sameAs`), and what fits on a line stands on one, so that
//! the difference between two versions shows what changed and where, once.

use std::collections::HashMap;
use std::fmt::Write as _;

use serde_json::{Map, Value};

/// Shorter values than this are written again.
const REPEATED_MIN: usize = 60;
const LINE_WIDTH: usize = 120;

/// The text of a document for review.
pub(crate) fn text(document: &Value) -> String {
    let mut first_at = HashMap::new();
    let shortened = without_repetitions(document, "#", &mut first_at);
    let mut text = String::new();
    write(&shortened, Line { indent: 0, before: "", after: "" }, &mut text);
    text
}

fn without_repetitions(value: &Value, at: &str, first_at: &mut HashMap<String, String>) -> Value {
    if !value.is_object() && !value.is_array() {
        return value.clone();
    }
    let whole = value.to_string();
    if whole.len() >= REPEATED_MIN {
        if let Some(first) = first_at.get(&whole) {
            return Value::Object(Map::from_iter([("sameAs".to_owned(), first.clone().into())]));
        }
        first_at.insert(whole, at.to_owned());
    }
    match value {
        Value::Object(members) => {
            let shortened = members.iter().map(|(name, member)| {
                let below = format!("{at}/{}", name.replace('~', "~0").replace('/', "~1"));
                (name.clone(), without_repetitions(member, &below, first_at))
            });
            Value::Object(shortened.collect())
        }
        Value::Array(items) => {
            let shortened = items
                .iter()
                .enumerate()
                .map(|(place, item)| without_repetitions(item, &format!("{at}/{place}"), first_at));
            Value::Array(shortened.collect())
        }
        plain => plain.clone(),
    }
}

/// What surrounds a value on its lines.
#[derive(Clone, Copy)]
struct Line<'text> {
    indent: usize,
    before: &'text str,
    after: &'text str,
}

fn write(value: &Value, line: Line<'_>, text: &mut String) {
    let Line { indent, before, after } = line;
    let start = " ".repeat(indent);
    let whole = value.to_string();
    let fits = indent + before.len() + whole.len() <= LINE_WIDTH;
    let parts: Vec<(String, &Value)> = match value {
        Value::Object(members) => {
            let named =
                |(name, member)| (format!("{}: ", Value::from(String::as_str(name))), member);
            members.iter().map(named).collect()
        }
        Value::Array(items) => items.iter().map(|item| (String::new(), item)).collect(),
        _ => Vec::new(),
    };
    if fits || parts.is_empty() {
        let _ = writeln!(text, "{start}{before}{whole}{after}");
        return;
    }
    let (open, close) = if value.is_object() { ('{', '}') } else { ('[', ']') };
    let _ = writeln!(text, "{start}{before}{open}");
    let last = parts.len() - 1;
    for (place, (name, part)) in parts.iter().enumerate() {
        let after = if place == last { "" } else { "," };
        write(part, Line { indent: indent + 2, before: name, after }, text);
    }
    let _ = writeln!(text, "{start}{close}{after}");
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_repetition_is_pointed_at_and_nothing_is_lost() {
        let schema = json!({ "type": "string", "description": "x".repeat(80) });
        let document = json!({
            "paths": { "/a/{id}": [schema, 1], "/b": [schema] },
            "short": { "type": "string" },
        });
        let description = "x".repeat(80);
        let expected = [
            "{",
            "  \"paths\": {",
            "    \"/a/{id}\": [",
            &format!(r#"      {{"type":"string","description":"{description}"}},"#),
            "      1",
            "    ],",
            r##"    "/b": [{"sameAs":"#/paths/~1a~1{id}/0"}]"##,
            "  },",
            r#"  "short": {"type":"string"}"#,
            "}",
            "",
        ];
        assert_eq!(text(&document), expected.join("\n"));
        let read: Value = serde_json::from_str(&text(&document)).unwrap();
        let pointer = read["paths"]["/b"][0]["sameAs"].as_str().unwrap();
        assert_eq!(read.pointer(pointer.trim_start_matches('#')), Some(&schema));
    }
}
