//! A length of time as people write it: a number followed by `d`, `h`, `m` or `s`.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Units with their seconds, the longest first.
const UNITS: [(char, u64); 4] = [('d', 24 * 60 * 60), ('h', 60 * 60), ('m', 60), ('s', 1)];

/// A length of time, written `30d`, `24h`, `15m` or `90s`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(with = "String")]
pub struct Period(Duration);

impl Period {
    /// Of whole seconds; a part of one is left off.
    pub const fn new(duration: Duration) -> Self {
        Self(Duration::from_secs(duration.as_secs()))
    }

    pub const fn duration(self) -> Duration {
        self.0
    }
}

impl FromStr for Period {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || {
            format!(
                "`{text}` is not a duration; use a number followed by d, h, m or s, such as 30d"
            )
        };
        let unit = text.chars().last().ok_or_else(wrong)?;
        let (_, seconds) = UNITS.iter().find(|(name, _)| *name == unit).ok_or_else(wrong)?;
        let digits = text.strip_suffix(unit).filter(|digits| !digits.starts_with('+'));
        let number: u64 = digits.ok_or_else(wrong)?.parse().map_err(|_| wrong())?;
        number.checked_mul(*seconds).map(Duration::from_secs).map(Self).ok_or_else(wrong)
    }
}

impl TryFrom<String> for Period {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<Period> for String {
    fn from(period: Period) -> Self {
        period.to_string()
    }
}

impl fmt::Display for Period {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all = self.0.as_secs();
        let fitting =
            UNITS.iter().find(|(_, seconds)| all >= *seconds && all.is_multiple_of(*seconds));
        let (unit, seconds) = fitting.copied().unwrap_or(('s', 1));
        write!(formatter, "{}{unit}", all / seconds)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn periods_are_read_and_written() {
        for (text, seconds) in [("2h", 7_200), ("90s", 90), ("7d", 604_800), ("0s", 0)] {
            let period: Period = text.parse().unwrap();
            assert_eq!((period.duration().as_secs(), period.to_string()), (seconds, text.into()));
        }
        assert_eq!("120m".parse::<Period>().unwrap().to_string(), "2h");
        for wrong in ["", "h", "3", "-1d", "1.5h", "99999999999999999999d", "3dd", "+1d", "1 d"] {
            assert!(wrong.parse::<Period>().is_err(), "{wrong:?}");
        }
    }
}
