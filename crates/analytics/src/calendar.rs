//! The calendar of reports: a range of moments cut into hours, days, weeks, months, quarters or
//! years of the site's own time, right across changes of the clock.
//!
//! Everything here is whole seconds since 1970 UTC; the site's zone decides where an interval
//! starts. **The intervals of a range are without gaps and without overlaps, and together they are
//! the range.**

mod steps;
#[cfg(test)]
mod tests;

use frame::Options;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;

pub use steps::Unit;

/// Intervals that one report may have. Twenty years of hours, or a millennium and more of weeks.
pub const INTERVALS_MAX: i64 = 200_000;

/// The days of a week.
const WEEK_DAYS: i64 = 7;
/// The day on which weeks are counted by the ISO's rule.
const MONDAY: i64 = 1;

/// A moment: whole seconds since 1970 UTC.
pub type Second = i64;

/// The seconds from the first to the last, both of them included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range {
    pub first: Second,
    pub last: Second,
}

/// One interval of a range, cut off where the range ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interval {
    /// What clients call it, such as `2026-03` for a month.
    pub id: String,
    pub range: Range,
}

/// Where and how a site counts its days and weeks.
#[derive(Clone, Debug)]
pub struct Calendar {
    zone: TimeZone,
    /// 0 is Sunday.
    week_start: i64,
}

impl Calendar {
    pub fn of(options: &Options) -> Self {
        Self::new(options.time_zone(), options.integer("start_of_week"))
    }

    pub fn new(zone: TimeZone, week_start: i64) -> Self {
        Self { zone, week_start: week_start.rem_euclid(WEEK_DAYS) }
    }

    /// Of UTC itself.
    pub fn utc() -> Self {
        Self::new(TimeZone::UTC, MONDAY)
    }

    /// The site's time of day at a moment.
    pub fn local(&self, second: Second) -> DateTime {
        let moment = jiff::Timestamp::from_second(second).unwrap_or(jiff::Timestamp::UNIX_EPOCH);
        self.zone.to_datetime(moment)
    }

    /// The moment of a time of day. One that the clock skips is as long after the change as it
    /// would have been; of one that comes twice it is the first.
    pub fn moment(&self, local: DateTime) -> Second {
        let zoned = self.zone.to_ambiguous_timestamp(local).compatible();
        zoned.map_or(0, jiff::Timestamp::as_second)
    }

    /// When the day of a moment began.
    pub fn start_of_day(&self, second: Second) -> Second {
        self.moment(self.local(second).date().at(0, 0, 0, 0))
    }

    /// The name of the site's zone, if it has one; else how far it is from UTC at a moment.
    pub fn zone_name(&self, second: Second) -> Result<String, String> {
        let name = self.zone.iana_name().map(str::to_owned);
        let moment = jiff::Timestamp::from_second(second).unwrap_or(jiff::Timestamp::UNIX_EPOCH);
        let zoned = moment.to_zoned(self.zone.clone());
        name.ok_or_else(|| jiff::fmt::strtime::format("%:z", &zoned).unwrap_or_default())
    }

    /// `2026-03-31 12:00:00` in the site's time.
    pub fn text(&self, second: Second) -> String {
        self.local(second).strftime("%Y-%m-%d %H:%M:%S").to_string()
    }

    /// How many intervals a range has, as clients are told; about how many, if there are more than
    /// [`INTERVALS_MAX`]. A range that ends before it starts has none, except that both ends may be
    /// in the same one, and that there is always a first week.
    pub fn count(&self, unit: Unit, range: Range) -> i64 {
        let about = self.steps(unit, range.first, range.last) + 1;
        if range.last < range.first {
            return about.clamp(i64::from(unit == Unit::Week), 1);
        }
        if about > INTERVALS_MAX {
            return about;
        }
        i64::try_from(self.starts(unit, range).count()).unwrap_or(about)
    }

    /// The intervals of a range, the earliest first; none if there are more than
    /// [`INTERVALS_MAX`].
    pub fn intervals(&self, unit: Unit, range: Range) -> Option<Vec<Interval>> {
        if self.steps(unit, range.first, range.last) >= INTERVALS_MAX {
            return None;
        }
        let intervals = self.starts(unit, range).map(|(first, next)| Interval {
            id: self.id(unit, first),
            range: Range { first, last: range.last.min(next - 1) },
        });
        Some(intervals.collect())
    }

    /// Where each interval of a range starts, and where the one after it does.
    fn starts(&self, unit: Unit, range: Range) -> impl Iterator<Item = (Second, Second)> {
        let mut first = range.first;
        std::iter::from_fn(move || {
            let start = first;
            first = self.next_start(unit, start);
            (start <= range.last).then_some((start, first))
        })
    }

    /// What clients call the interval of a moment.
    pub fn id(&self, unit: Unit, second: Second) -> String {
        let local = self.local(second);
        match unit {
            Unit::Hour => local.strftime("%Y-%m-%d %H").to_string(),
            Unit::Day => local.strftime("%Y-%m-%d").to_string(),
            Unit::Week => self.week_id(local.date()),
            Unit::Month => local.strftime("%Y-%m").to_string(),
            Unit::Quarter => format!("{:04}-{}", local.year(), steps::quarter(local.date())),
            Unit::Year => format!("{:04}", local.year()),
        }
    }

    /// Where weeks start on Monday the ISO's year and week; else the year and the number of the
    /// week, counted from the one with 1 January in it. **A week has one id, that of its first
    /// day**, whichever of its days asks.
    fn week_id(&self, date: jiff::civil::Date) -> String {
        if self.week_start == MONDAY {
            let week = date.iso_week_date();
            return format!("{:04}-{:02}", week.year(), week.week());
        }
        let first = self.week_first(date);
        format!("{:04}-{:02}", first.year(), self.simple_week(first))
    }
}
