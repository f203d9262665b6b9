//! What imports remember: numbers that records could not keep, and how far each import has come.

use std::collections::HashMap;
use std::sync::LazyLock;

use db::filter::{Clause, Direction, Filter, LIST_MAX, Page};
use db::{Conn, Row, SITE, Val, bulk, statements};
use types::{Result, Timestamp};

/// How far an import has come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Progress {
    /// In units of the import's own, such as lines of a file.
    pub done: i64,
    /// A JSON object.
    pub details: String,
    pub updated: Timestamp,
}

const ID_COLUMNS: usize = 5;

macro_rules! id_insert {
    () => {
        "INSERT INTO import_ids (site_id, source, kind, foreign_id, own_id) VALUES"
    };
}

statements! {
    IMPORT_ID_PUT = concat!(
        id_insert!(),
        " ($1, $2, $3, $4, $5)
          ON CONFLICT (site_id, source, kind, foreign_id) DO UPDATE SET own_id = excluded.own_id"
    );
    IMPORT_PROGRESS_PUT =
        "INSERT INTO import_progress (site_id, name, done, details, updated_us)
         VALUES ($1, $2, $3, $4, $5)
         ON CONFLICT (site_id, name) DO UPDATE
           SET done = excluded.done, details = excluded.details, updated_us = excluded.updated_us";
    IMPORT_PROGRESS_GET =
        "SELECT done, details, updated_us FROM import_progress WHERE site_id = $1 AND name = $2";
    IMPORT_PROGRESS_DELETE = "DELETE FROM import_progress WHERE site_id = $1 AND name = $2";
}

/// Of several rows, none may be twice in one statement that replaces.
static ID_BATCH: LazyLock<String> = LazyLock::new(|| {
    let conflict = " ON CONFLICT (site_id, source, kind, foreign_id)
                     DO UPDATE SET own_id = excluded.own_id";
    format!("{}{conflict}", bulk::text(id_insert!(), ID_COLUMNS))
});

/// Remembers under which numbers records of the kind are here: pairs of the number that a record
/// had, each once, and the one that it has.
pub fn remember_ids(
    conn: &mut dyn Conn,
    (source, kind): (&str, &str),
    ids: &[(i64, i64)],
) -> Result<()> {
    let row = |(foreign_id, own_id): &(i64, i64)| -> [Val<'_>; ID_COLUMNS] {
        [SITE.into(), source.into(), kind.into(), (*foreign_id).into(), (*own_id).into()]
    };
    let rows: Vec<_> = ids.iter().map(row).collect();
    bulk::insert(conn, (&IMPORT_ID_PUT, &ID_BATCH), &rows)
}

/// Under which numbers these records are here, for those that could not keep theirs.
pub fn own_ids(
    conn: &mut dyn Conn,
    (source, kind): (&str, &str),
    foreign_ids: &[i64],
) -> Result<HashMap<i64, i64>> {
    let mut found = HashMap::new();
    for ids in foreign_ids.chunks(LIST_MAX) {
        let mut filter = Filter::new("site_id = ?", SITE);
        filter.and_value("source = ?", Some(source.to_owned()));
        filter.and_value("kind = ?", Some(kind.to_owned()));
        filter.and_list("foreign_id IN (?)", ids)?;
        let order = vec![(Clause::fixed("foreign_id"), Direction::Ascending)];
        let read = |row: &dyn Row| Ok((row.get(0)?, row.get(1)?));
        let selection = ("foreign_id, own_id", "import_ids");
        let (rows, _) = filter.page(conn, selection, order, Page::default(), read)?;
        found.extend::<Vec<(i64, i64)>>(rows);
    }
    Ok(found)
}

/// Notes how far the import has come. Call it in the transaction of what was imported.
pub fn put_progress(conn: &mut dyn Conn, name: &str, progress: &Progress) -> Result<()> {
    let Progress { done, details, updated } = progress;
    let params = [SITE.into(), name.into(), (*done).into(), details.into(), (*updated).into()];
    conn.execute_one(&IMPORT_PROGRESS_PUT, &params)
}

pub fn progress(conn: &mut dyn Conn, name: &str) -> Result<Option<Progress>> {
    conn.row(&IMPORT_PROGRESS_GET, &[SITE.into(), name.into()], Progress::read)
}

/// Forgets how far the import came. Returns whether that was known.
pub fn forget_progress(conn: &mut dyn Conn, name: &str) -> Result<bool> {
    Ok(conn.execute(&IMPORT_PROGRESS_DELETE, &[SITE.into(), name.into()])? == 1)
}

impl Progress {
    fn read(row: &dyn Row) -> Result<Self> {
        Ok(Self { done: row.get(0)?, details: row.get(1)?, updated: row.get(2)? })
    }
}
