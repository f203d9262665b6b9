//! The options of the site: a closed list with types and defaults. **A name that is not listed does
//! not exist**, so nobody can park arbitrary data in the site.
//!
//! Each crate declares its own in a table of [`Definition`]s, and the site is handed the tables
//! when it is made. Some options are settings of the published interface under another name and
//! with a schema.

mod definition;
pub mod secrets;
mod site;

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, OnceLock, PoisonError, RwLock};

use db::Conn;
use jiff::civil::DateTime;
use jiff::tz::{Offset, TimeZone};
use serde_json::{Value, json};
use types::{Memo, Result, Timestamp};

pub use self::definition::{Definition, Kind, Setting, option, secret, setting};
pub(crate) use self::site::FIRST_CONTENT_OPTION;

/// The values of all options at one moment.
#[derive(Debug, Default)]
pub struct Options {
    values: HashMap<&'static str, Value>,
    zone: OnceLock<TimeZone>,
    /// What the shop keeps in memory from one request to the next.
    pub beside: Arc<Memo>,
    /// Changes whenever any option does.
    pub version: i64,
}

impl Options {
    pub fn read(conn: &mut dyn Conn) -> Result<Self> {
        let version = site_rows::option::version(conn)?;
        let mut values = HashMap::new();
        for (name, text) in site_rows::option::all(conn)? {
            let Some(definition) = definition(&name) else { continue };
            values.insert(definition.name, serde_json::from_str(&text).unwrap_or(Value::Null));
        }
        Ok(Self { values, zone: OnceLock::new(), beside: Arc::default(), version })
    }

    /// The value of a listed option, or its default; null for a name that is not listed.
    pub fn get(&self, name: &str) -> Value {
        if let Some(value) = self.values.get(name) {
            return value.clone();
        }
        declared(name, |declared| declared.default.clone()).unwrap_or(Value::Null)
    }

    pub fn text(&self, name: &str) -> String {
        match self.get(name) {
            Value::String(text) => text,
            Value::Null => String::new(),
            other => other.to_string(),
        }
    }

    /// A whole number, however it was written down.
    pub fn integer(&self, name: &str) -> i64 {
        match self.get(name) {
            Value::Number(number) => number.as_i64().unwrap_or_default(),
            Value::String(text) => text.trim().parse().unwrap_or_default(),
            Value::Bool(flag) => i64::from(flag),
            _ => 0,
        }
    }

    pub fn is_on(&self, name: &str) -> bool {
        match self.get(name) {
            Value::Bool(flag) => flag,
            Value::String(text) => matches!(text.as_str(), "yes" | "1" | "true"),
            Value::Number(number) => number.as_i64() != Some(0),
            _ => false,
        }
    }

    /// The zone in which the site lives: a named one, or a fixed offset.
    pub fn time_zone(&self) -> TimeZone {
        self.zone.get_or_init(|| self.chosen_zone()).clone()
    }

    fn chosen_zone(&self) -> TimeZone {
        let name = self.text("timezone_string");
        if let (false, Ok(zone)) = (name.is_empty(), TimeZone::get(&name)) {
            return zone;
        }
        let hours: f64 = self.text("gmt_offset").trim().parse().unwrap_or_default();
        // Offsets come in quarters of an hour; nothing on earth is beyond these bounds.
        let minutes = (hours.clamp(-14.0, 14.0) * 4.0).round() * 15.0;
        let seconds = format!("{minutes:.0}").parse::<i32>().unwrap_or_default() * 60;
        Offset::from_seconds(seconds).map_or(TimeZone::UTC, TimeZone::fixed)
    }

    /// The zone's name as calendars of browsers know it, or the fixed distance such as `+05:30`.
    pub fn zone_name(&self) -> String {
        let zone = self.time_zone();
        if let Some(name) = zone.iana_name() {
            return name.to_owned();
        }
        let minutes = zone.to_fixed_offset().map_or(0, Offset::seconds) / 60;
        let sign = if minutes < 0 { '-' } else { '+' };
        format!("{sign}{:02}:{:02}", minutes.abs() / 60, minutes.abs() % 60)
    }

