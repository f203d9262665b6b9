//! `boardwalk iso`, `key`, `template` and `merchant`.

use std::sync::Arc;
use std::time::Duration;

use onboarding::Platform;
use onboarding::isos::{Decision, IsoSummary};
use onboarding::keys::{KeyLife, NewKey};
use onboarding::merchants::Review;
use serde_json::{Value, json};
use types::{Error, IsoId, KeyId, MerchantId, Result, ScopeSet, Timestamp};

use crate::args::{Common, Decided, Iso, Key, Merchant, Reviewed, Template, named_iso};
use crate::config::Config;
use crate::environment;
use crate::output::Printer;

/// Of a key that is made without a word about it.
const KEY_LIFE: Duration = Duration::from_hours(365 * 24);

fn open(config: &Config, common: &Common) -> Result<Platform> {
    environment::open_existing(config, common.environment())
}

pub(crate) fn iso(config: &Config, common: &Common, command: Iso, out: &Printer) -> Result<()> {
    match command {
        Iso::Create { name, response_style } => {
            let platform = environment::open(config, common.environment())?;
            let iso_id = platform.iso_create(&name, response_style)?;
            let environment = common.environment();
            let text = format!(
                "Registered {name} as {iso_id} in {environment}.\nCreate an API key, with the \
                 same --data and --environment: boardwalk key create --iso {iso_id}"
            );
            out.result(&json!({ "isoId": iso_id }), &text);
        }
        Iso::List => {
            let rows = open(config, common)?.iso_summaries()?.into_iter().map(|iso| {
                let IsoSummary { row, status } = iso;
                let created = row.created.to_string();
                let object = json!({
                    "isoId": row.iso_id, "name": row.name, "status": status,
                    "responseStyle": row.response_style, "created": created,
                });
                let id = row.iso_id.into_string();
                (object, vec![id, row.name, status, row.response_style, created])
            });
            out.list(
                "isos",
                &["ISO", "Name", "State", "Response style", "Created"],
                rows.collect(),
            );
        }
        Iso::Limit { iso_id, limits } => {
            let limits = open(config, common)?.iso_limit(&IsoId::new(&*iso_id), &limits)?;
            let object = json!({ "isoId": iso_id, "limits": limits });
            let shown = serde_json::to_string_pretty(&limits).unwrap_or_default();
            out.result(&object, &format!("Limits of {iso_id}:\n{shown}"));
        }
        Iso::Approve(decided) => decide(config, common, decided, Decision::Approve, out)?,
        Iso::Reject(decided) => decide(config, common, decided, Decision::Reject, out)?,
        Iso::Suspend(decided) => decide(config, common, decided, Decision::Suspend, out)?,
        Iso::Resume(decided) => decide(config, common, decided, Decision::Resume, out)?,
    }
    Ok(())
}

fn decide(
    config: &Config,
    common: &Common,
    decided: Decided,
    decision: Decision,
    out: &Printer,
) -> Result<()> {
    let platform = Arc::new(open(config, common)?);
    // The site writes the e-mail to the ISO.
    let reports = server::Reports::default();
    server::make_site(&platform, &config.server, config.site.clone(), &reports)?;
    let iso_id = IsoId::new(decided.iso_id);
    let status = platform.iso_decide(&iso_id, decision, decided.reason)?;
    let text = format!("ISO {iso_id} is now {status}.");
    out.result(&json!({ "isoId": iso_id, "status": status }), &text);
    Ok(())
}

pub(crate) fn key(config: &Config, common: &Common, command: Key, out: &Printer) -> Result<()> {
    match command {
        Key::Create { iso, name, scopes, expires, ips } => {
            // A mistake in the command is told before data is looked for.
            let iso_id = IsoId::new(named_iso(iso));
            let expires = expires.unwrap_or(KeyLife::For(KEY_LIFE));
            let scopes = if scopes.is_empty() { ScopeSet::Full } else { ScopeSet::Only(scopes) };
            let platform = open(config, common)?;
            let key = platform.key_create_for(&iso_id, &name, scopes, expires, &ips)?;
            show_new_key(&key, out);
        }
        Key::List => list_keys(&open(config, common)?, out)?,
        Key::Rotate { key_id, overlap } => {
            let key = open(config, common)?.key_rotate(&KeyId::new(key_id), overlap)?;
            show_new_key(&key, out);
        }
        Key::Revoke { key_id } => {
            open(config, common)?.key_revoke(&KeyId::new(&*key_id))?;
            let text = format!("Revoked {key_id}. Running servers reject it within a second.");
            out.result(&json!({ "keyId": key_id, "revoked": true }), &text);
        }
    }
    Ok(())
}

fn show_new_key(key: &NewKey, out: &Printer) {
    let text = key.text.expose();
    let expires = key.expires.map(|time| time.to_string());
    let object = json!({ "keyId": key.key_id, "key": text, "expires": expires });
    let until = expires.map_or(String::from("It never expires."), |e| format!("It expires {e}."));
    out.result(&object, &format!("{text}\nSave it now: it is not shown again. {until}"));
}

