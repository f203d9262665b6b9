//! Carts: what somebody wants to buy and has not ordered yet. An empty one is no row.

use db::filter::containing;
use db::{Conn, Record, SITE, statements};
use types::{Result, Timestamp};

db::record! {
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct CartRow in "carts", fixed(site_id = SITE), key(cart_key: String) {
        /// A JSON object.
        contents: String,
        /// The draft of a checkout that was not finished; else 0.
        order_id: i64,
        expires: Timestamp,
    }
}

statements! {
    CART_INSERT = db::insert!(CartRow);
    CART_UPDATE = db::update!(CartRow);
    CART_GET = db::select!(CartRow, "WHERE site_id = $1 AND cart_key = $2 AND expires_us > $3");
    CART_DELETE = "DELETE FROM carts WHERE site_id = $1 AND cart_key = $2";
    CARTS_EXPIRED = db::select!(
        CartRow,
        "WHERE site_id = $1 AND expires_us <= $2 ORDER BY expires_us, cart_key LIMIT $3"
    );
    CARTS_OLDEST = db::select!(
        CartRow,
        "WHERE site_id = $1 ORDER BY expires_us, cart_key LIMIT $2"
    );
    CARTS_NAMING = db::select!(
        CartRow,
        "WHERE site_id = $1 AND (cart_key = $2 OR LOWER(contents) LIKE $3 ESCAPE '!')
         ORDER BY cart_key"
    );
    CART_UNSUBSCRIBE =
        "INSERT INTO cart_reminder_refusals (site_id, email_hash, created_us)
         VALUES ($1, $2, $3) ON CONFLICT DO NOTHING";
    CART_UNSUBSCRIBED =
        "SELECT COUNT(*) FROM cart_reminder_refusals WHERE site_id = $1 AND email_hash = $2";
    CARTS_COUNT = "SELECT COUNT(*) FROM carts WHERE site_id = $1";
}

/// The cart unless it has expired.
pub fn get(conn: &mut dyn Conn, cart_key: &str, now: Timestamp) -> Result<Option<CartRow>> {
    conn.row(&CART_GET, &[SITE.into(), cart_key.into(), now.into()], CartRow::read)
}

/// Inserts or replaces the cart of this key.
pub fn put(conn: &mut dyn Conn, cart: &CartRow) -> Result<()> {
    if conn.update_existing(&CART_UPDATE, cart)? {
        return Ok(());
    }
    conn.insert(&CART_INSERT, cart).map(drop)
}

/// The cart of a user, and every cart whose contents name the e-mail address.
pub fn of_person(conn: &mut dyn Conn, email: &str, user_id: Option<i64>) -> Result<Vec<CartRow>> {
    let key = user_id.map(|user_id| user_id.to_string()).unwrap_or_default();
    let pattern = containing(&format!("\"{}\"", email.to_lowercase()))?;
    conn.rows(&CARTS_NAMING, &[SITE.into(), (&*key).into(), (&*pattern).into()], CartRow::read)
}

/// Returns whether there was such a cart.
pub fn delete(conn: &mut dyn Conn, cart_key: &str) -> Result<bool> {
    Ok(conn.execute(&CART_DELETE, &[SITE.into(), cart_key.into()])? == 1)
}

/// Up to `limit` carts that have expired, or that are more than `most`: those that would expire
/// first.
pub fn due(conn: &mut dyn Conn, now: Timestamp, most: i64, limit: i64) -> Result<Vec<CartRow>> {
    let params = [SITE.into(), now.into(), limit.into()];
    let expired = conn.rows(&CARTS_EXPIRED, &params, CartRow::read)?;
    if !expired.is_empty() {
        return Ok(expired);
    }
    let count: i64 = conn.row(&CARTS_COUNT, &[SITE.into()], |row| row.get(0))?.unwrap_or_default();
    let beyond = count.saturating_sub(most).clamp(0, limit);
    if beyond == 0 {
        return Ok(Vec::new());
    }
    conn.rows(&CARTS_OLDEST, &[SITE.into(), beyond.into()], CartRow::read)
}

/// Remembers that nobody is to be reminded at an address, which is kept as a hash.
pub fn unsubscribe(conn: &mut dyn Conn, email_hash: &[u8], now: Timestamp) -> Result<()> {
    let params = [SITE.into(), email_hash.into(), now.into()];
    conn.execute(&CART_UNSUBSCRIBE, &params).map(drop)
}

/// Whether nobody is to be reminded at the address.
pub fn is_unsubscribed(conn: &mut dyn Conn, email_hash: &[u8]) -> Result<bool> {
    let params = [SITE.into(), email_hash.into()];
    let count: Option<i64> = conn.row(&CART_UNSUBSCRIBED, &params, |row| row.get(0))?;
    Ok(count.unwrap_or_default() > 0)
}
