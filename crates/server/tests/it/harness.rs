//! The server on a pipe instead of a socket, for tests and for the fuzzer.
//!
//! Bytes go through the same connection code, limits and pipeline as those from the network.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use onboarding::Platform;
use server::{InProcess, Settings};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, DuplexStream};

/// How long an exchange may take before it counts as hung.
const EXCHANGE_MAX: Duration = Duration::from_secs(30);
/// What the pipe holds before the writer waits.
const PIPE_BYTES: usize = 64 * 1024;

/// A server without a network.
#[derive(Debug)]
pub(crate) struct Harness(InProcess);

impl Harness {
    /// Must be called within a tokio runtime, from a thread that may block.
    pub(crate) fn new(platform: Arc<Platform>, settings: Settings) -> types::Result<Self> {
        InProcess::new(platform, settings).map(Self)
    }

    /// Sends the bytes as one client would, closes the sending side, and returns everything that
    /// came back. `None` if the server did not come to an end.
    pub(crate) async fn exchange(&self, bytes: &[u8]) -> Option<Vec<u8>> {
        let (mut client, server) = tokio::io::duplex(PIPE_BYTES);
        let peer = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        let served = tokio::spawn(self.0.serve(server, peer));
        let mut answer = Vec::new();
        let talk = async {
            let (mut reader, mut writer) = tokio::io::split(&mut client);
            let send = async {
                // The server may hang up before it has read everything.
                let _ = writer.write_all(bytes).await;
                let _ = writer.shutdown().await;
            };
            let receive = async {
                let _ = reader.read_to_end(&mut answer).await;
            };
            tokio::join!(send, receive);
        };
        let ended = tokio::time::timeout(EXCHANGE_MAX, talk).await.is_ok();
        served.abort();
        ended.then_some(answer)
    }

    /// The client's end of a connection that is served.
    pub(crate) fn connect(&self) -> DuplexStream {
        let (client, server) = tokio::io::duplex(PIPE_BYTES);
        tokio::spawn(self.0.serve(server, SocketAddr::from((Ipv4Addr::LOCALHOST, 0))));
        client
    }
}

/// Where the API key of the harness goes in prepared bytes.
const KEY_MARK: &str = "{KEY}";
/// Where the administrator's login and application password go, as Basic has them.
const BASIC_MARK: &str = "{BASIC}";
const ADMINISTRATOR: &str = "fuzz";

/// A complete sandbox in a folder, for feeding bytes to.
#[derive(Debug)]
pub(crate) struct Sandbox {
    harness: Harness,
    key: String,
    basic: String,
}

impl Sandbox {
    /// Makes an ISO and a key in `folder`, with a database of its own. Blocks while doing so; must
    /// be called within a tokio runtime, from a thread that may block.
    pub(crate) fn new(folder: &std::path::Path) -> types::Result<Self> {
        use onboarding::dialect::ResponseStyle;
        use onboarding::keys::KeyLife;
        use types::{Clock, Environment, ScopeSet};
        use vault::MasterKey;

        let store =
            db::Database::open(&db::Location::File(folder.join("sandbox.db")), schema::MIGRATIONS)?;
        let master = MasterKey::generate()?;
        let choices = onboarding::Settings::default();
        let platform = Platform::new(Environment::Sandbox, store, &master, choices, Clock::System)?;
        let iso_id = platform.iso_create("Fuzz", ResponseStyle::Detailed)?;
        let key = platform.key_create(&iso_id, "fuzz", ScopeSet::Full, KeyLife::Forever)?;
        let basic = administrator(&platform)?;
        let mut settings = Settings::default();
        settings.rate_limits.enabled = false;
        settings.limits.read_ms = 200;
        let harness = Harness::new(Arc::new(platform), settings)?;
        Ok(Self { harness, key: key.text.expose().clone(), basic })
    }

    pub(crate) fn connect(&self) -> DuplexStream {
        self.harness.connect()
    }

    /// Sends raw bytes, with `{KEY}` replaced by the key, checks the answer and returns its
    /// status.
    ///
    /// # Panics
    /// If the server hangs, fails by its own fault, or answers in another shape than published.
    pub(crate) async fn check_request(&self, bytes: &[u8]) -> Option<u16> {
        let bytes = replace(bytes, KEY_MARK.as_bytes(), self.key.as_bytes());
        let answer = self.harness.exchange(&bytes).await.expect("the server hangs");
        check_answer(&answer)
    }

