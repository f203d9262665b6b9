//! Which intervals of a range an answer shows, and in which order.
//!
//! Strictly: all intervals, sorted by a column, ties by date; then the page. As clients know it
//! from the reference: its database pages over the intervals in which something happened, and what
//! is missing on that page is filled in and sorted afterwards. **Both show the same numbers; only
//! place and page of an interval may differ.**

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

/// How the reference's database treats the intervals of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Habit {
    /// It sorts, and pages.
    Sorted,
    /// It pages over intervals in the order of time, whatever order was asked for.
    Unsorted,
    /// It does not even page while nothing is missing.
    Unpaged,
}

/// The order and the page that a request asks for.
#[derive(Clone, Copy, Debug)]
pub struct Wanted {
    pub by_date: bool,
    pub descending: bool,
    /// From 1.
    pub page: usize,
    pub per_page: usize,
}

impl Wanted {
    fn offset(&self) -> usize {
        (self.page - 1).saturating_mul(self.per_page)
    }

    /// Ties always have the earlier interval first.
    fn compare(&self, one: &Slot, other: &Slot) -> Ordering {
        let by_rank = one.rank.total_cmp(&other.rank);
        let by_rank = if self.descending { by_rank.reverse() } else { by_rank };
        by_rank.then(one.index.cmp(&other.index))
    }
}

/// The places of the intervals that are shown.
pub fn strict_page(mut slots: Vec<Slot>, wanted: &Wanted) -> Vec<usize> {
    slots.sort_by(|one, other| wanted.compare(one, other));
    indexes(slots.into_iter().skip(wanted.offset()).take(wanted.per_page))
}

/// The places of the intervals that the reference would show.
pub fn usual_page(slots: &[Slot], wanted: &Wanted, habit: Habit) -> Vec<usize> {
    let present: Vec<Slot> = slots.iter().copied().filter(|slot| slot.is_present).collect();
    if present.len() == slots.len() {
        let rows = in_database_order(present, wanted, habit);
        if habit == Habit::Unpaged {
            return indexes(rows.into_iter());
        }
        return indexes(rows.into_iter().skip(wanted.offset()).take(wanted.per_page));
    }
    if wanted.by_date {
        page_by_date(slots, wanted, habit)
    } else {
        page_by_rank(slots, wanted, habit)
    }
}

fn in_database_order(mut rows: Vec<Slot>, wanted: &Wanted, habit: Habit) -> Vec<Slot> {
    if habit == Habit::Sorted {
        rows.sort_by(|one, other| wanted.compare(one, other));
    }
    rows
}

/// The page is cut out of the calendar first; if all of it is there nothing is sorted again.
fn page_by_date(slots: &[Slot], wanted: &Wanted, habit: Habit) -> Vec<usize> {
    let in_order: Box<dyn Iterator<Item = &Slot>> =
        if wanted.descending { Box::new(slots.iter().rev()) } else { Box::new(slots.iter()) };
    let mut page: Vec<Slot> =
        in_order.skip(wanted.offset()).take(wanted.per_page).copied().collect();
    let is_whole = page.iter().all(|slot| slot.is_present);
    if is_whole && habit != Habit::Sorted {
        page.sort_by_key(|slot| slot.index);
    }
    indexes(page.into_iter())
}

/// What happened comes first downwards and last upwards, whatever the numbers are.
fn page_by_rank(slots: &[Slot], wanted: &Wanted, habit: Habit) -> Vec<usize> {
    let present: Vec<Slot> = slots.iter().copied().filter(|slot| slot.is_present).collect();
    let missing = slots.len() - present.len();
    let (offset, end) = (wanted.offset(), wanted.page.saturating_mul(wanted.per_page));
    let (skip, count) = if wanted.descending {
        (offset, wanted.per_page)
    } else {
        (offset.saturating_sub(missing), end.saturating_sub(missing).min(wanted.per_page))
    };
    let count_present = present.len();
    let rows = in_database_order(present, wanted, habit);
    let is_filled = if wanted.descending {
        wanted.page > count_present / wanted.per_page
    } else {
        wanted.page <= missing.div_ceil(wanted.per_page)
    };
    let rows = rows.into_iter().skip(skip).take(count);
    if !is_filled {
        return indexes(rows);
    }
    let fillers = slots.iter().copied().filter(|slot| !slot.is_present);
    let mut page: Vec<Slot> = rows.chain(fillers).collect();
    page.sort_by(|one, other| wanted.compare(one, other));
    let skip = if wanted.descending { offset.saturating_sub(count_present) } else { offset };
    let count = slots.len().saturating_sub(offset).min(wanted.per_page);
    indexes(page.into_iter().skip(skip).take(count))
}

fn indexes(slots: impl Iterator<Item = Slot>) -> Vec<usize> {
    slots.map(|slot| slot.index).collect()
}
