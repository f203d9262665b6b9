//! The two stages that look at the published `OpenAPI` document from outside, with tools that know
//! nothing of how it was made: is it a valid document, and does a running server keep its word? And
//! the copies of the documents in the repository, by which a change of the interface is seen in its
//! review.
//!
//! **The document is taken from the binary, never from a file in the repository.** Start with
//! [`validate`], [`schemathesis`] and [`documents`].

mod review;

use std::fs;
use std::io::{BufRead, BufReader};
use std::net::{Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;

use crate::tools;

/// The interfaces whose documents are checked, as `boardwalk openapi --interface` names them.
pub(crate) const INTERFACES: &[&str] = &["onboarding", "rest"];

/// What every answer of the onboarding interface is held against.
const SCHEMATHESIS_CHECKS: &[&str] = &[
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_headers_conformance",
    "response_schema_conformance",
    "negative_data_rejection",
];

/// What every answer of the REST interface is held against. It takes much for what it was meant to
/// be, as existing clients know it, so that data need not be refused because a schema says so.
const REST_CHECKS: &[&str] = &[
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_headers_conformance",
    "response_schema_conformance",
];

/// Few examples of an operation, because there are more than a thousand: every one that reads is
/// probed with good and bad data, then every other with good data. The account that the probes are
/// sent with must stay as it is; no example fits both what a path and a body say of the name of a
/// block.
const REST_PROBES: &[&[&str]] = &[
    &["--include-method=GET", "--max-examples=4"],
    &[
        "--exclude-method=GET",
        "--exclude-path-regex=/users|/block-renderer/",
        "--mode=positive",
        "--max-examples=2",
    ],
];
/// The phase that makes examples in this number, and workers as there are processors at least.
const REST_OPTIONS: &[&str] = &["--phases=fuzzing", "--workers=2", "--continue-on-failure"];

/// Written for the version of Schemathesis that `tools` pins. The seed makes a failure repeatable;
/// a slow machine is no failure, so its health checks are off; nothing is remembered between runs.
const SCHEMATHESIS_OPTIONS: &[&str] = &[
    "--seed=1",
    "--request-timeout=15",
    "--rate-limit=auto",
    "--suppress-health-check=all",
    "--generation-database=none",
];

/// Read by Schemathesis from the folder it runs in. The credentials come by [`CREDENTIALS`], so
/// that neither a log nor the list of processes shows them; one that opens nothing is a failure.
/// They are set as headers, since as credentials of a scheme most requests would go without them.
const SCHEMATHESIS_CONFIG: &str = r#"
[headers]
Authorization = "api-key ${BOARDWALK_DEMO_API_KEY}"

[[operations]]
include-path-regex = "^/v1/device/(parameters|sale|sales/.*)$"
headers = { Authorization = "device-token ${BOARDWALK_DEMO_DEVICE_TOKEN}" }

[[operations]]
include-path = "/v1/device/pair"
headers = { Authorization = "pairing-code ${BOARDWALK_DEMO_PAIRING_CODE}" }

[warnings]
fail-on = ["missing_auth"]
"#;

/// Paths below which the sandbox itself is changed.
const REHEARSALS: &str = "^/v1/sandbox/";

/// Paths at which a key can be withdrawn. Probed without the list of keys, in which the probes
/// would find the key that they are sent with, and revoke it.
const SINGLE_KEYS: &str = r"^/v1/keys/\{";

/// Paths that are for the administrators of an ISO. The demo's administrator is the operator's, and
/// belongs to none: what is probed is how they are refused.
const OF_AN_ISO: &str = "^/v1/(people|invitations)";

/// What administrators may do is asked for with their session.
const ADMINISTRATOR_CONFIG: &str = r#"
[headers]
Cookie = "${BOARDWALK_DEMO_COOKIE}"
X-WP-Nonce = "${BOARDWALK_DEMO_NONCE}"

[warnings]
fail-on = ["missing_auth"]
"#;

/// Everything of the REST interface is asked for with the session of an administrator, who may not
/// do everything: some operations want a key or a token.
const REST_CONFIG: &str = r#"
[headers]
Cookie = "${BOARDWALK_DEMO_COOKIE}"
X-WP-Nonce = "${BOARDWALK_DEMO_NONCE}"
"#;

/// The variable of each credential, and what the demo calls it.
const CREDENTIALS: &[(&str, &str)] = &[
    ("BOARDWALK_DEMO_API_KEY", "api_key"),
    ("BOARDWALK_DEMO_DEVICE_TOKEN", "device_token"),
    ("BOARDWALK_DEMO_PAIRING_CODE", "pairing_code"),
    (LOGIN, "login"),
    (PASSWORD, "password"),
];
const LOGIN: &str = "BOARDWALK_DEMO_LOGIN";
const PASSWORD: &str = "BOARDWALK_DEMO_PASSWORD";

/// How long a demo server may take from its start to its ready line.
const SERVER_START_MAX: Duration = Duration::from_mins(2);

/// Stage: every interface's document is valid `OpenAPI`.
pub(crate) fn validate() -> Result<()> {
    let binary = build_binary()?;
    let folder = fresh_folder("openapi")?;
    let mut validator = tools::python_program("openapi-spec-validator")?;
    for interface in INTERFACES {
        validator.arg(write_document(&binary, interface, &folder)?);
    }
    tools::run(&mut validator)
}

/// Stage: a demo server answers generated requests, good and bad, as its documents promise.
pub(crate) fn schemathesis() -> Result<()> {
    let binary = build_binary()?;
    let folder = fresh_folder("schemathesis")?;
    let server = DemoServer::start(&binary, &folder.join("data"))?;
    let session = server.sign_in()?;
    let prober = Prober { folder: &folder, server: &server, session: &session };
    probe_onboarding(&prober, &write_document(&binary, "onboarding", &folder)?)?;
    let document = write_document(&binary, "rest", &folder)?;
    for probes in REST_PROBES {
        let mut probe = prober.probe(&document, REST_CONFIG)?;
        probe.args(["--url", &format!("{}/wp-json", server.url)]);
        probe.args(["--checks", &REST_CHECKS.join(",")]).args(REST_OPTIONS).args(*probes);
        tools::run(&mut probe)?;
    }
    Ok(())
}

fn probe_onboarding(prober: &Prober<'_>, document: &Path) -> Result<()> {
    let administrators = administrators_paths(document)?;
    let others = format!("{administrators}|{REHEARSALS}|{SINGLE_KEYS}");
    // Resetting the sandbox takes away what the first probes need, and suspending the ISO its key.
    for (filter, paths, config) in [
        ("--exclude-path-regex", &*others, SCHEMATHESIS_CONFIG),
        ("--include-path-regex", SINGLE_KEYS, SCHEMATHESIS_CONFIG),
        ("--include-path-regex", REHEARSALS, SCHEMATHESIS_CONFIG),
        ("--include-path-regex", &*administrators, ADMINISTRATOR_CONFIG),
        ("--include-path-regex", OF_AN_ISO, REST_CONFIG),
    ] {
        let mut probe = prober.probe(document, config)?;
        probe.args(["--origin", &prober.server.url, "--max-examples=30", filter, paths]);
        probe.args(["--checks", &SCHEMATHESIS_CHECKS.join(",")]);
        if config == ADMINISTRATOR_CONFIG {
            probe.args(["--exclude-path-regex", OF_AN_ISO]);
        }
        if config != SCHEMATHESIS_CONFIG {
            // A probe that leaves the cookie out is sent with it all the same, and accepted.
            probe.args(["--exclude-checks", "negative_data_rejection"]);
        }
        tools::run(&mut probe)?;
    }
    Ok(())
}

/// What all runs of Schemathesis share.
struct Prober<'a> {
    folder: &'a Path,
    server: &'a DemoServer,
    /// The cookie and the nonce.
    session: &'a (String, String),
}

