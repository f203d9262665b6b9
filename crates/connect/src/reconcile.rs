//! Compares a copy with its store, for what neither webhooks nor the times of changes tell: records
//! that were deleted for good, and a store that was restored from an old backup. **The store is
//! right**: what differs is read from it again, counted and shown.
//!
//! Orders are compared month by month, first how many there are and what they come to; only months
//! that differ are looked at order by order. Products, customers and coupons are compared by their
//! numbers.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::atomic::Ordering;

use commerce::ingest::RecordKind;
use commerce::ingest::shop::{LISTS, List};
use serde_json::Value;
use types::Timestamp;

use crate::backwards::ORDERS;
use crate::copy::{Pages, copy_settings, list_of, write_with_below};
use crate::days::FIRST;
use crate::follow::{hints, look_at};
use crate::source::{Item, Trouble, id_of};
use crate::work::{Comparison, Halt, Work};

const SECOND_US: i64 = 1_000_000;
/// So many looks in a row that found less there than here, and the two are compared.
const SUSPICIONS_MAX: u32 = 2;
/// Turns in which a store cannot give what it is compared by, before that is given up.
const FAILURES_MAX: i64 = 3;
/// Records that were left out and are looked at together.
const SKIPPED_AT_ONCE: usize = 5;
/// The tax class that every store has.
const STANDARD: &str = "standard";
/// Orders that are compared together.
const SLICE_ORDERS: i64 = 500;
/// Records of one question.
const PAGE: usize = 100;
const PAGE_ITEMS: u32 = 100;
/// The last time that anything can have happened at; the first is [`FIRST`].
const LAST: &str = "2100-01-01T00:00:00";
/// Small lists that are read again as a whole.
const SMALL: [RecordKind; 6] = [
    RecordKind::TaxRate,
    RecordKind::ShippingClass,
    RecordKind::Category,
    RecordKind::Tag,
    RecordKind::Attribute,
    RecordKind::TaxClass,
];

/// What tells one version of a record from another: when it was changed, and what a store changes
/// without noting when.
const VERSION: [&str; 7] = [
    "status",
    "date_modified_gmt",
    "variations",
    "total_sales",
    "stock_quantity",
    "usage_count",
    "is_paying_customer",
];

/// By the number of the record, a hash of that: a store may write as much as it likes.
type Versions = BTreeMap<i64, u64>;

/// Compares, if there was no comparison yet, the last one was long enough ago, or the store looks
/// as if it had lost records.
pub(crate) async fn run_if_due(work: &mut Work) -> Result<(), Halt> {
    let now = work.now();
    let is_suspected = work.cursor.suspicions >= SUSPICIONS_MAX && !work.is_in_vain();
    let often = work.stores.settings.reconcile();
    // What changed while the first copy was made is found as soon as it is complete.
    let is_due = work.row.reconciled.is_none_or(|last| now.since(last) >= often);
    if !is_due && !is_suspected && work.cursor.comparison.is_none() {
        return Ok(());
    }
    let every = is_suspected;
    work.cursor.comparison.get_or_insert(Comparison { every, ..Comparison::default() });
    let was_given_up = tried(work).await?;
    let Comparison { every, differed, .. } = work.cursor.comparison.take().unwrap_or_default();
    work.row.drift = differed;
    work.row.reconciled = Some(now);
    work.cursor.suspicions = 0;
    if every {
        // What the last one did not settle, the next one does not settle either.
        let is_vain = differed == 0 || was_given_up || work.is_recent(work.cursor.compared);
        work.cursor.vain = is_vain.then_some(now.as_micros());
        work.cursor.compared = Some(now.as_micros());
    }
    let added = u64::try_from(differed).unwrap_or_default();
    work.stores.drift.fetch_add(added, Ordering::Relaxed);
    work.save().await
}

