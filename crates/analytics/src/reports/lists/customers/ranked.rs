//! What customers are sorted by, and those who are found in memory.

use contract::rest::Stop;
use frame::Call;
use shop_rows::customer_lookup::CustomerLookupRow;
use types::Timestamp;

use super::{Customer, CustomerQuery, Sums, filter, name};
use crate::context::ReportContext;
use crate::facts::{Found, Question};
use crate::reports::lists::Rank;

/// The page of a list that is sorted by what customers are, of everybody or of those whom a search
/// finds; nothing if more is asked for, or the customers cannot be kept in memory.
pub(super) fn resident(
    call: &mut Call<'_>,
    reports: &ReportContext,
    selection: &CustomerQuery<'_>,
    (by, descending): (&str, bool),
    (offset, limit): (usize, usize),
) -> Result<Option<Found>, Stop> {
    let search = selection.filter.search_alone();
    let is_known = !selection.must_have_bought && (selection.filter.is_empty() || search.is_some());
    if !is_known || rank_of_sums(by, &Sums::default()).is_some() {
        return Ok(None);
    }
    let question = Question { by, descending, search, offset, limit };
    Ok(reports.facts.customers().ask(call.conn()?, &question, &bytes)?)
}

/// What a column has of a customer, as bytes in the order of their ranks.
fn bytes(column: &str, row: &CustomerLookupRow) -> Vec<u8> {
    let moment = |time: Option<Timestamp>| {
        let place = |time: Timestamp| format!("{:016x}", time.as_micros().wrapping_sub(i64::MIN));
        time.map(place).unwrap_or_default()
    };
    let text = match column {
        "all" => filter::searched(column, row),
        "date_last_active" => moment(row.last_active),
        _ => match rank_of_row(column, row) {
            Rank::Text(text) => text,
            Rank::Nothing | Rank::Number(_) => moment(row.registered),
        },
    };
    text.into_bytes()
}

pub(super) fn rank(by: &str, customer: &Customer) -> Rank {
    rank_of_sums(by, &customer.sums).unwrap_or_else(|| rank_of_row(by, &customer.row))
}

fn rank_of_row(by: &str, row: &CustomerLookupRow) -> Rank {
    let moment =
        |time: Option<Timestamp>| time.map_or(Rank::Nothing, |time| Rank::int(time.as_micros()));
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
        _ => moment(row.registered),
    }
}

/// What customers are sorted by if that is what they bought.
pub(super) fn rank_of_sums(by: &str, sums: &Sums) -> Option<Rank> {
    Some(match by {
        "orders_count" => Rank::int(sums.orders),
        "total_spend" => Rank::int(sums.spend),
        "avg_order_value" => Rank::Number(sums.average().unwrap_or_default()),
        _ => return None,
    })
}
