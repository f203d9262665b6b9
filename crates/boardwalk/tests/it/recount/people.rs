//! Customers, recomputed: who they are, what they bought, and what they do on average.

use serde_json::{Value, json};

use super::clock::{Second, written};
use super::filter::in_currency;
use super::lists::{Rank, Ranked};
use super::money::{self, Millionths, average, shown};
use super::query::Query;
use super::rows::{Buyer, Row};
use super::world::{Person, World};

/// What somebody bought.
pub(super) struct Bought<'w> {
    pub(super) person: &'w Person,
    pub(super) orders: i64,
    /// Orders and refunds.
    pub(super) rows: i64,
    pub(super) spend: Millionths,
    latest: Option<Second>,
}

impl Bought<'_> {
    fn average(&self) -> Option<f64> {
        (self.orders > 0).then(|| money::float(self.spend) / money::whole(self.orders))
    }

    pub(super) fn name(&self) -> String {
        format!("{} {}", self.person.first_name, self.person.last_name)
    }
}

/// Everybody whom the question is about.
pub(super) fn found<'w>(world: &'w World, query: &Query) -> Vec<Bought<'w>> {
    let clock = &world.choices.clock;
    let (after, before) = (query.moment("after", clock), query.moment("before", clock));
    let counts = |buyer: &Buyer, row: &Row| {
        row.buyer == *buyer
            && in_currency(world, query, row)
            && !world.choices.excluded.contains(&&*row.status)
            && after.is_none_or(|after| row.created >= after)
            && before.is_none_or(|before| row.created <= before)
    };
    let bought = world.people.iter().map(|(buyer, person)| {
        let rows: Vec<&Row> = world.rows.iter().filter(|row| counts(buyer, row)).collect();
        let count = |number: usize| i64::try_from(number).unwrap();
        Bought {
            person,
            orders: count(rows.iter().filter(|row| row.is_order()).count()),
            rows: count(rows.len()),
            spend: rows.iter().map(|row| row.total).sum(),
            latest: rows.iter().map(|row| row.created).max(),
        }
    });
    let is_ranged = after.is_some() || before.is_some();
    bought
        .filter(|bought| (!is_ranged || bought.rows > 0) && passes(world, query, bought))
        .collect()
}

fn passes(world: &World, query: &Query, bought: &Bought<'_>) -> bool {
    let mut conditions = about_person(query, bought);
    conditions.extend(about_dates(world, query, bought));
    conditions.extend(about_sums(query, bought));
    let any = query.is_any() && !conditions.is_empty();
    if any { conditions.contains(&true) } else { conditions.iter().all(|holds| *holds) }
}

fn about_person(query: &Query, bought: &Bought<'_>) -> Vec<bool> {
    let person = bought.person;
    let mut conditions = Vec::new();
    if let Some(search) = query.text("search") {
        let searched = match query.text("searchby").unwrap_or("name") {
            "username" => person.username.clone(),
            "email" => person.email.clone(),
            "all" => format!("{} {} {}", bought.name(), person.username, person.email),
            _ => bought.name(),
        };
        conditions.push(searched.to_lowercase().contains(&search.to_lowercase()));
    }
    for (name, own) in [
        ("name", bought.name()),
        ("username", person.username.clone()),
        ("email", person.email.clone()),
        ("country", person.country.clone()),
    ] {
        let listed = |name: &str| {
            let list = query.texts(name)?;
            Some(list.iter().any(|text| text.to_lowercase() == own.to_lowercase()))
        };
        conditions.extend(listed(&format!("{name}_includes")));
        conditions.extend(listed(&format!("{name}_excludes")).map(|is| !is));
    }
    let is_in = |name: &str| {
        let places = query.texts(name)?;
        Some(places.iter().any(|place| match place.split_once(':') {
            Some((country, state)) => country == person.country && state == person.state,
            None => *place == person.country,
        }))
    };
    conditions.extend(is_in("location_includes"));
    conditions.extend(is_in("location_excludes").map(|is| !is));
    let chosen = if query.route == "customers" { "include" } else { "customers" };
    conditions.extend(query.ids(chosen).map(|ids| ids.contains(&person.id)));
    conditions.extend(query.ids("users").map(|ids| person.user != 0 && ids.contains(&person.user)));
    match query.text("user_type") {
        Some("registered") => conditions.push(person.user != 0),
        Some("guest") => conditions.push(person.user == 0),
        _ => {}
    }
    if let Some(filled) = query.texts("filter_empty") {
        conditions.push(filled.iter().all(|name| !match *name {
            "email" => person.email.is_empty(),
            "country" => person.country.is_empty(),
            "city" => person.city.is_empty(),
            "state" => person.state.is_empty(),
            "postcode" => person.postcode.is_empty(),
            _ => bought.name().trim().is_empty(),
        }));
    }
    conditions
}

