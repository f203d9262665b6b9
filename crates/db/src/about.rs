//! What there is to say about a database as a whole, for whoever looks after it.

use types::Result;

use crate::{Conn, Engine, Row};

/// A database, by its engine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct About {
    pub engine: &'static str,
    pub version: String,
    /// On SQLite all there is: its file does not tell tables from indexes.
    pub data_bytes: i64,
    pub index_bytes: i64,
}

/// One of the few questions that the engines are asked in different words.
const OF_SQLITE: &str = "SELECT sqlite_version(), pages.page_count * sizes.page_size, 0
    FROM pragma_page_count() AS pages, pragma_page_size() AS sizes";
const OF_POSTGRES: &str = "SELECT current_setting('server_version'),
    CAST(COALESCE(SUM(pg_table_size(relid)), 0) AS BIGINT),
    CAST(COALESCE(SUM(pg_indexes_size(relid)), 0) AS BIGINT)
    FROM pg_catalog.pg_stat_user_tables WHERE schemaname = current_schema()";

impl About {
    pub fn read(conn: &mut dyn Conn) -> Result<Self> {
        let (engine, text) = match conn.engine() {
            Engine::Sqlite => ("SQLite", OF_SQLITE),
            Engine::Postgres => ("PostgreSQL", OF_POSTGRES),
        };
        let mut about = Self { engine, version: String::new(), data_bytes: 0, index_bytes: 0 };
        conn.query_text(text, &[], &mut |row: &dyn Row| {
            about.version = row.get(0)?;
            about.data_bytes = row.get(1)?;
            about.index_bytes = row.get(2)?;
            Ok(())
        })?;
        Ok(about)
    }
}
