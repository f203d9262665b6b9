//! Chance that repeats itself: the same seed, stream and number throw the same, on every machine.
//!
//! Each thing that is decided has dice of its own, so that a change in how one thing is decided
//! leaves the others alone. **Not for secrets.**

/// What dice are thrown for; each has a sequence of its own.
#[derive(Clone, Copy, Debug)]
pub(super) enum Stream {
    Days,
    Moments,
    Buyers,
    People,
    Orders,
}

#[derive(Clone, Debug)]
pub(super) struct Dice(u64);

/// The golden ratio in 64 bits: a step that visits every number before it comes back.
const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

impl Dice {
    pub(super) fn new(seed: u64, stream: Stream, number: u64) -> Self {
        let stream = match stream {
            Stream::Days => 1,
            Stream::Moments => 2,
            Stream::Buyers => 3,
            Stream::People => 4,
            Stream::Orders => 5,
        };
        Self(mixed(seed ^ mixed(number ^ mixed(stream))))
    }

    pub(super) fn throw(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(STEP);
        mixed(self.0)
    }

    /// A number below the bound; zero for a bound of zero.
    pub(super) fn below(&mut self, bound: u64) -> u64 {
        let product = u128::from(self.throw()) * u128::from(bound);
        u64::try_from(product >> 64).unwrap_or_default()
    }

    /// A place in a list of so many.
    pub(super) fn place(&mut self, count: usize) -> usize {
        let bound = u64::try_from(count).unwrap_or_default();
        usize::try_from(self.below(bound)).unwrap_or_default()
    }

    /// A number from the first to the last, both included.
    pub(super) fn between(&mut self, first: i64, last: i64) -> i64 {
        let width = u64::try_from(last - first + 1).unwrap_or_default();
        first + i64::try_from(self.below(width)).unwrap_or_default()
    }

    /// Yes, so many times in a thousand.
    pub(super) fn in_thousand(&mut self, share: u64) -> bool {
        self.below(1_000) < share
    }

    pub(super) fn pick<'a, T>(&mut self, list: &'a [T]) -> Option<&'a T> {
        let place = self.place(list.len());
        list.get(place)
    }

    pub(super) fn text(&mut self, list: &[&'static str]) -> &'static str {
        self.pick(list).copied().unwrap_or_default()
    }

    /// The place of one of the weights, each as often as it weighs.
    pub(super) fn weighted(&mut self, weights: impl Iterator<Item = u64> + Clone) -> usize {
        let mut rest = self.below(weights.clone().sum());
        for (place, weight) in weights.enumerate() {
            match rest.checked_sub(weight) {
                Some(left) => rest = left,
                None => return place,
            }
        }
        0
    }

    /// The pattern with a digit for each `#` and a capital letter for each `@`.
    pub(super) fn pattern(&mut self, pattern: &str) -> String {
        let mut from = |letters: &[u8]| self.pick(letters).map_or('0', |byte| char::from(*byte));
        let fill = |sign| match sign {
            '#' => from(b"0123456789"),
            '@' => from(b"ABDEFGHJLNPQRSTUWXYZ"),
            other => other,
        };
        pattern.chars().map(fill).collect()
    }
}

/// Spreads every bit over all others.
fn mixed(value: u64) -> u64 {
    let value = (value ^ (value >> 32)).wrapping_mul(0xd6e8_feb8_6659_fd93);
    let value = (value ^ (value >> 32)).wrapping_mul(0xd6e8_feb8_6659_fd93);
    value ^ (value >> 32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn throws_repeat_and_streams_differ() {
        let throws = |seed, stream, number| {
            let mut dice = Dice::new(seed, stream, number);
            [dice.throw(), dice.throw()]
        };
        assert_eq!(throws(1, Stream::Days, 2), throws(1, Stream::Days, 2));
        assert_ne!(throws(1, Stream::Days, 2), throws(2, Stream::Days, 1));
        assert_ne!(throws(1, Stream::Days, 2), throws(1, Stream::Orders, 2));
    }

    #[test]
    fn every_side_comes_up_about_as_often_as_it_should() {
        let mut dice = Dice::new(7, Stream::Orders, 0);
        let (mut sides, mut weighted) = ([0_u32; 6], [0_u32; 3]);
        for _ in 0..60_000 {
            sides[dice.place(6)] += 1;
            weighted[dice.weighted([10, 0, 50].into_iter())] += 1;
        }
        assert!(sides.iter().all(|count| (9_500..10_500).contains(count)), "{sides:?}");
        assert!((9_500..10_500).contains(&weighted[0]) && weighted[1] == 0, "{weighted:?}");
        assert_eq!(dice.below(0), 0);
        assert!((0..100).all(|_| (-2..=2).contains(&dice.between(-2, 2))));
        let code = dice.pattern("@# ##");
        assert!(code.chars().next().is_some_and(char::is_alphabetic) && code.len() == 5, "{code}");
    }
}
