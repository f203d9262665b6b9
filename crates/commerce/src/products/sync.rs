//! What a product has from others: a variable one its prices and its stock status from its
//! variations, a grouped one its prices from its parts.

use site::Options;
use store::{Conn, product};
use types::{Result, Timestamp};

use super::events;
use super::loaded::variations_of;
use super::price;
use super::record::{
    self, GROUPED, IN_STOCK, ON_BACKORDER, OUT_OF_STOCK, PUBLISH, Product, VARIABLE,
};
use super::stock;

/// Sales that begin or end in one round.
const SALES_MAX: i64 = 500;

/// Brings a product up to date with its variations. Nothing for one that has none.
pub(crate) fn parent(conn: &mut dyn Conn, product_id: i64, now: Timestamp) -> Result<()> {
    let Some(mut product) = record::get(conn, product_id)? else { return Ok(()) };
    let before = product.clone();
    from_variations(conn, &mut product)?;
    if product == before {
        return Ok(());
    }
    product.seal()?;
    product::update(conn, &product.row)?;
    events::changed(conn, &product, now)
}

/// Takes over prices and stock status from the variations that buyers see.
pub(crate) fn from_variations(conn: &mut dyn Conn, product: &mut Product) -> Result<()> {
    if !product.is(VARIABLE) {
        return Ok(());
    }
    let mut variations = variations_of(conn, product.id())?;
    variations.retain(|variation| variation.row.status == PUBLISH);
    prices(product, &variations);
    if !product.row.manage_stock && !variations.is_empty() {
        let any = |status: &str| variations.iter().any(|v| v.row.stock_status == status);
        let status = if any(IN_STOCK) {
            IN_STOCK
        } else if any(ON_BACKORDER) {
            ON_BACKORDER
        } else {
            OUT_OF_STOCK
        };
        status.clone_into(&mut product.row.stock_status);
    }
    Ok(())
}

/// Takes over the prices of what a grouped product consists of.
pub(crate) fn from_parts(conn: &mut dyn Conn, product: &mut Product) -> Result<()> {
    if !product.is(GROUPED) {
        return Ok(());
    }
    let mut parts = Vec::new();
    for id in &product.details.grouped_products {
        parts.extend(record::get(conn, *id)?);
    }
    prices(product, &parts);
    Ok(())
}

fn prices(product: &mut Product, others: &[Product]) {
    let least = others.iter().filter(|other| other.row.price.is_some());
    let least = least.min_by_key(|other| (other.row.price, other.id()));
    product.row.price = least.and_then(|least| least.row.price);
    product.details.price = least.map(|least| least.details.price.clone()).unwrap_or_default();
    product.row.price_max = others.iter().filter_map(|other| other.row.price_max).max();
    product.row.on_sale = others.iter().any(|other| other.row.on_sale);
}

/// Whether a sale should have begun or ended and has not.
pub fn is_any_sale_due(conn: &mut dyn Conn, now: Timestamp) -> Result<bool> {
    for product_id in product::sale_due(conn, now, SALES_MAX)? {
        let Some(mut product) = record::get(conn, product_id)? else { continue };
        let was_on_sale = product.row.on_sale;
        price::settle(&mut product, now);
        // A price that is not lower makes no sale, whatever its dates say.
        if product.row.on_sale != was_on_sale {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Begins and ends the sales whose time has come, and returns how many there were.
pub fn sales(conn: &mut dyn Conn, now: Timestamp) -> Result<usize> {
    let due = product::sale_due(conn, now, SALES_MAX)?;
    let mut changed = 0;
    for id in due {
        let Some(mut product) = record::get(conn, id)? else { continue };
        let was_on_sale = product.row.on_sale;
        price::settle(&mut product, now);
        if product.row.on_sale == was_on_sale {
            continue;
        }
        changed += 1;
        product.seal()?;
        product::update(conn, &product.row)?;
        events::changed(conn, &product, now)?;
        if product.is(record::VARIATION) {
            parent(conn, product.row.parent_id, now)?;
        }
    }
    Ok(changed)
}

/// Everything that follows from a product's own fields, before it is written.
pub(crate) fn settle(
    conn: &mut dyn Conn,
    options: &Options,
    product: &mut Product,
    now: Timestamp,
) -> Result<()> {
    price::settle(product, now);
    stock::settle(product, options);
    from_parts(conn, product)?;
    from_variations(conn, product)
}
