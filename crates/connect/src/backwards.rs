//! The way through a store's orders, from the newest to the oldest.
//!
//! A store counts what it is asked for, however little of it a page holds. **So each question is
//! about a window of time with a few hundred orders**, not about all that are left: the cost of a
//! page does not grow with the store.

use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use types::Timestamp;

use crate::source::{Item, Page, Source, Trouble};

pub(crate) const ORDERS: &str = "wc/v3/orders";
/// The first window.
const DAY: Duration = Duration::from_hours(24);
const SHORTEST: Duration = Duration::from_mins(1);
/// Nothing is longer ago.
const LONGEST: Duration = Duration::from_hours(200 * 365 * 24);
/// Orders that a window should have at least, and at most.
const FEW: i64 = 300;
const MANY: i64 = 1_500;
/// Pages that are kept until they are written, beside the one that is on its way.
const PAGES_AHEAD: usize = 1;
const SECOND: Duration = Duration::from_secs(1);

/// How far the orders are known: all that were created at `before` or later, and the first `offset`
/// that were created before it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) before: Option<String>,
    pub(crate) offset: i64,
}

/// The time of which orders are asked for: how long before a place.
#[derive(Clone, Debug)]
pub(crate) struct Window {
    /// When the first order of the store was created. Nothing if all orders are asked for.
    oldest: Option<Timestamp>,
    length: Duration,
}

impl Window {
    pub(crate) fn since(oldest: Option<Timestamp>) -> Self {
        Self { oldest, length: DAY }
    }

    /// Where the window at a place begins; nothing if it has no end.
    fn start(&self, place: &Place) -> Option<Timestamp> {
        let before = place.before.as_deref().and_then(parsed)?;
        let length = i64::try_from(self.length.as_micros()).ok()?;
        let start = Timestamp::from_micros(before.as_micros().saturating_sub(length));
        self.oldest.filter(|oldest| start > *oldest).map(|_| start)
    }

    /// What is asked for at a place, beside how much of it.
    pub(crate) fn query(&self, place: &Place) -> String {
        let before = place.before.as_deref().map(|before| format!("&before={before}"));
        let after = self.start(place).map(|start| format!("&after={}", written(start)));
        format!(
            "&orderby=date&order=desc&status=any&dates_are_gmt=true{}{}",
            before.unwrap_or_default(),
            after.unwrap_or_default()
        )
    }

    /// The place behind a page, and the window there; nothing if there are no more orders.
    pub(crate) fn behind(&mut self, page: &Page, place: &Place) -> Option<Place> {
        let start = self.start(place);
        if page.items.is_empty() {
            self.length = self.length.saturating_mul(2).min(LONGEST);
            // What was created at the start itself was not asked for.
            let before = Some(written(start?.plus(SECOND)));
            return Some(Place { before, offset: 0 });
        }
        let next = place_behind(&page.items, place);
        // One that does not sort by time is asked for the same until it was all seen.
        if start.is_some() && next.before != place.before {
            match page.total {
                Some(..FEW) => self.length = self.length.saturating_mul(2).min(LONGEST),
                Some(MANY..) => self.length = (self.length / 2).max(SHORTEST),
                _ => {}
            }
        }
        Some(next)
    }
}

/// Where the next page of orders begins. A page that does not tell its times, or is not sorted by
/// them, is passed by the number of its orders.
fn place_behind(items: &[Item], place: &Place) -> Place {
    let times: Option<Vec<Timestamp>> = items.iter().map(created).collect();
    let times = times.filter(|times| times.is_sorted_by(|newer, older| newer >= older));
    let Some(oldest) = times.as_ref().and_then(|times| times.last()) else {
        let offset = place.offset + i64::try_from(items.len()).unwrap_or(0);
        return Place { before: place.before.clone(), offset };
    };
    let of_second = times.iter().flatten().filter(|time| *time == oldest).count();
    let of_second = i64::try_from(of_second).unwrap_or(0);
    // More orders of that second may follow; those that were seen are left out.
    let before = Some(written(oldest.plus(SECOND)));
    let offset = if before == place.before { place.offset + of_second } else { of_second };
    Place { before, offset }
}

/// When an order was created.
pub(crate) fn created(item: &Item) -> Option<Timestamp> {
    parsed(item.get("date_created_gmt").and_then(Value::as_str)?)
}

fn parsed(text: &str) -> Option<Timestamp> {
    Timestamp::parse(&format!("{}Z", text.trim_end_matches('Z')))
}

fn written(time: Timestamp) -> String {
    frame::dates::written(time)
}

/// Pages that are fetched while others are written. Nobody fetches any more when this is dropped.
pub(crate) struct Ahead {
    pages: mpsc::Receiver<Result<Page, Trouble>>,
    _fetching: JoinSet<()>,
}

