//! Facts about the database itself, such as which master key it belongs to.

use types::Result;

use crate::{Conn, Val, statements};

/// Facts with names that begin so are about a database by itself, and not about what it holds: a
/// backup that is restored elsewhere leaves them behind.
pub const LOCAL: &str = "local.";

statements! {
    FACT_GET = "SELECT value FROM facts WHERE name = $1";
    FACT_INSERT = "INSERT INTO facts (name, value) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING";
    FACT_PUT =
        "INSERT INTO facts (name, value) VALUES ($1, $2)
         ON CONFLICT (name) DO UPDATE SET value = excluded.value";
}

/// States the fact, whatever it was before.
pub fn put(conn: &mut dyn Conn, name: &str, value: &str) -> Result<()> {
    conn.execute_one(&FACT_PUT, &[Val::Text(name), Val::Text(value)])
}

/// The fact, if it is known.
pub fn get(conn: &mut dyn Conn, name: &str) -> Result<Option<String>> {
    conn.row(&FACT_GET, &[Val::Text(name)], |row| row.get::<String>(0))
}

/// The fact as stored; stores `value` first if there is none yet.
pub fn get_or_set(conn: &mut dyn Conn, name: &str, value: &str) -> Result<String> {
    conn.execute(&FACT_INSERT, &[Val::Text(name), Val::Text(value)])?;
    let stored = conn.row(&FACT_GET, &[Val::Text(name)], |row| row.get::<String>(0))?;
    Ok(stored.unwrap_or_else(|| value.to_owned()))
}
