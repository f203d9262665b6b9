//! Which of several rows the reference's database shows, where its question leaves that open.
//!
//! It asks for columns of "the" row of a group, and gets those of the first row that it meets
//! there; and it sorts by columns in which rows tie. Recorded answers tell what happens: rows come
//! in the order of an index, and are sorted by a quicksort that does not keep equal rows in order,
//! behind a queue of the best rows where few of many are wanted. [`grouped`] and [`page`] do the
//! same, so that the same rows come first. **Strict answers need none of this.**

/// Rows up to which the quicksort is followed; the database sorts more than that in another way,
/// which keeps equal rows in order.
pub(crate) const ROWS_MAX: usize = 1_000;

/// A page is found by a queue if up to its end there are fewer rows than one in so many.
const QUEUED_PART: usize = 3;

/// Parts shorter than this are put in order one by one.
const FEW: usize = 10;
/// Parts longer than this are split at the median of nine rows, others at that of three.
const MANY: usize = 40;

/// The places of the rows whose keys these are, by key, as the database gets them.
pub(crate) fn grouped(keys: &[i64]) -> Vec<usize> {
    Rows::of(keys).sorted()
}

/// The places of the rows on a page, by key, as the database gets them. It takes rows for as many
/// as `expected` before it has seen them.
pub(crate) fn page(keys: &[i64], (skip, count): (usize, usize), expected: usize) -> Vec<usize> {
    let end = skip.saturating_add(count);
    let rows = if end.saturating_mul(QUEUED_PART) < expected {
        Queue::of_best(Rows::of(keys), end)
    } else {
        Rows::of(keys)
    };
    rows.sorted().into_iter().skip(skip).take(count).collect()
}

/// Numbers that compare as the values do.
pub(crate) fn ranks(values: &[f64], descending: bool) -> Vec<i64> {
    let mut different = values.to_vec();
    different.sort_by(f64::total_cmp);
    different.dedup();
    let rank = |value: &f64| {
        let below = different.partition_point(|other| other.total_cmp(value).is_lt());
        let rank = i64::try_from(below).unwrap_or(i64::MAX);
        if descending { -rank } else { rank }
    };
    values.iter().map(rank).collect()
}

/// Keys with the places that they had.
struct Rows(Vec<(i64, usize)>);

impl Rows {
    fn of(keys: &[i64]) -> Self {
        Self(keys.iter().copied().zip(0..).collect())
    }

    /// The places of the rows in the order of their keys.
    fn sorted(mut self) -> Vec<usize> {
        let mut parts = vec![(0, self.0.len())];
        while let Some((low, end)) = parts.pop() {
            if end.saturating_sub(low) < FEW {
                self.insert_each(low, end);
            } else {
                let (left_end, right) = self.split(low, end);
                parts.push((low, left_end));
                parts.push((right, end));
            }
        }
        self.0.into_iter().map(|(_, place)| place).collect()
    }

    fn key(&self, at: usize) -> i64 {
        self.0.get(at).map_or(i64::MAX, |(key, _)| *key)
    }

    fn exceeds(&self, one: usize, other: usize) -> bool {
        self.key(one) > self.key(other)
    }

    fn insert_each(&mut self, low: usize, end: usize) {
        for next in low..end {
            let mut at = next;
            while at > low && self.exceeds(at - 1, at) {
                self.0.swap(at - 1, at);
                at -= 1;
            }
        }
    }

    /// Puts smaller rows before greater ones, from the middle's point of view. Returns where the
    /// left part ends and where the right one starts.
    fn split(&mut self, low: usize, end: usize) -> (usize, usize) {
        let count = end - low;
        let (middle, last) = (low + count / 2, end - 1);
        // With three rows compared, the outer two are on their sides already.
        let (mut left, mut right) = (low + 1, last);
        if count > MANY {
            let step = count / 8;
            self.median(low, low + step, low + 2 * step);
            self.median(middle - step, middle, middle + step);
            self.median(last - 2 * step, last - step, last);
            self.median(low + step, middle, last - step);
            (left, right) = (low, end);
        } else {
            self.median(low, middle, last);
        }
        let pivot = self.key(middle);
        while left < right {
            while self.key(left) < pivot {
                left += 1;
            }
            while right > low && pivot < self.key(right - 1) {
                right -= 1;
            }
            if left + 1 < right {
                self.0.swap(left, right - 1);
            } else if left + 1 > right {
                break;
            }
            left += 1;
            right -= 1;
        }
        (right, left)
    }

    /// Brings the median of the three rows into the middle.
    fn median(&mut self, low: usize, middle: usize, high: usize) {
        if self.exceeds(low, high) {
            self.0.swap(low, high);
        }
        if self.exceeds(low, middle) {
            self.0.swap(low, middle);
        } else if self.exceeds(middle, high) {
            self.0.swap(middle, high);
        }
    }
}

