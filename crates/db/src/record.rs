//! A row is declared once: [`record!`](crate::record!) makes the struct, its reading, its values
//! and the texts of its statements from one list of fields.
//!
//! A column is called as its field is, with the ending that its type demands (times end in `_us`);
//! `field: Type as "name"` says otherwise. **Nothing counts columns or placeholders by hand.** The
//! texts are put together by the compiler, so that a statement is still one constant.

mod numbered;
mod text;

pub use text::Text;

use types::Result;

use crate::filter::{Clause, Direction, Filter, Page};
use crate::{Column, Conn, Row, Sql, Val};

/// Name and ending of a column.
pub type ColumnName = (&'static str, &'static str);

/// A row of a table, as [`record!`](crate::record!) declares it.
pub trait Record: Sized {
    const TABLE: &'static str;
    /// Columns that have the same value in all rows.
    const FIXED: &'static [(&'static str, i64)];
    /// The columns that tell rows apart.
    const KEY: &'static [ColumnName];
    const FIELDS: &'static [ColumnName];
    /// Columns that hold a field once more, or what a method makes of several, folded for searching
    /// and sorting. They are never read.
    const FOLDED: &'static [ColumnName];
    /// All columns that are read, for queries that are put together at run time.
    const COLUMNS: &'static str;

    /// Reads the next columns of a row that holds more than this record.
    fn take(columns: &mut Columns<'_>) -> Result<Self>;

    fn key_values(&self) -> Vec<Val<'_>>;

    fn field_values(&self) -> Vec<Val<'_>>;

    fn folded_values(&self) -> Vec<String>;

    /// Reads a row of [`Self::COLUMNS`].
    fn read(row: &dyn Row) -> Result<Self> {
        Self::take(&mut Columns::of(row))
    }
}

impl dyn Conn + '_ {
    /// Runs an [`insert!`](crate::insert) or [`upsert!`](crate::upsert) and returns how many rows
    /// it wrote.
    pub fn insert<R: Record>(&mut self, sql: &Sql, record: &R) -> Result<u64> {
        let folded = record.folded_values();
        let mut values = fixed_values::<R>();
        values.extend(record.key_values());
        values.extend(record.field_values());
        values.extend(folded.iter().map(Val::from));
        self.execute(sql, &values)
    }

    /// Runs an [`update!`](crate::update) of a row that must be there.
    pub fn update<R: Record>(&mut self, sql: &Sql, record: &R) -> Result<()> {
        self.execute_one(sql, &numbered::update_values(record, &record.folded_values()))
    }
}

impl Filter {
    /// A page of the records that match, and how many match.
    pub fn records<R: Record>(
        self,
        conn: &mut dyn Conn,
        order: Vec<(Clause, Direction)>,
        page: Page,
    ) -> Result<(Vec<R>, i64)> {
        self.page(conn, (R::COLUMNS, R::TABLE), order, page, R::read)
    }

    /// The same where it is known how many match, so that nothing is counted.
    pub fn records_uncounted<R: Record>(
        mut self,
        conn: &mut dyn Conn,
        order: Vec<(Clause, Direction)>,
        page: Page,
    ) -> Result<Vec<R>> {
        self.rows(conn, (R::COLUMNS, R::TABLE), order, page, R::read)
    }
}

fn fixed_values<'a, R: Record>() -> Vec<Val<'a>> {
    R::FIXED.iter().map(|(_, value)| Val::Int(*value)).collect()
}

/// The columns of a row, one after the other.
pub struct Columns<'a> {
    row: &'a dyn Row,
    index: usize,
}

impl std::fmt::Debug for Columns<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "column {}", self.index)
    }
}

impl<'a> Columns<'a> {
    pub fn of(row: &'a dyn Row) -> Self {
        Self::after(0, row)
    }

    /// The columns behind the first `index`.
    pub fn after(index: usize, row: &'a dyn Row) -> Self {
        Self { row, index }
    }

    /// The next column, read as the type that the caller wants.
    pub fn take<T: Column>(&mut self) -> Result<T> {
        let value = T::read(self.row, self.index)?;
        self.index += 1;
        Ok(value)
    }

    /// The next two columns; nothing where either is null.
    pub fn take_pair<A: Column, B: Column>(&mut self) -> Result<Option<(A, B)>> {
        Ok(self.take::<Option<A>>()?.zip(self.take()?))
    }
}

