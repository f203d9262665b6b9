//! A file of records, row by row: JSON lines, or CSV whose columns are paths into the record.
//!
//! **However long the file is, only a row of it is in memory**, and no row is longer than
//! [`ROW_BYTES_MAX`].

use std::fs::File;
use std::io::{BufRead as _, BufReader, Read};
use std::path::Path;
use std::sync::Arc;

use serde_json::{Map, Value};
use types::{Error, Result};

use crate::ingest::{Record, RecordError, RecordKind};

/// Bytes of one row.
pub const ROW_BYTES_MAX: usize = 4 * 1024 * 1024;
/// Columns of a CSV file.
pub const COLUMNS_MAX: usize = 2_000;
/// The greatest place in a list that a column can name.
pub const PLACE_MAX: usize = 999;
/// Names and places in one path.
const DEPTH_MAX: usize = 8;
/// What is read at once.
const BUFFER_BYTES: usize = 256 * 1024;
/// The member that says of which kind a record is.
const KIND: &str = "record";

/// A row that was read and not looked at yet.
#[derive(Debug)]
pub(super) struct Row {
    /// Where it begins, counted from 1.
    pub(super) line: u64,
    content: Content,
}

#[derive(Debug)]
enum Content {
    Json(Vec<u8>),
    Csv(Arc<Vec<Column>>, csv::StringRecord),
    /// What is wrong with it already.
    Wrong(&'static str),
}

/// A column: the path into the record, as names and places.
#[derive(Debug)]
struct Column {
    name: String,
    path: Vec<Step>,
}

#[derive(Clone, Debug)]
enum Step {
    Member(String),
    Place(usize),
}

/// The rows of a file.
pub(super) struct Rows {
    input: Input,
    line: u64,
    /// Bytes that were read.
    pub(super) bytes: u64,
}

enum Input {
    Json(BufReader<File>),
    Csv(Box<csv::Reader<File>>, Arc<Vec<Column>>),
}

impl Rows {
    /// Opens the file. What ends in `.csv` is CSV; what begins with a brace is JSON lines.
    pub(super) fn open(path: &Path) -> Result<Self> {
        let unreadable = |error: std::io::Error| {
            Error::invalid(format!("cannot read {}", path.display())).because(error)
        };
        let open = || File::open(path).map_err(unreadable);
        let mut first = [0];
        let read = open()?.read(&mut first).map_err(unreadable)?;
        let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
        let is_json = match ending.to_ascii_lowercase().as_str() {
            "csv" => false,
            "jsonl" | "ndjson" | "json" => true,
            _ => read == 0 || matches!(first, [b'{' | b' ' | b'\n' | b'\r']),
        };
        let input = if is_json {
            Input::Json(BufReader::with_capacity(BUFFER_BYTES, open()?))
        } else {
            let mut builder = csv::ReaderBuilder::new();
            let reader = builder.flexible(true).buffer_capacity(BUFFER_BYTES).from_reader(open()?);
            csv_input(path, reader)?
        };
        Ok(Self { input, line: 0, bytes: 0 })
    }

