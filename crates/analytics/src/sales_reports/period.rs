//! The time that a sales report is about, in days or months of the site's calendar.

use contract::rest::{Args, ParamError, Schema, Treatment, loose};
use frame::dates::{self, Moment};
use frame::{Call, Options};
use serde_json::Value;
use types::Timestamp;

use crate::query::Span;

const DAY_MICROS: i64 = 86_400_000_000;
/// Nothing is calculated from before that.
const YEARS_BACK: i64 = 20;
/// More than so many whole months are shown by month instead of by day.
const MONTHS_BY_DAY_MAX: usize = 3;
/// Days or months of one report: forty years.
const PARTS_MAX: usize = 480;

/// A period with its parts, of which there is at least one.
#[derive(Debug, PartialEq)]
pub(super) struct Period {
    pub(super) whole: Span,
    /// `day` or `month`.
    pub(super) grouped_by: &'static str,
    /// Each with its name: `2026-11-15` or `2026-11`.
    pub(super) parts: Vec<(String, Span)>,
}

impl Period {
    /// Where its parts begin, and where the last one ends.
    pub(super) fn bounds(&self) -> Vec<Timestamp> {
        let starts = self.parts.iter().map(|(_, span)| span.from);
        starts.chain([self.whole.until]).collect()
    }
}

pub(super) fn args() -> Args {
    let date = |about: &str| Schema::text().format("date").about(about);
    let periods = ["week", "month", "last_month", "year"];
    Args::new()
        .arg("period", Schema::text().choices(&periods).about("Report period."))
        .treated("date_min", date("Start date."), Treatment::Checked(is_day))
        .treated("date_max", date("End date."), Treatment::Checked(is_day))
}

/// Four digits, two and two; whether the calendar has such a day is not asked.
fn is_day(value: &Value, param: &str) -> Result<(), Option<ParamError>> {
    let text = loose::scalar_text(value).unwrap_or_default();
    let fits = |(place, byte): (usize, u8)| match place {
        4 | 7 => byte == b'-',
        _ => byte.is_ascii_digit(),
    };
    if text.len() == 10 && text.bytes().enumerate().all(fits) {
        return Ok(());
    }
    let message = format!("{param} must be a day such as 2026-03-31.");
    Err(Some(ParamError::new("woocommerce_rest_invalid_date", message)))
}

/// The period that a call asks for: a named one, or from one day to another; else today.
pub(super) fn of(call: &Call<'_>) -> Period {
    let (options, params) = (call.options(), &call.params);
    let today = midnight(options.local(call.now()));
    let given = |name: &str| params.text(name).and_then(day);
    let month = month_of(today, 0);
    let (from, to, by_month) = match params.text("period") {
        Some("week") => (days_later(today, -6), today, false),
        Some("month") => (month, today, false),
        Some("last_month") => (month_of(today, -1), days_later(month, -1), false),
        Some("year") => (year_of(today), today, true),
        _ => {
            let earliest = month_of(today, -12 * YEARS_BACK);
            let (first, last) = (given("date_min"), given("date_max"));
            let from = match (first, last) {
                (None, None) => today,
                (first, _) => first.unwrap_or(earliest).max(earliest),
            };
            let to = last.unwrap_or(today);
            (from, to, whole_months(from, to) > MONTHS_BY_DAY_MAX)
        }
    };
    divided(options, from, to, by_month)
}

/// The period from one day of the site to another, both included, in its parts. One that ends
/// before it begins is empty.
fn divided(options: &Options, from: Timestamp, to: Timestamp, by_month: bool) -> Period {
    let end = days_later(to, 1);
    let span = |from: Timestamp, until: Timestamp| {
        let from = options.from_local(from);
        Span { from, until: options.from_local(until).max(from) }
    };
    let mut parts = Vec::new();
    let mut start = from;
    loop {
        let next = if by_month { month_of(start, 1) } else { days_later(start, 1) };
        let written = dates::written(start);
        let name = written.get(..if by_month { 7 } else { 10 }).unwrap_or_default();
        parts.push((name.to_owned(), span(start, next.min(end))));
        start = next;
        if start >= end || parts.len() == PARTS_MAX {
            break;
        }
    }
    let grouped_by = if by_month { "month" } else { "day" };
    Period { whole: span(from, start.min(end)), grouped_by, parts }
}

