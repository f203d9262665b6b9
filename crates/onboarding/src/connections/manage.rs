//! `/v1/connections`: connecting stores, showing how far their copies are, pausing and ending them.

use contract::{Answer, Draft, Endpoint, IssueKind, Route};
use db::Conn;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use types::{Environment, IsoId, MerchantId, Result, Scope, StoreId, Timestamp};
use url::Url;
use vault::DataKey;

use super::view::ConnectionView;
use super::{Access, CONNECTIONS_MAX, ID_PREFIX, STORES_ROOT, StoreKey};
use crate::audit;
use crate::change::object_not_found;
use crate::codes::refusal;
use crate::fields::{ConnectionState, ConnectionStatusName, StoreConsumerKey, Website};
use crate::id_source::random_text;
use crate::paging::{Page, cursor, page_default, read_cursor};
use crate::perform::{Outcome, perform, perform_once_shown};
use crate::rows::connection::{self, ConnectionRow, ConnectionStatus};
use crate::rows::merchant;
use crate::{Code, Cx, Platform, text};

const ID_LENGTH: usize = 16;
/// What an answer shows and no idempotency key keeps.
const ONCE_SHOWN: &[&str] = &["reportsKey", "authorizeUrl"];

/// The ISO's connection of that id.
fn load(conn: &mut dyn Conn, iso_id: &IsoId, id: &str) -> Result<ConnectionRow> {
    let found = if super::is_id(id) { connection::get(conn, iso_id, id)? } else { None };
    found.ok_or_else(object_not_found)
}

/// What a schema cannot say about the address of a store.
fn check_url(draft: &mut Draft<'_>, platform: &Platform) {
    let url = draft.params.get("url").and_then(Value::as_str);
    if let Some(message) = url.and_then(|url| unreachable_url(platform, url)) {
        draft.issues.add("url", IssueKind::rule(Code::InvalidFormat.name(), message));
    }
}

/// Why the store could never be asked, as far as its address tells.
fn unreachable_url(platform: &Platform, url: &str) -> Option<String> {
    let is_public = || url.starts_with("https:") && text::is_logo_url(url);
    if platform.environment == Environment::Production && !is_public() {
        return Some(String::from("Use an https URL of a public host."));
    }
    let (site, url) = (platform.site()?, Url::parse(url).ok()?);
    let refusal = site.outbound().may_ever_ask(&url).err()?;
    Some(format!("The store cannot be reached at this URL: {refusal}."))
}

/// The address without what does not belong to it.
fn store_url(url: &str) -> String {
    let url = url.split(['?', '#']).next().unwrap_or_default().trim_end_matches('/');
    url.strip_suffix("/wp-json").unwrap_or(url).to_owned()
}

/// Where the requests of an address go.
fn host_of(url: &str) -> Option<(String, Option<u16>)> {
    let url = Url::parse(url).ok()?;
    Some((url.host_str()?.to_owned(), url.port_or_known_default()))
}

/// Merchant and store of a connection. The store says which merchant it is of.
fn owner(
    conn: &mut dyn Conn,
    iso_id: &IsoId,
    (merchant_id, store_id): (Option<&MerchantId>, Option<&StoreId>),
) -> Outcome<(Option<MerchantId>, Option<StoreId>)> {
    let unknown = |field, noun| refusal(field, Code::NotFound, format!("There is no such {noun}."));
    let Some(store_id) = store_id else {
        let Some(merchant_id) = merchant_id else { return Ok((None, None)) };
        let found = merchant::get(conn, iso_id, merchant_id)?;
        let found = found.ok_or_else(|| unknown("merchantId", "merchant"))?;
        return Ok((Some(found.merchant_id), None));
    };
    let found =
        merchant::store_get(conn, iso_id, store_id)?.ok_or_else(|| unknown("storeId", "store"))?;
    if merchant_id.is_some_and(|id| *id != found.merchant_id) {
        let message = "The store belongs to another merchant.";
        return Err(refusal("storeId", Code::StoreMismatch, message));
    }
    Ok((Some(found.merchant_id), Some(found.store_id)))
}

