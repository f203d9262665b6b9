//! Numbers that look random and follow from a seed.

/// A sequence of rolls (`SplitMix64`).
pub(super) struct Dice(u64);

impl Dice {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// From 0 up to, and without, `count`.
    pub(super) fn below(&mut self, count: usize) -> usize {
        let count = u64::try_from(count.max(1)).unwrap();
        usize::try_from(self.next() % count).unwrap()
    }

    /// From `least` to `most`, both included.
    pub(super) fn between(&mut self, least: i64, most: i64) -> i64 {
        let span = usize::try_from(most - least + 1).unwrap();
        least + i64::try_from(self.below(span)).unwrap()
    }

    pub(super) fn one_in(&mut self, count: usize) -> bool {
        self.below(count) == 0
    }

    pub(super) fn pick<T: Clone>(&mut self, list: &[T]) -> T {
        let index = self.below(list.len());
        list[index].clone()
    }

    /// At least one and at most `most` different members of a list, in its order.
    pub(super) fn some<T: Clone>(&mut self, list: &[T], most: usize) -> Vec<T> {
        let count = 1 + self.below(most.min(list.len()));
        let mut left: Vec<usize> = (0..list.len()).collect();
        while left.len() > count {
            let index = self.below(left.len());
            left.remove(index);
        }
        left.into_iter().map(|index| list[index].clone()).collect()
    }
}
