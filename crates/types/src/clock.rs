//! Time as the rest of the house sees it: microseconds since 1970 UTC, handed in as an argument.

use std::fmt;
use std::time::Duration;

/// A point in time: microseconds since 1970-01-01T00:00:00Z, as stored in every `*_us` column.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    serde::Serialize,
    serde::Deserialize,
)]
#[serde(transparent)]
pub struct Timestamp(i64);

impl Timestamp {
    pub const fn from_micros(micros: i64) -> Self {
        Self(micros)
    }

    pub const fn as_micros(self) -> i64 {
        self.0
    }

    /// This time moved forward; stays at the last representable moment instead of overflowing.
    #[must_use]
    pub fn plus(self, duration: Duration) -> Self {
        let micros = i64::try_from(duration.as_micros()).unwrap_or(i64::MAX);
        Self(self.0.saturating_add(micros))
    }

    /// How long after `earlier` this is; zero if the clock was set back in between.
    pub fn since(self, earlier: Self) -> Duration {
        let micros = self.0.saturating_sub(earlier.0);
        Duration::from_micros(u64::try_from(micros).unwrap_or(0))
    }

    /// Reads an RFC 3339 text such as `2026-11-15T08:00:00Z`.
    pub fn parse(text: &str) -> Option<Self> {
        let parsed: jiff::Timestamp = text.parse().ok()?;
        Some(Self(parsed.as_microsecond()))
    }

    /// Reads a date as HTTP has it, such as `Sun, 15 Nov 2026 08:00:00 GMT`.
    pub fn parse_http_date(text: &str) -> Option<Self> {
        let parsed = jiff::fmt::rfc2822::parse(text).ok()?;
        Some(Self(parsed.timestamp().as_microsecond()))
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match jiff::Timestamp::from_microsecond(self.0) {
            Ok(time) => write!(formatter, "{time}"),
            Err(_) => write!(formatter, "{}us", self.0),
        }
    }
}

/// Where time comes from: the system, or a moment that a test chose.
#[derive(Clone, Copy, Debug, Default)]
pub enum Clock {
    #[default]
    System,
    Fixed(Timestamp),
}

impl Clock {
    #[expect(clippy::disallowed_methods, reason = "this is the one place that reads the time")]
    pub fn now(&self) -> Timestamp {
        match self {
            Self::System => Timestamp(jiff::Timestamp::now().as_microsecond()),
            Self::Fixed(time) => *time,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_prints_and_parses_the_same_text() {
        let time = Timestamp::parse("2026-11-15T08:00:00.25Z").expect("a valid time");
        assert_eq!(time.to_string(), "2026-11-15T08:00:00.25Z");
        assert_eq!(time.plus(Duration::from_mins(1)).since(time), Duration::from_mins(1));
    }

    #[test]
    fn dates_of_http_are_read() {
        let time = Timestamp::parse_http_date("Sun, 15 Nov 2026 08:00:00 GMT");
        assert_eq!(time, Timestamp::parse("2026-11-15T08:00:00Z"));
        assert_eq!(Timestamp::parse_http_date("soon"), None);
    }

    #[test]
    fn a_clock_set_back_gives_no_negative_duration() {
        let early = Timestamp::from_micros(10);
        let late = Timestamp::from_micros(20);
        assert_eq!(early.since(late), Duration::ZERO);
    }
}
