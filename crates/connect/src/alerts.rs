//! Tells when a store behaves unlike itself. It is compared with its own days only, by what
//! [`crate::days`] keeps of them:
//!
//! - **It stopped selling** if there were no orders on whole days on which, by the same days of the
//!   four weeks before, at least `alert_orders_expected` were to be expected. Ends with the next
//!   order.
//! - **The refund rate jumped** if what was refunded in the last seven days is at least
//!   `alert_refund_percent` of gross sales, and at least `alert_refund_factor` times the rate of
//!   the 28 days before. Ends when the rate is below three quarters of that limit.
//!
//! An alert is raised once, and no other of its kind until it has ended and a day has passed.

use std::sync::atomic::Ordering;

use db::Conn;
use onboarding::connections::alerts::{self, NewAlert};
use onboarding::connections::calendar::{day_number, day_of, day_text};
use onboarding::rows::connection;
use onboarding::rows::connection_alert::{self, AlertKind, AlertRow};
use onboarding::rows::portfolio::{self, DayRow};
use serde_json::{Value, json};
use types::Timestamp;

use crate::Settings;
use crate::work::{Halt, Work};

/// Days of which a store's usual is made: four of each day of the week.
const USUAL_DAYS: i64 = 28;
const WEEKS: i64 = USUAL_DAYS / 7;
/// A store that has been silent for longer has stopped long ago.
const SILENT_DAYS_MAX: i64 = 92;
/// Days whose refunds are looked at.
const REFUND_DAYS: i64 = 7;
/// Fewer orders say nothing about a rate.
const REFUND_ORDERS_MIN: i64 = 10;
/// A store that sells one thing a day is not told of every time.
const PAUSE_US: i64 = 86_400 * 1_000_000;
/// Rates are in hundredths of a percent.
const WHOLE: i64 = 10_000;
const PERCENT: i64 = WHOLE / 100;

/// Looks at the store's days, if they changed or a new day began there.
pub(crate) async fn look(work: &mut Work) -> Result<(), Halt> {
    let now = work.now();
    let today = day_of(work.store.site.options().await?.local(now));
    let seen = Some((today, work.cursor.days_at.unwrap_or_default()));
    if work.cursor.alerts_seen == seen {
        return Ok(());
    }
    let (row, settings) = (work.row.clone(), work.stores.settings.clone());
    let recently = Timestamp::from_micros(now.as_micros() - PAUSE_US);
    let first = day_text(today - SILENT_DAYS_MAX - USUAL_DAYS);
    let update = move |conn: &mut dyn Conn| {
        if !connection::is_held_by(conn, &row)? {
            return Ok(None);
        }
        let days = History::of(portfolio::recent_days(conn, &row, &first)?, today);
        let open = connection_alert::open(conn, &row)?;
        let mut raised = 0;
        for kind in [AlertKind::NoOrders, AlertKind::RefundRate] {
            let lasting = open.iter().find(|alert| alert.kind == kind);
            match (lasting, days.state(kind, &settings, lasting)) {
                (Some(alert), State::Usual) => alerts::end(conn, &row, alert, now)?,
                (None, State::Unusual(alert))
                    if !connection_alert::is_since(conn, &row, kind, recently)? =>
                {
                    alerts::raise(conn, &row, &alert, now)?;
                    raised += 1;
                }
                _ => {}
            }
        }
        Ok(Some(raised))
    };
    let Some(raised) = work.stores.platform.store.write(update).await? else {
        return Err(Halt::Lost);
    };
    work.stores.alerts.fetch_add(raised, Ordering::Relaxed);
    work.cursor.alerts_seen = seen;
    work.save().await
}

#[derive(Debug)]
enum State {
    Usual,
    Unusual(NewAlert),
}

/// The last days of a store.
#[derive(Debug)]
struct History {
    /// By the number of the day.
    days: Vec<(i64, DayRow)>,
    /// The day on which it is now at the store.
    today: i64,
}

impl History {
    fn of(days: Vec<DayRow>, today: i64) -> Self {
        let numbered = days.into_iter().filter_map(|day| Some((day_number(&day.day)?, day)));
        Self { days: numbered.collect(), today }
    }

    /// `lasting` is the alert of that kind that was raised before.
    fn state(&self, kind: AlertKind, settings: &Settings, lasting: Option<&AlertRow>) -> State {
        let details = lasting.and_then(|alert| serde_json::from_str(&alert.details).ok());
        let found = match kind {
            AlertKind::NoOrders => self.silence(settings, details.as_ref()),
            AlertKind::RefundRate => self.refunds(settings, details.as_ref()),
        };
        found.map_or(State::Usual, |(message, details)| {
            State::Unusual(NewAlert { kind, message, details })
        })
    }

