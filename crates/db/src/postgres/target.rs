//! Where the database is: the hosts of the URL, of which the one that takes changes is looked for.
//!
//! **A host that is read-only or in recovery is never used** in its place, so that a standby which
//! was named by mistake, or a primary that became a standby, cannot answer with what is out of
//! date. When the hosts are away, whoever needs a connection waits a moment for them; when they
//! stay away, it is told at once, and one thread at a time looks for them.

use std::collections::HashMap;
use std::error::Error as StdError;
use std::io;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use rustls::ClientConfig;
use rustls_platform_verifier::ConfigVerifierExt as _;
use tokio_postgres::config::{Host, SslMode, TargetSessionAttrs};
use tokio_postgres::error::SqlState;
use tokio_postgres::{Config, NoTls};
use tokio_postgres_rustls::MakeRustlsConnect;
use types::{Error, Result};

use super::connection::{Cancel, PgConn};
use super::session::{Session, runtime};
use super::turns::Turns;
use crate::Conn as _;
use crate::changes::{Changes, Written};
use crate::news::News;

/// To connect to one host.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(2);
/// For a server that accepted the connection to let us in and take the first words. A busy one
/// checks passwords slowly.
const GREETING_MAX: Duration = Duration::from_secs(5);
/// What was sent and not confirmed for so long was sent to nobody.
const SILENCE_MAX: Duration = Duration::from_secs(5);
/// An idle connection is looked at this often.
const KEEPALIVE_IDLE: Duration = Duration::from_secs(2);
const KEEPALIVE_INTERVAL: Duration = Duration::from_secs(1);
const KEEPALIVE_RETRIES: u32 = 3;
/// How long whoever needs a connection waits when the hosts went away. A restart takes less.
const PATIENCE: Duration = Duration::from_secs(3);
/// The same before there was any connection, where the URL names several hosts: one of them may
/// just be taking over.
const PATIENCE_AT_START: Duration = Duration::from_secs(10);
/// How often hosts that are away are looked for.
const LOOK_EVERY: Duration = Duration::from_millis(200);
/// A node that is cut off in the midst of a change must not keep its locks. For reads it does no
/// harm, and the reader of a backup may be slow.
const WRITER_IDLE_MAX: &str = "; SET idle_in_transaction_session_timeout TO '30s'";

/// Where the database is.
#[derive(Clone)]
pub(crate) struct Target {
    /// One for each host.
    hosts: Arc<[Config]>,
    pub(super) schema: String,
    pub(super) changes: Arc<Changes>,
    pub(super) news: Arc<News>,
    way: Arc<Way>,
    pub(super) turns: Arc<Turns>,
}

/// What all threads know of the way to the database.
#[derive(Default)]
struct Way {
    /// The host that was found last.
    host: AtomicUsize,
    was_found: AtomicBool,
    outage: Mutex<Option<Outage>>,
}

#[derive(Clone, Copy)]
struct Outage {
    since: Instant,
    looked: Instant,
}

/// What a connection is for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    Reading,
    Writing,
}

impl Target {
    /// The hosts of the URL that take changes.
    pub(crate) fn parse(
        url: &str,
        schema: &str,
        changes: &Arc<Changes>,
        news: &Arc<News>,
    ) -> Result<Self> {
        Self::with(TargetSessionAttrs::ReadWrite, url, schema, (changes, news))
    }

    /// Hosts that follow those of this target, and are only read.
    pub(crate) fn replicas(&self, url: &str) -> Result<Self> {
        let heard = (&self.changes, &self.news);
        Self::with(TargetSessionAttrs::ReadOnly, url, &self.schema, heard)
    }