/// Connect a store.
///
/// Send the store's URL with a consumer key (`read_write`, so that webhooks can be created; with
/// `read`, changes are found by polling). Without a key, send the owner of the store to
/// `authorizeUrl`, where they grant one. The store is then checked and copied in the background,
/// the newest orders first, and kept up to date.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ConnectionCreate {
    /// URL of the store, such as `https://shop.example`.
    url: Website,
    /// Consumer key of the store.
    consumer_key: Option<StoreConsumerKey>,
    /// Its secret.
    consumer_secret: Option<StoreConsumerKey>,
    /// The merchant whose store it is.
    merchant_id: Option<MerchantId>,
    /// The store that it belongs to.
    store_id: Option<StoreId>,
    /// Check the store and wait: the copy starts when `status` is set to `active`.
    #[serde(default)]
    review: bool,
}

fn pair(
    key: Option<&StoreConsumerKey>,
    secret: Option<&StoreConsumerKey>,
) -> Outcome<Option<StoreKey>> {
    let text = |field: &StoreConsumerKey| field.secret().expose().clone();
    match (key, secret) {
        (Some(key), Some(secret)) => {
            Ok(Some(StoreKey { consumer_key: text(key), consumer_secret: text(secret) }))
        }
        (None, None) => Ok(None),
        (None, Some(_)) => {
            Err(refusal("consumerKey", Code::MandatoryField, "Send the key with its secret."))
        }
        (Some(_), None) => {
            Err(refusal("consumerSecret", Code::MandatoryField, "Send the secret of the key."))
        }
    }
}

impl Endpoint<Cx> for ConnectionCreate {
    const ROUTE: Route = Route::post("/v1/connections").scope(Scope::StoresWrite);
    type Reply = ConnectionView;

    async fn check(draft: &mut Draft<'_>, cx: &Cx) -> Result<()> {
        check_url(draft, &cx.platform);
        Ok(())
    }

    async fn handle(self, cx: &Cx) -> Outcome<Answer<ConnectionView>> {
        let (caller, now) = (cx.caller()?.clone(), cx.now);
        let connection_id = format!("{ID_PREFIX}{}", random_text(ID_LENGTH)?);
        let key = pair(self.consumer_key.as_ref(), self.consumer_secret.as_ref())?;
        let access = Access::generate()?;
        let mut row = new_row(
            (caller.iso_id().clone(), connection_id, store_url(self.url.as_str())),
            caller.data_key(),
            (key.as_ref(), &access),
            now,
            cx.platform.clock.now(),
        )?;
        row.is_held = self.review;
        let authorize_url = match key {
            Some(_) => None,
            None => Some(authorize_url(cx, &row, &access).await?),
        };
        let entry = cx.entry("connection.create", "connection", &*row.connection_id)?;
        let entry = entry.versions(None, Some(row.version));
        let (merchant_id, store_id) = (self.merchant_id, self.store_id);
        perform_once_shown(cx, ONCE_SHOWN, move |conn| {
            let mut row = row.clone();
            if connection::count(conn, &row.iso_id)? >= CONNECTIONS_MAX {
                let message = format!("There are already {CONNECTIONS_MAX} connections.");
                return Err(refusal("", Code::LimitExceeded, message));
            }
            let of = (merchant_id.as_ref(), store_id.as_ref());
            (row.merchant_id, row.store_id) = owner(conn, &row.iso_id, of)?;
            connection::insert(conn, &row)?;
            audit::append(conn, &entry)?;
            let view = ConnectionView::of(conn, &row, now)?;
            Ok(Answer::new(view.with_access(&access.reports, authorize_url.clone())))
        })
        .await
    }
}

