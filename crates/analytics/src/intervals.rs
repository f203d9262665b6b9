//! Which intervals of a range an answer shows: all of them, sorted by the date or by a column, and
//! then the page. **Among equals the earlier interval comes first**, whatever the direction.

use std::cmp::Ordering;

/// What is known of an interval before it is shown.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Slot {
    /// Its place in the range.
    pub index: usize,
    /// Whether anything happened in it.
    pub is_present: bool,
    /// The column to sort by; its place if that is the date.
    pub rank: f64,
}

/// The order and the page that a request asks for.
#[derive(Clone, Copy, Debug)]
pub struct IntervalPage {
    pub by_date: bool,
    pub descending: bool,
    /// From 1.
    pub page: usize,
    pub per_page: usize,
}

impl IntervalPage {
    /// How many intervals are on the pages before.
    pub fn offset(&self) -> usize {
        self.page.saturating_sub(1).saturating_mul(self.per_page)
    }

    /// The places of the intervals on the page, in its order.
    pub fn cut(&self, mut slots: Vec<Slot>) -> Vec<usize> {
        slots.sort_by(|one, other| self.compare(one, other));
        let page = slots.into_iter().skip(self.offset()).take(self.per_page);
        page.map(|slot| slot.index).collect()
    }

    fn compare(&self, one: &Slot, other: &Slot) -> Ordering {
        let by_rank = one.rank.total_cmp(&other.rank);
        let by_rank = if self.descending { by_rank.reverse() } else { by_rank };
        by_rank.then(one.index.cmp(&other.index))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_whole_is_sorted_and_cut() {
        let ranks = [5.0, 0.0, -3.0, 5.0, 7.0];
        let slot = |(index, rank): (usize, &f64)| Slot { index, is_present: true, rank: *rank };
        for (descending, page, expected) in [
            (true, 1, vec![4, 0]),
            (true, 2, vec![3, 1]),
            (true, 3, vec![2]),
            (false, 1, vec![2, 1]),
            (false, 4, vec![]),
        ] {
            let page = IntervalPage { by_date: false, descending, page, per_page: 2 };
            assert_eq!(
                page.cut(ranks.iter().enumerate().map(slot).collect()),
                expected,
                "{page:?}"
            );
        }
    }
}
