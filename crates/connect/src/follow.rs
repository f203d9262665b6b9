//! What changes at a store after the first copy. **An event only says what to look at**: the record
//! is read from the store, and what the store does not have any more is deleted here, so that the
//! order in which events arrive does not matter. What no event told of is found by asking for what
//! was modified; the time that is asked for overlaps, and is that of the store's clock.

use std::collections::HashSet;
use std::time::Duration;

use commerce::ingest::RecordKind;
use commerce::ingest::shop::List;
use db::Conn;
use onboarding::rows::connection::{self, ConnectionStatus, Hint};
use serde_json::{Value, json};
use shop_rows::{order, product};
use site_rows::term;
use types::Timestamp;

use crate::copy::{Pages, counted, list_of, page_at, write_with_below};
use crate::source::{Code, Item, Trouble, id_of};
use crate::stores::READER_ID;
use crate::touched::Touched;
use crate::work::{Halt, Look, Work};

/// Hints that are looked at together, and how often, before something else has its turn: a store
/// that always tells of something is asked for the rest as well.
const HINTS_AT_ONCE: i64 = 500;
const HINTS_ROUNDS: usize = 20;
/// What changed so long before the last look is asked for again.
const OVERLAP_US: i64 = 15 * 1_000_000;
/// A clock that is so far from where it was has been set.
const CLOCK_STEP_US: i64 = 2 * 1_000_000;
/// So many polls, and the store is looked at for what no change tells.
const POLLS_OF_CHECK: u32 = 5;
/// What is due so soon is due.
const SLACK: Duration = Duration::from_millis(100);
/// Kinds that a store can be asked about by the time of their last change.
const CHANGING: [RecordKind; 3] = [RecordKind::Product, RecordKind::Coupon, RecordKind::Order];
/// What a store is asked for of each of them.
const STATUSES: [&str; 2] = ["any", "trash"];

/// The kind that the name of a webhook's resource means.
pub(crate) fn kind_of(resource: &str) -> Option<RecordKind> {
    let kinds = [RecordKind::Order, RecordKind::Product, RecordKind::Customer, RecordKind::Coupon];
    kinds.into_iter().find(|kind| kind.name() == resource)
}

/// Whether the store is to be asked for what changed. A look at what webhooks told of is not one.
pub(crate) fn is_due(work: &Work) -> bool {
    let is_live = work.row.failures == 0 && work.row.status == ConnectionStatus::Live;
    !is_live || work.cursor.version != work.row.version || has_passed(work, work.cursor.polled, 1)
}

/// Whether the store is to be looked at for what no change tells.
pub(crate) fn is_check_due(work: &Work) -> bool {
    (work.cursor.suspicions > 0 && !work.is_in_vain())
        || work.cursor.version != work.row.version
        || has_passed(work, work.cursor.checked, POLLS_OF_CHECK)
}

/// Whether so many polls could have been made since then. A clock that was set back tells nothing.
fn has_passed(work: &Work, then: Option<i64>, polls: u32) -> bool {
    let now = work.now();
    then.map(Timestamp::from_micros).is_none_or(|then| {
        then > now || now.since(then) + SLACK >= work.stores.settings.poll() * polls
    })
}

/// Asks the store for what changed.
pub(crate) async fn run(work: &mut Work) -> Result<(), Halt> {
    let mut look = work.cursor.look.unwrap_or_else(|| {
        work.cursor.offset = 0;
        Look { asked: work.now().as_micros(), step: 0 }
    });
    work.cursor.look = Some(look);
    let Look { asked, step } = look;
    let since = Timestamp::from_micros(work.cursor.since.unwrap_or(0));
    let questions = CHANGING.iter().flat_map(|kind| STATUSES.map(|status| (*kind, status)));
    let questions: Vec<(RecordKind, &str)> = questions.skip(step).collect();
    for (kind, status) in questions {
        follow_changes(work, list_of(kind), status, since).await?;
        look.step += 1;
        (work.cursor.look, work.cursor.offset) = (Some(look), 0);
        // What webhooks tell meanwhile does not wait.
        hints(work).await?;
    }
    follow_new_customers(work).await?;
    work.cursor.look = None;
    let ahead = work.source.ahead_us();
    let mut since = asked + ahead - OVERLAP_US;
    if ahead < work.cursor.ahead - CLOCK_STEP_US {
        // The store's clock was set back, at some time after the last look: what changed since
        // then has times that seem to be long past.
        since -= asked.saturating_sub(work.cursor.polled.unwrap_or(asked)).max(0);
    }
    work.cursor.since = Some(since);
    work.cursor.ahead = ahead;
    work.cursor.polled = Some(asked);
    work.cursor.version = work.row.version;
    work.row.last_success = Some(work.now());
    work.set_status(ConnectionStatus::Live);
    work.save().await
}

