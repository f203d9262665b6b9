//! Sums of amounts that no amount is too large for: both engines add up the upper and the lower
//! halves of the numbers by themselves, which fit, and [`amount`] puts them together. SQLite has no
//! whole number that is wider than an amount, and refuses a sum that is.

use db::Row;
use types::{Amount, Result};

/// What sums split amounts by.
const LOWER_HALF: i128 = 4_294_967_296;

/// The sum whose first column is this one; the nearest amount if it is beyond all.
pub(super) fn amount(row: &dyn Row, first: usize) -> Result<Amount> {
    let (upper, lower): (i64, i64) = (row.get(first)?, row.get(first + 1)?);
    Ok(Amount::saturated(i128::from(upper) * LOWER_HALF + i128::from(lower)))
}
