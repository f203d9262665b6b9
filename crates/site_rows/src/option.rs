//! The site's options by name, each a JSON text, and a version that moves with every change, so
//! that whoever keeps them in memory knows when to read them again.

use db::{Conn, SITE, counter, statements};
use types::Result;

const VERSION: &str = "options.version";

statements! {
    OPTION_ALL = "SELECT name, value FROM options WHERE site_id = $1 ORDER BY name";
    OPTION_GET = "SELECT value FROM options WHERE site_id = $1 AND name = $2";
    OPTION_SET =
        "INSERT INTO options (site_id, name, value) VALUES ($1, $2, $3)
         ON CONFLICT (site_id, name) DO UPDATE SET value = excluded.value
         WHERE options.value <> excluded.value";
    OPTION_DELETE = "DELETE FROM options WHERE site_id = $1 AND name = $2";
}

/// Every option that is set, by name.
pub fn all(conn: &mut dyn Conn) -> Result<Vec<(String, String)>> {
    conn.rows(&OPTION_ALL, &[SITE.into()], |row| Ok((row.get(0)?, row.get(1)?)))
}

pub fn get(conn: &mut dyn Conn, name: &str) -> Result<Option<String>> {
    conn.row(&OPTION_GET, &[SITE.into(), name.into()], |row| row.get(0))
}

/// Returns whether that changed anything.
pub fn set(conn: &mut dyn Conn, name: &str, value: &str) -> Result<bool> {
    let changed = conn.execute(&OPTION_SET, &[SITE.into(), name.into(), value.into()])?;
    count_change(conn, changed)
}

/// Returns whether the option was set.
pub fn delete(conn: &mut dyn Conn, name: &str) -> Result<bool> {
    let changed = conn.execute(&OPTION_DELETE, &[SITE.into(), name.into()])?;
    count_change(conn, changed)
}

/// Grows with every change of an option.
pub fn version(conn: &mut dyn Conn) -> Result<i64> {
    counter::read(conn, VERSION)
}

/// For who changed options by a statement of their own.
pub(crate) fn touch(conn: &mut dyn Conn) -> Result<()> {
    counter::take(conn, VERSION, 1).map(drop)
}

fn count_change(conn: &mut dyn Conn, changed: u64) -> Result<bool> {
    if changed > 0 {
        counter::take(conn, VERSION, 1)?;
    }
    Ok(changed > 0)
}
