//! Ids that are unique without a look-up and cannot be guessed from one another.
//!
//! A counter runs through a keyed permutation: a different counter always gives a different id, and
//! without the key the ids look random. The permutation is a Feistel network over pairs of numbers
//! below some `side`, and both id spaces are exact squares (2^60 for merchants and stores, 9 *
//! 10^10 for TPNs), so every step costs the same and no value is walked over. **A counter beyond
//! the space is an error; no id is ever given twice.**

use types::{Error, MerchantId, Result, Secret, StoreId, Tpn, luhn};

const ROUND_COUNT: u8 = 8;
const CONTEXT_MERCHANT: &str = "boardwalk 2026 id permutation merchant v1";
const CONTEXT_STORE: &str = "boardwalk 2026 id permutation store v1";
const CONTEXT_TPN: &str = "boardwalk 2026 id permutation tpn v1";

/// Crockford's base32: capitals and digits without I, L, O and U, which are misread.
const ALPHABET: &[u8; 32] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const TEXT_ID_LEN: u32 = 12;
const TEXT_ID_SIDE: u64 = 1 << 30;

const TPN_SIDE: u64 = 300_000;
/// The smallest number of eleven digits; the twelfth is the check digit.
const TPN_FIRST: u64 = 10_000_000_000;

const _: () = assert!(TEXT_ID_SIDE * TEXT_ID_SIDE == 1 << (5 * TEXT_ID_LEN));
const _: () = assert!(TPN_SIDE * TPN_SIDE == 9 * TPN_FIRST);

/// Makes ids from counters. Merchants, stores and TPNs have counters and permutations of their own.
#[derive(Debug)]
pub struct IdPermutation {
    merchant: Feistel,
    store: Feistel,
    tpn: Feistel,
}

impl IdPermutation {
    pub fn new(key: [u8; 32]) -> Self {
        let key = Secret::new(key);
        let feistel = |context, side| Feistel {
            key: Secret::new(blake3::derive_key(context, key.expose())),
            side,
        };
        Self {
            merchant: feistel(CONTEXT_MERCHANT, TEXT_ID_SIDE),
            store: feistel(CONTEXT_STORE, TEXT_ID_SIDE),
            tpn: feistel(CONTEXT_TPN, TPN_SIDE),
        }
    }

    pub fn merchant_id(&self, counter: u64) -> Result<MerchantId> {
        let number = self.merchant.permute(counter);
        number.map(|number| MerchantId::new(base32(number))).ok_or_else(exhausted)
    }

    pub fn store_id(&self, counter: u64) -> Result<StoreId> {
        let number = self.store.permute(counter);
        number.map(|number| StoreId::new(base32(number))).ok_or_else(exhausted)
    }

    /// Twelve digits: the first is not 0, the last is the Luhn check digit of the others.
    pub fn tpn(&self, counter: u64) -> Result<Tpn> {
        let number = self.tpn.permute(counter).ok_or_else(exhausted)? + TPN_FIRST;
        let mut text = number.to_string();
        let check_digit = luhn::check_digit(text.bytes().map(|digit| digit - b'0'));
        text.push(char::from(b'0' + check_digit));
        debug_assert_eq!(text.len(), 12, "a TPN has twelve digits");
        Ok(Tpn::new(text))
    }
}

fn exhausted() -> Error {
    Error::internal("no ids of this type are left")
}

fn base32(number: u64) -> String {
    let digits = (0..TEXT_ID_LEN).rev().map(|place| number >> (5 * place) & 31);
    let character = |digit| usize::try_from(digit).ok().and_then(|digit| ALPHABET.get(digit));
    digits.filter_map(character).copied().map(char::from).collect()
}

/// A permutation of the numbers below `side * side`.
#[derive(Debug)]
struct Feistel {
    key: Secret<[u8; 32]>,
    side: u64,
}

impl Feistel {
    fn permute(&self, counter: u64) -> Option<u64> {
        if counter >= self.side * self.side {
            return None;
        }
        let (mut left, mut right) = (counter / self.side, counter % self.side);
        for round in 0..ROUND_COUNT {
            (left, right) = (right, (left + self.round_value(round, right)) % self.side);
        }
        Some(left * self.side + right)
    }

