//! How many products there are of each kind and status, kept beside them: **every write of a
//! product goes through here**, so that a list tells how many there are without counting them.

use std::collections::HashMap;

use db::{Conn, SITE, statements};
use types::Result;

/// Rows that a count is spread over, so that those who write at the same time seldom meet.
const SLOTS: i64 = 16;

statements! {
    PRODUCT_COUNT_ADD =
        "INSERT INTO product_counts (site_id, kind, status, slot, products)
         VALUES ($1, $2, $3, $4, $5)
         ON CONFLICT (site_id, kind, status, slot)
           DO UPDATE SET products = product_counts.products + $5";
    PRODUCT_COUNTS =
        "SELECT kind, status, CAST(SUM(products) AS BIGINT) FROM product_counts WHERE site_id = $1
         GROUP BY kind, status";
    PRODUCT_COUNTS_CLEAR = "DELETE FROM product_counts WHERE site_id = $1";
    PRODUCTS_COUNTED =
        "SELECT kind, status, COUNT(*) FROM products WHERE site_id = $1 GROUP BY kind, status";
    PRODUCT_GROUP_GET =
        "SELECT kind, status FROM products WHERE site_id = $1 AND product_id = $2";
}

/// Kind and status.
pub(super) type Group = (String, String);

/// Counts a product more, or fewer.
pub(super) fn add(
    conn: &mut dyn Conn,
    product_id: i64,
    (kind, status): (&str, &str),
    by: i64,
) -> Result<()> {
    let slot = product_id.rem_euclid(SLOTS);
    let params = [SITE.into(), kind.into(), status.into(), slot.into(), by.into()];
    conn.execute(&PRODUCT_COUNT_ADD, &params).map(drop)
}

/// What the product counts as.
pub(super) fn group_of(conn: &mut dyn Conn, product_id: i64) -> Result<Option<Group>> {
    let params = [SITE.into(), product_id.into()];
    conn.row(&PRODUCT_GROUP_GET, &params, |row| Ok((row.get(0)?, row.get(1)?)))
}

/// All counts.
pub(super) fn all(conn: &mut dyn Conn) -> Result<HashMap<Group, i64>> {
    read(conn, &PRODUCT_COUNTS)
}

/// Works the counts out anew if they are not those of the products: after a restore from a backup
/// that knew of none.
pub fn recount(conn: &mut dyn Conn) -> Result<()> {
    let mut kept = all(conn)?;
    kept.retain(|_, count| *count != 0);
    let counted = read(conn, &PRODUCTS_COUNTED)?;
    if kept == counted {
        return Ok(());
    }
    conn.execute(&PRODUCT_COUNTS_CLEAR, &[SITE.into()])?;
    for ((kind, status), count) in counted {
        let params = [SITE.into(), (&kind).into(), (&status).into(), 0_i64.into(), count.into()];
        conn.execute(&PRODUCT_COUNT_ADD, &params)?;
    }
    Ok(())
}

fn read(conn: &mut dyn Conn, sql: &db::Sql) -> Result<HashMap<Group, i64>> {
    let rows =
        conn.rows(sql, &[SITE.into()], |row| Ok(((row.get(0)?, row.get(1)?), row.get(2)?)))?;
    Ok(rows.into_iter().collect())
}
