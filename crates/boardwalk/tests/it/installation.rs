//! The configuration, the master key, and what `doctor` says about both.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Output;
use std::thread;

use serde_json::{Value, json};
use testkit::process;

use crate::support::{Site, body, complaint};

const FIRST_STARTS: usize = 8;
const SQLITE_PAGE_BYTES: usize = 4_096;

fn key_file(site: &Site) -> PathBuf {
    site.data().join("master.key")
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

fn shown(output: &Output) -> String {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout.clone()).unwrap()
}

#[test]
fn the_printed_configuration_is_a_configuration() {
    let site = Site::sqlite().set("server.limits.connections", 77).set("log.level", "warn");
    let printed = shown(&site.run(&["config", "print"]));
    assert!(printed.contains("connections = 77\n"), "{printed}");
    assert!(printed.contains("# Connections open at once.\n"), "{printed}");
    let as_object = site.json(&["config", "print"]);

    let other = Site::sqlite();
    let file = other.data().join("boardwalk.toml");
    fs::write(&file, &printed).unwrap();
    assert_eq!(shown(&other.run(&["config", "print"])), printed, "found in the data folder");
    assert_eq!(other.json(&["config", "print"]), as_object);
    let third = Site::sqlite();
    let named = ["--config", file.to_str().unwrap(), "config", "print"];
    assert_eq!(shown(&third.run(&named)), printed, "named by the flag");
    let outranked = third.set("server.limits.connections", 78);
    assert!(shown(&outranked.run(&named)).contains("connections = 78\n"));
}

#[test]
fn a_misspelt_setting_is_refused() {
    let site = Site::sqlite();
    fs::write(site.data().join("boardwalk.toml"), "[server]\nlimit = 1\n").unwrap();
    let said = complaint(&site.run(&["iso", "list"]), 1);
    assert!(said.contains("limit") && said.contains("boardwalk.toml"), "{said}");
    fs::write(site.data().join("boardwalk.toml"), "[server\n").unwrap();
    assert!(complaint(&site.run(&["iso", "list"]), 1).contains("boardwalk.toml"));
    let said = complaint(&Site::sqlite().set("server.bogus", 1).run(&["iso", "list"]), 1);
    assert!(said.contains("BOARDWALK_SERVER__BOGUS"), "{said}");
    let said = complaint(&Site::sqlite().set("listen.sandbox", "here").run(&["iso", "list"]), 1);
    assert!(said.contains("BOARDWALK_LISTEN__SANDBOX"), "{said}");
}

#[test]
fn only_the_owner_may_read_the_data_folder_and_the_key() {
    let site = Site::sqlite();
    let folder = site.data().join("new");
    let folder = folder.to_str().unwrap();
    site.iso("Private");
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_boardwalk"));
    command.args(["--data", folder, "iso", "create", "--name", "Private"]);
    shown(&process::run_command(command, b"").unwrap());
    assert_eq!(mode(Path::new(folder)), 0o700);
    assert_eq!(mode(&Path::new(folder).join("master.key")), 0o600);

    fs::set_permissions(key_file(&site), Permissions::from_mode(0o644)).unwrap();
    for command in [&["iso", "list"][..], &["serve", "--listen", "127.0.0.1:0"]] {
        let said = complaint(&site.run(command), 1);
        assert!(said.contains("chmod 600"), "{said}");
    }
    fs::set_permissions(key_file(&site), Permissions::from_mode(0o600)).unwrap();
    shown(&site.run(&["iso", "list"]));
}

