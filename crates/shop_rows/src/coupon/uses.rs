//! Who used a coupon, once for each use. A coupon is read for every order that it is used for, so
//! what grows with its uses is not a part of it.

use std::sync::LazyLock;

use db::bulk::{self, BATCH_ROWS};
use db::{Conn, SITE, Val, counter, statements};
use types::Result;

const USE_ID: &str = "coupon_use.id";

const COLUMNS: usize = 4;

macro_rules! use_insert {
    () => {
        "INSERT INTO coupon_uses (coupon_id, used_by, site_id, use_id) VALUES"
    };
}

statements! {
    COUPON_USE_INSERT = concat!(use_insert!(), " ($1, $2, $3, $4)");
    COUPON_USE_DELETE =
        "DELETE FROM coupon_uses
         WHERE site_id = $1 AND use_id = (
           SELECT MAX(own.use_id) FROM coupon_uses AS own
           WHERE own.coupon_id = $2 AND own.used_by = $3 AND own.site_id = $1)";
    COUPON_USES_CLEAR = "DELETE FROM coupon_uses WHERE coupon_id = $1 AND site_id = $2";
    COUPON_USES =
        "SELECT used_by FROM coupon_uses WHERE coupon_id = $1 AND site_id = $2 ORDER BY use_id";
    COUPON_USES_BY =
        "SELECT COUNT(*) FROM coupon_uses
         WHERE coupon_id = $1 AND used_by = $2 AND site_id = $3";
    COUPON_USES_RENAME =
        "UPDATE coupon_uses SET used_by = $1
         WHERE coupon_id = $2 AND LOWER(used_by) = $3 AND site_id = $4";
    COUPON_COUNT_USES =
        "UPDATE coupons
         SET usage_count = CASE WHEN usage_count + $1 < 0 THEN 0 ELSE usage_count + $1 END
         WHERE site_id = $2 AND coupon_id = $3";
}

static INSERT_BATCH: LazyLock<String> = LazyLock::new(|| bulk::text(use_insert!(), COLUMNS));

/// Remembers uses by these users or addresses, without counting them.
pub fn add_uses(conn: &mut dyn Conn, coupon_id: i64, used_by: &[String]) -> Result<()> {
    let Ok(count @ 1..) = i64::try_from(used_by.len()) else { return Ok(()) };
    let first = counter::take(conn, USE_ID, count)? + 1;
    for (first, part) in (first..).step_by(BATCH_ROWS).zip(used_by.chunks(BATCH_ROWS)) {
        let rows: Vec<[Val<'_>; COLUMNS]> = (first..)
            .zip(part)
            .map(|(id, who)| [coupon_id.into(), who.into(), SITE.into(), id.into()])
            .collect();
        bulk::insert(conn, (&COUPON_USE_INSERT, &INSERT_BATCH), &rows)?;
    }
    Ok(())
}

/// Forgets the last use by the user or address, without counting it.
pub fn remove_use(conn: &mut dyn Conn, coupon_id: i64, used_by: &str) -> Result<()> {
    let params = [SITE.into(), coupon_id.into(), used_by.into()];
    conn.execute(&COUPON_USE_DELETE, &params).map(drop)
}

/// Forgets all uses of the coupon.
pub fn clear_uses(conn: &mut dyn Conn, coupon_id: i64) -> Result<()> {
    conn.execute(&COUPON_USES_CLEAR, &[coupon_id.into(), SITE.into()]).map(drop)
}

/// Who used the coupon, once for each use, in their order.
pub fn uses_of(conn: &mut dyn Conn, coupon_id: i64) -> Result<Vec<String>> {
    conn.rows(&COUPON_USES, &[coupon_id.into(), SITE.into()], |row| row.get(0))
}

/// How often the user or address used the coupon.
pub fn uses_by(conn: &mut dyn Conn, coupon_id: i64, used_by: &str) -> Result<i64> {
    let params = [coupon_id.into(), used_by.into(), SITE.into()];
    Ok(conn.row(&COUPON_USES_BY, &params, |row| row.get(0))?.unwrap_or_default())
}

/// Gives the uses by an address, in lower case, to another one, and returns how many there were.
pub fn rename_uses(conn: &mut dyn Conn, coupon_id: i64, from: &str, to: &str) -> Result<u64> {
    conn.execute(&COUPON_USES_RENAME, &[to.into(), coupon_id.into(), from.into(), SITE.into()])
}

/// Counts so many uses more, or fewer.
pub fn count_uses(conn: &mut dyn Conn, coupon_id: i64, by: i64) -> Result<()> {
    let params = [by.into(), SITE.into(), coupon_id.into()];
    conn.execute(&COUPON_COUNT_USES, &params).map(drop)
}
