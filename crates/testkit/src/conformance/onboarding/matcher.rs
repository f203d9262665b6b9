//! What one value of an answer must be like.

use anyhow::{Context as _, Error, Result, bail};
use regex::Regex;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::tokens::Scope;

#[derive(Clone, Debug, Deserialize)]
#[serde(try_from = "Value")]
pub(super) enum Matcher {
    /// Any text but the empty one.
    Text,
    Digits12,
    Id12,
    Is(String),
    IsNot(String),
    Absent,
    AnyOf(Vec<Value>),
    Like {
        contains: Option<String>,
        regex: Option<Regex>,
    },
}

impl TryFrom<Value> for Matcher {
    type Error = Error;

    fn try_from(value: Value) -> Result<Self> {
        match value {
            Value::String(word) => Ok(Self::from_word(&word)),
            Value::Object(pattern) => Self::from_pattern(pattern),
            other => bail!("{other} is neither a word nor a pattern"),
        }
    }
}

impl Matcher {
    fn from_word(word: &str) -> Self {
        match word {
            "string" => Self::Text,
            "digits12" => Self::Digits12,
            "id12" => Self::Id12,
            _ => match word.strip_prefix("!=") {
                Some(other) => Self::IsNot(other.to_owned()),
                None => Self::Is(word.strip_prefix('=').unwrap_or(word).to_owned()),
            },
        }
    }

    fn from_pattern(mut pattern: Map<String, Value>) -> Result<Self> {
        let matcher = if let Some(Value::Bool(true)) = pattern.remove("absent") {
            Self::Absent
        } else if let Some(Value::Array(values)) = pattern.remove("any") {
            Self::AnyOf(values)
        } else {
            let mut text = |name| pattern.remove(name).as_ref().map(text_of).transpose();
            let (contains, regex) = (text("contains")?, text("regex")?);
            Self::Like { contains, regex: regex.as_deref().map(Regex::new).transpose()? }
        };
        let unknown: Vec<&String> = pattern.keys().collect();
        if !unknown.is_empty() {
            bail!("the pattern has members that mean nothing: {unknown:?}");
        }
        Ok(matcher)
    }

    /// How `value` differs from what is wanted; a JSON null counts as no value.
    pub(super) fn problem(
        &self,
        name: &str,
        value: Option<&Value>,
        scope: &mut Scope,
    ) -> Result<Option<String>> {
        let value = value.unwrap_or(&Value::Null);
        let (fits, wanted) = self.judge(value, scope)?;
        let got = if value.is_null() { "nothing".to_owned() } else { value.to_string() };
        Ok((!fits).then(|| format!("{name}: expected {wanted}, got {got}")))
    }

    /// Whether the value fits, and in words what would.
    fn judge(&self, value: &Value, scope: &mut Scope) -> Result<(bool, String)> {
        // But for a pattern, which may say otherwise, empty text is as good as none.
        let text = value.as_str().filter(|text| !text.is_empty());
        Ok(match self {
            Self::Absent => (value.is_null(), "nothing".to_owned()),
            Self::AnyOf(values) => {
                (values.contains(value), format!("one of {}", Value::from(values.clone())))
            }
            Self::Text => (text.is_some(), "text".to_owned()),
            Self::Digits12 => {
                (text.is_some_and(is_digits12), "12 digits, the first not 0".to_owned())
            }
            Self::Id12 => {
                let is_id = text.is_some_and(|text| text.chars().count() == 12);
                (is_id, "12 characters".to_owned())
            }
            Self::Is(source) => {
                let wanted = scope.text(source)?;
                (text == Some(wanted.as_str()), format!("{wanted:?}"))
            }
            Self::IsNot(source) => {
                let unwanted = scope.text(source)?;
                let differs = text.is_some_and(|text| text != unwanted);
                (differs, format!("another text than {unwanted:?}"))
            }
            Self::Like { contains, regex } => {
                let part = scope.text(contains.as_deref().unwrap_or_default())?;
                let pattern = regex.as_ref().map_or("", Regex::as_str);
                let fits = value.as_str().is_some_and(|text| {
                    text.to_lowercase().contains(&part.to_lowercase())
                        && regex.as_ref().is_none_or(|regex| regex.is_match(text))
                });
                (fits, format!("text with {part:?} in it that matches {pattern:?}"))
            }
        })
    }
}

fn is_digits12(text: &str) -> bool {
    text.len() == 12 && text.bytes().all(|byte| byte.is_ascii_digit()) && !text.starts_with('0')
}

pub(super) fn text_of(value: &Value) -> Result<String> {
    value.as_str().map(str::to_owned).with_context(|| format!("{value} must be text"))
}

/// What the member `data` of an answer must be like.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(try_from = "Value")]
pub(super) enum DataWant {
    #[default]
    Nothing,
    Members(Vec<(String, Matcher)>),
}

impl TryFrom<Value> for DataWant {
    type Error = Error;

    fn try_from(value: Value) -> Result<Self> {
        match value {
            Value::Object(members) => {
                let mut wants = Vec::new();
                for (name, matcher) in members {
                    wants.push((name, Matcher::try_from(matcher)?));
                }
                Ok(Self::Members(wants))
            }
            Value::Null => Ok(Self::Nothing),
            Value::String(word) if word == "none" || word == "empty" => Ok(Self::Nothing),
            other => bail!("{other} says nothing about data"),
        }
    }
}