    /// Sends raw bytes whose first line asks for something below the REST root, with `{BASIC}`
    /// replaced by an administrator's credentials, and checks the answer.
    ///
    /// # Panics
    /// As [`Sandbox::check_request`].
    pub(crate) async fn check_rest(&self, bytes: &[u8]) -> Option<u16> {
        let bytes = replace(bytes, BASIC_MARK.as_bytes(), self.basic.as_bytes());
        let answer = self.harness.exchange(&bytes).await.expect("the server hangs");
        check_rest_answer(&answer)
    }

    /// Sends bytes as the body of an onboarding with a valid key, and checks the answer.
    ///
    /// # Panics
    /// As [`Sandbox::check_request`].
    pub(crate) async fn check_body(&self, body: &[u8]) -> Option<u16> {
        let mut bytes = format!(
            "POST /v1/onboardmerchant HTTP/1.1\r\nHost: sandbox\r\nConnection: close\r\n\
             Authorization: api-key {}\r\nContent-Type: application/json\r\n\
             Content-Length: {}\r\n\r\n",
            self.key,
            body.len()
        )
        .into_bytes();
        bytes.extend_from_slice(body);
        let answer = self.harness.exchange(&bytes).await.expect("the server hangs");
        check_answer(&answer)
    }
}

/// Makes a user who may do everything, and their credentials.
fn administrator(platform: &Platform) -> types::Result<String> {
    use frame::auth::application_password::create_password;
    use frame::users::account::error_of;
    use frame::users::{NewUser, create_user};

    let (vault, now) = (Arc::clone(&platform.vault), platform.clock.now());
    let (_, password) = platform.store.write_blocking(move |conn| {
        let mut user = NewUser::new(ADMINISTRATOR, "fuzz@site.example", now);
        user.roles = vec![types::Role::Administrator];
        let user = create_user(conn, &user).map_err(error_of)?;
        create_password(conn, &vault, user.user_id, ("fuzz", ""), now)
    })?;
    let pair = format!("{ADMINISTRATOR}:{}", password.expose());
    Ok(data_encoding::BASE64.encode(pair.as_bytes()))
}

fn replace(bytes: &[u8], mark: &[u8], with: &[u8]) -> Vec<u8> {
    let Some(start) = bytes.windows(mark.len()).position(|window| window == mark) else {
        return bytes.to_vec();
    };
    let (before, after) = bytes.split_at(start);
    let after = after.get(mark.len()..).unwrap_or_default();
    [before, with, after].concat()
}

/// The status of an answer. Nothing at all and the frames of HTTP/2 have none; a 5xx is an error.
fn status_of(text: &str) -> Option<u16> {
    let status = text.strip_prefix("HTTP/1.")?.get(2..5).expect("a status");
    let status: u16 = status.parse().expect("a status");
    assert!(status < 500, "the server failed: {text}");
    Some(status)
}

/// Returns the status. Nothing at all and the frames of HTTP/2 are fine too; a 5xx is not.
fn check_answer(answer: &[u8]) -> Option<u16> {
    let text = String::from_utf8_lossy(answer);
    let status = status_of(&text)?;
    if let Some((_, body)) = text.split_once("\r\n\r\n")
        && text.contains("application/json")
        && status >= 400
        && !body.is_empty()
    {
        assert!(body.contains("\"errors\":["), "not the published shape: {text}");
    }
    Some(status)
}

/// Returns the status of the first answer. An error of the REST interface has a code, a message and
/// data; the two errors of JSONP have none, and neither have answers without a body.
fn check_rest_answer(answer: &[u8]) -> Option<u16> {
    let text = String::from_utf8_lossy(answer);
    let status = status_of(&text)?;
    let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&*text, ""));
    let is_rest = head.contains("x-robots-tag: noindex");
    // Others are scripts for JSONP, and XML for oEmbed.
    let is_json = head.contains("content-type: application/json");
    if !is_rest || !is_json || status < 400 || body.is_empty() {
        return Some(status);
    }
    // What follows a complete body belongs to the next answer of the connection.
    let mut values = serde_json::Deserializer::from_str(body).into_iter::<serde_json::Value>();
    let error = values.next().and_then(Result::ok);
    let code = error.as_ref().and_then(|error| error.get("code")?.as_str());
    let message = error.as_ref().and_then(|error| error.get("message")?.as_str());
    assert!(code.is_some() && message.is_some(), "not the published shape: {text}");
    let is_bare = code.is_some_and(|code| code.starts_with("rest_callback_"));
    let has_data = error.is_some_and(|error| error.get("data").is_some());
    assert!(has_data || is_bare, "an error without data: {text}");
    Some(status)
}
