//! What the tests need and a fresh machine does not have: the Postgres server programs, ClickHouse,
//! Pebble, Node, Chromium, and Python tools in a virtual environment below the target folder.
//!
//! **Only root's package manager is ever used to change the machine**; everybody else is told what
//! to install. Also here: how this program starts other programs ([`run`], [`cargo`]) and where
//! the workspace's folders are ([`root`], [`target_dir`]). Start with [`Tool`].

use std::env;
use std::error::Error;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::fs;
use std::iter;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;

/// Something outside the workspace that a stage of `cargo xtask test` cannot do without.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Tool {
    /// `initdb` and `postgres`: the tests start their own cluster.
    Postgres,
    /// `clickhouse-server`: the tests start shards of their own.
    Clickhouse,
    /// `pebble`, a certificate authority for tests.
    Pebble,
    /// `pgbouncer` and `haproxy`, which the tests put in front of databases and servers.
    Proxies,
    /// The programs of [`PYTHON_PACKAGES`].
    Python,
    /// `node` and `npm`, for client libraries written in JavaScript.
    Node,
    /// The distribution's browser, for the walk through the portal. **The only tool that may be
    /// missing**: whoever cannot install it is told so, and its stage is skipped; see [`Skipped`].
    Chromium,
}

/// Why a stage was not run. As an error it ends the stage and not the whole run.
#[derive(Debug)]
pub(crate) struct Skipped(pub(crate) &'static str);

impl fmt::Display for Skipped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "skipped: {}", self.0)
    }
}

impl Error for Skipped {}

/// Pinned, so that the same documents pass and the same examples are generated on every machine.
/// Hypothesis is what draws Schemathesis' examples from the seed.
const PYTHON_PACKAGES: &[&str] = &[
    "openapi-spec-validator==0.9.0",
    "schemathesis==4.32.5",
    "hypothesis==6.170.15",
    // The current version of ClickHouse, in a Python process.
    "chdb==4.4.0",
];

/// Debian keeps the Postgres server programs out of PATH, one folder per version below this one.
const DEBIAN_POSTGRES_DIR: &str = "/usr/lib/postgresql";

impl Tool {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Tool::Postgres => "PostgreSQL",
            Tool::Clickhouse => "ClickHouse",
            Tool::Pebble => "Pebble",
            Tool::Proxies => "PgBouncer and HAProxy",
            Tool::Python => "Python tools",
            Tool::Node => "Node",
            Tool::Chromium => "Chromium",
        }
    }

    /// Finds the tool, or installs it, or fails with a message that says what to install.
    pub(crate) fn ensure(self) -> Result<()> {
        let place = match self {
            Tool::Postgres => ensure_postgres()?,
            Tool::Clickhouse => ensure_clickhouse()?,
            Tool::Pebble => ensure_pebble()?,
            Tool::Proxies => ensure_proxies()?,
            Tool::Python => ensure_python_tools()?,
            Tool::Node => ensure_node()?,
            Tool::Chromium => match ensure_chromium() {
                Err(error) if !is_ci() => {
                    println!("{error:#}\nThe browser tests are skipped.");
                    return Ok(());
                }
                outcome => outcome?,
            },
        };
        println!("{}: {}", self.name(), place.display());
        Ok(())
    }
}

/// A program of [`PYTHON_PACKAGES`]; [`Tool::Python`] has put it there.
pub(crate) fn python_program(name: &str) -> Result<Command> {
    Ok(Command::new(venv_dir()?.join("bin").join(name)))
}

/// Runs a command with this terminal's input and output; an error if it fails.
pub(crate) fn run(command: &mut Command) -> Result<()> {
    println!("$ {}", display(command));
    let status = command.status().with_context(|| cannot_start(command))?;
    ensure!(status.success(), "`{}` exited with {status}", display(command));
    Ok(())
}

/// Runs a command and gives what it wrote on standard output; standard error stays the terminal's.
pub(crate) fn read(command: &mut Command) -> Result<String> {
    let output =
        command.stderr(Stdio::inherit()).output().with_context(|| cannot_start(command))?;
    ensure!(output.status.success(), "`{}` exited with {}", display(command), output.status);
    String::from_utf8(output.stdout)
        .with_context(|| format!("the output of `{}` is not UTF-8", display(command)))
}

/// The cargo that runs this program, in the workspace's root.
pub(crate) fn cargo() -> Command {
    let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(root());
    // Cargo tells this program about its own package. Handed down, these would differ from what a
    // developer's shell has, and build scripts that watch them would run again each time.
    for (name, _) in env::vars_os() {
        let text = name.to_string_lossy();
        if text.starts_with("CARGO_PKG_") || text.starts_with("CARGO_MANIFEST_") {
            command.env_remove(&name);
        }
    }
    command
}

