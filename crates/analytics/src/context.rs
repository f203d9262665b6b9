//! What all reports share: the facts, what commerce tells about its records, and the choices of the
//! operator; and the [`QueryContext`] that a request makes of them.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use contract::rest::{Params, Refusal, Reply, Stop};
use db::{Conn, Database, outbox};
use frame::action::Waiting;
use frame::dates::Moment;
use frame::{Call, Names, Options, Site, Visit};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use types::{Amount, Capability, Timestamp};

use crate::calendar::{Calendar, Range, Second};
use crate::compat::Rule;
use crate::current::Facts;
use crate::engine::Engine;
use crate::facts::OrderText;
use crate::query::{
    Answer, DateColumn, Filter, Group, IdSet, Measure, OrderPage, OrderSort, Paging, Query, Scope,
    Span, Subject, Table, When,
};
use crate::settings::excluded_statuses;
use crate::view::View;

const MICROS: i64 = 1_000_000;
/// How far back a report reaches that is told no beginning.
const DEFAULT_SECONDS: i64 = 7 * 86_400;

/// Tells how many orders a report left out, since they are in another currency than the shop's.
pub const LEFT_OUT_HEADER: &str = "x-boardwalk-other-currency-orders";

/// Tells where facts are that are not in memory, and by how much they are behind the records.
pub const FACTS_HEADER: &str = "x-boardwalk-facts";

/// How reports are made.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// Answer as the reference product does where that is known to differ from what its interface
    /// says: some filters are ignored, some intervals are not sorted, some segments are empty.
    pub compat: bool,
    /// Where reports are answered from: `memory`, or the URLs of ClickHouse servers, one per shard.
    pub engine: Engine,
}

