//! The first copy of a store: its settings, then what orders refer to, then its orders, **the
//! newest first**, so that reports of the last months are there long before the oldest order is.
//!
//! The copy goes on where it was cut. A page that the store cannot give is asked for in halves,
//! down to the one record that it cannot give, which is noted and left out.

use std::collections::HashSet;
use std::sync::Arc;

use commerce::ingest::RecordKind;
use commerce::ingest::shop::{self, LISTS, List};
use onboarding::rows::connection::ConnectionStatus;
use serde_json::{Value, json};

use crate::backwards::{Ahead, ORDERS, Place, Window, created};
use crate::checks;
use crate::source::{Code, Item, Page, Trouble, id_of};
use crate::work::{Cursor, Halt, Stage, Work};

/// Groups of settings that say how records and reports are shown.
const SETTINGS: &[&str] = &["general", "products", "tax", "wc_admin"];
/// What changed so long before the copy began is asked for again when it is done.
const OVERLAP_US: i64 = 120 * 1_000_000;
/// So many turns that failed, and a record whose parts the store cannot give is left out.
const FAILURES_MAX: i64 = 2;

/// Brings the copy as far as it can be brought.
pub(crate) async fn run(work: &mut Work) -> Result<(), Halt> {
    if work.cursor.stage == Stage::Settings {
        work.set_status(ConnectionStatus::Connecting);
        copy_settings(work).await?;
        work.mark_copy().await?;
        let since = work.source.now().as_micros() - OVERLAP_US;
        let skipped = Vec::new();
        let webhooks = work.cursor.webhooks.clone();
        work.cursor = Cursor {
            stage: Stage::Lists,
            mark: work.cursor.mark.clone(),
            comparison: work.cursor.comparison.clone(),
            since: Some(since),
            ahead: work.source.ahead_us(),
            skipped,
            webhooks,
            ..Cursor::default()
        };
        work.set_status(ConnectionStatus::Copying);
        work.save().await?;
    }
    work.set_status(ConnectionStatus::Copying);
    if work.cursor.stage == Stage::Lists {
        while let Some(list) = LISTS.get(work.cursor.list) {
            if list.kind != RecordKind::Order {
                copy_list(work, list).await?;
            }
            work.cursor.list += 1;
            work.cursor.offset = 0;
            work.save_in_turn().await?;
        }
        work.cursor.stage = Stage::Orders;
        work.save().await?;
    }
    if work.cursor.stage == Stage::Orders {
        copy_orders(work).await?;
        work.cursor.stage = Stage::Live;
        work.cursor.size = None;
        work.save().await?;
    }
    Ok(())
}

/// The settings of the store that records and reports depend on.
pub(crate) async fn copy_settings(work: &mut Work) -> Result<(), Halt> {
    let index = work.source.one("?_fields=name,timezone_string,gmt_offset").await?;
    let index = index.unwrap_or_default();
    let text = |name: &str| index.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
    // It is shown in terminals, too.
    let shown = text("name").chars().filter(|letter| !letter.is_control()).take(200).collect();
    work.row.name = shown;
    let offset = index.get("gmt_offset").cloned().unwrap_or(json!(0));
    let offset = offset.as_str().map_or(offset.clone(), |text| json!(text.parse::<f64>().ok()));
    let options = vec![
        ("blogname", json!(text("name"))),
        ("timezone_string", json!(text("timezone_string"))),
        ("gmt_offset", offset),
    ];
    let mut settings = Vec::new();
    for group in SETTINGS {
        let listed = work.source.list(&format!("wc/v3/settings/{group}"), "").await;
        let items = match listed {
            Ok(page) => page.items,
            // An older store does not have every group.
            Err(trouble) if *group != "general" && trouble.status == 404 => Vec::new(),
            Err(trouble) => return Err(trouble.into()),
        };
        for item in items {
            let id = item.get("id").and_then(Value::as_str).unwrap_or_default();
            if id == "woocommerce_default_country" {
                let country = item.get("value").and_then(checks::country);
                work.row.country = country.unwrap_or_default();
            }
            if let Some(value) = item.get("value")
                && !id.is_empty()
                && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte))
            {
                settings.push((format!("{group}/{id}"), value.clone()));
            }
        }
    }
    work.set_options(settings, options).await
}

