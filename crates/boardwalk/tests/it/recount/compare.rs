//! Answers beside what they must be. Every difference is told, none stops the others.

use std::collections::BTreeSet;

use serde_json::Value;
use testkit::http::Response;

use super::lists::{self, Rank, Ranked};
use super::query::Query;
use super::shop::Shop;
use super::stats::{self, Expected};
use super::world::World;
use super::{filter, money, people};

/// Numbers that differ by less are the same: far less than the smallest coin, and more than the
/// millionths to which shares of shipping are rounded.
const TOLERANCE: f64 = 1e-4;
/// Differences of one answer that are told.
const TOLD_MAX: usize = 4;

/// Asks, and tells what is wrong with the answers.
pub(super) struct Checker<'s> {
    pub(super) shop: &'s Shop,
    pub(super) world: &'s World,
    pub(super) asked: usize,
    pub(super) wrong: Vec<String>,
}

impl Checker<'_> {
    fn tell(&mut self, query: &Query, differences: Vec<String>) {
        if differences.is_empty() {
            return;
        }
        let more = differences.len().saturating_sub(TOLD_MAX);
        let shown: Vec<String> = differences.into_iter().take(TOLD_MAX).collect();
        let path = query.path();
        self.wrong.push(format!("{path}\n    {} (+{more})", shown.join("\n    ")));
    }

    /// Orders in other currencies are counted in a header.
    fn left_out(&self, response: &Response, query: &Query) -> Option<String> {
        let route = query.route.as_str();
        let is_told = matches!(route, "reports/orders/stats" | "reports/revenue/stats");
        if !is_told {
            return None;
        }
        let every = Query { every_currency: query.text("currency").is_none(), ..query.clone() };
        let others = stats::counted(self.world, &every).into_iter().filter(|counted| {
            counted.row.is_order() && !filter::in_currency(self.world, query, counted.row)
        });
        let (count, name) = (others.count(), "X-Boardwalk-Other-Currency-Orders");
        let told = response.header(name).map_or(0, |text| text.parse().unwrap());
        (told != count).then(|| format!("{name} is {told}, and not {count}"))
    }

    fn answer(&mut self, query: &Query) -> Option<(Response, Value)> {
        self.asked += 1;
        let response = self.shop.get(&query.path());
        if response.status != 200 {
            let said = format!("answered {}: {}", response.status, response.text());
            self.tell(query, vec![said]);
            return None;
        }
        let body = response.json().unwrap();
        Some((response, body))
    }

    /// A report over time: its totals, the page of its intervals, and its sums.
    pub(super) fn stats(&mut self, query: &Query) {
        let Some((response, body)) = self.answer(query) else { return };
        let expected = stats::expected(self.world, query);
        let mut differences = headers(&response, query, expected.intervals.len());
        let slice = query.slice(expected.intervals.len());
        let is_shown = !slice.is_empty();
        if is_shown {
            differences.extend(self.left_out(&response, query));
            let totals = Value::Object(expected.totals.clone());
            differ(&totals, &body["totals"], "totals", &mut differences);
        }
        let is_whole = slice.len() == expected.intervals.len();
        let intervals = body["intervals"].as_array().cloned().unwrap_or_default();
        same_intervals(query, expected, &intervals, &mut differences);
        if is_shown {
            let whole = is_whole.then_some(intervals.as_slice());
            super::sums::check(query, &body["totals"], whole, &intervals, &mut differences);
        }
        self.tell(query, differences);
    }

    /// All pages of a report over time are all of its intervals.
    pub(super) fn all_intervals(&mut self, query: &Query) {
        let count = stats::intervals(self.world, query).len();
        let mut seen: Vec<String> = Vec::new();
        for page in 1..=count.div_ceil(query.per_page()) {
            let query = query.clone().with("page", page);
            let Some((_, body)) = self.answer(&query) else { return };
            let intervals = body["intervals"].as_array().cloned().unwrap_or_default();
            seen.extend(intervals.iter().map(|interval| interval["date_start_gmt"].to_string()));
        }
        let different: BTreeSet<&String> = seen.iter().collect();
        if seen.len() != count || different.len() != count {
            let said = format!("{} of {count} intervals on all pages", different.len());
            self.tell(query, vec![said]);
        }
    }

    /// A list: the rows of a page in their order.
    pub(super) fn list(&mut self, query: &Query) {
        let Some((response, body)) = self.answer(query) else { return };
        let expected = lists::expected(self.world, query);
        let mut differences = headers(&response, query, expected.len());
        let rows = body.as_array().cloned().unwrap_or_default();
        let identity = lists::identity(&query.route);
        same_page(query, expected, &rows, identity, &mut differences);
        self.tell(query, differences);
    }

    /// All pages of a list are all of its rows.
    pub(super) fn all_rows(&mut self, query: &Query) {
        let expected = lists::expected(self.world, query);
        let identity = lists::identity(&query.route);
        let mut seen: Vec<String> = Vec::new();
        for page in 1..=expected.len().div_ceil(query.per_page()) {
            let query = query.clone().with("page", page);
            let Some((_, body)) = self.answer(&query) else { return };
            let rows = body.as_array().cloned().unwrap_or_default();
            seen.extend(rows.iter().map(|row| known_by(row, identity)));
        }
        seen.sort();
        let mut wanted: Vec<String> =
            expected.iter().map(|(_, row)| known_by(row, identity)).collect();
        wanted.sort();
        if seen != wanted {
            self.tell(query, vec![format!("all pages have {seen:?}, and not {wanted:?}")]);
        }
    }

    /// An answer that has totals and nothing else.
    pub(super) fn totals(&mut self, query: &Query) {
        let Some((_, body)) = self.answer(query) else { return };
        let expected = match query.route.as_str() {
            "reports/customers/stats" => people::totals(self.world, query),
            _ => stock_totals(self.world),
        };
        let mut differences = Vec::new();
        differ(&expected, &body["totals"], "totals", &mut differences);
        self.tell(query, differences);
    }

    /// Only the totals, where the range is the last seven days of the server's clock.
    pub(super) fn usual_range(&mut self, query: &Query, now: i64) {
        let Some((_, body)) = self.answer(query) else { return };
        let ranged = query
            .clone()
            .with("after", format!("{}Z", super::clock::written(now - 7 * 86_400, 'T')))
            .with("before", format!("{}Z", super::clock::written(now + 60, 'T')));
        let mut differences = Vec::new();
        let totals = Value::Object(stats::expected(self.world, &ranged).totals);
        differ(&totals, &body["totals"], "totals", &mut differences);
        self.tell(query, differences);
    }

    /// The indicators that are named, or all.
    pub(super) fn indicators(&mut self, query: &Query) {
        let Some((_, body)) = self.answer(query) else { return };
        let mut differences = Vec::new();
        let rows = body.as_array().cloned().unwrap_or_default();
        let wanted: Vec<&str> = query.texts("stats").unwrap_or_else(|| INDICATORS.to_vec());
        for stat in &wanted {
            let (report, column) = stat.split_once('/').unwrap();
            let mut stats = Query::of(&format!("reports/{report}/stats"));
            for name in ["after", "before"] {
                stats.set(name, query.text(name).unwrap());
            }
            let expected = stats::expected(self.world, &stats.with("interval", "year")).totals;
            match rows.iter().find(|row| row["stat"] == *stat) {
                Some(row) => differ(&expected[column], &row["value"], stat, &mut differences),
                None => differences.push(format!("{stat} is not there")),
            }
        }
        if rows.len() != wanted.len() {
            differences.push(format!("{} indicators, and not {}", rows.len(), wanted.len()));
        }
        self.tell(query, differences);
    }

    /// A leaderboard: names, numbers and amounts of those on top.
    pub(super) fn leaderboard(&mut self, query: &Query) {
        let Some((_, body)) = self.answer(query) else { return };
        let board = query.route.rsplit('/').next().unwrap();
        let expected = best(self.world, query, board);
        let cell = |row: &Value, place: usize| row[place]["value"].clone();
        let rows: Vec<Value> = body[0]["rows"]
            .as_array()
            .unwrap()
            .iter()
            .map(|row| {
                serde_json::json!({ "name": cell(row, 0), "count": cell(row, 1),
                    "amount": cell(row, 2) })
            })
            .collect();
        let mut differences = Vec::new();
        let query = query.clone().with("order", "desc");
        same_page(&query, expected, &rows, &["name"], &mut differences);
        self.tell(&query, differences);
    }
}

