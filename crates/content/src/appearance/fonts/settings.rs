//! What families and faces of fonts declare, and how a request says it.

use contract::rest::{ParamError, Stop, clean, params};
use frame::Call;
use serde_json::{Map, Value, json};

/// Characters of one setting.
const SETTING_LENGTH_MAX: usize = 2_000;

pub(super) type Declared = &'static [(&'static str, bool)];

/// What a family or a face declares: a name, whether it is needed.
pub(super) const OF_FAMILY: Declared =
    &[("name", true), ("slug", true), ("fontFamily", true), ("preview", false)];
pub(super) const OF_FACE: Declared = &[
    ("fontFamily", true),
    ("fontStyle", false),
    ("fontWeight", false),
    ("fontDisplay", false),
    ("src", true),
    ("fontStretch", false),
    ("ascentOverride", false),
    ("descentOverride", false),
    ("fontVariant", false),
    ("fontFeatureSettings", false),
    ("fontVariationSettings", false),
    ("lineGapOverride", false),
    ("sizeAdjust", false),
    ("unicodeRange", false),
    ("preview", false),
];

pub(super) fn invalid(parameter: &str, message: String) -> Stop {
    let error = ParamError::new("rest_invalid_param", message);
    params::invalid_params(vec![(parameter.to_owned(), Some(error))]).into()
}

/// The settings of the request: those that there are, each a text of some length.
pub(super) fn read(
    call: &Call<'_>,
    name: &str,
    declared: Declared,
) -> Result<Map<String, Value>, Stop> {
    let text = call.params.text(name).unwrap_or_default();
    let Ok(Value::Object(given)) = serde_json::from_str(text) else {
        return Err(invalid(name, format!("{name} must be an object as JSON in a text.")));
    };
    if let Some(unknown) = given.keys().find(|key| !declared.iter().any(|(n, _)| n == key)) {
        return Err(invalid(name, format!("{name}[{unknown}] is not a setting of fonts.")));
    }
    let mut settings = Map::new();
    for (key, is_needed) in declared {
        let cleaned = match given.get(*key) {
            Some(Value::String(text)) if text.len() <= SETTING_LENGTH_MAX => {
                Some(json!(clean::text_field(text)))
            }
            Some(Value::Array(list)) if *key == "src" && list.iter().all(Value::is_string) => {
                Some(Value::Array(list.clone()))
            }
            Some(Value::Number(number)) if *key == "fontWeight" => Some(json!(number.to_string())),
            Some(_) => return Err(invalid(name, format!("{name}[{key}] must be a text."))),
            None => None,
        };
        let is_empty = cleaned.as_ref().is_none_or(|value| value == "" || *value == json!([]));
        if *is_needed && is_empty {
            return Err(invalid(name, format!("{name}[{key}] must not be empty.")));
        }
        settings.extend(cleaned.map(|value| ((*key).to_owned(), value)));
    }
    Ok(settings)
}

pub(super) fn text_of<'a>(settings: &'a Map<String, Value>, name: &str) -> &'a str {
    settings.get(name).and_then(Value::as_str).unwrap_or_default()
}

/// What tells a face from others of its family.
pub(super) fn face_key(settings: &Map<String, Value>) -> String {
    let part = |name: &str, usual: &'static str| {
        let text = text_of(settings, name);
        if text.is_empty() { usual.to_owned() } else { text.to_lowercase() }
    };
    let family = text_of(settings, "fontFamily").to_lowercase();
    [
        family,
        part("fontStyle", "normal"),
        part("fontWeight", "400"),
        part("fontStretch", "100%"),
        part("unicodeRange", "u+0-10ffff"),
    ]
    .join(";")
}
