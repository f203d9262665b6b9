//! Which intervals of a range an answer shows, and in which order.
//!
//! Strictly: all intervals, sorted by a column, ties by date; then the page. As clients know it
//! from the reference: its database pages over the intervals in which something happened, and what
//! is missing on that page is filled in and sorted afterwards. **Both show the same numbers; only
//! place and page of an interval may differ.**

use std::cmp::Ordering;

use crate::arrival;

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

/// An interval that is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Its place in the range.
    pub index: usize,
    /// It is shown with zeros, whatever happened in it.
    pub is_blank: bool,
}

/// How the reference's database treats the intervals of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Habit {
    /// It sorts, and pages.
    Sorted,
    /// It pages over intervals in the order of time, whatever order was asked for.
    Unsorted,
    /// It does not even page, unless something is filled in or the order is upwards.
    Unpaged,
    /// It finds the page by date as it was asked to, and shows it in the order of time. By a column
    /// it knows of no intervals but those that are the page by time, and takes others for empty.
    Reordered,
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
    fn offset(&self) -> usize {
        (self.page - 1).saturating_mul(self.per_page)
    }

    /// Which of the intervals in which something happened the database gives: how many to skip, and
    /// how many to take. `missing` is in how many nothing happened.
    pub fn database_rows(&self, missing: usize) -> (usize, usize) {
        let (offset, end) = (self.offset(), self.page.saturating_mul(self.per_page));
        if missing == 0 || (self.descending && !self.by_date) {
            (offset, self.per_page)
        } else if self.by_date {
            // The database is asked for the time of the page only.
            (0, self.per_page)
        } else {
            (offset.saturating_sub(missing), end.saturating_sub(missing).min(self.per_page))
        }
    }

    /// Ties always have the earlier interval first.
    fn compare(&self, one: &Slot, other: &Slot) -> Ordering {
        let by_rank = one.rank.total_cmp(&other.rank);
        let by_rank = if self.descending { by_rank.reverse() } else { by_rank };
        by_rank.then(one.index.cmp(&other.index))
    }
}

/// The places of the intervals that are shown.
pub fn strict_page(mut slots: Vec<Slot>, wanted: &IntervalPage) -> Vec<Place> {
    slots.sort_by(|one, other| wanted.compare(one, other));
    places(slots.into_iter().skip(wanted.offset()).take(wanted.per_page))
}

/// The places of the intervals that the reference would show.
pub fn usual_page(slots: &[Slot], wanted: &IntervalPage, habit: Habit) -> Vec<Place> {
    let present: Vec<Slot> = slots.iter().copied().filter(|slot| slot.is_present).collect();
    if present.len() == slots.len() {
        if habit == Habit::Unpaged {
            return places(present.into_iter());
        }
        let rows = (wanted.offset(), wanted.per_page);
        return shown(from_database(present, wanted, habit, rows).into_iter(), habit);
    }
    if wanted.by_date {
        page_by_date(slots, wanted, habit)
    } else {
        page_by_rank(slots, wanted, habit)
    }
}

/// Some of the intervals in which something happened, as the database sorts them.
fn from_database(
    mut rows: Vec<Slot>,
    wanted: &IntervalPage,
    habit: Habit,
    (skip, count): (usize, usize),
) -> Vec<Slot> {
    if habit == Habit::Sorted && !wanted.by_date && rows.len() <= arrival::ROWS_MAX {
        let values: Vec<f64> = rows.iter().map(|slot| slot.rank).collect();
        let ranks = arrival::ranks(&values, wanted.descending);
        let places = arrival::page(&ranks, (skip, count), rows.len());
        return places.into_iter().filter_map(|place| rows.get(place).copied()).collect();
    }
    if habit == Habit::Sorted || (habit == Habit::Reordered && wanted.by_date) {
        rows.sort_by(|one, other| wanted.compare(one, other));
    }
    rows.into_iter().skip(skip).take(count).collect()
}

/// The page is cut out of the calendar first; if all of it is there nothing is sorted again.
fn page_by_date(slots: &[Slot], wanted: &IntervalPage, habit: Habit) -> Vec<Place> {
    let in_order: Box<dyn Iterator<Item = &Slot>> =
        if wanted.descending { Box::new(slots.iter().rev()) } else { Box::new(slots.iter()) };
    let mut page: Vec<Slot> =
        in_order.skip(wanted.offset()).take(wanted.per_page).copied().collect();
    let is_whole = page.iter().all(|slot| slot.is_present);
    if is_whole && habit != Habit::Sorted {
        page.sort_by_key(|slot| slot.index);
    }
    places(page.into_iter())
}

/// What happened comes first downwards and last upwards, whatever the numbers are.
fn page_by_rank(slots: &[Slot], wanted: &IntervalPage, habit: Habit) -> Vec<Place> {
    let present: Vec<Slot> = slots.iter().copied().filter(|slot| slot.is_present).collect();
    let known: Vec<usize> = if habit == Habit::Reordered {
        let page = present.iter().skip(wanted.offset()).take(wanted.per_page);
        page.map(|slot| slot.index).collect()
    } else {
        present.iter().map(|slot| slot.index).collect()
    };
    let missing = slots.len() - known.len();
    let offset = wanted.offset();
    let (skip, count) = if habit == Habit::Unpaged && wanted.descending {
        (0, usize::MAX)
    } else {
        wanted.database_rows(missing)
    };
    let count_present = known.len();
    let rows = from_database(present, wanted, habit, (skip, count));
    let is_filled = if wanted.descending {
        wanted.page > count_present / wanted.per_page
    } else {
        wanted.page <= missing.div_ceil(wanted.per_page)
    };
    if !is_filled {
        return shown(rows.into_iter(), habit);
    }
    let is_known = |slot: &&Slot| known.binary_search(&slot.index).is_ok();
    let fillers = slots.iter().filter(|slot| !is_known(slot)).copied();
    let mut page: Vec<(Slot, bool)> = rows.into_iter().map(|slot| (slot, false)).collect();
    page.extend(fillers.map(|slot| (Slot { rank: 0.0, ..slot }, slot.is_present)));
    page.sort_by(|(one, _), (other, _)| wanted.compare(one, other));
    let skip = if wanted.descending { offset.saturating_sub(count_present) } else { offset };
    let count = slots.len().saturating_sub(offset).min(wanted.per_page);
    let page = page.into_iter().skip(skip).take(count);
    page.map(|(slot, is_blank)| Place { index: slot.index, is_blank }).collect()
}