#[test]
fn a_database_opens_with_its_own_key_only() {
    for site in [Site::sqlite(), Site::postgres()] {
        let key = site.key(&site.iso("Sealed"));
        let own = fs::read_to_string(key_file(&site)).unwrap();
        let stranger = Site::sqlite();
        stranger.iso("Stranger");
        let other = fs::read_to_string(key_file(&stranger)).unwrap();

        fs::write(key_file(&site), &other).unwrap();
        let said = complaint(&site.run(&["iso", "list"]), 1);
        assert!(said.contains("master key"), "{said}");
        fs::write(key_file(&site), "not a key\n").unwrap();
        assert!(complaint(&site.run(&["iso", "list"]), 1).contains("not a master key"));

        fs::remove_file(key_file(&site)).unwrap();
        let said = complaint(&site.run(&["iso", "list"]), 1);
        assert!(said.contains("master key"), "{said}");
        assert!(!key_file(&site).exists(), "a key that opens nothing was left behind");

        let mut command = site.command(&["iso", "list"]);
        command.env("BOARDWALK_MASTER_KEY", own.trim());
        shown(&process::run_command(command, b"").unwrap());
        fs::write(key_file(&site), &own).unwrap();
        fs::set_permissions(key_file(&site), Permissions::from_mode(0o600)).unwrap();
        assert_eq!(site.serve().onboard(&key, &body("Sealed")).status, 200);
    }
}

#[test]
fn many_first_starts_at_once_agree_on_one_key() {
    for site in [Site::sqlite(), Site::postgres()] {
        thread::scope(|scope| {
            for _ in 0..FIRST_STARTS {
                scope.spawn(|| shown(&site.run(&["iso", "create", "--name", "Hasty"])));
            }
        });
        let isos = site.json(&["iso", "list"]);
        assert_eq!(isos["isos"].as_array().unwrap().len(), FIRST_STARTS);
        let keys = fs::read_dir(site.data()).unwrap().filter(|entry| {
            entry.as_ref().unwrap().file_name().to_string_lossy().starts_with("master.key")
        });
        assert_eq!(keys.count(), 1, "something is left beside the key");
    }
}

#[test]
fn the_doctor_finds_what_is_wrong_and_changes_nothing() {
    let site = Site::sqlite();
    let untouched = site.data().join("nothing");
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_boardwalk"));
    command.arg("--data").arg(&untouched).args(["--json", "doctor"]);
    let output = process::run_command(command, b"").unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(!untouched.exists(), "the doctor made what was missing");

    site.iso("Healthy");
    let states = |output: &Output| -> Vec<Value> {
        checks(output).iter().map(|check| check["state"].clone()).collect()
    };
    let well = site.run(&["--json", "doctor"]);
    assert!(well.status.success(), "{well:?}");
    assert!(states(&well).iter().all(|state| state != "problem"), "{well:?}");

    fs::set_permissions(site.data(), Permissions::from_mode(0o755)).unwrap();
    fs::set_permissions(key_file(&site), Permissions::from_mode(0o640)).unwrap();
    let sick = site.run(&["--json", "doctor"]);
    assert_eq!(sick.status.code(), Some(1));
    assert!(states(&sick).iter().filter(|state| **state == "problem").count() >= 2, "{sick:?}");
    let advice = String::from_utf8(sick.stdout).unwrap();
    assert!(advice.contains("chmod 700") && advice.contains("chmod 600"), "{advice}");
}

fn checks(output: &Output) -> Vec<Value> {
    let object: Value = serde_json::from_slice(&output.stdout).unwrap();
    object["checks"].as_array().unwrap().clone()
}

/// The state of one check, and what it says.
fn found(site: &Site, arguments: &[&str], check: &str) -> (String, String) {
    let output = site.run(&[&["--json", "doctor"], arguments].concat());
    let checks = checks(&output);
    let named = |found: &&Value| found["check"].as_str().unwrap().contains(check);
    let found = checks.iter().find(named).unwrap_or_else(|| panic!("no {check} in {checks:?}"));
    let is_problem = |check: &Value| check["state"] == "problem";
    assert_eq!(output.status.success(), !checks.iter().any(is_problem), "{checks:?}");
    (crate::support::text(found, "state"), crate::support::text(found, "detail"))
}

