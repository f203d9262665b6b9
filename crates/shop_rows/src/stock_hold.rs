//! Pieces that the draft of a checkout keeps for its buyer, until it is ordered or time is up.

use db::{Conn, SITE, statements};
use types::{Amount, Result, Timestamp};

statements! {
    STOCK_HOLD_INSERT =
        "INSERT INTO stock_holds (site_id, order_id, product_id, quantity, expires_us)
         VALUES ($1, $2, $3, $4, $5)";
    STOCK_HOLDS_CLEAR = "DELETE FROM stock_holds WHERE site_id = $1 AND order_id = $2";
    STOCK_HELD =
        "SELECT CAST(COALESCE(SUM(quantity), 0) AS BIGINT) FROM stock_holds
         WHERE site_id = $1 AND product_id = $2 AND expires_us > $3 AND order_id <> $4";
    STOCK_HOLDS_PRUNE = "DELETE FROM stock_holds WHERE site_id = $1 AND expires_us <= $2";
}

/// Lets the draft hold so many of each of these products, and nothing else, until then.
pub fn set(
    conn: &mut dyn Conn,
    order_id: i64,
    held: &[(i64, Amount)],
    expires: Timestamp,
) -> Result<()> {
    release(conn, order_id)?;
    for (product_id, quantity) in held {
        let (id, quantity) = ((*product_id).into(), (*quantity).into());
        let params = [SITE.into(), order_id.into(), id, quantity, expires.into()];
        conn.execute_one(&STOCK_HOLD_INSERT, &params)?;
    }
    Ok(())
}

/// Gives back what the draft holds.
pub fn release(conn: &mut dyn Conn, order_id: i64) -> Result<()> {
    conn.execute(&STOCK_HOLDS_CLEAR, &[SITE.into(), order_id.into()]).map(drop)
}

/// How many pieces of the product drafts other than this one hold.
pub fn held_by_others(
    conn: &mut dyn Conn,
    product_id: i64,
    order_id: i64,
    now: Timestamp,
) -> Result<Amount> {
    let params = [SITE.into(), product_id.into(), now.into(), order_id.into()];
    let sum = conn.row(&STOCK_HELD, &params, |row| row.get::<i64>(0))?;
    Ok(Amount::from_millionths(sum.unwrap_or_default()))
}

/// Forgets what is held no longer, and returns how many rows that were.
pub fn prune(conn: &mut dyn Conn, now: Timestamp) -> Result<u64> {
    conn.execute(&STOCK_HOLDS_PRUNE, &[SITE.into(), now.into()])
}