fn new_row(
    (iso_id, connection_id, url): (IsoId, String, String),
    data_key: &DataKey,
    (key, access): (Option<&StoreKey>, &Access),
    now: Timestamp,
    // Work is done by the real time, whatever the ISO's sandbox made of it.
    real_now: Timestamp,
) -> Result<ConnectionRow> {
    let id = &*connection_id;
    let seal_key = |key| super::seal(data_key, &super::key_aad(id), key);
    let status = match key {
        Some(_) => ConnectionStatus::Connecting,
        None => ConnectionStatus::Unauthorized,
    };
    Ok(ConnectionRow {
        iso_id,
        merchant_id: None,
        store_id: None,
        url,
        name: String::new(),
        status,
        version: 1,
        key_sealed: key.map(seal_key).transpose()?,
        access_sealed: super::seal(data_key, &super::access_aad(id), access)?,
        cursor: String::from("{}"),
        counts: String::from("{}"),
        error_code: String::new(),
        error_message: String::new(),
        failures: 0,
        drift: 0,
        last_event: None,
        last_success: None,
        reconciled: None,
        due: key.map(|_| real_now),
        lease: String::new(),
        lease_until: None,
        created: now,
        updated: now,
        country: String::new(),
        checks: String::from("[]"),
        is_held: false,
        connection_id,
    })
}

/// The page of the store on which its owner grants a key.
async fn authorize_url(cx: &Cx, row: &ConnectionRow, access: &Access) -> Outcome<String> {
    let message = "Send consumerKey and consumerSecret: the site's own URL is not known.";
    let no_site = || refusal("consumerKey", Code::MandatoryField, message);
    let site = cx.platform.site().ok_or_else(no_site)?;
    let own = site.address_for_emails(&*site.options().await?);
    let below = format!("{own}{STORES_ROOT}{}", row.connection_id);
    let page = format!("{}/wc-auth/v1/authorize", row.url);
    let mut url = Url::parse(&page).map_err(|_| no_site())?;
    url.query_pairs_mut()
        .append_pair("app_name", "Boardwalk")
        .append_pair("scope", "read_write")
        .append_pair("user_id", &access.grant_token)
        .append_pair("return_url", &format!("{below}/granted"))
        .append_pair("callback_url", &format!("{below}/key"));
    Ok(url.into())
}

/// List the connections, the newest first.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ConnectionList {
    /// Only those of this merchant.
    merchant_id: Option<MerchantId>,
    /// Only those with this status.
    status: Option<ConnectionStatusName>,
    /// Objects on the page.
    #[serde(default = "page_default")]
    #[schemars(range(min = 1, max = 100))]
    limit: i64,
    /// What `nextCursor` of the page before said.
    #[schemars(length(max = 100))]
    cursor: Option<String>,
}

impl Endpoint<Cx> for ConnectionList {
    const ROUTE: Route = Route::get("/v1/connections").scope(Scope::StoresRead);
    type Reply = Page<ConnectionView>;

    async fn handle(self, cx: &Cx) -> Outcome<Answer<Self::Reply>> {
        let (iso_id, limit, now) = (cx.caller()?.iso_id().clone(), self.limit, cx.now);
        let after = self.cursor.as_deref().map(read_cursor).transpose()?;
        let (merchant_id, status) = (self.merchant_id, self.status);
        let found = cx.platform.store.list(move |conn| {
            let of = merchant_id.as_ref().map(MerchantId::as_str);
            // What is no id at all is not looked up.
            if of.is_some_and(|id| !text::is_alphanumeric(id)) {
                return Ok(Vec::new());
            }
            // One more tells whether there is another page.
            let status = status.as_ref().map(ConnectionStatusName::as_str);
            let wanted = (of, status);
            let rows = connection::list(conn, &iso_id, wanted, after.as_ref(), limit + 1)?;
            let view = |row: &ConnectionRow| {
                let place = cursor(row.created, &row.connection_id);
                ConnectionView::of(conn, row, now).map(|view| (place, view))
            };
            rows.iter().map(view).collect()
        });
        Ok(Answer::new(Page::of(found.await?, limit)))
    }
}

/// Show a connection.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ConnectionGet {
    /// Id of the connection.
    connection_id: String,
}

