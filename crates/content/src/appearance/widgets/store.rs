//! The widgets of the site as they are kept: their settings, and the sidebars with their order.

use db::Conn;
use frame::Options;
use frame::options::{self, Definition, Kind, option};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use types::{Error, Result};

const STORED: &str = "boardwalk_widgets";
/// The option that holds widgets and the order in which they are. A new site has a few blocks to
/// begin with.
pub(crate) const WIDGETS: Definition = option(STORED, Kind::Json, BEGINNING);
const BEGINNING: &str = r#"{
    "sidebars": {
        "wp_inactive_widgets": ["block-2", "block-3", "block-4", "block-5", "block-6"]
    },
    "instances": {
        "block-2": { "content": "<!-- wp:search /-->" },
        "block-3": { "content": "<!-- wp:latest-posts /-->" },
        "block-4": { "content": "<!-- wp:latest-comments /-->" },
        "block-5": { "content": "<!-- wp:archives /-->" },
        "block-6": { "content": "<!-- wp:categories /-->" }
    }
}"#;
/// Where widgets rest that no page shows.
pub(in crate::appearance) const INACTIVE: &str = "wp_inactive_widgets";
/// The first widget of a type has this number.
const NUMBER_FIRST: i64 = 2;

/// All widgets of the site.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(default)]
pub(in crate::appearance) struct Widgets {
    /// Names of widgets in their order, by sidebar.
    pub(in crate::appearance) sidebars: Map<String, Value>,
    /// Settings, by the name of the widget.
    pub(super) instances: Map<String, Value>,
}

impl Widgets {
    pub(super) fn read(conn: &mut dyn Conn) -> Result<Self> {
        Self::of_options(&Options::read(conn)?)
    }

    /// The same from options that were read already.
    pub(in crate::appearance) fn of_options(options: &Options) -> Result<Self> {
        let stored = options.get(STORED);
        if stored.is_null() {
            return Ok(Self::default());
        }
        serde_json::from_value(stored)
            .map_err(|error| Error::internal("the stored widgets are malformed").because(error))
    }

    pub(super) fn save(&self, conn: &mut dyn Conn) -> Result<()> {
        options::set(
            conn,
            STORED,
            &json!({
                "sidebars": self.sidebars, "instances": self.instances,
            }),
        )
    }

    pub(in crate::appearance) fn of_sidebar(&self, sidebar: &str) -> Vec<String> {
        let listed = self.sidebars.get(sidebar).and_then(Value::as_array);
        let names = listed.into_iter().flatten().filter_map(Value::as_str);
        names.map(str::to_owned).collect()
    }

    pub(super) fn sidebar_of(&self, widget: &str) -> Option<&str> {
        let has = |listed: &Value| {
            listed.as_array().is_some_and(|names| names.iter().any(|name| name == widget))
        };
        self.sidebars.iter().find(|(_, listed)| has(listed)).map(|(name, _)| name.as_str())
    }

    pub(in crate::appearance) fn settings(&self, widget: &str) -> Map<String, Value> {
        self.instances.get(widget).and_then(Value::as_object).cloned().unwrap_or_default()
    }

    pub(super) fn set_sidebar(&mut self, sidebar: &str, widgets: Vec<String>) {
        self.sidebars.insert(sidebar.to_owned(), json!(widgets));
    }

    /// Puts a widget into a sidebar, at the front if it comes from elsewhere.
    pub(super) fn move_to(&mut self, widget: &str, sidebar: &str) {
        if self.sidebar_of(widget) == Some(sidebar) {
            return;
        }
        self.leave(widget);
        let mut widgets = self.of_sidebar(sidebar);
        widgets.insert(0, widget.to_owned());
        self.set_sidebar(sidebar, widgets);
    }

    pub(super) fn leave(&mut self, widget: &str) {
        let names: Vec<String> = self.sidebars.keys().cloned().collect();
        for name in names {
            let kept = self.of_sidebar(&name).into_iter().filter(|other| other != widget);
            self.set_sidebar(&name, kept.collect());
        }
    }

    pub(super) fn next_number(&self, id_base: &str) -> i64 {
        let numbers = self.instances.keys().filter_map(|name| {
            let (base, number) = parts_of(name)?;
            (base == id_base).then_some(number)
        });
        numbers.max().map_or(NUMBER_FIRST, |greatest| greatest + 1)
    }
}

/// Type and number of a widget's name.
pub(in crate::appearance) fn parts_of(name: &str) -> Option<(&str, i64)> {
    let (base, number) = name.rsplit_once('-')?;
    Some((base, number.parse().ok()?))
}
