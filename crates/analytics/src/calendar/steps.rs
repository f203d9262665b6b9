//! Steps of the calendar: where the next interval starts, and about how many steps lie between
//! two moments.

use jiff::civil::{Date, DateTime, Time};
use jiff::{Span, Timestamp, ToSpan};

use super::{Calendar, Second, WEEK_DAYS};

const HOUR_SECONDS: i64 = 3_600;
const QUARTER_MONTHS: i8 = 3;

/// How long an interval is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    Hour,
    Day,
    Week,
    Month,
    Quarter,
    Year,
}

impl Unit {
    pub const ALL: &[Self] =
        &[Self::Hour, Self::Day, Self::Week, Self::Month, Self::Quarter, Self::Year];

    pub const fn name(self) -> &'static str {
        match self {
            Self::Hour => "hour",
            Self::Day => "day",
            Self::Week => "week",
            Self::Month => "month",
            Self::Quarter => "quarter",
            Self::Year => "year",
        }
    }

    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|unit| unit.name() == name)
    }
}

impl Calendar {
    /// The first second of the interval after that of a moment. **Always later than the moment.**
    pub fn next_start(&self, unit: Unit, second: Second) -> Second {
        let today = self.local(second).date();
        let next = match unit {
            Unit::Hour => return self.next_hour(second),
            Unit::Day => added(today, 1.day()),
            Unit::Week => added(self.week_first(today), 7.days()),
            Unit::Month => added(today.first_of_month(), 1.month()),
            Unit::Quarter => added(quarter_first(today), 3.months()),
            Unit::Year => added(today.first_of_year(), 1.year()),
        };
        // Where the clock skips midnight the day starts later; where it comes twice, at the first.
        self.moment(next.to_datetime(Time::midnight())).max(second + 1)
    }

    /// Hours start where the minutes of the site's clock are zero, and where the clock jumps.
    fn next_hour(&self, second: Second) -> Second {
        let local = self.local(second);
        let into = i64::from(local.minute()) * 60 + i64::from(local.second());
        let next = second + HOUR_SECONDS - into;
        if self.offset(second) == self.offset(next - 1) {
            return next;
        }
        let moment = Timestamp::from_second(second).unwrap_or(Timestamp::MIN);
        let jump = self.zone.following(moment).next();
        jump.map_or(next, |jump| jump.timestamp().as_second().clamp(second + 1, next))
    }

    fn offset(&self, second: Second) -> i32 {
        Timestamp::from_second(second).map_or(0, |moment| self.zone.to_offset(moment).seconds())
    }

    /// How many intervals lie between those of two moments, if the clock never jumps.
    pub(super) fn steps(&self, unit: Unit, first: Second, last: Second) -> i64 {
        let (from, to) = (self.local(first), self.local(last));
        match unit {
            Unit::Hour => (last - first) / HOUR_SECONDS,
            Unit::Day => days(from.date(), to.date()),
            Unit::Week => {
                days(self.week_first(from.date()), self.week_first(to.date())) / WEEK_DAYS
            }
            Unit::Month => months(to) - months(from),
            Unit::Quarter => months(to) / 3 - months(from) / 3,
            Unit::Year => i64::from(to.year()) - i64::from(from.year()),
        }
    }

    /// The first day of the week of a day.
    pub(super) fn week_first(&self, date: Date) -> Date {
        let weekday = i64::from(date.weekday().to_sunday_zero_offset());
        let into = (weekday - self.week_start).rem_euclid(WEEK_DAYS);
        date.checked_sub(into.days()).unwrap_or(date)
    }

    /// The number of a day's week in its year, where the first week is that of 1 January.
    pub(super) fn simple_week(&self, date: Date) -> i64 {
        let weekday = i64::from(date.first_of_year().weekday().to_sunday_zero_offset());
        let lead = (weekday - self.week_start).rem_euclid(WEEK_DAYS);
        (i64::from(date.day_of_year()) + lead - 1) / WEEK_DAYS + 1
    }
}

pub(super) fn quarter(date: Date) -> i8 {
    (date.month() - 1) / QUARTER_MONTHS + 1
}

fn quarter_first(date: Date) -> Date {
    let month = (quarter(date) - 1) * QUARTER_MONTHS + 1;
    Date::new(date.year(), month, 1).unwrap_or(date)
}

fn months(local: DateTime) -> i64 {
    i64::from(local.year()) * 12 + i64::from(local.month()) - 1
}

/// The last day that there is, where the calendar ends.
fn added(date: Date, span: Span) -> Date {
    date.checked_add(span).unwrap_or(Date::MAX)
}

fn days(from: Date, to: Date) -> i64 {
    from.until(to).map_or(0, |span| i64::from(span.get_days()))
}
