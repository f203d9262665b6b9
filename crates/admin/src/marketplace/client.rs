//! The marketplace as the site asks it: one that an operator named, over HTTP, or the bundled one,
//! which sells what comes with the program for nothing. **Nothing that it answers is believed
//! beyond its shape.**

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use db::Conn;
use frame::Site;
use frame::outbound::{Fetch, Method};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use types::{Error, Result, Timestamp};
use url::Url;
use vault::Aad;

use super::answer::MarketReply;
use super::bundled;
use crate::package::ARCHIVE_BYTES_MAX;
use crate::rows::marketplace::{self, ConnectionErrorRow, ConnectionRow};

/// The service's name among the site's connections.
pub(crate) const SERVICE: &str = "marketplace";
/// Bytes of an answer at most.
const ANSWER_BYTES_MAX: usize = 2 * 1024 * 1024;
const ANSWER_TIME: Duration = Duration::from_secs(8);
const ARCHIVE_TIME: Duration = Duration::from_mins(1);
/// How long a busy marketplace is left alone unless it says otherwise, and at most.
const PAUSE: Duration = Duration::from_mins(15);
const PAUSE_MAX: Duration = Duration::from_hours(3);
/// Errors of the same code are noted this far apart.
const ERROR_INTERVAL: Duration = Duration::from_hours(1);
const NONCE_BYTES: usize = 5;

/// What proves who the site is to a service.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Token {
    pub(crate) access_token: String,
    pub(crate) access_token_secret: String,
}

impl std::fmt::Debug for Token {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Token(…)")
    }
}

impl Token {
    fn aad(service: &str) -> Aad<'_> {
        Aad { kind: "service_connection", id: service, column: "token" }
    }

    pub(crate) fn seal(&self, site: &Site, service: &str) -> Result<Vec<u8>> {
        let text = serde_json::to_vec(self)
            .map_err(|error| Error::internal("cannot serialize a token").because(error))?;
        site.vault().site_seal(&Self::aad(service), &text)
    }

    pub(crate) fn open(site: &Site, row: &ConnectionRow) -> Result<Self> {
        let text = site.vault().site_open(&Self::aad(&row.service), &row.token_sealed)?;
        serde_json::from_slice(text.expose())
            .map_err(|error| Error::internal("cannot read a token").because(error))
    }
}

/// The site's account with the marketplace.
#[derive(Clone, Debug)]
pub(crate) struct Account {
    pub(crate) row: ConnectionRow,
    pub(crate) token: Token,
}

#[derive(Debug)]
pub(crate) struct Market {
    url: Option<Url>,
    /// Until when it is left alone.
    paused: Mutex<Option<Timestamp>>,
}

impl Market {
    pub(crate) fn new(address: Option<&str>) -> Result<Self> {
        let url = address.map(|address| {
            // Paths are appended below it.
            Url::parse(&format!("{}/", address.trim_end_matches('/'))).map_err(|error| {
                Error::invalid("admin.marketplace_url is not a URL").because(error)
            })
        });
        Ok(Self { url: url.transpose()?, paused: Mutex::new(None) })
    }

    /// What people come back with who need not ask anybody elsewhere.
    pub(crate) fn own_request_token(site: &Site, secret: &str) -> String {
        bundled::request_token(site, secret)
    }

    /// The address of a page of the marketplace, for browsers.
    pub(crate) fn page(&self, path: &str) -> Option<Url> {
        self.url.as_ref().and_then(|url| url.join(path).ok())
    }

    pub(crate) fn account(site: &Site, conn: &mut dyn Conn) -> Result<Option<Account>> {
        let Some(row) = marketplace::connection(conn, SERVICE)? else { return Ok(None) };
        let token = Token::open(site, &row)?;
        Ok(Some(Account { row, token }))
    }

