//! A server elsewhere that commands talk to over HTTP, with the key of an ISO, instead of opening a
//! data folder. Which one is said by `--server` and `--api-key`, or by a profile.
//!
//! **A key never crosses a network in plain text**: without TLS, only this machine is asked.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use data_encoding::BASE64;
use frame::outbound::{Fetch, Fetched, Method, Outbound as _, Overlong};
use onboarding::Code;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use server::outbound::{AddressRange, Client, Guard, OutboundSettings};
use types::{Environment, Error, Kind, Result, Secret};
use url::{Host, Url};

use crate::args::Common;
use crate::config::API_KEY_VARIABLE;
use crate::environment;

const FILE_NAME: &str = "boardwalk/profiles.toml";
const ANSWER_BYTES_MAX: usize = 64 * 1024 * 1024;
const ANSWER_MAX: Duration = Duration::from_mins(2);
/// Objects on a page of a list, as many as servers allow.
const PAGE: usize = 100;
/// Errors of a rejected request that are repeated.
const ERRORS_SHOWN: usize = 5;
const NO_REST_ROUTE: &str = "rest_no_route";

/// A server, and who asks it, for commands that wait for each answer.
#[derive(Debug)]
pub(crate) struct Remote {
    peer: Arc<Peer>,
    runtime: tokio::runtime::Runtime,
}

/// A server, and who asks it.
#[derive(Debug)]
pub(crate) struct Peer {
    url: Url,
    key: Secret<String>,
    client: Client,
}

/// How a key is shown: each interface has its way.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Scheme {
    /// The key of an ISO.
    ApiKey,
    /// Key and secret, or login and application password, with a colon between them.
    Basic,
}

/// What to ask a server.
#[derive(Debug)]
pub(crate) struct Request {
    pub(crate) method: Method,
    /// Below the server's address; escaped where it must be.
    pub(crate) path: String,
    pub(crate) query: Vec<(String, String)>,
    pub(crate) headers: Vec<(String, String)>,
    /// What it is, and what it holds.
    pub(crate) body: Option<(String, Vec<u8>)>,
}

impl Request {
    pub(crate) fn new(method: Method, path: String) -> Self {
        Self { method, path, query: Vec::new(), headers: Vec::new(), body: None }
    }
}

impl Remote {
    /// The server that the command line names, if it names one.
    pub(crate) fn chosen(common: &Common) -> Result<Option<Self>> {
        let profile = common.profile.as_deref().map(Profiles::find).transpose()?;
        let (url, saved) = match (&common.server, profile) {
            (None, None) => return Ok(None),
            (Some(url), profile) => (url.clone(), profile.map(|profile| profile.key)),
            (None, Some(profile)) => (parsed(&profile.server)?, Some(profile.key)),
        };
        let variable = || std::env::var_os(API_KEY_VARIABLE)?.into_string().ok();
        let key = match common.api_key.as_deref() {
            Some("-") => Some(key_from_input()?),
            Some(key) => Some(key.to_owned()),
            None => variable().or(saved),
        };
        let key = key.ok_or_else(|| {
            Error::invalid(format!("add --api-key KEY, set {API_KEY_VARIABLE}, or use a --profile"))
        })?;
        Self::new(url, Secret::new(key)).map(Some)
    }

