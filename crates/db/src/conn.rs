//! The seam between queries and engines: statements, values, rows and the connection trait.

use std::time::Duration;

use types::{Amount, Error, Result, Timestamp};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Engine {
    Sqlite,
    Postgres,
}

/// A statement with a name for logs and metrics. Parameters are `$1…$n`, first used in that order.
#[derive(Debug, PartialEq, Eq)]
pub struct Sql {
    pub name: &'static str,
    pub text: &'static str,
}

/// Declares the statements of a module, `FACT_GET = "SELECT …";` one after the other, and the list
/// `STATEMENTS` of them all, so that each is named once. They are the crate's own.
#[macro_export]
macro_rules! statements {
    ($($name:ident = $text:expr;)+) => {
        $(
            pub(crate) const $name: $crate::Sql =
                $crate::Sql { name: stringify!($name), text: $text };
        )+

        pub(crate) const STATEMENTS: &[&$crate::Sql] = &[$(&$name),+];
    };
}

/// A parameter. Borrowed, so that passing one costs nothing.
#[derive(Clone, Copy, Debug)]
pub enum Val<'a> {
    Null,
    Int(i64),
    Text(&'a str),
    Bytes(&'a [u8]),
}

macro_rules! val_from {
    ($($source:ty => |$value:ident| $build:expr;)*) => {$(
        impl<'a> From<$source> for Val<'a> {
            fn from($value: $source) -> Self {
                $build
            }
        }
    )*};
}

val_from! {
    i64 => |value| Val::Int(value);
    bool => |value| Val::Int(i64::from(value));
    Timestamp => |value| Val::Int(value.as_micros());
    Amount => |value| Val::Int(value.as_millionths());
    &'a str => |value| Val::Text(value);
    &'a String => |value| Val::Text(value);
    &'a [u8] => |value| Val::Bytes(value);
    &'a Vec<u8> => |value| Val::Bytes(value);
}

impl<'a, T> From<Option<T>> for Val<'a>
where
    Val<'a>: From<T>,
{
    fn from(value: Option<T>) -> Self {
        value.map_or(Val::Null, Val::from)
    }
}

/// Refuses what only one engine could store: PostgreSQL has no U+0000 in texts.
pub(crate) fn check_params(params: &[Val<'_>]) -> Result<()> {
    let zero = |value: &Val<'_>| matches!(value, Val::Text(text) if text.contains('\0'));
    if params.iter().any(zero) {
        return Err(Error::invalid("a text must not contain the character U+0000"));
    }
    Ok(())
}

/// A row being read.
pub trait Row {
    fn int(&self, index: usize) -> Result<Option<i64>>;
    fn text(&self, index: usize) -> Result<Option<String>>;
    /// Shows the text where it stands, if there is one.
    fn look_at_text(&self, index: usize, look: &mut dyn FnMut(&str)) -> Result<()> {
        if let Some(text) = self.text(index)? {
            look(&text);
        }
        Ok(())
    }
    fn bytes(&self, index: usize) -> Result<Option<Vec<u8>>>;
}

impl dyn Row + '_ {
    /// The column at `index`, read as the type that the caller wants.
    pub fn get<T: Column>(&self, index: usize) -> Result<T> {
        T::read(self, index)
    }
}

/// A Rust type that a column can hold.
pub trait Column: Sized {
    /// What the names of such columns end in.
    const SUFFIX: &'static str = "";

    /// Nothing where the column is null.
    fn read_optional(row: &dyn Row, index: usize) -> Result<Option<Self>>;

    fn value(&self) -> Val<'_>;

    fn read(row: &dyn Row, index: usize) -> Result<Self> {
        let missing = || Error::internal(format!("column {index} is null where a value must be"));
        Self::read_optional(row, index)?.ok_or_else(missing)
    }
}

impl<T: Column> Column for Option<T> {
    const SUFFIX: &'static str = T::SUFFIX;

    fn read_optional(row: &dyn Row, index: usize) -> Result<Option<Self>> {
        T::read_optional(row, index).map(Some)
    }

    fn value(&self) -> Val<'_> {
        self.as_ref().map_or(Val::Null, Column::value)
    }
}

macro_rules! columns {
    ($(
        $target:ty $([$suffix:literal])?:
        |$row:ident, $index:ident| $read:expr, |$value:ident| $write:expr;
    )*) => {$(
        impl Column for $target {
            $(const SUFFIX: &'static str = $suffix;)?

            fn read_optional($row: &dyn Row, $index: usize) -> Result<Option<Self>> {
                Ok($read)
            }

            fn value(&self) -> Val<'_> {
                let $value = self;
                $write
            }
        }
    )*};
}

