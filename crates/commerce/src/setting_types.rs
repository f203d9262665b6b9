//! The types of settings: what a value may be, and what is made of it before it is stored.

use contract::rest::{Refusal, clean, formats, loose};
use serde_json::{Map, Value, json};

/// Characters of a text at most.
const TEXT_LENGTH_MAX: usize = 10_000;
/// Values of a multiple choice at most.
const CHOSEN_MAX: usize = 1_000;

/// The names of types that the interface publishes for settings, whether or not one has them here.
pub(crate) const TYPES: &[&str] = &[
    "text",
    "email",
    "number",
    "color",
    "password",
    "textarea",
    "select",
    "multiselect",
    "radio",
    "image_width",
    "checkbox",
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SettingType {
    Text,
    Email,
    Number,
    /// A colour such as `#0b6f82`; nothing for that of the theme.
    Color,
    /// A text that buyers read at the checkout.
    SafeText,
    Textarea,
    /// Texts `yes` and `no`.
    Checkbox,
    Radio,
    Select,
    Multiselect,
    /// The choice of a page, which the older version of the interface does not offer.
    Page,
}

impl SettingType {
    /// As the interface calls it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Email => "email",
            Self::Number => "number",
            Self::Color => "color",
            Self::SafeText => "safe_text",
            Self::Textarea => "textarea",
            Self::Checkbox => "checkbox",
            Self::Radio => "radio",
            Self::Select | Self::Page => "select",
            Self::Multiselect => "multiselect",
        }
    }
}

/// Values with their names, in the order in which they are offered.
pub(crate) type Choices = Vec<(String, String)>;

/// The value as it is stored. `default` stands in for an empty choice.
pub(crate) fn accept(
    kind: SettingType,
    value: &Value,
    choices: &[(String, String)],
    default: Option<&Value>,
) -> Result<Value, Refusal> {
    match kind {
        SettingType::Color => color(value),
        SettingType::Text | SettingType::SafeText => {
            text(value).map(|text| json!(clean::text_field(&text)))
        }
        SettingType::Email => email(value),
        SettingType::Number => number(value),
        SettingType::Textarea => text(value).map(|text| json!(clean::textarea_field(&text))),
        SettingType::Checkbox => yes_or_no(value, default),
        SettingType::Radio | SettingType::Select | SettingType::Page => {
            one_of(value, choices, default)
        }
        SettingType::Multiselect => some_of(value, choices),
    }
}

/// How the choices are shown; an empty list is not.
pub(crate) fn choices_body(choices: &[(String, String)]) -> Option<Value> {
    let members = choices.iter().map(|(value, name)| (value.clone(), json!(name)));
    (!choices.is_empty()).then(|| Value::Object(members.collect::<Map<_, _>>()))
}

pub(crate) fn invalid() -> Refusal {
    let message = "Invalid setting value.";
    Refusal::new(400, "rest_setting_value_invalid", message)
}

fn text(value: &Value) -> Result<String, Refusal> {
    let text = match value {
        Value::Null => String::new(),
        other => loose::scalar_text(other).ok_or_else(invalid)?.trim().to_owned(),
    };
    if text.chars().count() > TEXT_LENGTH_MAX { Err(invalid()) } else { Ok(text) }
}

fn email(value: &Value) -> Result<Value, Refusal> {
    let text = text(value)?;
    if text.is_empty() || formats::is_email(&text) { Ok(json!(text)) } else { Err(invalid()) }
}

/// Written with three digits or six; kept with six, in small letters.
fn color(value: &Value) -> Result<Value, Refusal> {
    let text = text(value)?.to_ascii_lowercase();
    if text.is_empty() {
        return Ok(json!(""));
    }
    let digits = text.strip_prefix('#').ok_or_else(invalid)?;
    let six: String = match digits.len() {
        3 => digits.chars().flat_map(|digit| [digit, digit]).collect(),
        _ => digits.to_owned(),
    };
    let color = format!("#{six}");
    if frame::pages::is_colour(&color) { Ok(json!(color)) } else { Err(invalid()) }
}

/// A whole number that is not negative, or nothing at all; kept as text.
fn number(value: &Value) -> Result<Value, Refusal> {
    let text = text(value)?;
    if text.is_empty() {
        return Ok(json!(""));
    }
    let number: u32 = text.parse().map_err(|_| invalid())?;
    Ok(json!(number.to_string()))
}

/// What counts as nothing.
fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => true,
        Value::Number(number) => number.as_f64() == Some(0.0),
        Value::String(text) => text.is_empty() || text == "0",
        Value::Array(items) => items.is_empty(),
        Value::Object(members) => members.is_empty(),
        Value::Bool(true) => false,
    }
}

