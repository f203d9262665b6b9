//! `PgBouncer` in front of a cluster, from the installed program.

use std::fs;
use std::net::{Ipv4Addr, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use tempfile::TempDir;

const STARTS_WITHIN: Duration = Duration::from_secs(10);
const LOOK_EVERY: Duration = Duration::from_millis(20);
/// Debian keeps it out of the search path of users.
const FOLDERS: [&str; 3] = ["/usr/sbin", "/usr/bin", "/usr/local/bin"];

/// A pooler that ends with this value.
#[derive(Debug)]
pub struct Pooler {
    child: Child,
    port: u16,
    _folder: TempDir,
}

impl Pooler {
    /// Starts a pooler of this mode in front of the server that listens on `server` here.
    pub fn start(mode: &str, server: u16) -> Result<Self> {
        let program = FOLDERS.iter().map(|folder| PathBuf::from(folder).join("pgbouncer"));
        let program = program
            .into_iter()
            .find(|path| path.is_file())
            .context("PgBouncer is missing; install the package `pgbouncer`")?;
        let folder = crate::temp_dir()?;
        let port = crate::free_port()?;
        let (users, config) = (folder.path().join("users"), folder.path().join("pgbouncer.ini"));
        fs::write(&users, "\"postgres\" \"\"\n")?;
        fs::write(
            &config,
            format!(
                "[databases]\n* = host=127.0.0.1 port={server}\n[pgbouncer]\n\
                 listen_addr = 127.0.0.1\nlisten_port = {port}\nunix_socket_dir =\n\
                 auth_type = trust\nauth_file = {}\npool_mode = {mode}\n",
                users.display()
            ),
        )?;
        let mut command = Command::new(program);
        command.arg(&config).stdout(Stdio::null()).stderr(Stdio::null());
        // It refuses to run as root, and reads its files before it becomes somebody else.
        if fs::metadata("/proc/self").is_ok_and(|own| is_root(&own)) {
            command.args(["--user", "nobody"]);
        }
        let child = command.spawn().context("cannot start PgBouncer")?;
        let pooler = Self { child, port, _folder: folder };
        let started = Instant::now() + STARTS_WITHIN;
        while TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_err() {
            ensure!(Instant::now() < started, "PgBouncer does not answer");
            thread::sleep(LOOK_EVERY);
        }
        Ok(pooler)
    }

    /// The address of a database through the pooler.
    pub fn url(&self, database: &str) -> String {
        format!("postgres://postgres@127.0.0.1:{}/{database}", self.port)
    }
}

fn is_root(own: &fs::Metadata) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    own.uid() == 0
}

impl Drop for Pooler {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
