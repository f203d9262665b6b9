//! The state of the site that tasks follow, read once per request.

use contract::rest::{Stop, Verb};
use frame::{Call, Options, mail};
use serde_json::{Map, Value};
use types::{Capability, Timestamp};

use crate::rows::presence::{self, Presence};

/// Where a user's visits of tasks are kept among their further fields.
const VISITED: &str = "woocommerce_admin_task_list_tracked_started_tasks";

#[derive(Debug)]
pub(super) struct Facts {
    pub(super) options: Options,
    pub(super) present: Presence,
    /// Whether buyers are offered any way to pay.
    pub(super) has_gateway: bool,
    pub(super) has_mail: bool,
    /// Whether the caller may install extensions.
    pub(super) may_install: bool,
    pub(super) now: Timestamp,
    visited: Map<String, Value>,
}

impl Facts {
    pub(super) fn read(call: &mut Call<'_>, gateways: &str) -> Result<Self, Stop> {
        let gateways = call.ask(Verb::Get, gateways, Map::new())?;
        let mut gateways = gateways.as_array().into_iter().flatten();
        Ok(Self {
            options: Options::read(call.conn()?)?,
            present: presence::read(call.conn()?)?,
            has_gateway: gateways.any(|one| one.get("enabled") == Some(&Value::Bool(true))),
            has_mail: mail::is_on(call.site),
            may_install: call.can(Capability::InstallPlugins),
            now: call.now(),
            visited: visited_by(call),
        })
    }

    pub(super) fn is_on(&self, option: &str) -> bool {
        self.options.is_on(option)
    }

    /// The country of the store, of two letters; empty if it is not known.
    pub(super) fn country(&self) -> String {
        let place = self.options.text("woocommerce_default_country");
        place.split(':').next().unwrap_or_default().to_owned()
    }

    /// Whether the caller opened the task before.
    pub(super) fn is_visited(&self, task: &str) -> bool {
        let visits = self.visited.get(task);
        visits.is_some_and(|visits| contract::rest::loose::to_int(visits) > 0)
    }
}

fn visited_by(call: &Call<'_>) -> Map<String, Value> {
    let meta = call.user().and_then(|user| serde_json::from_str::<Value>(&user.row.meta).ok());
    let text = meta.as_ref().and_then(|meta| meta.get(VISITED)?.as_str());
    text.and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default()
}
