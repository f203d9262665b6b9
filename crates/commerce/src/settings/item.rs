//! A setting as the interface shows it: what is known about it, and its value.

use contract::rest::{Item, Schema, Stop};
use frame::options::definition;
use frame::{Call, Options};
use serde_json::{Map, Value, json};

use super::choices;
use super::kind::{SettingType, TYPES, choices_body};
use super::table::{Default, Setting};

const CONTEXTS: &[&str] = &["view", "edit"];

/// The types that a value may have.
pub(super) fn value_schema() -> Schema {
    let types = ["null", "object", "string", "number", "boolean", "integer", "array"];
    Schema::types(&types).about("Setting value.")
}

pub(super) fn group() -> Item {
    let text = |about: &str| Schema::text().about(about).context(CONTEXTS);
    Item::new(
        "setting_group",
        Schema::object([
            ("id", text("Group ID.")),
            ("label", text("Group name.")),
            ("description", text("Group description.")),
            ("parent_id", text("Parent group ID.")),
            ("sub_groups", text("Subgroup IDs.").shown_as(Schema::list(Schema::text()))),
        ]),
    )
}

pub(super) fn setting() -> Item {
    let text = |about: &str| Schema::text().about(about).context(CONTEXTS).readonly();
    let mixed = |about: &str| Schema::typed("mixed").about(about).context(CONTEXTS);
    let options = Schema::map().about("Available options.").context(CONTEXTS).readonly();
    Item::new(
        "setting",
        Schema::object([
            ("id", text("Setting ID.")),
            ("group_id", text("Group ID.")),
            ("label", text("Setting name.")),
            ("description", text("Setting description.")),
            ("value", mixed("Setting value.")),
            ("default", mixed("Default value.").readonly()),
            ("tip", text("Help text.")),
            ("placeholder", text("Placeholder.")),
            ("type", text("Setting type.").choices(TYPES)),
            ("options", options),
        ]),
    )
}

pub(super) fn body(
    call: &mut Call<'_>,
    options: &Options,
    setting: &Setting,
) -> Result<Value, Stop> {
    let mut body = Map::new();
    let mut add = |name: &str, value: Value| body.insert(name.to_owned(), value);
    add("id", json!(setting.id));
    add("label", json!(setting.label));
    add("description", json!(setting.about));
    add("type", json!(setting.kind.name()));
    if let Some(default) = default(options, setting) {
        add("default", default);
    }
    if let Some(offered) = choices_body(&choices::of(call, setting.offers)?) {
        add("options", offered);
    }
    if setting.tip {
        add("tip", json!(setting.about));
    }
    add("value", value(options, setting));
    Ok(Value::Object(body))
}

/// What the value is as long as nobody chose one, if the interface tells.
pub(super) fn default(options: &Options, setting: &Setting) -> Option<Value> {
    let of_json = |text: &str| serde_json::from_str(text).unwrap_or_default();
    let default = match setting.default {
        Default::Unsaid => return None,
        Default::This(text) => of_json(text),
        Default::LikeOption(name) => json!(options.text(name)),
        Default::OfOption => of_json(definition(setting.id)?.default),
    };
    Some(as_setting(setting.kind, default))
}

fn value(options: &Options, setting: &Setting) -> Value {
    let stored = match options.get(setting.id) {
        Value::Null => None,
        // Nothing was chosen where another option speaks.
        Value::String(text) if text.is_empty() => match setting.default {
            Default::LikeOption(_) => None,
            _ => Some(json!("")),
        },
        other => Some(other),
    };
    match stored {
        Some(stored) => as_setting(setting.kind, stored),
        None => default(options, setting).unwrap_or_else(|| json!("")),
    }
}

/// Only choices of several values are lists; everything else is a text.
fn as_setting(kind: SettingType, value: Value) -> Value {
    match value {
        Value::Number(number) => json!(number.to_string()),
        Value::Bool(flag) => json!(if flag { "yes" } else { "no" }),
        Value::Array(_) | Value::Object(_) if kind != SettingType::Multiselect => json!(""),
        other => other,
    }
}