    fn new(url: Url, key: Secret<String>) -> Result<Self> {
        check_encrypted(&url)?;
        // Whoever runs the program named the address, so none is out of bounds.
        let all = ["0.0.0.0/0", "::/0"].map(str::parse::<AddressRange>);
        let all: std::result::Result<Vec<AddressRange>, _> = all.into_iter().collect();
        let settings = OutboundSettings { exempt: all.map_err(Error::internal)? };
        let client = Client::new(Guard::new(&settings, Environment::Sandbox)?);
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|error| Error::internal("cannot start the async runtime").because(error))?;
        Ok(Self { peer: Arc::new(Peer { url, key, client }), runtime })
    }

    pub(crate) fn url(&self) -> &Url {
        &self.peer.url
    }

    /// The server alone, for what waits for many answers at once.
    pub(crate) fn peer(&self) -> Arc<Peer> {
        Arc::clone(&self.peer)
    }

    pub(crate) fn block_on<T>(&self, work: impl Future<Output = T>) -> T {
        self.runtime.block_on(work)
    }

    /// Asks for an object at a path such as `/v1/keys`.
    pub(crate) fn get(&self, path: &str, query: &[(&str, &str)]) -> Result<Value> {
        self.call(Method::Get, path, query, None)
    }

    pub(crate) fn post(&self, path: &str, body: &Value) -> Result<Value> {
        let body = ("application/json", body.to_string().into_bytes());
        self.call(Method::Post, path, &[], Some(body))
    }

    pub(crate) fn put(&self, path: &str, body: &Value) -> Result<Value> {
        let body = ("application/json", body.to_string().into_bytes());
        self.call(Method::Put, path, &[], Some(body))
    }

    pub(crate) fn patch(&self, path: &str, body: &Value) -> Result<Value> {
        let body = ("application/json", body.to_string().into_bytes());
        self.call(Method::Patch, path, &[], Some(body))
    }

    pub(crate) fn post_file(&self, path: &str, kind: &str, content: Vec<u8>) -> Result<Value> {
        self.call(Method::Post, path, &[], Some((kind, content)))
    }

    pub(crate) fn delete(&self, path: &str) -> Result<Value> {
        self.call(Method::Delete, path, &[], None)
    }

    /// The objects of a list, page by page, up to a number of them.
    pub(crate) fn list(
        &self,
        path: &str,
        filters: &[(String, String)],
        limit: usize,
    ) -> Result<Vec<Value>> {
        let mut found: Vec<Value> = Vec::new();
        let mut cursor: Option<String> = None;
        loop {
            let size = limit.saturating_sub(found.len()).min(PAGE).to_string();
            let named = filters.iter().map(|(name, value)| (name.as_str(), value.as_str()));
            let mut query: Vec<(&str, &str)> = named.collect();
            query.push(("limit", &size));
            query.extend(cursor.as_deref().map(|cursor| ("cursor", cursor)));
            let mut page = self.get(path, &query)?;
            let Some(Value::Array(objects)) = page.get_mut("data").map(Value::take) else {
                return Err(self.peer.unlike_us());
            };
            found.extend(objects);
            cursor = page.get("nextCursor").and_then(Value::as_str).map(str::to_owned);
            if cursor.is_none() || found.len() >= limit {
                return Ok(found);
            }
        }
    }

    fn call(
        &self,
        method: Method,
        path: &str,
        query: &[(&str, &str)],
        body: Option<(&str, Vec<u8>)>,
    ) -> Result<Value> {
        let mut request = Request::new(method, path.to_owned());
        let query = query.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        request.query = query.collect();
        request.body = body.map(|(kind, content)| (kind.to_owned(), content));
        self.runtime.block_on(self.peer.ask(Scheme::ApiKey, request))
    }

    /// Sends a request anywhere; any status counts as an answer.
    pub(crate) fn send(
        &self,
        method: Method,
        url: Url,
        headers: Vec<(String, String)>,
        body: Vec<u8>,
    ) -> Result<Fetched> {
        self.runtime.block_on(self.peer.send(method, url, headers, body))
    }
}

impl Peer {
    /// Asks for an object; a refusal is an error with what the server said.
    pub(crate) async fn ask(&self, scheme: Scheme, request: Request) -> Result<Value> {
        let mut url = self.url.clone();
        url.set_path(&format!("{}{}", self.url.path().trim_end_matches('/'), request.path));
        if !request.query.is_empty() {
            url.query_pairs_mut().extend_pairs(request.query);
        }
        let key = self.key.expose();
        let authorization = match scheme {
            Scheme::ApiKey => format!("api-key {key}"),
            Scheme::Basic => format!("Basic {}", BASE64.encode(key.as_bytes())),
        };
        let mut headers = request.headers;
        headers.push((String::from("authorization"), authorization));
        let (kind, body) = request.body.unwrap_or_default();
        if !kind.is_empty() {
            headers.push((String::from("content-type"), kind));
        }
        let answer = self.send(request.method, url, headers, body).await?;
        let object: Option<Value> = serde_json::from_slice(&answer.body).ok();
        match (answer.status, object) {
            (200..=299, Some(object)) => Ok(object),
            (_, None) => Err(self.unlike_us()),
            (status, Some(object)) => Err(refusal(status, &object)),
        }
    }

