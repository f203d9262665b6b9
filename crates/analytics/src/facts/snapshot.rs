//! All facts at one moment. A snapshot never changes, so whoever holds one reads without waiting
//! and sees one state, while the next one is being made.

use std::collections::BTreeSet;
use std::sync::Arc;

use types::{Amount, Memo, Timestamp};

use super::catalog::Catalog;
use super::chunk::{Chunk, Row, coupon, line, order, tax};
use super::column::NOTHING;
use super::dictionary::Names;
use super::fact::{CouponFact, DownloadFact, LineFact, OrderFact, TaxFact};
use super::fact::{LineNumber, OrderNumber, OrderText};
use super::returning::{First, Returning, Seniority};

#[derive(Clone, Debug, Default)]
pub struct Snapshot {
    pub(crate) chunks: Vec<Arc<Chunk>>,
    /// How many of them are settled: they are not about to change, and what a question comes to in
    /// them is worth keeping.
    pub(crate) settled: usize,
    pub(crate) names: Names,
    /// By the number of the customer.
    pub(crate) firsts: Arc<Vec<First>>,
    /// By the number of the chunk.
    pub(crate) returning: Vec<Arc<Returning>>,
    /// By time.
    pub(crate) downloads: Arc<Vec<Arc<DownloadFact>>>,
    pub(crate) catalog: Arc<Catalog>,
    /// The last event of the feed that is in it.
    pub(crate) position: i64,
    pub(crate) versions: Versions,
    /// What queries came to, shared with the snapshots before and after.
    pub(crate) memo: Arc<Memo>,
}

/// States of what rows are read with, of one writer. A number is never used for two.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Versions {
    /// Of first orders, as far as rows in settled chunks can tell.
    pub(crate) firsts: u64,
    pub(crate) catalog: u64,
}

impl Snapshot {
    /// The last event of the feed that is in it.
    pub fn position(&self) -> i64 {
        self.position
    }

    /// Orders and refunds.
    pub fn orders(&self) -> usize {
        self.chunks.iter().map(|chunk| chunk.len()).sum()
    }

    /// When the first of them was made.
    pub fn first_created(&self) -> Option<Timestamp> {
        let firsts = self.chunks.iter().filter_map(|chunk| chunk.created);
        firsts.map(|(first, _)| Timestamp::from_micros(first)).min()
    }

    /// Orders and refunds that were made since then.
    pub fn orders_since(&self, since: Timestamp) -> usize {
        let since = since.as_micros();
        let of_chunk = |chunk: &Arc<Chunk>| match chunk.created {
            Some((first, _)) if first >= since => chunk.len(),
            Some((_, last)) if last >= since => {
                let created = chunk.orders[order::CREATED].to_vec();
                created.into_iter().filter(|created| *created >= since).count()
            }
            _ => 0,
        };
        self.chunks.iter().map(of_chunk).sum()
    }

    /// The ids of the orders and refunds after the one and up to the other.
    pub fn ids_between(&self, after: i64, through: i64) -> BTreeSet<i64> {
        super::chunk::ids_between(&self.chunks, after, through)
    }

    pub fn lines(&self) -> usize {
        self.chunks.iter().map(|chunk| chunk.lines.len()).sum()
    }

    /// Bytes of all columns together. Divided by the number of orders it says what one costs.
    pub fn bytes(&self) -> usize {
        let customers = self.firsts.len() * (size_of::<First>() + size_of::<i64>());
        let returning = self.returning.iter().map(|chunk| chunk.bytes()).sum::<usize>();
        customers + returning + self.chunks.iter().map(|chunk| chunk.bytes()).sum::<usize>()
    }

    /// Of each row of the chunk with this number, whether its customer had bought before.
    pub(crate) fn returning(&self, number: usize) -> &[Seniority] {
        let chunk = self.chunks.get(number).zip(self.returning.get(number));
        chunk.map_or(&[], |(chunk, returning)| returning.of(chunk, &self.firsts))
    }

    /// Finds that out for all rows, so that nobody waits for it who asks.
    pub fn find_returning(&self) {
        for number in 0..self.chunks.len() {
            self.returning(number);
        }
    }