impl Ahead {
    pub(crate) fn start(source: Arc<Source>, size: u32, from: (Window, Place)) -> Self {
        let (sender, pages) = mpsc::channel(PAGES_AHEAD);
        let mut fetching = JoinSet::new();
        fetching.spawn(fetch(source, size, from, sender));
        Self { pages, _fetching: fetching }
    }

    /// The next page; nothing after the last one, or after one that could not be had.
    pub(crate) async fn next(&mut self) -> Option<Result<Page, Trouble>> {
        self.pages.recv().await
    }
}

async fn fetch(
    source: Arc<Source>,
    size: u32,
    (mut window, mut place): (Window, Place),
    pages: mpsc::Sender<Result<Page, Trouble>>,
) {
    loop {
        let page = source.page(ORDERS, (size, place.offset), &window.query(&place)).await;
        let next = page.as_ref().ok().and_then(|page| window.behind(page, &place));
        if pages.send(page).await.is_err() {
            return;
        }
        let Some(next) = next else { return };
        place = next;
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn page(times: &[Option<&str>]) -> Vec<Item> {
        let order = |(id, time): (usize, Option<&str>)| {
            Item::from_iter([
                (String::from("id"), json!(id)),
                (String::from("date_created_gmt"), json!(time)),
            ])
        };
        times.iter().copied().enumerate().map(order).collect()
    }

    fn place(before: &str, offset: i64) -> Place {
        Place { before: Some(before.to_owned()), offset }
    }

    #[test]
    fn orders_go_on_behind_a_page_whatever_it_tells() {
        let (new, old) = (Some("2026-03-01T10:00:05"), Some("2026-03-01T10:00:00"));
        let behind_old = |offset: i64| place("2026-03-01T10:00:01", offset);
        assert_eq!(place_behind(&page(&[new, old, old]), &Place::default()), behind_old(2));
        // All of the same second as before.
        assert_eq!(place_behind(&page(&[old, old]), &behind_old(2)), behind_old(4));
        // Times that cannot be read, or that are in no order.
        for times in [&[new, None][..], &[None, old], &[Some("soon"), old], &[old, new]] {
            assert_eq!(place_behind(&page(times), &behind_old(3)), behind_old(5), "{times:?}");
        }
    }

    /// A store whose orders were created at these seconds since its first.
    fn walk(seconds: &[i64]) -> (Vec<i64>, usize) {
        let first = Timestamp::parse("2020-01-01T00:00:00Z").unwrap();
        let at = |second: i64| Timestamp::from_micros(first.as_micros() + second * 1_000_000);
        let mut newest_first = seconds.to_vec();
        newest_first.sort_by_key(|second| std::cmp::Reverse(*second));
        let (mut window, mut place) = (Window::since(Some(first)), Place::default());
        let (mut seen, mut questions) = (Vec::new(), 0);
        loop {
            questions += 1;
            let query = window.query(&place);
            let bound = |name: &str| {
                let (_, rest) = query.split_once(&format!("&{name}="))?;
                parsed(rest.split('&').next()?)
            };
            let (after, before) = (bound("after"), bound("before"));
            let is_asked = |second: &&i64| {
                after.is_none_or(|after| at(**second) > after)
                    && before.is_none_or(|before| at(**second) < before)
            };
            let asked: Vec<i64> = newest_first.iter().filter(is_asked).copied().collect();
            let skipped = usize::try_from(place.offset).unwrap();
            let given: Vec<i64> = asked.iter().skip(skipped).take(10).copied().collect();
            let times: Vec<String> = given.iter().map(|second| written(at(*second))).collect();
            let times: Vec<Option<&str>> = times.iter().map(|time| Some(time.as_str())).collect();
            let total = i64::try_from(asked.len()).ok();
            seen.extend(given);
            match window.behind(&Page::new(page(&times), total), &place) {
                Some(next) => place = next,
                None => return (seen, questions),
            }
        }
    }

    #[test]
    fn every_order_is_met_however_they_are_spread() {
        const YEAR: i64 = 365 * 86_400;
        let busy: Vec<i64> = (0..3_000).map(|number| number / 7).collect();
        let sparse: Vec<i64> = (0..40).map(|number| number * 5 * 86_400).collect();
        let with_gaps: Vec<i64> = vec![0, 1, 1, 1, 9 * YEAR, 9 * YEAR + 1, 30 * YEAR];
        for seconds in [busy, sparse, with_gaps, vec![0], vec![0; 35]] {
            let (mut seen, questions) = walk(&seconds);
            seen.sort_unstable();
            seen.dedup();
            let mut all = seconds.clone();
            all.dedup();
            assert_eq!(seen, all);
            let pages = seconds.len().div_ceil(10);
            assert!(questions <= pages * 2 + 40, "{questions} questions for {pages} pages");
        }
    }
}
