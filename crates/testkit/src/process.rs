//! The boardwalk program as a test runs it: as a server that stays, or as a command that ends.
//!
//! The caller names the program, usually with `env!("CARGO_BIN_EXE_boardwalk")`. **Every wait has a
//! limit**, and what the program wrote to standard error is part of every error.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _, Seek as _, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, ExitStatus, Output, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail, ensure};
use serde_json::Value;
use tempfile::NamedTempFile;

const READY_TIMEOUT: Duration = Duration::from_mins(1);
const RUN_TIMEOUT: Duration = Duration::from_mins(5);
const POLL_INTERVAL: Duration = Duration::from_millis(5);

/// A running server process; killed on drop.
#[derive(Debug)]
pub struct Server {
    child: Child,
    urls: BTreeMap<String, String>,
    before_ready: Vec<String>,
    stderr: NamedTempFile,
}

impl Server {
    /// Starts `program` with `arguments`, such as `serve --data DIR`, and waits until it is ready
    /// in each of the `environments`.
    pub fn start<A: AsRef<OsStr>>(
        program: impl AsRef<OsStr>,
        arguments: impl IntoIterator<Item = A>,
        environments: &[&str],
    ) -> Result<Self> {
        let mut command = Command::new(program);
        command.args(arguments);
        Self::start_command(command, environments)
    }

    /// As [`Server::start`], for a command that needs more than arguments.
    pub fn start_command(command: Command, environments: &[&str]) -> Result<Self> {
        Self::start_within(command, environments, READY_TIMEOUT)
    }

    /// As [`Server::start_command`], for a server that may take long, such as one that makes its
    /// data first.
    pub fn start_within(
        mut command: Command,
        environments: &[&str],
        limit: Duration,
    ) -> Result<Self> {
        let stderr = NamedTempFile::new().context("cannot create a file for standard error")?;
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(stderr.reopen()?);
        let mut child = command.spawn().with_context(|| format!("cannot start {command:?}"))?;
        let stdout = child.stdout.take().context("the child has a standard output")?;
        let mut server = Self { child, urls: BTreeMap::new(), before_ready: Vec::new(), stderr };
        server.wait_until_ready(&lines_of(stdout), environments, limit)?;
        Ok(server)
    }