async fn copy_list(work: &mut Work, list: &List) -> Result<(), Halt> {
    let path = format!("wc/v3/{}", list.path);
    let mut pages = Pages::default();
    loop {
        let items = match list.kind {
            // Each after the one above it.
            RecordKind::Category => {
                let all = work.source.all(&path, work.size()).await?;
                shop::from_the_top(all)
            }
            _ if list.is_sorted => {
                let has_status = matches!(list.kind, RecordKind::Product | RecordKind::Coupon);
                let status = if has_status { "&status=any" } else { "" };
                let query = &format!("&orderby=id&order=asc{status}");
                let page = page_at(work, list.kind, &path, query).await?;
                let Some(page) = page else { continue };
                note_total(work, list.kind, page.total);
                pages.check(&page.items)?;
                page.items
            }
            _ => work.source.all(&path, work.size()).await?,
        };
        let count = items.len();
        write_with_below(work, list, items).await?;
        if !list.is_sorted || count == 0 {
            return Ok(());
        }
        work.cursor.offset += i64::try_from(count).unwrap_or(0);
        work.counts.insert(counted(list.kind), work.cursor.offset);
        work.row.failures = 0;
        work.save_in_turn().await?;
    }
}

/// The pages of a list, of which each must bring something new: a store that does not look at what
/// it is asked for has lists without an end.
#[derive(Default)]
pub(crate) struct Pages {
    last: HashSet<Option<i64>>,
}

impl Pages {
    pub(crate) fn check(&mut self, items: &[Item]) -> Result<(), Trouble> {
        let id = |item: &Item| item.get("id").and_then(Value::as_i64);
        let ids: HashSet<Option<i64>> = items.iter().map(id).collect();
        if !ids.is_empty() && ids.is_subset(&self.last) {
            return Err(Trouble::new(Code::EndlessList));
        }
        self.last = ids;
        Ok(())
    }
}

/// What records of a kind are counted as, which is what the store calls their list: `orders`.
pub(crate) fn counted(kind: RecordKind) -> String {
    let path = list_of(kind).path;
    path.rsplit('/').next().unwrap_or(path).to_owned()
}

fn note_total(work: &mut Work, kind: RecordKind, total: Option<i64>) {
    let kinds = [RecordKind::Product, RecordKind::Customer, RecordKind::Coupon, RecordKind::Order];
    if let Some(total) = total.filter(|_| kinds.contains(&kind)) {
        work.counts.insert(format!("{}Total", counted(kind)), total);
    }
}

/// The page behind the cursor's offset; nothing when it must be asked for again, with fewer records
/// or without the one that the store cannot give.
pub(crate) async fn page_at(
    work: &mut Work,
    kind: RecordKind,
    path: &str,
    query: &str,
) -> Result<Option<Page>, Halt> {
    let (size, offset) = (work.size(), work.cursor.offset);
    match work.source.page(path, (size, offset), query).await {
        Ok(page) => {
            coped(work);
            Ok(Some(page))
        }
        Err(trouble) if trouble.code.is_of_page() => {
            narrow(work, kind, (path, query), trouble).await
        }
        Err(trouble) => Err(trouble.into()),
    }
}

/// A store that coped with a small page is asked for more the next time.
fn coped(work: &mut Work) {
    let wanted = work.stores.settings.page_items;
    let more = work.size().saturating_mul(2).min(wanted);
    work.cursor.size = Some(more).filter(|more| *more < wanted);
}

/// Asks for less the next time, or leaves out the one record that the store cannot give.
async fn narrow(
    work: &mut Work,
    kind: RecordKind,
    (path, query): (&str, &str),
    trouble: Trouble,
) -> Result<Option<Page>, Halt> {
    let (size, offset) = (work.size(), work.cursor.offset);
    if size > 1 {
        work.cursor.size = Some(size / 2);
        work.save().await?;
        return Ok(None);
    }
    // The store itself works if it can tell the number of the record, or of the one behind it.
    let question = |offset: i64| format!("per_page=1&offset={offset}{query}&_fields=id");
    let (id, reason) = match work.source.list(path, &question(offset)).await {
        Ok(page) => match page.items.first().and_then(|item| item.get("id")?.as_i64()) {
            Some(id) => (id, trouble.code.message().to_owned()),
            None => return Ok(Some(page)),
        },
        Err(_) if work.source.list(path, &question(offset + 1)).await.is_ok() => {
            let request = format!("{path}?per_page=1&offset={offset}{query}");
            (0, format!("{} It is what {request} should answer.", trouble.code.message()))
        }
        Err(_) => return Err(trouble.into()),
    };
    work.skip(kind, id, &reason);
    work.cursor.offset += 1;
    work.save().await?;
    Ok(None)
}

