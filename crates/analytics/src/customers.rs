//! Customers: who they are, what they bought, and what they do on average.
//!
//! Who they are comes from the store, what they bought from the facts.

pub mod args;
mod filter;

use std::collections::BTreeMap;

use contract::rest::{Item, Links, Reply, Schema, Stop};
use serde_json::{Map, Value, json};
use site::Call;
use site::content::dates::{Moment, written};
use store::customer_lookup::{self, CustomerLookupFilter, CustomerLookupRow};
use store::filter::{PAGE_MAX, Page};
use types::Timestamp;

use crate::calendar::{Calendar, Range, Second};
use crate::columns::{float, money, money_as_float, number, ratio};
use crate::desk::{Desk, Inquiry, bound, seconds, span};
use crate::query::{Column as Of, DateColumn, Group, Key, Measure, Per, Query, Span, Table, When};
use crate::reports::lists::{self, Beyond, Rank, cut, linked, page, reply, sort};

const MEASURES: [Measure; 4] = [
    Measure::Rows(When::Order),
    Measure::Rows(When::Always),
    Measure::Sum(Of::Total, When::Always, Per::Row),
    Measure::Latest(DateColumn::Created),
];

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
pub enum Door {
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
    let date = |about: &str| Schema::date_time().about(about);
    let members = [
        ("id", whole("Number of the customer.")),
        ("user_id", whole("Number of the user; 0 for a guest.")),
        ("name", text("First and last name.")),
        ("first_name", text("First name.")),
        ("last_name", text("Last name.")),
        ("email", text("E-mail address.")),
        ("username", text("Name to sign in with.")),
        ("country", text("Code of the country.")),
        ("city", text("City.")),
        ("state", text("Code of the state.")),
        ("postcode", text("Postcode.")),
        ("date_registered", date("When they registered, in the site's time.")),
        ("date_registered_gmt", date("When they registered, in UTC.")),
        ("date_last_active", date("When they were last active, in the site's time.")),
        ("date_last_active_gmt", date("When they were last active, in UTC.")),
        ("orders_count", whole("Number of orders.")),
        ("total_spend", Schema::number().about("What they paid, less refunds.")),
        ("avg_order_value", Schema::number().about("What they paid for an order on average.")),
    ];
    lists::described("report_customers", members)
}

/// The customers that a request asks for.
pub fn list(desk: &Desk, call: &mut Call<'_>, door: Door) -> Result<Reply, Stop> {
    if door == Door::One {
        let id = call.params.int("id").unwrap_or_default();
        call.params.set("include", json!([id]));
    }
    let inquiry = desk.inquire(call);
    let found = found(call, &inquiry, if door == Door::Report { "customers" } else { "include" })?;
    let by = call.params.text("orderby").unwrap_or("date_registered").to_owned();
    let ranked = found.into_iter().map(|customer| (rank(&by, &customer), customer));
    let mut rows: Vec<(Rank, Customer)> = ranked.collect();
    sort(&mut rows, lists::is_descending(call));
    let total = rows.len();
    let shown = cut(rows, page(call));
    let bodies: Vec<Value> = shown
        .iter()
        .map(|customer| linked(body(call, &inquiry, customer), links(desk, call, customer)))
        .collect();
    let path = match door {
        Door::Report => format!("{}/reports/customers", desk.base),
        Door::Collection => format!("{}/customers", desk.base),
        Door::One => {
            let pages = i64::from(total > 0).to_string();
            let reply = Reply::new(bodies).header("x-wp-total", total.to_string());
            return Ok(reply.header("x-wp-totalpages", pages));
        }
    };
    Ok(reply(call, &path, bodies, total, (&inquiry, Beyond::Forgotten)))
}

/// Those who spent most in a range, for leaderboards.
pub fn best(call: &mut Call<'_>, inquiry: &Inquiry, count: usize) -> Result<Vec<Customer>, Stop> {
    let found = found(call, inquiry, "customers")?;
    let mut rows: Vec<(Rank, Customer)> =
        found.into_iter().map(|customer| (rank("total_spend", &customer), customer)).collect();
    sort(&mut rows, true);
    Ok(cut(rows, (0, count)))
}

/// All customers that pass the filters; `ids` names the parameter that chooses some.
fn found(call: &mut Call<'_>, inquiry: &Inquiry, ids: &str) -> Result<Vec<Customer>, Stop> {
    let range = asked_range(call);
    let filter = filter::Filter::read(call, inquiry, ids);
    let customers = with_sums(call, inquiry, range)?;
    // Who is bound to some sales sees those who bought there.
    let must_have_bought = range.is_some() || inquiry.is_bound();
    let is_wanted = |customer: &Customer| {
        (!must_have_bought || customer.sums.rows > 0) && filter.passes(customer)
    };
    Ok(customers.into_iter().filter(is_wanted).collect())
}

/// Without bounds a customer is shown with everything that they ever bought.
fn asked_range(call: &Call<'_>) -> Option<Range> {
    let (first, last) = (bound(call, "after"), bound(call, "before"));
    if first.is_none() && last.is_none() {
        return None;
    }
    Some(Range {
        first: first.unwrap_or(seconds(Span::ALWAYS.from)),
        last: last.unwrap_or_else(|| seconds(call.now())),
    })
}

