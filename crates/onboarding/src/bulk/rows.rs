//! Reads files of rows: JSON lines, and CSV with the path of a field above each column.
//!
//! A row comes out as the text of the body that a single call would have, or with what makes it
//! unreadable. **A row takes [`ROW_BYTES_MAX`] of memory at most**, whatever the file has.

use std::fmt;
use std::io::{BufRead, Read as _};
use std::mem::take;

use contract::FileKind;
use csv_core::ReadFieldResult;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use types::{Error, Result};

/// Bytes of one row, as of the body of a single call.
pub const ROW_BYTES_MAX: usize = 32 * 1024;
/// Bytes of a cell that are read at once.
const CELL_PART_BYTES: usize = 1024;
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
        // The last is what many clients can send only, whatever is in a file.
        media_types: &[
            "application/x-ndjson",
            "application/ndjson",
            "application/jsonl",
            "application/octet-stream",
        ],
    },
    FileKind { name: CSV, media_types: &["text/csv"] },
];

/// A row as it was read.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Row {
    /// A body, which may be wrong in every way.
    Body(String),
    /// A body with card data at these paths, which is not kept.
    CardData(Vec<String>),
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
            Self::CardData(_) => "CardData",
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
    csv: csv_core::Reader,
    /// The columns of a CSV file.
    columns: Option<Vec<Column>>,
}

impl<R: BufRead> Rows<R> {
    /// Fails when the columns of a CSV file make no sense.
    pub fn new(format: Format, source: R) -> Result<Self> {
        let mut rows = Self { source, csv: csv_core::Reader::new(), columns: None };
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
            Some(Err(error)) => Some(error),
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

    /// The cells of the next line that is not blank. What is too long is read and forgotten.
    fn cells(&mut self) -> Result<Option<std::result::Result<Vec<String>, Row>>> {
        let mut output = [0; CELL_PART_BYTES];
        loop {
            self.skip_line_ends()?;
            let (mut cells, mut cell, mut length) = (Vec::new(), Vec::new(), 0_usize);
            loop {
                let input = self.source.fill_buf().map_err(unreadable)?;
                let (result, read, written) = self.csv.read_field(input, &mut output);
                self.source.consume(read);
                length += read;
                if length <= ROW_BYTES_MAX {
                    cell.extend_from_slice(output.get(..written).unwrap_or_default());
                }
                match result {
                    ReadFieldResult::InputEmpty | ReadFieldResult::OutputFull => {}
                    ReadFieldResult::Field { record_end } => {
                        cells.push(take(&mut cell));
                        // One more than there may be is enough to know that there are too many.
                        cells.truncate(COLUMNS_MAX + 1);
                        if record_end {
                            break;
                        }
                    }
                    ReadFieldResult::End => return Ok(None),
                }
            }
            let is_blank = |cell: &Vec<u8>| !cell.is_empty() && cell.trim_ascii().is_empty();
            if !matches!(cells.as_slice(), [only] if is_blank(only)) {
                return Ok(Some(texts(cells, length)));
            }
        }
    }

    /// Empty lines do not count as a part of the row behind them.
    fn skip_line_ends(&mut self) -> Result<()> {
        loop {
            let input = self.source.fill_buf().map_err(unreadable)?;
            let count = input.iter().take_while(|byte| matches!(byte, b'\r' | b'\n')).count();
            if count == 0 {
                return Ok(());
            }
            self.source.consume(count);
        }
    }
}

fn texts(cells: Vec<Vec<u8>>, length: usize) -> std::result::Result<Vec<String>, Row> {
    if length > ROW_BYTES_MAX {
        return Err(Row::TooLong);
    }
    cells.into_iter().map(|cell| String::from_utf8(cell).map_err(|_| Row::NotText)).collect()
}

fn unreadable(error: std::io::Error) -> Error {
    Error::unavailable("cannot read the rest of the file").because(error)
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
            let message = "Each column must be a unique field path, such as \
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

fn put(target: &mut Value, path: &[String], cell: String) {
    let Some((name, rest)) = path.split_first() else {
        *target = Value::String(cell);
        return;
    };
    if let Some(index) = index_of(name) {
        if !target.is_array() {
            *target = Value::Array(Vec::new());
        }
        if let Value::Array(items) = target {
            while items.len() <= index {
                items.push(Value::Object(Map::new()));
            }
            if let Some(item) = items.get_mut(index) {
                put(item, rest, cell);
            }
        }
    } else {
        if !target.is_object() {
            *target = Value::Object(Map::new());
        }
        if let Value::Object(members) = target {
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
