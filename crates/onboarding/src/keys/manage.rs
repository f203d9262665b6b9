//! `/v1/keys`: an ISO's own keys, made, listed, rotated and revoked by software.
//!
//! **A key can give away no more than it has itself**: neither by making a key nor by rotating one.

use std::time::Duration;

use contract::{Answer, Draft, Endpoint, Failure, IssueKind, Route};
use db::Conn;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use types::address_range::AddressRange;
use types::{
    Environment, Error, FULL_ACCESS, IsoId, KeyId, Result, Scope, ScopeSet, Secret, Timestamp,
};

use super::issue::{self, KEYS_MAX, NewKeyRow, is_live};
use crate::audit;
use crate::caller::KeyEntry;
use crate::codes::refusal;
use crate::fields::{IpRange, Line, ScopeName};
use crate::perform::Outcome;
use crate::perform::{perform, perform_once_shown};
use crate::rows::api_key::{self, ApiKeyRow};
use crate::{Caller, Code, Cx};

/// An API key, without its secret.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct KeyView {
    /// Id of the key: its public part.
    key_id: String,
    /// What it is for.
    name: String,
    /// What it may do; `*` is everything.
    scopes: Vec<String>,
    /// Addresses and networks from which it may be used; empty for all.
    allowed_ips: Vec<String>,
    /// `live`, `expired` or `revoked`.
    status: &'static str,
    /// Who made it.
    created_by: String,
    /// When it was made.
    created: String,
    /// When it ends; null for never.
    expires: Option<String>,
    /// When it was revoked.
    revoked: Option<String>,
    /// When it was used last, to the minute.
    last_used: Option<String>,
    /// From where it was used then.
    last_ip: Option<String>,
}

impl KeyView {
    fn of(row: &ApiKeyRow, now: Timestamp) -> Self {
        let words = |text: &str| text.split_ascii_whitespace().map(str::to_owned).collect();
        let status = match row.revoked {
            Some(_) => "revoked",
            None if is_live(row, now) => "live",
            None => "expired",
        };
        Self {
            key_id: row.key_id.as_str().to_owned(),
            name: row.name.clone(),
            scopes: words(&row.scopes),
            allowed_ips: words(&row.allowed_ips),
            status,
            created_by: row.created_by.clone(),
            created: row.created.to_string(),
            expires: row.expires.map(|time| time.to_string()),
            revoked: row.revoked.map(|time| time.to_string()),
            last_used: row.last_used.map(|time| time.to_string()),
            last_ip: row.last_ip.clone(),
        }
    }
}

/// A key with its text.
#[derive(Debug, Serialize, JsonSchema)]
pub struct KeyWithText {
    #[serde(flatten)]
    key: KeyView,
    /// What to send. Shown only now; a repetition of the request gets null.
    text: Option<String>,
}

fn with_text(key: KeyView, text: &Secret<String>) -> Answer<KeyWithText> {
    Answer::new(KeyWithText { key, text: Some(text.expose().clone()) })
}

/// The ISO's key of that id. What is no id at all is not looked up.
fn load(conn: &mut dyn Conn, iso_id: &IsoId, key_id: &str) -> Result<ApiKeyRow> {
    let is_id = crate::text::is_alphanumeric(key_id);
    let found = if is_id { api_key::find(conn, &KeyId::new(key_id))? } else { None };
    let own = found.filter(|key| key.iso_id == *iso_id);
    own.ok_or_else(|| Error::not_found("Not found."))
}

/// Refuses to hand out what the caller's own key lacks: scopes, networks and time. A key may be
/// renewed by itself.
fn refuse_more(caller: &Caller, new: &NewKeyRow, old: Option<&KeyId>) -> Outcome<()> {
    if !caller.scopes().covers(&new.scopes) {
        let message = "Your own key lacks some of these scopes.";
        return Err(refusal("scopes", Code::InvalidValue, message));
    }
    let Some(own) = caller.key() else { return Ok(()) };
    let is_within = |text: &str| {
        let range = text.parse::<AddressRange>();
        range.is_ok_and(|range| own.networks.iter().any(|network| network.covers(&range)))
    };
    let mut ranges = new.allowed_ips.split_ascii_whitespace().peekable();
    let is_open = ranges.peek().is_none();
    if !own.networks.is_empty() && (is_open || !ranges.all(is_within)) {
        let message = "Your own key can be used only from its own networks; choose among them.";
        return Err(refusal("allowedIps", Code::InvalidValue, message));
    }
    let outlives = |end: Timestamp| new.expires.is_none_or(|expires| expires > end);
    if old != Some(&own.key.key_id) && own.key.expires.is_some_and(outlives) {
        let message = "Your own key expires sooner.";
        return Err(refusal("expiresInDays", Code::InvalidValue, message));
    }
    Ok(())
}

