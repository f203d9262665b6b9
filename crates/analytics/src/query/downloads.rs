//! Queries about downloads. They are few beside orders and have one date and no amounts, so they
//! are looked at one by one.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::answer::{Answer, Key};
use super::filter::Filter;
use super::listing::{DownloadPage, DownloadSort, Paging};
use super::{Group, Measure, Query, Scope, Span, Subject, When};
use crate::facts::{DownloadFact, OrderText, Snapshot};

pub(super) fn answer(facts: &Snapshot, scope: &Scope, query: &Query) -> Answer {
    let mut cells: BTreeMap<(usize, Key), Vec<&DownloadFact>> = BTreeMap::new();
    if query.group == Group::None {
        cells.extend((0..query.buckets()).map(|bucket| ((bucket, Key::All), Vec::new())));
    }
    for download in selected(facts, scope, query.span, &query.filter) {
        let bucket = if query.bounds.is_empty() {
            0
        } else {
            let after = query.bounds.partition_point(|bound| *bound <= download.at);
            if after == 0 || after == query.bounds.len() {
                continue;
            }
            after - 1
        };
        let key = match query.group {
            Group::None => Key::All,
            Group::Product => Key::Id(download.product_id),
            Group::Text(OrderText::Merchant) => Key::Text(Arc::clone(&download.merchant_id)),
            Group::Text(OrderText::Store) => Key::Text(Arc::clone(&download.store_id)),
            _ => continue,
        };
        cells.entry((bucket, key)).or_default().push(download);
    }
    let mut answer = Answer::new(query.measures.len());
    for ((bucket, key), rows) in cells {
        let values = query.measures.iter().map(|measure| value(*measure, &rows));
        answer.push(bucket, key, values);
    }
    answer
}

fn value(measure: Measure, rows: &[&DownloadFact]) -> i64 {
    let different = |of: fn(&DownloadFact) -> i64| {
        rows.iter().map(|download| of(download)).collect::<BTreeSet<i64>>().len()
    };
    let count = match measure {
        // They are neither refunds nor do they take money back.
        Measure::Rows(When::Refund | When::Negative)
        | Measure::Distinct(_, When::Refund | When::Negative)
        | Measure::Sum(..) => 0,
        Measure::Rows(_) => rows.len(),
        Measure::Distinct(Subject::Order, _) => different(|download| download.order_id),
        Measure::Distinct(Subject::Product, _) => different(|download| download.product_id),
        Measure::Distinct(..) => 0,
        Measure::Latest(_) => {
            let latest = rows.iter().map(|download| download.at.as_micros()).max();
            return latest.unwrap_or_default();
        }
    };
    i64::try_from(count).unwrap_or(i64::MAX)
}

/// The downloads that pass, by time.
fn selected<'a>(
    facts: &'a Snapshot,
    scope: &'a Scope,
    span: Span,
    filter: &'a Filter,
) -> impl Iterator<Item = &'a Arc<DownloadFact>> {
    let all = facts.downloads();
    let from = all.partition_point(|download| download.at < span.from);
    let until = all.partition_point(|download| download.at < span.until);
    let some = all.get(from..until.max(from)).unwrap_or_default();
    some.iter().filter(move |download| sees(scope, download) && passes(filter, download))
}

fn sees(scope: &Scope, download: &DownloadFact) -> bool {
    let (merchants, stores) = scope.parts();
    let is_in =
        |wanted: Option<&[String]>, own: &str| wanted.is_none_or(|wanted| is_one_of(wanted, own));
    is_in(merchants, &download.merchant_id) && is_in(stores, &download.store_id)
}

fn is_one_of(wanted: &[String], own: &str) -> bool {
    wanted.iter().any(|wanted| wanted == own)
}

fn passes(filter: &Filter, download: &DownloadFact) -> bool {
    match filter {
        Filter::All(list) => list.iter().all(|filter| passes(filter, download)),
        Filter::Any(list) => list.iter().any(|filter| passes(filter, download)),
        Filter::Not(inner) => !passes(inner, download),
        Filter::DownloadProduct(ids) => ids.contains(download.product_id),
        Filter::DownloadOrder(ids) | Filter::Orders(ids) => ids.contains(download.order_id),
        Filter::DownloadUser(ids) => ids.contains(download.user_id),
        Filter::DownloadIp(list) => list.contains(&download.ip),
        Filter::Text(OrderText::Merchant, list) => is_one_of(list, &download.merchant_id),
        Filter::Text(OrderText::Store, list) => is_one_of(list, &download.store_id),
        Filter::Text(..)
        | Filter::Kind(_)
        | Filter::Returning(_)
        | Filter::CustomerType(_)
        | Filter::Customers(_)
        | Filter::HasLine(_)
        | Filter::HasCoupon(_)
        | Filter::HasAnyCoupon
        | Filter::HasTaxRate(_)
        | Filter::Line(_)
        | Filter::Coupon(_)
        | Filter::TaxRate(_) => false,
    }
}

impl Snapshot {
    /// A page of the downloads that pass.
    pub fn list_downloads(
        &self,
        scope: &Scope,
        span: Span,
        filter: &Filter,
        sort: DownloadSort,
        paging: Paging,
    ) -> DownloadPage {
        let mut found: Vec<&Arc<DownloadFact>> = selected(self, scope, span, filter).collect();
        let total = found.len();
        found.sort_by_key(|download| sort.key(download));
        if paging.descending {
            found.reverse();
        }
        let page = found.into_iter().skip(paging.offset).take(paging.limit);
        DownloadPage { downloads: page.cloned().collect(), total }
    }
}
