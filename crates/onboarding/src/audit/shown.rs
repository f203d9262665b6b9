//! Entries of the audit log as people read them: who did it by name, and what in words.
//!
//! **Names are those of today**; the log itself has ids only, and nothing of it changes when
//! somebody is called otherwise.

use std::collections::BTreeMap;

use data_encoding::HEXLOWER;
use db::Conn;
use db::filter::{LIST_MAX, fold};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use site_rows::user;
use types::{IsoId, KeyId, Result};

use super::actions;
use crate::fields::Line;
use crate::rows::api_key;
use crate::rows::audit::{Link, Search};

/// People of an ISO among whom a name is looked for.
const PEOPLE_MAX: i64 = 500;

/// An entry of the audit log.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AuditView {
    /// Number of the entry; an ISO's numbers have no gaps.
    sequence: i64,
    /// When it was done.
    time: String,
    /// Who did it.
    actor: String,
    /// From which address.
    ip: Option<String>,
    /// In which request.
    request_id: Option<String>,
    /// What was done.
    action: String,
    /// To what kind of object.
    pub(crate) object: String,
    /// To which one.
    pub(crate) object_id: String,
    /// Other objects that the same change made or touched.
    related: Vec<String>,
    /// Version of the object before.
    pub(crate) version_before: Option<i64>,
    /// Version of the object after.
    pub(crate) version_after: Option<i64>,
    /// Fields that changed, with values where these may be read.
    pub(crate) changes: Value,
    /// `done` or `refused`.
    result: String,
    /// Why.
    reason: Option<String>,
    /// Hash of the entry before, as hexadecimal digits; empty for the first.
    previous_hash: String,
    /// Hash of this entry and the one before.
    hash: String,
}

impl From<Link> for AuditView {
    fn from(link: Link) -> Self {
        let Link { seq, record, prev_hash, hash } = link;
        Self {
            sequence: seq,
            time: record.at.to_string(),
            actor: record.actor,
            ip: record.address,
            request_id: record.request_id,
            action: record.action,
            object: record.object,
            object_id: record.object_id,
            related: record.related,
            version_before: record.version_before,
            version_after: record.version_after,
            changes: serde_json::from_str(&record.changes).unwrap_or_default(),
            result: record.result,
            reason: Some(record.reason).filter(|reason| !reason.is_empty()),
            previous_hash: HEXLOWER.encode(&prev_hash),
            hash: HEXLOWER.encode(&hash),
        }
    }
}

/// An entry of the audit log, with names and words.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AuditShown {
    #[serde(flatten)]
    pub(crate) entry: AuditView,
    /// Name of the person or the key that did it; null when it is not known any more, and for
    /// others.
    actor_name: Option<String>,
    /// What was done, in words.
    summary: String,
}

/// The entries with their places in the list.
pub(crate) fn shown(conn: &mut dyn Conn, links: Vec<Link>) -> Result<Vec<(String, AuditShown)>> {
    let mut names: BTreeMap<String, Option<String>> = BTreeMap::new();
    let mut shown = Vec::with_capacity(links.len());
    for link in links {
        let (seq, record) = (link.seq.to_string(), &link.record);
        let actor_name = match names.get(&record.actor) {
            Some(known) => known.clone(),
            None => name_of(conn, record.iso_id.as_ref(), &record.actor)?,
        };
        names.insert(record.actor.clone(), actor_name.clone());
        let summary = actions::words(&record.action).to_owned();
        shown.push((seq, AuditShown { entry: AuditView::from(link), actor_name, summary }));
    }
    Ok(shown)
}

fn name_of(conn: &mut dyn Conn, iso_id: Option<&IsoId>, actor: &str) -> Result<Option<String>> {
    let Some((kind, id)) = actor.split_once(':') else { return Ok(None) };
    Ok(match (kind, id.parse::<i64>()) {
        ("user", Ok(user_id)) => user::get(conn, user_id)?.map(|user| user.display_name),
        ("key", _) => {
            let key = api_key::find(conn, &KeyId::new(id))?;
            key.filter(|key| Some(&key.iso_id) == iso_id).map(|key| key.name)
        }
        _ => None,
    })
}

/// What the log calls what people call so; nothing if nobody looks for something.
pub(crate) fn searched(
    conn: &mut dyn Conn,
    iso_id: &IsoId,
    text: Option<&Line>,
) -> Result<Option<Search>> {
    let Some(text) = text else { return Ok(None) };
    let text = fold(text.as_str());
    let is_called = |name: &str| fold(name).contains(&text);
    let people = user::of_iso(conn, iso_id.as_str(), PEOPLE_MAX)?.into_iter();
    let people = people.filter(|user| is_called(&user.display_name));
    let keys = api_key::list_of_iso(conn, iso_id)?.into_iter();
    let keys = keys.filter(|key| is_called(&key.name));
    let actors = people
        .map(|user| format!("user:{}", user.user_id))
        .chain(keys.map(|key| format!("key:{}", key.key_id)));
    let actors = actors.take(LIST_MAX).collect();
    Ok(Some(Search { actions: actions::called(&text), actors, text }))
}