fn refuse_too_many(conn: &mut dyn Conn, iso_id: &IsoId, now: Timestamp) -> Outcome<()> {
    if issue::live_keys(conn, iso_id, now)? < KEYS_MAX {
        return Ok(());
    }
    let message = format!("There are already {KEYS_MAX} active keys; revoke one.");
    Err(refusal("", Code::LimitExceeded, message))
}

/// Make an API key.
///
/// The answer holds the key's text. It is not shown again.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct KeyCreate {
    name: Line,
    /// What it may do; `*` alone is everything. Absent: what the calling key may do. People who
    /// are signed in have to choose.
    #[schemars(length(min = 1, max = 50))]
    scopes: Option<Vec<ScopeName>>,
    /// Days until it ends. Absent: 365, or when the calling key ends if that is sooner.
    #[schemars(range(min = 1, max = 730))]
    expires_in_days: Option<i64>,
    /// It never ends. In the sandbox only.
    #[serde(default)]
    never_expires: bool,
    /// Addresses and networks from which it may be used, such as `203.0.113.0/24`. Absent: those of
    /// the calling key.
    #[schemars(length(max = 50))]
    allowed_ips: Option<Vec<IpRange>>,
}

const LIFE_DAYS_DEFAULT: i64 = 365;

impl KeyCreate {
    fn expires(&self, own: Option<&KeyEntry>, now: Timestamp) -> Option<Timestamp> {
        if self.never_expires {
            return None;
        }
        let days = u64::try_from(self.expires_in_days.unwrap_or(LIFE_DAYS_DEFAULT)).unwrap_or(1);
        let wanted = now.plus(Duration::from_hours(24 * days));
        let end = own.and_then(|own| own.key.expires).filter(|_| self.expires_in_days.is_none());
        Some(end.map_or(wanted, |end| end.min(wanted)))
    }
}

impl Endpoint<Cx> for KeyCreate {
    const ROUTE: Route = Route::post("/v1/keys").scope(Scope::KeysWrite);
    type Reply = KeyWithText;

    async fn check(draft: &mut Draft<'_>, cx: &Cx) -> Result<()> {
        let for_ever = draft.params.get("neverExpires").and_then(Value::as_bool);
        if for_ever == Some(true) && cx.platform.environment == Environment::Production {
            let message = "Only sandbox keys can be valid forever.";
            draft.issues.add("neverExpires", IssueKind::rule(Code::InvalidValue.name(), message));
        }
        let scopes = draft.params.get("scopes").and_then(Value::as_array);
        let is_full = |name: &Value| name.as_str() == Some(FULL_ACCESS);
        if scopes.is_some_and(|names| names.len() > 1 && names.iter().any(is_full)) {
            let message = "`*` is everything; send no other scope with it.";
            draft.issues.add("scopes", IssueKind::rule(Code::ConflictingField.name(), message));
        }
        if scopes.is_none() && cx.caller()?.key().is_none() {
            let message = "Choose what the key may do; `*` is full access.";
            draft.issues.add("scopes", IssueKind::rule(Code::MandatoryField.name(), message));
        }
        Ok(())
    }

    async fn handle(self, cx: &Cx) -> std::result::Result<Answer<Self::Reply>, Failure> {
        let (caller, now) = (cx.caller()?.clone(), cx.now);
        let scopes = match &self.scopes {
            None => caller.scopes().clone(),
            Some(names) if names.iter().any(|name| name.as_str() == FULL_ACCESS) => ScopeSet::Full,
            Some(names) => {
                let scopes = names.iter().filter_map(|name| name.as_str().parse().ok());
                ScopeSet::Only(scopes.collect())
            }
        };
        let expires = self.expires(caller.key(), now);
        let allowed_ips = match &self.allowed_ips {
            Some(ranges) => ranges.iter().map(IpRange::as_str).collect::<Vec<_>>().join(" "),
            None => caller.key().map(|own| own.key.allowed_ips.clone()).unwrap_or_default(),
        };
        let new = NewKeyRow {
            iso_id: caller.iso_id().clone(),
            name: self.name.into_string(),
            scopes,
            allowed_ips,
            created_by: caller.actor(),
            created: now,
            expires,
        };
        refuse_more(&caller, &new, None)?;
        let (row, new_key) = cx.platform.new_key_row(new)?;
        let entry = cx.entry("key.create", "key", row.key_id.as_str())?;
        let entry = entry.changed("scopes", (), &*row.scopes);
        perform_once_shown(cx, &["text"], move |conn| {
            refuse_too_many(conn, &row.iso_id, now)?;
            api_key::insert(conn, &row)?;
            audit::append(conn, &entry)?;
            Ok(with_text(KeyView::of(&row, now), &new_key.text))
        })
        .await
    }
}