/// Compares, and says whether that was given up: what a store cannot give is not what keeps it from
/// being followed.
async fn tried(work: &mut Work) -> Result<bool, Halt> {
    match run(work).await {
        Err(Halt::Trouble(trouble)) if trouble.code.is_of_page() => {
            note(work, |comparison| comparison.failures += 1);
            let failures = work.cursor.comparison.as_ref().map_or(0, |one| one.failures);
            if failures < FAILURES_MAX {
                work.save().await?;
                return Err(trouble.into());
            }
            tracing::info!(
                connection = work.row.connection_id,
                code = trouble.code.name(),
                "a copy could not be compared with its store"
            );
            Ok(true)
        }
        ended => ended.map(|()| false),
    }
}

/// Kinds that are compared by their numbers, and what the store is asked for of each.
const NUMBERED: [(RecordKind, &[&str]); 3] = [
    (RecordKind::Product, STATUSES),
    (RecordKind::Coupon, STATUSES),
    (RecordKind::Customer, &[""]),
];
const STATUSES: &[&str] = &["&status=any", "&status=trash"];

/// Compares everything. It goes on where another turn ended.
async fn run(work: &mut Work) -> Result<(), Halt> {
    let small = LISTS.iter().filter(|list| SMALL.contains(&list.kind));
    let parts = small.map(Part::Small).chain(NUMBERED.map(Part::Numbered));
    let parts = std::iter::once(Part::Settings).chain(parts).chain([Part::Orders]);
    let parts: Vec<Part> = parts.collect();
    let done = work.cursor.comparison.as_ref().map_or(0, |comparison| comparison.step);
    for part in parts.into_iter().skip(done) {
        let differed = match part {
            Part::Settings => copy_settings(work).await.map(|()| 0)?,
            Part::Small(list) => read_small(work, list).await?,
            Part::Numbered((kind, statuses)) => {
                look_at_skipped(work, kind).await?;
                compare(work, kind, ("orderby=id&order=asc", statuses)).await?
            }
            Part::Orders => compare_orders(work).await.map(|()| 0)?,
        };
        note(work, |comparison| {
            comparison.step += 1;
            comparison.differed += differed;
        });
        work.save_in_turn().await?;
    }
    Ok(())
}

/// What is compared.
enum Part {
    Settings,
    Small(&'static List),
    Numbered((RecordKind, &'static [&'static str])),
    Orders,
}

fn note(work: &mut Work, note: impl FnOnce(&mut Comparison)) {
    note(work.cursor.comparison.get_or_insert_default());
}

/// Compares orders month by month.
async fn compare_orders(work: &mut Work) -> Result<(), Halt> {
    look_at_skipped(work, RecordKind::Order).await?;
    let Some((theirs, ours)) = monthly(work).await? else {
        let differed = compare_span(work, (FIRST, LAST)).await?;
        note(work, |comparison| comparison.differed += differed);
        return Ok(());
    };
    let Comparison { every, until, .. } = work.cursor.comparison.clone().unwrap_or_default();
    let mut months: BTreeSet<_> = theirs.keys().chain(ours.keys()).collect();
    months.retain(|(_, end)| *end > until);
    for month in months {
        let is_same = !every && theirs.get(month) == ours.get(month);
        let (there, here) = counts_of(work, month).await?;
        if !is_same || there != here {
            let mut slices = slices(month, there.max(here).unwrap_or_default());
            slices.retain(|(_, end)| *end > until);
            for span in slices {
                hints(work).await?;
                let differed = compare_span(work, (&span.0, &span.1)).await?;
                note(work, |comparison| {
                    comparison.differed += differed;
                    comparison.until = span.1;
                });
                work.save_in_turn().await?;
            }
        }
        note(work, |comparison| comparison.until.clone_from(&month.1));
        work.save_in_turn().await?;
    }
    Ok(())
}

async fn compare_span(work: &mut Work, (after, before): (&str, &str)) -> Result<i64, Halt> {
    let query = format!("orderby=id&order=asc&after={after}&before={before}&dates_are_gmt=true");
    compare(work, RecordKind::Order, (&query, STATUSES)).await
}