    fn with(
        attributes: TargetSessionAttrs,
        url: &str,
        schema: &str,
        (changes, news): (&Arc<Changes>, &Arc<News>),
    ) -> Result<Self> {
        let config: Config = url.parse().map_err(|error: tokio_postgres::Error| {
            Error::invalid("the database URL cannot be read; use postgres://user@host/name")
                .because(error)
        })?;
        Ok(Self {
            hosts: each_host(&config, attributes)?.into(),
            schema: schema.to_owned(),
            changes: Arc::clone(changes),
            news: Arc::clone(news),
            way: Arc::default(),
            turns: Arc::default(),
        })
    }

    /// Deletes the schema with everything in it.
    pub(crate) fn delete(&self) -> Result<()> {
        let delete = format!("DROP SCHEMA IF EXISTS {} CASCADE", self.schema);
        self.connect(Purpose::Writing)?.script(&delete)
    }

    /// A new connection to the host that takes changes. Waits for it for a moment.
    pub(super) fn connect(&self, purpose: Purpose) -> Result<PgConn> {
        loop {
            if self.is_looked_for() {
                return Err(Error::unavailable("cannot connect to the PostgreSQL database"));
            }
            match self.connect_to_any(purpose) {
                Ok(conn) => {
                    self.way.was_found.store(true, Ordering::Relaxed);
                    *self.outage() = None;
                    return Ok(conn);
                }
                Err(error) if self.is_lost_for_long() => return Err(error),
                Err(_) => thread::sleep(LOOK_EVERY),
            }
        }
    }

    fn outage(&self) -> std::sync::MutexGuard<'_, Option<Outage>> {
        self.way.outage.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn patience(&self) -> Duration {
        match self.way.was_found.load(Ordering::Relaxed) {
            true => PATIENCE,
            false if self.hosts.len() > 1 => PATIENCE_AT_START,
            false => Duration::ZERO,
        }
    }

    /// Whether the hosts have been away for long, and somebody looked just now. Otherwise the
    /// caller looks.
    fn is_looked_for(&self) -> bool {
        let patience = self.patience();
        match &mut *self.outage() {
            Some(outage) if outage.since.elapsed() > patience => {
                if outage.looked.elapsed() < LOOK_EVERY {
                    return true;
                }
                outage.looked = Instant::now();
                false
            }
            _ => false,
        }
    }

    /// Notes that no host was found, and says whether that is no news.
    fn is_lost_for_long(&self) -> bool {
        let (patience, now) = (self.patience(), Instant::now());
        let outage = *self.outage().get_or_insert(Outage { since: now, looked: now });
        outage.since.elapsed() >= patience
    }

    fn connect_to_any(&self, purpose: Purpose) -> Result<PgConn> {
        self.connect_from(self.way.host.load(Ordering::Relaxed), purpose)
    }

    /// A connection to the first host that can be had, beginning with the one of this number.
    pub(super) fn connect_from(&self, first: usize, purpose: Purpose) -> Result<PgConn> {
        let mut failure = None;
        let hosts = self.hosts.iter().enumerate();
        for (place, host) in hosts.cycle().skip(first % self.hosts.len()).take(self.hosts.len()) {
            match self.connect_to(host, purpose) {
                Ok(conn) => {
                    self.way.host.store(place, Ordering::Relaxed);
                    return Ok(conn);
                }
                Err(error) if failure.as_ref().is_none_or(|(_, rank)| error.1 > *rank) => {
                    failure = Some(error);
                }
                Err(_) => {}
            }
        }
        let (error, _) = failure.unwrap_or_else(|| (Error::internal("no host"), Telling::Little));
        Err(error)
    }

