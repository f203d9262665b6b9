//! Whether each row of a chunk came after its customer's first order. To look that order up for
//! every row reads all over memory, so it is done once for a chunk and kept beside it, until a
//! first order changes that its rows are compared with.

use std::sync::OnceLock;

use super::chunk::{Chunk, order};
use super::column::NOTHING;

/// The first order of a customer that counts: when it was made, and its id.
pub(crate) type First = (i64, i64);

/// Of a customer without any: later than everything.
pub(crate) const NO_FIRST: First = (i64::MAX, i64::MAX);

/// Of a row.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Seniority(u8);

impl Seniority {
    const AFTER: u8 = 1;
    const REFUND: u8 = 2;
    const OF_FIRST: u8 = 4;

    /// Whether it was made after the customer's first order.
    pub(crate) fn is_after(self) -> bool {
        self.0 & Self::AFTER != 0
    }

    pub(crate) fn is_refund(self) -> bool {
        self.0 & Self::REFUND != 0
    }

    /// Whether it refunds the customer's first order.
    pub(crate) fn is_of_first(self) -> bool {
        self.0 & Self::OF_FIRST != 0
    }
}

/// Of all rows of a chunk, once somebody has asked.
#[derive(Debug, Default)]
pub(crate) struct Returning(OnceLock<Box<[Seniority]>>);

impl Returning {
    /// The rows in their order; `firsts` are the first orders by customer.
    pub(crate) fn of(&self, chunk: &Chunk, firsts: &[First]) -> &[Seniority] {
        self.0.get_or_init(|| read(chunk, firsts))
    }

    pub(crate) fn bytes(&self) -> usize {
        self.0.get().map_or(0, |rows| rows.len())
    }
}

fn read(chunk: &Chunk, firsts: &[First]) -> Box<[Seniority]> {
    let customers = chunk.orders[order::CUSTOMER].to_vec();
    let created = chunk.orders[order::CREATED].to_vec();
    let ids = chunk.orders[order::ID].to_vec();
    let distances = chunk.orders[order::PARENT].to_vec();
    let rows = customers.into_iter().zip(created).zip(ids).zip(distances);
    let seniority = |(((customer, created), id), distance): (((i64, i64), i64), i64)| {
        let first = usize::try_from(customer).ok().and_then(|code| firsts.get(code));
        let first = first.copied().unwrap_or(NO_FIRST);
        let is_refund = distance != NOTHING;
        let is_of_first = is_refund && id.wrapping_sub(distance) == first.1;
        let flag = |is_set: bool, flag: u8| if is_set { flag } else { 0 };
        Seniority(
            flag((created, id) > first, Seniority::AFTER)
                | flag(is_refund, Seniority::REFUND)
                | flag(is_of_first, Seniority::OF_FIRST),
        )
    };
    rows.map(seniority).collect()
}