/// List the API keys, the newest first. Secrets are never shown.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct KeyList {}

/// The newest keys of the ISO.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Keys {
    /// The keys, at most 100; live ones are always among them.
    data: Vec<KeyView>,
}

/// Keys that a list shows.
const SHOWN_MAX: usize = 100;

impl Endpoint<Cx> for KeyList {
    const ROUTE: Route = Route::get("/v1/keys").scope(Scope::KeysRead);
    type Reply = Keys;

    async fn handle(self, cx: &Cx) -> std::result::Result<Answer<Keys>, Failure> {
        let (iso_id, now) = (cx.caller()?.iso_id().clone(), cx.now);
        let rows = cx.platform.store.read(move |conn| api_key::list_of_iso(conn, &iso_id));
        let mut rows = rows.await?;
        rows.sort_by_key(|row| (!is_live(row, now), std::cmp::Reverse(row.created)));
        rows.truncate(SHOWN_MAX);
        rows.sort_by_key(|row| std::cmp::Reverse(row.created));
        Ok(Answer::new(Keys { data: rows.iter().map(|row| KeyView::of(row, now)).collect() }))
    }
}

/// Show an API key. Its secret is never shown.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct KeyGet {
    /// Id of the key.
    key_id: String,
}

impl Endpoint<Cx> for KeyGet {
    const ROUTE: Route = Route::get("/v1/keys/{keyId}").scope(Scope::KeysRead);
    type Reply = KeyView;

    async fn handle(self, cx: &Cx) -> std::result::Result<Answer<KeyView>, Failure> {
        let iso_id = cx.caller()?.iso_id().clone();
        let row = cx.platform.store.read(move |conn| load(conn, &iso_id, &self.key_id));
        Ok(Answer::new(KeyView::of(&row.await?, cx.now)))
    }
}

/// Replace an API key by a new one like it; the old one ends itself after the overlap.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct KeyRotate {
    /// Id of the key.
    key_id: String,
    /// Hours for which the old key is valid as well.
    #[serde(default = "overlap_default")]
    #[schemars(range(min = 0, max = 168))]
    overlap_hours: i64,
}

const fn overlap_default() -> i64 {
    24
}

impl Endpoint<Cx> for KeyRotate {
    const ROUTE: Route = Route::post("/v1/keys/{keyId}/rotate").scope(Scope::KeysWrite);
    type Reply = KeyWithText;

    async fn handle(self, cx: &Cx) -> std::result::Result<Answer<Self::Reply>, Failure> {
        let (caller, now) = (cx.caller()?.clone(), cx.now);
        let overlap = Duration::from_hours(u64::try_from(self.overlap_hours).unwrap_or(0));
        let entry = cx.entry("key.rotate", "key", &*self.key_id)?;
        let platform = std::sync::Arc::clone(&cx.platform);
        let actor = caller.actor();
        perform_once_shown(cx, &["text"], move |conn| {
            let old = load(conn, caller.iso_id(), &self.key_id)?;
            if !is_live(&old, now) {
                let message = "The key is revoked or has expired.";
                return Err(refusal("keyId", Code::InvalidValue, message));
            }
            let new = issue::like(&old, &actor, now)?;
            refuse_more(&caller, &new, Some(&old.key_id))?;
            refuse_too_many(conn, &old.iso_id, now)?;
            let (row, new_key) = platform.new_key_row(new)?;
            issue::replace_key(conn, &old, &row, overlap, now)?;
            audit::append(conn, &entry.clone().related(row.key_id.as_str()))?;
            Ok(with_text(KeyView::of(&row, now), &new_key.text))
        })
        .await
    }
}

/// End an API key at once.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct KeyRevoke {
    /// Id of the key.
    key_id: String,
}

impl Endpoint<Cx> for KeyRevoke {
    const ROUTE: Route = Route::delete("/v1/keys/{keyId}").scope(Scope::KeysWrite);
    type Reply = KeyView;

    async fn handle(self, cx: &Cx) -> std::result::Result<Answer<KeyView>, Failure> {
        let (iso_id, now) = (cx.caller()?.iso_id().clone(), cx.now);
        let entry = cx.entry("key.revoke", "key", &*self.key_id)?;
        perform(cx, move |conn| {
            let mut row = load(conn, &iso_id, &self.key_id)?;
            if api_key::revoke(conn, &iso_id, &row.key_id, now)? {
                row.revoked = Some(now);
                audit::append(conn, &entry)?;
            }
            Ok(Answer::new(KeyView::of(&row, now)))
        })
        .await
    }
}
