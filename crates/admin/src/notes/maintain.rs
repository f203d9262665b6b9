//! What is done about notes once in a while: the snoozed ones wake, and a day that sold more than
//! any before is told of. What days came to is asked of the reports, and not counted here.

use db::{Conn, counter};
use frame::Options;
use serde_json::json;
use types::{Amount, Result, Timestamp};

use super::raise::{NewAction, NewNote, raise};
use crate::rows::admin_note::{self, NoteKind};

const NAME: &str = "new-sales-record";
/// The last day that a note told of, as a number such as 20261115.
const DAY_TOLD: &str = "admin.sales_record_day";
const REVENUE: &str = "/portal/analytics/revenue";
const DECIMALS_MAX: u32 = 6;

/// What the last whole day of the site's calendar came to, by the reports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LastDay {
    /// Such as `2026-11-15`.
    pub day: String,
    pub sold: Amount,
    /// What the best day before it came to; zero where there is none.
    pub best_before: Amount,
}

impl LastDay {
    /// The first day of all has nothing to be better than.
    fn is_record(&self) -> bool {
        self.best_before > Amount::ZERO && self.sold > self.best_before
    }

    fn number(&self) -> i64 {
        self.day.replace('-', "").parse().unwrap_or_default()
    }

    fn is_news(&self, conn: &mut dyn Conn) -> Result<bool> {
        Ok(self.is_record() && counter::read(conn, DAY_TOLD)? < self.number())
    }
}

/// Whether [`maintain`] would change anything.
pub fn is_due(conn: &mut dyn Conn, last_day: Option<&LastDay>, now: Timestamp) -> Result<bool> {
    if admin_note::is_any_due(conn, now)? {
        return Ok(true);
    }
    last_day.map_or(Ok(false), |day| day.is_news(conn))
}

/// Wakes notes, puts away surveys that were answered, and tells of a record.
pub fn maintain(conn: &mut dyn Conn, last_day: Option<&LastDay>, now: Timestamp) -> Result<()> {
    admin_note::settle(conn, now)?;
    let Some(day) = last_day else { return Ok(()) };
    if !day.is_news(conn)? {
        return Ok(());
    }
    counter::raise(conn, DAY_TOLD, day.number())?;
    let options = Options::read(conn)?;
    let decimals = u32::try_from(options.integer("woocommerce_price_num_decimals"));
    let decimals = decimals.unwrap_or(2).min(DECIMALS_MAX);
    let currency = options.text("woocommerce_currency");
    let [sold, before] = [day.sold, day.best_before].map(|amount| amount.to_text(decimals));
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