    /// Whether orders are in these currencies only.
    pub(crate) fn are_currencies_among(&self, codes: &[String]) -> bool {
        let known = self.names.texts(OrderText::Currency);
        known.iter().all(|known| known.is_empty() || codes.iter().any(|code| **code == **known))
    }

    pub fn catalog(&self) -> &Catalog {
        &self.catalog
    }

    /// The downloads, by time.
    pub fn downloads(&self) -> &[Arc<DownloadFact>] {
        &self.downloads
    }

    /// Every order and refund, in the order of their creation. For exports and for tests.
    pub fn order_facts(&self) -> impl Iterator<Item = OrderFact> {
        let rows = self.chunks.iter().flat_map(|chunk| chunk.rows());
        rows.map(|row| self.order_fact(&row))
    }

    pub(crate) fn order_fact(&self, row: &Row) -> OrderFact {
        let names = &self.names;
        let order = &row.order;
        let created = order[order::CREATED];
        let after = |column: i64| (column != NOTHING).then(|| created.wrapping_add(column));
        let lines = row.lines.iter().map(|line| self.line_fact(line));
        let coupons = row.coupons.iter().map(|coupon| CouponFact {
            coupon_id: name(&names.coupons, coupon[coupon::COUPON]).copied().unwrap_or_default(),
            discount: Amount::from_millionths(coupon[coupon::DISCOUNT]),
        });
        let mut fact = OrderFact {
            order_id: row.id(),
            parent_id: row.parent_id(),
            created: Timestamp::from_micros(created),
            paid: after(order[order::PAID]).map(Timestamp::from_micros),
            completed: after(order[order::COMPLETED]).map(Timestamp::from_micros),
            customer_id: name(&names.customers, order[order::CUSTOMER])
                .copied()
                .unwrap_or_default(),
            returning: (row.parent_id() == 0).then(|| self.is_returning(row)),
            lines: lines.collect(),
            coupons: coupons.collect(),
            taxes: row.taxes.iter().map(|tax| self.tax_fact(tax)).collect(),
            ..OrderFact::default()
        };
        let value = |column: usize| order.get(column).copied().unwrap_or_default();
        for field in OrderText::ALL {
            let text = name(names.texts(*field), value(order::text(*field)));
            field.set(&mut fact, text.cloned().unwrap_or_default());
        }
        for field in OrderNumber::ALL {
            field.set(&mut fact, value(order::number(*field)));
        }
        fact
    }

    fn is_returning(&self, row: &Row) -> bool {
        name(&self.firsts, row.order[order::CUSTOMER]).is_some_and(|first| row.place() > *first)
    }

    fn line_fact(&self, line: &[i64; line::COUNT]) -> LineFact {
        let (product_id, variation_id) =
            name(&self.names.goods, line[line::GOODS]).copied().unwrap_or_default();
        let attributes = name(&self.names.attributes, line[line::ATTRIBUTES]);
        let mut fact = LineFact {
            product_id,
            variation_id,
            attributes: attributes.cloned().unwrap_or_default(),
            ..LineFact::default()
        };
        for field in LineNumber::ALL {
            let value = line.get(line::number(*field)).copied();
            field.set(&mut fact, value.unwrap_or_default());
        }
        fact
    }

    fn tax_fact(&self, tax: &[i64; tax::COUNT]) -> TaxFact {
        let rate = name(&self.names.rates, tax[tax::RATE]);
        TaxFact {
            rate_id: rate.map(|rate| rate.rate_id).unwrap_or_default(),
            code: rate.map(|rate| Arc::clone(&rate.code)).unwrap_or_default(),
            percent: Amount::from_millionths(rate.map(|rate| rate.percent).unwrap_or_default()),
            of_goods: Amount::from_millionths(tax[tax::GOODS]),
            of_shipping: Amount::from_millionths(tax[tax::SHIPPING]),
        }
    }
}

/// What a number of a dictionary stands for.
pub(crate) fn name<T>(names: &[T], code: i64) -> Option<&T> {
    names.get(usize::try_from(code).ok()?)
}