/// Whether webhooks told of something that nobody has looked at.
pub(crate) async fn has_hints(work: &Work) -> Result<bool, Halt> {
    let row = work.row.clone();
    let read = move |conn: &mut dyn Conn| connection::hints(conn, &row, 1);
    Ok(!work.stores.platform.store.read(read).await?.is_empty())
}

/// Looks at what webhooks told of, and at some of what they tell meanwhile.
pub(crate) async fn hints(work: &mut Work) -> Result<(), Halt> {
    for round in 0..HINTS_ROUNDS {
        let row = work.row.clone();
        let read = move |conn: &mut dyn Conn| connection::hints(conn, &row, HINTS_AT_ONCE);
        let hints = work.stores.platform.store.read(read).await?;
        if hints.is_empty() || (round > 0 && work.is_turn_over()) {
            return Ok(());
        }
        for kind in
            [RecordKind::Customer, RecordKind::Product, RecordKind::Coupon, RecordKind::Order]
        {
            let of_kind = |hint: &&Hint| kind_of(&hint.resource) == Some(kind);
            let ids: Vec<i64> = hints.iter().filter(of_kind).map(|hint| hint.object_id).collect();
            work.heard_of.extend(ids.iter().map(|id| (kind, *id)));
            look_at(work, list_of(kind), &ids).await?;
        }
        let row = work.row.clone();
        let forget = move |conn: &mut dyn Conn| connection::forget_hints(conn, &row, &hints);
        work.stores.platform.store.write(forget).await?;
        work.save().await?;
    }
    Ok(())
}

/// Reads records of these numbers from the store; deletes those that it does not have.
pub(crate) async fn look_at(work: &mut Work, list: &List, ids: &[i64]) -> Result<(), Halt> {
    let size = usize::try_from(work.size()).unwrap_or(1);
    let is_theirs = |id: &&i64| list.kind != RecordKind::Customer || **id < READER_ID;
    let ids: Vec<i64> = ids.iter().filter(is_theirs).copied().collect();
    for ids in ids.chunks(size) {
        let mut found = look_at_many(work, list, ids).await?;
        let listed: HashSet<i64> = found.iter().map(id_of).collect();
        let mut missing = Vec::new();
        for id in ids.iter().filter(|id| !listed.contains(id)) {
            match look_at_one(work, list, *id).await? {
                Looked::Found(item) => found.push(item),
                Looked::Missing => missing.push(*id),
                Looked::Skipped => {}
            }
        }
        take(work, list, found).await?;
        work.unskip(list.kind, &missing.iter().copied().collect());
        let touched = touched_by(work, list, &[], &missing).await?;
        let paths = missing.iter().map(|id| format!("{}/{id}", list.path)).collect();
        work.delete(list.kind, paths).await?;
        read_again(work, touched).await?;
    }
    Ok(())
}

async fn touched_by(
    work: &Work,
    list: &List,
    items: &[Item],
    deleted: &[i64],
) -> Result<Touched, Halt> {
    match list.kind {
        RecordKind::Order => Ok(Touched::by(work, items, deleted).await?),
        _ => Ok(Touched::default()),
    }
}

async fn read_again(work: &mut Work, touched: Touched) -> Result<(), Halt> {
    for (kind, ids) in touched.known(work).await? {
        // None of them leads to orders again.
        Box::pin(look_at(work, list_of(kind), &ids)).await?;
    }
    Ok(())
}