fn with_sums(
    call: &mut Call<'_>,
    inquiry: &Inquiry,
    range: Option<Range>,
) -> Result<Vec<Customer>, Stop> {
    let span = range.map_or(Span::ALWAYS, span);
    let query = Query {
        filter: inquiry.counted(),
        group: Group::Customer,
        measures: MEASURES.to_vec(),
        ..Query::of(Table::Orders, DateColumn::Created, span)
    };
    let answer = inquiry.answer(&query);
    let sums = |id: i64| Sums::of(answer.get(0, &Key::Id(id)).unwrap_or_default());
    let rows = all_rows(call)?.into_iter();
    Ok(rows.map(|row| Customer { sums: sums(row.customer_id), row }).collect())
}

fn all_rows(call: &mut Call<'_>) -> Result<Vec<CustomerLookupRow>, Stop> {
    let mut all = Vec::new();
    loop {
        let offset = i64::try_from(all.len()).unwrap_or(i64::MAX);
        let page = Page { offset, limit: PAGE_MAX };
        let wanted = CustomerLookupFilter { page, ..CustomerLookupFilter::default() };
        let (mut rows, total) = customer_lookup::list(call.conn()?, &wanted)?;
        let is_last = rows.is_empty();
        all.append(&mut rows);
        if is_last || i64::try_from(all.len()).unwrap_or(i64::MAX) >= total {
            return Ok(all);
        }
    }
}

pub fn name(row: &CustomerLookupRow) -> String {
    format!("{} {}", row.first_name, row.last_name).trim().to_owned()
}

fn rank(by: &str, customer: &Customer) -> Rank {
    let Customer { row, sums } = customer;
    let moment =
        |time: Option<Timestamp>| time.map_or(Rank::Nothing, |time| Rank::int(time.as_micros()));
    let bought = |value: i64| if sums.rows > 0 { Rank::int(value) } else { Rank::Nothing };
    match by {
        "username" => Rank::text(&row.username),
        "name" => Rank::text(&name(row)),
        "first_name" => Rank::text(&row.first_name),
        "last_name" => Rank::text(&row.last_name),
        "email" => Rank::text(&row.email),
        "location" => Rank::text(&format!("{}\u{1}{}", row.state, row.country)),
        "country" => Rank::text(&row.country),
        "city" => Rank::text(&row.city),
        "state" => Rank::text(&row.state),
        "postcode" => Rank::text(&row.postcode),
        "date_last_active" => moment(row.last_active),
        "orders_count" => Rank::int(sums.orders),
        "total_spend" => bought(sums.spend),
        "avg_order_value" => sums.average().map_or(Rank::Nothing, Rank::Number),
        _ => moment(row.registered),
    }
}

fn body(call: &Call<'_>, inquiry: &Inquiry, customer: &Customer) -> Map<String, Value> {
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
    put("date_last_order", json!(sums.latest().map(|at| inquiry.calendar.text(at))));
    put("orders_count", json!(sums.orders));
    put("total_spend", money(sums.spend));
    put("avg_order_value", number(sums.average().unwrap_or_default()));
    put("date_registered_gmt", json!(registered_gmt));
    put("date_last_active_gmt", json!(active_gmt));
    body
}

fn links(desk: &Desk, call: &Call<'_>, customer: &Customer) -> Links {
    if customer.row.user_id.is_none_or(|user_id| user_id == 0) {
        return Links::new();
    }
    let collection = format!("{}/customers", desk.base);
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

pub fn stats_document() -> Value {
    let number = |about: &str| Schema::number().about(about);
    let totals = Schema::object([
        ("customers_count", Schema::integer().about("Number of customers.")),
        ("avg_orders_count", number("Orders of a customer on average.")),
        ("avg_total_spend", number("What a customer paid on average.").format("currency")),
        ("avg_avg_order_value", number("Value of an order on average.").format("currency")),
    ]);
    Item::new("report_customers_stats", Schema::object([("totals", totals)])).document()
}

/// What customers do on average. Who bought nothing counts as a customer, and in no average.
pub fn stats(desk: &Desk, call: &mut Call<'_>) -> Result<Reply, Stop> {
    let inquiry = desk.inquire(call);
    for name in ["after", "before", "searchby", "users", "user_type", "filter_empty"]
        .into_iter()
        .chain(["location_includes", "location_excludes"])
    {
        call.params.remove(name);
    }
    let found = found(call, &inquiry, "customers")?;
    let count = |wanted: fn(&Sums) -> bool| -> i64 {
        let all = found.iter().filter(|customer| wanted(&customer.sums)).count();
        i64::try_from(all).unwrap_or(i64::MAX)
    };
    let (buyers, payers) = (count(|sums| sums.orders > 0), count(|sums| sums.rows > 0));
    let orders: i64 = found.iter().map(|customer| customer.sums.orders).sum();
    let spend: i64 = found.iter().map(|customer| customer.sums.spend).sum();
    let averages: f64 = found.iter().filter_map(|customer| customer.sums.average()).sum();
    let per = |value: f64, count: i64| {
        if count == 0 { json!(0) } else { number(value / float(count)) }
    };
    let totals = [
        ("customers_count", json!(found.len())),
        ("avg_orders_count", if buyers == 0 { json!(0) } else { ratio(orders, buyers) }),
        ("avg_total_spend", per(money_as_float(spend), payers)),
        ("avg_avg_order_value", per(averages, buyers)),
    ];
    let fields = call.params.texts("fields");
    let is_shown = |name: &str| fields.is_empty() || fields.iter().any(|field| field == name);
    let totals: Map<String, Value> = totals
        .into_iter()
        .filter(|(name, _)| is_shown(name))
        .map(|(name, value)| (name.to_owned(), value))
        .collect();
    Ok(Reply::new(json!({ "totals": totals })))
}
