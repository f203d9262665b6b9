//! A shard behind its HTTP interface, asked by the way to other hosts that the site has.
//!
//! The thread that asks waits: reports are made where waiting is allowed, and so are facts.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use contract::rest::form::percent_decode;
use frame::outbound::{Fetch, FetchError, Fetched, Method, Outbound, Overlong};
use tokio::runtime::{Builder, Runtime};
use types::{Error, Kind, Result, Secret};
use url::Url;

use super::cluster::Shard;

/// How long an answer may take.
const PATIENCE: Duration = Duration::from_secs(30);
/// The server gives up before that, and says so: a statement that takes long is no server that is
/// away.
const STATEMENT_SECONDS_MAX: &str = "25";
/// After which a server that did not answer is asked whether it is there, and how long that may
/// take. **Nobody waits for it meanwhile**, so that one that hangs does not take the threads of all
/// who ask.
const LEFT_ALONE: Duration = Duration::from_secs(2);
/// Bytes of an answer: some million groups.
const ANSWER_BYTES_MAX: usize = 256 << 20;
/// Bytes of a statement, in which many ids may be named.
const STATEMENT_BYTES_MAX: usize = 64 << 20;
/// Letters of what a server says about an error.
const MESSAGE_MAX: usize = 500;

/// Errors of the server that may pass: tables that were replaced meanwhile, a database that is made
/// anew, timeouts, too many queries, not enough memory, a lost network, too many parts, shutting
/// down.
const PASSING: [u32; 11] = [60, 81, 159, 202, 209, 210, 218, 241, 242, 252, 394];

#[derive(Debug)]
pub struct HttpShard {
    outbound: Arc<dyn Outbound>,
    /// Without a name and a password.
    url: Url,
    user: String,
    password: Secret<String>,
    database: String,
    /// Until when nobody asks it.
    left_alone_until: Mutex<Option<Instant>>,
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
        let user = if url.username().is_empty() { "default" } else { url.username() };
        let user = decoded(user);
        let password = Secret::new(decoded(url.password().unwrap_or_default()));
        // Neither fails for an address with a host.
        let _ = (url.set_username(""), url.set_password(None));
        let (database, left_alone_until) = (database.to_owned(), Mutex::default());
        Ok(Self { outbound, url, user, password, database, left_alone_until })
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
            settings.append_pair("max_execution_time", STATEMENT_SECONDS_MAX);
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
        if self.is_first_after_pause()? {
            let probe = self.request("SELECT 1", &[], "");
            self.fetch(Fetch { timeout: LEFT_ALONE, ..probe })?;
        }
        let fetched = self.fetch(request)?;
        if fetched.status == 200 {
            return Ok(fetched.body);
        }
        let message = String::from_utf8_lossy(&fetched.body);
        let message: String = message.chars().take(MESSAGE_MAX).collect();
        let kind =
            if is_passing(fetched.status, &message) { Kind::Unavailable } else { Kind::Internal };
        Err(Error::new(kind, AWAY).because(message))
    }

    fn fetch(&self, request: Fetch) -> Result<Fetched> {
        let fetched = runtime()?.block_on(self.outbound.fetch_for_operator(request));
        let is_there = fetched.is_ok() || matches!(fetched, Err(FetchError::TooLarge));
        self.leave_alone_until((!is_there).then(|| Instant::now() + LEFT_ALONE));
        fetched.map_err(failed)
    }

    /// Fails if the server is left alone. After that time one looks whether it is there, and the
    /// others go on once it has answered.
    fn is_first_after_pause(&self) -> Result<bool> {
        let mut until = self.left_alone_until.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        match *until {
            Some(until) if now < until => {
                Err(Error::unavailable(AWAY).because("it did not answer a moment ago"))
            }
            Some(_) => {
                *until = Some(now + LEFT_ALONE * 2);
                Ok(true)
            }
            None => Ok(false),
        }
    }

    fn leave_alone_until(&self, until: Option<Instant>) {
        *self.left_alone_until.lock().unwrap_or_else(PoisonError::into_inner) = until;
    }
}

/// A name or password as it was before it was put into the URL.
fn decoded(text: &str) -> String {
    percent_decode(&text.replace('+', "%2B"))
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

fn failed(error: FetchError) -> Error {
    match error {
        FetchError::TooLarge => {
            let told = "the answer of a ClickHouse server is too large; ask for a shorter time";
            Error::invalid(told).because(error)
        }
        _ => Error::unavailable(AWAY).because(error),
    }
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
    use std::sync::atomic::{AtomicUsize, Ordering};

    use frame::outbound::Fetching;

    use super::*;

    #[test]
    fn only_some_errors_pass() {
        assert!(is_passing(500, "Code: 241. DB::Exception: Memory limit exceeded"));
        assert!(is_passing(502, "<html>Bad gateway"));
        assert!(!is_passing(400, "Code: 62, e.displayText() = DB::Exception: Syntax error"));
    }

    #[derive(Debug, Default)]
    struct Hanging(AtomicUsize);

    impl Outbound for Hanging {
        fn fetch(&self, _: Fetch) -> Fetching<'_> {
            self.0.fetch_add(1, Ordering::Relaxed);
            Box::pin(async { Err(FetchError::TimedOut) })
        }
    }

    #[test]
    fn a_server_that_did_not_answer_is_left_alone() {
        let network = Arc::new(Hanging::default());
        let outbound: Arc<dyn Outbound> = Arc::<Hanging>::clone(&network);
        let shard = HttpShard::new(outbound, "http://a:8123", "boardwalk").unwrap();
        for _ in 0..3 {
            assert_eq!(shard.send("SELECT 1", &[]).unwrap_err().kind(), Kind::Unavailable);
        }
        assert_eq!(network.0.load(Ordering::Relaxed), 1);
        shard.leave_alone_until(Some(Instant::now()));
        assert!(shard.is_first_after_pause().unwrap());
        assert!(shard.is_first_after_pause().is_err(), "the others do not wait for it");
        shard.leave_alone_until(None);
        assert!(!shard.is_first_after_pause().unwrap());
    }

    #[test]
    fn a_password_may_hold_any_letter() {
        let network = Arc::new(Hanging::default());
        let shard = HttpShard::new(network, "http://a%40b:p%2f%3a+@c:8123", "boardwalk").unwrap();
        assert_eq!((shard.user.as_str(), shard.password.expose().as_str()), ("a@b", "p/:+"));
        assert_eq!(shard.url.as_str(), "http://c:8123/");
    }
}
