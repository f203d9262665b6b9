//! The server that is measured: the released program with a database, an ISO and a key.
//!
//! Settings are the usual ones but for the rate limits, which are off. Both environments are
//! served, as without any flags, unless one asks for what production does not allow; the log has
//! its usual level and goes to a file.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::net::{Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use db::Location;
use serde_json::Value;
use testkit::process::{self, Server};
use testkit::{http, postgres::Cluster};
use types::Environment;

const SANDBOX: &str = "sandbox";
const PRODUCTION: &str = "production";
const START_ATTEMPTS_MAX: u32 = 3;
const STOP_TIME_MAX: Duration = Duration::from_secs(30);

/// A server that can be started, and a key for it.
#[derive(Debug)]
pub(crate) struct Subject {
    installation: Installation,
    key: String,
    /// Variables that the server is started with.
    variables: Vec<(&'static str, &'static str)>,
    environments: Vec<&'static str>,
}

impl Subject {
    /// Makes the data folder, an ISO and a key. On PostgreSQL the database must be there.
    pub(crate) fn create(program: &Path, data: &Path, database: Option<String>) -> Result<Self> {
        let (program, data) = (program.to_owned(), data.to_owned());
        let installation = Installation { program, data, database };
        let iso = installation.run(&["iso", "create", "--name", "Benchmark"])?;
        let iso_id = iso.get("isoId").and_then(Value::as_str).context("no id of the ISO")?;
        let key = installation.run(&["key", "create", "--iso", iso_id])?;
        let key = key.get("key").and_then(Value::as_str).context("no key")?.to_owned();
        let environments = vec![SANDBOX, PRODUCTION];
        Ok(Self { installation, key, variables: Vec::new(), environments })
    }

    /// Lets the server reach others on this machine, which it does in the sandbox alone.
    pub(crate) fn reaching_loopback(mut self) -> Self {
        self.environments = vec![SANDBOX];
        self.with("BOARDWALK_SERVER__OUTBOUND__EXEMPT", r#"["127.0.0.0/8"]"#)
    }

    /// Starts the server with this variable as well.
    pub(crate) fn with(mut self, name: &'static str, value: &'static str) -> Self {
        self.variables.push((name, value));
        self
    }

    /// Runs a command of the program on the server's data, and returns what it printed.
    pub(crate) fn run(&self, command: &[&str]) -> Result<Value> {
        self.installation.run(command)
    }

    /// Starts the server; also returns how long it took to be ready in all its environments.
    pub(crate) fn start(&self) -> Result<(Running, Duration)> {
        for _ in 1..START_ATTEMPTS_MAX {
            // Another program may take the free port before the server does.
            if let Ok(started) = self.try_start() {
                return Ok(started);
            }
        }
        self.try_start()
    }

    fn try_start(&self) -> Result<(Running, Duration)> {
        let admin_port = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?.port();
        let admin = format!("127.0.0.1:{admin_port}");
        let mut command = Command::new(&self.installation.program);
        command.args(self.installation.arguments());
        command.args(["serve", "--admin-listen", &admin, "--listen", "127.0.0.1:0"]);
        match *self.environments {
            [one] => command.args(["--environment", one]),
            _ => command.args(["--listen-production", "127.0.0.1:0"]),
        };
        command.env("BOARDWALK_SERVER__RATE_LIMITS__ENABLED", "false");
        command.envs(self.variables.iter().copied());
        let started = Instant::now();
        let server = Server::start_command(command, &self.environments)?;
        let taken = started.elapsed();
        Ok((Running { server, admin_url: format!("http://{admin}") }, taken))
    }

    /// The time from starting the program to its readiness.
    pub(crate) fn cold_start(&self) -> Result<Duration> {
        let (running, taken) = self.start()?;
        running.stop()?;
        Ok(taken)
    }

    pub(crate) fn key(&self) -> &str {
        &self.key
    }

    pub(crate) fn location(&self) -> Result<Location> {
        let Installation { database, data, .. } = &self.installation;
        Ok(Location::parse(database.as_deref(), data, Environment::Sandbox, 1)?)
    }
}

#[derive(Debug)]
struct Installation {
    program: PathBuf,
    data: PathBuf,
    database: Option<String>,
}

impl Installation {
    fn run(&self, command: &[&str]) -> Result<Value> {
        let mut arguments = self.arguments();
        arguments.push("--json".into());
        arguments.extend(command.iter().map(OsString::from));
        process::json(&self.program, &arguments)
    }

    fn arguments(&self) -> Vec<OsString> {
        let mut arguments: Vec<OsString> = vec!["--data".into(), self.data.clone().into()];
        if let Some(url) = &self.database {
            arguments.extend(["--database".into(), url.into()]);
        }
        arguments
    }
}

/// A server that has been started.
#[derive(Debug)]
pub(crate) struct Running {
    server: Server,
    admin_url: String,
}

impl Running {
    pub(crate) fn url(&self) -> &str {
        self.server.url(SANDBOX)
    }

    pub(crate) fn pid(&self) -> u32 {
        self.server.pid()
    }

    pub(crate) fn stop(self) -> Result<()> {
        let status = self.server.terminate(STOP_TIME_MAX)?;
        ensure!(status.success(), "the server exited with {status}");
        Ok(())
    }

    /// How many groups of which size the SQLite writer has committed so far.
    pub(crate) fn commit_groups(&self) -> Result<BTreeMap<usize, usize>> {
        const NAME: &str = "boardwalk_commit_group_size_total{environment=\"sandbox\",size=\"";
        let text = http::get(&self.admin_url, "/metrics", &[])?.text();
        let read = |line: &str| -> Option<(usize, usize)> {
            let (size, count) = line.strip_prefix(NAME)?.split_once("\"} ")?;
            Some((size.parse().ok()?, count.parse().ok()?))
        };
        Ok(text.lines().filter_map(read).collect())
    }
}

/// The process that all processes of a cluster are children of.
pub(crate) fn postmaster(cluster: &Cluster) -> Result<u32> {
    let url = cluster.url("postgres");
    let sql = "select pid from pg_stat_activity where backend_type = 'checkpointer'";
    let checkpointer: u32 = cluster.psql(&url, sql)?.trim().parse()?;
    crate::processes::parent_of(checkpointer)
}
