//! Moments as records show and take them: the site's time of day beside UTC, both to the second.

use contract::rest::loose;
use serde_json::{Value, json};
use types::Timestamp;

use crate::dates::{self, Moment};
use crate::{Call, Options};

const MICROS: i64 = 1_000_000;

/// The moment in the site's time and in UTC; two nulls for none.
pub fn pair(options: &Options, time: Option<Timestamp>) -> [Value; 2] {
    let Some(time) = time else { return [Value::Null, Value::Null] };
    let moment = Moment::at(options, time);
    [json!(dates::written(moment.local)), json!(dates::written(moment.gmt))]
}

/// The present, to the second.
pub fn now(call: &Call<'_>) -> Timestamp {
    Moment::at(call.options(), call.now()).gmt
}

/// A moment that a client wrote: a date, a date with a time, or the seconds since 1970. Without a
/// zone it is the site's time. What cannot be read is none.
pub fn read(options: &Options, value: &Value) -> Option<Timestamp> {
    read_by(options, value, false)
}

/// As [`read`], but without a zone it is UTC.
pub fn read_gmt(options: &Options, value: &Value) -> Option<Timestamp> {
    read_by(options, value, true)
}

fn read_by(options: &Options, value: &Value, is_gmt: bool) -> Option<Timestamp> {
    let text = loose::scalar_text(value)?;
    let text = text.trim();
    if let Ok(seconds) = text.parse::<i64>() {
        let time = Timestamp::from_micros(seconds.checked_mul(MICROS)?);
        // Nothing is written for a year that no calendar has.
        return (!dates::written(time).is_empty()).then_some(time);
    }
    let whole = match text.len() {
        10 => format!("{text}T00:00:00"),
        16 => format!("{text}:00"),
        _ => text.to_owned(),
    };
    Moment::parse(options, &whole, is_gmt).map(|moment| moment.gmt)
}

/// When the record of the call was made, if the call says so.
pub fn created(call: &Call<'_>) -> Option<Timestamp> {
    let gmt = call.params.text("date_created_gmt");
    let local = || call.params.get("date_created").and_then(|value| read(call.options(), value));
    bound(call.options(), gmt, true).or_else(local)
}

/// When the record of an import was changed last where it comes from, if that is told.
pub fn modified_elsewhere(call: &Call<'_>) -> Option<Timestamp> {
    let gmt = call.params.text("date_modified_gmt").filter(|_| call.visit.is_import);
    bound(call.options(), gmt, true)
}

/// A bound of a list; `is_gmt` says that a time without a zone is in UTC.
pub fn bound(options: &Options, text: Option<&str>, is_gmt: bool) -> Option<Timestamp> {
    text.and_then(|text| Moment::parse(options, text, is_gmt)).map(|moment| moment.gmt)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_read_generously() {
        let options = Options::default();
        for (text, expected) in [
            ("2027-01-31T10:20:30", Some("2027-01-31T10:20:30")),
            (" 2027-01-31 ", Some("2027-01-31T00:00:00")),
            ("2027-01-31 10:20", Some("2027-01-31T10:20:00")),
            ("2027-01-31T10:20:30+02:00", Some("2027-01-31T08:20:30")),
            ("86400", Some("1970-01-02T00:00:00")),
            ("9223372036854775807", None),
            ("99999999999999", None),
            ("notadate", None),
            ("", None),
        ] {
            let read = read(&options, &json!(text));
            assert_eq!(pair(&options, read)[1], json!(expected), "{text}");
        }
    }
}
