//! Reads a JSON body within limits, so that no body can exhaust memory or hide a value.
//!
//! Beyond what a plain parser refuses, this one refuses duplicate member names (two systems would
//! disagree on which one counts), a byte order mark, and documents that are deeper or wider than
//! the limits.

use std::cell::Cell;
use std::fmt;

use serde::de::{DeserializeSeed, Error as _, MapAccess, SeqAccess, Visitor};
use serde_json::error::Category;
use serde_json::{Map, Number, Value};

/// Depth of nesting; the root counts as one.
pub const DEPTH_MAX: usize = 16;
/// Members of all objects together.
pub const MEMBERS_MAX: usize = 512;

/// Reads one JSON document, or says in a sentence why it is refused.
pub fn parse(bytes: &[u8]) -> Result<Value, String> {
    if bytes.trim_ascii().is_empty() {
        return Err(String::from("it is empty"));
    }
    let mut deserializer = serde_json::Deserializer::from_slice(bytes);
    let members = Cell::new(0);
    let reader = Reader { depth: 1, members: &members };
    let value = reader.deserialize(&mut deserializer).map_err(|error| told(&error))?;
    deserializer.end().map_err(|error| told(&error))?;
    Ok(value)
}

/// Our own rules in their words; of a mistake in the writing, the place is what helps.
fn told(error: &serde_json::Error) -> String {
    let (line, column) = (error.line(), error.column());
    match error.classify() {
        Category::Syntax => format!("it is invalid JSON from line {line}, column {column}"),
        Category::Eof => format!("it ends unexpectedly at line {line}, column {column}"),
        Category::Data | Category::Io => error.to_string(),
    }
}

/// [`parse`] for a document that must be an object.
pub fn parse_object(bytes: &[u8]) -> Result<Map<String, Value>, String> {
    match parse(bytes)? {
        Value::Object(members) => Ok(members),
        _ => Err(String::from("it must be a JSON object")),
    }
}

#[derive(Clone, Copy)]
struct Reader<'a> {
    depth: usize,
    members: &'a Cell<usize>,
}

impl Reader<'_> {
    fn inner<E: serde::de::Error>(self) -> Result<Self, E> {
        if self.depth > DEPTH_MAX {
            return Err(E::custom(format_args!("nested deeper than {DEPTH_MAX} levels")));
        }
        Ok(Self { depth: self.depth + 1, members: self.members })
    }

    fn count_member<E: serde::de::Error>(self) -> Result<(), E> {
        self.members.set(self.members.get() + 1);
        if self.members.get() > MEMBERS_MAX {
            return Err(E::custom(format_args!("more than {MEMBERS_MAX} members")));
        }
        Ok(())
    }
}

impl<'de> DeserializeSeed<'de> for Reader<'_> {
    type Value = Value;

    fn deserialize<D: serde::Deserializer<'de>>(self, input: D) -> Result<Value, D::Error> {
        input.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Reader<'_> {
    type Value = Value;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<Value, E> {
        Number::from_f64(value).map(Value::Number).ok_or_else(|| E::custom("number out of range"))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::String(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(Value::String(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let inner = self.inner()?;
        let mut list = Vec::new();
        while let Some(item) = items.next_element_seed(inner)? {
            list.push(item);
        }
        Ok(Value::Array(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Value, A::Error> {
        let inner = self.inner()?;
        let mut object = Map::new();
        while let Some(name) = members.next_key::<String>()? {
            self.count_member()?;
            let value = members.next_value_seed(inner)?;
            if object.contains_key(&name) {
                return Err(A::Error::custom("a member name appears twice in one object"));
            }
            object.insert(name, value);
        }
        Ok(Value::Object(object))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nested(levels: usize) -> String {
        format!("{}{}", "[".repeat(levels), "]".repeat(levels))
    }

    #[test]
    fn limits_are_exact() {
        assert!(parse(nested(DEPTH_MAX).as_bytes()).is_ok());
        assert!(parse(nested(DEPTH_MAX + 1).as_bytes()).is_err());
        let wide = |count: usize| {
            let members: Vec<String> = (0..count).map(|n| format!("\"m{n}\":1")).collect();
            format!("{{{}}}", members.join(","))
        };
        assert!(parse(wide(MEMBERS_MAX).as_bytes()).is_ok());
        assert!(parse(wide(MEMBERS_MAX + 1).as_bytes()).is_err());
    }

    #[test]
    fn refuses_what_two_systems_would_read_differently() {
        for text in [
            r#"{"a":1,"a":2}"#,
            r#"{"a":1,"\u0061":2}"#,
            "\u{feff}{}",
            r#"{"a":"\ud800"}"#,
            "{} x",
            "",
            r#"{"a":01}"#,
            r#"{"a":NaN}"#,
        ] {
            assert!(parse(text.as_bytes()).is_err(), "{text:?} was accepted");
        }
        assert!(parse(b"{\"a\":\"\xff\"}").is_err());
    }

    #[test]
    fn keeps_the_order_of_members() {
        let value = parse(br#"{"z":1,"a":[true,null,-1,1.5,"x"]}"#).expect("valid");
        assert_eq!(value.to_string(), r#"{"z":1,"a":[true,null,-1,1.5,"x"]}"#);
    }
}