columns! {
    i64: |row, index| row.int(index)?, |value| Val::Int(*value);
    bool: |row, index| row.int(index)?.map(|value| value != 0), |value| (*value).into();
    Timestamp ["_us"]: |row, index| row.int(index)?.map(Timestamp::from_micros),
        |value| (*value).into();
    Duration ["_us"]: |row, index| {
        row.int(index)?.map(|micros| Duration::from_micros(micros.unsigned_abs()))
    }, |value| Val::Int(i64::try_from(value.as_micros()).unwrap_or(i64::MAX));
    Amount: |row, index| row.int(index)?.map(Amount::from_millionths), |value| (*value).into();
    String: |row, index| row.text(index)?, |value| Val::Text(value);
    Vec<u8>: |row, index| row.bytes(index)?, |value| Val::Bytes(value);
}

/// Ids, which are kept as texts.
macro_rules! ids {
    ($($id:ident)+) => {
        val_from! { $(&'a types::$id => |value| Val::Text(value.as_str());)+ }
        columns! {
            $(types::$id: |row, index| row.text(index)?.map(types::$id::new),
                |value| value.into();)+
        }
    };
}

ids!(IsoId KeyId MerchantId StoreId TemplateId Tpn);

/// A transaction that is under way. **A closure must fail when one of its statements failed**: on
/// PostgreSQL nothing after that statement counts.
pub trait Conn {
    /// For the few texts that the engines spell differently.
    fn engine(&self) -> Engine;

    /// Runs a statement and returns how many rows it changed.
    fn execute(&mut self, sql: &Sql, params: &[Val<'_>]) -> Result<u64>;

    /// Runs a query and hands each row to `each`.
    fn query(
        &mut self,
        sql: &Sql,
        params: &[Val<'_>],
        each: &mut dyn FnMut(&dyn Row) -> Result<()>,
    ) -> Result<()>;

    /// Runs several statements without parameters. For migrations and for the parts of a backup
    /// whose text is derived from the migrations.
    fn script(&mut self, text: &str) -> Result<()>;

    /// Runs a statement whose text was derived at run time. Never for texts with values in them.
    fn query_text(
        &mut self,
        text: &str,
        params: &[Val<'_>],
        each: &mut dyn FnMut(&dyn Row) -> Result<()>,
    ) -> Result<()>;

    /// Checks that the engine understands a statement.
    fn prepare(&mut self, sql: &Sql) -> Result<()>;

    /// Does `work`, which says whether its changes are to stay, with one round trip to a database
    /// server for all of its changes up to its end or its next query. **Each of them must change
    /// one row**: `work` is told so before it is known. The place of the first that did not, if
    /// any, is returned, and the closure must then fail or refuse. SQLite, which is no way off,
    /// may tell `work` itself instead.
    fn together(
        &mut self,
        work: &mut dyn FnMut(&mut dyn Conn) -> Result<bool>,
    ) -> Result<Option<usize>>;
}

impl dyn Conn + '_ {
    /// All rows of a query.
    pub fn rows<T>(
        &mut self,
        sql: &Sql,
        params: &[Val<'_>],
        read: fn(&dyn Row) -> Result<T>,
    ) -> Result<Vec<T>> {
        let mut list = Vec::new();
        self.query(sql, params, &mut |row| {
            list.push(read(row)?);
            Ok(())
        })?;
        Ok(list)
    }

    /// The first row of a query, if there is one.
    pub fn row<T>(
        &mut self,
        sql: &Sql,
        params: &[Val<'_>],
        read: fn(&dyn Row) -> Result<T>,
    ) -> Result<Option<T>> {
        Ok(self.rows(sql, params, read)?.into_iter().next())
    }

    /// Runs a part of the transaction that may be undone alone: `run` says whether its changes
    /// stay. An error undoes the whole transaction.
    pub fn nested(&mut self, run: &mut dyn FnMut(&mut dyn Conn) -> Result<bool>) -> Result<()> {
        self.script("SAVEPOINT nested")?;
        let ended = run(self);
        let undone = match ended {
            Ok(true) => Ok(()),
            _ => self.script("ROLLBACK TO SAVEPOINT nested"),
        };
        let closed = undone.and_then(|()| self.script("RELEASE SAVEPOINT nested"));
        // The first error tells more than those that follow from it.
        ended.and(closed)
    }

    /// Runs a statement that must change exactly one row.
    pub fn execute_one(&mut self, sql: &Sql, params: &[Val<'_>]) -> Result<()> {
        let changed = self.execute(sql, params)?;
        assert_eq!(changed, 1, "{} must change one row", sql.name);
        Ok(())
    }
}
