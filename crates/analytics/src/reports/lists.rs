//! Reports as lists: a row for each order, product, coupon and so on, sorted and by pages.

pub mod categories;
pub mod coupons;
pub mod customers;
pub mod downloads;
pub mod orders;
pub mod products;
pub mod stock;
pub mod taxes;
pub mod variations;

use std::cmp::Ordering;

use contract::rest::{Links, Reply, Schema, Stop};
use db::filter::fold;
use frame::Call;
use frame::paging::with_totals;
use serde_json::{Map, Value, json};

use crate::columns::Plan;
use crate::compat::{Beyond, Rule};
use crate::context::{Cards, QueryContext, ReportContext};
use crate::query::{Answer, IdSet, Key};

/// The answer with its rows and headers.
pub fn reply(
    call: &Call<'_>,
    path: &str,
    rows: Vec<Value>,
    total: usize,
    (context, beyond): (&QueryContext, Beyond),
) -> Reply {
    let total = i64::try_from(total).unwrap_or(i64::MAX);
    let is_beyond = rows.is_empty() && context.follows(Rule::TotalsForgotten);
    let reply = context.with_notes(Reply::new(rows));
    match beyond {
        Beyond::Forgotten if is_beyond => {
            reply.header("x-wp-total", "0").header("x-wp-totalpages", "0")
        }
        Beyond::RowsOnly if is_beyond => {
            reply.header("x-wp-total", total.to_string()).header("x-wp-totalpages", "0")
        }
        _ => with_totals(reply, call, path, total),
    }
}

/// How many rows there are; or how many ids were asked for, found or not.
pub fn total(context: &QueryContext, wanted: Option<usize>, rows: usize) -> usize {
    let is_of_ids = context.follows(Rule::TotalsOfIds) && !context.is_bound();
    wanted.filter(|_| is_of_ids).unwrap_or(rows)
}

/// The offset and the length of the page.
pub fn page(call: &Call<'_>) -> (usize, usize) {
    let number = |name: &str, usual: i64| {
        usize::try_from(call.params.int(name).unwrap_or(usual).max(0)).unwrap_or_default()
    };
    let per_page = number("per_page", super::args::PER_PAGE);
    (number("page", 1).saturating_sub(1).saturating_mul(per_page), per_page)
}

pub fn is_descending(call: &Call<'_>) -> bool {
    call.params.text("order") != Some("asc")
}

/// What rows are compared by.
#[derive(Clone, Debug, PartialEq)]
pub enum Rank {
    /// Before everything else.
    Nothing,
    Number(f64),
    Text(String),
}

impl Rank {
    pub fn int(value: i64) -> Self {
        Self::Number(crate::columns::float(value))
    }

    /// Letters without their case and marks, as people look for them.
    pub fn text(text: &str) -> Self {
        Self::Text(plain(text))
    }

    fn compare(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::Nothing, Self::Nothing) => Ordering::Equal,
            (Self::Nothing, _) | (Self::Number(_), Self::Text(_)) => Ordering::Less,
            (_, Self::Nothing) | (Self::Text(_), Self::Number(_)) => Ordering::Greater,
            (Self::Number(one), Self::Number(two)) => one.total_cmp(two),
            (Self::Text(one), Self::Text(two)) => one.cmp(two),
        }
    }
}

/// A text without the case and the marks of its letters.
pub fn plain(text: &str) -> String {
    if text.is_ascii() {
        return text.to_ascii_lowercase();
    }
    let apart = icu_normalizer::DecomposingNormalizerBorrowed::new_nfd().normalize(text);
    fold(&apart.chars().filter(|letter| !is_mark(*letter)).collect::<String>())
}

/// Accents and the like, once they stand apart from their letters.
fn is_mark(letter: char) -> bool {
    ('\u{300}'..='\u{36f}').contains(&letter)
}

/// Sorts rows by their ranks; those that tie keep the order in which they come.
pub fn sort<T>(rows: &mut [(Rank, T)], descending: bool) {
    rows.sort_by(|(one, _), (other, _)| {
        let order = one.compare(other);
        if descending { order.reverse() } else { order }
    });
}

/// The rows of the page, sorted; those that tie keep the order in which they come.
fn sorted_page<T>(call: &Call<'_>, mut rows: Vec<(Rank, T)>) -> Vec<T> {
    sort(&mut rows, is_descending(call));
    cut(rows, page(call))
}

/// The rows of the page.
pub fn cut<T>(rows: Vec<(Rank, T)>, (offset, limit): (usize, usize)) -> Vec<T> {
    rows.into_iter().skip(offset).take(limit).map(|(_, row)| row).collect()
}

/// A record's id, and its numbers.
pub type Row = (i64, Vec<i64>);

/// The numbers of those that were asked for, be it nothing; or of all that were found. **Who sees
/// some sales only is shown no record without one**, be it asked for.
pub fn rows(context: &QueryContext, answer: &Answer, wanted: Option<&IdSet>) -> Vec<Row> {
    if let Some(wanted) = wanted {
        let row = |id: i64| match answer.get(0, &Key::Id(id)) {
            None if context.is_bound() => None,
            values => Some((id, values.unwrap_or_default().to_vec())),
        };
        return wanted.ids().iter().filter_map(|id| row(*id)).collect();
    }
    let row = |key: &Key, values: &[i64]| match key {
        Key::Id(id) => Some((*id, values.to_vec())),
        _ => None,
    };
    answer.rows().filter_map(|found| row(found.key, found.values)).collect()
}

/// What a row is sorted by if that is a column.
pub fn rank_of(plan: &Plan, name: &str, values: &[i64]) -> Rank {
    let value = plan.number(name, values).and_then(|value| value.as_f64());
    Rank::Number(value.unwrap_or_default())
}

/// The description of a row; all of its members are shown in every view and never taken.
pub fn described(title: &str, members: impl IntoIterator<Item = (&'static str, Schema)>) -> Value {
    let shown = |(name, schema): (&'static str, Schema)| {
        (name, schema.context(&["view", "edit"]).readonly())
    };
    let members = members.into_iter().map(shown);
    contract::rest::Item::new(title, Schema::object(members)).document()
}

/// A row with its links.
pub fn linked(body: Map<String, Value>, links: Links) -> Value {
    let mut body = body;
    if let Some(links) = links.into_value() {
        body.insert(String::from("_links"), links);
    }
    Value::Object(body)
}

/// The address of a record of analytics.
pub fn record(call: &Call<'_>, reports: &ReportContext, path: &str) -> String {
    call.visit.rest(&format!("{}{path}", reports.base))
}

/// What commerce tells about the products, if the request wants to know.
pub fn product_cards(
    reports: &ReportContext,
    call: &mut Call<'_>,
    ids: &[i64],
) -> Result<Option<Cards>, Stop> {
    if !call.params.flag("extended_info") {
        return Ok(None);
    }
    (reports.shop.products)(call, ids).map(Some)
}

/// Some members of a card, in this order; those that it does not have are left out.
pub fn chosen(card: &Value, names: &[&str]) -> Map<String, Value> {
    let member = |name: &&str| Some(((*name).to_owned(), card.get(*name)?.clone()));
    names.iter().filter_map(member).collect()
}

/// A description without anything in it.
pub fn nothing() -> Value {
    json!({})
}