    /// The hours by which the site is ahead of UTC at the moment, as the index tells it: a number
    /// when a zone is named, else the text that was stored.
    pub fn gmt_offset(&self, now: Timestamp) -> Value {
        if self.text("timezone_string").is_empty() {
            return Value::String(self.text("gmt_offset"));
        }
        let seconds = self.seconds_ahead(now);
        if seconds % 3600 == 0 {
            json!(seconds / 3600)
        } else {
            json!((f64::from(seconds) / 36.0).round() / 100.0)
        }
    }

    /// By how many seconds the site's time of day is ahead of UTC at a moment.
    pub fn seconds_ahead(&self, now: Timestamp) -> i32 {
        jiff::Timestamp::from_microsecond(now.as_micros())
            .map_or(0, |time| self.time_zone().to_offset(time).seconds())
    }

    /// The site's own time of day at a moment, as if it were UTC.
    pub fn local(&self, time: Timestamp) -> Timestamp {
        let ahead = i64::from(self.seconds_ahead(time)) * 1_000_000;
        Timestamp::from_micros(time.as_micros().saturating_add(ahead))
    }

    /// The moment of a time of day of the site.
    pub fn from_local(&self, local: Timestamp) -> Timestamp {
        let Ok(as_utc) = jiff::Timestamp::from_microsecond(local.as_micros()) else { return local };
        let civil: DateTime = as_utc.to_zoned(TimeZone::UTC).datetime();
        let moment = self.time_zone().to_ambiguous_timestamp(civil).compatible();
        moment.map_or(local, |moment| Timestamp::from_micros(moment.as_microsecond()))
    }
}

/// Tables of options, each of the crate that owns them.
pub type Tables = &'static [&'static [Definition]];

/// An option with its default as a value.
#[derive(Debug)]
struct Declared {
    definition: &'static Definition,
    default: Value,
}

/// The site's own options, and those that crates above have declared.
static DECLARED: LazyLock<RwLock<HashMap<&'static str, Declared>>> =
    LazyLock::new(|| RwLock::new(by_name(&[site::DEFINITIONS])));

fn by_name(tables: &[&'static [Definition]]) -> HashMap<&'static str, Declared> {
    let declared = |definition: &'static Definition| {
        let default = serde_json::from_str(definition.default).unwrap_or(Value::Null);
        (definition.name, Declared { definition, default })
    };
    tables.iter().copied().flatten().map(declared).collect()
}

fn declared<T>(name: &str, read: impl FnOnce(&Declared) -> T) -> Option<T> {
    DECLARED.read().unwrap_or_else(PoisonError::into_inner).get(name).map(read)
}

/// Adds options of the crates above to those of the site: done once at the start of a process, by
/// [`crate::Site::new`] or by whoever works on the storage without a site. What is declared is
/// code, not data, so it holds for all sites of the process.
pub fn declare(tables: Tables) {
    let mut declared = DECLARED.write().unwrap_or_else(PoisonError::into_inner);
    declared.extend(by_name(tables));
}

/// The options among the site's own and these that are settings, in the order of the tables.
pub fn settings(tables: Tables) -> impl Iterator<Item = (&'static Definition, &'static Setting)> {
    let all = site::DEFINITIONS.iter().chain(tables.iter().copied().flatten());
    all.filter_map(|definition| Some((definition, definition.setting.as_ref()?)))
}

/// The definition of an option by its name.
pub fn definition(name: &str) -> Option<&'static Definition> {
    declared(name, |declared| declared.definition)
}

/// Stores the value of a listed option.
pub fn set(conn: &mut dyn Conn, name: &str, value: &Value) -> Result<()> {
    change(conn, name, value).map(drop)
}

/// Stores the value of a listed option, and returns whether it was another before. **Secret ones
/// are refused**: [`secrets::change`] seals them.
pub fn change(conn: &mut dyn Conn, name: &str, value: &Value) -> Result<bool> {
    match definition(name) {
        Some(definition) if definition.is_secret => {
            Err(types::Error::internal(format!("the option {name} must be sealed")))
        }
        Some(definition) => site_rows::option::set(conn, definition.name, &value.to_string()),
        None => Err(types::Error::invalid(format!("unknown option `{name}`"))),
    }
}