/// Those that the store lists. What is in the trash is not listed, and whatever else is not is
/// asked for one by one.
async fn look_at_many(work: &mut Work, list: &List, ids: &[i64]) -> Result<Vec<Item>, Halt> {
    if ids.len() < 2 {
        return Ok(Vec::new());
    }
    let status = if list.kind == RecordKind::Customer { "" } else { "&status=any" };
    let wanted: Vec<String> = ids.iter().map(i64::to_string).collect();
    let query = format!("per_page={}&include={}{status}", ids.len(), wanted.join(","));
    match work.source.list(&format!("wc/v3/{}", list.path), &query).await {
        Ok(page) => Ok(page.items.into_iter().filter(|item| ids.contains(&id_of(item))).collect()),
        Err(trouble) if trouble.code.is_of_page() => Ok(Vec::new()),
        Err(trouble) => Err(trouble.into()),
    }
}

/// What a look at one record came to.
enum Looked {
    Found(Item),
    Missing,
    Skipped,
}

async fn look_at_one(work: &mut Work, list: &List, id: i64) -> Result<Looked, Halt> {
    let above = match list.kind {
        RecordKind::Product => product_above(work, id).await?,
        _ => None,
    };
    let read = format!("wc/v3/{}/{}", list.path, above.unwrap_or(id));
    match work.source.one(&read).await {
        Ok(Some(item)) if item.get("type") == Some(&json!("variation")) => {
            let above = item.get("parent_id").and_then(Value::as_i64).unwrap_or_default();
            let product = work.source.one(&format!("wc/v3/{}/{above}", list.path)).await?;
            Ok(product.map_or(Looked::Missing, Looked::Found))
        }
        Ok(Some(item)) => Ok(Looked::Found(item)),
        Ok(None) => Ok(Looked::Missing),
        // A store that gives others cannot give this one.
        Err(trouble) if trouble.code.is_of_page() => {
            let others = format!("wc/v3/{}", list.path);
            work.source.list(&others, "per_page=1&_fields=id").await?;
            work.skip(list.kind, id, trouble.code.message());
            Ok(Looked::Skipped)
        }
        Err(trouble) => Err(trouble.into()),
    }
}

/// The product of which the copy has a variation of this number.
async fn product_above(work: &Work, id: i64) -> Result<Option<i64>, Halt> {
    let row = work.store.site.store().read(move |conn| product::get(conn, id)).await?;
    Ok(row.map(|row| row.parent_id).filter(|above| *above > 0))
}

/// Looks for signs of what neither webhooks nor times of changes tell: records that were deleted
/// for good, and a store that was restored from a backup. There are fewer records there than here
/// then, or the newest change there is older than the newest here. Two looks in a row must say so,
/// since changes may be on their way.
pub(crate) async fn look_for_gaps(work: &mut Work) -> Result<(), Halt> {
    let (mut is_suspicious, mut records) = (false, 0);
    for (kind, query) in [
        (RecordKind::Order, "orderby=modified&order=desc&status=any"),
        (RecordKind::Product, "orderby=modified&order=desc&status=any"),
        (RecordKind::Coupon, "orderby=modified&order=desc&status=any"),
        (RecordKind::Customer, "orderby=id&order=desc"),
    ] {
        let path = format!("wc/v3/{}", list_of(kind).path);
        let query = format!("{query}&per_page=1&_fields=id,date_modified_gmt");
        let there = match work.source.list(&path, &query).await {
            Ok(page) => page,
            // An older store does not sort like that, and one may not be able to give its newest.
            Err(trouble) if trouble.status == 400 || trouble.code.is_of_page() => continue,
            Err(trouble) => return Err(trouble.into()),
        };
        let (total, here) = work.ask(&format!("/{path}?{query}")).await?;
        records += total.unwrap_or(0);
        let newest = |item: Option<&Value>| {
            let time = item.and_then(|item| item.get("date_modified_gmt")).and_then(Value::as_str);
            time.map(str::to_owned)
        };
        let is_older = || {
            let there = there.items.first().cloned().map(Value::Object);
            newest(there.as_ref()) < newest(here.get(0))
        };
        let is_less = there.total.is_some_and(|there| total.is_some_and(|here| there < here));
        is_suspicious |= is_less || (kind != RecordKind::Customer && is_older());
    }
    work.check_size(records)?;
    work.cursor.checked = Some(work.now().as_micros());
    work.cursor.suspicions = if is_suspicious { work.cursor.suspicions + 1 } else { 0 };
    work.save().await
}