fn list_keys(platform: &Platform, out: &Printer) -> Result<()> {
    let now = platform.clock.now();
    let time = |time: Option<Timestamp>| time.map(|time| time.to_string());
    let rows = platform.key_list()?.into_iter().map(|key| {
        let state = match (key.revoked, key.expires) {
            (Some(_), _) => "revoked",
            (None, Some(expires)) if expires <= now => "expired",
            _ => "live",
        };
        let object = json!({
            "keyId": key.key_id, "isoId": key.iso_id, "name": key.name, "scopes": key.scopes,
            "state": state, "created": key.created.to_string(), "expires": time(key.expires),
            "lastUsed": time(key.last_used), "lastIp": key.last_ip,
            "allowedIps": key.allowed_ips, "createdBy": key.created_by,
        });
        let dash = || String::from("–");
        let cells = vec![
            key.key_id.into_string(),
            key.iso_id.into_string(),
            key.name,
            key.scopes,
            state.to_owned(),
            time(key.expires).unwrap_or_else(dash),
            time(key.last_used).unwrap_or_else(dash),
        ];
        (object, cells)
    });
    let headings = ["Key", "ISO", "Name", "Scopes", "State", "Expires", "Last used"];
    out.list("keys", &headings, rows.collect());
    Ok(())
}

pub(crate) fn template(
    config: &Config,
    common: &Common,
    command: Template,
    out: &Printer,
) -> Result<()> {
    match command {
        Template::Create { iso, name, file, offer } => {
            let iso_id = IsoId::new(named_iso(iso));
            let platform = open(config, common)?;
            let parameters = match (file, offer) {
                (Some(path), _) => read_json(&path)?,
                (None, Some(offer)) => offered_parameters(&platform, &offer)?,
                (None, None) => json!({}),
            };
            let id = platform.template_create(&iso_id, &name, &parameters)?;
            let text =
                format!("Created the template {name}; assign it with tpnData.tpnAssignTemplate.");
            out.result(&json!({ "templateId": id, "name": name }), &text);
        }
        Template::Offers => {
            let platform = open(config, common)?;
            let offers = platform.store.read_blocking(admin::plugins::templates)?;
            let rows = offers.into_iter().map(|(plugin, template)| {
                let object = json!({
                    "name": template.name, "title": template.title,
                    "description": template.description, "plugin": plugin,
                    "parameters": template.parameters,
                });
                (object, vec![template.name, template.title, plugin])
            });
            out.list("offers", &["Name", "Title", "Plugin"], rows.collect());
        }
        Template::List => {
            let rows = open(config, common)?.template_list()?.into_iter().map(|template| {
                let object = json!({
                    "templateId": template.template_id, "isoId": template.iso_id,
                    "name": template.name, "version": template.version,
                });
                let cells = vec![
                    template.name,
                    template.version.to_string(),
                    template.iso_id.into_string(),
                    template.template_id.into_string(),
                ];
                (object, cells)
            });
            out.list("templates", &["Name", "Version", "ISO", "Id"], rows.collect());
        }
    }
    Ok(())
}

pub(crate) fn merchant(
    config: &Config,
    common: &Common,
    command: Merchant,
    out: &Printer,
) -> Result<()> {
    let platform = open(config, common)?;
    let (reviewed, review) = match command {
        Merchant::Approve(reviewed) => (reviewed, Review::Approve),
        Merchant::Reject(reviewed) => (reviewed, Review::Reject),
        Merchant::Ask { reviewed, fields } => (reviewed, Review::Ask(fields)),
        // Lists are read from a server, and were carried out before.
        Merchant::List(_) | Merchant::Show { .. } => return Ok(()),
    };
    let Reviewed { iso, merchant_id, reason } = reviewed;
    let merchant_id = MerchantId::new(merchant_id);
    let status = platform.merchant_review(&IsoId::new(iso), &merchant_id, review, reason)?;
    let text = format!("The merchant {merchant_id} is {status}.");
    out.result(&json!({ "merchantId": merchant_id, "status": status }), &text);
    Ok(())
}

/// The parameters of a template that an active plugin offers.
fn offered_parameters(platform: &Platform, name: &str) -> Result<Value> {
    let offers = platform.store.read_blocking(admin::plugins::templates)?;
    let found = offers.into_iter().find(|(_, template)| template.name == name);
    let found = found.ok_or_else(|| {
        Error::invalid("no active plugin offers this template; run `boardwalk template offers`")
    })?;
    Ok(found.1.parameters)
}

pub(super) fn read_json(path: &std::path::Path) -> Result<Value> {
    let text = std::fs::read_to_string(path).map_err(|error| {
        Error::invalid(format!("cannot read {}", path.display())).because(error)
    })?;
    contract::json::parse(text.as_bytes())
        .map_err(|reason| Error::invalid(format!("{} is not valid JSON: {reason}", path.display())))
}
