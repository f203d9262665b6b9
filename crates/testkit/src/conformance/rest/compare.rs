//! An answer's body against the recorded one.
//!
//! Recorded values may be tokens: `$text` any text but an empty one, `$string` any text, `$now` a
//! moment about now, `$id` an id, `$any` anything. Every difference becomes one line that begins
//! with the place in the body, such as `body.data.status: want 400, got 404`.
//!
//! Rows that have a number are told apart by it: where they come in another order, or where others
//! come, one line says so, and **the rows that both sides have are compared all the same**. What
//! the reference leaves open ([`Undefined`]) is no difference.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use regex::Regex;
use serde_json::{Map, Value};
use types::{Clock, Timestamp};

use super::NUMBER_TOLERANCE;
use super::ids::Ids;
use super::undefined::Undefined;

/// How far a moment may be from now, in microseconds.
const NOW_SLACK_US: i64 = 15 * 60 * 1_000_000;
/// More differences than this say nothing new about one body.
const DIFFERENCES_MAX: usize = 1_000;
/// A shape is the same in every row; so many rows are looked at.
const SHAPE_ROWS_MAX: usize = 20;
const SHOWN_CHARS_MAX: usize = 90;
const DAY_US: i64 = 24 * 60 * 60 * 1_000_000;
/// `2026-01-31`.
const DATE_CHARS: usize = 10;

/// Members that tell rows apart, the most telling first.
const NUMBERS: [&str; 8] = [
    "order_id",
    "variation_id",
    "product_id",
    "category_id",
    "coupon_id",
    "tax_rate_id",
    "interval",
    "segment_id",
];
/// The number of the rows of a list; elsewhere it may number what is inside of something.
const NUMBER_OF_ROWS: &str = "id";

/// What a comparison needs to know besides the two bodies.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rules<'run> {
    pub(super) ids: &'run Ids,
    pub(super) undefined: &'run Undefined,
    /// The rows of a list may come in any order.
    pub(super) ties: bool,
    pub(super) now: Timestamp,
}

/// Every difference between a recorded body and the one that came.
pub(super) fn body(rules: Rules<'_>, want: &Value, got: &Value) -> Vec<String> {
    let mut comparison = Comparison { rules, found: Vec::new() };
    comparison.value("body", want, got);
    comparison.found
}

/// Names and types only; what is in them is the product's own.
pub(super) fn shape(want: &Value, got: &Value) -> Vec<String> {
    let mut found = Vec::new();
    shape_at("body", want, got, &mut found);
    found
}

struct Comparison<'run> {
    rules: Rules<'run>,
    found: Vec<String>,
}

