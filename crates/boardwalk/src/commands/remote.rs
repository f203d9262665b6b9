//! Commands on a server elsewhere. What can be typed is the same as for a data folder; what is done
//! is what the onboarding interface offers to the key.

mod connect;
mod listen;
pub(crate) mod mcp;
mod onboard;

use std::time::Duration;

use onboarding::keys::KeyLife;
use serde_json::{Map, Value, json};
use types::{Error, Result, Scope};

use crate::args::{Command, Key, Listed, Merchant, Profile, Template, Webhook};
use crate::output::Printer;
use crate::remote::{self, Profiles, Remote};

const HOUR: Duration = Duration::from_hours(1);
const DAY: Duration = Duration::from_hours(24);

/// A heading, and the member of an object that is below it.
type Column = (&'static str, &'static str);

const MERCHANTS: &[Column] = &[
    ("Merchant", "merchantId"),
    ("Name", "dba"),
    ("State", "status"),
    ("City", "city"),
    ("Created", "created"),
];
const STORES: &[Column] = &[
    ("Store", "storeId"),
    ("Name", "dba"),
    ("State", "effectiveStatus"),
    ("Merchant", "merchantId"),
    ("City", "city"),
];
const TPNS: &[Column] = &[
    ("TPN", "tpn"),
    ("State", "effectiveStatus"),
    ("Device", "deviceModel"),
    ("Store", "storeId"),
    ("Merchant", "merchantId"),
];
const KEYS: &[Column] = &[
    ("Key", "keyId"),
    ("Name", "name"),
    ("Scopes", "scopes"),
    ("State", "status"),
    ("Expires", "expires"),
    ("Last used", "lastUsed"),
];
const TEMPLATES: &[Column] =
    &[("Name", "name"), ("Version", "version"), ("State", "status"), ("Id", "templateId")];
const WEBHOOKS: &[Column] = &[
    ("Webhook", "webhookId"),
    ("URL", "url"),
    ("Events", "events"),
    ("State", "status"),
    ("Last success", "lastSuccess"),
];

/// Whether a command can be carried out on a server only.
pub(crate) fn needs_server(command: &Command) -> bool {
    matches!(
        command,
        Command::Store(_)
            | Command::Tpn(_)
            | Command::Webhook(_)
            | Command::Connect(_)
            | Command::Listen(_)
            | Command::Mcp(_)
            | Command::Merchant(Merchant::List(_) | Merchant::Show { .. })
    )
}

pub(crate) fn run(remote: &Remote, command: Command, out: &Printer) -> Result<()> {
    match command {
        Command::Merchant(Merchant::List(listing)) => {
            listed(remote, ("merchants", MERCHANTS), Listed::List(listing), out)
        }
        Command::Merchant(Merchant::Show { id }) => {
            listed(remote, ("merchants", MERCHANTS), Listed::Show { id }, out)
        }
        Command::Store(command) => listed(remote, ("stores", STORES), command, out),
        Command::Tpn(command) => listed(remote, ("tpns", TPNS), command, out),
        Command::Key(command) => key(remote, command, out),
        Command::Template(command) => template(remote, command, out),
        Command::Webhook(command) => webhook(remote, command, out),
        Command::Connect(command) => connect::connect(remote, command, out),
        Command::Onboard(args) => onboard::onboard(remote, &args, out),
        Command::Listen(args) => listen::listen(remote, args, out),
        _ => Err(Error::invalid(
            "this command works on a data folder; run it where the server is, without --server \
             and --profile",
        )),
    }
}

pub(crate) fn profile(server: Option<&url::Url>, command: Profile, out: &Printer) -> Result<()> {
    let mut profiles = Profiles::read()?;
    match command {
        Profile::Set { name } => {
            let server = server.ok_or_else(|| Error::invalid("add --server URL"))?.clone();
            let saved = remote::profile(server, remote::key_from_input()?)?;
            let url = saved.server.clone();
            profiles.named.insert(name.clone(), saved);
            profiles.write()?;
            let text = format!("Saved {name}; use it with --profile {name}.");
            out.result(&json!({ "profile": name, "server": url }), &text);
        }
        Profile::List => {
            let rows = profiles.named.into_iter().map(|(name, profile)| {
                let server = profile.server;
                (json!({ "profile": name, "server": server }), vec![name, server])
            });
            out.list("profiles", &["Profile", "Server"], rows.collect());
        }
        Profile::Remove { name } => {
            if profiles.named.remove(&name).is_none() {
                return Err(Error::not_found(format!("there is no profile {name}")));
            }
            profiles.write()?;
            out.result(&json!({ "profile": name, "removed": true }), &format!("Deleted {name}."));
        }
    }
    Ok(())
}

fn listed(
    remote: &Remote,
    (name, columns): (&str, &[Column]),
    command: Listed,
    out: &Printer,
) -> Result<()> {
    match command {
        Listed::List(listing) => {
            let path = format!("/v1/{name}");
            show(out, name, columns, remote.list(&path, &listing.filters, listing.limit)?);
        }
        Listed::Show { id } => out.record(&remote.get(&format!("/v1/{name}/{id}"), &[])?),
    }
    Ok(())
}

