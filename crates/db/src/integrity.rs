//! Whether the stored data is undamaged, as far as the engine can tell. **Changes nothing.**
//!
//! The engines have nothing in common here, so each has statements of its own.

use types::Result;

use crate::{Conn, Database, Engine, Migrations, migrate, tally};

/// Damages that are listed at most; one is enough to restore a backup.
const LISTED_MAX: usize = 5;

/// How much is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Depth {
    /// The structure of every page, or what the database server recorded by itself.
    Quick,
    /// Every row, every index and every reference too.
    Full,
}

/// What a check found.
#[derive(Debug, Default)]
pub struct Report {
    /// Each damage in a few words; none if all is well.
    pub damage: Vec<String>,
    /// Tables of which a kept total is wrong. No data is lost: they can be counted again.
    pub miscounted: Vec<String>,
    /// What could not be checked, and how it can be.
    pub unchecked: Vec<&'static str>,
}

impl Database {
    /// Looks for damage. An error says that the database could not even be read.
    pub fn check_integrity(&self, depth: Depth) -> Result<Report> {
        let migrations = self.migrations();
        self.read_blocking(move |conn| {
            let mut report = match conn.engine() {
                Engine::Sqlite => sqlite(conn, depth),
                Engine::Postgres => postgres(conn, migrations, depth),
            }?;
            // What is damaged may not let itself be counted.
            if depth == Depth::Full && report.damage.is_empty() {
                report.miscounted = tally::wrong(conn, migrate::texts(migrations))?;
            }
            Ok(report)
        })
    }
}

fn sqlite(conn: &mut dyn Conn, depth: Depth) -> Result<Report> {
    let pragma = match depth {
        Depth::Quick => format!("PRAGMA quick_check({LISTED_MAX})"),
        Depth::Full => format!("PRAGMA integrity_check({LISTED_MAX})"),
    };
    let mut damage = texts(conn, &pragma)?;
    damage.retain(|line| line != "ok");
    if depth == Depth::Full {
        let orphans = format!(
            "SELECT DISTINCT 'a row of ' || \"table\" || ' refers to a missing row of ' || parent
             FROM pragma_foreign_key_check LIMIT {LISTED_MAX}"
        );
        damage.extend(texts(conn, &orphans)?);
    }
    Ok(Report { damage, ..Report::default() })
}

fn postgres(conn: &mut dyn Conn, migrations: Migrations, depth: Depth) -> Result<Report> {
    let mut report = Report { damage: texts(conn, POSTGRES_RECORDED)?, ..Report::default() };
    if texts(conn, "SHOW data_checksums")? != ["on"] {
        report.unchecked.push("page checksums are off; enable them with `pg_checksums --enable`");
    }
    if depth == Depth::Quick {
        return Ok(report);
    }
    for table in migrate::tables(migrations) {
        // As text, so that every value is read, also those that are kept apart from their rows.
        let read = format!("SELECT COUNT(whole_row::text) FROM {} whole_row", table.name);
        conn.query_text(&read, &[], &mut |_| Ok(()))?;
    }
    match texts(conn, POSTGRES_AMCHECK)?.first() {
        Some(schema) => {
            let text = POSTGRES_INDEXES.replace("@schema", schema);
            conn.query_text(&text, &[], &mut |_| Ok(()))?;
        }
        None => report.unchecked.push(
            "indexes were not compared with their rows; run `CREATE EXTENSION amcheck` as a \
             superuser, and grant EXECUTE on its functions",
        ),
    }
    Ok(report)
}

/// What the server knows without reading: pages whose checksum was wrong, and unusable indexes.
const POSTGRES_RECORDED: &str =
    "SELECT checksum_failures::text || ' pages had a wrong checksum' FROM pg_stat_database
     WHERE datname = current_database() AND checksum_failures > 0
     UNION ALL
     SELECT 'the index ' || relname::text || ' is not valid' FROM pg_index
     JOIN pg_class ON pg_class.oid = indexrelid
     WHERE relnamespace = current_schema()::regnamespace AND NOT indisvalid";

/// The schema of the extension that checks indexes, if there is one that this user may use.
const POSTGRES_AMCHECK: &str = "SELECT quote_ident(nspname) FROM pg_extension
     JOIN pg_namespace ON pg_namespace.oid = extnamespace
     WHERE extname = 'amcheck' AND EXISTS (SELECT 1 FROM pg_proc
         WHERE pronamespace = extnamespace AND proname = 'bt_index_check'
         AND has_function_privilege(pg_proc.oid, 'EXECUTE'))";

/// Compares each index with the rows of its table, and fails at the first difference.
const POSTGRES_INDEXES: &str = "SELECT @schema.bt_index_check(pg_class.oid::regclass, true)
     FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid
     JOIN pg_am ON pg_am.oid = relam
     WHERE relnamespace = current_schema()::regnamespace AND indisvalid AND amname = 'btree'";

/// The first column of every row.
fn texts(conn: &mut dyn Conn, text: &str) -> Result<Vec<String>> {
    let mut found = Vec::new();
    conn.query_text(text, &[], &mut |row| {
        found.extend(row.text(0)?);
        Ok(())
    })?;
    Ok(found)
}