const INDICATORS: [&str; 15] = [
    "revenue/total_sales",
    "revenue/net_revenue",
    "orders/orders_count",
    "orders/avg_order_value",
    "products/items_sold",
    "revenue/refunds",
    "coupons/orders_count",
    "coupons/amount",
    "taxes/total_tax",
    "taxes/order_tax",
    "taxes/shipping_tax",
    "revenue/shipping",
    "downloads/download_count",
    "revenue/gross_sales",
    "variations/items_sold",
];

/// Names of all indicators, with commas.
pub(super) fn all_indicators() -> String {
    INDICATORS.join(",")
}

fn best(world: &World, query: &Query, board: &str) -> Vec<Ranked> {
    let (route, count, amount) = match board {
        "customers" => ("reports/customers", "orders_count", "total_spend"),
        "coupons" => ("reports/coupons", "orders_count", "amount"),
        "categories" => ("reports/categories", "items_sold", "net_revenue"),
        _ => ("reports/products", "items_sold", "net_revenue"),
    };
    let by = if board == "customers" { amount } else { count };
    let mut list = Query { route: route.to_owned(), ..query.clone() };
    list.set("orderby", by);
    list.set("extended_info", "true");
    let row = |(rank, row): Ranked| {
        let name = ["name", "code"].iter().find_map(|name| {
            let own = row.get(*name).or_else(|| row["extended_info"].get(*name));
            own.cloned()
        });
        (rank, serde_json::json!({ "name": name, "count": row[count], "amount": row[amount] }))
    };
    lists::expected(world, &list).into_iter().map(row).collect()
}

