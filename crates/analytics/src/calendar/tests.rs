//! Vectors of the reference's own tests, and what must hold for any range in any zone.

use jiff::tz::TimeZone;
use proptest::prelude::*;

use super::*;

fn utc(week_start: i64) -> Calendar {
    Calendar::new(TimeZone::UTC, week_start)
}

fn second(calendar: &Calendar, text: &str) -> Second {
    calendar.moment(text.parse().unwrap())
}

fn range(calendar: &Calendar, first: &str, last: &str) -> Range {
    Range { first: second(calendar, first), last: second(calendar, last) }
}

#[test]
fn ranges_have_the_published_numbers_of_intervals() {
    let calendar = utc(1);
    for (first, last, counts) in [
        ("2017-12-24T11:00:00", "2017-12-24T11:00:00", [1, 1, 1, 1, 1, 1]),
        ("2017-12-24T11:00:00", "2017-12-24T12:40:00", [2, 1, 1, 1, 1, 1]),
        ("2019-01-16T16:59:00", "2019-01-17T01:00:07", [10, 2, 1, 1, 1, 1]),
        ("2017-12-24T11:00:00", "2017-12-25T10:59:59", [24, 2, 2, 1, 1, 1]),
        ("2017-12-24T11:00:00", "2017-12-25T11:00:00", [25, 2, 2, 1, 1, 1]),
        ("2017-11-01T00:00:00", "2017-11-30T23:59:59", [720, 30, 5, 1, 1, 1]),
        ("2017-09-24T11:00:00", "2017-10-24T10:59:59", [720, 31, 6, 2, 2, 1]),
        ("2017-12-24T11:00:00", "2018-01-24T10:59:59", [744, 32, 6, 2, 2, 2]),
        ("2017-10-31T00:00:00", "2018-01-31T23:59:59", [2232, 93, 14, 4, 2, 2]),
        ("2015-04-01T00:00:00", "2018-01-01T00:00:00", [24_145, 1007, 145, 34, 12, 4]),
    ] {
        let range = range(&calendar, first, last);
        let counted: Vec<i64> = Unit::ALL.iter().map(|unit| calendar.count(*unit, range)).collect();
        assert_eq!(counted, counts, "{first} to {last}");
    }
}

#[test]
fn weeks_are_numbered_as_clients_know_them() {
    for (week_start, day, id) in [
        (1, "2011-01-01", "2010-52"),
        (1, "2011-01-03", "2011-01"),
        (1, "2012-01-01", "2011-52"),
        (1, "2012-01-02", "2012-01"),
        (6, "2010-12-25", "2010-53"),
        (6, "2011-01-01", "2011-01"),
        // New Year is within the week of the 26th, and has the id of that.
        (0, "2010-12-26", "2010-53"),
        (0, "2011-01-01", "2010-53"),
        (0, "2012-01-03", "2012-01"),
        (2, "2012-01-03", "2012-02"),
    ] {
        let calendar = utc(week_start);
        let at = second(&calendar, &format!("{day}T12:00:00"));
        assert_eq!(calendar.id(Unit::Week, at), id, "{day} in weeks from day {week_start}");
    }
    for (week_start, week) in [(1, 2), (2, 2), (0, 1), (3, 1), (4, 1), (5, 1), (6, 1)] {
        assert_eq!(utc(week_start).simple_week("2012-01-03".parse().unwrap()), week);
    }
    assert_eq!(utc(1).simple_week("2010-12-24".parse().unwrap()), 52);
    assert_eq!(utc(1).simple_week("2010-12-27".parse().unwrap()), 53);
}

#[test]
fn the_next_week_starts_on_the_sites_day() {
    for (week_start, day, next) in [
        (1, "2017-12-30T10:00:00", "2018-01-01 00:00:00"),
        (0, "2010-12-25T10:00:00", "2010-12-26 00:00:00"),
        (0, "2010-12-26T00:00:00", "2011-01-02 00:00:00"),
    ] {
        let calendar = utc(week_start);
        let start = calendar.next_start(Unit::Week, second(&calendar, day));
        assert_eq!(calendar.text(start), next, "{day}");
    }
}

#[test]
fn days_are_as_long_as_the_clock_makes_them() {
    for (zone, day, hours) in [
        ("America/New_York", "2026-03-08", 23),
        ("America/New_York", "2026-11-01", 25),
        ("America/New_York", "2026-11-02", 24),
        // The clock goes back by half an hour: one hour of half the length.
        ("Australia/Lord_Howe", "2026-04-05", 25),
        ("Asia/Kathmandu", "2026-04-05", 24),
    ] {
        let calendar = Calendar::new(TimeZone::get(zone).unwrap(), 0);
        let whole = range(&calendar, &format!("{day}T00:00:00"), &format!("{day}T23:59:59"));
        assert_eq!(calendar.count(Unit::Day, whole), 1, "{zone} {day}");
        assert_eq!(calendar.count(Unit::Hour, whole), hours, "{zone} {day}");
    }
}

#[test]
fn a_range_that_ends_before_it_starts_has_no_intervals() {
    let calendar = utc(1);
    let back = range(&calendar, "2026-05-01T00:00:00", "2026-04-01T00:00:00");
    assert_eq!(calendar.intervals(Unit::Week, back), Some(Vec::new()));
    assert_eq!((calendar.count(Unit::Week, back), calendar.count(Unit::Day, back)), (1, 0));
}

#[test]
fn more_intervals_than_anybody_reads_are_refused() {
    let calendar = utc(1);
    let long = range(&calendar, "0001-01-01T00:00:00", "9998-12-31T23:59:59");
    assert_eq!(calendar.intervals(Unit::Hour, long), None);
    assert_eq!(calendar.intervals(Unit::Year, long).unwrap().len(), 9998);
}

const ZONES: &[&str] = &[
    "UTC",
    "America/New_York",
    "Asia/Kathmandu",
    "Australia/Lord_Howe",
    "America/St_Johns",
    "Africa/Cairo",
    "America/Sao_Paulo",
    "Pacific/Apia",
    "Antarctica/Troll",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn intervals_cover_the_range_once(
        zone in 0..ZONES.len(),
        week_start in 0_i64..7,
        unit in 0..Unit::ALL.len(),
        first in 946_684_800_i64..2_000_000_000,
        length in 0_i64..40_000_000,
    ) {
        let calendar = Calendar::new(TimeZone::get(ZONES[zone]).unwrap(), week_start);
        let (unit, range) = (Unit::ALL[unit], Range { first, last: first + length });
        let intervals = calendar.intervals(unit, range).unwrap();
        prop_assert_eq!(calendar.count(unit, range), i64::try_from(intervals.len()).unwrap());
        prop_assert_eq!(intervals.first().unwrap().range.first, range.first);
        prop_assert_eq!(intervals.last().unwrap().range.last, range.last);
        for pair in intervals.windows(2) {
            prop_assert_eq!(pair[0].range.last + 1, pair[1].range.first);
            // An hour that comes twice is called the same twice.
            prop_assert!(unit == Unit::Hour || pair[0].id < pair[1].id);
        }
        for interval in &intervals {
            prop_assert!(interval.range.first <= interval.range.last);
            prop_assert_eq!(&calendar.id(unit, interval.range.last), &interval.id);
        }
    }
}
