//! Parts of texts found without reading all of them.
//!
//! A text is indexed by its runs of three letters. PostgreSQL does so by itself where its extension
//! `pg_trgm` can be had. On SQLite a table of FTS5 has the runs, and a second table the rows whose
//! text **is due**. Who writes a text says so in the transaction of the change ([`note`],
//! [`note_change`]), and [`index_due`] indexes what is due some at a time, for that costs more than
//! the change itself. A search looks at what the index finds and at what is due, and compares the
//! texts of both: **it finds the same on both engines, at once, and whether or not anybody
//! maintains the index**.
//!
//! A migration declares one on a line of its own: `@text_index orders (order_id, search);`

use std::collections::BTreeSet;

use types::Result;

use crate::{Conn, Engine, SITE, Val};

/// Runs of an index are as long.
const RUN: usize = 3;
/// The rarest runs of one text; more of them do not leave much fewer rows.
const RUNS_MAX: usize = 6;
/// Runs among which the rarest are looked for: the first ones of a long text.
const RUNS_TRIED: usize = 64;
/// Texts by which is told what is rare.
const TEXTS_KNOWN: usize = 64;

/// What an index is asked for.
pub(crate) struct Runs {
    pub(crate) query: String,
    /// Whether few texts have them all, as far as is known.
    pub(crate) are_rare: bool,
}

/// A column of a table with a site, whose texts are folded, and the column that numbers its rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextIndex {
    pub table: &'static str,
    pub id: &'static str,
    pub column: &'static str,
}

impl TextIndex {
    /// What an index of runs is asked for to find a folded text; nothing if the text is too short
    /// for it, or the engine sees to it by itself.
    pub(crate) fn runs_for(&self, conn: &mut dyn Conn, folded: &str) -> Result<Option<Runs>> {
        if conn.engine() == Engine::Postgres {
            return Ok(None);
        }
        let runs = runs_of(folded);
        if runs.is_empty() {
            return Ok(None);
        }
        let known = self.some_texts(conn)?;
        let count = |run: &String| known.iter().filter(|text| text.contains(run)).count();
        let mut runs: Vec<(usize, String)> =
            runs.into_iter().map(|run| (count(&run), run)).collect();
        runs.sort();
        runs.truncate(RUNS_MAX);
        let are_rare = runs.first().is_some_and(|(count, _)| *count <= TEXTS_KNOWN / 8);
        let quoted = runs.iter().map(|(_, run)| format!("\"{}\"", run.replace('"', "\"\"")));
        let query = quoted.collect::<Vec<String>>().join(" AND ");
        Ok(Some(Runs { query, are_rare }))
    }

    /// The texts of the last rows: what many of them have narrows nothing, and takes the longest to
    /// go through.
    fn some_texts(&self, conn: &mut dyn Conn) -> Result<Vec<String>> {
        let Self { table, id, column } = self;
        let text = format!(
            "SELECT {column} FROM {table} WHERE site_id = {SITE} ORDER BY {id} DESC
             LIMIT {TEXTS_KNOWN}"
        );
        let mut texts = Vec::new();
        conn.query_text(&text, &[], &mut |row| {
            texts.extend(row.text(0)?);
            Ok(())
        })?;
        Ok(texts)
    }

    /// The rows that may have a text, given where the runs stand among the parameters.
    pub(crate) fn candidates(&self, runs: &str) -> String {
        let Self { table, id, .. } = self;
        format!(
            "SELECT rowid FROM {table}_text WHERE {table}_text MATCH {runs}
             UNION ALL SELECT {id} FROM {table}_text_due"
        )
    }
}

/// The different runs of a text; none of one that the index cannot be asked for.
fn runs_of(folded: &str) -> Vec<String> {
    let letters: Vec<char> = folded.chars().collect();
    if letters.contains(&'\0') {
        return Vec::new();
    }
    let runs: BTreeSet<String> =
        letters.windows(RUN).take(RUNS_TRIED).map(|run| run.iter().collect::<String>()).collect();
    runs.into_iter().collect()
}

/// Notes that rows with these numbers have come, or are gone.
pub fn note(conn: &mut dyn Conn, index: &TextIndex, ids: &[i64]) -> Result<()> {
    if conn.engine() == Engine::Postgres {
        return Ok(());
    }
    let text = format!("INSERT INTO {}_text_due VALUES ($1) ON CONFLICT DO NOTHING", index.table);
    for id in ids {
        conn.query_text(&text, &[Val::Int(*id)], &mut |_| Ok(()))?;
    }
    Ok(())
}

/// Notes that a row will get this folded text, unless that is what it has.
pub fn note_change(conn: &mut dyn Conn, index: &TextIndex, id: i64, text: &str) -> Result<()> {
    if conn.engine() == Engine::Postgres {
        return Ok(());
    }
    let TextIndex { table, id: number, column } = index;
    let statement = format!(
        "INSERT INTO {table}_text_due SELECT {number} FROM {table}
         WHERE site_id = {SITE} AND {number} = $1 AND {column} <> $2 ON CONFLICT DO NOTHING"
    );
    conn.query_text(&statement, &[Val::Int(id), Val::Text(text)], &mut |_| Ok(()))
}