/// How often a month can be added before the last day is passed.
fn whole_months(from: Timestamp, to: Timestamp) -> usize {
    let written = dates::written(from);
    let number =
        |start: usize, end: usize| -> Option<i64> { written.get(start..end)?.parse().ok() };
    let day_of_month = number(8, 10).unwrap_or(1);
    let after = |months: &usize| {
        let months = i64::try_from(*months).unwrap_or(i64::MAX);
        days_later(month_of(from, months), day_of_month - 1)
    };
    (1..=PARTS_MAX).take_while(|months| after(months) <= to).count()
}

/// A day as the site's time, written as if it were UTC. One that the month does not have rolls
/// over.
fn day(text: &str) -> Option<Timestamp> {
    let moment = Moment::parse(&Options::default(), &format!("{text}T00:00:00"), true)?;
    Some(moment.gmt)
}

fn midnight(local: Timestamp) -> Timestamp {
    Timestamp::from_micros(local.as_micros().div_euclid(DAY_MICROS) * DAY_MICROS)
}

fn days_later(day: Timestamp, days: i64) -> Timestamp {
    Timestamp::from_micros(day.as_micros().saturating_add(days.saturating_mul(DAY_MICROS)))
}

fn year_of(local: Timestamp) -> Timestamp {
    let written = dates::written(local);
    let year = written.get(..4).unwrap_or_default();
    day(&format!("{year}-01-01")).unwrap_or(local)
}

/// The first day of the month so many months later.
fn month_of(local: Timestamp, later: i64) -> Timestamp {
    let written = dates::written(local);
    let number =
        |start: usize, end: usize| -> Option<i64> { written.get(start..end)?.parse().ok() };
    let (Some(year), Some(month)) = (number(0, 4), number(5, 7)) else { return local };
    let months = (year * 12 + month - 1).saturating_add(later);
    let (year, month) = (months.div_euclid(12), months.rem_euclid(12) + 1);
    day(&format!("{year:04}-{month:02}-01")).unwrap_or(local)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Timestamp {
        day(text).unwrap()
    }

    #[test]
    fn days_and_months_are_those_of_the_calendar() {
        assert_eq!(month_of(at("2026-01-31"), 1), at("2026-02-01"));
        assert_eq!(month_of(at("2026-01-31"), -1), at("2025-12-01"));
        assert_eq!(year_of(at("2026-11-15")), at("2026-01-01"));
        assert_eq!(days_later(at("2024-02-28"), 1), at("2024-02-29"));
        for (from, to, expected) in [
            ("2026-01-15", "2026-02-14", 0),
            ("2026-01-15", "2026-02-15", 1),
            ("2026-01-15", "2026-05-15", 4),
            ("2026-05-15", "2026-01-15", 0),
            ("0001-01-01", "9999-01-01", PARTS_MAX),
        ] {
            assert_eq!(whole_months(at(from), at(to)), expected, "{from} {to}");
        }
    }

    #[test]
    fn a_period_has_parts_without_gaps() {
        let options = Options::default();
        for (from, to, by_month, names) in [
            ("2026-02-27", "2026-03-01", false, &["2026-02-27", "2026-02-28", "2026-03-01"][..]),
            ("2026-02-27", "2026-04-02", true, &["2026-02", "2026-03", "2026-04"]),
            ("2026-02-27", "2026-02-27", false, &["2026-02-27"]),
            ("2026-02-27", "2026-01-01", false, &["2026-02-27"]),
        ] {
            let period = divided(&options, at(from), at(to), by_month);
            let found: Vec<&str> = period.parts.iter().map(|(name, _)| name.as_str()).collect();
            assert_eq!(found, names);
            assert_eq!(period.whole.from, period.parts[0].1.from);
            assert_eq!(period.whole.until, period.parts.last().unwrap().1.until);
            assert!(period.parts.windows(2).all(|pair| pair[0].1.until == pair[1].1.from));
        }
        let long = divided(&options, at("1000-01-01"), at("9999-01-01"), true);
        assert_eq!(long.parts.len(), PARTS_MAX);
    }

    #[test]
    fn a_day_is_written_in_one_way() {
        for (value, is_fine) in
            [("2026-03-31", true), ("2026-3-31", false), ("31.03.2026", false), ("", false)]
        {
            assert_eq!(is_day(&Value::from(value), "date_min").is_ok(), is_fine, "{value}");
        }
    }
}
