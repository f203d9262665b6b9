//! `ClickHouse` servers of the test's own, made from the installed program: each a shard with a
//! folder and ports of its own, on this machine only.
//!
//! [`shared`] is what most tests want: two shards per test process, and a new database name per
//! test. A test about a shard that goes away starts its own [`Shards`]. **No server outlives the
//! process that started it**, not even when that process is killed: a watchdog sees to it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use tempfile::TempDir;

use crate::watchdog::Watchdog;
use crate::{free_port, http};

/// On a busy machine a server takes some seconds.
const STARTS_WITHIN: Duration = Duration::from_mins(1);
const LOOK_EVERY: Duration = Duration::from_millis(50);
/// Another process may take a free port before the server binds it; then others are tried.
const START_ATTEMPTS_MAX: u32 = 5;
/// Debian keeps it out of the search path of users; packages of others do not.
const FOLDERS: [&str; 3] = ["/usr/sbin", "/usr/bin", "/usr/local/bin"];

/// Ends every server whose process id is in the folder.
const STOP: &str =
    r#"for file in "$1"/*/pid; do test -f "$file" && kill -9 "$(cat "$file")"; done"#;

/// Some servers, stopped and removed on drop.
#[derive(Debug)]
pub struct Shards {
    servers: Vec<Server>,
    databases: AtomicU32,
    _watchdog: Watchdog,
}

/// One server.
#[derive(Debug)]
struct Server {
    program: PathBuf,
    folder: PathBuf,
    port: u16,
    child: Option<Child>,
}

/// The two shards that all tests of this process share.
pub fn shared() -> &'static Shards {
    static SHARED: OnceLock<Shards> = OnceLock::new();
    SHARED.get_or_init(|| match Shards::start(2) {
        Ok(shards) => shards,
        #[expect(clippy::panic, reason = "a test cannot run without its servers")]
        Err(error) => panic!("cannot start ClickHouse for the tests: {error:#}"),
    })
}

impl Shards {
    /// Starts so many servers.
    pub fn start(count: usize) -> Result<Self> {
        let programs = FOLDERS.iter().map(|folder| Path::new(folder).join("clickhouse-server"));
        let program = programs.into_iter().find(|path| path.is_file());
        let program =
            program.context("ClickHouse is missing; install the package `clickhouse-server`")?;
        // The watchdog owns the folder from here on.
        let folder = crate::temp_dir().map(TempDir::keep)?;
        let mut stop = Command::new("sh");
        stop.args(["-c", STOP, "stop"]).arg(&folder);
        let watchdog = Watchdog::start(&folder, &stop)?;
        let mut shards =
            Self { servers: Vec::new(), databases: AtomicU32::new(0), _watchdog: watchdog };
        for number in 0..count {
            let folder = folder.join(number.to_string());
            let program = program.clone();
            shards.servers.push(Server { program, folder, port: 0, child: None });
        }
        for server in &mut shards.servers {
            server.start()?;
        }
        Ok(shards)
    }

    /// The addresses of the servers.
    pub fn urls(&self) -> Vec<String> {
        self.servers.iter().map(Server::url).collect()
    }

    /// A name for a database that no other test has.
    pub fn database(&self) -> String {
        format!("test_{}", self.databases.fetch_add(1, Ordering::Relaxed))
    }

    /// Ends the server of this number at once. Its data stays.
    pub fn kill(&mut self, number: usize) {
        if let Some(server) = self.servers.get_mut(number) {
            server.kill();
        }
    }

    /// Starts the server of this number again, at the address that it had.
    pub fn resume(&mut self, number: usize) -> Result<()> {
        let server = self.servers.get_mut(number).context("there is no such shard")?;
        server.run()
    }
}

impl Server {
    fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    fn start(&mut self) -> Result<()> {
        for attempt in 1.. {
            self.port = free_port()?;
            self.configure()?;
            match self.run() {
                Ok(()) => break,
                Err(error) if attempt == START_ATTEMPTS_MAX => return Err(error),
                Err(_) => self.kill(),
            }
        }
        Ok(())
    }

    fn configure(&self) -> Result<()> {
        let folder = self.folder.display();
        for inner in ["data", "tmp"] {
            fs::create_dir_all(self.folder.join(inner))?;
        }
        let config = format!(
            "<yandex>\n\
             <logger><level>warning</level><log>{folder}/log</log>\
             <errorlog>{folder}/errors</errorlog></logger>\n\
             <listen_host>127.0.0.1</listen_host><http_port>{}</http_port>\n\
             <path>{folder}/data/</path><tmp_path>{folder}/tmp/</tmp_path>\n\
             <users_config>users.xml</users_config><default_profile>default</default_profile>\
             <default_database>default</default_database>\
             <mark_cache_size>8388608</mark_cache_size>\n</yandex>\n",
            self.port
        );
        fs::write(self.folder.join("config.xml"), config)?;
        fs::write(self.folder.join("users.xml"), USERS)?;
        Ok(())
    }

    /// Starts the process and waits until it answers.
    fn run(&mut self) -> Result<()> {
        let output = fs::File::create(self.folder.join("output"))?;
        let mut command = Command::new(&self.program);
        command.arg("--config-file=config.xml").current_dir(&self.folder);
        command.stdin(Stdio::null()).stdout(output.try_clone()?).stderr(output);
        let child = command.spawn().context("cannot start ClickHouse")?;
        fs::write(self.folder.join("pid"), child.id().to_string())?;
        let child = self.child.insert(child);
        let until = Instant::now() + STARTS_WITHIN;
        let url = format!("http://127.0.0.1:{}", self.port);
        while !answers(&url) {
            let ended = child.try_wait()?;
            ensure!(ended.is_none(), "ClickHouse has ended: {}", last_words(&self.folder));
            ensure!(Instant::now() < until, "ClickHouse does not answer");
            thread::sleep(LOOK_EVERY);
        }
        Ok(())
    }

    fn kill(&mut self) {
        if let Some(mut child) = self.child.take() {
            let _ = child.kill();
            let _ = child.wait();
            // The id may be somebody else's from now on.
            let _ = fs::remove_file(self.folder.join("pid"));
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.kill();
    }
}

fn answers(url: &str) -> bool {
    http::get(url, "/ping", &[]).is_ok_and(|response| response.status == 200)
}

fn last_words(folder: &Path) -> String {
    let text = fs::read_to_string(folder.join("output")).unwrap_or_default();
    text.lines().last().unwrap_or_default().to_owned()
}

/// One user without a password, who takes little of the machine.
const USERS: &str = "<yandex>\n<profiles><default><max_threads>1</max_threads>\
    <background_pool_size>2</background_pool_size></default></profiles>\n\
    <users><default><password></password><networks><ip>127.0.0.1</ip></networks>\
    <profile>default</profile><quota>default</quota></default></users>\n\
    <quotas><default></default></quotas>\n</yandex>\n";