    fn connect_to(&self, host: &Config, purpose: Purpose) -> Result<PgConn, (Error, Telling)> {
        let little = |error| (error, Telling::Little);
        let runtime = runtime().map_err(|error| {
            little(Error::unavailable("cannot start what waits for the database").because(error))
        })?;
        let tls = tls(host).map_err(little)?.map(MakeRustlsConnect::new);
        let further = if purpose == Purpose::Writing { WRITER_IDLE_MAX } else { "" };
        let schema = &self.schema;
        let first = format!("SET search_path TO {schema}; SET statement_timeout TO '30s'{further}");
        let first = (&*first, GREETING_MAX);
        let connected = match tls.clone() {
            Some(tls) => Session::connect(runtime, host, tls, first),
            None => Session::connect(runtime, host, NoTls, first),
        };
        let silent = || little(Error::unavailable("the PostgreSQL server accepts and then hangs"));
        let refused = |error| not_connected(error, host.get_target_session_attrs());
        let session = connected.map_err(refused)?.ok_or_else(silent)?;
        let token = session.cancel_token();
        Ok(PgConn {
            cancel: Arc::new(Cancel { token, tls, sent: Mutex::default() }),
            session,
            first: None,
            prepared: HashMap::new(),
            written: Written::new(&self.changes),
            failed: false,
            lost: false,
            lost_race: false,
        })
    }

    /// Fails if connections are not sessions of the server, but lent by a pooler for a transaction
    /// at a time: a statement that was prepared, the schema that was chosen and what is listened
    /// to would then belong to somebody else. Two open sessions never have the same process.
    pub(super) fn check_sessions(&self) -> Result<()> {
        let (mut one, mut other) =
            (self.connect(Purpose::Reading)?, self.connect(Purpose::Reading)?);
        Self::check_sessions_of(&mut one, &mut other)
    }

    /// The same for two connections to one server.
    pub(super) fn check_sessions_of(one: &mut PgConn, other: &mut PgConn) -> Result<()> {
        for _ in 0..LOOKS_FOR_POOLER {
            if one.process()? == other.process()? {
                return Err(Error::invalid(
                    "the database URL leads to a pooler in transaction mode, in which sessions do \
                     not last; connect to PostgreSQL itself, or use pool_mode = session",
                ));
            }
        }
        Ok(())
    }
}

/// A pooler that is busy may lend another connection by chance.
const LOOKS_FOR_POOLER: usize = 3;

/// Which of several hosts' errors to tell.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Telling {
    Little,
    NotReady,
    ReadOnly,
}

fn not_connected(error: tokio_postgres::Error, wanted: TargetSessionAttrs) -> (Error, Telling) {
    let is_other = error
        .source()
        .and_then(|source| source.downcast_ref::<io::Error>())
        // The system's own have a number.
        .is_some_and(|source| {
            source.kind() == io::ErrorKind::PermissionDenied && source.raw_os_error().is_none()
        });
    let (sentence, telling) = match error.code() {
        _ if is_other && wanted == TargetSessionAttrs::ReadOnly => {
            ("the PostgreSQL server takes changes: it is no standby", Telling::ReadOnly)
        }
        _ if is_other => (
            "the PostgreSQL server takes no changes: it is a standby, or read-only; promote it, or \
             name the primary in the database URL",
            Telling::ReadOnly,
        ),
        Some(code) if *code == SqlState::CANNOT_CONNECT_NOW => (
            "the PostgreSQL server is starting, stopping or in recovery; it takes no connections \
             yet",
            Telling::NotReady,
        ),
        Some(code) if *code == SqlState::TOO_MANY_CONNECTIONS => (
            "the PostgreSQL server has no connection left; raise its max_connections, or lower \
             database.connections",
            Telling::NotReady,
        ),
        _ => ("cannot connect to the PostgreSQL database", Telling::Little),
    };
    (Error::unavailable(sentence).because(error), telling)
}

