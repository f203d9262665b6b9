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
/// A set begins as bits if there may be one number in it for so many of its dictionary. A bit set
/// costs a hundredth of a number sorted, and so many bits are counted in the time of one.
const BITS_PER_CODE_MAX: usize = 256;

impl Default for Distinct {
    fn default() -> Self {
        Self::List(Vec::new(), 0)
    }
}

impl Distinct {
    /// An empty set that so many numbers of a dictionary of this size may be added to.
    pub(super) fn expecting(codes: usize, size: usize) -> Self {
        if codes > size / BITS_PER_CODE_MAX {
            Self::Bits(vec![0; size.div_ceil(64)])
        } else {
            Self::default()
        }
    }

    /// Adds those numbers whose mask is -1; the mask of the others is 0.
    pub(super) fn extend(&mut self, codes: &[u32], mask: &[i32], size: usize) {
        let rows = codes.iter().zip(mask);
        let Self::Bits(bits) = self else {
            let chosen = rows.filter(|(_, mask)| **mask != 0);
            return chosen.for_each(|(code, _)| self.insert(*code, size));
        };
        if let Some(greatest) = codes.iter().max() {
            make_room(bits, word(*greatest));
        }
        for (code, mask) in rows {
            // A row that does not count sets no bit, which costs less than to jump over it.
            if let Some(word) = bits.get_mut(word(*code)) {
                *word |= u64::from(mask.cast_unsigned() & 1) << (code % 64);
            }
        }
    }

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
        match self {
            Self::List(list, _) => list.shrink_to_fit(),
            Self::Bits(bits) if ones(bits) <= bits.len() => {
                let list = codes(bits);
                let sorted = list.len();
                *self = Self::List(list, sorted);
            }
            Self::Bits(_) => {}
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
            Self::Bits(bits) => ones(bits),
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
    let word = word(code);
    make_room(bits, word);
    if let Some(word) = bits.get_mut(word) {
        *word |= 1 << (code % 64);
    }
}

/// The place of the word that has the bit of a number.
fn word(code: u32) -> usize {
    usize::try_from(code / 64).unwrap_or(usize::MAX)
}

fn make_room(bits: &mut Vec<u64>, word: usize) {
    if bits.len() <= word {
        bits.resize(word + 1, 0);
    }
}

/// How many bits are set.
fn ones(bits: &[u64]) -> usize {
    let ones = bits.iter().map(|word| u64::from(word.count_ones())).sum::<u64>();
    usize::try_from(ones).unwrap_or(usize::MAX)
}

/// The numbers whose bits are set.
fn codes(bits: &[u64]) -> Vec<u32> {
    let mut list = Vec::with_capacity(ones(bits));
    for (word, first) in bits.iter().zip((0_u32..).step_by(64)) {
        let mut rest = *word;
        while rest != 0 {
            list.push(first + rest.trailing_zeros());
            rest &= rest - 1;
        }
    }
    list
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
            expected in prop::sample::select(vec![0_usize, 1, 10_000]),
            shrinks: bool,
        ) {
            let mut sets = [&first, &second].map(|codes| {
                let mut set = Distinct::expecting(expected, size);
                let (each, rest) = codes.split_at(codes.len() / 2);
                for code in each {
                    set.insert(*code, size);
                }
                set.extend(rest, &vec![-1; rest.len()], size);
                set.extend(&[4_999, 0], &[0, 0], size);
                set
            });
            let [one, two] = &mut sets;
            if shrinks {
                two.shrink();
            }
            one.merge(two, size);
            let expected: HashSet<u32> = first.iter().chain(&second).copied().collect();
            prop_assert_eq!(one.count(), i64::try_from(expected.len()).unwrap());
        }
    }
}