/// What the store says was modified since then.
async fn follow_changes(
    work: &mut Work,
    list: &List,
    status: &str,
    since: Timestamp,
) -> Result<(), Halt> {
    let after = frame::dates::written(since);
    let query =
        format!("&orderby=id&order=asc&status={status}&modified_after={after}&dates_are_gmt=true");
    let mut pages = Pages::default();
    loop {
        let size = work.size();
        let page = match page_at(work, list.kind, &format!("wc/v3/{}", list.path), &query).await {
            Ok(Some(page)) => page,
            Ok(None) => continue,
            // Not every store has such a state of every kind.
            Err(Halt::Trouble(Trouble { status: 400, .. })) if status == "trash" => return Ok(()),
            Err(halt) => return Err(halt),
        };
        let count = page.items.len();
        pages.check(&page.items)?;
        take(work, list, page.items).await?;
        if count < usize::try_from(size).unwrap_or(usize::MAX) {
            return Ok(());
        }
        work.cursor.offset += i64::try_from(count).unwrap_or(0);
        work.check_size(work.cursor.offset)?;
        work.save_in_turn().await?;
        // There may be many, and what webhooks tell meanwhile does not wait.
        hints(work).await?;
    }
}

/// Customers have no time of their last change; new ones have the greatest numbers.
async fn follow_new_customers(work: &mut Work) -> Result<(), Halt> {
    let list = list_of(RecordKind::Customer);
    loop {
        let query = "&orderby=id&order=desc";
        let page = page_at(work, list.kind, "wc/v3/customers", query).await?;
        let Some(page) = page else { continue };
        let count = page.items.len();
        let unknown = work.unknown(RecordKind::Customer, ids(&page.items)).await?;
        let new: Vec<Item> =
            page.items.into_iter().filter(|item| unknown.contains(&id_of(item))).collect();
        let are_all_new = !new.is_empty() && new.len() == count;
        take(work, list, new).await?;
        if !are_all_new {
            return Ok(());
        }
        work.cursor.offset += i64::try_from(count).unwrap_or(0);
        work.check_size(work.cursor.offset)?;
        work.save_in_turn().await?;
    }
}

/// Takes records in, after what they refer to.
pub(crate) async fn take(work: &mut Work, list: &List, items: Vec<Item>) -> Result<(), Halt> {
    if items.is_empty() {
        return Ok(());
    }
    match list.kind {
        RecordKind::Product => take_terms(work, &items).await?,
        RecordKind::Order => take_references(work, &items).await?,
        _ => {}
    }
    let (kind, deleted) = match list.kind {
        RecordKind::Order => (RecordKind::Refund, deleted_refunds(work, &items).await?),
        RecordKind::Product => (RecordKind::Variation, deleted_variations(work, &items).await?),
        kind => (kind, Vec::new()),
    };
    let touched = touched_by(work, list, &items, &[]).await?;
    let is_order = list.kind == RecordKind::Order;
    let has_new = is_order && !work.unknown(list.kind, ids(&items)).await?.is_empty();
    write_with_below(work, list, items).await?;
    if has_new {
        work.counts.insert(counted(RecordKind::Order), count_orders(work).await?);
    }
    work.delete(kind, deleted).await?;
    read_again(work, touched).await
}

async fn count_orders(work: &Work) -> Result<i64, Halt> {
    let count = |conn: &mut dyn Conn| {
        let counts = order::count_by_status(conn, order::OrderKind::Order)?;
        Ok(counts.into_iter().map(|(_, count)| count).sum())
    };
    Ok(work.store.site.store().read(count).await?)
}