fn stock_totals(world: &World) -> Value {
    let all = || world.products.values().chain(world.variations.values());
    let of = |status: &str| all().filter(|record| record["stock_status"] == status).count();
    serde_json::json!({
        "lowstock": all().filter(|record| lists::is_low(record)).count(),
        "instock": of("instock"),
        "outofstock": of("outofstock"),
        "onbackorder": of("onbackorder"),
        "products": all().count(),
    })
}

fn headers(response: &Response, query: &Query, total: usize) -> Vec<String> {
    let pages = total.div_ceil(query.per_page());
    let expected = [("X-WP-Total", total), ("X-WP-TotalPages", pages)];
    let differs = |(name, value): (&str, usize)| {
        let sent = response.header(name).unwrap_or_default();
        (sent != value.to_string()).then(|| format!("{name} is {sent:?}, and not {value}"))
    };
    expected.into_iter().filter_map(differs).collect()
}

fn known_by(row: &Value, identity: &[&str]) -> String {
    let members: Vec<String> = identity.iter().map(|name| row[*name].to_string()).collect();
    members.join("/")
}

fn same_intervals(
    query: &Query,
    expected: Expected,
    intervals: &[Value],
    differences: &mut Vec<String>,
) {
    let ranked = expected.intervals.into_iter();
    let ranked = ranked.map(|(rank, body)| (Rank::Number(rank), body)).collect();
    same_page(query, ranked, intervals, &["interval", "date_start_gmt"], differences);
}

