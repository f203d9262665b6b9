//! Days as numbers, which can be counted, and as the texts by which they are kept.

use types::Timestamp;

const DAY_US: i64 = 86_400_000_000;

/// The number of a day such as `2026-11-17`.
pub fn day_number(text: &str) -> Option<i64> {
    let start = Timestamp::parse(&format!("{text}T00:00:00Z"))?;
    Some(start.as_micros().div_euclid(DAY_US))
}

/// The day of that number.
pub fn day_text(number: i64) -> String {
    let start = Timestamp::from_micros(number.saturating_mul(DAY_US)).to_string();
    start.split('T').next().unwrap_or_default().to_owned()
}

/// The number of the day of a moment.
pub fn day_of(time: Timestamp) -> i64 {
    time.as_micros().div_euclid(DAY_US)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_follow_one_another() {
        let leap = day_number("2028-02-28").unwrap();
        let next: Vec<String> = (leap..leap + 3).map(day_text).collect();
        assert_eq!(next, ["2028-02-28", "2028-02-29", "2028-03-01"]);
        assert_eq!(day_number("2026-02-30"), None);
        assert!(day_text(day_number("0000-01-01").unwrap() - 1) < day_text(0));
    }
}
