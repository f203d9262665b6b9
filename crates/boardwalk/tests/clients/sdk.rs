//! Our own packages: the tests that each brings along, and its examples, against a server of their
//! own.

use std::path::Path;
use std::process::Command;

use crate::folder;
use crate::support::{Running, Site};

/// A server that may send webhooks to this machine, with a key of an ISO that may do everything and
/// one that may read merchants alone.
struct Server {
    site: Site,
    running: Running,
    key: String,
    reader: String,
}

impl Server {
    fn start() -> Self {
        let site = Site::sqlite().set("server.outbound.exempt", r#"["127.0.0.1"]"#);
        let iso = site.iso("Packages");
        let key = site.key(&iso);
        let (_, reader) = site.key_with(&iso, &["--scope", "merchants.read"]);
        let running = site.serve();
        Self { site, running, key, reader }
    }

    /// Runs a script, which must be content, and returns what it said.
    fn run(&self, program: &Path, folder: &Path, script: &str, arguments: &[&str]) -> String {
        let mut command = Command::new(program);
        command.current_dir(folder).arg(script).args(arguments);
        command.env("BOARDWALK_SERVER", &self.running.url);
        command.env("BOARDWALK_API_KEY", &self.key).env("BOARDWALK_READER_KEY", &self.reader);
        command.env("PLACE", self.site.data().join("last-event.txt"));
        let output = testkit::process::run_command(command, b"").unwrap();
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        let complaint = String::from_utf8_lossy(&output.stderr);
        println!("{script}\n{said}{complaint}");
        assert!(output.status.success(), "{script} ended with {}", output.status);
        format!("{said}{complaint}")
    }
}

/// What each example says; the second follows what the first has done.
fn check_examples(run: impl Fn(&str, &[&str]) -> String, [onboard, follow, receive]: [&str; 3]) {
    let said = run(onboard, &["Harbor Coffee"]);
    assert!(said.starts_with("Harbor Coffee is active: "), "{said}");
    assert!(said.contains("on P3 is provisioned"), "{said}");
    // Its own key makes a second run find what the first one did.
    assert_eq!(run(onboard, &["Harbor Coffee"]), said);
    assert_eq!(run(follow, &["1"]).lines().count(), 1);
    // And what else happened a moment before, which is numbered since.
    let said = run(receive, &[]);
    assert!(said.lines().all(|line| line.starts_with("received ")), "{said}");
    assert!(said.contains("received webhook.test\n"), "{said}");
}

#[test]
fn typescript() {
    let (folder, server) = (folder("sdk-typescript"), Server::start());
    let run = |script: &str, arguments: &[&str]| {
        server.run(Path::new("node"), &folder, &format!("build/{script}.js"), arguments)
    };
    let said = run("tests/session.test", &[]);
    assert!(said.contains("# fail 0\n"), "the tests did not come to their end");
    check_examples(run, ["examples/onboard", "examples/follow-events", "examples/receive-webhook"]);
}

#[test]
fn python() {
    let (folder, server) = (folder("sdk-python"), Server::start());
    let program = folder.join("venv/bin/python");
    let run = |script: &str, arguments: &[&str]| {
        server.run(&program, &folder, &format!("{script}.py"), arguments)
    };
    let said = run("tests/test_session", &[]);
    assert!(said.ends_with("OK\n"), "the tests did not come to their end");
    check_examples(run, ["examples/onboard", "examples/follow_events", "examples/receive_webhook"]);
}
