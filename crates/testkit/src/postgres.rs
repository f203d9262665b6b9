//! A `PostgreSQL` cluster of the test's own, made from the installed server programs.
//!
//! [`shared`] is what most tests want: one cluster per test process and a new database per test.
//! A test about durability or about a database that goes away starts its own [`Cluster`].
//!
//! **A cluster lives in a temporary folder and never outlives the process that started it**, not
//! even when that process is killed: a watchdog process sees to it. A cluster may have a standby.

mod account;
mod programs;
mod standby;

use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::chown;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use anyhow::{Context as _, Result, bail};

use account::Account;
use programs::Programs;

use crate::free_port;
use crate::watchdog::Watchdog;

/// The superuser of every cluster; connections need no password.
const SUPERUSER: &str = "postgres";
const CONNECTIONS_MAX: u32 = 200;
const START_TIMEOUT_S: u32 = 60;
/// Another process may take the free port before the server binds it; then another one is tried.
const START_ATTEMPTS_MAX: u32 = 5;

/// A running `PostgreSQL` server with a data folder of its own, stopped and removed on drop.
#[derive(Debug)]
pub struct Cluster {
    programs: Programs,
    account: Account,
    folder: PathBuf,
    port: u16,
    databases: AtomicU32,
    _watchdog: Watchdog,
}

/// The cluster that all tests of this process share: not durable, stopped when the process ends.
pub fn shared() -> &'static Cluster {
    static SHARED: OnceLock<Cluster> = OnceLock::new();
    SHARED.get_or_init(|| match Cluster::fast() {
        Ok(cluster) => cluster,
        #[expect(clippy::panic, reason = "a test cannot run without its database")]
        Err(error) => panic!("cannot start PostgreSQL for the tests: {error:#}"),
    })
}

impl Cluster {
    /// Starts a cluster that is as durable as `PostgreSQL` is by default.
    pub fn start() -> Result<Self> {
        Self::start_with("")
    }

    /// Starts a cluster that does not wait for the disk: for all tests but those about durability.
    pub fn fast() -> Result<Self> {
        Self::start_with("fsync = off\nsynchronous_commit = off\nfull_page_writes = off\n")
    }

    fn start_with(settings: &str) -> Result<Self> {
        let programs = Programs::find()?;
        let account = Account::choose()?;
        let folder = account.folder()?;
        let data = folder.join("data");
        let stop = stop_command(&programs, &account, &folder);
        // From here on the watchdog owns the folder, so every early return cleans up.
        let watchdog = Watchdog::start(&folder, &stop)?;
        let mut initdb = account.command(&programs.path("initdb"), &folder);
        initdb.args(["--no-sync", "--auth=trust", "--encoding=UTF8", "--locale=C"]);
        initdb.arg(format!("--username={SUPERUSER}")).arg("--pgdata").arg(&data);
        succeed(initdb).context(
            "cannot create a PostgreSQL cluster; \
             TMPDIR must name a folder that other users may enter",
        )?;
        let databases = AtomicU32::new(0);
        let mut cluster =
            Self { programs, account, folder, port: 0, databases, _watchdog: watchdog };
        let common = fs::read_to_string(data.join("postgresql.conf"))?;
        for attempt in 1.. {
            cluster.port = free_port()?;
            cluster.configure(&common, settings)?;
            match cluster.resume() {
                Ok(()) => break,
                Err(error) if attempt == START_ATTEMPTS_MAX => return Err(error),
                Err(_) => {}
            }
        }
        Ok(cluster)
    }

    /// The port on 127.0.0.1 where the server listens.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// The address of a database over TCP, as `postgres://…`; the database need not exist.
    pub fn url(&self, database: &str) -> String {
        format!("postgres://{SUPERUSER}@127.0.0.1:{}/{database}", self.port)
    }

    /// The address of the same database over a Unix socket.
    pub fn socket_url(&self, database: &str) -> String {
        let folder = self.folder.display().to_string().replace('/', "%2F");
        format!("postgres://{SUPERUSER}@{folder}:{}/{database}", self.port)
    }

    /// Creates an empty database with a new name and returns its URL.
    pub fn create_database(&self) -> Result<String> {
        // Nobody can be connected to template0, so tests that create databases never collide.
        self.create_from("template0")
    }

    /// Creates a copy of a database that nobody is connected to, and returns its URL.
    pub fn copy_database(&self, url: &str) -> Result<String> {
        self.create_from(url.rsplit('/').next().unwrap_or_default())
    }

    fn create_from(&self, template: &str) -> Result<String> {
        let number = self.databases.fetch_add(1, Ordering::Relaxed);
        let name = format!("test_{number}");
        let mut createdb = self.client("createdb");
        createdb.args(["--maintenance-db=postgres", "--template", template, &name]);
        succeed(createdb).context("cannot create a database")?;
        Ok(self.url(&name))
    }

    /// Runs SQL in a database and returns what it printed: a line per row, fields split by `|`.
    pub fn psql(&self, database: &str, sql: &str) -> Result<String> {
        let mut psql = self.client("psql");
        psql.args(["--no-psqlrc", "--quiet", "--tuples-only", "--no-align"]);
        psql.args(["--set=ON_ERROR_STOP=1", "--dbname", database, "--command", sql]);
        succeed(psql)
    }

