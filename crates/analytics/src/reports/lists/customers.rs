//! Customers: who they are, what they bought, and what they do on average.
//!
//! Who they are comes from the store, what they bought from the facts.

pub mod args;
pub mod averages;
mod filter;
mod ranked;

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};

use contract::rest::{Links, Reply, Schema, Stop};
use db::filter::{Direction, LIST_MAX, PAGE_MAX, Page};
use frame::Call;
use frame::dates::{Moment, written};
use serde_json::{Map, Value, json};
use shop_rows::customer_lookup::{self, CustomerLookupFilter, CustomerLookupRow, LookupOrder};
use types::Timestamp;

use super::{Rank, cut, described, is_descending, linked, page, reply, sort};
use crate::calendar::{Calendar, Range, Second};
use crate::columns::{float, money, money_as_float, number};
use crate::compat::Beyond;
use crate::context::{QueryContext, ReportContext, bound, seconds, span};
use crate::facts::OrderNumber;
use crate::query::{
    Answer, Column as Of, DateColumn, Filter, Group, Key, Measure, Per, Query, Span, Table, When,
};
use crate::reports::filters;

use self::ranked::{rank, rank_of_sums};

const MEASURES: [Measure; 4] = [
    Measure::Rows(When::Order),
    Measure::Rows(When::Always),
    Measure::Sum(Of::Order(OrderNumber::Total), When::Always, Per::Row),
    Measure::Latest(DateColumn::Created),
];

/// More customers than this are read in one go and not by their numbers.
const CANDIDATES_MAX: usize = 20_000;

/// A customer with what they bought.
#[derive(Clone, Debug)]
pub struct Customer {
    pub row: CustomerLookupRow,
    pub sums: Sums,
}

/// What somebody bought in the range.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sums {
    pub orders: i64,
    /// Orders and refunds.
    pub rows: i64,
    /// In millionths, less refunds.
    pub spend: i64,
    /// In microseconds; 0 for never.
    latest: i64,
}

impl Sums {
    fn of(values: &[i64]) -> Self {
        let [orders, rows, spend, latest] = values else { return Self::default() };
        Self { orders: *orders, rows: *rows, spend: *spend, latest: *latest }
    }

    pub fn latest(&self) -> Option<Second> {
        (self.rows > 0).then(|| seconds(Timestamp::from_micros(self.latest)))
    }

    fn average(&self) -> Option<f64> {
        (self.orders > 0).then(|| money_as_float(self.spend) / float(self.orders))
    }
}

/// The route that a list is asked for by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CustomersRoute {
    /// `/reports/customers`
    Report,
    /// `/customers`
    Collection,
    /// `/customers/{id}`
    One,
}

pub fn document() -> Value {
    let text = |about: &str| Schema::text().about(about);
    let whole = |about: &str| Schema::integer().about(about);
    let date = |about: &str| Schema::date_time().about(about).or_null();
    let members = [
        ("id", whole("Customer ID.")),
        ("user_id", whole("User ID; 0 for a guest.")),
        ("name", text("First and last name.")),
        ("first_name", text("First name.")),
        ("last_name", text("Last name.")),
        ("email", text("E-mail address.")),
        ("username", text("Username.")),
        ("country", text("Country code.")),
        ("city", text("City.")),
        ("state", text("State code.")),
        ("postcode", text("Postcode.")),
        ("date_registered", date("Date registered, in the site's time zone.")),
        ("date_registered_gmt", date("Date registered, in UTC.")),
        ("date_last_active", date("Date last active, in the site's time zone.")),
        ("date_last_active_gmt", date("Date last active, in UTC.")),
        ("orders_count", whole("Number of orders.")),
        ("total_spend", Schema::number().about("Total spend, less refunds.")),
        ("avg_order_value", Schema::number().about("Average order value.")),
    ];
    described("report_customers", members)
}

