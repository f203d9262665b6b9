//! Orders that bear a mark among their further fields, such as those paid with play money. There is
//! no index for it: **this reads all orders**, for what an administrator asks once in a while.

use db::{Conn, SITE, statements};
use types::Result;

statements! {
    ORDERS_MARKED_COUNT =
        "SELECT COUNT(*) FROM orders WHERE site_id = $1 AND kind = 'order' AND details LIKE $2";
    ORDERS_MARKED =
        "SELECT order_id FROM orders WHERE site_id = $1 AND kind = 'order' AND details LIKE $2
         ORDER BY order_id LIMIT $3";
}

/// How many orders have this value under this key.
pub fn count_marked(conn: &mut dyn Conn, key: &str, value: &str) -> Result<i64> {
    let wanted = pattern(key, value);
    let values = [SITE.into(), (&wanted).into()];
    let count = conn.row(&ORDERS_MARKED_COUNT, &values, |row| row.get::<i64>(0))?;
    Ok(count.unwrap_or_default())
}

/// The first orders that have this value under this key.
pub fn marked(conn: &mut dyn Conn, key: &str, value: &str, limit: i64) -> Result<Vec<i64>> {
    let wanted = pattern(key, value);
    let values = [SITE.into(), (&wanted).into(), limit.into()];
    conn.rows(&ORDERS_MARKED, &values, |row| row.get(0))
}

fn pattern(key: &str, value: &str) -> String {
    format!("%\"key\":\"{key}\",\"value\":\"{value}\"%")
}