impl Prober<'_> {
    /// A run over a document, with these settings.
    fn probe(&self, document: &Path, config: &str) -> Result<Command> {
        let file = self.folder.join("schemathesis.toml");
        fs::write(&file, config).with_context(|| format!("cannot write {}", file.display()))?;
        let (cookie, nonce) = self.session;
        let mut probe = tools::python_program("schemathesis")?;
        probe.current_dir(self.folder).envs(self.server.credentials.iter().cloned());
        probe.env("BOARDWALK_DEMO_COOKIE", cookie).env("BOARDWALK_DEMO_NONCE", nonce);
        probe.arg("run").arg(document).args(SCHEMATHESIS_OPTIONS);
        Ok(probe)
    }
}

/// A regular expression of the paths at which something asks for the session of an administrator.
fn administrators_paths(document: &Path) -> Result<String> {
    let document: Value = serde_json::from_str(&fs::read_to_string(document)?)?;
    let paths = document.get("paths").and_then(Value::as_object).context("no paths")?;
    let asks_session = |operation: &Value| {
        let schemes = operation.get("security").and_then(Value::as_array);
        schemes.into_iter().flatten().any(|scheme| scheme.get("session").is_some())
    };
    let is_administrators = |path: &&String| {
        let operations = paths.get(*path).and_then(Value::as_object);
        operations.into_iter().flat_map(|operations| operations.values()).any(asks_session)
    };
    let found: Vec<String> = paths
        .keys()
        .filter(is_administrators)
        .map(|path| path.replace('{', r"\{").replace('}', r"\}"))
        .collect();
    Ok(format!("^({})$", found.join("|")))
}