fn yes_or_no(value: &Value, default: Option<&Value>) -> Result<Value, Refusal> {
    match value {
        Value::String(text) if text == "yes" || text == "no" => Ok(value.clone()),
        Value::Bool(true) => Ok(json!("yes")),
        value if is_empty(value) => Ok(default.cloned().unwrap_or_else(|| json!("no"))),
        _ => Err(invalid()),
    }
}

fn one_of(
    value: &Value,
    choices: &[(String, String)],
    default: Option<&Value>,
) -> Result<Value, Refusal> {
    let given = text(value)?;
    if choices.iter().any(|(choice, _)| *choice == given) {
        return Ok(json!(given));
    }
    let default = default.filter(|_| is_empty(value));
    default.cloned().ok_or_else(invalid)
}

/// Values that are not offered are passed over.
fn some_of(value: &Value, choices: &[(String, String)]) -> Result<Value, Refusal> {
    if is_empty(value) {
        return Ok(json!([]));
    }
    let items: Vec<&Value> = match value {
        Value::Array(items) => items.iter().collect(),
        Value::Object(members) => members.values().collect(),
        _ => return Err(invalid()),
    };
    if items.len() > CHOSEN_MAX {
        return Err(invalid());
    }
    let texts = items.into_iter().filter_map(loose::scalar_text);
    let offered = texts.filter(|text| choices.iter().any(|(choice, _)| choice == text));
    Ok(offered.map(|text| json!(text)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(kind: SettingType, value: Value, expected: Option<Value>) {
        let choices = [("a", "A"), ("b", "B")].map(|(v, n)| (v.to_owned(), n.to_owned()));
        let default = json!("b");
        let result = accept(kind, &value, &choices, Some(&default));
        assert_eq!(result.ok(), expected, "{kind:?} {value}");
    }

    #[test]
    fn values_fit_their_types() {
        check(SettingType::Text, json!(" a <b>shop</b> "), Some(json!("a shop")));
        check(SettingType::Text, json!(3), Some(json!("3")));
        check(SettingType::Text, Value::Null, Some(json!("")));
        check(SettingType::Text, json!(["x"]), None);
        check(SettingType::Text, json!("x".repeat(TEXT_LENGTH_MAX + 1)), None);
        check(SettingType::Number, json!("007"), Some(json!("7")));
        check(SettingType::Number, json!(""), Some(json!("")));
        check(SettingType::Number, json!(-1), None);
        check(SettingType::Number, json!("many"), None);
        check(SettingType::Email, json!("shop@example.test"), Some(json!("shop@example.test")));
        check(SettingType::Email, json!("nonsense"), None);
        check(SettingType::SafeText, json!("Cash <b>now</b>"), Some(json!("Cash now")));
        check(SettingType::Color, json!("#0B6f82"), Some(json!("#0b6f82")));
        check(SettingType::Color, json!("#abc"), Some(json!("#aabbcc")));
        check(SettingType::Color, json!(""), Some(json!("")));
        check(SettingType::Color, json!("red"), None);
        check(SettingType::Color, json!("#12345g"), None);
        check(SettingType::Textarea, json!("one\ntwo"), Some(json!("one\ntwo")));
        check(SettingType::Checkbox, json!("no"), Some(json!("no")));
        check(SettingType::Checkbox, json!(true), Some(json!("yes")));
        check(SettingType::Checkbox, json!(""), Some(json!("b")));
        check(SettingType::Checkbox, json!("maybe"), None);
        check(SettingType::Checkbox, json!({ "a": 1 }), None);
        check(SettingType::Select, json!("a"), Some(json!("a")));
        check(SettingType::Radio, json!(""), Some(json!("b")));
        check(SettingType::Select, json!("c"), None);
        check(SettingType::Select, json!(["a"]), None);
        check(SettingType::Multiselect, json!(["b", "c", 7, ["a"]]), Some(json!(["b"])));
        check(SettingType::Multiselect, Value::Null, Some(json!([])));
        check(SettingType::Multiselect, json!("a"), None);
        check(SettingType::Multiselect, json!(vec!["a"; CHOSEN_MAX + 1]), None);
    }

    #[test]
    fn an_empty_choice_without_a_default_is_refused() {
        let choices = [(String::from("a"), String::from("A"))];
        assert!(accept(SettingType::Select, &Value::Null, &choices, None).is_err());
        assert_eq!(accept(SettingType::Checkbox, &Value::Null, &[], None), Ok(json!("no")));
    }
}
