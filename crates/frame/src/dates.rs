//! Dates of content: the site's own time of day beside the moment in UTC, both to the second.

use jiff::civil;
use jiff::{SignedDuration, ToSpan};
use types::Timestamp;

use crate::Options;

const MICROS: i64 = 1_000_000;

/// A moment in both clocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moment {
    /// The site's time of day, written as if it were UTC.
    pub local: Timestamp,
    pub gmt: Timestamp,
}

impl Moment {
    /// A moment of the present, to the second.
    pub fn at(options: &Options, time: Timestamp) -> Self {
        let gmt = to_the_second(time);
        Self { local: options.local(gmt), gmt }
    }

    /// Reads a date and time. Without a zone it is the site's time, or UTC if `is_gmt` says so.
    pub fn parse(options: &Options, text: &str, is_gmt: bool) -> Option<Self> {
        let (written, offset) = read(text)?;
        match offset {
            Some(seconds) => Some(Self::at(options, moved(written, -seconds))),
            None if is_gmt => Some(Self::at(options, written)),
            None => Some(Self { local: written, gmt: options.from_local(written) }),
        }
    }
}

fn to_the_second(time: Timestamp) -> Timestamp {
    Timestamp::from_micros(time.as_micros().div_euclid(MICROS).saturating_mul(MICROS))
}

fn moved(time: Timestamp, seconds: i64) -> Timestamp {
    Timestamp::from_micros(time.as_micros().saturating_add(seconds.saturating_mul(MICROS)))
}

/// The time as written, as if it were UTC, and the seconds by which its zone is ahead of UTC. A day
/// that the month does not have rolls over.
fn read(text: &str) -> Option<(Timestamp, Option<i64>)> {
    let text = text.trim();
    let number = |start: usize, end: usize| text.get(start..end)?.parse::<i16>().ok();
    let (year, month, day) = (number(0, 4)?, number(5, 7)?, number(8, 10)?);
    let (hour, minute, second) = (number(11, 13)?, number(14, 16)?, number(17, 19)?);
    let first = civil::Date::new(year, 1, 1).ok()?;
    let date = first
        .checked_add((i32::from(month) - 1).months())
        .and_then(|date| date.checked_add((i32::from(day) - 1).days()))
        .ok()?;
    let seconds = i64::from(hour) * 3600 + i64::from(minute) * 60 + i64::from(second);
    let time = date.to_datetime(civil::Time::midnight());
    let time = time.checked_add(SignedDuration::from_secs(seconds)).ok()?;
    let moment = time.to_zoned(jiff::tz::TimeZone::UTC).ok()?.timestamp();
    let zone = text.get(19..)?.trim_start_matches(|c: char| c == '.' || c.is_ascii_digit());
    let offset = if zone.is_empty() { None } else { Some(offset_of(zone)?) };
    Some((Timestamp::from_micros(moment.as_microsecond()), offset))
}

fn offset_of(zone: &str) -> Option<i64> {
    if zone.eq_ignore_ascii_case("z") {
        return Some(0);
    }
    let sign = match zone.get(..1)? {
        "+" => 1,
        "-" => -1,
        _ => return None,
    };
    let digits: String = zone.get(1..)?.chars().filter(|c| *c != ':').collect();
    let hours: i64 = digits.get(..2)?.parse().ok()?;
    let minutes: i64 = match digits.get(2..)? {
        "" => 0,
        minutes => minutes.parse().ok()?,
    };
    Some(sign * (hours * 3600 + minutes * 60))
}

/// `2026-03-31T12:00:00`, without a zone, as clients know it.
pub fn written(time: Timestamp) -> String {
    formatted(time, "%Y-%m-%dT%H:%M:%S")
}

/// `Tue, 31 Mar 2026 12:00:00 GMT`, as HTTP writes a moment.
pub fn http(time: Timestamp) -> String {
    formatted(time, "%a, %d %b %Y %H:%M:%S GMT")
}

/// `March 31, 2026`: the day of a moment in the site's time, in words.
pub fn long(options: &Options, time: Timestamp) -> String {
    formatted(options.local(time), "%B %-d, %Y")
}

fn formatted(time: Timestamp, format: &str) -> String {
    let moment = jiff::Timestamp::from_microsecond(time.as_micros());
    moment.map(|moment| moment.strftime(format).to_string()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        for (text, expected, offset) in [
            ("2026-03-31T12:00:00", "2026-03-31T12:00:00", None),
            ("2026-03-31 12:00:00.75", "2026-03-31T12:00:00", None),
            ("2026-02-31T00:00:00Z", "2026-03-03T00:00:00", Some(0)),
            ("2026-03-31T24:00:00+05:30", "2026-04-01T00:00:00", Some(19_800)),
            ("2026-00-10T00:00:00-08", "2025-12-10T00:00:00", Some(-28_800)),
        ] {
            let (time, zone) = read(text).unwrap();
            assert_eq!((written(time).as_str(), zone), (expected, offset), "{text}");
        }
        for text in ["", "2026", "2026-03-31T12:00", "2026-03-31T12:00:00*", "ä026-03-31T12:00:00"]
        {
            assert_eq!(read(text), None, "{text}");
        }
    }
}