/// Where the documents are kept for review.
const DOCUMENTS: &str = "docs/openapi";

/// Writes the documents of the interfaces into the repository, or with `check` fails if those there
/// are not what the binary prints.
pub(crate) fn documents(check: bool) -> Result<()> {
    let binary = build_binary()?;
    let folder = tools::root().join(DOCUMENTS);
    fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
    let mut stale = Vec::new();
    for interface in INTERFACES {
        let document = serde_json::from_str(&printed_document(&binary, interface)?)?;
        let printed = review::text(&document);
        let path = folder.join(format!("{interface}.json"));
        if fs::read_to_string(&path).is_ok_and(|kept| kept == printed) {
            continue;
        }
        if check {
            stale.push(*interface);
        } else {
            fs::write(&path, printed)
                .with_context(|| format!("cannot write {}", path.display()))?;
        }
    }
    ensure!(
        stale.is_empty(),
        "the interface changed: {}; run `cargo xtask generate openapi` and look at the difference",
        stale.join(", ")
    );
    Ok(())
}

/// What to tell cargo to run one target of the tests. As a test of the whole workspace it is
/// compiled with the features of all tests, which differ from those of a plain build; so the binary
/// is the one that the tests were run with, and nothing is compiled twice.
pub(crate) fn test_of(target: &str) -> [&str; 7] {
    ["test", "--workspace", "--exclude", "fuzz", "--locked", "--test", target]
}

/// A small target, whose build gives the binary.
pub(crate) const CLIENTS: &str = "clients";

pub(crate) fn build_binary() -> Result<PathBuf> {
    tools::run(tools::cargo().args(test_of(CLIENTS)).arg("--no-run"))?;
    Ok(tools::target_dir()?.join("debug").join("boardwalk"))
}

pub(crate) fn fresh_folder(name: &str) -> Result<PathBuf> {
    let folder = tools::target_dir()?.join("xtask").join(name);
    if folder.is_dir() {
        fs::remove_dir_all(&folder)
            .with_context(|| format!("cannot clear {}", folder.display()))?;
    }
    fs::create_dir_all(&folder).with_context(|| format!("cannot create {}", folder.display()))?;
    Ok(folder)
}

fn printed_document(binary: &Path, interface: &str) -> Result<String> {
    tools::read(Command::new(binary).args(["openapi", "--interface", interface]))
}

pub(crate) fn write_document(binary: &Path, interface: &str, folder: &Path) -> Result<PathBuf> {
    let document = printed_document(binary, interface)?;
    let path = folder.join(format!("{interface}.json"));
    fs::write(&path, document).with_context(|| format!("cannot write {}", path.display()))?;
    Ok(path)
}

/// A running `boardwalk demo`; ends with this value.
struct DemoServer {
    process: Child,
    url: String,
    /// Names of variables and their values.
    credentials: Vec<(&'static str, String)>,
}

impl DemoServer {
    /// Starts a demo on a free port and waits until it says that it is ready.
    fn start(binary: &Path, data: &Path) -> Result<DemoServer> {
        let mut process = Command::new(binary)
            .args(["demo", "--json", "--orders", "100", "--listen", &free_address()?, "--data"])
            .arg(data)
            .env("BOARDWALK_LOG__LEVEL", "warn")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| format!("cannot start {}", binary.display()))?;
        let stdout = process.stdout.take().context("the demo server has no standard output")?;
        // Made before anything can fail, so that the process never outlives this function's error.
        let mut server = DemoServer { process, url: String::new(), credentials: Vec::new() };
        server.wait_until_ready(&lines_of(stdout))?;
        Ok(server)
    }

