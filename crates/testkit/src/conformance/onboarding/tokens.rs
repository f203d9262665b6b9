//! `${…}` in case files: values saved earlier in the case, keys, and fresh random text.

use std::collections::BTreeMap;

use anyhow::{Context as _, Result, bail, ensure};
use serde_json::{Map, Value};

const LETTERS: &[u8] = b"abcdefghijklmnopqrstuvwxyz";
const LETTERS_AND_DIGITS: &[u8] = b"abcdefghijklmnopqrstuvwxyz0123456789";
const DIGITS: &[u8] = b"0123456789";
const LENGTH_DEFAULT: usize = 10;
const LENGTH_MAX: usize = 1 << 20;

/// The values that are known while one case runs.
#[derive(Clone, Debug)]
pub(super) struct Scope {
    known: BTreeMap<String, String>,
    named: BTreeMap<String, String>,
}

impl Scope {
    pub(super) fn new(known: BTreeMap<String, String>) -> Self {
        Self { known, named: BTreeMap::new() }
    }

    pub(super) fn save(&mut self, name: &str, value: &str) {
        self.known.insert(name.to_owned(), value.to_owned());
    }

    /// The text with every token replaced by its value.
    pub(super) fn text(&mut self, source: &str) -> Result<String> {
        let mut result = String::new();
        let mut rest = source;
        while let Some((before, after)) = rest.split_once("${") {
            result.push_str(before);
            let token =
                after.split_once('}').and_then(|(inner, next)| Some((Token::parse(inner)?, next)));
            // What only looks like a token stays as it is.
            let Some((token, next)) = token else {
                result.push_str("${");
                rest = after;
                continue;
            };
            result.push_str(&self.value(&token)?);
            rest = next;
        }
        result.push_str(rest);
        Ok(result)
    }

    /// The document with every token replaced, in names as well as in values. An object
    /// `{"$int": "…"}` becomes a number.
    pub(super) fn json(&mut self, value: &Value) -> Result<Value> {
        Ok(match value {
            Value::String(text) => Value::String(self.text(text)?),
            Value::Array(items) => {
                Value::Array(items.iter().map(|item| self.json(item)).collect::<Result<_>>()?)
            }
            Value::Object(members) => match members.get("$int") {
                Some(Value::String(digits)) if members.len() == 1 => {
                    let text = self.text(digits)?;
                    let number: i64 = text
                        .parse()
                        .with_context(|| format!("$int: {text:?} is not an integer"))?;
                    Value::from(number)
                }
                _ => {
                    let mut result = Map::new();
                    for (name, member) in members {
                        result.insert(self.text(name)?, self.json(member)?);
                    }
                    Value::Object(result)
                }
            },
            other => other.clone(),
        })
    }

    fn value(&mut self, token: &Token<'_>) -> Result<String> {
        if token.name.is_none()
            && let Some(value) = self.known.get(token.word)
        {
            return Ok(value.clone());
        }
        if token.name.is_some()
            && let Some(value) = self.named.get(token.text)
        {
            return Ok(value.clone());
        }
        let value = token.random()?;
        if token.name.is_some() {
            self.named.insert(token.text.to_owned(), value.clone());
        }
        Ok(value)
    }
}

/// A token such as `uniq20:store`, taken apart.
struct Token<'a> {
    text: &'a str,
    /// What stands before the colon: `uniq20`.
    word: &'a str,
    kind: &'a str,
    length: Option<usize>,
    name: Option<&'a str>,
}

impl<'a> Token<'a> {
    fn parse(text: &'a str) -> Option<Self> {
        let (word, name) = match text.split_once(':') {
            Some((word, name)) => (word, Some(name)),
            None => (text, None),
        };
        let kind = word.trim_end_matches(|character: char| character.is_ascii_digit());
        let is_letter = |byte: u8| byte.is_ascii_alphabetic() || byte == b'_';
        let is_name = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
        if kind.is_empty() || !kind.bytes().all(is_letter) {
            return None;
        }
        if name.is_some_and(|name| name.is_empty() || !name.bytes().all(is_name)) {
            return None;
        }
        let length = word.strip_prefix(kind)?.parse().ok();
        Some(Self { text, word, kind, length, name })
    }

    fn random(&self) -> Result<String> {
        let length = self.length.unwrap_or(LENGTH_DEFAULT);
        ensure!((1..=LENGTH_MAX).contains(&length), "${{{}}} has a senseless length", self.text);
        match self.kind {
            "uniq" => random(LETTERS, LETTERS_AND_DIGITS, length),
            "an" => Ok(random(LETTERS, LETTERS_AND_DIGITS, length)?.to_ascii_uppercase()),
            "alpha" => random(LETTERS, LETTERS, length),
            "d" => random(b"123456", DIGITS, length),
            "luhn" => {
                ensure!(length >= 2, "a number with a check digit has at least 2 digits");
                let mut number = random(b"4", DIGITS, length - 1)?;
                number.push(luhn_check_digit(&number));
                Ok(number)
            }
            _ => bail!("${{{}}} is not known at this step", self.text),
        }
    }
}

/// Random text whose first character comes from another set than the rest.
fn random(first: &[u8], rest: &[u8], length: usize) -> Result<String> {
    let mut text = String::with_capacity(length);
    for place in 0..length {
        let set = if place == 0 { first } else { rest };
        let draw = usize::try_from(getrandom::u32()?)?;
        let byte = set.get(draw % set.len()).copied().context("the set has characters")?;
        text.push(char::from(byte));
    }
    Ok(text)
}

/// The digit that completes a card number. Written again on purpose: the cases must not lean on
/// the code that they test.
pub(super) fn luhn_check_digit(digits: &str) -> char {
    let mut sum = 0;
    for (place, digit) in digits.chars().rev().filter_map(|digit| digit.to_digit(10)).enumerate() {
        let weighted = if place % 2 == 0 { digit * 2 } else { digit };
        sum += weighted / 10 + weighted % 10;
    }
    char::from_digit((10 - sum % 10) % 10, 10).unwrap_or('0')
}