/// The workspace's root folder.
pub(crate) fn root() -> PathBuf {
    let manifest_dir =
        env::var_os("CARGO_MANIFEST_DIR").unwrap_or_else(|| env!("CARGO_MANIFEST_DIR").into());
    Path::new(&manifest_dir).parent().map(Path::to_path_buf).unwrap_or_default()
}

/// The workspace as cargo describes it, without its dependencies' dependencies.
pub(crate) fn metadata() -> Result<Value> {
    let arguments = ["metadata", "--no-deps", "--format-version", "1", "--offline"];
    let text = read(cargo().args(arguments))?;
    serde_json::from_str(&text).context("`cargo metadata` did not print JSON")
}

/// Where cargo builds: the configuration's and the environment's say included.
pub(crate) fn target_dir() -> Result<PathBuf> {
    static TARGET_DIR: OnceLock<PathBuf> = OnceLock::new();
    if let Some(path) = TARGET_DIR.get() {
        return Ok(path.clone());
    }
    let metadata = metadata()?;
    let path =
        json_text(&metadata, "target_directory").context("cargo reported no target folder")?;
    Ok(TARGET_DIR.get_or_init(|| path.into()).clone())
}

/// A text member of a JSON object.
pub(crate) fn json_text<'value>(object: &'value Value, member: &str) -> Option<&'value str> {
    object.get(member).and_then(Value::as_str)
}

fn ensure_postgres() -> Result<PathBuf> {
    if let Some(path) = find_postgres() {
        return Ok(path);
    }
    apt_install("PostgreSQL's server programs (initdb, postgres)", &["postgresql"])?;
    find_postgres()
        .context("PostgreSQL is installed, but initdb is neither in PATH nor in its folder")
}

fn ensure_clickhouse() -> Result<PathBuf> {
    let program = "clickhouse-server";
    let find = || {
        let kept = Path::new(SYSTEM_FOLDER).join(program);
        find_program(program).or_else(|| Some(kept).filter(|path| path.is_file()))
    };
    if let Some(path) = find() {
        return Ok(path);
    }
    apt_install("ClickHouse's server program", &[program])?;
    find().context("ClickHouse is installed, but neither in PATH nor in its folder")
}

/// Debian keeps servers out of the search path of users.
const SYSTEM_FOLDER: &str = "/usr/sbin";

fn ensure_proxies() -> Result<PathBuf> {
    let is_there =
        |name: &str| find_program(name).is_some() || Path::new(SYSTEM_FOLDER).join(name).is_file();
    let missing: Vec<&str> =
        ["pgbouncer", "haproxy"].into_iter().filter(|name| !is_there(name)).collect();
    if !missing.is_empty() {
        apt_install("Proxies that the tests use", &missing)?;
    }
    Ok(SYSTEM_FOLDER.into())
}

/// The folder that holds `initdb`: the first in PATH, or else Debian's newest.
fn find_postgres() -> Option<PathBuf> {
    let mut folders: Vec<PathBuf> = search_path();
    let mut versions: Vec<PathBuf> = fs::read_dir(DEBIAN_POSTGRES_DIR)
        .map(|entries| entries.flatten().map(|entry| entry.path()).collect())
        .unwrap_or_default();
    versions.sort_by_key(|path| {
        path.file_name().and_then(|name| name.to_str()?.parse::<u32>().ok()).unwrap_or(0)
    });
    folders.extend(versions.iter().rev().map(|version| version.join("bin")));
    folders.into_iter().find(|folder| folder.join("initdb").is_file())
}

/// The package has the authority and the name service that it asks.
fn ensure_pebble() -> Result<PathBuf> {
    if find_program("pebble").is_none() || find_program("pebble-challtestsrv").is_none() {
        apt_install("Pebble with pebble-challtestsrv", &["pebble"])?;
    }
    find_program("pebble").context("Pebble is installed, but not in PATH")
}