    /// Stops the server at once, as a crash of its machine would; [`Cluster::resume`] recovers it.
    pub fn crash(&self) -> Result<()> {
        succeed(stop_command(&self.programs, &self.account, &self.folder)).map(drop)
    }

    /// Starts the stopped server again on the same port and waits until it answers.
    pub fn resume(&self) -> Result<()> {
        let log = self.folder.join("server.log");
        let mut start = self.account.command(&self.programs.path("pg_ctl"), &self.folder);
        start.args(["start", "--wait", "--silent"]);
        start.arg(format!("--timeout={START_TIMEOUT_S}"));
        start.arg("--pgdata").arg(self.folder.join("data")).arg("--log").arg(&log);
        succeed(start).with_context(|| {
            let said = fs::read_to_string(&log).unwrap_or_default();
            format!("cannot start PostgreSQL; its log:\n{said}")
        })?;
        Ok(())
    }

    fn configure(&self, common: &str, settings: &str) -> Result<()> {
        let mut text = String::from(common);
        writeln!(text, "listen_addresses = '127.0.0.1'")?;
        writeln!(text, "port = {}", self.port)?;
        writeln!(text, "unix_socket_directories = '{}'", self.folder.display())?;
        writeln!(text, "max_connections = {CONNECTIONS_MAX}")?;
        // Many databases share it, and what an import reads beside others is much.
        writeln!(text, "max_pred_locks_per_transaction = 256")?;
        text.push_str(settings);
        fs::write(self.folder.join("data/postgresql.conf"), text)
            .context("cannot write postgresql.conf")
    }

    fn client(&self, program: &str) -> Command {
        let mut command = Command::new(self.programs.path(program));
        command.args(["--host=127.0.0.1", "--no-password"]);
        command.arg(format!("--port={}", self.port)).arg(format!("--username={SUPERUSER}"));
        command
    }
}

/// A folder of an account that `PostgreSQL` agrees to run as, removed with this value.
#[derive(Debug)]
pub struct Workplace {
    account: Account,
    folder: PathBuf,
}

impl Workplace {
    pub fn new() -> Result<Self> {
        let account = Account::choose()?;
        let folder = account.folder()?;
        Ok(Self { account, folder })
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// A command that will run there, as that account.
    pub fn command(&self, program: &str) -> Command {
        let mut command = self.account.command(Path::new(program), &self.folder);
        command.env("HOME", &self.folder);
        command
    }
}

impl Drop for Workplace {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}

impl Account {
    /// A new folder that this account owns. The caller arranges for its removal.
    fn folder(&self) -> Result<PathBuf> {
        let folder = tempfile::Builder::new().prefix("boardwalk-pg-").tempdir()?;
        if let Self::Other { uid, gid } = *self {
            chown(folder.path(), Some(uid), Some(gid)).context("cannot hand over the folder")?;
        }
        Ok(folder.keep())
    }
}

fn stop_command(programs: &Programs, account: &Account, folder: &Path) -> Command {
    let mut stop = account.command(&programs.path("pg_ctl"), folder);
    stop.args(["stop", "--wait", "--silent", "--mode=immediate", "--pgdata"]);
    stop.arg(folder.join("data"));
    stop
}

/// Runs a command to its end and returns what it printed; its complaints become the error.
fn succeed(mut command: Command) -> Result<String> {
    let output = command.output().with_context(|| format!("cannot run {command:?}"))?;
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    if !output.status.success() {
        let complaint = String::from_utf8_lossy(&output.stderr);
        bail!("{command:?} failed: {printed}{complaint}");
    }
    Ok(printed)
}

#[cfg(test)]
mod tests {
    use std::net::{Ipv4Addr, TcpStream};

    use super::*;

    #[test]
    fn databases_of_the_shared_cluster_are_separate() {
        let cluster = shared();
        let first = cluster.create_database().unwrap();
        let second = cluster.create_database().unwrap();
        assert_ne!(first, second);
        cluster.psql(&first, "create table t (n int)").unwrap();
        cluster.psql(&first, "insert into t values (7)").unwrap();
        assert_eq!(cluster.psql(&first, "select n, n + 1 from t").unwrap(), "7|8\n");
        let missing = cluster.psql(&second, "select n from t").unwrap_err();
        assert!(missing.to_string().contains("does not exist"), "{missing}");
        assert_eq!(cluster.psql(&first, "show fsync").unwrap(), "off\n");
    }

    #[test]
    fn a_durable_cluster_survives_a_crash_and_leaves_nothing_behind() {
        let cluster = Cluster::start().unwrap();
        let url = cluster.socket_url("postgres");
        assert_eq!(cluster.psql(&url, "show fsync").unwrap(), "on\n");
        cluster.psql(&url, "create table t as select 1").unwrap();
        cluster.crash().unwrap();
        cluster.psql(&url, "select 1").unwrap_err();
        cluster.resume().unwrap();
        assert_eq!(cluster.psql(&url, "select * from t").unwrap(), "1\n");
        let (folder, port) = (cluster.folder.clone(), cluster.port());
        drop(cluster);
        assert!(!folder.exists());
        TcpStream::connect((Ipv4Addr::LOCALHOST, port)).unwrap_err();
    }
}