    async fn send(
        &self,
        method: Method,
        url: Url,
        headers: Vec<(String, String)>,
        body: Vec<u8>,
    ) -> Result<Fetched> {
        let host = url.origin().ascii_serialization();
        let fetch = Fetch {
            method,
            url,
            headers,
            body,
            max_bytes: ANSWER_BYTES_MAX,
            overlong: Overlong::Refuse,
            timeout: ANSWER_MAX,
            // A key is meant for the server that was named.
            max_redirects: 0,
        };
        self.client
            .fetch(fetch)
            .await
            .map_err(|error| Error::unavailable(format!("cannot reach {host}")).because(error))
    }

    fn unlike_us(&self) -> Error {
        Error::invalid(format!("{} does not respond like Boardwalk; check the URL", self.url))
    }
}

/// What the server says about a request that it rejected.
fn refusal(status: u16, body: &Value) -> Error {
    let text = |object: &Value, name: &str| {
        object.get(name).and_then(Value::as_str).unwrap_or_default().to_owned()
    };
    let message = text(body, "message");
    let errors = body.get("errors").and_then(Value::as_array).map(Vec::as_slice);
    let errors = errors.unwrap_or_default();
    let mut told: Vec<String> = errors
        .iter()
        .take(ERRORS_SHOWN)
        .map(|error| match text(error, "param") {
            param if param.is_empty() => text(error, "message"),
            param => format!("{param}: {}", text(error, "message")),
        })
        .collect();
    if errors.len() > ERRORS_SHOWN {
        told.push(format!("and {} more", errors.len() - ERRORS_SHOWN));
    }
    let kind = match status {
        404 => Kind::NotFound,
        409 | 412 => Kind::Conflict,
        429 | 500..=599 => Kind::Unavailable,
        _ => Kind::Invalid,
    };
    let is_no_route = |error: &Value| text(error, "code") == Code::RouteNotFound.name();
    // The REST interface has one error, and names it beside the message.
    let is_known = body.get("code").is_some_and(|code| code != NO_REST_ROUTE);
    let advice = match status {
        401 => " (401); check the key, and that it belongs to this environment",
        404 if errors.iter().all(is_no_route) && !is_known => " (404); check the URL",
        _ => "",
    };
    let told = if told.is_empty() { String::new() } else { format!(": {}", told.join("; ")) };
    let told = if advice.is_empty() { &told } else { told.trim_end_matches('.') };
    Error::new(kind, format!("the server says {message:?}{told}{advice}"))
}

fn parsed(url: &str) -> Result<Url> {
    Url::parse(url)
        .map_err(|error| Error::invalid(format!("the profile's URL {url} is wrong")).because(error))
}

fn check_encrypted(url: &Url) -> Result<()> {
    let is_here = match url.host() {
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        Some(Host::Domain(name)) => name == "localhost",
        None => false,
    };
    match url.scheme() {
        "https" => Ok(()),
        "http" if is_here => Ok(()),
        _ => Err(Error::invalid(format!(
            "{url} must start with https://, because a key must not cross a network in plain text"
        ))),
    }
}

/// The first line of standard input.
pub(crate) fn key_from_input() -> Result<String> {
    let mut line = String::new();
    io::stdin().read_line(&mut line).map_err(|error| {
        Error::invalid("cannot read the key from standard input").because(error)
    })?;
    match line.trim() {
        "" => Err(Error::invalid("the key is missing; write it to standard input")),
        key => Ok(key.to_owned()),
    }
}