/// The rows of a page as the database gives them.
fn shown(rows: impl Iterator<Item = Slot>, habit: Habit) -> Vec<Place> {
    let mut places = places(rows);
    if habit == Habit::Reordered {
        places.sort_by_key(|place| place.index);
    }
    places
}

fn places(slots: impl Iterator<Item = Slot>) -> Vec<Place> {
    slots.map(|slot| Place { index: slot.index, is_blank: false }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Slots from ranks; a rank of zero stands for an interval in which nothing happened.
    fn slots(ranks: &[f64]) -> Vec<Slot> {
        let slot =
            |(index, rank): (usize, &f64)| Slot { index, is_present: *rank != 0.0, rank: *rank };
        ranks.iter().enumerate().map(slot).collect()
    }

    fn dated(presence: &[bool]) -> Vec<Slot> {
        let slot = |(index, is_present): (usize, &bool)| {
            let rank = crate::columns::float(i64::try_from(index).unwrap());
            Slot { index, is_present: *is_present, rank }
        };
        presence.iter().enumerate().map(slot).collect()
    }

    fn strict(slots: Vec<Slot>, wanted: &IntervalPage) -> Vec<usize> {
        strict_page(slots, wanted).iter().map(|place| place.index).collect()
    }

    fn usual(slots: &[Slot], wanted: &IntervalPage, habit: Habit) -> Vec<usize> {
        usual_page(slots, wanted, habit).iter().map(|place| place.index).collect()
    }

    const fn wanted(by_date: bool, descending: bool, page: usize, per_page: usize) -> IntervalPage {
        IntervalPage { by_date, descending, page, per_page }
    }

    #[test]
    fn strictly_the_whole_is_sorted_and_cut() {
        let ranks = [5.0, 0.0, -3.0, 5.0, 7.0];
        for (descending, page, expected) in [
            (true, 1, vec![4, 0]),
            (true, 2, vec![3, 1]),
            (true, 3, vec![2]),
            (false, 1, vec![2, 1]),
            (false, 4, vec![]),
        ] {
            let wanted = wanted(false, descending, page, 2);
            assert_eq!(strict(slots(&ranks), &wanted), expected, "{wanted:?}");
        }
    }

    #[test]
    fn whole_pages_come_as_the_database_has_them() {
        let whole = dated(&[true; 4]);
        let page = |habit| usual(&whole, &wanted(true, true, 1, 3), habit);
        assert_eq!(page(Habit::Sorted), [3, 2, 1]);
        assert_eq!(page(Habit::Unsorted), [0, 1, 2]);
        assert_eq!(page(Habit::Unpaged), [0, 1, 2, 3]);
        assert_eq!(page(Habit::Reordered), [1, 2, 3]);
    }

    #[test]
    fn a_page_with_gaps_is_sorted_by_date() {
        let gaps = dated(&[true, false, true, true, true]);
        // Nothing is missing among the last three, so that nobody sorts them.
        assert_eq!(usual(&gaps, &wanted(true, true, 1, 3), Habit::Unsorted), [2, 3, 4]);
        assert_eq!(usual(&gaps, &wanted(true, true, 2, 3), Habit::Unsorted), [1, 0]);
        assert_eq!(usual(&gaps, &wanted(true, true, 1, 5), Habit::Unpaged), [4, 3, 2, 1, 0]);
    }

    #[test]
    fn by_a_column_what_happened_and_what_did_not_are_apart() {
        let ranks = slots(&[5.0, 0.0, -3.0, 0.0, 7.0]);
        let sorted =
            |descending, page| usual(&ranks, &wanted(false, descending, page, 2), Habit::Sorted);
        assert_eq!(sorted(true, 1), [4, 0]);
        // The third row of the database, and zeros, sorted together.
        assert_eq!(sorted(true, 2), [1, 3]);
        assert_eq!(sorted(false, 2), [2, 0]);
    }

    #[test]
    fn pages_by_date_make_the_whole() {
        let gaps = dated(&[true, false, true, false, true, true, false]);
        for descending in [true, false] {
            let pages = (1..=4)
                .flat_map(|page| usual(&gaps, &wanted(true, descending, page, 2), Habit::Sorted));
            let mut expected: Vec<usize> = (0..7).collect();
            if descending {
                expected.reverse();
            }
            assert_eq!(pages.collect::<Vec<_>>(), expected);
        }
    }

    #[test]
    fn some_are_taken_for_empty() {
        let ranks = slots(&[5.0, 0.0, 3.0, 0.0, 7.0, 0.0]);
        let page = |descending, page| {
            usual_page(&ranks, &wanted(false, descending, page, 2), Habit::Reordered)
        };
        let place = |index, is_blank| Place { index, is_blank };
        assert_eq!(page(true, 1), [place(0, false), place(2, false)]);
        // Only the fifth is known to be there on the second page.
        assert_eq!(page(false, 2), [place(2, true), place(3, false)]);
    }
}
