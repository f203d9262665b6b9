//! The time of a site, by the published rules of some zones and without a library of zones: its
//! clock, its weeks, and the intervals of a range. Moments are whole seconds since 1970 UTC.

/// A moment, or the reading of a clock as if it were in UTC.
pub(super) type Second = i64;

const DAY: i64 = 86_400;
const HOUR: i64 = 3_600;

/// The Sunday on or after a day of a month, and how long after its midnight in UTC the clock
/// changes.
#[derive(Clone, Copy, Debug)]
struct Change {
    month: i64,
    day: i64,
    after: i64,
}

/// A zone whose clock changes by the same rule in all years of the test.
#[derive(Clone, Copy, Debug)]
pub(super) struct Zone {
    pub(super) name: &'static str,
    standard: i64,
    /// The offset in summer, when it starts, and when it ends.
    summer: Option<(i64, Change, Change)>,
}

const fn change(month: i64, day: i64, after: i64) -> Change {
    Change { month, day, after }
}

/// Offsets of whole, half and quarter hours, north and south; in Santiago the clock skips midnight,
/// on Lord Howe it changes by half an hour.
pub(super) const ZONES: [Zone; 7] = [
    Zone { name: "UTC", standard: 0, summer: None },
    Zone { name: "Asia/Kathmandu", standard: 20_700, summer: None },
    Zone {
        name: "Europe/Berlin",
        standard: HOUR,
        summer: Some((2 * HOUR, change(3, 25, HOUR), change(10, 25, HOUR))),
    },
    Zone {
        name: "America/New_York",
        standard: -5 * HOUR,
        summer: Some((-4 * HOUR, change(3, 8, 7 * HOUR), change(11, 1, 6 * HOUR))),
    },
    Zone {
        name: "America/St_Johns",
        standard: -12_600,
        summer: Some((-9_000, change(3, 8, 19_800), change(11, 1, 16_200))),
    },
    Zone {
        name: "America/Santiago",
        standard: -4 * HOUR,
        summer: Some((-3 * HOUR, change(9, 2, 4 * HOUR), change(4, 2, 3 * HOUR))),
    },
    Zone {
        name: "Australia/Lord_Howe",
        standard: 37_800,
        summer: Some((39_600, change(10, 1, -30_600), change(4, 1, -9 * HOUR))),
    },
];

/// How long an interval is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unit {
    Hour,
    Day,
    Week,
    Month,
    Quarter,
    Year,
}

pub(super) const UNITS: [(&str, Unit); 6] = [
    ("hour", Unit::Hour),
    ("day", Unit::Day),
    ("week", Unit::Week),
    ("month", Unit::Month),
    ("quarter", Unit::Quarter),
    ("year", Unit::Year),
];

/// An interval of a range, from its first to its last second.
#[derive(Clone, Debug)]
pub(super) struct Interval {
    pub(super) id: String,
    pub(super) first: Second,
    pub(super) last: Second,
}

/// The clock on the wall, and the day on which weeks start (0 is Sunday).
#[derive(Clone, Copy, Debug)]
pub(super) struct Clock {
    pub(super) zone: Zone,
    pub(super) week_start: i64,
}

impl Zone {
    fn offset(&self, at: Second) -> i64 {
        let Some((offset, starts, ends)) = self.summer else { return self.standard };
        let (year, _, _) = date_of(at.div_euclid(DAY));
        let (start, end) = (starts.in_year(year), ends.in_year(year));
        let is_summer =
            if start < end { (start..end).contains(&at) } else { !(end..start).contains(&at) };
        if is_summer { offset } else { self.standard }
    }

    /// When the clock changes in a year.
    pub(super) fn changes(&self, year: i64) -> Vec<Second> {
        let both = self.summer.map(|(_, start, end)| [start.in_year(year), end.in_year(year)]);
        both.into_iter().flatten().collect()
    }
}

impl Change {
    fn in_year(&self, year: i64) -> Second {
        let earliest = day_of(year, self.month, self.day);
        let sunday = earliest + (7 - weekday(earliest)) % 7;
        sunday * DAY + self.after
    }
}

impl Clock {
    pub(super) fn local(&self, at: Second) -> Second {
        at + self.zone.offset(at)
    }

    /// The first moment at which the clock shows this; where it skips it, the moment that is as
    /// long after the change.
    pub(super) fn moment(&self, local: Second) -> Second {
        let summer = self.zone.summer.map_or(self.zone.standard, |(offset, ..)| offset);
        let mut offsets = [self.zone.standard, summer];
        offsets.sort_unstable();
        let [lower, higher] = offsets;
        let is_shown = |offset: i64| self.zone.offset(local - offset) == offset;
        if is_shown(higher) { local - higher } else { local - lower }
    }

