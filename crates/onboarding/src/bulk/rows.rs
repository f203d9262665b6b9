//! Reads files of rows: JSON lines, and CSV with the path of a field above each column.
//!
//! A row comes out as the text of the body that a single call would have, or with what makes it
//! unreadable. **A row takes [`ROW_BYTES_MAX`] of memory at most**, whatever the file has.

use std::fmt;
use std::io::{BufRead, Read as _};
use std::mem::take;

use contract::FileKind;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use types::{Error, Result};

/// Bytes of one row, as of the body of a single call.
pub const ROW_BYTES_MAX: usize = 32 * 1024;
/// Columns of a CSV file.
const COLUMNS_MAX: usize = 512;
/// Names of a column's path.
const PATH_NAMES_MAX: usize = 8;
/// Items of a list that columns may name.
const ITEMS_MAX: usize = 10;

/// A file that can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    JsonLines,
    Csv,
}

impl Format {
    pub const ALL: &[Self] = &[Self::JsonLines, Self::Csv];

    pub const fn name(self) -> &'static str {
        match self {
            Self::JsonLines => JSON_LINES,
            Self::Csv => CSV,
        }
    }

    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|format| format.name() == name)
    }
}

const JSON_LINES: &str = "jsonl";
const CSV: &str = "csv";

/// The formats by their media types.
pub(super) const FILES: &[FileKind] = &[
    FileKind {
        name: JSON_LINES,
        media_types: &["application/x-ndjson", "application/ndjson", "application/jsonl"],
    },
    FileKind { name: CSV, media_types: &["text/csv"] },
];

/// A row as it was read.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Row {
    /// A body, which may be wrong in every way.
    Body(String),
    TooLong,
    NotText,
    /// It has another number of cells than there are columns.
    Cells,
}

/// Leaves out the body, which may hold credentials.
impl fmt::Debug for Row {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Body(_) => "Body",
            Self::TooLong => "TooLong",
            Self::NotText => "NotText",
            Self::Cells => "Cells",
        })
    }
}

/// The rows of a file.
#[derive(Debug)]
pub struct Rows<R> {
    source: R,
    /// The columns of a CSV file.
    columns: Option<Vec<Column>>,
}

impl<R: BufRead> Rows<R> {
    /// Fails when the columns of a CSV file make no sense.
    pub fn new(format: Format, source: R) -> Result<Self> {
        let mut rows = Self { source, columns: None };
        if format == Format::Csv {
            let header = match rows.cells()? {
                Some(Ok(cells)) => cells,
                Some(Err(_)) => return Err(Error::invalid("The first line is too long.")),
                None => Vec::new(),
            };
            rows.columns = Some(columns(header)?);
        }
        Ok(rows)
    }

    /// The next row. Blank lines are none.
    pub fn next_row(&mut self) -> Result<Option<Row>> {
        let Some(columns) = take(&mut self.columns) else { return self.next_line() };
        let cells = self.cells();
        let row = match cells? {
            None => None,
            Some(Err(fault)) => Some(fault),
            Some(Ok(cells)) => Some(body_of(&columns, cells)),
        };
        self.columns = Some(columns);
        Ok(row)
    }

    fn next_line(&mut self) -> Result<Option<Row>> {
        loop {
            let mut line = Vec::new();
            let bytes_max = u64::try_from(ROW_BYTES_MAX).unwrap_or(u64::MAX) + 1;
            let mut within = self.source.by_ref().take(bytes_max);
            if within.read_until(b'\n', &mut line).map_err(unreadable)? == 0 {
                return Ok(None);
            }
            if !line.ends_with(b"\n") && line.len() > ROW_BYTES_MAX {
                self.skip_line()?;
                return Ok(Some(Row::TooLong));
            }
            if !line.trim_ascii().is_empty() {
                return Ok(Some(String::from_utf8(line).map_or(Row::NotText, Row::Body)));
            }
        }
    }

    fn skip_line(&mut self) -> Result<()> {
        self.source.skip_until(b'\n').map(drop).map_err(unreadable)
    }

