//! Which customers a request asks for.
//!
//! With `match=any` one filter is enough, be it about the person or about what they bought. Who
//! never bought has bought nothing: 0 orders, for 0.

use std::collections::BTreeSet;

use contract::rest::Params;
use frame::Call;
use frame::dates::Moment;
use shop_rows::customer_lookup::CustomerLookupRow;
use types::Timestamp;

use super::{Customer, name};
use crate::columns::{float, money_as_float};
use crate::compat::Rule;
use crate::context::{QueryContext, bound, seconds};
use crate::reports::filters;
use crate::reports::lists::plain;

type Test = Box<dyn Fn(&Customer) -> bool>;
/// What somebody has of something; nothing where that cannot be said.
type Number = Box<dyn Fn(&Customer) -> Option<f64>>;

pub(super) struct Filter {
    any: bool,
    /// Whether one filter of each group must hold where any would do.
    is_grouped: bool,
    person: Vec<Test>,
    sums: Vec<Test>,
    /// In which column to search, and the folded text.
    search: Option<(String, String)>,
}

impl Filter {
    pub(super) fn read(call: &Call<'_>, context: &QueryContext, ids: &str) -> Self {
        let params = &call.params;
        let any = filters::is_any(params);
        let mut person = by_text(params, any, ids);
        person.extend(by_moment(call, "registered", |customer| customer.row.registered));
        person.extend(by_moment(call, "last_active", |customer| customer.row.last_active));
        person.extend(by_kind(params));
        person.extend(by_place(params));
        let counts_refunds = context.follows(Rule::RefundsAreOrders);
        let is_exclusive = context.follows(Rule::BoundsExclude);
        let count = move |customer: &Customer| {
            let sums = customer.sums;
            Some(float(if counts_refunds { sums.rows } else { sums.orders }))
        };
        let spend = move |customer: &Customer| {
            let is_known = !is_exclusive || customer.sums.rows > 0;
            is_known.then(|| money_as_float(customer.sums.spend))
        };
        let average = move |customer: &Customer| match count(customer) {
            Some(count) if count > 0.0 => Some(money_as_float(customer.sums.spend) / count),
            _ => (!is_exclusive).then_some(0.0),
        };
        let mut sums: Vec<Test> = Vec::new();
        let mut add = |name: &str, number: Number| {
            sums.extend(by_number(params, name, number, is_exclusive));
        };
        add("orders_count", Box::new(count));
        add("total_spend", Box::new(spend));
        add("avg_order_value", Box::new(average));
        sums.extend(by_last_order(call));
        Self {
            any,
            is_grouped: context.follows(Rule::PersonAndFigures),
            person,
            sums,
            search: search(params),
        }
    }

    /// The column and the folded text, if a search is all that is asked for.
    pub(super) fn search_alone(&self) -> Option<(&str, &str)> {
        let is_alone = self.person.len() == 1 && self.sums.is_empty();
        self.search.as_ref().filter(|_| is_alone).map(|(by, text)| (by.as_str(), text.as_str()))
    }

    /// Whether everybody passes.
    pub(super) fn is_empty(&self) -> bool {
        self.person.is_empty() && self.sums.is_empty()
    }

    pub(super) fn passes(&self, customer: &Customer) -> bool {
        let holds = |tests: &[Test]| {
            tests.is_empty()
                || if self.any {
                    tests.iter().any(|test| test(customer))
                } else {
                    tests.iter().all(|test| test(customer))
                }
        };
        if self.any && !self.is_grouped && !self.person.is_empty() && !self.sums.is_empty() {
            return holds(&self.person) || holds(&self.sums);
        }
        holds(&self.person) && holds(&self.sums)
    }
}

/// Texts with commas between, folded; nothing if there are none.
fn listed(params: &Params, name: &str) -> Option<Vec<String>> {
    let text = params.text(name)?;
    let texts: Vec<String> =
        text.split(',').map(str::trim).filter(|text| !text.is_empty()).map(plain).collect();
    (!texts.is_empty()).then_some(texts)
}

