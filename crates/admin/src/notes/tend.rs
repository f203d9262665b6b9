//! What is done about notes once in a while: the snoozed ones wake, and a day that sold more than
//! any before is told of.

use db::{Conn, counter};
use frame::Options;
use serde_json::json;
use shop_rows::order;
use types::{Amount, Result, Timestamp};

use super::raise::{NewAction, NewNote, raise};
use crate::rows::admin_note::{self, NoteKind};

const NAME: &str = "new-sales-record";
/// The greatest sum of a day, in millionths.
const RECORD: &str = "admin.sales_record";
/// States in which an order counts as sold.
const SOLD: &[&str] = &["processing", "on-hold", "completed"];
const DAY_US: i64 = 24 * 60 * 60 * 1_000_000;
const REVENUE: &str = "/portal/analytics/revenue";
const DECIMALS_MAX: u32 = 6;

/// Whether [`tend`] would change anything.
pub fn is_due(conn: &mut dyn Conn, now: Timestamp) -> Result<bool> {
    let options = Options::read(conn)?;
    Ok(admin_note::is_any_due(conn, now)? || yesterday(conn, &options, now)?.is_record)
}

/// Wakes notes, puts away surveys that were answered, and tells of a record.
pub fn tend(conn: &mut dyn Conn, now: Timestamp) -> Result<()> {
    admin_note::settle(conn, now)?;
    let options = Options::read(conn)?;
    let day = yesterday(conn, &options, now)?;
    if !day.is_record {
        return Ok(());
    }
    counter::raise(conn, RECORD, day.sold.as_millionths())?;
    // The first day of all has nothing to be better than.
    if day.before == Amount::ZERO {
        return Ok(());
    }
    let decimals = u32::try_from(options.integer("woocommerce_price_num_decimals"));
    let decimals = decimals.unwrap_or(2).min(DECIMALS_MAX);
    let currency = options.text("woocommerce_currency");
    let [sold, before] = [day.sold, day.before].map(|amount| amount.to_text(decimals));
    let note = NewNote {
        name: NAME,
        kind: NoteKind::Info,
        title: String::from("Yesterday was your best day yet"),
        content: format!(
            "Sales reached {sold} {currency}; the previous record was {before} {currency}."
        ),
        data: json!({ "sold": sold, "record": before, "currency": currency }),
        action: Some(NewAction::page("view-revenue", "View revenue", REVENUE)),
    };
    raise(conn, &note, now).map(drop)
}

#[derive(Debug)]
struct Day {
    sold: Amount,
    before: Amount,
    is_record: bool,
}

/// What was sold on the last whole day of the site's calendar.
fn yesterday(conn: &mut dyn Conn, options: &Options, now: Timestamp) -> Result<Day> {
    let local = options.local(now).as_micros();
    let midnight = local - local.rem_euclid(DAY_US);
    let at = |micros: i64| options.from_local(Timestamp::from_micros(micros));
    let sums = order::sums_between(conn, at(midnight - DAY_US), at(midnight))?;
    let sold = sums.iter().filter(|(status, _)| SOLD.contains(&status.as_str()));
    let sold = sold.fold(Amount::ZERO, |sum, (_, amount)| sum + *amount);
    let before = Amount::from_millionths(counter::read(conn, RECORD)?);
    Ok(Day { sold, before, is_record: sold > before })
}
