//! Writes the demo's records down: each batch in one transaction, with the events that tell of it.

use db::outbox::{self, Event};
use db::{Conn, counter};
use serde_json::json;
use shop_rows::{
    customer, customer_lookup, download_log, download_permission, order, order_note, product,
    review,
};
use site_rows::user;
use types::{Error, Result, Timestamp};

use super::catalogue::Catalogue;
use super::sales::{Batch, Numbers, Tally};
use crate::common::events;
use crate::common::meta::ENTRY_ID;
use crate::coupons::Coupon;

/// The numbers from which the demo may count on.
pub(super) fn numbers(conn: &mut dyn Conn) -> Result<Numbers> {
    let (order, item) = order::next_ids(conn)?;
    Ok(Numbers {
        order,
        item,
        entry: counter::read(conn, ENTRY_ID)?,
        user: user::next_id(conn)?,
        customer: customer_lookup::next_id(conn)?,
    })
}

/// Writes a batch. A conflict when somebody else has written meanwhile.
pub(super) fn batch(conn: &mut dyn Conn, batch: &Batch, now: Timestamp) -> Result<()> {
    for newcomer in &batch.people {
        if let Some((user, customer)) = &newcomer.account {
            user::insert_with_id(conn, user)?;
            customer::put(conn, customer)?;
        }
        customer_lookup::insert_with_id(conn, &newcomer.lookup)?;
    }
    batch.paying.iter().try_for_each(|row| customer::put(conn, row))?;
    order::insert_many(conn, &batch.orders)?;
    for note in &batch.notes {
        order_note::insert(conn, note)?;
    }
    for (permission, log) in &batch.downloads {
        let permission_id = download_permission::insert(conn, permission)?;
        for entry in log {
            let entry = download_log::DownloadLogRow { permission_id, ..entry.clone() };
            download_log::insert(conn, &entry)?;
        }
    }
    outbox::append_many(conn, &batch.events)?;
    let kind = events::imported("review.created");
    for row in &batch.reviews {
        let review_id = review::insert(conn, row)?;
        let payload = json!({ "product_id": row.product_id }).to_string();
        outbox::append(conn, &Event::of_site(kind, review_id, payload, now))?;
    }
    take_entries(conn, batch.entries)
}

/// Takes the numbers of entries that a batch has used.
fn take_entries(conn: &mut dyn Conn, (before, after): (i64, i64)) -> Result<()> {
    if after > before && counter::take(conn, ENTRY_ID, after - before)? != before {
        let message =
            "another process is writing to this folder; stop it, and start again with an empty one";
        return Err(Error::conflict(message));
    }
    Ok(())
}

/// Brings products and coupons up to date with all orders.
pub(super) fn tally(
    conn: &mut dyn Conn,
    tally: &Tally,
    catalogue: &Catalogue,
    now: Timestamp,
) -> Result<()> {
    for (product_id, count) in &tally.sales {
        product::add_sales(conn, *product_id, *count)?;
    }
    let mut products: Vec<i64> = catalogue.wares.iter().map(|ware| ware.product_id).collect();
    products.dedup();
    for product_id in products {
        crate::products::rating::refresh(conn, product_id)?;
    }
    for (coupon_id, who) in &tally.uses {
        let Some(mut coupon) = Coupon::get(conn, *coupon_id)? else { continue };
        coupon.row.usage_count = i64::try_from(who.len()).unwrap_or(i64::MAX);
        coupon.details.used_by.clone_from(who);
        coupon.row.modified = now;
        coupon.update(conn)?;
        let payload = json!({ "code": coupon.row.code, "status": coupon.row.status }).to_string();
        outbox::append(conn, &Event::of_site("coupon.updated", *coupon_id, payload, now))?;
    }
    Ok(())
}