/// How many orders of a span of time, in GMT, the store and the copy have.
async fn counts_of(work: &Work, (start, end): &Span) -> Result<(Option<i64>, Option<i64>), Halt> {
    let query =
        format!("per_page=1&_fields=id&status=any&after={start}&before={end}&dates_are_gmt=true");
    let there = work.source.list(ORDERS, &query).await?.total;
    Ok((there, work.ask(&format!("/wc/v3/orders?{query}")).await?.0))
}

/// Parts of a span with a moderate number of orders each, if they are spread evenly. Bounds do not
/// belong to a span, so that each begins a second before the last one ends.
fn slices((start, end): &Span, orders: i64) -> Vec<Span> {
    let time = |text: &str| Timestamp::parse(&format!("{text}Z")).map(Timestamp::as_micros);
    let (Some(first), Some(last)) = (time(start), time(end)) else {
        return vec![(start.clone(), end.clone())];
    };
    let count = (orders / SLICE_ORDERS + 1).min((last - first) / (2 * SECOND_US)).max(1);
    let bound = |place: i64| (last - first) / count * place / SECOND_US * SECOND_US + first;
    let written = |us: i64| frame::dates::written(Timestamp::from_micros(us));
    let slice = |place: i64| {
        let end = if place + 1 == count { last } else { bound(place + 1) + SECOND_US };
        (written(bound(place)), written(end))
    };
    (0..count).map(slice).collect()
}

/// Looks at some of what was left out, since most of what is in the way passes. Others are next.
pub(crate) async fn look_at_some_skipped(work: &mut Work) -> Result<(), Halt> {
    let count = work.cursor.skipped.len().min(SKIPPED_AT_ONCE);
    work.cursor.skipped.rotate_left(count);
    let looked_at = work.cursor.skipped.iter().rev().take(count);
    let looked_at: Vec<(String, i64)> =
        looked_at.map(|skipped| (skipped.kind.clone(), skipped.id)).collect();
    for list in LISTS {
        let of_kind = looked_at.iter().filter(|(kind, _)| kind == list.kind.name());
        let ids: Vec<i64> = of_kind.map(|(_, id)| *id).collect();
        if SMALL.contains(&list.kind) && !ids.is_empty() {
            read_small(work, list).await?;
        } else {
            let ids: Vec<i64> = ids.into_iter().filter(|id| *id > 0).collect();
            look_at(work, list, &ids).await?;
        }
    }
    Ok(())
}

/// What could not be read before may be read now.
async fn look_at_skipped(work: &mut Work, kind: RecordKind) -> Result<(), Halt> {
    let of_kind = work.cursor.skipped.iter().filter(|skipped| skipped.kind == kind.name());
    let ids: Vec<i64> = of_kind.map(|skipped| skipped.id).filter(|id| *id > 0).collect();
    look_at(work, list_of(kind), &ids).await
}

/// Reads a small list again, and deletes what is not in it any more. Returns how many that were.
async fn read_small(work: &mut Work, list: &List) -> Result<i64, Halt> {
    let name = |item: &Item| {
        let name = item.get("id").or_else(|| item.get("slug")).cloned().unwrap_or_default();
        name.as_str().map_or_else(|| name.to_string(), str::to_owned)
    };
    let path = format!("wc/v3/{}", list.path);
    let all = work.source.all(&path, work.size()).await?;
    let mut missing = Vec::new();
    let mut kept: BTreeSet<String> = all.iter().map(name).collect();
    let here = work.list_here(&path).await?;
    if here.iter().map(name).any(|known| !kept.contains(&known)) {
        // One that was deleted between two pages moved another out of sight.
        kept.extend(work.source.all(&path, work.size()).await?.iter().map(name));
    }
    for known in here.iter().map(name) {
        if !kept.contains(&known) && known != STANDARD {
            missing.push((list.kind, format!("{}/{known}", list.path)));
        } else if let Some((kind, below)) = list.below {
            let below = format!("{}/{known}/{below}", list.path);
            let there = work.source.all(&format!("wc/v3/{below}"), work.size()).await?;
            let there: BTreeSet<String> = there.iter().map(name).collect();
            let here = work.list_here(&format!("wc/v3/{below}?_fields=id")).await?;
            let here = here.iter().map(name).filter(|id| !there.contains(id));
            missing.extend(here.map(|id| (kind, format!("{below}/{id}"))));
        }
    }
    write_with_below(work, list, commerce::ingest::shop::from_the_top(all)).await?;
    let count = i64::try_from(missing.len()).unwrap_or(i64::MAX);
    for (kind, path) in missing {
        work.delete(kind, vec![path]).await?;
    }
    Ok(count)
}

