//! Calculates again what is kept of products beside what somebody entered: prices, sales, stock
//! statuses and ratings. **Needed after a change from outside only**; otherwise each change keeps
//! it up to date.

use db::Conn;
use db::filter::Page;
use frame::Options;
use shop_rows::product::{self, ProductFilter};
use types::{Result, Timestamp};

use crate::products::rating;
use crate::products::record::{self, GROUPED, Product, VARIABLE};
use crate::products::{events, settle};

/// Products that are looked at in one go.
const PAGE: i64 = 500;

/// Returns how many products there are, and how many were not as they should be.
pub(super) fn refresh_all(
    conn: &mut dyn Conn,
    options: &Options,
    now: Timestamp,
) -> Result<(i64, i64)> {
    let of_others = || vec![VARIABLE.to_owned(), GROUPED.to_owned()];
    // What others are made of comes first.
    let filters = [
        ProductFilter { kinds_exclude: of_others(), ..ProductFilter::default() },
        ProductFilter { kinds: of_others(), ..ProductFilter::default() },
    ];
    let (mut seen, mut changed) = (0, 0);
    for filter in filters {
        let mut offset = 0;
        loop {
            let page = Page { offset, limit: PAGE };
            let (rows, _) = product::list(conn, &ProductFilter { page, ..filter.clone() })?;
            if rows.is_empty() {
                break;
            }
            for row in rows {
                offset += 1;
                seen += 1;
                changed += i64::from(one(conn, options, Product::of_row(row)?, now)?);
            }
        }
    }
    Ok((seen, changed))
}

/// Returns whether anything was not as it should be.
fn one(conn: &mut dyn Conn, options: &Options, before: Product, now: Timestamp) -> Result<bool> {
    rating::refresh(conn, before.id())?;
    let Some(mut product) = record::get(conn, before.id())? else { return Ok(false) };
    settle::settle(conn, options, &mut product, now)?;
    product.seal()?;
    if product == before {
        return Ok(false);
    }
    product::update(conn, &product.row)?;
    events::changed(conn, &product, now)?;
    Ok(true)
}