fn about_dates(world: &World, query: &Query, bought: &Bought<'_>) -> Vec<bool> {
    let mut conditions = Vec::new();
    for (name, own) in [("registered", bought.person.registered), ("last_order", bought.latest)] {
        let bound = |end: &str| query.moment(&format!("{name}_{end}"), &world.choices.clock);
        let (after, before) = (bound("after"), bound("before"));
        if after.is_some() || before.is_some() {
            conditions.push(own.is_some_and(|own| {
                after.is_none_or(|after| own >= after) && before.is_none_or(|before| own <= before)
            }));
        }
    }
    conditions
}

/// Bounds of what they bought, each included. Figures of who bought nothing are 0.
fn about_sums(query: &Query, bought: &Bought<'_>) -> Vec<bool> {
    let mut conditions = Vec::new();
    for (name, own) in [
        ("orders_count", money::whole(bought.orders)),
        ("total_spend", money::float(bought.spend)),
        ("avg_order_value", bought.average().unwrap_or_default()),
    ] {
        let pair: Vec<f64> = query
            .members(&format!("{name}_between"))
            .iter()
            .map(|text| text.parse().unwrap())
            .collect();
        let (least, most) = match pair.as_slice() {
            [one, other] => (Some(one.min(*other)), Some(one.max(*other))),
            _ => (query.number(&format!("{name}_min")), query.number(&format!("{name}_max"))),
        };
        if least.is_some() || most.is_some() {
            let is_enough = least.is_none_or(|least| own >= least);
            conditions.push(is_enough && most.is_none_or(|most| own <= most));
        }
    }
    conditions
}

/// The rows of the list.
pub(super) fn expected(world: &World, query: &Query) -> Vec<Ranked> {
    let clock = world.choices.clock;
    let row = |bought: Bought<'_>| {
        let person = bought.person;
        let rank = match query.text("orderby").unwrap_or("date_registered") {
            "username" => Rank::text(&person.username),
            "name" => Rank::text(&bought.name()),
            "first_name" => Rank::text(&person.first_name),
            "last_name" => Rank::text(&person.last_name),
            "email" => Rank::text(&person.email),
            "location" => Rank::text(&format!("{}\u{1}{}", person.state, person.country)),
            "country" => Rank::text(&person.country),
            "city" => Rank::text(&person.city),
            "state" => Rank::text(&person.state),
            "postcode" => Rank::text(&person.postcode),
            "orders_count" => Rank::int(bought.orders),
            "total_spend" => Rank::int(bought.spend),
            "avg_order_value" => Rank::Number(bought.average().unwrap_or_default()),
            _ => person.registered.map_or(Rank::Nothing, Rank::int),
        };
        let iso = |at: Second| written(at, 'T');
        let body = json!({
            "id": person.id, "user_id": person.user, "username": person.username,
            "name": bought.name(), "first_name": person.first_name,
            "last_name": person.last_name, "email": person.email, "country": person.country,
            "city": person.city, "state": person.state, "postcode": person.postcode,
            "date_registered": person.registered.map(|at| iso(clock.local(at))),
            "date_registered_gmt": person.registered.map(iso),
            "date_last_order": bought.latest.map(|at| clock.text(at)),
            "orders_count": bought.orders, "total_spend": shown(bought.spend),
            "avg_order_value": average(bought.spend, bought.orders),
        });
        (rank, body)
    };
    let mut found = found(world, query);
    found.sort_by_key(|bought| bought.person.id);
    found.into_iter().map(row).collect()
}

/// The totals of `customers/stats`: who bought nothing is a customer, and in no average.
pub(super) fn totals(world: &World, query: &Query) -> Value {
    let found = found(world, query);
    let count =
        |is: fn(&&Bought<'_>) -> bool| i64::try_from(found.iter().filter(is).count()).unwrap();
    let (buyers, payers) = (count(|one| one.orders > 0), count(|one| one.rows > 0));
    let orders = found.iter().map(|one| one.orders).sum();
    let spend: Millionths = found.iter().map(|one| one.spend).sum();
    let averages: f64 = found.iter().filter_map(Bought::average).sum();
    json!({
        "customers_count": found.len(),
        "avg_orders_count": money::ratio(orders, buyers),
        "avg_total_spend": average(spend, payers),
        "avg_avg_order_value": if buyers == 0 { 0.0 } else { averages / money::whole(buyers) },
    })
}