impl Comparison<'_> {
    fn value(&mut self, place: &str, want: &Value, got: &Value) {
        if self.found.len() >= DIFFERENCES_MAX {
            return;
        }
        match (want, got) {
            (Value::String(token), _) if is_token(token) => {
                if !fits(token, got, self.rules.now) {
                    self.found.push(format!("{place}: {} does not fit {token}", shown(got)));
                }
            }
            (Value::Object(want), Value::Object(got)) => self.members(place, want, got),
            (Value::Array(want), Value::Array(got)) => {
                let rows = want.first().is_some_and(Value::is_object);
                if self.rules.ties && rows {
                    self.rows_in_any_order(place, want, got);
                } else {
                    self.items(place, want, got);
                }
            }
            (Value::String(text), Value::String(other)) => {
                if !self.rules.ids.fits(text, &levelled(other)) {
                    self.differ(place, &self.rules.ids.text(text).into(), got);
                }
            }
            (Value::Number(_), Value::Number(_)) => {
                let ours = self.rules.ids.value(want);
                if !same_number(&ours, got) {
                    self.differ(place, &ours, got);
                }
            }
            _ if want == got => {}
            _ => self.differ(place, want, got),
        }
    }

    fn members(&mut self, place: &str, want: &Map<String, Value>, got: &Map<String, Value>) {
        for (name, value) in want {
            match got.get(name) {
                Some(_) if self.rules.undefined.is_arbitrary(place, name) => {}
                Some(other) => self.value(&format!("{place}.{name}"), value, other),
                None => self.found.push(format!("{place}.{name}: missing, want {}", shown(value))),
            }
        }
        for (name, value) in got.iter().filter(|(name, _)| !want.contains_key(*name)) {
            self.found.push(format!("{place}.{name}: not recorded, got {}", shown(value)));
        }
    }

    fn items(&mut self, place: &str, want: &[Value], got: &[Value]) {
        self.count(place, want, got);
        let numbered = self.numbered(place, want, got);
        if let Some((wanted, came)) = numbered.filter(|(one, two)| one != two) {
            return self.rows_by_number(place, (&wanted, want), (&came, got));
        }
        for (index, (value, other)) in want.iter().zip(got).enumerate() {
            self.value(&format!("{place}[{index}]"), value, other);
        }
    }

    /// What tells the rows of both sides apart, if anything does.
    fn numbered(
        &self,
        place: &str,
        want: &[Value],
        got: &[Value],
    ) -> Option<(Vec<String>, Vec<String>)> {
        let recorded = |value: &Value| self.rules.ids.value(value).to_string();
        let numbers = |rows: &[Value], name: &str, spelt: &dyn Fn(&Value) -> String| {
            let found: Option<Vec<String>> =
                rows.iter().map(|row| row.get(name).map(spelt)).collect();
            let found = found?;
            let different: BTreeSet<&String> = found.iter().collect();
            (different.len() == found.len() && !found.is_empty()).then_some(found)
        };
        let both = |name: &&str| {
            Some((numbers(want, name, &recorded)?, numbers(got, name, &Value::to_string)?))
        };
        let of_list = (place == "body").then_some(&NUMBER_OF_ROWS);
        NUMBERS.iter().chain(of_list).find_map(both)
    }

    /// Says that the rows are others, or in another order, and compares those that both sides have.
    fn rows_by_number(
        &mut self,
        place: &str,
        (wanted, want): (&[String], &[Value]),
        (came, got): (&[String], &[Value]),
    ) {
        let lacks = |own: &[String], others: &[String]| -> Vec<String> {
            own.iter().filter(|number| !others.contains(number)).cloned().collect()
        };
        let (missing, strange) = (lacks(wanted, came), lacks(came, wanted));
        let is_list = place.ends_with("body") || place.ends_with(".intervals");
        let of = |numbers: &[String], own: &[String], rows| numbered_rows(numbers, own, rows);
        let others = [of(&missing, wanted, want), of(&strange, came, got)].concat();
        if is_list && self.rules.undefined.is_tied(want, got, &others) {
            // Any order of these is right.
        } else if !missing.is_empty() || !strange.is_empty() {
            let line = format!("{place}: other rows, without {missing:?}, with {strange:?}");
            self.found.push(line);
        } else if !self.rules.ties && wanted != came {
            let line = format!("{place}: rows in another order, want {wanted:?}, got {came:?}");
            self.found.push(line);
        }
        for (number, row) in wanted.iter().zip(want) {
            let found = came.iter().position(|other| other == number);
            if let Some(other) = found.and_then(|at| got.get(at)) {
                self.value(&format!("{place}[#{number}]"), row, other);
            }
        }
    }

    fn count(&mut self, place: &str, want: &[Value], got: &[Value]) {
        if want.len() != got.len() {
            let (wanted, came) = (want.len(), got.len());
            self.found.push(format!("{place}: want {wanted} items, got {came}"));
        }
    }

    /// Each recorded row takes the first row that is equal to it; what finds no partner is
    /// compared in the order that is left.
    fn rows_in_any_order(&mut self, place: &str, want: &[Value], got: &[Value]) {
        self.count(place, want, got);
        if let Some((wanted, came)) = self.numbered(place, want, got) {
            return self.rows_by_number(place, (&wanted, want), (&came, got));
        }
        let mut free: Vec<&Value> = got.iter().collect();
        let mut alone = Vec::new();
        for row in want {
            match free.iter().position(|other| self.are_equal(row, other)) {
                Some(index) => drop(free.remove(index)),
                None => alone.push(row),
            }
        }
        for (index, (row, other)) in alone.into_iter().zip(free).enumerate() {
            self.value(&format!("{place}[unmatched {index}]"), row, other);
        }
    }

    fn are_equal(&self, want: &Value, got: &Value) -> bool {
        let mut trial = Comparison { rules: self.rules, found: Vec::new() };
        trial.value("", want, got);
        trial.found.is_empty()
    }

    fn differ(&mut self, place: &str, want: &Value, got: &Value) {
        let (wanted, came) = (kind(want), kind(got));
        let (want, got) = (shown(want), shown(got));
        self.found.push(if wanted == came {
            format!("{place}: want {want}, got {got}")
        } else {
            format!("{place}: want {wanted} {want}, got {came} {got}")
        });
    }
}

