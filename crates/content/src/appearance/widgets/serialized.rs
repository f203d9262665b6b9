//! Settings of widgets in the form in which clients hand them around: a text that old programs made
//! of their values, in base64, with a hash that tells whether this site wrote it.

use std::fmt::Write as _;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Map, Value};
use vault::Vault;

/// Levels of lists within lists that are read.
const DEPTH_MAX: usize = 16;

/// The settings as a text.
pub(super) fn encode(settings: &Map<String, Value>) -> String {
    let mut text = String::new();
    write_map(&mut text, settings);
    BASE64_STANDARD.encode(text)
}

/// What proves that this site wrote the text.
pub(super) fn hash(vault: &Vault, encoded: &str) -> String {
    data_encoding::HEXLOWER.encode(&vault.site_hash("widget", encoded, ""))
}

/// The settings in a text that bears its hash; nothing for any other.
pub(super) fn decode(vault: &Vault, encoded: &str, stated: &str) -> Option<Map<String, Value>> {
    let own = hash(vault, encoded);
    let is_own = subtle::ConstantTimeEq::ct_eq(own.as_bytes(), stated.as_bytes());
    let bytes = bool::from(is_own).then(|| BASE64_STANDARD.decode(encoded).ok())??;
    let mut rest = bytes.as_slice();
    match read(&mut rest, 0)? {
        Value::Object(settings) => Some(settings),
        _ => None,
    }
}

fn write_text(text: &mut String, value: &str) {
    let _ = write!(text, "s:{}:\"{value}\";", value.len());
}

fn write_map(text: &mut String, map: &Map<String, Value>) {
    let _ = write!(text, "a:{}:{{", map.len());
    for (name, value) in map {
        write_text(text, name);
        write_value(text, value);
    }
    text.push('}');
}

fn write_value(text: &mut String, value: &Value) {
    match value {
        Value::Null => text.push_str("N;"),
        Value::Bool(flag) => text.push_str(if *flag { "b:1;" } else { "b:0;" }),
        Value::Number(number) if number.is_i64() => {
            let _ = write!(text, "i:{number};");
        }
        Value::Number(number) => {
            let _ = write!(text, "d:{number};");
        }
        Value::String(string) => write_text(text, string),
        Value::Array(items) => {
            let _ = write!(text, "a:{}:{{", items.len());
            for (place, item) in items.iter().enumerate() {
                let _ = write!(text, "i:{place};");
                write_value(text, item);
            }
            text.push('}');
        }
        Value::Object(map) => write_map(text, map),
    }
}

fn take<'a>(rest: &mut &'a [u8], count: usize) -> Option<&'a [u8]> {
    let (taken, after) = rest.split_at_checked(count)?;
    *rest = after;
    Some(taken)
}

/// What stands before the mark, which is taken with it.
fn until<'a>(rest: &mut &'a [u8], mark: u8) -> Option<&'a str> {
    let place = rest.iter().position(|byte| *byte == mark)?;
    let taken = take(rest, place)?;
    take(rest, 1)?;
    std::str::from_utf8(taken).ok()
}

fn read(rest: &mut &[u8], depth: usize) -> Option<Value> {
    if depth > DEPTH_MAX {
        return None;
    }
    let kind = *take(rest, 1)?.first()?;
    let mark = take(rest, 1)?;
    match (kind, mark) {
        (b'N', b";") => Some(Value::Null),
        (b'b', b":") => Some(Value::Bool(until(rest, b';')? == "1")),
        (b'i', b":") => Some(Value::from(until(rest, b';')?.parse::<i64>().ok()?)),
        (b'd', b":") => Some(Value::from(until(rest, b';')?.parse::<f64>().ok()?)),
        (b's', b":") => {
            let length = until(rest, b':')?.parse().ok()?;
            take(rest, 1).filter(|quote| *quote == b"\"")?;
            let text = std::str::from_utf8(take(rest, length)?).ok()?.to_owned();
            take(rest, 2).filter(|end| *end == b"\";")?;
            Some(Value::String(text))
        }
        (b'a', b":") => {
            let count: usize = until(rest, b':')?.parse().ok()?;
            take(rest, 1).filter(|brace| *brace == b"{")?;
            let mut map = Map::new();
            for _ in 0..count {
                let name = match read(rest, depth + 1)? {
                    Value::String(name) => name,
                    Value::Number(number) => number.to_string(),
                    _ => return None,
                };
                map.insert(name, read(rest, depth + 1)?);
            }
            take(rest, 1).filter(|brace| *brace == b"}")?;
            Some(Value::Object(map))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn settings_are_written_as_clients_know_them_and_read_again() {
        let settings = json!({ "title": "Wörd", "count": 3, "filter": false, "none": null,
            "tree": { "a": "b" } });
        let Value::Object(settings) = settings else { return };
        let encoded = encode(&settings);
        let text = String::from_utf8(BASE64_STANDARD.decode(&encoded).unwrap()).unwrap();
        assert_eq!(
            text,
            "a:5:{s:5:\"title\";s:5:\"Wörd\";s:5:\"count\";i:3;s:6:\"filter\";b:0;\
             s:4:\"none\";N;s:4:\"tree\";a:1:{s:1:\"a\";s:1:\"b\";}}"
        );
        let master = vault::MasterKey::generate().unwrap();
        let vault = Vault::new(&master, types::Environment::Sandbox);
        let stated = hash(&vault, &encoded);
        assert_eq!(decode(&vault, &encoded, &stated), Some(settings));
        assert_eq!(decode(&vault, &encoded, "y"), None, "a text of somebody else");
    }

    #[test]
    fn texts_that_are_none_are_refused() {
        let deep = format!("{}N;", "a:1:{i:0;".repeat(100));
        for text in ["", "x", "s:9:\"a\";", "a:9:{}", "i:x;", "a:1:{N;N;}", "O:1:\"a\";", &deep] {
            let mut rest = text.as_bytes();
            assert_eq!(read(&mut rest, 0), None, "{text}");
        }
    }
}