/// The best rows so far, with room for one that is not: the worst of all is on top of a heap, and
/// the next row takes its seat.
struct Queue {
    seats: Rows,
    /// Seats; none has a greater key than the one in the middle before it.
    heap: Vec<usize>,
}

impl Queue {
    /// The rows that sit there in the end.
    fn of_best(rows: Rows, wanted: usize) -> Rows {
        let mut queue = Self { seats: Rows(Vec::new()), heap: Vec::new() };
        for row in rows.0 {
            if queue.heap.len() > wanted {
                queue.replace_worst(row);
            } else {
                queue.add(row);
            }
        }
        queue.seats
    }

    /// The key of the row at a node of the heap; the first node is 1.
    fn key(&self, node: usize) -> i64 {
        self.seat(node).map_or(i64::MIN, |seat| self.seats.key(seat))
    }

    fn seat(&self, node: usize) -> Option<usize> {
        self.heap.get(node.checked_sub(1)?).copied()
    }

    fn put(&mut self, node: usize, seat: usize) {
        let own = node.checked_sub(1).and_then(|place| self.heap.get_mut(place));
        if let Some(own) = own {
            *own = seat;
        }
    }

    /// Takes the seat of one node over to another.
    fn lift(&mut self, from: usize, to: usize) {
        if let Some(seat) = self.seat(from) {
            self.put(to, seat);
        }
    }

    fn add(&mut self, row: (i64, usize)) {
        let seat = self.seats.0.len();
        self.seats.0.push(row);
        self.heap.push(seat);
        let mut node = self.heap.len();
        while node > 1 && row.0 > self.key(node / 2) {
            self.lift(node / 2, node);
            node /= 2;
        }
        self.put(node, seat);
    }

    fn replace_worst(&mut self, row: (i64, usize)) {
        let Some(seat) = self.seat(1) else { return };
        if let Some(old) = self.seats.0.get_mut(seat) {
            *old = row;
        }
        let count = self.heap.len();
        let mut node = 1;
        while node <= count / 2 {
            let mut next = node * 2;
            if next < count && self.key(next) < self.key(next + 1) {
                next += 1;
            }
            if node == 1 && self.key(next) <= row.0 {
                return;
            }
            self.lift(next, node);
            node = next;
        }
        // The way down was a guess; the row goes up again as far as it has to.
        while node / 2 > 1 && self.key(node / 2) <= row.0 {
            self.lift(node / 2, node);
            node /= 2;
        }
        self.put(node, seat);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn few_rows_keep_their_order() {
        assert_eq!(grouped(&[]), [0_usize; 0]);
        assert_eq!(grouped(&[3, 1, 3, 2, 1]), [1, 4, 3, 0, 2]);
    }

    #[test]
    fn more_rows_do_not() {
        let keys = [2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 1];
        assert_eq!(grouped(&keys), [10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0]);
    }

    #[test]
    fn a_page_of_few_rows_is_found_by_a_queue() {
        let keys = [1, 2, 1, 1, 2, 1, 1, 2, 1, 1, 1, 2];
        assert_eq!(page(&keys, (0, 3), keys.len()), [0, 2, 3]);
        assert_eq!(page(&keys, (0, 4), keys.len()), [0, 10, 9, 8]);
    }

    #[test]
    fn ranks_compare_as_values_do() {
        assert_eq!(ranks(&[2.5, -1.0, 2.5, 7.0], false), [1, 0, 1, 2]);
        assert_eq!(ranks(&[2.5, -1.0, 2.5, 7.0], true), [-1, 0, -1, -2]);
    }

    proptest! {
        #[test]
        fn pages_have_the_keys_that_sorting_gives(
            keys in prop::collection::vec(-20_i64..20, 0..200),
            skip in 0_usize..30,
            count in 0_usize..30,
        ) {
            let places = page(&keys, (skip, count), keys.len());
            let shown: Vec<i64> = places.iter().map(|place| keys[*place]).collect();
            let mut sorted = keys.clone();
            sorted.sort_unstable();
            let expected: Vec<i64> = sorted.into_iter().skip(skip).take(count).collect();
            prop_assert_eq!(shown, expected);
        }

        #[test]
        fn rows_are_sorted_and_none_is_lost(
            keys in prop::collection::vec(-20_i64..20, 0..400),
        ) {
            let places = grouped(&keys);
            let sorted: Vec<i64> = places.iter().map(|place| keys[*place]).collect();
            prop_assert!(sorted.is_sorted());
            let mut all = places;
            all.sort_unstable();
            prop_assert_eq!(all, (0..keys.len()).collect::<Vec<_>>());
        }
    }
}