/// The configuration for each host of a URL, by which only that host is tried.
fn each_host(config: &Config, attributes: TargetSessionAttrs) -> Result<Vec<Config>> {
    let (names, addresses, ports) =
        (config.get_hosts(), config.get_hostaddrs(), config.get_ports());
    let count = names.len().max(addresses.len());
    let is_even = |length: usize| length <= 1 || length == count;
    if count == 0 || !is_even(names.len()) || !is_even(addresses.len()) || !is_even(ports.len()) {
        return Err(Error::invalid(
            "the database URL must name a host, and one port for all hosts or one for each",
        ));
    }
    let host = |place: usize| {
        let mut one = common(config, attributes);
        match names.get(place) {
            Some(Host::Tcp(name)) => drop(one.host(name)),
            Some(Host::Unix(path)) => drop(one.host_path(path)),
            None => {}
        }
        if let Some(address) = addresses.get(place) {
            one.hostaddr(*address);
        }
        if let Some(port) = ports.get(place).or_else(|| ports.first()) {
            one.port(*port);
        }
        one
    };
    Ok((0..count).map(host).collect())
}

/// What the URL says of all hosts, and how all connections are watched.
fn common(config: &Config, attributes: TargetSessionAttrs) -> Config {
    let mut one = Config::new();
    if let Some(user) = config.get_user() {
        one.user(user);
    }
    if let Some(password) = config.get_password() {
        one.password(password);
    }
    if let Some(name) = config.get_dbname() {
        one.dbname(name);
    }
    if let Some(options) = config.get_options() {
        one.options(options);
    }
    one.ssl_mode(config.get_ssl_mode());
    one.ssl_negotiation(config.get_ssl_negotiation());
    one.channel_binding(config.get_channel_binding());
    one.application_name("boardwalk");
    one.target_session_attrs(attributes);
    one.connect_timeout(CONNECT_TIMEOUT);
    // A connection that has gone silent shall not hold its thread for hours.
    one.tcp_user_timeout(SILENCE_MAX);
    one.keepalives_idle(KEEPALIVE_IDLE);
    one.keepalives_interval(KEEPALIVE_INTERVAL);
    one.keepalives_retries(KEEPALIVE_RETRIES);
    one
}

/// How to speak TLS, unless the URL forbids it. A machine without certificates can still reach a
/// database that does not insist on TLS.
fn tls(config: &Config) -> Result<Option<ClientConfig>> {
    let mode = config.get_ssl_mode();
    if mode == SslMode::Disable {
        return Ok(None);
    }
    match ClientConfig::with_platform_verifier() {
        Ok(tls) => Ok(Some(tls)),
        Err(_) if mode == SslMode::Prefer => Ok(None),
        Err(error) => {
            let message = "cannot read the system's TLS certificates";
            Err(Error::invalid(message).because(error))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hosts(url: &str) -> Vec<String> {
        let shown = |config: &Config| {
            let [Host::Tcp(host)] = config.get_hosts() else { panic!("{url}") };
            format!("{host} {:?}", config.get_ports())
        };
        each_host(&url.parse().unwrap(), TargetSessionAttrs::ReadWrite)
            .unwrap()
            .iter()
            .map(shown)
            .collect()
    }

    #[test]
    fn each_host_has_its_port() {
        assert_eq!(hosts("postgres://me@a:1,b:2/x"), ["a [1]", "b [2]"]);
        assert_eq!(hosts("postgres://a,b/x?target_session_attrs=any"), ["a [5432]", "b [5432]"]);
        assert_eq!(hosts("postgres://a"), ["a [5432]"]);
        assert!(each_host(&Config::new(), TargetSessionAttrs::ReadWrite).is_err());
    }

    #[test]
    fn what_a_url_says_of_all_hosts_is_said_of_each() {
        let url = "postgres://me:secret@a,b/x?sslmode=require&options=-c%20work_mem%3D1MB";
        for config in each_host(&url.parse().unwrap(), TargetSessionAttrs::ReadWrite).unwrap() {
            assert_eq!(config.get_user(), Some("me"));
            assert_eq!(config.get_password(), Some(&b"secret"[..]));
            assert_eq!(config.get_dbname(), Some("x"));
            assert_eq!(config.get_options(), Some("-c work_mem=1MB"));
            assert_eq!(config.get_ssl_mode(), SslMode::Require);
            assert_eq!(config.get_target_session_attrs(), TargetSessionAttrs::ReadWrite);
        }
    }
}
