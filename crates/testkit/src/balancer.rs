//! `HAProxy` in front of servers, from the installed program, as docs/scaling.md has it; it looks
//! more often, and says in each answer which server gave it.

use std::fmt::Write as _;
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

/// Names the server that gave an answer.
pub const SERVER_HEADER: &str = "x-server";

/// A balancer that ends with this value.
#[derive(Debug)]
pub struct Balancer {
    child: Child,
    port: u16,
    _folder: TempDir,
}

impl Balancer {
    /// Starts a balancer in front of the servers on these ports, one after the other in turn.
    pub fn start(servers: &[u16]) -> Result<Self> {
        let program = FOLDERS
            .iter()
            .map(|folder| PathBuf::from(folder).join("haproxy"))
            .find(|path| path.is_file())
            .context("HAProxy is missing; install the package `haproxy`")?;
        let (folder, port) = (crate::temp_dir()?, crate::free_port()?);
        let config = folder.path().join("haproxy.cfg");
        fs::write(&config, configuration(port, servers)?)?;
        let mut command = Command::new(program);
        // In the foreground, so that it ends when it is told to.
        command.args(["-db", "-f"]).arg(&config).stdout(Stdio::null()).stderr(Stdio::null());
        let child = command.spawn().context("cannot start HAProxy")?;
        let balancer = Self { child, port, _folder: folder };
        let started = Instant::now() + STARTS_WITHIN;
        while TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_err() {
            ensure!(Instant::now() < started, "HAProxy does not answer");
            thread::sleep(LOOK_EVERY);
        }
        Ok(balancer)
    }

    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }
}

fn configuration(port: u16, servers: &[u16]) -> Result<String> {
    let mut text = format!(
        "global\n    maxconn 2000\ndefaults\n    mode http\n    timeout connect 2s\n\
         \x20   timeout client 60s\n    timeout server 60s\n    timeout check 2s\n    retries 3\n\
         \x20   option redispatch 1\n    option forwardfor\n\
         frontend boardwalk\n    bind 127.0.0.1:{port}\n    default_backend nodes\n\
         backend nodes\n    balance roundrobin\n    retry-on conn-failure\n\
         \x20   option httpchk GET /readyz\n    http-response set-header {SERVER_HEADER} %s\n\
         \x20   default-server check inter 200ms fall 1 rise 1\n"
    );
    for (number, server) in (1..).zip(servers) {
        writeln!(text, "    server node{number} 127.0.0.1:{server}")?;
    }
    Ok(text)
}

impl Drop for Balancer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