    /// The base URL of an environment that was waited for.
    #[expect(clippy::panic, reason = "the test uses an environment that it did not start")]
    pub fn url(&self, environment: &str) -> &str {
        match self.urls.get(environment) {
            Some(url) => url,
            None => panic!("readiness in `{environment}` was not requested"),
        }
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// The lines the server printed before it was ready, such as the credentials of `demo`.
    pub fn lines_before_ready(&self) -> &[String] {
        &self.before_ready
    }

    /// What the server wrote to standard error so far.
    pub fn stderr(&self) -> String {
        let bytes = std::fs::read(self.stderr.path()).unwrap_or_default();
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// Whether the process has ended by itself.
    pub fn has_ended(&mut self) -> bool {
        !matches!(self.child.try_wait(), Ok(None))
    }

    /// Ends the process at once, as a crash would (SIGKILL).
    pub fn kill(mut self) {
        self.kill_and_wait();
    }

    /// Asks the process to end (SIGTERM) and waits at most `deadline` for it.
    pub fn terminate(mut self, deadline: Duration) -> Result<ExitStatus> {
        self.signal("TERM")?;
        match wait(&mut self.child, deadline)? {
            Some(status) => Ok(status),
            None => {
                bail!("the server is still running {deadline:?} after SIGTERM\n{}", self.stderr())
            }
        }
    }

    /// Sends a signal, such as `HUP`, and does not wait.
    pub fn signal(&self, name: &str) -> Result<()> {
        // The shell has `kill` built in; not every machine has it as a program.
        let script = format!("kill -{name} {}", self.pid());
        let status = Command::new("sh").args(["-c", &script]).status()?;
        ensure!(status.success(), "cannot send SIG{name} to process {}", self.pid());
        Ok(())
    }

    fn wait_until_ready(
        &mut self,
        lines: &Receiver<String>,
        environments: &[&str],
        limit: Duration,
    ) -> Result<()> {
        let deadline = Instant::now() + limit;
        while !environments.iter().all(|name| self.urls.contains_key(*name)) {
            let left = deadline.saturating_duration_since(Instant::now());
            let Ok(line) = lines.recv_timeout(left) else {
                let state = match wait(&mut self.child, Duration::from_millis(200))? {
                    Some(status) => format!("the server exited ({status}) before it was ready"),
                    None => format!("the server was not ready within {limit:?}"),
                };
                bail!("{state}; it wrote:\n{}", self.stderr());
            };
            match ready_line(&line) {
                Some((environment, url)) => drop(self.urls.insert(environment, url)),
                None => self.before_ready.push(line),
            }
        }
        Ok(())
    }

    fn kill_and_wait(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.kill_and_wait();
    }
}

/// Reads `ready ENVIRONMENT URL`, or the same as a JSON event.
fn ready_line(line: &str) -> Option<(String, String)> {
    if let Some(rest) = line.strip_prefix("ready ") {
        let (environment, url) = rest.split_once(' ')?;
        return Some((environment.to_owned(), url.trim().to_owned()));
    }
    let event: Value = serde_json::from_str(line).ok()?;
    if event.get("event")?.as_str()? != "ready" {
        return None;
    }
    let text = |name| event.get(name).and_then(Value::as_str).map(str::to_owned);
    Some((text("environment")?, text("url")?))
}

/// Reads lines in a thread of its own to the very end, so that the process never waits for us.
fn lines_of(stdout: ChildStdout) -> Receiver<String> {
    let (sender, receiver) = channel();
    thread::spawn(move || {
        for line in BufReader::new(stdout).lines().map_while(Result::ok) {
            // Nobody listens any more once the server is ready.
            let _ = sender.send(line);
        }
    });
    receiver
}

/// Runs a program to its end with `stdin` as its standard input.
pub fn run<A: AsRef<OsStr>>(
    program: impl AsRef<OsStr>,
    arguments: impl IntoIterator<Item = A>,
    stdin: &[u8],
) -> Result<Output> {
    let mut command = Command::new(program);
    command.args(arguments);
    run_command(command, stdin)
}

/// As [`run`], for a command that needs more than arguments.
pub fn run_command(mut command: Command, stdin: &[u8]) -> Result<Output> {
    // Files instead of pipes: neither side can block the other, whatever the sizes.
    let mut input = tempfile::tempfile()?;
    input.write_all(stdin)?;
    input.rewind()?;
    let (mut stdout, mut stderr) = (tempfile::tempfile()?, tempfile::tempfile()?);
    command.stdin(input).stdout(stdout.try_clone()?).stderr(stderr.try_clone()?);
    let mut child = command.spawn().with_context(|| format!("cannot start {command:?}"))?;
    let Some(status) = wait(&mut child, RUN_TIMEOUT)? else {
        child.kill()?;
        child.wait()?;
        let complaint = String::from_utf8_lossy(&contents(&mut stderr)?).into_owned();
        bail!("{command:?} did not exit within {RUN_TIMEOUT:?}: {complaint}");
    };
    Ok(Output { status, stdout: contents(&mut stdout)?, stderr: contents(&mut stderr)? })
}

/// Runs a program that must succeed and print one JSON object and nothing else.
pub fn json<A: AsRef<OsStr>>(
    program: impl AsRef<OsStr>,
    arguments: impl IntoIterator<Item = A>,
) -> Result<Value> {
    let mut command = Command::new(program);
    command.args(arguments);
    let shown = format!("{command:?}");
    let output = run_command(command, b"")?;
    let complaint = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{shown} failed ({}): {complaint}", output.status);
    let value: Value = serde_json::from_slice(&output.stdout).with_context(|| {
        let printed = String::from_utf8_lossy(&output.stdout);
        format!("{shown} did not print one JSON value but: {printed}")
    })?;
    ensure!(value.is_object(), "{shown} printed no JSON object but: {value}");
    Ok(value)
}

/// The workspace program that cargo built, for callers without `CARGO_BIN_EXE_…`: it lies beside
/// the folder of the running test.
pub fn built_program(name: &str) -> Result<std::path::PathBuf> {
    let own = std::env::current_exe().context("cannot find the running program")?;
    own.ancestors()
        .skip(1)
        .take(2)
        .map(|folder| folder.join(name))
        .find(|path| Path::is_file(path))
        .with_context(|| format!("`{name}` is not built; run `cargo build` first"))
}

fn contents(file: &mut File) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.rewind()?;
    file.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The exit status, or nothing if the process still runs when the time is over.
fn wait(child: &mut Child, limit: Duration) -> Result<Option<ExitStatus>> {
    let deadline = Instant::now() + limit;
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if Instant::now() >= deadline {
            return Ok(None);
        }
        thread::sleep(POLL_INTERVAL);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str, environments: &[&str]) -> Result<Server> {
        Server::start("sh", ["-c", script], environments)
    }

    #[test]
    fn a_server_is_ready_when_all_its_environments_are() {
        let script = r#"echo '{"api_key":"k"}'; echo "ready sandbox http://127.0.0.1:1"
            echo '{"event":"ready","environment":"production","url":"http://127.0.0.1:2"}'
            exec sleep 60"#;
        let mut server = shell(script, &["sandbox", "production"]).unwrap();
        assert_eq!(server.url("sandbox"), "http://127.0.0.1:1");
        assert_eq!(server.url("production"), "http://127.0.0.1:2");
        assert_eq!(server.lines_before_ready(), [r#"{"api_key":"k"}"#]);
        assert!(!server.has_ended());
        let status = server.terminate(Duration::from_secs(10)).unwrap();
        assert!(!status.success());
    }

    #[test]
    fn a_server_that_ends_early_says_why() {
        let error = shell("echo no database >&2; exit 1", &["sandbox"]).unwrap_err();
        assert!(error.to_string().contains("no database"), "{error}");
        assert!(error.to_string().contains("exited"), "{error}");
    }

    #[test]
    fn a_server_that_ignores_the_request_to_end_is_reported() {
        let script = "trap '' TERM; echo ready sandbox u; while :; do sleep 0.05; done";
        let server = shell(script, &["sandbox"]).unwrap();
        let error = server.terminate(Duration::from_millis(200)).unwrap_err();
        assert!(error.to_string().contains("still running"), "{error}");
    }

    #[test]
    fn commands_get_their_input_and_return_their_output() {
        let output = run("sh", ["-c", "cat; echo bad >&2; exit 3"], b"hello").unwrap();
        assert_eq!(output.status.code(), Some(3));
        assert_eq!((output.stdout, output.stderr), (b"hello".to_vec(), b"bad\n".to_vec()));
    }

    #[test]
    fn json_wants_exactly_one_object() {
        assert_eq!(json("echo", [r#"{"a":1}"#]).unwrap()["a"], 1);
        json("echo", [r#"{"a":1} {"b":2}"#]).unwrap_err();
        json("echo", ["[]"]).unwrap_err();
        json("false", ["{}"]).unwrap_err();
    }
}