impl Endpoint<Cx> for ConnectionGet {
    const ROUTE: Route = Route::get("/v1/connections/{connectionId}").scope(Scope::StoresRead);
    type Reply = ConnectionView;

    async fn handle(self, cx: &Cx) -> Outcome<Answer<ConnectionView>> {
        let iso_id = cx.caller()?.iso_id().clone();
        let (id, now) = (self.connection_id, cx.now);
        let view = cx.platform.store.read(move |conn| {
            let row = load(conn, &iso_id, &id)?;
            ConnectionView::of(conn, &row, now)
        });
        Ok(Answer::new(view.await?))
    }
}

/// Change a connection: pause or resume it, give it another URL, key or owner, or replace the key
/// for its reports.
///
/// The store is asked again at once, also after a failure.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ConnectionPatch {
    /// Id of the connection.
    connection_id: String,
    /// `paused` stops asking the store; `active` resumes, or starts the copy of a store that was
    /// checked.
    status: Option<ConnectionState>,
    /// New URL of the same store.
    url: Option<Website>,
    /// New consumer key of the store.
    consumer_key: Option<StoreConsumerKey>,
    /// Its secret.
    consumer_secret: Option<StoreConsumerKey>,
    /// The merchant whose store it is.
    merchant_id: Option<MerchantId>,
    /// The store that it belongs to.
    store_id: Option<StoreId>,
    /// Replaces `reportsKey`: the answer shows the new one, and the old one stops working at once.
    #[serde(default)]
    replace_reports_key: bool,
    /// The version that the change is based on. Absent: whichever there is.
    #[schemars(range(min = 1))]
    expected_version: Option<i64>,
}

impl Endpoint<Cx> for ConnectionPatch {
    const ROUTE: Route = Route::patch("/v1/connections/{connectionId}").scope(Scope::StoresWrite);
    type Reply = ConnectionView;

    async fn check(draft: &mut Draft<'_>, cx: &Cx) -> Result<()> {
        check_url(draft, &cx.platform);
        Ok(())
    }

    async fn handle(self, cx: &Cx) -> Outcome<Answer<ConnectionView>> {
        let (caller, now, real_now) = (cx.caller()?.clone(), cx.now, cx.platform.clock.now());
        let entry = cx.entry("connection.update", "connection", &*self.connection_id)?;
        let key = pair(self.consumer_key.as_ref(), self.consumer_secret.as_ref())?;
        perform_once_shown(cx, ONCE_SHOWN, move |conn| {
            let before = load(conn, caller.iso_id(), &self.connection_id)?;
            self.check_allowed(&before)?;
            let mut after = before.clone();
            let mut entry = entry.clone();
            if let Some(url) = &self.url {
                after.url = store_url(url.as_str());
                entry = entry.changed("url", &*before.url, &*after.url);
            }
            if let Some(key) = &key {
                let aad = super::key_aad(&before.connection_id);
                after.key_sealed = Some(super::seal(caller.data_key(), &aad, key)?);
                entry = entry.changed_unseen("consumerKey");
            }
            if self.merchant_id.is_some() || self.store_id.is_some() {
                let of = (self.merchant_id.as_ref(), self.store_id.as_ref());
                (after.merchant_id, after.store_id) = owner(conn, caller.iso_id(), of)?;
                let ids = |row: &ConnectionRow| json!([row.merchant_id, row.store_id]);
                let (from, to) = (ids(&before), ids(&after));
                for (place, field) in ["merchantId", "storeId"].into_iter().enumerate() {
                    if from.get(place) != to.get(place) {
                        let value = |ids: &Value| ids.get(place).cloned().unwrap_or_default();
                        entry = entry.changed(field, value(&from), value(&to));
                    }
                }
            }
            let mut reports_key = None;
            if self.replace_reports_key {
                let access = super::access_with_new_reports_key(caller.data_key(), &mut after)?;
                reports_key = Some(access.reports);
                entry = entry.changed_unseen("reportsKey");
            }
            after.status = self.status_after(&after);
            after.is_held &= self.status.as_ref().is_none_or(|state| state.as_str() != "active");
            if after.status != before.status {
                entry = entry.changed("status", before.status.as_str(), after.status.as_str());
            }
            let is_asked = after.key_sealed.is_some() && after.status != ConnectionStatus::Paused;
            after.due = is_asked.then_some(real_now);
            // What went wrong before says nothing about the new key or URL.
            after.failures = 0;
            (after.error_code, after.error_message) = Default::default();
            after.version += 1;
            after.updated = now;
            (after.lease, after.lease_until) = (String::new(), None);
            connection::update(conn, &after)?;
            let entry = entry.versions(Some(before.version), Some(after.version));
            audit::append(conn, &entry)?;
            let view = ConnectionView::of(conn, &after, now)?;
            Ok(Answer::new(match reports_key {
                Some(key) => view.with_access(&key, None),
                None => view,
            }))
        })
        .await
    }
}

