//! Putting products aside, and deleting them, with their variations.

use contract::rest::Stop;
use db::Conn;
use frame::Call;
use serde_json::{Value, json};
use shop_rows::{product, review};
use site_rows::autosave;
use types::Timestamp;

use super::loaded::variations_of;
use super::record::{PUBLISH, Product, TRASH, VARIABLE, VARIATION};
use super::{events, sync};
use crate::common::{meta, moments};

/// What is added to the slug of a product in the trash.
const SLUG_END: &str = "__trashed";
/// The entries of `meta_data` by which a product in the trash is known.
const STATUS_ENTRY: &str = "_wp_trash_meta_status";
const TIME_ENTRY: &str = "_wp_trash_meta_time";
const SLUG_ENTRY: &str = "_wp_desired_post_slug";
const MICROS: i64 = 1_000_000;

pub(super) fn put_aside(call: &mut Call<'_>, mut product: Product) -> Result<(), Stop> {
    let now = moments::now(call);
    if product.is(VARIABLE) {
        for variation in variations_of(call.conn()?, product.id())? {
            put_one_aside(call.conn()?, variation, now)?;
        }
    }
    let parent_id = product.row.parent_id;
    let is_variation = product.is(VARIATION);
    product.row.modified = now;
    put_one_aside(call.conn()?, product, now)?;
    if is_variation {
        sync::parent(call.conn()?, parent_id, now)?;
    }
    Ok(())
}

fn put_one_aside(conn: &mut dyn Conn, mut product: Product, now: Timestamp) -> types::Result<()> {
    let row = &mut product.row;
    let status = std::mem::replace(&mut row.status, TRASH.to_owned());
    let entries = &mut product.details.meta_data;
    meta::add(conn, entries, STATUS_ENTRY, json!(status))?;
    let seconds = now.as_micros().div_euclid(MICROS);
    meta::add(conn, entries, TIME_ENTRY, json!(seconds.to_string()))?;
    if !row.slug.is_empty() {
        meta::add(conn, entries, SLUG_ENTRY, json!(row.slug))?;
        row.slug.push_str(SLUG_END);
    }
    row.trashed_status = Some(status);
    product.seal()?;
    product::update(conn, &product.row)?;
    events::changed(conn, &product, now)
}

/// Gives a product that leaves the trash its slug back.
pub(super) fn restore_slug(product: &mut Product) {
    let entries = &mut product.details.meta_data;
    let is = |entry: &Value, name: &str| entry.get("key").and_then(Value::as_str) == Some(name);
    let kept = entries.iter().find(|entry| is(entry, SLUG_ENTRY));
    if let Some(slug) = kept.and_then(|entry| entry.get("value")?.as_str()) {
        slug.clone_into(&mut product.row.slug);
    }
    let names = [STATUS_ENTRY, TIME_ENTRY, SLUG_ENTRY];
    entries.retain(|entry| !names.iter().any(|name| is(entry, name)));
    product.row.trashed_status = None;
}

/// Brings back the variations that went to the trash with their product.
pub(super) fn restore_variations(conn: &mut dyn Conn, product_id: i64) -> types::Result<()> {
    let filter = product::ProductFilter {
        kinds: vec![VARIATION.to_owned()],
        parents: vec![product_id],
        statuses: vec![TRASH.to_owned()],
        ..product::ProductFilter::default()
    };
    let (rows, _) = product::list(conn, &filter)?;
    for row in rows {
        let mut variation = Product::of_row(row)?;
        variation.row.status =
            variation.row.trashed_status.clone().unwrap_or_else(|| PUBLISH.to_owned());
        restore_slug(&mut variation);
        variation.seal()?;
        product::update(conn, &variation.row)?;
    }
    Ok(())
}

/// Deletes for good, with variations and reviews.
pub(super) fn delete(call: &mut Call<'_>, product: &Product) -> Result<(), Stop> {
    let now = call.now();
    let conn = call.conn()?;
    let filter = product::ProductFilter {
        kinds: vec![VARIATION.to_owned()],
        parents: vec![product.id()],
        ..product::ProductFilter::default()
    };
    let (variations, _) = product::list(conn, &filter)?;
    for row in variations {
        product::delete(conn, row.product_id)?;
        events::deleted(conn, &Product::of_row(row)?, now)?;
    }
    review::delete_of(conn, product.id())?;
    autosave::delete_of(conn, product.id())?;
    product::delete(conn, product.id())?;
    events::deleted(conn, product, now)?;
    if product.is(VARIATION) {
        sync::parent(conn, product.row.parent_id, now)?;
    }
    Ok(())
}