fn ensure_python_tools() -> Result<PathBuf> {
    let venv = venv_dir()?;
    let pins = PYTHON_PACKAGES.join("\n");
    // Written last, so a half-finished installation is never taken for a whole one.
    let stamp = venv.join("installed.txt");
    if fs::read_to_string(&stamp).is_ok_and(|installed| installed == pins) {
        return Ok(venv);
    }
    if !python_can("import ensurepip, venv") {
        apt_install("Python 3.10 or newer with its venv module", &["python3", "python3-venv"])?;
    }
    ensure!(
        python_can("import sys; sys.exit(sys.version_info < (3, 10))"),
        "Python 3.10 or newer is required: install it as `python3`"
    );
    run(Command::new("python3").args(["-m", "venv", "--clear"]).arg(&venv))?;
    let install = ["install", "--quiet", "--disable-pip-version-check"];
    run(python_program("pip")?.args(install).args(PYTHON_PACKAGES))
        .context("cannot install the Python tools: is the package index reachable?")?;
    fs::write(&stamp, pins).with_context(|| format!("cannot write {}", stamp.display()))?;
    Ok(venv)
}

/// The oldest version that the client libraries run on.
const NODE_MAJOR_MIN: u32 = 18;

fn ensure_node() -> Result<PathBuf> {
    if find_program("node").is_none() || find_program("npm").is_none() {
        apt_install("Node with npm", &["nodejs", "npm"])?;
    }
    let path = find_program("node").context("Node is installed, but not in PATH")?;
    let version = read(Command::new(&path).arg("--version"))?;
    let major = version.trim().trim_start_matches('v').split('.').next();
    let is_recent =
        major.and_then(|text| text.parse::<u32>().ok()).is_some_and(|it| it >= NODE_MAJOR_MIN);
    ensure!(is_recent, "Node {NODE_MAJOR_MIN} or newer is required for the client libraries");
    Ok(path)
}

/// Names of the browser's program, the package's own first.
const CHROMIUM_NAMES: [&str; 2] = ["chromium", "chromium-browser"];

/// The browser, if there is one.
pub(crate) fn find_chromium() -> Option<PathBuf> {
    CHROMIUM_NAMES.into_iter().find_map(find_program)
}

fn ensure_chromium() -> Result<PathBuf> {
    if let Some(path) = find_chromium() {
        return Ok(path);
    }
    apt_install("Chromium", &["chromium"])?;
    find_chromium().context("Chromium is installed, but not in PATH")
}

/// Continuous integration leaves nothing out.
pub(crate) fn is_ci() -> bool {
    env::var_os("CI").is_some_and(|value| value == "true")
}

pub(crate) fn has_program(name: &str) -> bool {
    find_program(name).is_some()
}

fn find_program(name: &str) -> Option<PathBuf> {
    search_path().into_iter().map(|folder| folder.join(name)).find(|path| path.is_file())
}

fn venv_dir() -> Result<PathBuf> {
    Ok(target_dir()?.join("venv"))
}

fn python_can(program: &str) -> bool {
    Command::new("python3")
        .args(["-c", program])
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

/// Installs Debian packages as root; anybody else is told what is missing.
fn apt_install(what: &str, packages: &[&str]) -> Result<()> {
    let names = packages.join(" ");
    if !is_root() || !search_path().iter().any(|folder| folder.join("apt-get").is_file()) {
        bail!(
            "{what} missing. Install with\n    apt-get install {names}\non Debian or Ubuntu, or \
             the packages of that kind elsewhere; then run this again."
        );
    }
    update_package_lists()?;
    println!("{what} missing: installing {names}");
    run(apt_get().args(["install", "--yes", "--no-install-recommends"]).args(packages))
}

/// Once per run is enough, however many tools are missing.
fn update_package_lists() -> Result<()> {
    static UPDATED: OnceLock<()> = OnceLock::new();
    if UPDATED.get().is_none() {
        run(apt_get().args(["--quiet", "update"]))?;
        UPDATED.get_or_init(|| ());
    }
    Ok(())
}

fn apt_get() -> Command {
    let mut command = Command::new("apt-get");
    command.env("DEBIAN_FRONTEND", "noninteractive");
    command
}

pub(crate) fn is_root() -> bool {
    read(Command::new("id").arg("-u")).is_ok_and(|id| id.trim() == "0")
}

fn search_path() -> Vec<PathBuf> {
    let path: OsString = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&path).collect()
}

fn cannot_start(command: &Command) -> String {
    format!("cannot start `{}`", command.get_program().to_string_lossy())
}

/// The command as one would type it. **Never shows the environment, which may hold secrets.**
fn display(command: &Command) -> String {
    let program = command.get_program();
    let is_cargo = Path::new(program).file_name().is_some_and(|name| name == "cargo");
    let program = if is_cargo { OsStr::new("cargo") } else { program };
    let words = iter::once(program).chain(command.get_args());
    words.map(OsStr::to_string_lossy).collect::<Vec<_>>().join(" ")
}
