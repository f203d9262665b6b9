//! A data folder with its database, the program on it, and bodies to send.

use std::ffi::OsStr;
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::thread;
use std::time::{Duration, Instant};

use db::{Database, Location};
use serde_json::{Value, json};
use tempfile::TempDir;
use testkit::http::{self, Response};
use testkit::process::{self, Server};
use types::Environment;

pub(crate) const PROGRAM: &str = env!("CARGO_BIN_EXE_boardwalk");
const POLL_INTERVAL: Duration = Duration::from_millis(20);
const LOGGED_WITHIN: Duration = Duration::from_secs(10);

/// A data folder and a database, with the settings that the program is run with.
pub(crate) struct Site {
    folder: TempDir,
    database: Option<String>,
    variables: Vec<(String, String)>,
    program: PathBuf,
}

impl Site {
    /// On SQLite, without rate limits.
    pub(crate) fn sqlite() -> Self {
        let folder = testkit::temp_dir().unwrap();
        fs::set_permissions(folder.path(), Permissions::from_mode(0o700)).unwrap();
        let program = PathBuf::from(PROGRAM);
        Self { folder, database: None, variables: Vec::new(), program }
            .set("server.rate_limits.enabled", false)
    }

    /// On a new database of the shared PostgreSQL cluster, without rate limits.
    pub(crate) fn postgres() -> Self {
        Self::on_database(testkit::postgres::shared().create_database().unwrap())
    }

    pub(crate) fn on_database(url: String) -> Self {
        Self { database: Some(url), ..Self::sqlite() }
    }

    /// A setting by its key, such as `server.limits.read_ms`, given to the program by variable.
    pub(crate) fn set(mut self, key: &str, value: impl ToString) -> Self {
        let name = format!("BOARDWALK_{}", key.replace('.', "__").to_uppercase());
        self.variables.push((name, value.to_string()));
        self
    }

    /// A variable of the environment that the program is run with; the last of a name counts.
    pub(crate) fn with_variable(mut self, name: &str, value: &str) -> Self {
        self.variables.push((name.to_owned(), value.to_owned()));
        self
    }

    /// From now on another program is run, such as that of an older version.
    pub(crate) fn run_program(&mut self, program: &Path) {
        program.clone_into(&mut self.program);
    }

    /// The same data in a folder and a database of its own, while nothing runs on it.
    pub(crate) fn copied(&self) -> Self {
        let cluster = testkit::postgres::shared;
        let database = self.database.as_ref().map(|url| cluster().copy_database(url).unwrap());
        let copy = Self { variables: self.variables.clone(), database, ..Self::sqlite() };
        copy_files(self.data(), copy.data());
        copy
    }

    pub(crate) fn data(&self) -> &Path {
        self.folder.path()
    }

    /// The program with these arguments, on this folder and database.
    pub(crate) fn command<A: AsRef<OsStr>>(&self, arguments: &[A]) -> Command {
        let mut command = Command::new(&self.program);
        command.arg("--data").arg(self.data());
        if let Some(url) = &self.database {
            command.args(["--database", url]);
        }
        command.args(arguments).envs(self.variables.iter().map(|(name, value)| (name, value)));
        command
    }

    pub(crate) fn run<A: AsRef<OsStr>>(&self, arguments: &[A]) -> Output {
        process::run_command(self.command(arguments), b"").unwrap()
    }

    /// Runs a command with `--json` that must succeed, and returns the object it printed.
    pub(crate) fn json<A: AsRef<OsStr>>(&self, arguments: &[A]) -> Value {
        let mut command = self.command(arguments);
        command.arg("--json");
        let output = process::run_command(command, b"").unwrap();
        let arguments: Vec<&OsStr> = arguments.iter().map(AsRef::as_ref).collect();
        let complaint = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{arguments:?} failed: {complaint}");
        let printed: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|error| {
            panic!("{arguments:?} printed {:?}: {error}", String::from_utf8_lossy(&output.stdout))
        });
        assert!(printed.is_object(), "{arguments:?} printed {printed}");
        printed
    }

    /// Registers an ISO and returns its id.
    pub(crate) fn iso(&self, name: &str) -> String {
        text(&self.json(&["iso", "create", "--name", name]), "isoId")
    }

    /// Makes an API key and returns its text.
    pub(crate) fn key(&self, iso: &str) -> String {
        self.key_with(iso, &[]).1
    }

    /// Makes an API key with further flags and returns its id and its text.
    pub(crate) fn key_with(&self, iso: &str, flags: &[&str]) -> (String, String) {
        let key = self.json(&[&["key", "create", "--iso", iso], flags].concat());
        (text(&key, "keyId"), text(&key, "key"))
    }

    /// A key that the other environment gave out.
    pub(crate) fn production_key(&self) -> String {
        let iso = self.json(&["--environment", "production", "iso", "create", "--name", "Other"]);
        let iso = text(&iso, "isoId");
        self.key_with(&iso, &["--environment", "production"]).1
    }

    /// Makes an administrator, and returns the header by which programs act for them.
    pub(crate) fn administrator(&self) -> String {
        let who = ["--login", "admin", "--email", "admin@example.test", "--role", "administrator"];
        self.json(&[&["user", "create"], &who[..]].concat());
        let made = self.json(&["user", "app-password", "--login", "admin", "--name", "Work"]);
        basic(&format!("admin:{}", text(&made, "password")))
    }

    /// Serves the sandbox.
    pub(crate) fn serve(&self) -> Running {
        self.serve_with(&[])
    }

    /// Serves the sandbox with further arguments.
    pub(crate) fn serve_with(&self, arguments: &[&str]) -> Running {
        let fixed = ["serve", "--environment", "sandbox", "--admin-listen", "127.0.0.1:0"];
        let own = arguments.contains(&"--listen");
        let listen: &[&str] = if own { &[] } else { &["--listen", "127.0.0.1:0"] };
        let command = self.command(&[&fixed, listen, arguments].concat());
        let server = Server::start_command(command, &["sandbox"]).unwrap();
        let url = server.url("sandbox").to_owned();
        Running { server, url }
    }

    /// The sandbox's database, beside whatever else has it open.
    pub(crate) fn store(&self) -> Database {
        let location =
            Location::parse(self.database.as_deref(), self.data(), Environment::Sandbox, 2);
        Database::open(&location.unwrap(), schema::MIGRATIONS).unwrap()
    }
}