#[test]
fn the_doctor_finds_overwritten_pages() {
    let site = Site::sqlite();
    site.iso("Damaged");
    let (state, said) = found(&site, &[], "sandbox database");
    assert_eq!(state, "ok", "{said}");
    assert!(found(&site, &["--full"], "sandbox database").1.contains("every row"));

    let path = site.data().join("sandbox.db");
    let mut content = fs::read(&path).unwrap();
    let pages = content.chunks_mut(SQLITE_PAGE_BYTES).rev();
    // Of tables and indexes without rows: those that say what tables there are, and how large, are
    // read when the file is opened.
    let is_empty = |page: &&mut [u8]| matches!(page[..5], [0x0a | 0x0d, _, _, 0, 0]);
    pages.filter(is_empty).take(8).for_each(|page| page.fill(0xa5));
    fs::write(&path, content).unwrap();
    shown(&site.run(&["iso", "list"]));
    for flags in [&[][..], &["--full"]] {
        let (state, said) = found(&site, flags, "sandbox database");
        assert_eq!(state, "problem", "{said}");
        assert!(said.contains("damaged") && said.contains("backup"), "{said}");
    }
}

#[test]
fn the_doctor_finds_files_that_others_can_open() {
    let site = Site::sqlite();
    site.iso("Open");
    assert_eq!(found(&site, &[], "files").0, "ok");
    for (name, bits) in [("sandbox.db", 0o666), ("boardwalk.toml", 0o644), ("old.backup", 0o640)] {
        let path = site.data().join(name);
        let file = fs::File::options().append(true).create(true).open(&path).unwrap();
        file.set_permissions(Permissions::from_mode(bits)).unwrap();
        let (state, said) = found(&site, &[], "files");
        assert_eq!(state, "problem", "{name}: {said}");
        assert!(said.contains("chmod 600") && said.contains(name), "{said}");
        file.set_permissions(Permissions::from_mode(0o600)).unwrap();
    }
    assert_eq!(found(&site, &[], "files").0, "ok");
}

#[test]
fn the_doctor_wants_an_address_in_production_and_mail_everywhere() {
    for site in [Site::sqlite(), Site::postgres()] {
        site.iso("Trial");
        let (state, said) = found(&site, &[], "mail relay");
        assert_eq!(state, "warning", "{said}");
        assert!(said.contains("set mail.relay"), "{said}");
        assert_eq!(found(&site, &[], "site URL").0, "warning");
        site.json(&["--environment", "production", "iso", "create", "--name", "Real"]);
        let (state, said) = found(&site, &[], "site URL");
        assert_eq!(state, "problem", "{said}");
        assert!(said.contains("set it"), "{said}");
        assert_eq!(found(&site, &["--environment", "sandbox"], "site URL").0, "warning");
        let site = site.set("site.url", "https://shop.example");
        assert_eq!(found(&site, &[], "site URL").0, "ok");
    }
}

#[test]
fn one_server_has_a_sqlite_environment_for_itself() {
    let site = Site::sqlite();
    let key = site.key(&site.iso("Alone"));
    let running = site.serve();
    let backup = site.data().join("kept.backup");
    shown(&site.run(&["backup", backup.to_str().unwrap()]));
    let listen = ["--listen", "127.0.0.1:0", "--admin-listen", "127.0.0.1:0"];
    let serve = ["serve", "--listen-production", "127.0.0.1:0"];
    let sandbox = ["serve", "--environment", "sandbox"];
    let commands = [[&serve[..], &listen].concat(), [&sandbox[..], &listen].concat(), vec!["demo"]];
    for command in &commands {
        let said = complaint(&site.run(command), 1);
        let process = format!("process {}", running.server.pid());
        assert!(said.contains("another server") && said.contains(&process), "{said}");
        assert!(said.contains("stop it") && said.contains("PostgreSQL"), "{said}");
    }
    let said = complaint(&site.run(&["restore", backup.to_str().unwrap()]), 1);
    assert!(said.contains("another server"), "{said}");
    assert_eq!(running.onboard(&key, &body("Undisturbed")).status, 200);
    assert_eq!(site.json(&["iso", "list"])["isos"][0]["name"], json!("Alone"));

    let mut other =
        site.command(&[&["serve", "--environment", "production"][..], &listen].concat());
    other.arg("--json");
    let other = process::Server::start_command(other, &["production"]).unwrap();
    running.server.kill();
    let running = site.serve();
    assert_eq!(running.onboard(&key, &body("After The Kill")).status, 200);
    other.kill();
}