/// The rows that these numbers tell.
fn numbered_rows<'v>(numbers: &[String], own: &[String], rows: &'v [Value]) -> Vec<&'v Value> {
    let pairs = own.iter().zip(rows);
    pairs.filter(|(number, _)| numbers.contains(number)).map(|(_, row)| row).collect()
}

fn shape_at(place: &str, want: &Value, got: &Value, found: &mut Vec<String>) {
    let is_free = |value: &Value| value.as_str().is_some_and(|text| text.starts_with('$'));
    if found.len() >= DIFFERENCES_MAX || is_free(want) || want.is_null() || got.is_null() {
        return;
    }
    match (want, got) {
        (Value::Object(want), Value::Object(got)) => {
            for (name, value) in want {
                match got.get(name) {
                    Some(other) => shape_at(&format!("{place}.{name}"), value, other, found),
                    None => found.push(format!("{place}.{name}: missing")),
                }
            }
        }
        (Value::Array(want), Value::Array(got)) => {
            let Some(row) = want.first() else { return };
            for (index, other) in got.iter().take(SHAPE_ROWS_MAX).enumerate() {
                shape_at(&format!("{place}[{index}]"), row, other, found);
            }
        }
        // The reference cannot tell an empty list from an empty object.
        (Value::Array(list), Value::Object(map)) | (Value::Object(map), Value::Array(list))
            if list.is_empty() && map.is_empty() => {}
        _ if kind(want) == kind(got) => {}
        _ => found.push(format!("{place}: want {}, got {} {}", kind(want), kind(got), shown(got))),
    }
}

fn is_token(text: &str) -> bool {
    ["$text", "$string", "$now", "$any", "$id"].contains(&text)
}

fn fits(token: &str, got: &Value, now: Timestamp) -> bool {
    match (token, got) {
        ("$any", _) | ("$string", Value::String(_)) => true,
        ("$text", Value::String(text)) => !text.trim().is_empty(),
        ("$id", Value::String(text)) => !text.is_empty(),
        ("$id", Value::Number(number)) => number.as_f64().is_some_and(|number| number > 0.0),
        ("$now", Value::String(text)) => moment(text).is_some_and(|moment| {
            moment.as_micros().abs_diff(now.as_micros()) < NOW_SLACK_US.unsigned_abs()
        }),
        _ => false,
    }
}

/// A date and time; without a zone it is in UTC.
fn moment(text: &str) -> Option<Timestamp> {
    let text = text.replacen(' ', "T", 1);
    Timestamp::parse(&text).or_else(|| Timestamp::parse(&format!("{text}Z")))
}

fn same_number(want: &Value, got: &Value) -> bool {
    if let (Some(want), Some(got)) = (want.as_i64(), got.as_i64()) {
        return want == got;
    }
    match (want.as_f64(), got.as_f64()) {
        (Some(want), Some(got)) => (want - got).abs() < NUMBER_TOLERANCE,
        _ => false,
    }
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// A text without what depends on the day of the run or on chance: folders of uploads, addresses of
/// what was written today, nonces of previews. Recorded texts were levelled in the same way.
pub(super) fn levelled(text: &str) -> String {
    static PARTS: LazyLock<Vec<(Regex, &str)>> = LazyLock::new(|| {
        let part = |pattern: &str, level| Some((Regex::new(pattern).ok()?, level));
        let parts = [
            part(r"preview_nonce=[0-9a-f]{10}", "preview_nonce=NONCE"),
            part(r"/uploads/20\d\d/\d\d/", "/uploads/YYYY/MM/"),
        ];
        parts.into_iter().flatten().collect()
    });
    let mut level = text.to_owned();
    for day in [0, DAY_US] {
        let day = Timestamp::from_micros(Clock::System.now().as_micros() - day).to_string();
        if let Some(date) = day.get(..DATE_CHARS) {
            level = level.replace(&format!("/{}/", date.replace('-', "/")), "/YYYY/MM/DD/");
        }
    }
    for (pattern, replacement) in PARTS.iter() {
        level = pattern.replace_all(&level, *replacement).into_owned();
    }
    level
}

/// A value short enough for one line.
pub(super) fn shown(value: &Value) -> String {
    let text = value.to_string();
    if text.chars().count() <= SHOWN_CHARS_MAX {
        return text;
    }
    let start: String = text.chars().take(SHOWN_CHARS_MAX).collect();
    format!("{start}…")
}
