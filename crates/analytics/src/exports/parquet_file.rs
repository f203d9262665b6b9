//! An export as a Parquet file: columns with types, in groups of rows, so that no more than one
//! group is in memory. Amounts are decimals, days and times are timestamps without a time zone.

use std::fs::File;
use std::io::{Error, Result};
use std::sync::Arc;

use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use parquet::basic::{LogicalType, Repetition, TimeUnit, Type as Physical};
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::types::{Type, TypePtr};
use types::Amount;

use super::Page;
use super::columns::{Cell, Column, Kind};
use crate::columns::number;

/// Rows of a group at most.
const GROUP_ROWS: usize = 50_000;
/// Digits of an amount, and how many of them are decimals: as many as facts keep.
const AMOUNT_DIGITS: i32 = 18;
const AMOUNT_DECIMALS: i32 = 6;
/// The level of a value that is there, and of one that is not.
const PRESENT: i16 = 1;
const ABSENT: i16 = 0;

pub(super) struct ParquetFile {
    writer: SerializedFileWriter<File>,
    kinds: Vec<Kind>,
    /// Rows that wait for their group to be full.
    rows: Vec<Vec<Cell>>,
}

fn failed(error: ParquetError) -> Error {
    Error::other(error)
}

impl ParquetFile {
    pub(super) fn begin(file: File, columns: &[&Column]) -> Result<Self> {
        let fields = columns.iter().map(|column| field(column)).collect::<Result<_>>()?;
        let schema = Type::group_type_builder("report").with_fields(fields).build();
        let schema = Arc::new(schema.map_err(failed)?);
        let properties = Arc::new(WriterProperties::builder().build());
        let writer = SerializedFileWriter::new(file, schema, properties).map_err(failed)?;
        let kinds = columns.iter().map(|column| column.kind).collect();
        Ok(Self { writer, kinds, rows: Vec::new() })
    }

    pub(super) fn add(&mut self, page: &Page) -> Result<()> {
        self.rows.extend(page.rows.iter().cloned());
        if self.rows.len() >= GROUP_ROWS { self.group() } else { Ok(()) }
    }

    pub(super) fn end(mut self) -> Result<()> {
        if !self.rows.is_empty() {
            self.group()?;
        }
        let file = self.writer.into_inner().map_err(failed)?;
        file.sync_all()
    }

    /// Writes the rows that wait as a group.
    fn group(&mut self) -> Result<()> {
        let rows = std::mem::take(&mut self.rows);
        let mut group = self.writer.next_row_group().map_err(failed)?;
        for (place, kind) in self.kinds.iter().enumerate() {
            let Some(mut column) = group.next_column().map_err(failed)? else { break };
            let cells = rows.iter().map(|row| row.get(place).unwrap_or(&Cell::Nothing));
            write_column(&mut column, *kind, cells).map_err(failed)?;
            column.close().map_err(failed)?;
        }
        group.close().map(drop).map_err(failed)
    }
}

fn field(column: &Column) -> Result<TypePtr> {
    let (physical, logical) = match column.kind {
        Kind::Text => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
        Kind::Moment => (Physical::INT64, Some(LogicalType::timestamp(false, TimeUnit::MICROS))),
        Kind::Whole => (Physical::INT64, None),
        Kind::Real => (Physical::DOUBLE, None),
        Kind::Amount | Kind::Money => {
            (Physical::INT64, Some(LogicalType::decimal(AMOUNT_DECIMALS, AMOUNT_DIGITS)))
        }
    };
    let key = column.key();
    let field = Type::primitive_type_builder(&key, physical)
        .with_repetition(Repetition::OPTIONAL)
        .with_logical_type(logical);
    let is_amount = matches!(column.kind, Kind::Amount | Kind::Money);
    let field = if is_amount {
        field.with_precision(AMOUNT_DIGITS).with_scale(AMOUNT_DECIMALS)
    } else {
        field
    };
    field.build().map(Arc::new).map_err(failed)
}