    /// Signs in as the demo's administrator, and returns the cookie and the nonce.
    fn sign_in(&self) -> Result<(String, String)> {
        let told = |wanted: &str| {
            let found = self.credentials.iter().find(|(name, _)| *name == wanted);
            found.map(|(_, value)| value.as_str()).context("the demo printed no login")
        };
        let script = tools::root().join("xtask/src/openapi/sign_in.py");
        let mut sign_in = tools::python_program("python")?;
        sign_in.arg(script).args([self.url.as_str(), told(LOGIN)?, told(PASSWORD)?]);
        let session: Value = serde_json::from_str(&tools::read(&mut sign_in)?)?;
        let text = |member| tools::json_text(&session, member).map(str::to_owned);
        text("cookie").zip(text("nonce")).context("cannot sign in to the demo")
    }

    fn wait_until_ready(&mut self, lines: &mpsc::Receiver<String>) -> Result<()> {
        let deadline = Instant::now() + SERVER_START_MAX;
        loop {
            let line = match lines.recv_timeout(deadline.saturating_duration_since(Instant::now()))
            {
                Ok(line) => line,
                Err(mpsc::RecvTimeoutError::Timeout) => {
                    bail!("the demo server was not ready after {SERVER_START_MAX:?}")
                }
                Err(mpsc::RecvTimeoutError::Disconnected) => {
                    bail!("the demo server exited before it was ready; see its output above")
                }
            };
            let object: Value = serde_json::from_str(&line)
                .with_context(|| format!("`boardwalk demo --json` printed {line:?}"))?;
            let text = |member| tools::json_text(&object, member);
            let told = CREDENTIALS.iter().filter_map(|(variable, member)| {
                text(member).map(|credential| (*variable, credential.to_owned()))
            });
            self.credentials.extend(told);
            if let Some(url) = text("url") {
                url.trim_end_matches('/').clone_into(&mut self.url);
            }
            if text("event") == Some("ready") {
                break;
            }
        }
        if self.credentials.len() != CREDENTIALS.len() {
            bail!("`boardwalk demo --json` was ready without printing all credentials");
        }
        Ok(())
    }
}

impl Drop for DemoServer {
    fn drop(&mut self) {
        // It may have ended by itself: then there is nothing left to do.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Reads to the end in a thread of its own: a full pipe would stop the server.
fn lines_of(stdout: ChildStdout) -> mpsc::Receiver<String> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        for line in BufReader::new(stdout).lines().map_while(Result::ok) {
            // The receiver leaves once the server is ready; reading goes on.
            let _ = sender.send(line);
        }
    });
    receiver
}

/// An address nobody listens on now. Found here because the server must be told one before it can
/// print the one it has.
fn free_address() -> Result<String> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).context("no free port")?;
    Ok(listener.local_addr().context("no free port")?.to_string())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    /// Starts a shell script in the binary's place.
    fn start(name: &str, script: &str) -> Result<DemoServer> {
        let folder = fresh_folder(name).unwrap();
        let binary = folder.join("boardwalk");
        fs::write(&binary, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(&binary, fs::Permissions::from_mode(0o755)).unwrap();
        DemoServer::start(&binary, &folder.join("data"))
    }

    #[test]
    fn demo_server_is_waited_for() {
        let server = start(
            "test-ready",
            r#"echo '{"url":"http://127.0.0.1:1/","api_key":"key","device_token":"token",
              "pairing_code":"code","login":"me","password":"word"}' | tr -d '\n'; echo
            echo '{"event":"ready","environment":"sandbox","url":"http://127.0.0.1:1"}'
            exec sleep 60"#,
        );
        let server = server.unwrap();
        let values: Vec<&str> = server.credentials.iter().map(|(_, value)| &**value).collect();
        let expected = vec!["key", "token", "code", "me", "word"];
        assert_eq!((&*server.url, values), ("http://127.0.0.1:1", expected));
    }

    #[test]
    fn demo_server_that_ends_or_tells_nothing_is_an_error() {
        assert!(start("test-ended", "exit 1").is_err());
        assert!(start("test-silent", r#"echo '{"event":"ready"}'; exec sleep 60"#).is_err());
        assert!(start("test-prose", "echo ready; exec sleep 60").is_err());
    }
}