/// Records by their ids, in the words of the interface.
pub type Cards = BTreeMap<i64, Value>;
type Described = fn(&mut Call<'_>, &[i64]) -> Result<Cards, Stop>;

/// What commerce tells about its records. Given by whoever knows both.
#[derive(Clone, Copy, Debug)]
pub struct Shop {
    /// Products and variations: name, price, stock and so on; none for those that are gone.
    pub products: Described,
    /// Orders: number, total in words, where they came from.
    pub orders: Described,
    /// A price as HTML, in the currency of the shop.
    pub price_html: fn(&Options, Amount) -> String,
    /// Brings what reports know of a user who is a customer up to date.
    pub customer: fn(&mut dyn Conn, i64) -> types::Result<()>,
}

/// What the routes of analytics work with.
#[derive(Debug)]
pub struct ReportContext {
    pub facts: Arc<Facts>,
    pub shop: Shop,
    pub settings: Settings,
    /// Path of the namespace, such as `/wc-analytics`.
    pub base: String,
    /// When somebody last waited for the facts.
    pub waited: Mutex<Option<Instant>>,
}

/// How long a request waits for the facts to catch up, and how often it looks.
const PATIENCE: Duration = Duration::from_secs(3);
const LOOK_AGAIN: Duration = Duration::from_millis(20);
/// How long everybody else waits, and how much later the next one does.
const MOMENT: Duration = Duration::from_millis(600);
const TURN: Duration = Duration::from_millis(50);

impl ReportContext {
    /// Of the reports of a site.
    pub fn new(names: &Names, facts: &Arc<Facts>, shop: Shop, settings: &Settings) -> Arc<Self> {
        Arc::new(Self {
            facts: Arc::clone(facts),
            shop,
            settings: settings.clone(),
            base: format!("/{}", names.analytics),
            waited: Mutex::default(),
        })
    }

    /// Where fresh facts are asked for: waits until all that was changed before is in them. Others
    /// wait a moment, so that who changed something sees it; of many readers beside many writers
    /// one at a time does.
    pub fn fresh(&self, site: &Site, visit: &Visit, params: &Params) -> Option<Waiting> {
        let may = visit.identity.can(Capability::ViewWoocommerceReports);
        let is_patient = params.flag("force_cache_refresh") || !self.facts.are_ready();
        let patience = if is_patient { PATIENCE } else { MOMENT };
        if !may || (patience == MOMENT && !self.takes_turn()) {
            return None;
        }
        let (facts, store) = (Arc::clone(&self.facts), site.store().clone());
        Some(Box::pin(async move {
            // Who waits in vain gets the facts as they are.
            let _ = tokio::time::timeout(patience, caught_up(&facts, &store)).await;
        }))
    }

    fn takes_turn(&self) -> bool {
        let mut last = self.waited.lock().unwrap_or_else(PoisonError::into_inner);
        let is_due = last.is_none_or(|last| last.elapsed() >= TURN);
        if is_due {
            *last = Some(Instant::now());
        }
        is_due
    }

    /// What the caller may see of the facts of now, and how the site counts. **While the facts are
    /// being loaded nobody is told of a shop without sales.**
    pub fn query_context(&self, call: &Call<'_>) -> Result<QueryContext, Stop> {
        if !self.facts.are_ready() {
            let percent = self.facts.percent_read();
            let message =
                format!("The reports are loading ({percent}% done); try again in a few seconds.");
            return Err(Refusal::new(503, "rest_reports_not_ready", message).into());
        }
        let (options, compat) = (call.options(), self.settings.compat);
        let currency = call.params.text("currency");
        Ok(QueryContext::of(&self.facts, options, scope_of(call), (currency, compat)))
    }
}

/// Waits until everything that was committed before is in the facts.
pub(crate) async fn caught_up(facts: &Facts, store: &Database) {
    // Events get their numbers after they were committed.
    while let Ok(true) = store.read(outbox::has_unsequenced).await {
        tokio::time::sleep(LOOK_AGAIN).await;
    }
    if let Ok(head) = store.read(outbox::head).await {
        facts.wait_until(head, PATIENCE).await;
    }
}

/// A shop without analytics has no such routes.
pub fn is_there(call: &Call<'_>) -> Result<(), Stop> {
    if call.options().is_on("woocommerce_analytics_enabled") {
        return Ok(());
    }
    let message = "No route matches this path and method.";
    Err(Refusal::new(404, "rest_no_route", message).into())
}

pub(crate) const CANNOT_VIEW: &str = "woocommerce_rest_cannot_view";
pub(crate) const NOT_ALLOWED: &str = "You are not allowed to view reports.";

/// The permission of every report. **A merchant or a store that nobody has bound to its sales sees
/// none**, where others would see all.
pub fn may_view(call: &mut Call<'_>) -> Result<(), Stop> {
    is_there(call)?;
    call.need(Capability::ViewWoocommerceReports, CANNOT_VIEW, NOT_ALLOWED)?;
    if call.is_bound() {
        return Ok(());
    }
    call.need(Capability::ManageWoocommerce, CANNOT_VIEW, NOT_ALLOWED)
}

/// The permission of what is about the whole shop and cannot be told for some sales.
pub fn may_view_all(call: &Call<'_>) -> Result<(), Stop> {
    if call.is_bound() {
        return Err(call.deny(CANNOT_VIEW, NOT_ALLOWED).into());
    }
    Ok(())
}

/// **Who is bound to a merchant or a store sees nothing else**, whatever is asked for.
fn scope_of(call: &Call<'_>) -> Scope {
    let Some(user) = call.user() else { return Scope::everything() };
    let scope = match &user.row.merchant_id {
        Some(merchant) => Scope::everything().of_merchants(vec![merchant.clone()]),
        None => Scope::everything(),
    };
    match &user.row.store_id {
        Some(store) => scope.of_stores(vec![store.clone()]),
        None => scope,
    }
}

/// A question of one caller to the facts of one moment.
#[derive(Debug)]
pub struct QueryContext {
    pub view: View,
    pub calendar: Calendar,
    is_compat: bool,
    scope: Scope,
    excluded: Vec<String>,
    /// What counts, unless amounts of all currencies are added up.
    currency: Option<Currency>,
    /// Orders in other currencies that a query left out, though nobody asked for that.
    left_out: Cell<usize>,
    /// By how much facts that are not in memory are behind the records.
    lag: Option<Duration>,
}

/// The currency that a report is about.
#[derive(Debug)]
struct Currency {
    filter: Filter,
    /// Whether the request names it. Else it is the shop's.
    is_chosen: bool,
}

impl Currency {
    fn of(options: &Options, chosen: Option<&str>) -> Self {
        let of_shop = options.text("woocommerce_currency");
        let chosen = chosen.filter(|code| !code.is_empty());
        let code = chosen.map_or_else(|| of_shop.clone(), str::to_uppercase);
        // An order without a currency is in that of the shop.
        let mut codes = if code == of_shop { vec![String::new()] } else { Vec::new() };
        codes.push(code);
        Self { filter: Filter::Text(OrderText::Currency, codes), is_chosen: chosen.is_some() }
    }
}

impl QueryContext {
    /// The figures of the whole shop as the system itself sees them; nothing while the facts are
    /// being loaded.
    pub fn of_shop(facts: &Facts, options: &Options) -> Option<Self> {
        facts.are_ready().then(|| Self::of(facts, options, Scope::everything(), (None, false)))
    }

    fn of(
        facts: &Facts,
        options: &Options,
        scope: Scope,
        (currency, is_compat): (Option<&str>, bool),
    ) -> Self {
        let currency = Currency::of(options, currency);
        Self {
            view: facts.view(excluded_statuses(options)),
            scope,
            calendar: Calendar::of(options),
            is_compat,
            excluded: excluded_statuses(options),
            currency: (currency.is_chosen || !is_compat).then_some(currency),
            left_out: Cell::new(0),
            lag: facts.lag(),
        }
    }

    /// What the query comes to in the currency of the report.
    pub fn answer(&self, query: &Query) -> types::Result<Answer> {
        self.note_left_out(query)?;
        let filter = self.in_currency(query.table, &query.filter);
        self.view.answer(&self.scope, &Query { filter, ..query.clone() })
    }

    /// What a query that keeps currencies apart comes to: in all of them, unless one was chosen.
    pub fn answer_by_currency(&self, query: &Query) -> types::Result<Answer> {
        match &self.currency {
            Some(currency) if currency.is_chosen => self.answer(query),
            _ => self.view.answer(&self.scope, query),
        }
    }

    /// A page of orders in the currency of the report.
    pub fn list_orders(
        &self,
        (date, span): (DateColumn, Span),
        filter: &Filter,
        sort: OrderSort,
        paging: Paging,
    ) -> types::Result<OrderPage> {
        let query = Query { filter: filter.clone(), ..Query::of(Table::Orders, date, span) };
        self.note_left_out(&query)?;
        let filter = self.in_currency(Table::Orders, filter);
        self.view.list_orders(&self.scope, (date, span), &filter, sort, paging)
    }

    /// The orders in the currency of the report that the refunds which pass are about.
    pub fn refunded_orders(
        &self,
        (date, span): (DateColumn, Span),
        filter: &Filter,
    ) -> types::Result<IdSet> {
        let filter = self.in_currency(Table::Orders, filter);
        self.view.refunded_orders(&self.scope, (date, span), &filter)
    }

    fn in_currency(&self, table: Table, filter: &Filter) -> Filter {
        match &self.currency {
            Some(currency) if table != Table::Downloads => {
                filter.clone().and(currency.filter.clone())
            }
            _ => filter.clone(),
        }
    }

    /// Counts the orders that do not count for their currency alone.
    fn note_left_out(&self, query: &Query) -> types::Result<()> {
        let Some(currency) = self.currency.as_ref().filter(|currency| !currency.is_chosen) else {
            return Ok(());
        };
        let Filter::Text(_, codes) = &currency.filter else { return Ok(()) };
        let is_whole = query.bounds.is_empty() && query.table != Table::Downloads;
        if !is_whole || self.view.are_currencies_among(codes)? {
            return Ok(());
        }
        let others = Query {
            filter: query.filter.clone().and(currency.filter.clone().negated()),
            group: Group::None,
            measures: vec![Measure::Distinct(Subject::Order, When::Order)],
            ..query.clone()
        };
        let found = self.view.answer(&self.scope, &others)?.totals(0).first().copied();
        let found = usize::try_from(found.unwrap_or_default()).unwrap_or_default();
        self.left_out.set(self.left_out.get().max(found));
        Ok(())
    }

    /// Says in headers how many orders were left out for their currency, if any were, and where the
    /// facts are, if they are not in memory.
    pub fn with_notes(&self, reply: Reply) -> Reply {
        let reply = match self.lag {
            Some(lag) => {
                let text = format!("clickhouse; lag={:.1}s", lag.as_secs_f64());
                reply.header(FACTS_HEADER, text)
            }
            None => reply,
        };
        match self.left_out.get() {
            0 => reply,
            count => reply.header(LEFT_OUT_HEADER, count.to_string()),
        }
    }

    /// Whether to answer as the reference does.
    pub fn follows(&self, _: Rule) -> bool {
        self.is_compat
    }

    pub fn scope(&self) -> &Scope {
        &self.scope
    }

    /// Whether the caller sees only a part of the sales.
    pub fn is_bound(&self) -> bool {
        self.scope != Scope::everything()
    }

    /// Orders that count unless the request names statuses.
    pub fn counted(&self) -> Filter {
        Filter::Text(OrderText::Status, self.excluded.clone()).negated()
    }

    /// The range that the request asks for: the last seven days unless it says otherwise.
    pub fn range(&self, call: &Call<'_>) -> Range {
        let now = seconds(call.now());
        Range {
            first: bound(call, "after").unwrap_or(now - DEFAULT_SECONDS),
            last: bound(call, "before").unwrap_or(now),
        }
    }
}

/// A moment of the request, to the second. Without a zone it is the site's time.
pub fn bound(call: &Call<'_>, name: &str) -> Option<Second> {
    let moment = Moment::parse(call.options(), call.params.text(name)?, false)?;
    Some(seconds(moment.gmt))
}

pub fn seconds(time: Timestamp) -> Second {
    time.as_micros().div_euclid(MICROS)
}

pub fn timestamp(second: Second) -> Timestamp {
    Timestamp::from_micros(second.saturating_mul(MICROS))
}

/// A range as the facts know it: without its end.
pub fn span(range: Range) -> Span {
    let until = range.last.saturating_add(1).max(range.first);
    Span { from: timestamp(range.first), until: timestamp(until) }
}

/// The date by which orders belong to a day, as the shop chose it.
pub fn date_of_orders(options: &Options) -> DateColumn {
    let chosen = options.get("woocommerce_date_type");
    chosen.as_str().and_then(date_named).unwrap_or(DateColumn::Paid)
}

pub fn date_named(name: &str) -> Option<DateColumn> {
    match name {
        "date_paid" => Some(DateColumn::Paid),
        "date_created" => Some(DateColumn::Created),
        "date_completed" => Some(DateColumn::Completed),
        _ => None,
    }
}