/// The customers that a request asks for.
pub fn list(
    reports: &ReportContext,
    call: &mut Call<'_>,
    route: CustomersRoute,
) -> Result<Reply, Stop> {
    if route == CustomersRoute::One {
        let id = call.params.int("id").unwrap_or_default();
        call.params.set("include", json!([id]));
    }
    let context = reports.query_context(call)?;
    let has_include = filters::listed_ids(&call.params, "include").is_some();
    let is_report = route == CustomersRoute::Report;
    let ids = if is_report && !has_include { "customers" } else { "include" };
    let (shown, total) = shown(call, (reports, &context), ids)?;
    let bodies: Vec<Value> = shown
        .iter()
        .map(|customer| linked(body(call, &context, customer), links(reports, call, customer)))
        .collect();
    let path = match route {
        CustomersRoute::Report => format!("{}/reports/customers", reports.base),
        CustomersRoute::Collection => format!("{}/customers", reports.base),
        CustomersRoute::One => {
            let pages = i64::from(total > 0).to_string();
            let reply = Reply::new(bodies).header("x-wp-total", total.to_string());
            return Ok(reply.header("x-wp-totalpages", pages));
        }
    };
    Ok(reply(call, &path, bodies, total, (&context, Beyond::Forgotten)))
}

/// The customers on the page, and how many there are in all. Where nobody is left out, or who is
/// found by a search alone, it reads no more than the page from the store.
fn shown(
    call: &mut Call<'_>,
    (reports, context): (&ReportContext, &QueryContext),
    ids: &str,
) -> Result<(Vec<Customer>, usize), Stop> {
    let by = call.params.text("orderby").unwrap_or("date_registered").to_owned();
    let descending = is_descending(call);
    let (offset, limit) = page(call);
    let selection = CustomerQuery::of(call, context, ids);
    let order = match by.as_str() {
        "date_registered" => Some(LookupOrder::Registered),
        "date_last_active" => Some(LookupOrder::LastActive),
        _ => None,
    };
    if let Some(order) = order.filter(|_| selection.is_everybody()) {
        let number = |value: usize| i64::try_from(value).unwrap_or(i64::MAX);
        let wanted = CustomerLookupFilter {
            order,
            direction: if descending { Direction::Descending } else { Direction::Ascending },
            page: Page { offset: number(offset), limit: number(limit).min(PAGE_MAX) },
            ..CustomerLookupFilter::default()
        };
        let (rows, total) = customer_lookup::list(call.conn()?, &wanted)?;
        return Ok((selection.only(rows)?, usize::try_from(total).unwrap_or_default()));
    }
    let page = (offset, limit);
    if let Some(found) = ranked::resident(call, reports, &selection, (&by, descending), page)? {
        let mut shown = selection.only(rows_of(call, &found.ids)?)?;
        let place =
            |customer: &Customer| found.ids.iter().position(|id| *id == customer.row.customer_id);
        shown.sort_by_key(place);
        return Ok((shown, found.total));
    }
    let at_least = offset.saturating_add(limit);
    if let Some(best) = selection.best_of_everybody(&by, descending, at_least)? {
        let page: Vec<i64> = best.into_iter().skip(offset).take(limit).collect();
        let place =
            |customer: &Customer| page.iter().position(|id| *id == customer.row.customer_id);
        let mut shown = selection.all(rows_of(call, &page)?)?;
        shown.sort_by_key(place);
        return Ok((shown, count_all(call)?));
    }
    let ranked =
        selection.found(call)?.into_iter().map(|customer| (rank(&by, &customer), customer));
    let mut rows: Vec<(Rank, Customer)> = ranked.collect();
    sort(&mut rows, descending);
    let total = rows.len();
    Ok((cut(rows, (offset, limit)), total))
}