    /// 64 bits of hash make the bias of the remainder too small to matter.
    fn round_value(&self, round: u8, half: u64) -> u64 {
        let input = (u128::from(round) << 64 | u128::from(half)).to_be_bytes();
        let hash = blake3::keyed_hash(self.key.expose(), &input);
        let bytes = hash.as_bytes().iter().take(8);
        bytes.fold(0_u64, |number, &byte| number << 8 | u64::from(byte)) % self.side
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use proptest::prelude::*;

    use super::*;

    const COUNTERS: u64 = 200_000;

    fn ids() -> IdPermutation {
        IdPermutation::new([3; 32])
    }

    fn invert(feistel: &Feistel, number: u64) -> u64 {
        let side = feistel.side;
        let (mut left, mut right) = (number / side, number % side);
        for round in (0..ROUND_COUNT).rev() {
            (left, right) = ((right + side - feistel.round_value(round, left)) % side, left);
        }
        left * side + right
    }

    #[test]
    fn consecutive_counters_never_collide() {
        let ids = ids();
        let merchants: HashSet<_> =
            (0..COUNTERS).map(|n| ids.merchant_id(n).expect("small")).collect();
        let tpns: HashSet<_> = (0..COUNTERS).map(|n| ids.tpn(n).expect("small")).collect();
        assert_eq!((merchants.len(), tpns.len()), (200_000, 200_000));
    }

    #[test]
    fn a_small_permutation_is_a_permutation() {
        for side in [1, 2, 3, 10, 61] {
            let feistel = Feistel { key: Secret::new([9; 32]), side };
            let numbers: HashSet<_> = (0..side * side).map(|n| feistel.permute(n)).collect();
            assert_eq!(numbers.len(), usize::try_from(side * side).expect("small"));
            assert!(numbers.iter().all(|number| number.is_some_and(|number| number < side * side)));
        }
    }

    #[test]
    fn the_last_counter_has_an_id_and_the_next_has_none() {
        let ids = ids();
        assert!(ids.merchant_id((1 << 60) - 1).is_ok() && ids.merchant_id(1 << 60).is_err());
        assert!(ids.store_id((1 << 60) - 1).is_ok() && ids.store_id(u64::MAX).is_err());
        assert!(ids.tpn(89_999_999_999).is_ok() && ids.tpn(90_000_000_000).is_err());
    }

    #[test]
    fn consecutive_ids_show_no_pattern() {
        // Each place of two ids in a row agrees as often as chance has it: once in 32, once in 10.
        let ids = ids();
        let equal_places = |first: &str, second: &str| -> Vec<bool> {
            first.bytes().zip(second.bytes()).map(|(first, second)| first == second).collect()
        };
        let (mut text_counts, mut tpn_counts) = ([0; 12], [0; 12]);
        for n in 0..10_000 {
            let pair = (ids.merchant_id(n).expect("small"), ids.merchant_id(n + 1).expect("small"));
            let tpns = (ids.tpn(n).expect("small"), ids.tpn(n + 1).expect("small"));
            let text = equal_places(pair.0.as_str(), pair.1.as_str());
            let tpn = equal_places(tpns.0.as_str(), tpns.1.as_str());
            for place in 0..12 {
                text_counts[place] += u32::from(text[place]);
                tpn_counts[place] += u32::from(tpn[place]);
            }
        }
        assert!(text_counts.iter().all(|count| (220..410).contains(count)), "{text_counts:?}");
        assert!(tpn_counts.iter().all(|count| (850..1300).contains(count)), "{tpn_counts:?}");
    }

    #[test]
    fn kinds_and_keys_have_permutations_of_their_own() {
        let (ids, other) = (ids(), IdPermutation::new([4; 32]));
        let merchant = ids.merchant_id(0).expect("small");
        assert_ne!(merchant.as_str(), ids.store_id(0).expect("small").as_str());
        assert_ne!(merchant, other.merchant_id(0).expect("small"));
        assert_ne!(ids.tpn(0).expect("small"), other.tpn(0).expect("small"));
    }

    #[test]
    fn ids_never_change() {
        // A running counter depends on it: another permutation would give ids again.
        let ids = ids();
        let merchant = ids.merchant_id(1).expect("small").into_string();
        let store = ids.store_id(1).expect("small").into_string();
        let tpn = ids.tpn(1).expect("small").into_string();
        assert_eq!(format!("{merchant} {store} {tpn}"), "496BJC5K1WNN 4QTKQGGW7HTG 604341793338");
    }

    proptest! {
        #[test]
        fn text_ids_are_twelve_unambiguous_characters(counter in 0_u64..1 << 60) {
            let id = ids().merchant_id(counter).expect("inside").into_string();
            prop_assert_eq!(id.len(), 12);
            prop_assert!(id.bytes().all(|byte| ALPHABET.contains(&byte)));
        }

        #[test]
        fn tpns_have_a_first_digit_and_a_check_digit(counter in 0_u64..90_000_000_000) {
            let tpn = ids().tpn(counter).expect("inside").into_string();
            prop_assert_eq!(tpn.len(), 12);
            prop_assert!(tpn.bytes().all(|byte| byte.is_ascii_digit()) && !tpn.starts_with('0'));
            prop_assert!(luhn::is_valid(tpn.bytes().map(|byte| byte - b'0')));
        }

        #[test]
        fn every_number_leads_back_to_its_counter(text in 0_u64..1 << 60, tpn in 0_u64..90_000_000_000) {
            let ids = ids();
            prop_assert_eq!(invert(&ids.merchant, ids.merchant.permute(text).expect("inside")), text);
            prop_assert_eq!(invert(&ids.tpn, ids.tpn.permute(tpn).expect("inside")), tpn);
        }
    }
}
