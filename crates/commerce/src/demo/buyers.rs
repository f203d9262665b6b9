//! Who buys: somebody new, or somebody who bought before. Whoever bought often is the likelier to
//! buy again, which gives a few customers many orders and most customers one.

use std::collections::VecDeque;

use super::dice::{Dice, Stream};
use super::people;

/// How many of a thousand orders are somebody's first.
const NEWCOMERS: u64 = 380;
/// How many of a thousand guests who would come back do.
const FAITHFUL_GUESTS: u64 = 350;
/// Orders that are remembered; whoever is in none of them does not come back.
const RECENT_MAX: usize = 30_000;
/// How often somebody else is looked for in place of a guest.
const TRIES_MAX: usize = 8;

/// A customer by number, at one order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Buyer {
    pub(super) number: u64,
    pub(super) is_new: bool,
}

/// The buyers of one order after another. Newcomers are numbered from 0 on.
#[derive(Debug)]
pub(super) struct Buyers {
    seed: u64,
    dice: Dice,
    recent: VecDeque<u64>,
    known: u64,
}

impl Buyers {
    pub(super) fn new(seed: u64) -> Self {
        let dice = Dice::new(seed, Stream::Buyers, 0);
        Self { seed, dice, recent: VecDeque::new(), known: 0 }
    }

    pub(super) fn buyer(&mut self) -> Buyer {
        let known = if self.dice.in_thousand(NEWCOMERS) { None } else { self.somebody() };
        let buyer = known.map_or_else(
            || Buyer { number: self.known, is_new: true },
            |number| Buyer { number, is_new: false },
        );
        self.known += u64::from(buyer.is_new);
        if self.recent.len() >= RECENT_MAX {
            self.recent.pop_front();
        }
        self.recent.push_back(buyer.number);
        buyer
    }

    /// The buyer of any of the recent orders.
    fn somebody(&mut self) -> Option<u64> {
        for _ in 0..TRIES_MAX {
            let place = self.dice.place(self.recent.len());
            let number = *self.recent.get(place)?;
            if people::is_registered(self.seed, number) || self.dice.in_thousand(FAITHFUL_GUESTS) {
                return Some(number);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;

    #[test]
    fn few_buy_often_and_most_buy_once() {
        let mut buyers = Buyers::new(5);
        let mut orders: HashMap<u64, u32> = HashMap::new();
        for _ in 0..20_000 {
            let buyer = buyers.buyer();
            let count = orders.entry(buyer.number).or_default();
            assert_eq!(buyer.is_new, *count == 0);
            *count += 1;
        }
        let once = orders.values().filter(|count| **count == 1).count();
        let often = orders.values().filter(|count| **count >= 20).count();
        assert!(once * 2 > orders.len(), "{once} of {}", orders.len());
        assert!(often > 10 && often * 20 < orders.len(), "{often} of {}", orders.len());
    }
}