/// What orders come to by month, by the start and the end of the month.
type Months = BTreeMap<Span, Value>;

/// What is between two times, in GMT.
type Span = (String, String);

/// Of the store and of the copy; nothing if the store does not have such reports.
async fn monthly(work: &mut Work) -> Result<Option<(Months, Months)>, Halt> {
    let oldest = "per_page=1&orderby=date&order=asc&status=any&_fields=date_created";
    let there = work.source.list(ORDERS, oldest).await?.items;
    let here = work.ask(&format!("/wc/v3/orders?{oldest}")).await?.1;
    let day = |item: &Value| {
        let text = item.get("date_created").and_then(Value::as_str)?;
        let day = text.split('T').next()?;
        Timestamp::parse(&format!("{day}T00:00:00Z")).map(|_| day.to_owned())
    };
    let first = there.into_iter().map(Value::Object).chain(here.get(0).cloned());
    let Some(first) = first.filter_map(|item| day(&item)).min() else { return Ok(None) };
    // A time long past is none.
    let first = format!("{first}T00:00:00").max(FIRST.to_owned());
    let end = frame::dates::written(work.source.now());
    let query = format!(
        "interval=month&order=asc&per_page={PAGE}&after={first}&before={end}\
         &force_cache_refresh=true"
    );
    let path = "wc-analytics/reports/orders/stats";
    let theirs = match work.source.one(&format!("{path}?{query}")).await {
        Ok(Some(report)) => months(&Value::Object(report)),
        Ok(None) | Err(Trouble { status: 401 | 403 | 404, .. }) => return Ok(None),
        // Orders can be compared without.
        Err(trouble) if trouble.code.is_of_page() => return Ok(None),
        Err(trouble) => return Err(trouble.into()),
    };
    let ours = months(&work.ask(&format!("/{path}?{query}")).await?.1);
    // Reports by month say nothing if there are more months than a page holds.
    Ok((theirs.len() < PAGE).then_some((theirs, ours)))
}

fn months(report: &Value) -> Months {
    let intervals = report.get("intervals").and_then(Value::as_array);
    let text = |interval: &Value, name: &str| {
        interval.get(name).and_then(Value::as_str).unwrap_or_default().replace(' ', "T")
    };
    let sums = |interval: &Value| interval.get("subtotals").cloned().unwrap_or_default();
    // What happened at the first and at the last second belongs to the month as well, and bounds
    // of a question do not belong to what is asked for.
    let month = |interval: &Value| {
        let start = moved(&text(interval, "date_start_gmt"), -SECOND_US)?;
        let end = moved(&text(interval, "date_end_gmt"), SECOND_US)?;
        Some(((start, end), sums(interval)))
    };
    intervals.into_iter().flatten().filter_map(month).collect()
}

/// A time, by so much later; nothing of what is none.
fn moved(text: &str, by_us: i64) -> Option<String> {
    let time = Timestamp::parse(&format!("{text}Z"))?;
    let later = Timestamp::from_micros(time.as_micros().saturating_add(by_us));
    Some(frame::dates::written(later))
}