/// Those who spent most in a range, for leaderboards: how many to skip, and how many to show.
pub fn best(
    call: &mut Call<'_>,
    context: &QueryContext,
    (skip, count): (usize, usize),
) -> Result<Vec<Customer>, Stop> {
    let selection = CustomerQuery::of(call, context, "customers");
    let mut buyers = selection.buyers()?;
    if !selection.must_have_bought {
        // Who spent nothing ties with those who never bought.
        buyers.retain(|(_, sums)| sums.spend > 0);
    }
    let end = skip.saturating_add(count);
    let is_enough = selection.must_have_bought || buyers.len() >= end;
    if selection.filter.is_empty() && is_enough {
        let place = |spend: i64, id: i64| (std::cmp::Reverse(spend), id);
        if end < buyers.len() {
            buyers.select_nth_unstable_by_key(end, |(id, sums)| place(sums.spend, *id));
            buyers.truncate(end);
        }
        buyers.sort_by_key(|(id, sums)| place(sums.spend, *id));
        let ids: Vec<i64> = buyers.into_iter().skip(skip).map(|(id, _)| id).collect();
        let mut best = selection.all(rows_of(call, &ids)?)?;
        best.sort_by_key(|Customer { sums, row }| place(sums.spend, row.customer_id));
        return Ok(best);
    }
    let found = selection.found(call)?;
    let mut rows: Vec<(Rank, Customer)> =
        found.into_iter().map(|customer| (rank("total_spend", &customer), customer)).collect();
    sort(&mut rows, true);
    Ok(cut(rows, (skip, count)))
}

/// How many customers there are.
fn count_all(call: &mut Call<'_>) -> Result<usize, Stop> {
    let page = Page { offset: 0, limit: 0 };
    let wanted = CustomerLookupFilter { page, ..CustomerLookupFilter::default() };
    let (_, total) = customer_lookup::list(call.conn()?, &wanted)?;
    Ok(usize::try_from(total).unwrap_or_default())
}

/// Which customers a request asks for, with what they bought.
struct CustomerQuery<'a> {
    context: &'a QueryContext,
    /// What everybody bought.
    query: Query,
    answer: OnceCell<Answer>,
    filter: filter::Filter,
    /// Only these, whatever else is asked for.
    chosen: Option<Vec<i64>>,
    must_have_bought: bool,
}

impl<'a> CustomerQuery<'a> {
    fn of(call: &Call<'_>, context: &'a QueryContext, ids: &str) -> Self {
        let range = requested_range(call);
        let query = Query {
            filter: context.counted(),
            group: Group::Customer,
            measures: MEASURES.to_vec(),
            ..Query::of(Table::Orders, DateColumn::Created, range.map_or(Span::ALWAYS, span))
        };
        let chosen =
            filters::listed_ids(&call.params, ids).filter(|_| !filters::is_any(&call.params));
        Self {
            filter: filter::Filter::read(call, context, ids),
            chosen: chosen.map(|chosen| chosen.ids().to_vec()),
            // Who is bound to some sales sees those who bought there.
            must_have_bought: range.is_some() || context.is_bound(),
            context,
            query,
            answer: OnceCell::new(),
        }
    }

    /// Asked for once it is needed: single customers are too many to be kept.
    fn answer(&self) -> types::Result<&Answer> {
        if let Some(answer) = self.answer.get() {
            return Ok(answer);
        }
        let answer = self.context.answer(&self.query)?;
        Ok(self.answer.get_or_init(|| answer))
    }

    /// These customers with what they bought; what others did is not read.
    fn only(&self, rows: Vec<CustomerLookupRow>) -> types::Result<Vec<Customer>> {
        let ids = rows.iter().map(|row| row.customer_id).collect();
        let filter = self.query.filter.clone().and(Filter::Customers(ids));
        let answer = self.context.answer(&Query { filter, ..self.query.clone() })?;
        let sums = |id: i64| Sums::of(answer.get(0, &Key::Id(id)).unwrap_or_default());
        Ok(rows.into_iter().map(|row| Customer { sums: sums(row.customer_id), row }).collect())
    }

    fn is_everybody(&self) -> bool {
        self.filter.is_empty() && !self.must_have_bought
    }