/// Notes every row of every index that these migrations declare: they came from a backup.
pub(crate) fn note_all<'m>(
    conn: &mut dyn Conn,
    migrations: impl Iterator<Item = &'m str>,
) -> Result<()> {
    if conn.engine() == Engine::Postgres {
        return Ok(());
    }
    for (table, id, _) in migrations.flat_map(str::lines).filter_map(declared) {
        conn.script(&filled(table, id))?;
    }
    Ok(())
}

/// Brings the index up to date, for so many rows at most; returns whether there were any.
pub fn index_due(conn: &mut dyn Conn, index: &TextIndex, limit: usize) -> Result<bool> {
    if conn.engine() == Engine::Postgres || !is_due(conn, index)? {
        return Ok(false);
    }
    let TextIndex { table, id, column } = index;
    let some = format!("SELECT {id} FROM {table}_text_due ORDER BY {id} LIMIT {limit}");
    conn.script(&format!(
        "DELETE FROM {table}_text WHERE rowid IN ({some});
         INSERT INTO {table}_text (rowid, {column})
           SELECT {id}, {column} FROM {table} WHERE site_id = {SITE} AND {id} IN ({some});
         DELETE FROM {table}_text_due WHERE {id} IN ({some});"
    ))?;
    Ok(true)
}

/// Whether texts wait to be indexed.
pub fn is_due(conn: &mut dyn Conn, index: &TextIndex) -> Result<bool> {
    if conn.engine() == Engine::Postgres {
        return Ok(false);
    }
    let mut is_due = false;
    let text = format!("SELECT 1 FROM {}_text_due LIMIT 1", index.table);
    conn.query_text(&text, &[], &mut |_| {
        is_due = true;
        Ok(())
    })?;
    Ok(is_due)
}

/// Table, number and column that a line of a migration declares; nothing if it declares none.
fn declared(line: &str) -> Option<(&str, &str, &str)> {
    let (table, columns) = line.strip_prefix("@text_index ")?.split_once(" (")?;
    let (id, column) = columns.trim_end().strip_suffix(");")?.split_once(", ")?;
    Some((table, id, column))
}

/// What the declaration on a line of a migration means to the engine; nothing if it is none.
pub(crate) fn rendered(line: &str, engine: Engine) -> Option<String> {
    let (table, id, column) = declared(line)?;
    Some(match engine {
        Engine::Sqlite => of_sqlite(table, id, column),
        Engine::Postgres => of_postgres(table, column),
    })
}

/// The extension belongs to the database, and its schemas share it: one makes it, the others wait.
/// Who may not make extensions searches without the index.
fn of_postgres(table: &str, column: &str) -> String {
    format!(
        "DO $$ BEGIN
           PERFORM pg_advisory_xact_lock(hashtext('boardwalk pg_trgm'));
           CREATE EXTENSION IF NOT EXISTS pg_trgm WITH SCHEMA public;
           EXECUTE (SELECT format(
             'CREATE INDEX {table}_by_text ON {table} USING gin ({column} %I.gin_trgm_ops)',
             nspname)
             FROM pg_extension JOIN pg_namespace ON pg_namespace.oid = extnamespace
             WHERE extname = 'pg_trgm');
         EXCEPTION WHEN insufficient_privilege OR undefined_file OR feature_not_supported
           OR invalid_schema_name THEN
           RAISE NOTICE 'pg_trgm cannot be had: a search reads all of {table}';
         END $$;"
    )
}

fn of_sqlite(table: &str, id: &str, column: &str) -> String {
    format!(
        "CREATE VIRTUAL TABLE {table}_text USING fts5(
           {column}, content='', contentless_delete=1, detail=none,
           tokenize='trigram case_sensitive 1');
         CREATE TABLE {table}_text_due ({id} INTEGER NOT NULL PRIMARY KEY) STRICT;
         {}",
        filled(table, id)
    )
}

/// Makes all rows due that are there.
fn filled(table: &str, id: &str) -> String {
    format!("INSERT INTO {table}_text_due SELECT {id} FROM {table} WHERE site_id = {SITE};")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_has_runs() {
        assert_eq!(runs_of("ädam"), ["dam", "äda"]);
        assert_eq!(runs_of("aaaaaa"), ["aaa"]);
        assert_eq!(runs_of("ab"), Vec::<String>::new());
        assert_eq!(runs_of("abc\0def"), Vec::<String>::new());
    }

    #[test]
    fn a_declaration_is_one_line() {
        let line = "@text_index orders (order_id, search);";
        let text = rendered(line, Engine::Sqlite).unwrap();
        assert!(text.contains("orders_text USING fts5(\n           search,"), "{text}");
        assert!(rendered(line, Engine::Postgres).unwrap().contains("gin_trgm_ops"));
        assert_eq!(rendered("CREATE TABLE orders (", Engine::Sqlite), None);
    }
}