/// Compares records of a kind one by one, and reads those again that differ.
async fn compare(
    work: &mut Work,
    kind: RecordKind,
    (query, statuses): (&str, &[&str]),
) -> Result<i64, Halt> {
    let list = list_of(kind);
    let (mut theirs, mut ours) = (Versions::new(), Versions::new());
    work.heard_of.clear();
    for status in statuses {
        let query = format!("{query}{status}&_fields=id,{}", VERSION.join(","));
        let question = format!("wc/v3/{}?{query}", list.path);
        // Not every store has such a state of every kind.
        let Some(there) = versions_there(work, &question).await? else { continue };
        theirs.extend(there);
        ours.extend(versions_here(work, &question).await?);
    }
    let of_kind = work.cursor.skipped.iter().filter(|skipped| skipped.kind == kind.name());
    let skipped: Vec<i64> = of_kind.map(|skipped| skipped.id).collect();
    let all: BTreeSet<i64> = theirs.keys().chain(ours.keys()).copied().collect();
    // What was told of meanwhile was read again, later than one of the two or both.
    let is_known = |id: &i64| skipped.contains(id) || work.heard_of.contains(&(kind, *id));
    let differs = |id: &i64| theirs.get(id) != ours.get(id) && !is_known(id);
    let ids: Vec<i64> = all.into_iter().filter(differs).collect();
    for ids in ids.chunks(PAGE) {
        look_at(work, list, ids).await?;
        work.save().await?;
    }
    if !ids.is_empty() {
        tracing::info!(
            connection = work.row.connection_id,
            kind = kind.name(),
            count = ids.len(),
            "records of a copy differed from their store and were read again"
        );
    }
    Ok(i64::try_from(ids.len()).unwrap_or(i64::MAX))
}

/// Nothing if the store does not understand the question.
async fn versions_there(work: &mut Work, question: &str) -> Result<Option<Versions>, Halt> {
    let (path, query) = question.split_once('?').unwrap_or((question, ""));
    let (mut versions, mut offset, mut pages) = (Versions::new(), 0, Pages::default());
    let query = &format!("&{query}");
    loop {
        let items = match work.source.page(path, (PAGE_ITEMS, offset), query).await {
            Ok(page) => page.items,
            Err(Trouble { status: 400, .. }) => return Ok(None),
            Err(trouble) => return Err(trouble.into()),
        };
        pages.check(&items)?;
        versions.extend(items.iter().map(version));
        offset += i64::try_from(items.len()).unwrap_or(i64::MAX);
        work.check_size(offset)?;
        if items.len() < PAGE {
            return Ok(Some(versions));
        }
        work.save().await?;
        // Who changes something meanwhile does not wait until all is compared.
        hints(work).await?;
    }
}

async fn versions_here(work: &mut Work, question: &str) -> Result<Versions, Halt> {
    let (mut versions, mut offset) = (Versions::new(), 0);
    loop {
        let items = work.page_here(question, offset).await?;
        versions.extend(items.iter().map(version));
        offset += items.len();
        if items.len() < PAGE {
            return Ok(versions);
        }
        hints(work).await?;
    }
}

fn version(item: &Item) -> (i64, u64) {
    let mut hasher = DefaultHasher::new();
    for name in VERSION {
        let value = item.get(name).unwrap_or(&Value::Null);
        // A number is the same number where it is written as a text.
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        text.hash(&mut hasher);
    }
    (id_of(item), hasher.finish())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slices_of_a_month_leave_no_second_out() {
        let month = (String::from("2026-02-28T23:59:59"), String::from("2026-04-01T00:00:00"));
        assert_eq!(slices(&month, 499), vec![month.clone()]);
        let parts = slices(&month, 2_250);
        assert_eq!(parts.len(), 5);
        assert_eq!((&parts[0].0, &parts[4].1), (&month.0, &month.1));
        for pair in parts.windows(2) {
            // Neither bound belongs to its part.
            assert_eq!(moved(&pair[1].0, SECOND_US).as_ref(), Some(&pair[0].1));
        }
        let second = (String::from("2026-03-01T00:00:00"), String::from("2026-03-01T00:00:02"));
        assert_eq!(slices(&second, 9_000), vec![second.clone()]);
        let unknown = (String::from("soon"), String::from("later"));
        assert_eq!(slices(&unknown, 9_000), vec![unknown.clone()]);
    }
}
