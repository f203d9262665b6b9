//! Free extensions: plugins of the catalogue in the groups in which new shops are offered them.

use contract::rest::{Reply, Schema};
use db::Conn;
use frame::action::Outcome;
use serde_json::{Value, json};

use super::{CatalogueRequest, lifecycle};
use crate::catalogue::Offer;
use crate::country;

/// The groups with their titles.
const GROUPS: &[(&str, &str)] = &[
    ("obw/basics", "Essentials"),
    ("obw/grow", "Grow your store"),
    ("task-list/reach", "Reach more customers"),
    ("task-list/grow", "Get more from your store"),
    ("obw/core-profiler", "Get started"),
];
/// The group whose plugins tell more, since a new shop chooses among them.
const PROFILER: &str = "obw/core-profiler";

/// A group with its plugins.
pub(super) fn group_schema() -> Schema {
    let text = |about: &str| Schema::text().about(about);
    let flag = |about: &str| Schema::boolean().about(about);
    let plugin = Schema::object([
        ("key", text("Plugin slug.")),
        ("name", text("Name of the plugin.")),
        ("description", text("What the plugin does.")),
        ("image_url", text("Picture.")),
        ("manage_url", text("Where to read more.")),
        ("is_built_by_wc", flag("Always true.")),
        ("is_visible", flag("Always true.")),
        ("is_installed", flag("Whether the plugin is installed.")),
        ("is_activated", flag("Whether the plugin is active.")),
        ("label", text("Name of the plugin, in the group for new shops.")),
        ("learn_more_link", text("Where to read more, in the group for new shops.")),
        ("install_priority", Schema::integer().about("Position in the group for new shops.")),
        ("requires_jpc", flag("Always false.")),
    ]);
    Schema::object([
        ("key", text("Group ID.")),
        ("title", text("Title of the group.")),
        ("plugins", Schema::list(plugin).about("Plugins of the group.")),
    ])
}

pub(super) fn list(conn: &mut dyn Conn, request: &CatalogueRequest<'_>) -> Outcome {
    let installed = lifecycle::all(conn)?;
    let country = country::of(&request.later.visit.options);
    let groups = GROUPS.iter().map(|(key, title)| {
        let plugins: Vec<Value> = request
            .offers
            .iter()
            .filter(|offer| is_in(offer, key, &country))
            .enumerate()
            .map(|(place, offer)| plugin(offer, key, place, &installed))
            .collect();
        json!({ "key": key, "title": title, "plugins": plugins })
    });
    Ok(Reply::new(groups.collect::<Vec<Value>>()))
}

fn is_in(offer: &Offer, group: &str, country: &str) -> bool {
    offer.plugin().is_some_and(|plugin| {
        plugin.bundles.iter().any(|bundle| bundle == group)
            && country::is_served(&plugin.countries, country)
    })
}

fn plugin(offer: &Offer, group: &str, place: usize, installed: &[lifecycle::Installed]) -> Value {
    let Some(manifest) = offer.plugin() else { return Value::Null };
    let found = installed.iter().find(|plugin| plugin.row.slug == manifest.slug);
    let mut body = json!({
        "key": manifest.slug,
        "name": manifest.name,
        "description": manifest.description,
        "image_url": offer.icon,
        "manage_url": manifest.documentation,
        "is_built_by_wc": true,
        "is_visible": true,
        "is_installed": found.is_some(),
        "is_activated": found.is_some_and(|plugin| plugin.row.is_active),
    });
    if let (true, Some(members)) = (group == PROFILER, body.as_object_mut()) {
        members.insert(String::from("label"), json!(manifest.name));
        members.insert(String::from("learn_more_link"), json!(manifest.documentation));
        members.insert(String::from("install_priority"), json!(place + 1));
        members.insert(String::from("requires_jpc"), json!(false));
    }
    body
}