    /// `2026-03-31 12:00:00` as the clock shows it.
    pub(super) fn text(&self, at: Second) -> String {
        written(self.local(at), ' ')
    }

    /// The intervals of a range, the earliest first.
    pub(super) fn intervals(&self, unit: Unit, first: Second, last: Second) -> Vec<Interval> {
        let mut intervals = Vec::new();
        let mut start = first;
        while start <= last {
            let next = self.next(unit, start);
            assert!(next > start, "{unit:?} after {start} in {}", self.zone.name);
            let id = self.id(unit, start);
            intervals.push(Interval { id, first: start, last: last.min(next - 1) });
            start = next;
        }
        intervals
    }

    fn next(&self, unit: Unit, at: Second) -> Second {
        let local = self.local(at);
        let day = local.div_euclid(DAY);
        let (year, month, _) = date_of(day);
        let next_day = match unit {
            Unit::Hour => {
                let next = at + HOUR - local.rem_euclid(HOUR);
                let offset = self.zone.offset(at);
                if self.zone.offset(next - 1) == offset {
                    return next;
                }
                // An hour ends where the clock changes.
                return (at..next).find(|at| self.zone.offset(*at) != offset).unwrap_or(next);
            }
            Unit::Day => day + 1,
            Unit::Week => self.week(day) + 7,
            Unit::Month => first_of_month(year, month + 1),
            Unit::Quarter => first_of_month(year, (month - 1) / 3 * 3 + 4),
            Unit::Year => day_of(year + 1, 1, 1),
        };
        self.moment(next_day * DAY)
    }

    /// The first day of the week of a day.
    fn week(&self, day: i64) -> i64 {
        day - (weekday(day) - self.week_start).rem_euclid(7)
    }

    fn id(&self, unit: Unit, at: Second) -> String {
        let local = self.local(at);
        let text = written(local, ' ');
        let day = local.div_euclid(DAY);
        let (year, month, _) = date_of(day);
        match unit {
            Unit::Hour => text[..13].to_owned(),
            Unit::Day => text[..10].to_owned(),
            Unit::Month => text[..7].to_owned(),
            Unit::Quarter => format!("{year}-{}", (month - 1) / 3 + 1),
            Unit::Year => format!("{year}"),
            Unit::Week if self.week_start == 1 => {
                // The ISO's week belongs to the year of its Thursday.
                let thursday = self.week(day) + 3;
                let (year, ..) = date_of(thursday);
                format!("{year}-{:02}", (thursday - day_of(year, 1, 1)) / 7 + 1)
            }
            Unit::Week => {
                let first = self.week(day);
                let (year, ..) = date_of(first);
                let weeks = (first - self.week(day_of(year, 1, 1))) / 7;
                format!("{year}-{:02}", weeks + 1)
            }
        }
    }
}

fn first_of_month(year: i64, month: i64) -> i64 {
    if month > 12 { day_of(year + 1, month - 12, 1) } else { day_of(year, month, 1) }
}

/// 0 is Sunday; 1970 began on a Thursday.
fn weekday(day: i64) -> i64 {
    (day + 4).rem_euclid(7)
}

fn is_leap(year: i64) -> bool {
    (year % 4 == 0 && year % 100 != 0) || year % 400 == 0
}

fn month_days(year: i64, month: i64) -> i64 {
    match month {
        2 if is_leap(year) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Days since 1970, counted year by year and month by month.
fn day_of(year: i64, month: i64, day: i64) -> i64 {
    let years: i64 = (1970..year).map(|year| if is_leap(year) { 366 } else { 365 }).sum();
    let months: i64 = (1..month).map(|month| month_days(year, month)).sum();
    years + months + day - 1
}

fn date_of(mut days: i64) -> (i64, i64, i64) {
    let mut year = 1970;
    while days >= if is_leap(year) { 366 } else { 365 } {
        days -= if is_leap(year) { 366 } else { 365 };
        year += 1;
    }
    let mut month = 1;
    while days >= month_days(year, month) {
        days -= month_days(year, month);
        month += 1;
    }
    (year, month, days + 1)
}

/// The moment of a text such as `2026-03-31T12:00:00`, in UTC or as a clock shows it.
pub(super) fn read(text: &str) -> Second {
    let part = |from: usize, to: usize| -> i64 { text[from..to].parse().unwrap() };
    let day = day_of(part(0, 4), part(5, 7), part(8, 10));
    day * DAY + part(11, 13) * HOUR + part(14, 16) * 60 + part(17, 19)
}

/// The reverse of [`read`].
pub(super) fn written(at: Second, between: char) -> String {
    let (year, month, day) = date_of(at.div_euclid(DAY));
    let second = at.rem_euclid(DAY);
    let (hour, minute) = (second / HOUR, second / 60 % 60);
    format!("{year:04}-{month:02}-{day:02}{between}{hour:02}:{minute:02}:{:02}", second % 60)
}