impl ConnectionPatch {
    fn check_allowed(&self, row: &ConnectionRow) -> Outcome<()> {
        if self.expected_version.is_some_and(|expected| expected != row.version) {
            let version = row.version;
            let message =
                format!("The object was changed: its version is now {version}. Read it again.");
            return Err(refusal("expectedVersion", Code::VersionMismatch, message));
        }
        let is_elsewhere = |url: &Website| host_of(url.as_str()) != host_of(&row.url);
        if self.consumer_key.is_none() && self.url.as_ref().is_some_and(is_elsewhere) {
            let message = "Send a key as well: a key is sent only to the host that it is for.";
            return Err(refusal("consumerKey", Code::MandatoryField, message));
        }
        if row.status == ConnectionStatus::Disconnected {
            let message = "The store is being disconnected.";
            return Err(refusal("", Code::IllegalTransition, message));
        }
        Ok(())
    }

    /// What the connection is after the change: the work goes on where it was.
    fn status_after(&self, row: &ConnectionRow) -> ConnectionStatus {
        let wanted = self.status.as_ref().map(ConnectionState::as_str);
        let is_paused = row.status == ConnectionStatus::Paused;
        match wanted {
            Some("paused") => ConnectionStatus::Paused,
            None if is_paused => ConnectionStatus::Paused,
            _ if row.key_sealed.is_none() => ConnectionStatus::Unauthorized,
            // What it is beyond that is found when the store is asked.
            _ if is_paused || row.status != ConnectionStatus::Live => ConnectionStatus::Connecting,
            _ => row.status,
        }
    }
}

/// Disconnect a store: its webhooks are removed there, and its copy is deleted here.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ConnectionDelete {
    /// Id of the connection.
    connection_id: String,
}

impl Endpoint<Cx> for ConnectionDelete {
    const ROUTE: Route = Route::delete("/v1/connections/{connectionId}").scope(Scope::StoresWrite);
    type Reply = ConnectionView;

    async fn handle(self, cx: &Cx) -> Outcome<Answer<ConnectionView>> {
        let (iso_id, now) = (cx.caller()?.iso_id().clone(), cx.now);
        let real_now = cx.platform.clock.now();
        let entry = cx.entry("connection.delete", "connection", &*self.connection_id)?;
        perform(cx, move |conn| {
            let before = load(conn, &iso_id, &self.connection_id)?;
            if before.status == ConnectionStatus::Disconnected {
                return Ok(Answer::new(ConnectionView::of(conn, &before, now)?));
            }
            let after = ConnectionRow {
                status: ConnectionStatus::Disconnected,
                due: Some(real_now),
                lease: String::new(),
                lease_until: None,
                failures: 0,
                version: before.version + 1,
                updated: now,
                ..before.clone()
            };
            connection::update(conn, &after)?;
            audit::append(conn, &entry.clone().versions(Some(before.version), None))?;
            Ok(Answer::new(ConnectionView::of(conn, &after, now)?))
        })
        .await
    }
}
