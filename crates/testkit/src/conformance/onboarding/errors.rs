//! The list `errors` of an answer against the list a case expects.

use std::collections::BTreeSet;
use std::fmt;

use anyhow::{Context as _, Error, Result, bail};
use regex::Regex;
use serde::Deserialize;
use serde_json::Value;

use super::matcher::text_of;

/// How much of an item without the right form is shown.
const SHOWN_MAX_CHARS: usize = 200;

/// How the expected and the received errors must agree.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum ErrorsMode {
    /// The same errors, each as often as expected, in any order.
    #[default]
    ExactSet,
    /// The same errors in the same order.
    ExactList,
    /// At least the expected errors.
    Contains,
    /// At least one error, and none but the expected ones.
    Only,
    /// An empty list.
    Empty,
    /// Any list.
    Any,
}

/// An expected error.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ErrorWant {
    /// One code, or several that will do, split by `|`.
    code: String,
    param: ParamWant,
    /// Words that the message must contain, numbers as whole numbers.
    #[serde(default)]
    message_has: Vec<String>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(try_from = "Value")]
enum ParamWant {
    Is(String),
    Matches(Regex),
}

impl TryFrom<Value> for ParamWant {
    type Error = Error;

    fn try_from(value: Value) -> Result<Self> {
        match &value {
            Value::String(text) => Ok(Self::Is(text.clone())),
            Value::Object(pattern) if pattern.len() == 1 => {
                let regex = pattern.get("regex").context("a param is text or a regex")?;
                Ok(Self::Matches(Regex::new(&text_of(regex)?)?))
            }
            _ => bail!("{value} is neither text nor a regex"),
        }
    }
}

impl ErrorWant {
    fn fits(&self, got: &ErrorGot<'_>) -> bool {
        let param_fits = match &self.param {
            ParamWant::Is(text) => text == got.param,
            ParamWant::Matches(regex) => regex.is_match(got.param),
        };
        param_fits
            && self.code.split('|').any(|code| code == got.code)
            && self.message_has.iter().all(|word| has_word(got.message, word))
    }
}

impl fmt::Display for ErrorWant {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let param = match &self.param {
            ParamWant::Is(text) => text.as_str(),
            ParamWant::Matches(regex) => regex.as_str(),
        };
        write!(formatter, "{} @ {param:?}", self.code)?;
        if !self.message_has.is_empty() {
            write!(formatter, " with {:?} in its message", self.message_has)?;
        }
        Ok(())
    }
}

/// A received error of the right form.
struct ErrorGot<'a> {
    code: &'a str,
    message: &'a str,
    param: &'a str,
}

impl<'a> ErrorGot<'a> {
    fn parse(item: &'a Value) -> Option<Self> {
        let text = |name| item.get(name).and_then(Value::as_str);
        let got = Self { code: text("code")?, message: text("message")?, param: text("param")? };
        let complete = !got.code.is_empty() && !got.message.trim().is_empty();
        complete.then_some(got)
    }
}

impl fmt::Display for ErrorGot<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} @ {:?} ({})", self.code, self.param, self.message)
    }
}

/// Everything in which the received errors differ from the expected ones.
pub(super) fn problems(wants: &[ErrorWant], mode: ErrorsMode, errors: &Value) -> Vec<String> {
    let Value::Array(items) = errors else {
        return vec![format!("errors: expected a list, got {errors}")];
    };
    if mode == ErrorsMode::Any {
        return Vec::new();
    }
    let mut gots = Vec::new();
    for item in items {
        let Some(got) = ErrorGot::parse(item) else {
            let shown: String = item.to_string().chars().take(SHOWN_MAX_CHARS).collect();
            return vec![format!("errors: {shown} lacks a code, a message or a param")];
        };
        gots.push(got);
    }
    match mode {
        ErrorsMode::Empty if gots.is_empty() => Vec::new(),
        ErrorsMode::Empty => vec![format!("errors: expected none, got {}", listed(&gots))],
        ErrorsMode::Only => only_problems(wants, &gots),
        _ => paired_problems(wants, mode, &gots),
    }
}

