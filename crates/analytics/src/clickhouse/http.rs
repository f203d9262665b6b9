//! A shard behind its HTTP interface, asked by the way to other hosts that the site has.
//!
//! The thread that asks waits: reports are made where waiting is allowed, and so are facts.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use frame::outbound::{Fetch, FetchError, Method, Outbound, Overlong};
use tokio::runtime::{Builder, Runtime};
use types::{Error, Kind, Result, Secret};
use url::Url;

use super::cluster::Shard;

/// How long a statement may take.
const PATIENCE: Duration = Duration::from_secs(30);
/// Bytes of an answer: some million groups.
const ANSWER_BYTES_MAX: usize = 256 << 20;
/// Bytes of a statement, in which many ids may be named.
const STATEMENT_BYTES_MAX: usize = 64 << 20;
/// Letters of what a server says about an error.
const MESSAGE_MAX: usize = 500;

/// Errors of the server that may pass: tables that were replaced meanwhile, timeouts, too many
/// queries, not enough memory, a lost network, too many parts, shutting down.
const PASSING: [u32; 9] = [60, 159, 202, 209, 210, 241, 242, 252, 394];

#[derive(Debug)]
pub struct HttpShard {
    outbound: Arc<dyn Outbound>,
    /// Without a name and a password.
    url: Url,
    user: String,
    password: Secret<String>,
    database: String,
}

impl HttpShard {
    /// The server at this address, such as `http://name:password@host:8123`. Statements are carried
    /// out in this database of it.
    pub fn new(outbound: Arc<dyn Outbound>, address: &str, database: &str) -> Result<Self> {
        let invalid = || Error::invalid("analytics.engine must be memory or URLs of ClickHouse");
        let mut url = Url::parse(address).map_err(|error| invalid().because(error))?;
        if !matches!(url.scheme(), "http" | "https") || url.host().is_none() {
            return Err(invalid());
        }
        let user = if url.username().is_empty() { "default" } else { url.username() }.to_owned();
        let password = Secret::new(url.password().unwrap_or_default().to_owned());
        // Neither fails for an address with a host.
        let _ = (url.set_username(""), url.set_password(None));
        Ok(Self { outbound, url, user, password, database: database.to_owned() })
    }

    fn request(&self, statement: &str, body: &[u8], database: &str) -> Fetch {
        let mut url = self.url.clone();
        {
            let mut settings = url.query_pairs_mut();
            if !database.is_empty() {
                settings.append_pair("database", database);
            }
            // An error that comes late is an error still, and not the end of half an answer.
            settings.append_pair("wait_end_of_query", "1");
            settings.append_pair("max_query_size", &STATEMENT_BYTES_MAX.to_string());
            if !body.is_empty() {
                settings.append_pair("query", statement);
            }
        }
        let body = if body.is_empty() { statement.as_bytes() } else { body };
        let headers = vec![
            (String::from("x-clickhouse-user"), self.user.clone()),
            (String::from("x-clickhouse-key"), self.password.expose().clone()),
        ];
        Fetch {
            method: Method::Post,
            headers,
            body: body.to_vec(),
            overlong: Overlong::Refuse,
            max_redirects: 0,
            ..Fetch::get(url, ANSWER_BYTES_MAX, PATIENCE)
        }
    }

    fn carry_out(&self, request: Fetch) -> Result<Vec<u8>> {
        let fetched = runtime()?.block_on(self.outbound.fetch_for_operator(request));
        let fetched = fetched.map_err(unreachable)?;
        if fetched.status == 200 {
            return Ok(fetched.body);
        }
        let message = String::from_utf8_lossy(&fetched.body);
        let message: String = message.chars().take(MESSAGE_MAX).collect();
        let kind =
            if is_passing(fetched.status, &message) { Kind::Unavailable } else { Kind::Internal };
        Err(Error::new(kind, AWAY).because(message))
    }
}

impl Shard for HttpShard {
    fn prepare(&self) -> Result<()> {
        let statement = format!("CREATE DATABASE IF NOT EXISTS {}", self.database);
        self.carry_out(self.request(&statement, &[], "")).map(drop)
    }

    fn send(&self, statement: &str, body: &[u8]) -> Result<Vec<u8>> {
        self.carry_out(self.request(statement, body, &self.database))
    }
}

/// A thread for the network of its own, since who asks may be on any thread, and may ask before the
/// server runs.
fn runtime() -> Result<&'static Runtime> {
    static RUNTIME: OnceLock<Runtime> = OnceLock::new();
    if let Some(runtime) = RUNTIME.get() {
        return Ok(runtime);
    }
    let mut builder = Builder::new_multi_thread();
    let made = builder.worker_threads(1).thread_name("clickhouse").enable_all().build();
    let made = made.map_err(|error| Error::internal("cannot start a thread").because(error))?;
    // Of two that are made at once, one is used.
    Ok(RUNTIME.get_or_init(|| made))
}

const AWAY: &str = "a ClickHouse server does not answer";

fn unreachable(error: FetchError) -> Error {
    Error::unavailable(AWAY).because(error)
}

/// Whether it may help to ask again.
fn is_passing(status: u16, message: &str) -> bool {
    let code = message.strip_prefix("Code: ").and_then(|rest| {
        let end = rest.find(|letter: char| !letter.is_ascii_digit())?;
        rest.get(..end)?.parse::<u32>().ok()
    });
    match code {
        Some(code) => PASSING.contains(&code),
        // Something in front of the server answers in its place.
        None => status >= 500,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_some_errors_pass() {
        assert!(is_passing(500, "Code: 241. DB::Exception: Memory limit exceeded"));
        assert!(is_passing(502, "<html>Bad gateway"));
        assert!(!is_passing(400, "Code: 62, e.displayText() = DB::Exception: Syntax error"));
    }
}