    fn all(&self, rows: Vec<CustomerLookupRow>) -> types::Result<Vec<Customer>> {
        let answer = self.answer()?;
        let sums = |id: i64| Sums::of(answer.get(0, &Key::Id(id)).unwrap_or_default());
        Ok(rows.into_iter().map(|row| Customer { sums: sums(row.customer_id), row }).collect())
    }

    /// The numbers of those who bought something, with what they bought.
    fn buyers(&self) -> types::Result<Vec<(i64, Sums)>> {
        let buyers = self.answer()?.rows().filter_map(|found| match found.key {
            Key::Id(id) if *id > 0 => Some((*id, Sums::of(found.values))),
            _ => None,
        });
        Ok(buyers.filter(|(_, sums)| sums.rows > 0).collect())
    }

    /// The numbers of those who bought most of everybody, as far as the facts alone can tell; and
    /// nothing if these are fewer than that. Others may tie with those who have nothing to show.
    fn best_of_everybody(
        &self,
        by: &str,
        descending: bool,
        at_least: usize,
    ) -> types::Result<Option<Vec<i64>>> {
        if !self.is_everybody() || !descending {
            return Ok(None);
        }
        let mut ranked: Vec<(Rank, i64)> = Vec::new();
        for (id, sums) in self.buyers()? {
            let Some(rank) = rank_of_sums(by, &sums) else { return Ok(None) };
            if matches!(rank, Rank::Number(number) if number > 0.0) {
                ranked.push((rank, id));
            }
        }
        sort(&mut ranked, true);
        let best: Vec<i64> = ranked.into_iter().map(|(_, id)| id).collect();
        Ok((best.len() >= at_least).then_some(best))
    }

    /// What everybody bought, with how many they are. Reads no customers if nobody is left out.
    fn everything(&self, call: &mut Call<'_>) -> Result<(Vec<Sums>, usize), Stop> {
        if self.is_everybody() {
            let sums = self.buyers()?.into_iter().map(|(_, sums)| sums).collect();
            return Ok((sums, count_all(call)?));
        }
        let found = self.found(call)?;
        Ok((found.iter().map(|customer| customer.sums).collect(), found.len()))
    }

    /// All who pass, by their numbers. Reads those alone who can, if these are few.
    fn found(&self, call: &mut Call<'_>) -> Result<Vec<Customer>, Stop> {
        let candidates: Option<Vec<i64>> = match &self.chosen {
            Some(chosen) => Some(chosen.clone()),
            None if self.must_have_bought => {
                Some(self.buyers()?.into_iter().map(|(id, _)| id).collect())
            }
            None => None,
        };
        let customers = match candidates.filter(|candidates| candidates.len() <= CANDIDATES_MAX) {
            Some(candidates) if self.answer.get().is_none() => {
                self.only(rows_of(call, &candidates)?)?
            }
            Some(candidates) => self.all(rows_of(call, &candidates)?)?,
            None => self.all(all_rows(call)?)?,
        };
        let is_wanted = |customer: &Customer| {
            (!self.must_have_bought || customer.sums.rows > 0) && self.filter.passes(customer)
        };
        Ok(customers.into_iter().filter(is_wanted).collect())
    }
}

/// The customers with these numbers, by them.
fn rows_of(call: &mut Call<'_>, ids: &[i64]) -> Result<Vec<CustomerLookupRow>, Stop> {
    let ids: BTreeSet<i64> = ids.iter().copied().collect();
    let ids: Vec<i64> = ids.into_iter().collect();
    let mut rows = Vec::with_capacity(ids.len());
    for some in ids.chunks(LIST_MAX) {
        let include = some.to_vec();
        let wanted = CustomerLookupFilter { include, ..CustomerLookupFilter::default() };
        rows.append(&mut customer_lookup::list(call.conn()?, &wanted)?.0);
    }
    Ok(rows)
}

