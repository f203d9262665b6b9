//! Products that had been deleted before a shop was imported. Order lines still name them, but no
//! longer by id; reports count each separately, so each is given an id of its own again.
//!
//! Ids are consecutive, so an id that is missing among the products, and that nothing else has,
//! belonged to a deleted one.

use std::collections::BTreeMap;

use db::Conn;
use shop_rows::order::{ItemKind, OrderKind};
use shop_rows::product::{self, ProductFilter};
use shop_rows::{coupon, order};
use site_rows::post;
use types::Result;

use crate::orders::record::Order;
use crate::orders::restocked::REFUNDED_LINE;

/// Missing ids that are considered.
const LOOKED_AT_MAX: i64 = 10_000;

#[derive(Debug, Default)]
pub(super) struct DeletedProducts {
    by_name: BTreeMap<String, i64>,
    /// Missing ids that are still free, the smallest last.
    free: Option<Vec<i64>>,
}

impl DeletedProducts {
    /// Gives the lines of deleted products their ids.
    pub(super) fn number(&mut self, conn: &mut dyn Conn, order: &mut Order) -> Result<()> {
        let (is_refund, parent_id) = (order.row.kind == OrderKind::Refund, order.row.parent_id);
        for line in order.lines_mut(ItemKind::Line).filter(|line| line.row.product_id == 0) {
            let refunded = line.meta(REFUNDED_LINE).and_then(|id| id.parse::<i64>().ok());
            line.row.product_id = if is_refund {
                let items = order::items_of(conn, &[parent_id])?;
                let own = items.iter().find(|item| Some(item.item_id) == refunded);
                own.map(|item| item.product_id).unwrap_or_default()
            } else {
                self.of_name(conn, &line.row.name)?
            };
        }
        Ok(())
    }

    fn of_name(&mut self, conn: &mut dyn Conn, name: &str) -> Result<i64> {
        if let Some(number) = self.by_name.get(name) {
            return Ok(*number);
        }
        if self.free.is_none() {
            self.free = Some(missing(conn)?);
        }
        let number = self.free.as_mut().and_then(Vec::pop).unwrap_or_default();
        self.by_name.insert(name.to_owned(), number);
        Ok(number)
    }
}

/// Unused ids among those of the products, the smallest last.
fn missing(conn: &mut dyn Conn) -> Result<Vec<i64>> {
    let (products, _) = product::list(conn, &ProductFilter::default())?;
    let ids = || products.iter().map(|product| product.product_id);
    let (Some(first), Some(last)) = (ids().min(), ids().max()) else { return Ok(Vec::new()) };
    let mut missing = Vec::new();
    for number in (first..last.min(first.saturating_add(LOOKED_AT_MAX))).rev() {
        let is_taken = ids().any(|id| id == number)
            || post::get(conn, number)?.is_some()
            || coupon::get(conn, number)?.is_some()
            || order::get(conn, number)?.is_some();
        if !is_taken {
            missing.push(number);
        }
    }
    Ok(missing)
}
