//! What connected stores sold in a period: sums of groups, converted if rates are given.
//! **Different currencies are never added up**: what has no rate is left out, and said to be.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use db::Conn;
use types::{Error, IsoId, Result, reference};

use super::super::calendar::{day_number, day_text};
use super::super::rates::{ONE, RateView, Rates};
use crate::rows::portfolio::{self, Figures, PortfolioStore};

/// Rates of a period that change more often are too many to convert by: each change costs a look at
/// every store.
pub(super) const CHANGES_MAX: usize = 100;

/// By what sums are grouped, beside the currency.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum GroupBy {
    Currency,
    Day,
    Store,
    Merchant,
    Country,
    Category,
}

/// What is wanted.
#[derive(Clone, Debug)]
pub(super) struct Question {
    /// The first and the last day, by their numbers.
    pub(super) days: (i64, i64),
    pub(super) by: GroupBy,
    /// The currency to convert into.
    pub(super) into: Option<String>,
    /// Whether the period before is wanted as well.
    pub(super) compare: bool,
}

/// Sums. Amounts are in hundredths of a cent, times [`ONE`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Sums {
    pub(super) orders: i64,
    pub(super) items: i64,
    pub(super) gross: i128,
    pub(super) net: i128,
    pub(super) refunds: i128,
}

impl Sums {
    fn add(&mut self, figures: Figures, rate: i128) {
        let amount = |value: i64| i128::from(value).saturating_mul(rate);
        self.orders = self.orders.saturating_add(figures.orders);
        self.items = self.items.saturating_add(figures.items);
        self.gross = self.gross.saturating_add(amount(figures.gross));
        self.net = self.net.saturating_add(amount(figures.net));
        self.refunds = self.refunds.saturating_add(amount(figures.refunds));
    }

    fn add_sums(&mut self, other: &Self) {
        self.orders = self.orders.saturating_add(other.orders);
        self.items = self.items.saturating_add(other.items);
        self.gross = self.gross.saturating_add(other.gross);
        self.net = self.net.saturating_add(other.net);
        self.refunds = self.refunds.saturating_add(other.refunds);
    }
}

/// A group in one currency.
#[derive(Clone, Debug, Default)]
pub(super) struct Group {
    /// What the group is of: an id, a day or a code.
    pub(super) key: Option<String>,
    pub(super) name: Option<String>,
    pub(super) currency: String,
    pub(super) stores: i64,
    pub(super) sums: Sums,
    /// Net sales of the period before, if they are wanted.
    pub(super) net_before: Option<i128>,
}

impl Group {
    /// Growth of net sales in tenths of a percent; nothing if nothing was sold before.
    pub(super) fn growth(&self) -> Option<i128> {
        let before = self.net_before.filter(|before| *before > 0)?;
        Some((self.sums.net - before).saturating_mul(1000) / before)
    }
}

/// What could not be converted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct LeftOut {
    pub(super) stores: i64,
    pub(super) orders: i64,
}

/// The answer, in no order.
#[derive(Debug, Default)]
pub(super) struct Report {
    pub(super) groups: Vec<Group>,
    pub(super) totals: Vec<Group>,
    pub(super) rates: BTreeSet<RateView>,
    /// By currency.
    pub(super) left_out: BTreeMap<String, LeftOut>,
}

type Key = (Option<String>, String);

/// Answers a question; nothing if rates change too often in the period.
pub(super) fn make(
    conn: &mut dyn Conn,
    iso_id: &IsoId,
    question: &Question,
) -> Result<Option<Report>> {
    let rates = question.into.as_deref().map(|into| Rates::read(conn, iso_id, into));
    let mut reader = Reader { iso_id, rates: rates.transpose()?, totals: BTreeMap::new() };
    let (from, to) = question.days;
    let Some(now) = reader.stores(conn, (from, to))? else { return Ok(None) };
    let mut before = None;
    if question.compare {
        before = reader.stores(conn, (from - (to - from) - 1, from - 1))?;
        if before.is_none() {
            return Ok(None);
        }
    }
    let mut report = Report::default();
    let none = |_: &str| (None, None);
    let into = question.into.as_deref();
    report.totals = gathered(&now, before.as_ref(), into, none);
    report.groups = match question.by {
        GroupBy::Currency => report.totals.clone(),
        GroupBy::Day => reader.days(conn, (from, to))?,
        by => {
            let stores = portfolio::stores(conn, iso_id)?;
            let by_id: HashMap<&str, &PortfolioStore> =
                stores.iter().map(|store| (store.connection_id.as_str(), store)).collect();
            let naming = |id: &str| by_id.get(id).map_or((None, None), |store| named(by, store));
            gathered(&now, before.as_ref(), into, naming)
        }
    };
    for store in now.into_values() {
        if store.left_out > 0 {
            let left_out = report.left_out.entry(store.own_currency).or_default();
            left_out.stores += 1;
            left_out.orders += store.left_out_orders;
        }
        report.rates.extend(store.rates);
    }
    Ok(Some(report))
}

/// The group of a store, and what people call it.
fn named(by: GroupBy, store: &PortfolioStore) -> (Option<String>, Option<String>) {
    let given = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    match by {
        GroupBy::Store => {
            let name = given(&store.name).unwrap_or_else(|| store.url.clone());
            (Some(store.connection_id.clone()), Some(name))
        }
        GroupBy::Merchant => {
            let id = store.merchant_id.as_ref().map(|id| id.as_str().to_owned());
            (id, store.merchant_name.clone())
        }
        GroupBy::Country => (given(&store.country), None),
        GroupBy::Category => {
            let name = store.mcc.as_deref().and_then(reference::mcc_description);
            (store.mcc.clone(), name.map(str::to_owned))
        }
        GroupBy::Currency | GroupBy::Day => (None, None),
    }
}

