//! Sets of small numbers, one for each group: how many different customers, products and so on.
//!
//! A set begins as a list. When the list is long for its dictionary it becomes a bit for each
//! number, so a set takes no more than the dictionary has bits, and few sets ever get there.

#[derive(Clone, Debug)]
pub(super) enum Distinct {
    /// In order and without doubles up to the given length, and as they came after it.
    List(Vec<u32>, usize),
    Bits(Vec<u64>),
}

/// A list is searched for doubles when it has grown by so many.
const UNSORTED_MAX: usize = 64;

impl Default for Distinct {
    fn default() -> Self {
        Self::List(Vec::new(), 0)
    }
}

impl Distinct {
    /// Adds a number of a dictionary of this size.
    pub(super) fn insert(&mut self, code: u32, size: usize) {
        match self {
            Self::Bits(bits) => set(bits, code),
            Self::List(list, sorted) => {
                if list.last() == Some(&code) {
                    return;
                }
                list.push(code);
                if list.len() >= *sorted * 2 + UNSORTED_MAX {
                    self.tidy(size);
                }
            }
        }
    }

    /// Adds all that the other has.
    pub(super) fn merge(&mut self, other: &Self, size: usize) {
        match (&mut *self, other) {
            (Self::Bits(own), Self::Bits(other)) => {
                if own.len() < other.len() {
                    own.resize(other.len(), 0);
                }
                own.iter_mut().zip(other).for_each(|(own, other)| *own |= other);
            }
            (Self::List(..), Self::Bits(_)) => {
                let list = std::mem::replace(self, other.clone());
                self.merge(&list, size);
            }
            (Self::List(own, sorted), Self::List(other, others))
                if *sorted == own.len() && *others == other.len() =>
            {
                *own = merged(own, other);
                *sorted = own.len();
                self.widen(size);
            }
            (_, Self::List(list, _)) => list.iter().for_each(|code| self.insert(*code, size)),
        }
    }

    /// Gives back memory that was taken for more to come.
    pub(super) fn shrink(&mut self) {
        self.sort();
        if let Self::List(list, _) = self {
            list.shrink_to_fit();
        }
    }

    /// About how much memory it takes.
    pub(super) fn bytes(&self) -> usize {
        let inner = match self {
            Self::List(list, _) => size_of_val(list.as_slice()),
            Self::Bits(bits) => size_of_val(bits.as_slice()),
        };
        size_of::<Self>() + inner
    }

    pub(super) fn count(&mut self) -> i64 {
        self.sort();
        let count = match self {
            Self::List(list, _) => list.len(),
            Self::Bits(bits) => {
                let ones = bits.iter().map(|word| u64::from(word.count_ones())).sum::<u64>();
                usize::try_from(ones).unwrap_or(usize::MAX)
            }
        };
        i64::try_from(count).unwrap_or(i64::MAX)
    }

    fn tidy(&mut self, size: usize) {
        self.sort();
        self.widen(size);
    }

    /// Puts what came last in order, too.
    fn sort(&mut self) {
        let Self::List(list, sorted) = self else { return };
        let Some((first, last)) = list.split_at_mut_checked(*sorted) else { return };
        if last.is_empty() {
            return;
        }
        last.sort_unstable();
        *list = merged(first, last);
        *sorted = list.len();
    }

    /// Makes bits of a list that is long for its dictionary.
    fn widen(&mut self, size: usize) {
        let Self::List(list, _) = self else { return };
        if list.len() > size / 64 {
            let mut bits = vec![0; size.div_ceil(64)];
            for code in list {
                set(&mut bits, *code);
            }
            *self = Self::Bits(bits);
        }
    }
}

/// Two lists in order as one, without doubles.
fn merged(one: &[u32], other: &[u32]) -> Vec<u32> {
    let mut all = Vec::with_capacity(one.len() + other.len());
    let (mut one, mut other) = (one.iter().copied().peekable(), other.iter().copied().peekable());
    loop {
        let next = match (one.peek(), other.peek()) {
            (Some(left), Some(right)) if left <= right => one.next(),
            (_, Some(_)) => other.next(),
            (_, None) => one.next(),
        };
        match next {
            None => return all,
            Some(code) if all.last() == Some(&code) => {}
            Some(code) => all.push(code),
        }
    }
}

fn set(bits: &mut Vec<u64>, code: u32) {
    let word = usize::try_from(code / 64).unwrap_or(usize::MAX);
    if bits.len() <= word {
        bits.resize(word + 1, 0);
    }
    if let Some(word) = bits.get_mut(word) {
        *word |= 1 << (code % 64);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn sets_count_what_is_in_them(
            first in prop::collection::vec(0_u32..5_000, 0..600),
            second in prop::collection::vec(0_u32..5_000, 0..600),
            size in prop::sample::select(vec![10_usize, 5_000, 1_000_000]),
        ) {
            let mut sets = [&first, &second].map(|codes| {
                let mut set = Distinct::default();
                for code in codes {
                    set.insert(*code, size);
                }
                set
            });
            let [one, two] = &mut sets;
            one.merge(two, size);
            let expected: HashSet<u32> = first.iter().chain(&second).copied().collect();
            prop_assert_eq!(one.count(), i64::try_from(expected.len()).unwrap());
        }
    }
}