fn show(out: &Printer, name: &str, columns: &[Column], objects: Vec<Value>) {
    let headings: Vec<&str> = columns.iter().map(|(heading, _)| *heading).collect();
    let rows = objects.into_iter().map(|object| {
        let cells = columns.iter().map(|(_, member)| Printer::cell(object.get(member)));
        let cells = cells.collect();
        (object, cells)
    });
    out.list(name, &headings, rows.collect());
}

fn key(remote: &Remote, command: Key, out: &Printer) -> Result<()> {
    match command {
        Key::Create { iso: _, name, scopes, expires, ips } => {
            let mut body = Map::from_iter([(String::from("name"), json!(name))]);
            let mut set = |name: &str, value| body.insert(name.to_owned(), value);
            if !scopes.is_empty() {
                set("scopes", scopes.iter().map(|scope: &Scope| scope.name()).collect());
            }
            if !ips.is_empty() {
                set("allowedIps", ips.iter().map(ToString::to_string).collect());
            }
            match expires {
                None => None,
                Some(KeyLife::Forever) => set("neverExpires", json!(true)),
                Some(KeyLife::For(life)) => set("expiresInDays", json!(whole(life, DAY, "days")?)),
            };
            show_new_key(&remote.post("/v1/keys", &Value::Object(body))?, out);
        }
        Key::List => show(out, "keys", KEYS, remote.list("/v1/keys", &[], usize::MAX)?),
        Key::Rotate { key_id, overlap } => {
            let body = json!({ "overlapHours": whole(overlap, HOUR, "hours")? });
            show_new_key(&remote.post(&format!("/v1/keys/{key_id}/rotate"), &body)?, out);
        }
        Key::Revoke { key_id } => {
            remote.delete(&format!("/v1/keys/{key_id}"))?;
            let object = json!({ "keyId": key_id, "revoked": true });
            out.result(&object, &format!("Revoked {key_id}."));
        }
    }
    Ok(())
}

/// How often a unit fits into a time, which the interface counts in units.
fn whole(time: Duration, unit: Duration, name: &str) -> Result<u64> {
    if !time.as_secs().is_multiple_of(unit.as_secs()) {
        return Err(Error::invalid(format!("with --server, use whole {name}")));
    }
    Ok(time.as_secs() / unit.as_secs())
}

fn show_new_key(key: &Value, out: &Printer) {
    let text = key.get("text").and_then(Value::as_str).unwrap_or_default();
    let (key_id, expires) = (key.get("keyId"), key.get("expires"));
    let object = json!({ "keyId": key_id, "key": text, "expires": expires });
    let until = match expires.and_then(Value::as_str) {
        Some(time) => format!("It expires {time}."),
        None => String::from("It never expires."),
    };
    out.result(&object, &format!("{text}\nSave it now: it is not shown again. {until}"));
}

fn template(remote: &Remote, command: Template, out: &Printer) -> Result<()> {
    match command {
        Template::List => {
            show(out, "templates", TEMPLATES, remote.list("/v1/templates", &[], usize::MAX)?);
        }
        Template::Create { iso: _, name, file, offer: None } => {
            let parameters = match file {
                Some(path) => super::iso::read_json(&path)?,
                None => json!({}),
            };
            let body = json!({ "name": name, "parameters": parameters });
            let made = remote.post("/v1/templates", &body)?;
            let text =
                format!("Created the template {name}; assign it with tpnData.tpnAssignTemplate.");
            let object = json!({ "templateId": made.get("templateId"), "name": name });
            out.result(&object, &text);
        }
        Template::Create { .. } | Template::Offers => {
            return Err(Error::invalid(
                "what plugins offer is known where the server is; run this there, without --server",
            ));
        }
    }
    Ok(())
}

fn webhook(remote: &Remote, command: Webhook, out: &Printer) -> Result<()> {
    match command {
        Webhook::Create { url, events, description } => {
            let mut body = Map::from_iter([(String::from("url"), json!(url.as_str()))]);
            if !events.is_empty() {
                body.insert(String::from("events"), json!(events));
            }
            if let Some(description) = description {
                body.insert(String::from("description"), json!(description));
            }
            let made = remote.post("/v1/webhooks", &Value::Object(body))?;
            let part = |name: &str| made.get(name).and_then(Value::as_str).unwrap_or_default();
            let text = format!(
                "Created {}. Verify signatures with\n{}\nSave it now: it is not shown again.",
                part("webhookId"),
                part("secret")
            );
            out.result(&made, &text);
        }
        Webhook::List => {
            show(out, "webhooks", WEBHOOKS, remote.list("/v1/webhooks", &[], usize::MAX)?);
        }
        Webhook::Test { webhook_id } => {
            let sent = remote.post(&format!("/v1/webhooks/{webhook_id}/test"), &json!({}))?;
            out.result(&sent, "Queued a test event.");
        }
        Webhook::Delete { webhook_id } => {
            let deleted = remote.delete(&format!("/v1/webhooks/{webhook_id}"))?;
            out.result(&deleted, &format!("Deleted {webhook_id}."));
        }
    }
    Ok(())
}
