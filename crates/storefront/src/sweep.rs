//! Forgetting what buyers left behind: carts that expired, the drafts of their checkouts, and the
//! stock that these held. Orders that were not paid in time are cancelled.

use std::sync::Arc;

use commerce::orders::place;
use contract::rest::{Params, Sources, Stop};
use db::Conn;
use frame::{Call, Site};
use shop_rows::{cart, order, payment, sandbox_payment, stock_hold};
use site_rows::user::UserRow;
use types::{Error, Result, Timestamp};

/// Carts kept at most. **However many strangers fill, the table grows no further**: those that
/// would expire first go first.
const CARTS_MAX: i64 = 500_000;
/// Carts that are forgotten in one transaction.
const BATCH: i64 = 1_000;
/// How long messages of gateways are remembered, and sessions of the sandbox's own.
const MESSAGES_LIFE_US: i64 = 90 * 24 * 60 * 60 * 1_000_000;

/// Forgets a batch of what is over, and returns how many carts that were.
pub fn sweep(conn: &mut dyn Conn, now: Timestamp) -> Result<usize> {
    sweep_beyond(conn, now, CARTS_MAX)
}

/// The same, where no more than `most` carts are kept.
pub fn sweep_beyond(conn: &mut dyn Conn, now: Timestamp, most: i64) -> Result<usize> {
    stock_hold::prune(conn, now)?;
    let long_ago = Timestamp::from_micros(now.as_micros().saturating_sub(MESSAGES_LIFE_US));
    payment::prune_messages(conn, long_ago)?;
    sandbox_payment::prune(conn, long_ago)?;
    let due = cart::due(conn, now, most, BATCH)?;
    for row in &due {
        if row.order_id != 0 {
            forget_draft(conn, row.order_id)?;
        }
        cart::delete(conn, &row.cart_key)?;
    }
    Ok(due.len())
}

/// Cancels the orders that were not paid in time, each in a transaction of its own, and returns how
/// many those were. **One that cannot be cancelled keeps no other from it**: it is logged, and left
/// as it is.
pub async fn cancel_unpaid(site: &Arc<Site>, now: Timestamp) -> Result<usize> {
    let (mut after, mut count) = (None, 0);
    loop {
        let own = Arc::clone(site);
        let look =
            move |conn: &mut dyn Conn| within(&own, conn, now, |call| place::unpaid(call, after));
        let due = site.store().read(look).await?;
        for (_, order_id) in &due {
            let (own, order_id) = (Arc::clone(site), *order_id);
            let cancel = move |conn: &mut dyn Conn| {
                within(&own, conn, now, |call| place::cancel_unpaid(call, order_id))
            };
            match site.store().write(cancel).await {
                Ok(is_cancelled) => count += usize::from(is_cancelled),
                Err(error) => {
                    let error = error.report();
                    tracing::warn!(order_id, error, "an unpaid order could not be cancelled");
                }
            }
        }
        let Some(last) = due.last() else { return Ok(count) };
        after = Some(*last);
    }
}

/// Does something to orders in nobody's name.
fn within<T>(
    site: &Site,
    conn: &mut dyn Conn,
    now: Timestamp,
    run: impl FnOnce(&mut Call<'_>) -> std::result::Result<T, Stop>,
) -> Result<T> {
    let params = Params::unchecked(Sources::default());
    let done = site.call_by(conn, UserRow::default(), params, now, run)?;
    done.map_err(|refusal| Error::internal(refusal.message.into_owned()))
}

/// Deletes the order if it is still a draft; nobody was ever told of it.
fn forget_draft(conn: &mut dyn Conn, order_id: i64) -> Result<()> {
    let found = order::get(conn, order_id)?;
    let is_draft = |row: &order::OrderRow| row.status == commerce::orders::status::CHECKOUT_DRAFT;
    if found.is_some_and(|row| is_draft(&row)) {
        stock_hold::release(conn, order_id)?;
        order::delete(conn, order_id)?;
    }
    Ok(())
}