    pub(crate) fn resume(&self) {
        *self.paused.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// Asks for something. A body makes it a POST. Fails when there is no proper answer.
    pub(crate) async fn ask(
        &self,
        site: &Site,
        path: &str,
        body: Option<Value>,
        account: Option<&Account>,
    ) -> Result<MarketReply> {
        let Some(base) = &self.url else {
            let connected = site.store().read(connected_keys).await?;
            return Ok(bundled::answer(site, path, body.as_ref(), &connected));
        };
        let now = site.clock().now();
        let paused = *self.paused.lock().unwrap_or_else(PoisonError::into_inner);
        if paused.is_some_and(|until| now < until) {
            let message = "The marketplace is limiting requests; try again later.";
            return Ok(MarketReply { status: 429, body: json!({ "message": message }) });
        }
        let url = base.join(path).map_err(|error| {
            Error::invalid("this is not a URL of the marketplace").because(error)
        })?;
        let mut request = Fetch::get(url, ANSWER_BYTES_MAX, ANSWER_TIME);
        request.headers = headers(account);
        if let Some(body) = body {
            request.method = Method::Post;
            request.body = body.to_string().into_bytes();
            request.headers.push((String::from("Content-Type"), String::from("application/json")));
        }
        let answer = site.outbound().fetch(request).await.map_err(|error| {
            Error::unavailable("the marketplace does not respond").because(error)
        })?;
        if answer.status == 429 {
            let stated = answer.header("retry-after").and_then(|text| text.parse().ok());
            let pause = stated.map_or(PAUSE, Duration::from_secs).min(PAUSE_MAX);
            let until = Some(now.plus(pause));
            *self.paused.lock().unwrap_or_else(PoisonError::into_inner) = until;
        }
        if let (401, Some(account)) = (answer.status, account) {
            let user_id = account.row.user_id;
            let noted = site.store().write(move |conn| record_error(conn, user_id, now)).await?;
            if let (Some(nonce), Ok(url)) = (noted, base.join("connection_errors")) {
                report_error(site, url, &nonce).await;
            }
        }
        let body = serde_json::from_slice(&answer.body).map_err(|error| {
            Error::unavailable("cannot read the marketplace's response").because(error)
        })?;
        Ok(MarketReply { status: answer.status, body })
    }

    /// The archive of something that was bought.
    pub(crate) async fn archive(
        &self,
        site: &Site,
        slug: &str,
        account: &Account,
    ) -> Result<Vec<u8>> {
        let unknown = || Error::not_found("the marketplace has no package with this name");
        let url = self.page(&format!("packages/{slug}.zip")).ok_or_else(unknown)?;
        let mut request = Fetch::get(url, ARCHIVE_BYTES_MAX, ARCHIVE_TIME);
        request.headers = headers(Some(account));
        let answer = site.outbound().fetch(request).await.map_err(|error| {
            Error::unavailable("the marketplace does not respond").because(error)
        })?;
        if answer.status == 200 { Ok(answer.body) } else { Err(unknown()) }
    }
}

fn headers(account: Option<&Account>) -> Vec<(String, String)> {
    let bearer = account.map(|account| format!("Bearer {}", account.token.access_token));
    bearer.map(|bearer| (String::from("Authorization"), bearer)).into_iter().collect()
}

/// The keys of what this site makes use of.
fn connected_keys(conn: &mut dyn Conn) -> Result<BTreeSet<String>> {
    let bought = marketplace::subscriptions(conn)?.into_iter();
    Ok(bought.filter(|one| one.is_connected).map(|one| one.product_key).collect())
}

const UNKNOWN_TOKEN: &str = "unknown_token";

/// Records that the marketplace no longer knows the site's token, at most once an hour. Returns the
/// nonce with which the marketplace can confirm that it caused this.
fn record_error(conn: &mut dyn Conn, user_id: i64, now: Timestamp) -> Result<Option<String>> {
    let newest = marketplace::error_newest(conn, UNKNOWN_TOKEN)?;
    if newest.is_some_and(|error| now.since(error.raised) < ERROR_INTERVAL) {
        return Ok(None);
    }
    let mut random = [0; NONCE_BYTES];
    vault::fill_random(&mut random)?;
    let error = ConnectionErrorRow {
        nonce: data_encoding::HEXLOWER.encode(&random),
        code: UNKNOWN_TOKEN.to_owned(),
        message: String::from("The marketplace rejected the site's token."),
        user_id,
        raised: now,
        verified: None,
    };
    marketplace::error_insert(conn, &error)?;
    Ok(Some(error.nonce))
}

/// Reports an error to the marketplace. Nothing depends on the outcome.
async fn report_error(site: &Site, url: Url, nonce: &str) {
    let mut request = Fetch::get(url, ANSWER_BYTES_MAX, ANSWER_TIME);
    request.method = Method::Post;
    request.body = json!({ "code": UNKNOWN_TOKEN, "nonce": nonce }).to_string().into_bytes();
    request.headers.push((String::from("Content-Type"), String::from("application/json")));
    if let Err(error) = site.outbound().fetch(request).await {
        tracing::info!(%error, "cannot report an error to the marketplace");
    }
}