fn write_column<'c>(
    column: &mut SerializedColumnWriter<'_>,
    kind: Kind,
    cells: impl Iterator<Item = &'c Cell> + Clone,
) -> std::result::Result<(), ParquetError> {
    match kind {
        Kind::Text => {
            let text = |text: &str| Some(ByteArray::from(text));
            let (values, levels) = present(cells, |cell| match cell {
                Cell::Nothing => None,
                Cell::Text(value) => text(value),
                // A number among words, such as a quantity that is not known of everything.
                Cell::Whole(value) => text(&value.to_string()),
                Cell::Real(value) | Cell::Money(value) => text(&number(*value).to_string()),
            });
            column.typed::<ByteArrayType>().write_batch(&values, Some(&levels), None).map(drop)
        }
        Kind::Whole => {
            let (values, levels) = present(cells, |cell| match cell {
                Cell::Whole(value) => Some(*value),
                _ => None,
            });
            column.typed::<Int64Type>().write_batch(&values, Some(&levels), None).map(drop)
        }
        Kind::Moment => {
            let (values, levels) = present(cells, |cell| match cell {
                Cell::Text(text) => micros(text),
                _ => None,
            });
            column.typed::<Int64Type>().write_batch(&values, Some(&levels), None).map(drop)
        }
        Kind::Amount | Kind::Money => {
            let (values, levels) = present(cells, |cell| match cell {
                Cell::Real(value) | Cell::Money(value) => units(*value),
                _ => None,
            });
            column.typed::<Int64Type>().write_batch(&values, Some(&levels), None).map(drop)
        }
        Kind::Real => {
            let (values, levels) = present(cells, |cell| match cell {
                Cell::Real(value) | Cell::Money(value) => Some(*value),
                _ => None,
            });
            column.typed::<DoubleType>().write_batch(&values, Some(&levels), None).map(drop)
        }
    }
}

/// The microseconds of a day and time as reports write it; nothing where there is none.
fn micros(text: &str) -> Option<i64> {
    let at: DateTime = text.parse().ok()?;
    Some(at.to_zoned(TimeZone::UTC).ok()?.timestamp().as_microsecond())
}

/// An amount in its smallest units; nothing where it is out of range.
fn units(amount: f64) -> Option<i64> {
    Amount::from_f64(amount).map(Amount::as_millionths)
}

/// The values that are there, and of each cell whether it is.
fn present<'c, T>(
    cells: impl Iterator<Item = &'c Cell>,
    value: impl Fn(&Cell) -> Option<T>,
) -> (Vec<T>, Vec<i16>) {
    let (mut values, mut levels) = (Vec::new(), Vec::new());
    for cell in cells {
        let found = value(cell);
        levels.push(if found.is_some() { PRESENT } else { ABSENT });
        values.extend(found);
    }
    (values, levels)
}

#[cfg(test)]
mod tests {
    use parquet::file::reader::{FileReader as _, SerializedFileReader};
    use parquet::record::RowAccessor as _;

    use super::*;
    use crate::exports::Export;

    #[test]
    fn days_and_times_are_timestamps() {
        assert_eq!(micros("1970-01-02 00:00:01"), Some(86_401_000_000));
        assert_eq!(micros("1970-01-01T00:00:01"), Some(1_000_000));
        assert_eq!(micros("N/A"), None);
        assert_eq!(units(-0.1 - 0.2), Some(-300_000));
    }

    #[test]
    fn what_was_written_is_read_back() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("taxes.parquet");
        let columns: Vec<&Column> = Export::named("taxes").unwrap().columns.iter().collect();
        let row = |place: usize| {
            let orders = i64::try_from(place).unwrap();
            let code = Cell::Text(format!("GB-{place}"));
            let rate = if place == 1 { Cell::Nothing } else { Cell::Real(19.5) };
            vec![
                code,
                rate,
                Cell::Money(-0.25),
                Cell::Money(1.0),
                Cell::Nothing,
                Cell::Whole(orders),
            ]
        };
        let mut file = ParquetFile::begin(File::create(&path).unwrap(), &columns).unwrap();
        // More than a group, page by page.
        let count = GROUP_ROWS + 600;
        let all: Vec<usize> = (0..count).collect();
        for places in all.chunks(500) {
            let rows = places.iter().map(|place| row(*place)).collect();
            let columns = columns.clone();
            file.add(&Page { rows, total: 0, columns, decimals: 2 }).unwrap();
        }
        file.end().unwrap();
        let reader = SerializedFileReader::new(File::open(&path).unwrap()).unwrap();
        assert_eq!(reader.metadata().num_row_groups(), 2);
        let mut read = 0;
        for (place, found) in reader.get_row_iter(None).unwrap().enumerate() {
            let found = found.unwrap();
            assert_eq!(found.get_string(0).unwrap(), &format!("GB-{place}"));
            assert_eq!(found.get_double(1).is_ok(), place != 1, "{place}");
            assert_eq!(found.get_decimal(2).unwrap().data(), (-250_000_i64).to_be_bytes());
            assert!(found.get_decimal(4).is_err(), "there is nothing");
            assert_eq!(found.get_long(5).unwrap(), i64::try_from(place).unwrap());
            read += 1;
        }
        assert_eq!(read, count);
    }
}