fn ids(items: &[Item]) -> HashSet<i64> {
    items.iter().map(id_of).collect()
}

/// Numbers in a list of objects.
fn numbers<'i>(item: &'i Item, list: &str, member: &'i str) -> impl Iterator<Item = i64> + 'i {
    let list = item.get(list).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    list.iter().filter_map(move |inner| inner.get(member).and_then(Value::as_i64))
}

/// Categories and tags that products have and the copy has not.
async fn take_terms(work: &mut Work, items: &[Item]) -> Result<(), Halt> {
    for (kind, member) in [(RecordKind::Category, "categories"), (RecordKind::Tag, "tags")] {
        let wanted: HashSet<i64> =
            items.iter().flat_map(|item| numbers(item, member, "id")).collect();
        let missing = move |conn: &mut dyn Conn| {
            for id in &wanted {
                if term::get(conn, *id)?.is_none() {
                    return Ok(true);
                }
            }
            Ok(false)
        };
        // A store that does not list them all is asked once in a turn.
        let is_missing = work.store.site.store().read(missing).await?;
        if is_missing && work.has_read.insert(kind.name()) {
            let list = list_of(kind);
            let all = work.source.all(&format!("wc/v3/{}", list.path), work.size()).await?;
            write_with_below(work, list, commerce::ingest::shop::from_the_top(all)).await?;
        }
    }
    Ok(())
}

/// Customers and products that orders refer to and the copy has not.
async fn take_references(work: &mut Work, items: &[Item]) -> Result<(), Halt> {
    let customers = items.iter().filter_map(|item| item.get("customer_id")?.as_i64()).collect();
    let products = items.iter().flat_map(|item| numbers(item, "line_items", "product_id"));
    let products: HashSet<i64> = products.collect();
    for (kind, wanted) in [(RecordKind::Customer, customers), (RecordKind::Product, products)] {
        let list = list_of(kind);
        for id in work.unknown(kind, wanted).await? {
            // One that was deleted at the store is missing there as well.
            let item = match work.source.one(&format!("wc/v3/{}/{id}", list.path)).await {
                Err(Trouble { code: Code::TooLarge, .. }) => {
                    work.skip(kind, id, Code::TooLarge.message());
                    None
                }
                item => item?,
            };
            if let Some(item) = item {
                if kind == RecordKind::Product {
                    take_terms(work, std::slice::from_ref(&item)).await?;
                }
                write_with_below(work, list, vec![item]).await?;
            }
        }
    }
    Ok(())
}

/// Refunds of the copy that the orders do not have any more, by their paths.
async fn deleted_refunds(work: &Work, items: &[Item]) -> Result<Vec<String>, Halt> {
    let orders: Vec<i64> = items.iter().map(id_of).collect();
    let kept: HashSet<i64> = items.iter().flat_map(|item| numbers(item, "refunds", "id")).collect();
    let read = move |conn: &mut dyn Conn| order::refunds_of(conn, &orders);
    let refunds = work.store.site.store().read(read).await?;
    let deleted = refunds.into_iter().filter(|refund| !kept.contains(&refund.order_id));
    Ok(deleted.map(|row| format!("orders/{}/refunds/{}", row.parent_id, row.order_id)).collect())
}

/// Variations of the copy that the products do not have any more, by their paths.
async fn deleted_variations(work: &Work, items: &[Item]) -> Result<Vec<String>, Halt> {
    let mut deleted = Vec::new();
    let new = work.unknown(RecordKind::Product, ids(items)).await?;
    let may_have_lost =
        |item: &&Item| item.get("type") == Some(&json!("variable")) && !new.contains(&id_of(item));
    for item in items.iter().filter(may_have_lost) {
        let Some(kept) = item.get("variations").and_then(Value::as_array) else { continue };
        let path = format!("products/{}/variations", id_of(item));
        for known in work.list_here(&format!("wc/v3/{path}?_fields=id")).await? {
            let is_kept = |id: &Value| known.get("id") == Some(id);
            if !kept.iter().any(is_kept) {
                deleted.push(format!("{path}/{}", id_of(&known)));
            }
        }
    }
    Ok(deleted)
}