/// Writes records with what belongs to them.
pub(crate) async fn write_with_below(
    work: &mut Work,
    list: &List,
    items: Vec<Item>,
) -> Result<(), Halt> {
    let mut records = Vec::new();
    for item in items {
        let id = id_of(&item);
        let Some((kind, path)) = list.below(&item) else {
            records.push(shop::record(list.kind, item));
            continue;
        };
        let Some(inner) = below(work, list, (id, &path)).await? else { continue };
        records.push(shop::record(list.kind, item));
        records.extend(inner.into_iter().map(|body| List::inner(kind, id, body)));
    }
    work.write(records).await
}

/// What belongs to a record; nothing if the store cannot give it, so that the record is left out,
/// or does not have the record any more. What may pass is tried in another turn first.
async fn below(
    work: &mut Work,
    list: &List,
    (id, path): (i64, &str),
) -> Result<Option<Vec<Item>>, Halt> {
    let trouble = match work.source.all(&format!("wc/v3/{path}"), work.size()).await {
        Ok(inner) => return Ok(Some(inner)),
        Err(trouble) => trouble,
    };
    let is_lasting = trouble.code == Code::TooLarge || work.row.failures >= FAILURES_MAX;
    match trouble.code {
        Code::NotFound => Ok(None),
        code if code.is_of_page() && is_lasting => {
            // A store that gives others cannot give this one.
            let others = format!("wc/v3/{}", list.path);
            work.source.list(&others, "per_page=1&_fields=id").await?;
            work.skip(list.kind, id, code.message());
            Ok(None)
        }
        _ => Err(trouble.into()),
    }
}

/// The list of orders.
pub(crate) fn orders() -> &'static List {
    list_of(RecordKind::Order)
}

/// The list of a kind that is in [`LISTS`].
pub(crate) fn list_of(kind: RecordKind) -> &'static List {
    let found = LISTS.iter().find(|list| list.kind == kind);
    found.unwrap_or_else(|| unreachable!("every kind that is followed has a list"))
}

/// All orders backwards by the time at which they were created: an order that comes or goes
/// meanwhile moves no page. **The next pages are on their way while one is written.**
async fn copy_orders(work: &mut Work) -> Result<(), Halt> {
    let mut window = window_of(work).await?;
    let (mut ahead, mut pages): (Option<Ahead>, _) = (None, Pages::default());
    loop {
        let place = Place { before: work.cursor.before.clone(), offset: work.cursor.offset };
        let fetched = match &mut ahead {
            Some(ahead) => ahead.next().await,
            None => None,
        };
        let page = match fetched {
            Some(Ok(page)) => page,
            // It is asked for again, and dealt with there.
            Some(Err(trouble)) if trouble.code.is_of_page() => {
                ahead = None;
                continue;
            }
            Some(Err(trouble)) => return Err(trouble.into()),
            None => {
                let query = window.query(&place);
                let Some(page) = page_at(work, RecordKind::Order, ORDERS, &query).await? else {
                    continue;
                };
                page
            }
        };
        if place == Place::default() {
            note_total(work, RecordKind::Order, page.total);
        }
        pages.check(&page.items)?;
        let Some(next) = window.behind(&page, &place) else { return Ok(()) };
        // One that can give small pages only is asked for one after the other.
        if ahead.is_none() && work.cursor.size.is_none() {
            let source = Arc::clone(&work.source);
            ahead = Some(Ahead::start(source, work.size(), (window.clone(), next.clone())));
        }
        let count = i64::try_from(page.items.len()).unwrap_or(0);
        write_with_below(work, orders(), page.items).await?;
        *work.counts.entry(counted(RecordKind::Order)).or_default() += count;
        (work.cursor.before, work.cursor.offset) = (next.before, next.offset);
        work.row.failures = 0;
        work.save_in_turn().await?;
    }
}

/// How orders are asked for, by when the oldest was made. A store that cannot say so is asked for
/// all that are left at once.
async fn window_of(work: &Work) -> Result<Window, Halt> {
    let oldest = "per_page=1&orderby=date&order=asc&status=any&_fields=date_created_gmt";
    match work.source.list(ORDERS, oldest).await {
        Ok(page) => Ok(Window::since(page.items.first().and_then(created))),
        Err(trouble) if trouble.code.is_of_page() => Ok(Window::since(None)),
        Err(trouble) => Err(trouble.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_that_brings_nothing_new_is_none() {
        let mut pages = Pages::default();
        let items: Vec<Item> =
            (0..3).map(|id| Item::from_iter([(String::from("id"), json!(id))])).collect();
        pages.check(&items).unwrap();
        assert_eq!(pages.check(&items).unwrap_err().code, Code::EndlessList);
        assert_eq!(pages.check(&items[1..]).unwrap_err().code, Code::EndlessList);
        pages.check(&[]).unwrap();
    }
}