/// The header of Basic authentication for `login:password`.
pub(crate) fn basic(pair: &str) -> String {
    format!("Basic {}", data_encoding::BASE64.encode(pair.as_bytes()))
}

/// A server on a site; killed on drop.
pub(crate) struct Running {
    pub(crate) server: Server,
    pub(crate) url: String,
}

impl Running {
    pub(crate) fn get(&self, path: &str, key: &str) -> Response {
        http::get(&self.url, path, &[("Authorization", &authorization(key))]).unwrap()
    }

    pub(crate) fn onboard(&self, key: &str, body: &Value) -> Response {
        let headers = [("Authorization", &*authorization(key))];
        http::post(&self.url, "/v1/onboardmerchant", &headers, body).unwrap()
    }

    /// The base URL of the operator's address, which the log tells.
    pub(crate) fn admin_url(&self) -> String {
        let told = || {
            let log = self.server.stderr();
            let mut lines = log.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
            lines.find_map(|line| line.get("admin_address")?.as_str().map(str::to_owned))
        };
        // Lines of the log are written by a thread of their own.
        eventually("the log tells the admin address", LOGGED_WITHIN, || told().is_some());
        format!("http://{}", told().unwrap_or_default())
    }
}

/// Copies a folder with its folders and the permissions of its files.
fn copy_files(from: &Path, to: &Path) {
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            fs::create_dir(&target).unwrap();
            copy_files(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), &target).unwrap();
        }
    }
}

pub(crate) fn authorization(key: &str) -> String {
    format!("api-key {key}")
}

/// A text member of an object.
pub(crate) fn text(object: &Value, name: &str) -> String {
    match object.get(name).and_then(Value::as_str) {
        Some(text) => text.to_owned(),
        None => panic!("{object} has no text `{name}`"),
    }
}

/// A full onboarding with a processor's profile; the dba of both merchant and store is given.
pub(crate) fn full_body(dba: &str, processor: &str, profile: Value) -> Value {
    json!({
        "merchantData": {
            "dba": dba, "firstName": "Maria", "lastName": "Lopez",
            "email": "maria@harbor.example", "addressLine1": "12 Pier Road",
            "zipCode": "10001", "phoneNumber": "2125550142", "ISDcode": "+1",
        },
        "storeData": {
            "mccCode": "5812", "firstName": "Daniel", "lastName": "Reyes", "dba": dba,
            "addressLine1": "14 Pier Road", "zipCode": "60614",
            "email": "daniel@harbor.example", "phoneNumber": "3125550188", "ISDcode": "+1",
        },
        "tpnData": {
            "deviceManufacturer": "Kozen", "deviceModel": "P3", "tpnApplicationSign": "CRDT",
            "tpnRoutingType": "SIMPLE",
            "tpnProcessor": { "processorName": processor, "profile": [profile] },
        },
    })
}

/// A full onboarding whose names nobody else has.
pub(crate) fn body(dba: &str) -> Value {
    full_body(dba, "CKNX", json!({ "profileId": "01", "apiKey": "processor-key-0001" }))
}

/// Waits until `done`, and fails if that takes longer than `limit`.
pub(crate) fn eventually(what: &str, limit: Duration, mut done: impl FnMut() -> bool) {
    let deadline = Instant::now() + limit;
    while !done() {
        assert!(Instant::now() < deadline, "after {limit:?} still not: {what}");
        thread::sleep(POLL_INTERVAL);
    }
}

/// What a command that failed with this status said, which is one sentence and nothing else.
pub(crate) fn complaint(output: &Output, status: i32) -> String {
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(status), "{stderr}");
    assert!(output.stdout.is_empty(), "{}", String::from_utf8_lossy(&output.stdout));
    if status == 1 {
        let said: Vec<&str> = stderr.lines().filter(|line| !line.starts_with('{')).collect();
        assert_eq!(said.len(), 1, "more than one line: {stderr}");
        assert!(stderr.contains("boardwalk: "), "{stderr}");
    }
    stderr
}