/// What a store sold in a period.
#[derive(Debug, Default)]
struct StoreSums {
    own_currency: String,
    /// The currency of the sums; none if nothing could be converted.
    currency: Option<String>,
    sums: Sums,
    rates: BTreeSet<RateView>,
    /// Parts of the period that could not be converted, and the orders in them.
    left_out: usize,
    left_out_orders: i64,
}

type Stores = BTreeMap<String, StoreSums>;

fn gathered(
    now: &Stores,
    before: Option<&Stores>,
    into: Option<&str>,
    naming: impl Fn(&str) -> (Option<String>, Option<String>),
) -> Vec<Group> {
    let mut groups: BTreeMap<Key, Group> = BTreeMap::new();
    let mut group_of = |id: &str, store: &StoreSums, run: &dyn Fn(&mut Group)| {
        let Some(currency) = store.currency.clone() else { return };
        let (key, name) = naming(id);
        let found = groups.entry((key.clone(), currency.clone())).or_insert_with(|| Group {
            key,
            name,
            currency,
            net_before: before.map(|_| 0),
            ..Group::default()
        });
        run(found);
    };
    for (id, store) in now {
        group_of(id, store, &|group| {
            group.stores += 1;
            group.sums.add_sums(&store.sums);
        });
    }
    for (id, store) in before.into_iter().flatten() {
        group_of(id, store, &|group| {
            let sum = group.net_before.unwrap_or_default().saturating_add(store.sums.net);
            group.net_before = Some(sum);
        });
    }
    // What was left out of the period before cannot be compared with.
    for (id, store) in before.into_iter().flatten().filter(|(_, store)| store.left_out > 0) {
        let key = (naming(id).0, into.unwrap_or(&store.own_currency).to_owned());
        if let Some(group) = groups.get_mut(&key) {
            group.net_before = None;
        }
    }
    groups.into_values().collect()
}

/// Reads what stores sold, and converts it.
#[derive(Debug)]
struct Reader<'r> {
    iso_id: &'r IsoId,
    rates: Option<Rates>,
    /// Running totals by the day at whose end they are.
    totals: BTreeMap<i64, HashMap<String, (String, Figures)>>,
}

impl Reader<'_> {
    /// The currency of what is sold in a currency on a day, and what it is multiplied with.
    fn converted<'s>(
        &'s self,
        own: &'s str,
        day: i64,
    ) -> Option<(&'s str, i128, Option<&'s RateView>)> {
        match &self.rates {
            None => Some((own, ONE, None)),
            Some(rates) => rates.at(own, day).map(|(rate, given)| (rates.into(), rate, given)),
        }
    }

    /// What each store sold from one day to another, by its connection.
    fn stores(&mut self, conn: &mut dyn Conn, (from, to): (i64, i64)) -> Result<Option<Stores>> {
        let changes = self.rates.as_ref().map(Rates::changes).unwrap_or_default();
        // The last days of the parts in which rates stay the same, and the one before the first.
        let mut ends = vec![from - 1];
        ends.extend(changes.into_iter().filter(|day| from < *day && *day <= to).map(|day| day - 1));
        ends.push(to);
        if ends.len() > CHANGES_MAX + 2 {
            return Ok(None);
        }
        for end in &ends {
            if !self.totals.contains_key(end) {
                let found = portfolio::totals(conn, self.iso_id, &day_text(*end))?;
                self.totals.insert(*end, found);
            }
        }
        let mut stores = Stores::new();
        for part in ends.windows(2) {
            let [start, end] = part else { continue };
            let (earlier, later) = (self.totals.get(start), self.totals.get(end));
            for (id, (currency, total)) in later.into_iter().flatten() {
                let past = earlier.and_then(|totals| totals.get(id));
                let past = past.map(|(_, figures)| *figures).unwrap_or_default();
                let figures = total.since(past);
                if figures == Figures::default() {
                    continue;
                }
                let store = stores.entry(id.clone()).or_default();
                store.own_currency.clone_from(currency);
                if let Some((into, rate, given)) = self.converted(currency, start + 1) {
                    store.currency = Some(into.to_owned());
                    store.sums.add(figures, rate);
                    store.rates.extend(given.cloned());
                } else {
                    store.left_out += 1;
                    store.left_out_orders += figures.orders;
                }
            }
        }
        Ok(Some(stores))
    }

    /// What all stores sold, day by day.
    fn days(&self, conn: &mut dyn Conn, (from, to): (i64, i64)) -> Result<Vec<Group>> {
        let (first, last) = (day_text(from), day_text(to));
        let mut groups: BTreeMap<Key, Group> = BTreeMap::new();
        for row in portfolio::by_day(conn, self.iso_id, (&first, &last))? {
            let unreadable = || Error::internal("a stored day cannot be read");
            let day = day_number(&row.day).ok_or_else(unreadable)?;
            let Some((into, rate, _)) = self.converted(&row.currency, day) else { continue };
            let key = (Some(row.day.clone()), into.to_owned());
            let group = groups.entry(key).or_default();
            (group.key, group.currency) = (Some(row.day), into.to_owned());
            group.stores += row.stores;
            group.sums.add(row.figures, rate);
        }
        Ok(groups.into_values().collect())
    }
}
