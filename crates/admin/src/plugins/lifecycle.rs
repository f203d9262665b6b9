//! What becomes of a plugin that is installed: activated, configured, deactivated, removed. Each is
//! one transaction with everything that follows from it: **what an activation made, the
//! deactivation takes back.**

use contract::rest::Verb;
use db::Conn;
use frame::Site;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use shop_rows::webhook;
use types::{Error, Result};

pub(crate) use super::doing::Doing;
pub(crate) use super::installed::{Installed, active, all, get};
use crate::rows::admin_note::{self, NoteKind, NoteRow};
use crate::rows::package::{self, PackageKind};

use super::installed::get_known;
use super::{gateways, secrets};
use crate::installation::append_event;
use crate::notes::{NewAction, NewNote, raise};

/// The records that an activation made.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct Made {
    notes: Vec<i64>,
    webhooks: Vec<i64>,
    gateways: gateways::Offered,
}

/// Activates a plugin with all that it contributes. One that is active already stays as it is.
pub(crate) fn activate(conn: &mut dyn Conn, slug: &str, doing: &Doing<'_>) -> Result<Installed> {
    let mut plugin = get_known(conn, slug)?;
    if plugin.row.is_active {
        return Ok(plugin);
    }
    let mut made = Made::default();
    for note in &plugin.manifest.contributes.notes {
        let name = format!("plugin-{slug}-{}", note.name);
        let note = NewNote {
            name: &name,
            kind: NoteKind::Info,
            title: note.title.clone(),
            content: note.content.clone(),
            data: json!({ "plugin": slug }),
            action: Some(NewAction::page(
                "view-plugin",
                "Open the plugin",
                &format!("/portal/plugins/{slug}"),
            )),
        };
        made.notes.push(raise(conn, &note, doing.now)?);
    }
    subscribe(conn, &plugin, &mut made, doing)?;
    gateways::connect(conn, &plugin, &mut made.gateways, doing)?;
    plugin.row.is_active = true;
    plugin.row.activated = Some(doing.now);
    keep(conn, &mut plugin, &made)?;
    append_event(conn, "plugin.activated", &plugin.row, doing.now)?;
    Ok(plugin)
}

/// Makes the webhooks that have an address.
fn subscribe(
    conn: &mut dyn Conn,
    plugin: &Installed,
    made: &mut Made,
    doing: &Doing<'_>,
) -> Result<()> {
    let path = webhooks_path(doing.site);
    for wanted in &plugin.manifest.contributes.webhooks {
        if !plugin.has_value(&wanted.url_setting) {
            continue;
        }
        let address = plugin.setting(&wanted.url_setting);
        let mut body =
            json!({ "name": wanted.name, "topic": wanted.topic, "delivery_url": address });
        let secret = match &wanted.secret_setting {
            Some(name) => secrets::open(doing.site, plugin, name)?,
            None => None,
        };
        if let (Some(secret), Some(members)) = (secret, body.as_object_mut()) {
            members.insert(String::from("secret"), json!(secret.expose()));
        }
        let request = (Verb::Post, path.as_str());
        let answer = doing.site.done_by(conn, doing.user.clone(), request, body, doing.now)?;
        made.webhooks.extend(answer.get("id").and_then(Value::as_i64));
    }
    Ok(())
}

/// Removes the webhooks that are still there.
fn unsubscribe(conn: &mut dyn Conn, made: &mut Made, doing: &Doing<'_>) -> Result<()> {
    for webhook_id in std::mem::take(&mut made.webhooks) {
        if webhook::get(conn, webhook_id)?.is_some() {
            let path = format!("{}/{webhook_id}", webhooks_path(doing.site));
            let (request, body) = ((Verb::Delete, path.as_str()), json!({ "force": true }));
            doing.site.done_by(conn, doing.user.clone(), request, body, doing.now)?;
        }
    }
    Ok(())
}

fn webhooks_path(site: &Site) -> String {
    format!("/{}/webhooks", site.settings().names.commerce_v3)
}

fn keep(conn: &mut dyn Conn, plugin: &mut Installed, made: &Made) -> Result<()> {
    plugin.row.made = serde_json::to_string(made).map_err(|error| {
        Error::internal("cannot serialize what a plugin created").because(error)
    })?;
    package::put(conn, &plugin.row)
}

/// Takes back what the activation made. One that is not active stays as it is.
pub(crate) fn deactivate(conn: &mut dyn Conn, slug: &str, doing: &Doing<'_>) -> Result<Installed> {
    let mut plugin = get_known(conn, slug)?;
    if !plugin.row.is_active {
        return Ok(plugin);
    }
    let mut made: Made = serde_json::from_str(&plugin.row.made).unwrap_or_default();
    unsubscribe(conn, &mut made, doing)?;
    gateways::disconnect(conn, &mut made.gateways, doing)?;
    for note_id in std::mem::take(&mut made.notes) {
        if let Some(note) = admin_note::get(conn, note_id)? {
            admin_note::update(conn, &NoteRow { is_deleted: true, ..note })?;
        }
    }
    plugin.row.is_active = false;
    plugin.row.activated = None;
    keep(conn, &mut plugin, &made)?;
    append_event(conn, "plugin.deactivated", &plugin.row, doing.now)?;
    Ok(plugin)
}

/// Removes a plugin with everything that it brought.
pub(crate) fn remove(conn: &mut dyn Conn, slug: &str, doing: &Doing<'_>) -> Result<Installed> {
    let plugin = deactivate(conn, slug, doing)?;
    package::remove(conn, PackageKind::Plugin, slug)?;
    append_event(conn, "plugin.removed", &plugin.row, doing.now)?;
    Ok(plugin)
}

/// Keeps what people chose; subscriptions follow their addresses.
pub(crate) fn configure(
    conn: &mut dyn Conn,
    slug: &str,
    values: &Map<String, Value>,
    doing: &Doing<'_>,
) -> Result<Installed> {
    let mut plugin = get_known(conn, slug)?;
    let mut chosen: Map<String, Value> =
        serde_json::from_str(&plugin.row.settings).unwrap_or_default();
    for (name, value) in values {
        let declared = plugin.manifest.contributes.settings.iter().find(|one| one.name == *name);
        let declared = declared
            .ok_or_else(|| Error::invalid(format!("the plugin has no setting named {name}")))?;
        let value = declared.accept(value)?;
        if let Some(value) = secrets::kept(doing.site, slug, declared, value)? {
            chosen.insert(name.clone(), value);
        }
    }
    plugin.row.settings = Value::Object(chosen).to_string();
    let mut made: Made = serde_json::from_str(&plugin.row.made).unwrap_or_default();
    if plugin.row.is_active {
        unsubscribe(conn, &mut made, doing)?;
        subscribe(conn, &plugin, &mut made, doing)?;
        gateways::connect(conn, &plugin, &mut made.gateways, doing)?;
    }
    keep(conn, &mut plugin, &made)?;
    append_event(conn, "plugin.configured", &plugin.row, doing.now)?;
    Ok(plugin)
}
