//! Many rows at once, for imports.
//!
//! To PostgreSQL they go by few statements: a statement per row would spend most of its time on the
//! way. SQLite is next door and gets each row by itself: a statement of several rows may be undone
//! alone, and keeping what that needs costs the more the more a transaction has changed already.

use std::fmt::Write as _;

use types::Result;

use crate::sqlite::WRITER_CACHE_KIB;
use crate::{Conn, Engine, Sql, Val};

/// Rows of one statement; the widest table times this stays far below PostgreSQL's 65,535
/// parameters.
pub const BATCH_ROWS: usize = 64;

/// Kibibytes of pages that SQLite's writer holds while very many rows come. They belong to many
/// places of several indexes; with less, pages leave before they are full and are read again.
const ROOM_KIB: u64 = 64 * 1024;

/// Gives the writer room for very many rows, or takes it back when they are there.
pub fn make_room(conn: &mut dyn Conn, is_wanted: bool) -> Result<()> {
    if conn.engine() == Engine::Postgres {
        return Ok(());
    }
    let room = if is_wanted { ROOM_KIB } else { WRITER_CACHE_KIB };
    // A negative number is one of kibibytes.
    conn.script(&format!("PRAGMA cache_size = -{room}"))
}

/// The text that inserts [`BATCH_ROWS`] rows. `head` is all that stands before the values.
pub fn text(head: &str, columns: usize) -> String {
    let mut text = head.to_owned();
    for row in 0..BATCH_ROWS {
        text.push_str(if row == 0 { " (" } else { ", (" });
        for column in 0..columns {
            let comma = if column == 0 { "" } else { ", " };
            let _ = write!(text, "{comma}${}", row * columns + column + 1);
        }
        text.push(')');
    }
    text
}

/// Inserts the rows: by `batch`, which [`text`] made, as long as there are enough of them, and by
/// `one` what is left. Two sizes only, so that two prepared statements serve a table.
pub fn insert<const COLUMNS: usize>(
    conn: &mut dyn Conn,
    (one, batch): (&Sql, &str),
    rows: &[[Val<'_>; COLUMNS]],
) -> Result<()> {
    let (batches, rest) = match conn.engine() {
        Engine::Postgres => rows.as_chunks::<BATCH_ROWS>(),
        Engine::Sqlite => ([].as_slice(), rows),
    };
    for rows in batches {
        conn.query_text(batch, rows.as_flattened(), &mut |_| Ok(()))?;
    }
    for row in rest {
        conn.execute_one(one, row)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_of_all_rows_are_in_order() {
        let text = text("INSERT INTO facts (name, value) VALUES", 2);
        assert!(text.starts_with("INSERT INTO facts (name, value) VALUES ($1, $2), ($3, $4), ("));
        assert!(text.ends_with("($127, $128)"), "{text}");
    }
}
