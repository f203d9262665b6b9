//! A standby of a cluster: a copy that follows it, and can take over.

use std::fs;
use std::process::Command;
use std::sync::atomic::AtomicU32;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};

use super::account::Account;
use super::programs::Programs;
use super::{Cluster, SUPERUSER, stop_command, succeed};
use crate::free_port;
use crate::watchdog::Watchdog;

const FOLLOWS_WITHIN: Duration = Duration::from_secs(30);
const LOOK_EVERY: Duration = Duration::from_millis(50);

impl Cluster {
    /// Makes a standby that this cluster waits for with every commit, on a port that is free or the
    /// one given.
    pub fn synchronous_standby(&self, port: Option<u16>) -> Result<Self> {
        let (programs, account) = (Programs::find()?, Account::choose()?);
        let folder = account.folder()?;
        let watchdog = Watchdog::start(&folder, &stop_command(&programs, &account, &folder))?;
        let mut copy = account.command(&programs.path("pg_basebackup"), &folder);
        copy.args(["--host=127.0.0.1", "--no-password", "--no-sync", "--checkpoint=fast"]);
        copy.args(["--wal-method=stream", "--write-recovery-conf"]);
        copy.arg(format!("--port={}", self.port)).arg(format!("--username={SUPERUSER}"));
        copy.arg("--pgdata").arg(folder.join("data"));
        succeed(copy).context("cannot copy the cluster")?;
        let databases = AtomicU32::new(0);
        let port = match port {
            Some(port) => port,
            None => free_port()?,
        };
        let standby = Self { programs, account, folder, port, databases, _watchdog: watchdog };
        let copied = fs::read_to_string(standby.folder.join("data/postgresql.conf"))?;
        // Later lines win over those that were copied.
        standby.configure(&copied, "")?;
        standby.resume()?;
        self.psql("postgres", "ALTER SYSTEM SET synchronous_standby_names = '*'")?;
        self.psql("postgres", "SELECT pg_reload_conf()")?;
        let followed = Instant::now() + FOLLOWS_WITHIN;
        let states = "SELECT sync_state FROM pg_stat_replication";
        while !self.psql("postgres", states)?.contains("sync\n") {
            ensure!(Instant::now() < followed, "the standby does not follow");
            thread::sleep(LOOK_EVERY);
        }
        Ok(standby)
    }

    /// Makes a standby the primary, and waits until it takes changes.
    pub fn promote(&self) -> Result<()> {
        let mut promote = self.account.command(&self.programs.path("pg_ctl"), &self.folder);
        promote.args(["promote", "--wait", "--silent", "--pgdata"]).arg(self.folder.join("data"));
        succeed(promote).map(drop)
    }

    /// Lets all processes of the server stand still, with their connections open.
    pub fn freeze(&self) -> Result<()> {
        self.signal("-STOP")
    }

    /// Lets a frozen server go on.
    pub fn thaw(&self) -> Result<()> {
        self.signal("-CONT")
    }

    fn signal(&self, signal: &str) -> Result<()> {
        let first = fs::read_to_string(self.folder.join("data/postmaster.pid"))?;
        let first = first.lines().next().context("the server runs")?.trim().to_owned();
        let children = fs::read_to_string(format!("/proc/{first}/task/{first}/children"))?;
        let mut kill = Command::new("kill");
        kill.args([signal, &first]).args(children.split_whitespace());
        // One that has just ended is as good as reached.
        kill.output().context("cannot run `kill`").map(drop)
    }

    /// Kills all processes of the server at once, without a word to anybody.
    pub fn kill(&self) -> Result<()> {
        self.signal("-KILL")?;
        let file = self.folder.join("data/postmaster.pid");
        // Whoever stops the cluster later shall not wait for a process that nobody has buried.
        fs::remove_file(&file).context("cannot remove the server's file")
    }
}