/// Declares a row of a table: first the columns of its key, then the others. A field of `pairs` is
/// an optional pair, whose two columns are both null or both not.
///
/// ```
/// db::record! {
///     /// An example.
///     #[derive(Clone, Debug)]
///     pub struct Note in "notes", fixed(site_id = 1), key(note_id: i64) {
///         title: String,
///         created: types::Timestamp,
///     }
///     folded { title as "title_key" }
/// }
/// assert_eq!(
///     db::insert!(Note, "ON CONFLICT DO NOTHING"),
///     "INSERT INTO notes (site_id, note_id, title, created_us, title_key) \
///      VALUES ($1, $2, $3, $4, $5) ON CONFLICT DO NOTHING"
/// );
/// ```
#[macro_export]
macro_rules! record {
    (
        $(#[$meta:meta])*
        $visibility:vis struct $name:ident in $table:literal,
        $(fixed($($fixed:ident = $fixed_value:expr),*),)?
        key($($(#[$key_meta:meta])* $key:ident: $key_type:ty $(as $key_column:literal)?),* $(,)?) {
            $($(#[$field_meta:meta])* $field:ident: $type:ty $(as $column:literal)?,)*
        }
        $(pairs {
            $($(#[$pair_meta:meta])* $pair:ident:
                ($first:ty as $first_column:literal, $second:ty as $second_column:literal),)*
        })?
        $(folded {
            $($folded:ident $(($($argument:tt)*))? as $folded_column:literal),* $(,)?
        })?
    ) => {
        $(#[$meta])*
        $visibility struct $name {
            $($(#[$key_meta])* pub $key: $key_type,)*
            $($(#[$field_meta])* pub $field: $type,)*
            $($($(#[$pair_meta])* pub $pair: Option<($first, $second)>,)*)?
        }

        impl $crate::Record for $name {
            const TABLE: &'static str = $table;
            const FIXED: &'static [(&'static str, i64)] =
                &[$($((stringify!($fixed), $fixed_value),)*)?];
            const KEY: &'static [$crate::record::ColumnName] =
                &[$($crate::column_name!($key, $key_type $(, $key_column)?),)*];
            const FIELDS: &'static [$crate::record::ColumnName] = &[
                $($crate::column_name!($field, $type $(, $column)?),)*
                $($(($first_column, ""), ($second_column, ""),)*)?
            ];
            const FOLDED: &'static [$crate::record::ColumnName] =
                &[$($(($folded_column, ""),)*)?];
            const COLUMNS: &'static str = $crate::columns!($name);

            fn take(columns: &mut $crate::record::Columns<'_>) -> ::types::Result<Self> {
                Ok(Self {
                    $($key: columns.take()?,)*
                    $($field: columns.take()?,)*
                    $($($pair: columns.take_pair()?,)*)?
                })
            }

            fn key_values(&self) -> Vec<$crate::Val<'_>> {
                vec![$($crate::Column::value(&self.$key),)*]
            }

            fn field_values(&self) -> Vec<$crate::Val<'_>> {
                vec![
                    $($crate::Column::value(&self.$field),)*
                    $($(
                        self.$pair.as_ref().map_or($crate::Val::Null, |pair| {
                            $crate::Column::value(&pair.0)
                        }),
                        self.$pair.as_ref().map_or($crate::Val::Null, |pair| {
                            $crate::Column::value(&pair.1)
                        }),
                    )*)?
                ]
            }

            fn folded_values(&self) -> Vec<String> {
                vec![$($($crate::filter::fold(&self.$folded $(($($argument)*))?),)*)?]
            }
        }
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! column_name {
    ($field:ident, $type:ty) => {
        (stringify!($field), <$type as $crate::Column>::SUFFIX)
    };
    ($field:ident, $type:ty, $column:literal) => {
        ($column, "")
    };
}

/// `SELECT` of all columns of a record, followed by the rest of the statement.
#[macro_export]
macro_rules! select {
    ($record:ty, $rest:expr) => {
        $crate::const_text!($crate::record::Text::select::<$record>($rest))
    };
}

/// `INSERT` of a whole record, followed by what is to happen on a conflict.
#[macro_export]
macro_rules! insert {
    ($record:ty) => {
        $crate::insert!($record, "")
    };
    ($record:ty, $rest:expr) => {
        $crate::const_text!($crate::record::Text::insert::<$record>($rest))
    };
}

/// `INSERT` of a whole record, in place of the one with its key if there is one. A condition for
/// that may follow.
#[macro_export]
macro_rules! upsert {
    ($record:ty) => {
        $crate::upsert!($record, "")
    };
    ($record:ty, $rest:expr) => {
        $crate::const_text!($crate::record::Text::upsert::<$record>($rest))
    };
}

/// `UPDATE` of everything but the key, of the row with that key.
#[macro_export]
macro_rules! update {
    ($record:ty) => {
        $crate::const_text!($crate::record::Text::update::<$record>())
    };
}

/// All columns of a record with their table, separated by commas.
#[macro_export]
macro_rules! columns {
    ($record:ty) => {
        $crate::const_text!($crate::record::Text::columns::<$record>())
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! const_text {
    ($text:expr) => {{
        const LONG: $crate::record::Text = $text;
        const BYTES: [u8; LONG.len()] = LONG.cut();
        const TEXT: &str = match ::core::str::from_utf8(&BYTES) {
            Ok(text) => text,
            Err(_) => panic!("texts make a text"),
        };
        TEXT
    }};
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use types::{Result, Timestamp};

    use crate::{Column, Record as _, Row, Val};

    crate::record! {
        /// An example.
        #[derive(Debug)]
        struct Note in "notes", fixed(site_id = 1), key(id: i64 as "note_id") {
            title: String,
            text: Option<String>,
            created: Timestamp,
        }
        pairs {
            read: (String as "reader", Timestamp as "read_us"),
        }
        folded { title as "title_key" }
    }

    #[test]
    fn statements_follow_the_fields() {
        assert_eq!(
            crate::insert!(Note, "ON CONFLICT DO NOTHING"),
            "INSERT INTO notes (site_id, note_id, title, text, created_us, reader, read_us, \
             title_key) VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT DO NOTHING"
        );
        assert_eq!(
            crate::upsert!(Note, "WHERE notes.text IS NULL"),
            "INSERT INTO notes (site_id, note_id, title, text, created_us, reader, read_us, \
             title_key) VALUES ($1, $2, $3, $4, $5, $6, $7, $8) \
             ON CONFLICT (site_id, note_id) DO UPDATE SET title = excluded.title, \
             text = excluded.text, created_us = excluded.created_us, reader = excluded.reader, \
             read_us = excluded.read_us, title_key = excluded.title_key WHERE notes.text IS NULL"
        );
        assert_eq!(
            crate::update!(Note),
            "UPDATE notes SET title = $1, text = $2, created_us = $3, reader = $4, read_us = $5, \
             title_key = $6 WHERE site_id = $7 AND note_id = $8"
        );
        assert_eq!(
            crate::select!(Note, "WHERE site_id = $1"),
            "SELECT notes.note_id, notes.title, notes.text, notes.created_us, notes.reader, \
             notes.read_us FROM notes WHERE site_id = $1"
        );
    }

    #[test]
    fn a_pair_is_written_and_read_as_two_columns() {
        let mut note = Note {
            id: 7,
            title: "Plan".to_owned(),
            text: None,
            created: Timestamp::from_micros(1),
            read: Some(("Ann".to_owned(), Timestamp::from_micros(2))),
        };
        let pair = |note: &Note| format!("{:?}", &note.field_values()[3..]);
        assert_eq!(pair(&note), "[Text(\"Ann\"), Int(2)]");
        note.read = None;
        assert_eq!(pair(&note), "[Null, Null]");

        let read =
            Note::read(&Stored([Some(7), Some(8), None, Some(1), Some(3), Some(2)])).unwrap();
        assert_eq!((read.id, read.title.as_str()), (7, "8"));
        assert_eq!(read.read, Some(("3".to_owned(), Timestamp::from_micros(2))));
        let read = Note::read(&Stored([Some(7), Some(8), None, Some(1), None, None])).unwrap();
        assert_eq!(read.read, None);
    }

    #[test]
    fn durations_are_kept_in_microseconds() {
        assert_eq!(<Duration as Column>::SUFFIX, "_us");
        let long = Duration::from_millis(1_500);
        let Val::Int(stored) = long.value() else { panic!("not a number") };
        assert_eq!(Duration::read(&Stored([Some(stored); 6]), 0).unwrap(), long);
        assert!(matches!(Duration::MAX.value(), Val::Int(i64::MAX)));
    }

    /// A row of numbers, which are texts as well.
    struct Stored([Option<i64>; 6]);

    impl Row for Stored {
        fn int(&self, index: usize) -> Result<Option<i64>> {
            Ok(self.0[index])
        }

        fn text(&self, index: usize) -> Result<Option<String>> {
            Ok(self.0[index].map(|number| number.to_string()))
        }

        fn bytes(&self, index: usize) -> Result<Option<Vec<u8>>> {
            Ok(self.text(index)?.map(String::into_bytes))
        }
    }
}