    /// The cells of the next line that is not blank. A cell may be quoted, and then have commas,
    /// line ends and doubled quotes in it.
    fn cells(&mut self) -> Result<Option<std::result::Result<Vec<String>, Row>>> {
        let (mut cells, mut cell) = (Vec::new(), Vec::new());
        let (mut quoted, mut was_quoted, mut length) = (false, false, 0_usize);
        let mut bytes = BytesOf(&mut self.source).peekable();
        while let Some(byte) = bytes.next() {
            let byte = byte.map_err(unreadable)?;
            length += 1;
            match byte {
                b'"' if quoted && matches!(bytes.peek(), Some(Ok(b'"'))) => {
                    bytes.next();
                    length += 1;
                    if length <= ROW_BYTES_MAX {
                        cell.push(byte);
                    }
                }
                b'"' if quoted || cell.is_empty() => {
                    quoted = !quoted;
                    was_quoted = true;
                }
                b',' if !quoted => cells.push(take(&mut cell)),
                b'\r' if !quoted && matches!(bytes.peek(), Some(Ok(b'\n'))) => {}
                b'\n' if !quoted => {
                    let is_blank = cells.is_empty() && cell.trim_ascii().is_empty() && !was_quoted;
                    if !is_blank {
                        return Ok(Some(texts(cells, cell, length)));
                    }
                    (cell, length) = (Vec::new(), 0);
                }
                // The rest of a row that is too long is read and forgotten.
                _ if length > ROW_BYTES_MAX => {}
                byte => cell.push(byte),
            }
            if cells.len() > COLUMNS_MAX {
                cells.truncate(COLUMNS_MAX);
            }
        }
        let is_blank = cells.is_empty() && cell.trim_ascii().is_empty() && !was_quoted;
        Ok((!is_blank).then(|| texts(cells, cell, length)))
    }
}

/// The bytes of a source, of which the last one looked at is still there for the next line.
struct BytesOf<'a, R>(&'a mut R);

impl<R: BufRead> Iterator for BytesOf<'_, R> {
    type Item = std::io::Result<u8>;

    fn next(&mut self) -> Option<Self::Item> {
        match self.0.fill_buf() {
            Ok(buffer) => {
                let first = buffer.first().copied();
                if first.is_some() {
                    self.0.consume(1);
                }
                first.map(Ok)
            }
            Err(error) => Some(Err(error)),
        }
    }
}

fn texts(
    mut cells: Vec<Vec<u8>>,
    last: Vec<u8>,
    length: usize,
) -> std::result::Result<Vec<String>, Row> {
    if length > ROW_BYTES_MAX {
        return Err(Row::TooLong);
    }
    cells.push(last);
    cells.into_iter().map(|cell| String::from_utf8(cell).map_err(|_| Row::NotText)).collect()
}

fn unreadable(error: std::io::Error) -> Error {
    Error::unavailable("the file cannot be read to its end").because(error)
}

/// The path of a column's field.
type Column = Vec<String>;

fn columns(mut header: Vec<String>) -> Result<Vec<Column>> {
    if let Some(first) = header.first_mut()
        && let Some(rest) = first.strip_prefix('\u{feff}')
    {
        *first = rest.to_owned();
    }
    if header.is_empty() || header.len() > COLUMNS_MAX {
        let message = format!("The first line must name 1 to {COLUMNS_MAX} columns.");
        return Err(Error::invalid(message));
    }
    let mut columns: Vec<Column> = Vec::with_capacity(header.len());
    for name in &header {
        let path: Column = name.trim().split('.').map(str::to_owned).collect();
        let is_wrong = path.len() > PATH_NAMES_MAX
            || path.iter().any(String::is_empty)
            || path.first().is_some_and(|name| index_of(name).is_some())
            || path.iter().any(|name| index_of(name).is_some_and(|index| index >= ITEMS_MAX));
        let clashes = columns.iter().any(|other| {
            other.starts_with(&path) || path.starts_with(other) || mixes_kinds(other, &path)
        });
        if is_wrong || clashes {
            let message = "Name each column once, by the path of its field, such as \
                           tpnData.tpnProcessor.profile.0.Mid.";
            return Err(Error::invalid(message));
        }
        columns.push(path);
    }
    Ok(columns)
}

/// Whether one path takes for a list what the other takes for an object.
fn mixes_kinds(one: &[String], other: &[String]) -> bool {
    let parting = one.iter().zip(other).find(|(left, right)| left != right);
    parting.is_some_and(|(left, right)| index_of(left).is_some() != index_of(right).is_some())
}

