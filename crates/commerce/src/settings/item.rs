//! A setting as the interface shows it: what is known about it, and its value.

use contract::rest::{Item, Schema, Stop};
use frame::options::definition;
use frame::{Call, Options, options};
use serde_json::{Map, Value, json};

use super::choices;
use super::table::{Default, Kept, Setting};
use crate::setting_types::{SettingType, TYPES, choices_body};
use crate::taxes;

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
    if !setting.placeholder.is_empty() {
        add("placeholder", json!(setting.placeholder));
    }
    let stored = stored(call, options, setting)?;
    add("value", value(options, setting, stored));
    Ok(Value::Object(body))
}

/// What the value is as long as nobody chose one, if the interface tells.
pub(super) fn default(options: &Options, setting: &Setting) -> Option<Value> {
    let of_json = |text: &str| serde_json::from_str(text).unwrap_or_default();
    let default = match setting.default {
        Default::Unsaid => return None,
        Default::This(text) => of_json(text),
        Default::LikeOption(name) => json!(options.text(name)),
        Default::Computed(compute) => json!(compute(options)),
        Default::Text(text) => json!(text),
        Default::OfOption => of_json(definition(&setting.id)?.default),
    };
    Some(as_setting(setting.kind, default))
}

/// What is kept, or null.
fn stored(call: &mut Call<'_>, options: &Options, setting: &Setting) -> Result<Value, Stop> {
    Ok(match setting.kept {
        Kept::Option => options.get(&setting.id),
        Kept::In(option) => options.get(option).get(&*setting.id).cloned().unwrap_or_default(),
        Kept::TaxClasses => json!(taxes::class_names(call.conn()?)?.join("\n")),
    })
}

/// Keeps a value that was accepted.
pub(super) fn keep(call: &mut Call<'_>, setting: &Setting, value: &Value) -> Result<(), Stop> {
    match setting.kept {
        Kept::Option => options::set(call.conn()?, &setting.id, value)?,
        Kept::In(option) => {
            let kept = Options::read(call.conn()?)?.get(option);
            let mut members = kept.as_object().cloned().unwrap_or_default();
            members.insert(setting.id.to_string(), value.clone());
            options::set(call.conn()?, option, &Value::Object(members))?;
        }
        Kept::TaxClasses => {
            let names = value.as_str().unwrap_or_default().lines().map(str::trim);
            let names: Vec<&str> = names.filter(|name| !name.is_empty()).collect();
            taxes::set_class_names(call, &names)?;
        }
    }
    Ok(())
}

fn value(options: &Options, setting: &Setting, stored: Value) -> Value {
    let stored = match stored {
        Value::Null => None,
        // Nothing was chosen where another option speaks.
        Value::String(text) if text.is_empty() => match setting.default {
            Default::LikeOption(_) | Default::Computed(_) => None,
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
