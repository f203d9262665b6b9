//! What a product has from others: a variable one its prices and its stock status from its
//! variations, a grouped one its prices from its parts.

use db::Conn;
use db::filter::Page;
use shop_rows::product::{self, ProductFilter};
use types::{Result, Timestamp};

use super::events;
use super::loaded::variations_of;
use super::price;
use super::record::{
    self, FUTURE, GROUPED, IN_STOCK, ON_BACKORDER, OUT_OF_STOCK, PUBLISH, Product, VARIABLE,
};

/// Sales that begin or end, and products that appear, in one round.
const DUE_MAX: i64 = 500;

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

/// Whether a sale should have begun or ended, or a product appeared, and has not.
pub fn is_any_due(conn: &mut dyn Conn, now: Timestamp) -> Result<bool> {
    let counting = Page { offset: 0, limit: 0 };
    let scheduled = ProductFilter { page: counting, ..scheduled(now) };
    if product::list(conn, &scheduled)?.1 > 0 {
        return Ok(true);
    }
    for product_id in product::sale_due(conn, now, DUE_MAX)? {
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

/// Begins and ends the sales and publishes the products whose time has come. Returns how many there
/// were.
pub fn catch_up(conn: &mut dyn Conn, now: Timestamp) -> Result<usize> {
    Ok(sales(conn, now)? + publish(conn, now)?)
}

fn publish(conn: &mut dyn Conn, now: Timestamp) -> Result<usize> {
    let (rows, _) = product::list(conn, &scheduled(now))?;
    let count = rows.len();
    for row in rows {
        let mut product = Product::of_row(row)?;
        PUBLISH.clone_into(&mut product.row.status);
        product::update(conn, &product.row)?;
        events::changed(conn, &product, now)?;
    }
    Ok(count)
}

/// Products that should be there by now.
fn scheduled(now: Timestamp) -> ProductFilter {
    ProductFilter {
        statuses: vec![FUTURE.to_owned()],
        before: Some(Timestamp::from_micros(now.as_micros().saturating_add(1))),
        page: Page { offset: 0, limit: DUE_MAX },
        ..ProductFilter::default()
    }
}

fn sales(conn: &mut dyn Conn, now: Timestamp) -> Result<usize> {
    let due = product::sale_due(conn, now, DUE_MAX)?;
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
