//! Orders and refunds as they are kept, with their details read: what facts are made of.

pub(crate) mod details;

use shop_rows::order::ItemKind;
use shop_rows::order::figures::{Figures, ItemFigures};
use types::{Amount, Result};

use details::{LineDetails, OrderDetails};

/// What the shop has decided about amounts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rules {
    /// Decimals of prices.
    pub decimals: u32,
    /// Whether taxes are rounded only when they are summed up.
    pub rounds_taxes_late: bool,
}

impl Default for Rules {
    fn default() -> Self {
        Self { decimals: 2, rounds_taxes_late: false }
    }
}

/// An order or refund with its details read.
pub(crate) struct Record<'a> {
    pub(crate) order: &'a Figures,
    pub(crate) details: OrderDetails,
    pub(crate) items: Vec<(&'a ItemFigures, LineDetails)>,
}

impl<'a> Record<'a> {
    pub(crate) fn read(order: &'a Figures) -> Result<Self> {
        let items = order.items.iter().map(|item| Ok((item, LineDetails::read(item)?)));
        let details = OrderDetails::read(&order.row)?;
        Ok(Self { order, details, items: items.collect::<Result<_>>()? })
    }

    pub(crate) fn of_kind(
        &self,
        kind: ItemKind,
    ) -> impl Iterator<Item = &(&'a ItemFigures, LineDetails)> {
        self.items.iter().filter(move |(item, _)| item.kind == kind)
    }

    /// Without tax and shipping.
    pub(crate) fn net(&self) -> Amount {
        let row = &self.order.row;
        row.total - row.total_tax - row.shipping_total
    }

    /// Pieces, of all lines.
    pub(crate) fn quantity(&self) -> Amount {
        self.of_kind(ItemKind::Line).map(|(item, _)| item.quantity).sum()
    }
}

/// A line about a product, with what its figures depend on.
pub(crate) struct LineRecord<'a> {
    pub(crate) item: &'a ItemFigures,
    pub(crate) details: &'a LineDetails,
    pub(crate) rules: Rules,
    /// The tax rates of its order.
    pub(crate) rates: &'a [i64],
}