/// Without bounds a customer is shown with everything that they ever bought.
fn requested_range(call: &Call<'_>) -> Option<Range> {
    let (first, last) = (bound(call, "after"), bound(call, "before"));
    if first.is_none() && last.is_none() {
        return None;
    }
    Some(Range {
        first: first.unwrap_or(seconds(Span::ALWAYS.from)),
        last: last.unwrap_or_else(|| seconds(call.now())),
    })
}

/// All customers, by their numbers. Each part goes on where the one before ended, so that none is
/// counted or skipped again.
fn all_rows(call: &mut Call<'_>) -> Result<Vec<CustomerLookupRow>, Stop> {
    let mut all: Vec<CustomerLookupRow> = Vec::new();
    loop {
        let last = all.last().map_or(i64::MIN, |row| row.customer_id);
        let mut rows = customer_lookup::after(call.conn()?, last, PAGE_MAX)?;
        if rows.is_empty() {
            return Ok(all);
        }
        all.append(&mut rows);
    }
}

pub fn name(row: &CustomerLookupRow) -> String {
    format!("{} {}", row.first_name, row.last_name).trim().to_owned()
}

fn body(call: &Call<'_>, context: &QueryContext, customer: &Customer) -> Map<String, Value> {
    let Customer { row, sums } = customer;
    let pair = |time: Option<Timestamp>| {
        let moment = time.map(|time| Moment::at(call.options(), time));
        [moment.map(|moment| written(moment.local)), moment.map(|moment| written(moment.gmt))]
    };
    let [registered, registered_gmt] = pair(row.registered);
    let [active, active_gmt] = pair(row.last_active);
    let mut body = Map::new();
    let mut put = |name: &str, value: Value| body.insert(name.to_owned(), value);
    put("id", json!(row.customer_id));
    put("user_id", json!(row.user_id.unwrap_or_default()));
    put("username", json!(row.username));
    put("name", json!(name(row)));
    put("first_name", json!(row.first_name));
    put("last_name", json!(row.last_name));
    put("email", json!(row.email));
    put("country", json!(row.country));
    put("city", json!(row.city));
    put("state", json!(row.state));
    put("postcode", json!(row.postcode));
    put("date_registered", json!(registered));
    put("date_last_active", json!(active));
    put("date_last_order", json!(sums.latest().map(|at| context.calendar.text(at))));
    put("orders_count", json!(sums.orders));
    put("total_spend", money(sums.spend));
    put("avg_order_value", number(sums.average().unwrap_or_default()));
    put("date_registered_gmt", json!(registered_gmt));
    put("date_last_active_gmt", json!(active_gmt));
    body
}

fn links(reports: &ReportContext, call: &Call<'_>, customer: &Customer) -> Links {
    if customer.row.user_id.is_none_or(|user_id| user_id == 0) {
        return Links::new();
    }
    let collection = format!("{}/customers", reports.base);
    let own = format!("{collection}/{}", customer.row.customer_id);
    Links::new()
        .to("customer", call.visit.rest(&own))
        .to("collection", call.visit.rest(&collection))
}

/// Customers as orders show them: as they are kept.
pub fn records(call: &mut Call<'_>, ids: &[i64]) -> Result<BTreeMap<i64, Value>, Stop> {
    let mut records = BTreeMap::new();
    let utc = Calendar::utc();
    for id in ids {
        let Some(row) = customer_lookup::get(call.conn()?, *id)? else { continue };
        let time = |time: Option<Timestamp>| time.map(|time| utc.text(seconds(time)));
        let record = json!({
            "customer_id": row.customer_id,
            "user_id": row.user_id.map(|id| id.to_string()),
            "username": row.username,
            "first_name": row.first_name,
            "last_name": row.last_name,
            "email": row.email,
            "date_last_active": time(row.last_active),
            "date_registered": time(row.registered),
            "country": row.country,
            "postcode": row.postcode,
            "city": row.city,
            "state": row.state,
        });
        records.insert(*id, record);
    }
    Ok(records)
}