/// In which column to search, and the folded text.
fn search(params: &Params) -> Option<(String, String)> {
    let text = params.text("search").filter(|text| !text.is_empty())?;
    Some((params.text("searchby").unwrap_or("name").to_owned(), plain(text)))
}

/// The folded text of a customer that a search in a column looks through.
pub(super) fn searched(by: &str, row: &CustomerLookupRow) -> String {
    plain(&match by {
        "username" => row.username.clone(),
        "email" => row.email.clone(),
        "all" => format!("{} {} {}", name(row), row.username, row.email),
        _ => name(row),
    })
}

/// Search, names and ids.
fn by_text(params: &Params, any: bool, ids: &str) -> Vec<Test> {
    let mut tests: Vec<Test> = Vec::new();
    if let Some((by, text)) = search(params) {
        tests.push(Box::new(move |customer| searched(&by, &customer.row).contains(&text)));
    }
    let mut included: Option<BTreeSet<i64>> = None;
    let mut excluded: Option<BTreeSet<i64>> = None;
    for column in ["name", "username", "email"] {
        let value = move |customer: &Customer| match column {
            "username" => plain(&customer.row.username),
            "email" => plain(&customer.row.email),
            _ => plain(&name(&customer.row)),
        };
        if let Some(texts) = listed(params, &format!("{column}_includes")) {
            match numbers(&texts) {
                Some(numbers) => included = Some(combined(included, numbers, any)),
                None => {
                    tests.push(Box::new(move |customer| texts.contains(&value(customer))));
                }
            }
        }
        if let Some(texts) = listed(params, &format!("{column}_excludes")) {
            match numbers(&texts) {
                Some(numbers) => excluded = Some(combined(excluded, numbers, !any)),
                None => {
                    tests.push(Box::new(move |customer| !texts.contains(&value(customer))));
                }
            }
        }
    }
    if let Some(chosen) = filters::listed_ids(params, ids) {
        included = Some(combined(included, chosen.ids().iter().copied().collect(), any));
    }
    if let Some(left_out) = filters::ids(params, "customers_exclude") {
        excluded = Some(combined(excluded, left_out.ids().iter().copied().collect(), !any));
    }
    if let Some(included) = included {
        tests.push(Box::new(move |customer| included.contains(&customer.row.customer_id)));
    }
    if let Some(excluded) = excluded {
        tests.push(Box::new(move |customer| !excluded.contains(&customer.row.customer_id)));
    }
    tests
}

/// Numbers of customers, if all of the texts are numbers.
fn numbers(texts: &[String]) -> Option<BTreeSet<i64>> {
    texts.iter().map(|text| text.parse().ok()).collect()
}

fn combined(one: Option<BTreeSet<i64>>, other: BTreeSet<i64>, united: bool) -> BTreeSet<i64> {
    match one {
        None => other,
        Some(one) if united => one.union(&other).copied().collect(),
        Some(one) => one.intersection(&other).copied().collect(),
    }
}

/// Bounds of a moment, both included, in UTC.
fn by_moment(call: &Call<'_>, name: &str, of: fn(&Customer) -> Option<Timestamp>) -> Option<Test> {
    let parse = |text: &str| Moment::parse(call.options(), text, true).map(|moment| moment.gmt);
    let single = |end: &str| call.params.text(&format!("{name}_{end}")).and_then(parse);
    let mut pair: Vec<Timestamp> = call
        .params
        .texts(&format!("{name}_between"))
        .iter()
        .filter_map(|text| parse(text))
        .collect();
    pair.sort_unstable();
    let after = pair.first().copied().or_else(|| single("after"));
    let before = pair.last().copied().or_else(|| single("before"));
    if after.is_none() && before.is_none() {
        return None;
    }
    Some(Box::new(move |customer| {
        of(customer).is_some_and(|at| {
            after.is_none_or(|after| seconds(at) >= seconds(after))
                && before.is_none_or(|before| seconds(at) <= seconds(before))
        })
    }))
}

