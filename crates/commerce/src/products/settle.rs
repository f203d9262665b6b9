//! What follows from a product's own fields, and from what it is made of, before it is written.

use db::Conn;
use frame::Options;
use types::{Result, Timestamp};

use super::record::{FUTURE, PUBLISH, Product};
use super::{price, stock, sync};

/// What is published with a date that is further ahead than this is scheduled.
const AHEAD_MICROS: i64 = 60_000_000;

/// Brings everything that follows up to date.
pub(crate) fn settle(
    conn: &mut dyn Conn,
    options: &Options,
    product: &mut Product,
    now: Timestamp,
) -> Result<()> {
    schedule(product, now);
    price::settle(product, now);
    stock::settle(product, options);
    sync::from_parts(conn, product)?;
    sync::from_variations(conn, product)
}

/// What is to appear at a later date waits for it, and what should be there already does not.
fn schedule(product: &mut Product, now: Timestamp) {
    let is_ahead = product.row.created.as_micros() - now.as_micros() >= AHEAD_MICROS;
    match (product.row.status.as_str(), is_ahead) {
        (PUBLISH, true) => FUTURE.clone_into(&mut product.row.status),
        (FUTURE, false) => PUBLISH.clone_into(&mut product.row.status),
        _ => {}
    }
}
