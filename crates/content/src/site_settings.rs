//! The settings of the site over REST: those options that are settings, by their published names.
//!
//! A value is checked here for what its schema cannot say. **Nothing of a request is stored unless
//! all of it is fine.** Null puts a setting back to its default.

use std::sync::Arc;

use contract::rest::route::{EDIT, READ, Route};
use contract::rest::{
    Args, Item, Node, ParamError, Reply, Schema, Stop, Treatment, check, clean, params,
};
use frame::action::{read, write};
use frame::options::{self, Definition, Kind, Setting, Tables};
use frame::settings::is_site_address;
use frame::{Action, Call, Names, Options};
use jiff::tz::TimeZone;
use serde_json::{Map, Value, json};
use types::Capability;

/// Characters of a text at most.
const TEXT_LENGTH_MAX: usize = 1_000;
/// Languages that the site speaks; the empty one is the product's own.
const LANGUAGES: &[&str] = &["", "en_US"];

/// A setting: its option, and its compiled schema.
#[derive(Debug)]
struct Entry {
    definition: &'static Definition,
    setting: &'static Setting,
    node: Node,
}

type Settings = Arc<[Entry]>;

pub(crate) fn routes(names: &Names, options: Tables) -> Vec<Route<Action>> {
    let entry = |(definition, setting): (&'static Definition, &'static Setting)| {
        let node = (setting.schema)().compile().expect("the settings are written down right");
        Entry { definition, setting, node }
    };
    let settings: Settings = options::settings(options).map(entry).collect();
    let args = settings.iter().fold(Args::new(), |args, Entry { setting, .. }| {
        args.treated(setting.name, (setting.schema)(), Treatment::Nullable)
    });
    // A value that the site does not have is null.
    let fields =
        settings.iter().map(|entry| (entry.setting.name, (entry.setting.schema)().or_null()));
    let item = Item::new("settings", Schema::object(fields));
    let shown = Arc::clone(&settings);
    let route = Route::at(&names.content, "/settings")
        .on(READ, Args::new(), read(may_manage, move |call| get(&shown, call)))
        .on(EDIT, args, write(may_manage, move |call| edit(&settings, call)))
        .schema(item.document());
    vec![route]
}

fn may_manage(call: &mut Call<'_>) -> Result<(), Stop> {
    if call.can(Capability::ManageOptions) { Ok(()) } else { Err(call.forbidden().into()) }
}

fn get(settings: &[Entry], call: &mut Call<'_>) -> Result<Reply, Stop> {
    let options = Options::read(call.conn()?)?;
    Ok(Reply::new(values(settings, call, &options)))
}

fn edit(settings: &[Entry], call: &mut Call<'_>) -> Result<Reply, Stop> {
    let mut changes: Vec<(&'static str, Option<Value>)> = Vec::new();
    let mut errors = params::ParamErrors::new();
    for Entry { definition, setting, .. } in settings {
        if !call.params.given(setting.name) {
            continue;
        }
        match call.params.get(setting.name) {
            None => changes.push((definition.name, None)),
            Some(value) => match accept(definition.name, value) {
                Ok(value) => changes.push((definition.name, Some(value))),
                Err(error) => errors.push((setting.name.to_owned(), Some(error))),
            },
        }
    }
    if !errors.is_empty() {
        return Err(params::invalid_params(errors).into());
    }
    for (name, value) in changes {
        match value {
            Some(value) => options::set(call.conn()?, name, &value)?,
            None => {
                site_rows::option::delete(call.conn()?, name)?;
            }
        }
    }
    get(settings, call)
}

fn values(settings: &[Entry], call: &Call<'_>, options: &Options) -> Value {
    let value = |Entry { definition, setting, node }: &Entry| {
        let value = value(call, options, definition);
        // What was stored by other means and does not fit is better not shown than wrong.
        let fits = check::validate(node, &value, setting.name).is_ok();
        (setting.name.to_owned(), if fits { value } else { Value::Null })
    };
    Value::Object(settings.iter().map(value).collect::<Map<_, _>>())
}

fn value(call: &Call<'_>, options: &Options, definition: &Definition) -> Value {
    match definition.kind {
        Kind::Text | Kind::YesNo | Kind::Decimal => {
            let text = options.text(definition.name);
            let is_unset_address = definition.name == "siteurl" && text.is_empty();
            json!(if is_unset_address { call.visit.home.clone() } else { text })
        }
        Kind::Integer => json!(options.integer(definition.name)),
        Kind::Switch => json!(options.is_on(definition.name)),
        Kind::Json => options.get(definition.name),
    }
}

/// The value as it is stored, or why it cannot be.
fn accept(option: &str, value: &Value) -> Result<Value, ParamError> {
    match value {
        Value::String(text) => accept_text(option, text).map(Value::String),
        Value::Number(number) => accept_number(option, number.as_i64().unwrap_or_default()),
        other => Ok(other.clone()),
    }
}

fn accept_text(option: &str, text: &str) -> Result<String, ParamError> {
    let refused = |message: &str| Err(ParamError::new("rest_invalid_param", message));
    if text.chars().count() > TEXT_LENGTH_MAX {
        return refused("The value is too long.");
    }
    match option {
        "timezone_string" if text.is_empty() => Ok(String::new()),
        "siteurl" if is_site_address(text) => Ok(text.trim_end_matches('/').to_owned()),
        "siteurl" => refused("Enter a URL such as https://shop.example, or null for none."),
        "timezone_string" => match TimeZone::get(text) {
            Ok(zone) => Ok(zone.iana_name().unwrap_or(text).to_owned()),
            Err(_) => refused("Enter a known time zone, such as Europe/Rome."),
        },
        "WPLANG" if !LANGUAGES.contains(&text) => refused("This language is not available."),
        "show_on_front" if !matches!(text, "posts" | "page") => refused("Must be posts or page."),
        _ => Ok(clean::text_field(text)),
    }
}

fn accept_number(option: &str, number: i64) -> Result<Value, ParamError> {
    Ok(json!(match option {
        "start_of_week" if !(0..=6).contains(&number) => {
            let message = "The day must be between 0 (Sunday) and 6.";
            return Err(ParamError::new("rest_out_of_bounds", message));
        }
        // Without a number of posts there is one; -1 means all of them.
        "posts_per_page" if number == 0 => 1,
        "posts_per_page" if number == -1 => -1,
        _ => number.saturating_abs(),
    }))
}
