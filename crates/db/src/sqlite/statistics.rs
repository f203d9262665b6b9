//! What SQLite is told about the indexes.
//!
//! Without statistics it takes the first column of an index for one that leaves ten rows. **The
//! site's number leaves all of them**, and a kind or a status many: to look up the rows of an
//! order, it would read a whole table in the order of its key rather than use the index of orders.
//! Statistics of the true contents would change with them, and with them the plans; these are the
//! same everywhere.

use std::collections::BTreeSet;

use rusqlite::{Connection, Result};

/// The column by which rows of different sites are kept apart.
const SITE: &str = "site_id";
/// Columns with few values, each of which is supposed to leave a share of the rows.
const COARSE: &[&str] = &["kind", "status", "stock_status", "mime_type"];
const SHARE: u32 = 4;
/// What SQLite supposes without statistics: so many rows of a table, and so many of them behind
/// each column of an index.
const ROWS: u32 = 1_048_576;
const ROWS_BEHIND: [u32; 5] = [10, 9, 8, 7, 6];

/// Of a table, an index and its figures, as SQLite keeps them.
type Figures = (String, String, String);

/// Writes the figures unless they are there. **The connections that are opened afterwards read
/// them.**
pub(super) fn put(conn: &Connection) -> Result<()> {
    let wanted = figures(conn)?;
    if stored(conn)? == wanted {
        return Ok(());
    }
    // To analyse anything makes the table in which they are kept.
    conn.execute_batch("ANALYZE schema_migrations; DELETE FROM sqlite_stat1")?;
    let mut insert = conn.prepare("INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES (?, ?, ?)")?;
    for figures in &wanted {
        insert.execute(rusqlite::params![figures.0, figures.1, figures.2])?;
    }
    conn.execute_batch("ANALYZE sqlite_schema")
}

fn stored(conn: &Connection) -> Result<BTreeSet<Figures>> {
    let exists = "SELECT COUNT(*) FROM sqlite_schema WHERE name = 'sqlite_stat1'";
    if conn.query_row(exists, [], |row| row.get::<_, i64>(0))? == 0 {
        return Ok(BTreeSet::new());
    }
    let mut all = conn.prepare("SELECT tbl, idx, stat FROM sqlite_stat1")?;
    let all = all.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
    all.collect()
}

/// Of the indexes that begin with a column that leaves many rows; the others are as SQLite
/// supposes.
fn figures(conn: &Connection) -> Result<BTreeSet<Figures>> {
    let mut indexes = conn.prepare(
        "SELECT tables.name, indexes.name, indexes.\"unique\",
           (SELECT GROUP_CONCAT(COALESCE(name, ''), ' ')
            FROM (SELECT name FROM pragma_index_info(indexes.name) ORDER BY seqno))
         FROM sqlite_schema AS tables, pragma_index_list(tables.name) AS indexes
         WHERE tables.type = 'table'",
    )?;
    let mut all = BTreeSet::new();
    let mut rows = indexes.query([])?;
    while let Some(row) = rows.next()? {
        let columns: String = row.get(3)?;
        if let Some(figures) = figures_of(&columns, row.get(2)?) {
            all.insert((row.get(0)?, row.get(1)?, figures));
        }
    }
    Ok(all)
}

/// The rows of the table, and those that are left behind each column of the index.
fn figures_of(columns: &str, is_unique: bool) -> Option<String> {
    let first = columns.split(' ').next()?;
    if first != SITE && !COARSE.contains(&first) {
        return None;
    }
    let [.., fewest] = ROWS_BEHIND;
    let (mut left, mut fine, mut is_fine) = (ROWS, ROWS_BEHIND.into_iter(), false);
    let mut figures = vec![ROWS];
    for column in columns.split(' ') {
        is_fine |= column != SITE && !COARSE.contains(&column);
        if is_fine {
            left = fine.next().unwrap_or(fewest);
        } else if column != SITE {
            left /= SHARE;
        }
        figures.push(left);
    }
    if let Some(last) = figures.last_mut().filter(|_| is_unique) {
        *last = 1;
    }
    let figures: Vec<String> = figures.iter().map(u32::to_string).collect();
    Some(figures.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_with_few_values_leave_many_rows() {
        let check = |columns: &str, is_unique: bool, expected: Option<&str>| {
            assert_eq!(figures_of(columns, is_unique).as_deref(), expected, "{columns}");
        };
        check("site_id order_id", true, Some("1048576 1048576 1"));
        check("site_id a b", false, Some("1048576 1048576 10 9"));
        check("kind status created_us site_id", false, Some("1048576 262144 65536 10 9"));
        check("site_id a b c d e f", false, Some("1048576 1048576 10 9 8 7 6 6"));
        check("order_id product_id site_id", false, None);
        check("sku_key site_id", true, None);
    }
}
