//! The lines of a backup: header, tables, rows and trailer.

use std::collections::BTreeMap;
use std::io::Write as _;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use types::{Environment, Error, Result};

use crate::migrate::{ColumnType, Table};
use crate::{Row, Val};

pub(super) const FORMAT: &str = "boardwalk-backup";
/// Raised when a program that knows only the versions before could not read the file.
pub(super) const VERSION: i64 = 1;
/// Far more than any row needs, in bytes; a file without line ends must not fill the memory.
pub(super) const LINE_LEN_MAX: usize = 64 << 20;

#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Header {
    pub(super) format: String,
    pub(super) version: i64,
    pub(super) environment: Environment,
    pub(super) schema: i64,
    pub(super) created: String,
}

#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TableLine {
    pub(super) table: String,
    pub(super) columns: Vec<String>,
}

/// A file beside the database; lines with its bytes follow.
#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FileLine {
    pub(super) file: String,
    pub(super) bytes: u64,
}

#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Trailer {
    pub(super) rows: BTreeMap<String, u64>,
    /// How many files there are; not written where there are none, as before there were any.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(super) files: u64,
    pub(super) blake3: String,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "it has the form that serde asks for")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// A line that is no row.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum Mark {
    Table(TableLine),
    File(FileLine),
    Trailer(Trailer),
}

/// A value of a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Cell {
    Null,
    Int(i64),
    Text(String),
    Bytes(Vec<u8>),
}

impl Cell {
    pub(super) fn parse(value: Value, column_type: ColumnType) -> Option<Self> {
        match (column_type, value) {
            (_, Value::Null) => Some(Self::Null),
            (ColumnType::Int, Value::Number(number)) => number.as_i64().map(Self::Int),
            (ColumnType::Text, Value::String(text)) => Some(Self::Text(text)),
            (ColumnType::Bytes, Value::String(text)) => from_hex(&text).map(Self::Bytes),
            _ => None,
        }
    }

    pub(super) fn as_val(&self) -> Val<'_> {
        match self {
            Self::Null => Val::Null,
            Self::Int(value) => Val::Int(*value),
            Self::Text(value) => Val::Text(value),
            Self::Bytes(value) => Val::Bytes(value),
        }
    }
}

/// Appends a row as a JSON array.
pub(super) fn row(row: &dyn Row, table: &Table, line: &mut Vec<u8>) -> Result<()> {
    line.push(b'[');
    for (index, (_, column_type)) in table.columns.iter().enumerate() {
        if index > 0 {
            line.push(b',');
        }
        let written = match column_type {
            ColumnType::Int => row
                .int(index)?
                .map(|value| write!(line, "{value}").map_err(|error| not_encoded(table, error))),
            ColumnType::Text => row.text(index)?.map(|text| {
                serde_json::to_writer(&mut *line, &text).map_err(|error| not_encoded(table, error))
            }),
            ColumnType::Bytes => row.bytes(index)?.map(|bytes| {
                push_bytes(&bytes, line);
                Ok(())
            }),
        };
        match written {
            Some(written) => written?,
            None => line.extend_from_slice(b"null"),
        }
    }
    line.push(b']');
    Ok(())
}

/// Appends bytes in hexadecimal, in quotes.
fn push_bytes(bytes: &[u8], line: &mut Vec<u8>) {
    line.push(b'"');
    line.extend(bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]));
    line.push(b'"');
}

/// Appends a piece of a file as a JSON array.
pub(super) fn piece(bytes: &[u8], line: &mut Vec<u8>) {
    line.push(b'[');
    push_bytes(bytes, line);
    line.push(b']');
}

/// The bytes of such a line.
pub(super) fn read_piece(line: &[u8]) -> Option<Vec<u8>> {
    let [text]: [String; 1] = serde_json::from_slice(line).ok()?;
    from_hex(&text)
}

fn not_encoded(table: &Table, error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Error {
    Error::internal(format!("a row of {} cannot be written as JSON", table.name)).because(error)
}

fn digit(value: u8) -> u8 {
    match value {
        0..=9 => b'0' + value,
        _ => b'a' + value - 10,
    }
}

fn from_hex(text: &str) -> Option<Vec<u8>> {
    let value = |digit: u8| match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        _ => None,
    };
    let (pairs, rest) = text.as_bytes().as_chunks::<2>();
    if !rest.is_empty() {
        return None;
    }
    pairs.iter().map(|[high, low]| Some(value(*high)? << 4 | value(*low)?)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_read_as_they_were_written() {
        let bytes: Vec<u8> = (0..=255).collect();
        let text: String = bytes
            .iter()
            .flat_map(|byte| [digit(byte >> 4), digit(byte & 15)])
            .map(char::from)
            .collect();
        assert!(text.starts_with("000102") && text.ends_with("fdfeff"), "{text}");
        assert_eq!(from_hex(&text), Some(bytes));
        for odd in ["0", "0g", "AB", " 0", "é"] {
            assert_eq!(from_hex(odd), None, "{odd}");
        }
    }

    #[test]
    fn a_value_of_another_type_is_refused() {
        let refused = [
            (ColumnType::Int, serde_json::json!("1")),
            (ColumnType::Int, serde_json::json!(1.0)),
            (ColumnType::Int, serde_json::json!(u64::MAX)),
            (ColumnType::Text, serde_json::json!(1)),
            (ColumnType::Bytes, serde_json::json!("xy")),
            (ColumnType::Bytes, serde_json::json!([1])),
        ];
        for (column_type, value) in refused {
            assert_eq!(Cell::parse(value.clone(), column_type), None, "{value}");
        }
        let lowest = Cell::parse(serde_json::json!(i64::MIN), ColumnType::Int);
        assert_eq!(lowest, Some(Cell::Int(i64::MIN)));
    }
}