fn only_problems(wants: &[ErrorWant], gots: &[ErrorGot<'_>]) -> Vec<String> {
    let fits_none = |got: &&ErrorGot<'_>| !wants.iter().any(|want| want.fits(got));
    let strange: Vec<&ErrorGot<'_>> = gots.iter().filter(fits_none).collect();
    if gots.is_empty() {
        return vec![format!("errors: expected some of {}, got none", listed(wants))];
    }
    if strange.is_empty() {
        return Vec::new();
    }
    vec![format!("errors: expected only {}, got {}", listed(wants), listed(&strange))]
}

fn paired_problems(wants: &[ErrorWant], mode: ErrorsMode, gots: &[ErrorGot<'_>]) -> Vec<String> {
    let pairs = Pairing::largest(wants, gots);
    let missing: Vec<&ErrorWant> = pairs.wants_left(wants);
    let extra: Vec<&ErrorGot<'_>> = pairs.gots_left(gots);
    let mut problems = Vec::new();
    if !missing.is_empty() {
        problems.push(format!("errors missing: {}", listed(&missing)));
    }
    // Beside a missing error, the others show what came instead of it.
    if !extra.is_empty() && (mode != ErrorsMode::Contains || !missing.is_empty()) {
        problems.push(format!("errors unexpected: {}", listed(&extra)));
    }
    let in_order = wants.iter().zip(gots).all(|(want, got)| want.fits(got));
    if mode == ErrorsMode::ExactList && problems.is_empty() && !in_order {
        problems.push(format!("errors in another order: {}", listed(gots)));
    }
    problems
}

/// Which received error answers which expected one. Patterns overlap, so taking the first that
/// fits could leave a later one without a partner; augmenting paths find the largest pairing.
struct Pairing {
    /// For each received error the expected one it answers.
    want_of: Vec<Option<usize>>,
}

impl Pairing {
    fn largest(wants: &[ErrorWant], gots: &[ErrorGot<'_>]) -> Self {
        let mut pairing = Self { want_of: vec![None; gots.len()] };
        for index in 0..wants.len() {
            pairing.place(index, wants, gots, &mut BTreeSet::new());
        }
        pairing
    }

    fn place(
        &mut self,
        want_index: usize,
        wants: &[ErrorWant],
        gots: &[ErrorGot<'_>],
        tried: &mut BTreeSet<usize>,
    ) -> bool {
        let Some(want) = wants.get(want_index) else { return false };
        for (got_index, got) in gots.iter().enumerate() {
            if !want.fits(got) || !tried.insert(got_index) {
                continue;
            }
            let owner = self.want_of.get(got_index).copied().flatten();
            if owner.is_none_or(|owner| self.place(owner, wants, gots, tried)) {
                if let Some(slot) = self.want_of.get_mut(got_index) {
                    *slot = Some(want_index);
                }
                return true;
            }
        }
        false
    }

    fn wants_left<'a>(&self, wants: &'a [ErrorWant]) -> Vec<&'a ErrorWant> {
        let is_left = |(index, _): &(usize, _)| !self.want_of.contains(&Some(*index));
        wants.iter().enumerate().filter(is_left).map(|(_, want)| want).collect()
    }

    fn gots_left<'a, 'b>(&self, gots: &'a [ErrorGot<'b>]) -> Vec<&'a ErrorGot<'b>> {
        let pairs = gots.iter().zip(&self.want_of);
        pairs.filter(|(_, want)| want.is_none()).map(|(got, _)| got).collect()
    }
}

fn listed<T: fmt::Display>(items: &[T]) -> String {
    let texts: Vec<String> = items.iter().map(T::to_string).collect();
    texts.join("; ")
}

/// Whether `word` stands in `text` and is not just a part of a longer number.
fn has_word(text: &str, word: &str) -> bool {
    text.match_indices(word).any(|(start, _)| {
        let before = text.get(..start).unwrap_or_default();
        let after = text.get(start + word.len()..).unwrap_or_default();
        let is_digit = |character: char| character.is_ascii_digit();
        !before.ends_with(is_digit) && !after.starts_with(is_digit)
    })
}