fn index_of(name: &str) -> Option<usize> {
    let is_number = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| name.parse().unwrap_or(usize::MAX))
}

/// The body that a row stands for. Empty cells are absent fields.
fn body_of(columns: &[Column], cells: Vec<String>) -> Row {
    if cells.len() != columns.len() {
        return Row::Cells;
    }
    let mut body = Value::Object(Map::new());
    for (path, cell) in columns.iter().zip(cells) {
        if !cell.is_empty() {
            put(&mut body, path, cell);
        }
    }
    Row::Body(body.to_string())
}

fn put(place: &mut Value, path: &[String], cell: String) {
    let Some((name, rest)) = path.split_first() else {
        *place = Value::String(cell);
        return;
    };
    if let Some(index) = index_of(name) {
        if !place.is_array() {
            *place = Value::Array(Vec::new());
        }
        if let Value::Array(items) = place {
            while items.len() <= index {
                items.push(Value::Object(Map::new()));
            }
            if let Some(item) = items.get_mut(index) {
                put(item, rest, cell);
            }
        }
    } else {
        if !place.is_object() {
            *place = Value::Object(Map::new());
        }
        if let Value::Object(members) = place {
            put(members.entry(name.clone()).or_insert(Value::Null), rest, cell);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(format: Format, text: &str) -> Result<Vec<Row>> {
        let mut rows = Rows::new(format, text.as_bytes())?;
        let mut read = Vec::new();
        while let Some(row) = rows.next_row()? {
            read.push(row);
        }
        Ok(read)
    }

    fn body(text: &str) -> Row {
        Row::Body(text.to_owned())
    }

    #[test]
    fn lines_are_rows() {
        let rows = read(Format::JsonLines, "{\"a\":1}\r\n\n  \nnonsense\n{}").unwrap();
        assert_eq!(rows, [body("{\"a\":1}\r\n"), body("nonsense\n"), body("{}")]);
        assert_eq!(read(Format::JsonLines, "\n\n").unwrap(), []);
    }

    #[test]
    fn long_rows_are_told_apart_from_what_follows() {
        let long = "x".repeat(3 * ROW_BYTES_MAX);
        let rows = read(Format::JsonLines, &format!("1\n{long}\n2\n")).unwrap();
        assert_eq!(rows, [body("1\n"), Row::TooLong, body("2\n")]);
        let rows = read(Format::Csv, &format!("a,b\n1,2\n{long},\"{long}\"\n3,4\n")).unwrap();
        assert_eq!(
            rows,
            [body(r#"{"a":"1","b":"2"}"#), Row::TooLong, body(r#"{"a":"3","b":"4"}"#)]
        );
    }

    #[test]
    fn columns_are_paths() {
        let text = "\u{feff}m.dba,m.last,t.p.0.Mid,t.p.1.Mid\r\n\
                    \"Ann's, \"\"A\"\"\nHouse\",,12,\r\n\r\nB,,,7";
        let rows = read(Format::Csv, text).unwrap();
        let first = r#"{"m":{"dba":"Ann's, \"A\"\nHouse"},"t":{"p":[{"Mid":"12"}]}}"#;
        let second = r#"{"m":{"dba":"B"},"t":{"p":[{},{"Mid":"7"}]}}"#;
        assert_eq!(rows, [body(first), body(second)]);
        assert_eq!(read(Format::Csv, "a,b\n1\n1,2,3\n").unwrap(), [Row::Cells, Row::Cells]);
    }

    #[test]
    fn senseless_columns_are_refused() {
        let long = ["a"; PATH_NAMES_MAX + 1].join(".");
        for header in ["", "a,a", "a,a.b", "a.b,a", "a..b", ".", "a,", "0.a", "a.0,a.b", "a.10"] {
            assert!(read(Format::Csv, header).is_err(), "{header:?}");
        }
        assert!(read(Format::Csv, &long).is_err());
        assert_eq!(read(Format::Csv, "a.0.b,a.1.b,c").unwrap(), []);
    }

    #[test]
    fn bytes_that_are_no_text_spoil_their_row_alone() {
        let mut rows = Rows::new(Format::JsonLines, &b"\xff\n{}\n"[..]).unwrap();
        assert_eq!(rows.next_row().unwrap(), Some(Row::NotText));
        assert_eq!(rows.next_row().unwrap(), Some(body("{}\n")));
    }
}