fn by_last_order(call: &Call<'_>) -> Option<Test> {
    let (after, before) = (bound(call, "last_order_after"), bound(call, "last_order_before"));
    if after.is_none() && before.is_none() {
        return None;
    }
    Some(Box::new(move |customer| {
        customer.sums.latest().is_some_and(|at| {
            after.is_none_or(|after| at >= after) && before.is_none_or(|before| at <= before)
        })
    }))
}

/// Bounds include themselves; or a bound alone does not.
fn by_number(params: &Params, name: &str, of: Number, is_exclusive: bool) -> Option<Test> {
    let one = |end: &str| params.number(&format!("{name}_{end}"));
    let mut pair: Vec<f64> =
        params.ints(&format!("{name}_between")).into_iter().map(float).collect();
    pair.sort_by(f64::total_cmp);
    let (least, most) = match pair.as_slice() {
        [least, most] => (Some(*least), Some(*most)),
        _ => (one("min"), one("max")),
    };
    match (least, most) {
        (None, None) => None,
        (Some(least), Some(most)) => Some(Box::new(move |customer| {
            of(customer).is_some_and(|value| (least..=most).contains(&value))
        })),
        (Some(least), None) => Some(Box::new(move |customer| {
            of(customer).is_some_and(|value| value > least || (!is_exclusive && value >= least))
        })),
        (None, Some(most)) => Some(Box::new(move |customer| {
            of(customer).is_some_and(|value| value < most || (!is_exclusive && value <= most))
        })),
    }
}

/// Users or guests, some users, and what must not be empty.
fn by_kind(params: &Params) -> Vec<Test> {
    let mut tests: Vec<Test> = Vec::new();
    let is_user = |customer: &Customer| customer.row.user_id.is_some_and(|id| id != 0);
    match params.text("user_type") {
        Some("registered") => tests.push(Box::new(is_user)),
        Some("guest") => tests.push(Box::new(move |customer| !is_user(customer))),
        _ => {}
    }
    if let Some(users) = filters::ids(params, "users") {
        tests.push(Box::new(move |customer| {
            customer.row.user_id.is_some_and(|user_id| users.contains(user_id))
        }));
    }
    let filled = params.texts("filter_empty");
    if !filled.is_empty() {
        tests.push(Box::new(move |customer| {
            let row = &customer.row;
            filled.iter().all(|column| match column.as_str() {
                "email" => !row.email.is_empty(),
                "name" => !name(row).is_empty(),
                "country" => !row.country.is_empty(),
                "city" => !row.city.is_empty(),
                "state" => !row.state.is_empty(),
                "postcode" => !row.postcode.is_empty(),
                _ => true,
            })
        }));
    }
    tests
}

/// Countries, and countries with states.
fn by_place(params: &Params) -> Vec<Test> {
    let mut tests: Vec<Test> = Vec::new();
    if let Some(countries) = listed(params, "country_includes") {
        tests.push(Box::new(move |customer| countries.contains(&plain(&customer.row.country))));
    }
    if let Some(countries) = listed(params, "country_excludes") {
        tests.push(Box::new(move |customer| !countries.contains(&plain(&customer.row.country))));
    }
    let is_in = |places: &[String], customer: &Customer| {
        let (country, state) = (plain(&customer.row.country), plain(&customer.row.state));
        places.iter().any(|place| match place.split_once(':') {
            Some((place, part)) => place == country && part == state,
            None => *place == country,
        })
    };
    if let Some(places) = listed(params, "location_includes") {
        tests.push(Box::new(move |customer| is_in(&places, customer)));
    }
    if let Some(places) = listed(params, "location_excludes") {
        tests.push(Box::new(move |customer| !is_in(&places, customer)));
    }
    tests
}
