//! Rows one by one, in order and by pages: the lists of orders and of downloads.

use std::sync::Arc;

use crate::facts::{DownloadFact, OrderFact, OrderNumber};

/// Which of the rows that match to return. How many match is counted in any case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Paging {
    pub descending: bool,
    pub offset: usize,
    pub limit: usize,
}

/// What orders are sorted by; among equals, by their ids in the same direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OrderSort {
    /// The date column of the query.
    Date,
    Number(OrderNumber),
    Id,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct OrderPage {
    /// With their lines, coupons and taxes.
    pub orders: Vec<OrderFact>,
    pub total: usize,
}

/// What downloads are sorted by; among equals, by their ids in the same direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DownloadSort {
    Date,
    Product,
}

impl DownloadSort {
    pub(crate) fn key(self, download: &DownloadFact) -> (i64, i64) {
        let first = match self {
            Self::Date => download.at.as_micros(),
            Self::Product => download.product_id,
        };
        (first, download.log_id)
    }
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct DownloadPage {
    pub downloads: Vec<Arc<DownloadFact>>,
    pub total: usize,
}