    /// The next row that is not empty; nothing at the end.
    pub(super) fn next(&mut self) -> Result<Option<Row>> {
        match &mut self.input {
            Input::Json(reader) => {
                while let Some(content) = json_line(reader, &mut self.bytes)? {
                    self.line += 1;
                    match content {
                        Content::Json(bytes) if bytes.trim_ascii().is_empty() => {}
                        content => return Ok(Some(Row { line: self.line, content })),
                    }
                }
                Ok(None)
            }
            Input::Csv(reader, columns) => {
                let mut record = csv::StringRecord::new();
                let read = reader.read_record(&mut record);
                self.bytes = reader.position().byte();
                let line = record.position().map_or(self.line + 1, csv::Position::line);
                self.line = line;
                let content = match read {
                    Ok(false) => return Ok(None),
                    Ok(true) if record.as_slice().len() > ROW_BYTES_MAX => Content::Wrong(TOO_LONG),
                    Ok(true) => Content::Csv(Arc::clone(columns), record),
                    Err(error) if matches!(error.kind(), csv::ErrorKind::Utf8 { .. }) => {
                        Content::Wrong(NOT_UTF8)
                    }
                    Err(error) => {
                        return Err(
                            Error::invalid("cannot read the rest of the file").because(error)
                        );
                    }
                };
                Ok(Some(Row { line, content }))
            }
        }
    }
}

const TOO_LONG: &str = "The row exceeds 4 MB.";
const NOT_UTF8: &str = "The row is not valid UTF-8.";

fn json_line(reader: &mut BufReader<File>, bytes: &mut u64) -> Result<Option<Content>> {
    let limit = u64::try_from(ROW_BYTES_MAX).unwrap_or(u64::MAX);
    let failed = |error| Error::invalid("cannot read the rest of the file").because(error);
    let mut line = Vec::new();
    let read = reader.by_ref().take(limit).read_until(b'\n', &mut line).map_err(failed)?;
    *bytes += u64::try_from(read).unwrap_or_default();
    if read == 0 {
        return Ok(None);
    }
    if read < ROW_BYTES_MAX || line.ends_with(b"\n") {
        return Ok(Some(Content::Json(line)));
    }
    // The rest of the row is passed over, a piece at a time.
    loop {
        line.clear();
        let read = reader.by_ref().take(limit).read_until(b'\n', &mut line).map_err(failed)?;
        *bytes += u64::try_from(read).unwrap_or_default();
        if read == 0 || line.ends_with(b"\n") {
            return Ok(Some(Content::Wrong(TOO_LONG)));
        }
    }
}

fn csv_input(path: &Path, mut reader: csv::Reader<File>) -> Result<Input> {
    let wrong =
        |message: String| Error::invalid(format!("first line of {}: {message}", path.display()));
    let header = reader.headers().map_err(|error| wrong(error.to_string()))?;
    if header.len() > COLUMNS_MAX {
        return Err(wrong(format!("a file must have at most {COLUMNS_MAX} columns")));
    }
    let column = |name: &str| {
        let name = name.trim().trim_start_matches('\u{feff}').to_owned();
        let path: Vec<Step> = name.split('.').map(Step::read).collect();
        let is_sound = matches!(path.first(), Some(Step::Member(name)) if !name.is_empty());
        let is_near = path.iter().all(|step| match step {
            Step::Place(place) => *place <= PLACE_MAX,
            Step::Member(name) => !name.is_empty(),
        });
        if !is_sound || !is_near || path.len() > DEPTH_MAX {
            let message =
                format!("`{name}` is not a path such as billing.email or line_items.0.name");
            return Err(wrong(message));
        }
        Ok(Column { name, path })
    };
    let columns = header.iter().map(column).collect::<Result<Vec<Column>>>()?;
    Ok(Input::Csv(Box::new(reader), Arc::new(columns)))
}

impl Step {
    fn read(text: &str) -> Self {
        match text.parse() {
            Ok(place) => Self::Place(place),
            Err(_) => Self::Member(text.to_owned()),
        }
    }
}

impl Row {
    /// The record that the row is.
    pub(super) fn record(self) -> std::result::Result<Record, RecordError> {
        let Self { line, content } = self;
        let wrong = |field: Option<&str>, message: String| RecordError {
            line,
            field: field.map(str::to_owned),
            message,
        };
        let mut body = match content {
            Content::Wrong(message) => return Err(wrong(None, message.to_owned())),
            Content::Json(bytes) => match serde_json::from_slice(&bytes) {
                Ok(Value::Object(body)) => body,
                Ok(_) => {
                    return Err(wrong(None, "The line must be a JSON object.".to_owned()));
                }
                Err(error) => {
                    let message = format!("The line is not valid JSON: {error}.");
                    return Err(wrong(None, message));
                }
            },
            Content::Csv(columns, record) => built(&columns, &record)
                .map_err(|(name, message)| wrong(Some(&name), message.to_owned()))?,
        };
        let kind = match body.shift_remove(KIND) {
            Some(named) => named
                .as_str()
                .unwrap_or_default()
                .parse()
                .map_err(|message: String| wrong(Some(KIND), format!("{message}.")))?,
            None => RecordKind::of_body(&body).ok_or_else(|| {
                let message = "The record's type is missing, such as product.";
                wrong(Some(KIND), message.to_owned())
            })?,
        };
        Ok(Record { kind, body, line })
    }
}

/// The record of a CSV row. Empty cells say nothing.
fn built(
    columns: &[Column],
    record: &csv::StringRecord,
) -> std::result::Result<Map<String, Value>, (String, &'static str)> {
    let mut root = Value::Object(Map::new());
    for (column, cell) in columns.iter().zip(record) {
        if cell.is_empty() {
            continue;
        }
        let mut place = &mut root;
        for step in &column.path {
            place = enter(place, step)
                .ok_or_else(|| (column.name.clone(), "Two columns contradict each other."))?;
        }
        *place = Value::from(cell);
    }
    Ok(match root {
        Value::Object(members) => members,
        _ => Map::new(),
    })
}

/// The part of a value at a step, made if it is not there; nothing where something else is.
fn enter<'v>(value: &'v mut Value, step: &Step) -> Option<&'v mut Value> {
    if value.is_null() {
        *value = match step {
            Step::Member(_) => Value::Object(Map::new()),
            Step::Place(_) => Value::Array(Vec::new()),
        };
    }
    match (value, step) {
        (Value::Object(members), Step::Member(name)) => {
            Some(members.entry(name.clone()).or_insert(Value::Null))
        }
        (Value::Array(items), Step::Place(place)) => {
            if items.len() <= *place {
                items.resize(place + 1, Value::Null);
            }
            items.get_mut(*place)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(name: &str, text: &[u8]) -> Vec<std::result::Result<Value, (u64, String)>> {
        let folder = testkit::temp_dir().unwrap();
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        let mut rows = Rows::open(&path).unwrap();
        let mut found = Vec::new();
        while let Some(row) = rows.next().unwrap() {
            found.push(match row.record() {
                Ok(record) => Ok(json!([record.line, record.kind.name(), record.body])),
                Err(error) => Err((error.line, error.message)),
            });
        }
        assert_eq!(rows.bytes, u64::try_from(text.len()).unwrap());
        found
    }

    #[test]
    fn lines_are_records() {
        let text = b"{\"sku\":\"a\"}\n\n{\"record\":\"tag\",\"name\":\"b\"}\r\n[1]\n{\n{\"a\":1}";
        let found = read("lines.jsonl", text);
        assert_eq!(found[0], Ok(json!([1, "product", { "sku": "a" }])));
        assert_eq!(found[1], Ok(json!([3, "tag", { "name": "b" }])));
        let lines: Vec<u64> = found[2..].iter().map(|row| row.as_ref().unwrap_err().0).collect();
        assert_eq!(lines, [4, 5, 6]);
    }

    #[test]
    fn columns_are_paths() {
        let text = b"record,billing.email,line_items.0.product_id,line_items.1.total\n\
                     order,a@example.com,7,2.50\n,b@example.com,,\n\"order\",,9,\n";
        let found = read("columns.csv", text);
        let first = json!({
            "billing": { "email": "a@example.com" },
            "line_items": [{ "product_id": "7" }, { "total": "2.50" }],
        });
        assert_eq!(found[0], Ok(json!([2, "order", first])));
        assert_eq!(found[1].as_ref().unwrap_err().0, 3);
        assert_eq!(found[2], Ok(json!([4, "order", { "line_items": [{ "product_id": "9" }] }])));
    }

    #[test]
    fn hostile_files_do_no_harm() {
        let long = [b"{\"a\":\"".as_slice(), &vec![b'x'; ROW_BYTES_MAX * 2], b"\"}\n{}"].concat();
        let found = read("long.jsonl", &long);
        assert_eq!(found[0], Err((1, TOO_LONG.to_owned())));
        assert_eq!(found.len(), 2);
        assert_eq!(read("bytes.jsonl", b"\xff\xfe\n").len(), 1);
        assert_eq!(read("bytes.csv", b"sku\n\xff\xfe\nb\n").len(), 2);
        assert!(read("empty.jsonl", b"").is_empty());
        let contrary = read("contrary.csv", b"billing,billing.email\na,b\n");
        assert!(contrary[0].is_err());
        for header in ["line_items.1000.total", "a..b", ".a", "0.a", "a.b.c.d.e.f.g.h.i"] {
            let folder = testkit::temp_dir().unwrap();
            let path = folder.path().join("header.csv");
            std::fs::write(&path, format!("{header}\n1\n")).unwrap();
            assert!(Rows::open(&path).is_err(), "{header}");
        }
    }
}