    fn between(&self, from: i64, to: i64) -> impl Iterator<Item = &(i64, DayRow)> {
        self.days.iter().filter(move |(day, _)| (from..=to).contains(day))
    }

    fn silence(&self, settings: &Settings, lasting: Option<&Value>) -> Option<(String, Value)> {
        let wanted = i64::from(settings.alert_orders_expected);
        let last = self.days.iter().rev().find(|(_, day)| day.orders > 0).map(|(day, _)| *day);
        if wanted == 0 {
            return None;
        }
        if let Some(lasting) = lasting {
            // It lasts until there is a newer order, however long ago the last one was.
            let since = lasting.get("lastOrderDay").and_then(Value::as_str).and_then(day_number);
            let is_over = last.is_some_and(|last| since.is_none_or(|since| last > since));
            return (!is_over).then(|| (String::new(), lasting.clone()));
        }
        let last = last?;
        let (first, silent) = (last - USUAL_DAYS + 1, last + 1..self.today);
        let is_known = self.days.first().is_some_and(|(day, _)| *day <= first);
        if !is_known || self.today - last > SILENT_DAYS_MAX {
            return None;
        }
        let usual = |weekday: i64| -> i64 {
            let same = self.between(first, last).filter(|(day, _)| day.rem_euclid(7) == weekday);
            same.map(|(_, day)| day.orders).sum()
        };
        let days = silent.end - silent.start;
        let expected = silent.map(|day| usual(day.rem_euclid(7))).sum::<i64>() / WEEKS;
        if expected < wanted {
            return None;
        }
        let last = day_text(last);
        let message = format!("No orders since {last}. About {expected} were expected by now.");
        let details =
            json!({ "lastOrderDay": last, "silentDays": days, "expectedOrders": expected });
        Some((message, details))
    }

    fn refunds(&self, settings: &Settings, lasting: Option<&Value>) -> Option<(String, Value)> {
        let least = i64::from(settings.alert_refund_percent) * PERCENT;
        if least == 0 {
            return None;
        }
        let start = self.today - REFUND_DAYS + 1;
        let recent = Refunds::of(self.between(start, self.today));
        let usual = Refunds::of(self.between(start - USUAL_DAYS, start - 1));
        let limit = |usual: i64| least.max(usual * i64::from(settings.alert_refund_factor));
        if let Some(lasting) = lasting {
            // It is compared with what was usual before it began.
            let usual = lasting.get("usualRate").and_then(Value::as_i64).unwrap_or_default();
            let is_over = recent.rate().unwrap_or_default() < limit(usual) * 3 / 4;
            return (!is_over).then(|| (String::new(), lasting.clone()));
        }
        let is_known = recent.orders >= REFUND_ORDERS_MIN && usual.orders >= 2 * REFUND_ORDERS_MIN;
        let (rate, before) = (recent.rate()?, usual.rate()?);
        if !is_known || rate < limit(before) {
            return None;
        }
        let message = format!(
            "Refunds were {} of gross sales in the last {REFUND_DAYS} days, compared with {} in \
             the {USUAL_DAYS} days before.",
            percent(rate),
            percent(before)
        );
        Some((message, json!({ "rate": rate, "usualRate": before })))
    }
}

/// A rate such as `12.5%`.
fn percent(rate: i64) -> String {
    let tenths = (rate + 5) / 10;
    format!("{}.{}%", tenths / 10, tenths % 10)
}

#[derive(Clone, Copy, Debug, Default)]
struct Refunds {
    orders: i64,
    gross: i64,
    given_back: i64,
}

impl Refunds {
    fn of<'d>(days: impl Iterator<Item = &'d (i64, DayRow)>) -> Self {
        days.fold(Self::default(), |sum, (_, day)| Self {
            orders: sum.orders.saturating_add(day.orders),
            gross: sum.gross.saturating_add(day.gross),
            given_back: sum.given_back.saturating_add(day.refunds.abs()),
        })
    }

    fn rate(self) -> Option<i64> {
        if self.gross <= 0 {
            return None;
        }
        let rate = i128::from(self.given_back) * i128::from(WHOLE) / i128::from(self.gross);
        Some(i64::try_from(rate).unwrap_or(i64::MAX / WHOLE))
    }
}

#[cfg(test)]
mod tests;