/// Whether it is documented and can be seen what decides among rows that tie. Of dates that records
/// show to the second, the product knows parts of a second.
fn has_ties_broken(query: &Query) -> bool {
    let is_other = matches!(&*query.route, "reports/stock" | "reports/downloads")
        || query.route.starts_with("leaderboards");
    let by_date = matches!(query.text("orderby"), None | Some("date" | "date_registered"));
    !is_other && (!by_date || query.route.ends_with("/stats"))
}

/// The rows of a page: each is right, and in a place where its rank belongs.
fn same_page(
    query: &Query,
    mut expected: Vec<Ranked>,
    rows: &[Value],
    identity: &[&str],
    differences: &mut Vec<String>,
) {
    if query.route == "reports/orders" && query.is_descending() {
        expected.reverse();
    }
    expected.sort_by(|(one, _), (other, _)| {
        let order = one.compare(other);
        if query.is_descending() { order.reverse() } else { order }
    });
    let slice = query.slice(expected.len());
    if rows.len() != slice.len() {
        let ids: Vec<String> = rows.iter().map(|row| known_by(row, identity)).collect();
        let wanted: Vec<String> =
            expected[slice.clone()].iter().map(|(_, row)| known_by(row, identity)).collect();
        differences.push(format!("the page has {ids:?}, and not {wanted:?}"));
    }
    let mut seen = BTreeSet::new();
    for (row, place) in rows.iter().zip(slice) {
        let id = known_by(row, identity);
        if !seen.insert(id.clone()) {
            differences.push(format!("{id} is there twice"));
        }
        let Some((rank, wanted)) = expected.iter().find(|(_, row)| known_by(row, identity) == id)
        else {
            differences.push(format!("{id} does not belong there"));
            continue;
        };
        differ(wanted, row, &id, differences);
        let due = known_by(&expected[place].1, identity);
        let is_out = has_ties_broken(query) && id != due;
        if is_out || rank.compare(&expected[place].0).is_ne() {
            differences.push(format!("{id} ({rank:?}) is in the place of {due}"));
        }
    }
}

/// Tells where a value differs from what is expected. Members that nobody expects are fine, unless
/// they are numbers among the columns of a report.
pub(super) fn differ(expected: &Value, actual: &Value, at: &str, differences: &mut Vec<String>) {
    match (expected, actual) {
        (Value::Number(_), Value::Number(_)) => {
            let float = |value: &Value| value.as_f64().unwrap();
            if (float(expected) - float(actual)).abs() > TOLERANCE {
                differences.push(format!("{at} is {actual}, and not {expected}"));
            }
        }
        (Value::Object(members), Value::Object(others)) => {
            for (name, member) in members {
                let other = others.get(name).unwrap_or(&Value::Null);
                differ(member, other, &format!("{at}.{name}"), differences);
            }
            let is_columns = at.ends_with("totals");
            let unknown = others.iter().filter(|(name, _)| !members.contains_key(*name));
            for (name, _) in unknown.filter(|(_, value)| is_columns && value.is_number()) {
                differences.push(format!("{at}.{name} was not asked for"));
            }
        }
        (Value::Array(items), Value::Array(others)) => {
            if items.len() != others.len() {
                differences.push(format!(
                    "{at} has {} items, and not {}: {actual} instead of {expected}",
                    others.len(),
                    items.len()
                ));
            }
            for (place, (item, other)) in items.iter().zip(others).enumerate() {
                let id = item.get("segment_id").map_or_else(|| place.to_string(), Value::to_string);
                differ(item, other, &format!("{at}[{id}]"), differences);
            }
        }
        _ if expected == actual => {}
        _ => differences.push(format!("{at} is {actual}, and not {expected}")),
    }
}

/// The same number, for sums of what an answer says.
pub(super) fn is_same(one: f64, other: f64) -> bool {
    (one - other).abs() <= TOLERANCE * money::whole(10)
}
