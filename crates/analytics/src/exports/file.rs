//! An export as a file on a disk: page after page, in one of several formats.

use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use serde_json::{Map, Value, json};
use types::{Error, Result};

use super::columns::{Cell, Column};
use super::parquet_file::ParquetFile;
use super::{Page, ROWS_AT_ONCE, Reading, csv};
use crate::columns::number;

/// What a file is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// As the REST interface exports it.
    Csv,
    /// A list of objects, whose members are the headings in small letters.
    Json,
    /// Columns with types, named as the members of JSON.
    Parquet,
}

impl Format {
    /// How names of such files end.
    pub fn ending(self) -> &'static str {
        match self {
            Self::Csv => "csv",
            Self::Json => "json",
            Self::Parquet => "parquet",
        }
    }
}

enum Target {
    Csv(BufWriter<File>),
    Json(BufWriter<File>),
    Parquet(Box<ParquetFile>),
}

/// Writes all of an export into a new file, and returns how many rows it has. `told` hears of the
/// rows that are written, and of how many there are. Blocks.
pub fn write(
    reading: &Reading,
    format: Format,
    path: &Path,
    mut told: impl FnMut(i64, i64),
) -> Result<i64> {
    let failed = |error: std::io::Error| {
        Error::invalid(format!("cannot write {}", path.display())).because(error)
    };
    let file =
        File::options().write(true).create_new(true).mode(0o600).open(path).map_err(|error| {
            if error.kind() == std::io::ErrorKind::AlreadyExists {
                Error::invalid(format!("{} already exists; choose another file", path.display()))
            } else {
                failed(error)
            }
        })?;
    let mut file = Some(file);
    let mut target = None;
    let (mut rows, mut number) = (0_i64, 0_i64);
    loop {
        number += 1;
        let pages = reading.clone();
        let page = reading.store().read_blocking(move |conn| pages.page(conn, number))?;
        if let Some(file) = file.take() {
            target = Some(Target::begin(format, file, &page).map_err(failed)?);
        }
        let count = i64::try_from(page.rows.len()).unwrap_or(i64::MAX);
        if let Some(target) = &mut target {
            target.add(&page, rows == 0).map_err(failed)?;
        }
        rows = rows.saturating_add(count);
        told(rows, page.total.max(rows));
        if count < ROWS_AT_ONCE {
            break;
        }
    }
    target.map_or(Ok(()), Target::end).map_err(failed)?;
    Ok(rows)
}

impl Target {
    fn begin(format: Format, file: File, first: &Page) -> std::io::Result<Self> {
        Ok(match format {
            Format::Csv => {
                let mut file = BufWriter::new(file);
                file.write_all(csv::head(&first.columns).as_bytes())?;
                Self::Csv(file)
            }
            Format::Json => {
                let mut file = BufWriter::new(file);
                file.write_all(b"[")?;
                Self::Json(file)
            }
            Format::Parquet => Self::Parquet(Box::new(ParquetFile::begin(file, &first.columns)?)),
        })
    }

    fn add(&mut self, page: &Page, is_first: bool) -> std::io::Result<()> {
        match self {
            Self::Csv(file) => file.write_all(csv::rows(page).as_bytes()),
            Self::Json(file) => {
                for (index, row) in page.rows.iter().enumerate() {
                    let comma = if is_first && index == 0 { "\n" } else { ",\n" };
                    write!(file, "{comma}{}", object(&page.columns, row))?;
                }
                Ok(())
            }
            Self::Parquet(file) => file.add(page),
        }
    }

    fn end(self) -> std::io::Result<()> {
        match self {
            Self::Csv(file) => closed(file),
            Self::Json(mut file) => {
                file.write_all(b"\n]\n")?;
                closed(file)
            }
            Self::Parquet(file) => file.end(),
        }
    }
}

/// What was written is on the disk.
fn closed(file: BufWriter<File>) -> std::io::Result<()> {
    file.into_inner()?.sync_all()
}

fn object(columns: &[&Column], row: &[Cell]) -> Value {
    let member = |(column, cell): (&&Column, &Cell)| {
        let value = match cell {
            Cell::Nothing => Value::Null,
            Cell::Text(text) => json!(text),
            Cell::Whole(value) => json!(value),
            Cell::Real(value) | Cell::Money(value) => number(*value),
        };
        (column.key(), value)
    };
    Value::Object(columns.iter().zip(row).map(member).collect::<Map<String, Value>>())
}
