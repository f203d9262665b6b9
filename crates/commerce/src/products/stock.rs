//! Stock: what follows from a quantity, and how orders change it.

use db::Conn;
use frame::{Call, Options};
use shop_rows::{product, stock_hold};
use types::{Amount, Result, Timestamp};

use super::events;
use super::record::{self, IN_STOCK, ON_BACKORDER, OUT_OF_STOCK, Product, VARIATION};
use super::sync;

/// Brings what follows from the quantity up to date. A product whose stock is not counted keeps the
/// status that it was given.
pub(crate) fn settle(product: &mut Product, options: &Options) {
    let row = &mut product.row;
    if !row.manage_stock {
        row.stock_quantity = None;
        row.low_stock_amount = None;
        "no".clone_into(&mut row.backorders);
        return;
    }
    status_of(product, options).clone_into(&mut product.row.stock_status);
}

fn status_of(product: &Product, options: &Options) -> &'static str {
    let last = Amount::from_whole(options.integer("woocommerce_notify_no_stock_amount").max(0));
    let quantity = product.row.stock_quantity.unwrap_or_default();
    if quantity > last {
        IN_STOCK
    } else if product.allows_backorders() {
        ON_BACKORDER
    } else {
        OUT_OF_STOCK
    }
}

/// Whose stock is counted for a product or variation: its own, or that of its product.
pub fn counted_on(conn: &mut dyn Conn, product_id: i64) -> Result<Option<Product>> {
    let Some(product) = record::get(conn, product_id)? else { return Ok(None) };
    if product.row.manage_stock || !product.is(VARIATION) {
        return Ok(Some(product).filter(|product| product.row.manage_stock));
    }
    let parent = record::get(conn, product.row.parent_id)?;
    Ok(parent.filter(|parent| parent.row.manage_stock))
}

/// Whose stock must suffice for a product or variation; nothing if it is not counted, or may run
/// out.
pub(crate) fn scarce(call: &mut Call<'_>, product_id: i64) -> Result<Option<Product>> {
    if !call.options().is_on("woocommerce_manage_stock") {
        return Ok(None);
    }
    let counted = counted_on(call.conn()?, product_id)?;
    Ok(counted.filter(|counted| !counted.allows_backorders()))
}

/// How much of it is there for the order, without what others hold.
pub(crate) fn left_for(call: &mut Call<'_>, counted: &Product, order_id: i64) -> Result<Amount> {
    let now = call.now();
    let held = stock_hold::held_by_others(call.conn()?, counted.id(), order_id, now)?;
    Ok(counted.row.stock_quantity.unwrap_or_default() - held)
}

/// Adds so many to the stock of a product, or takes them away, and returns the quantity before and
/// after. Nothing when its stock is not counted.
pub fn change(
    conn: &mut dyn Conn,
    options: &Options,
    product_id: i64,
    by: Amount,
    now: Timestamp,
) -> Result<Option<(Amount, Amount)>> {
    if options.text("woocommerce_manage_stock") != "yes" {
        return Ok(None);
    }
    let Some(mut product) = counted_on(conn, product_id)? else { return Ok(None) };
    let before = product.row.stock_quantity.unwrap_or_default();
    let after = before + by;
    product.row.stock_quantity = Some(after);
    settle(&mut product, options);
    let status = product.row.stock_status.clone();
    product::update_stock(conn, product.id(), (Some(after), &status), now)?;
    if product.is(VARIATION) {
        sync::parent(conn, product.row.parent_id, now)?;
    }
    events::changed(conn, &product, now)?;
    Ok(Some((before, after)))
}

#[cfg(test)]
mod tests {
    use super::super::record::SIMPLE;
    use super::*;

    #[test]
    fn the_status_follows_the_quantity() {
        let options = crate::options::defaults();
        let mut product = Product::new(SIMPLE);
        product.row.stock_quantity = Some(Amount::ONE);
        OUT_OF_STOCK.clone_into(&mut product.row.stock_status);
        settle(&mut product, &options);
        assert_eq!(product.row.stock_quantity, None, "nobody counts");
        assert_eq!(product.row.stock_status, OUT_OF_STOCK);
        product.row.manage_stock = true;
        for (quantity, backorders, expected) in [
            (Some("3"), "no", IN_STOCK),
            (Some("0"), "no", OUT_OF_STOCK),
            (Some("-2"), "notify", ON_BACKORDER),
            (None, "yes", ON_BACKORDER),
        ] {
            product.row.stock_quantity = quantity.and_then(Amount::parse);
            backorders.clone_into(&mut product.row.backorders);
            settle(&mut product, &options);
            assert_eq!(product.row.stock_status, expected, "{quantity:?} {backorders}");
        }
    }
}
