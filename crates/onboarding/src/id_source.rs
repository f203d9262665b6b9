//! Fresh ids: a counter taken from the database in blocks, hidden by a keyed permutation.
//!
//! Two processes take disjoint blocks, so ids are unique without a look-up; a crash wastes the rest
//! of a block, so no id is ever given twice.

use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use store::{Store, counter};
use types::{Error, MerchantId, Result, StoreId, Tpn};

use vault::IdPermutation;

/// Numbers taken from the database at once.
const BLOCK: i64 = 1000;
const COUNTER: &str = "ids";

#[derive(Debug)]
pub(crate) struct IdSource {
    permutation: IdPermutation,
    block: Mutex<Range<u64>>,
}

/// Ids for everything that one onboarding may create.
#[derive(Clone, Debug)]
pub(crate) struct FreshIds {
    pub(crate) merchant: MerchantId,
    pub(crate) store: StoreId,
    pub(crate) tpn: Tpn,
}

impl IdSource {
    pub(crate) fn new(permutation: IdPermutation) -> Self {
        Self { permutation, block: Mutex::new(0..0) }
    }

    pub(crate) async fn fresh(&self, store: &Store) -> Result<FreshIds> {
        let number = match self.next_in_block() {
            Some(number) => number,
            None => self.take_block(store).await?,
        };
        Ok(FreshIds {
            merchant: self.permutation.merchant_id(number)?,
            store: self.permutation.store_id(number)?,
            tpn: self.permutation.tpn(number)?,
        })
    }

    fn next_in_block(&self) -> Option<u64> {
        self.block.lock().unwrap_or_else(PoisonError::into_inner).next()
    }

    /// Takes a new block and the first number of it. Two callers at once may each take a block;
    /// the numbers of the lesser one are wasted, which costs nothing.
    async fn take_block(&self, store: &Store) -> Result<u64> {
        let start = store.write(|conn| counter::take(conn, COUNTER, BLOCK)).await?;
        let negative = |error| Error::internal("a counter is negative").because(error);
        let start = u64::try_from(start).map_err(negative)?;
        let length = u64::try_from(BLOCK).map_err(negative)?;
        *self.block.lock().unwrap_or_else(PoisonError::into_inner) = start + 1..start + length;
        Ok(start)
    }
}

/// Random lower-case letters and digits, without those that are easily confused.
pub(crate) fn random_text(length: usize) -> Result<String> {
    const LETTERS: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
    let mut bytes = vec![0_u8; length];
    vault::fill_random(&mut bytes)?;
    let letter = |byte: u8| LETTERS.get(usize::from(byte % 32)).copied().map_or('0', char::from);
    Ok(bytes.into_iter().map(letter).collect())
}