/// A server and a key that have a name.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Profile {
    pub(crate) server: String,
    pub(crate) key: String,
}

/// The profiles of a user, by name.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Profiles {
    #[serde(flatten)]
    pub(crate) named: BTreeMap<String, Profile>,
}

impl Profiles {
    fn find(name: &str) -> Result<Profile> {
        Self::read()?.named.remove(name).ok_or_else(|| {
            Error::not_found(format!("there is no profile {name}; run `boardwalk profile list`"))
        })
    }

    pub(crate) fn read() -> Result<Self> {
        let path = file()?;
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Self::default()),
            Err(error) => return Err(unusable(&path).because(error)),
        };
        environment::check_private(&path, "the profiles")?;
        toml::from_str(&text).map_err(|error| unusable(&path).because(error))
    }

    /// Replaces the file; nobody sees half of it, and only its owner any of it.
    pub(crate) fn write(&self) -> Result<()> {
        let path = file()?;
        let text = toml::to_string(self)
            .map_err(|error| Error::internal("cannot write profiles").because(error))?;
        let folder = path.parent().unwrap_or(Path::new("."));
        let partial = path.with_extension(format!("toml.{}", std::process::id()));
        let written =
            fs::DirBuilder::new().recursive(true).mode(0o700).create(folder).and_then(|()| {
                let mut options = fs::OpenOptions::new();
                let options = options.write(true).create(true).truncate(true).mode(0o600);
                options.open(&partial)?.write_all(text.as_bytes())?;
                fs::rename(&partial, &path)
            });
        written.map_err(|error| unusable(&path).because(error))
    }
}

pub(crate) fn profile(server: Url, key: String) -> Result<Profile> {
    check_encrypted(&server)?;
    Ok(Profile { server: server.to_string(), key })
}

/// Where profiles are kept.
fn file() -> Result<PathBuf> {
    let folder = std::env::var_os("XDG_CONFIG_HOME").filter(|folder| !folder.is_empty());
    let home = || std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".config"));
    let folder = folder.map(PathBuf::from).or_else(home);
    let folder = folder.ok_or_else(|| Error::invalid("set HOME, the folder with your profiles"))?;
    Ok(folder.join(FILE_NAME))
}

fn unusable(path: &Path) -> Error {
    Error::invalid(format!("cannot use the profiles in {}", path.display()))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn keys_stay_on_this_machine_without_tls() {
        for (url, allowed) in [
            ("https://api.example", true),
            ("http://127.0.0.1:8080", true),
            ("http://[::1]:8080", true),
            ("http://localhost:8080", true),
            ("http://api.example", false),
            ("http://10.0.0.1", false),
            ("ftp://localhost", false),
        ] {
            assert_eq!(check_encrypted(&url.parse().unwrap()).is_ok(), allowed, "{url}");
        }
    }

    #[test]
    fn refusals_say_what_the_server_said() {
        let errors = json!([{ "code": "x", "message": "Too long.", "param": "name" }]);
        let error = refusal(400, &json!({ "message": "Failure", "errors": errors }));
        assert_eq!(error.to_string(), "the server says \"Failure\": name: Too long.");
        let error = refusal(401, &json!({ "message": "Unauthorized", "errors": [] }));
        assert!(error.to_string().contains("check the key"), "{error}");
        for (code, is_wrong_url) in [("route_not_found", true), ("not_found", false)] {
            let errors = json!([{ "code": code, "message": "Unknown.", "param": "" }]);
            let error = refusal(404, &json!({ "message": "Failure", "errors": errors }));
            assert_eq!(error.to_string().contains("check the URL"), is_wrong_url, "{error}");
        }
        for (code, is_wrong_url) in [("rest_no_route", true), ("rest_post_invalid_id", false)] {
            let error = refusal(404, &json!({ "code": code, "message": "Invalid ID." }));
            assert_eq!(error.to_string().contains("check the URL"), is_wrong_url, "{error}");
        }
    }
}
