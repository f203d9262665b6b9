//! An answered write survives a power loss.
//!
//! The test starts itself again as a child with a library that keeps a copy of every file as it was
//! when it was last flushed; see `power_loss.c`. The child writes and says what was answered; it is
//! killed in the middle, and **everything that was answered must be in the flushed copies**.

use std::collections::BTreeSet;
use std::env;
use std::ffi::OsString;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use db::{Database, Location, fact};
use types::Environment;

use crate::support::together;

const WRITERS: usize = 8;
/// Enough that SQLite moves its log into the main file several times.
const ANSWERS: usize = 600;
const VALUE_LEN: usize = 20_000;

#[test]
fn an_answered_sqlite_write_survives_a_power_loss() {
    if let Some(folder) = env::var_os("SHADOW_FROM") {
        write_until_killed(&PathBuf::from(folder));
    }
    let folder = testkit::temp_dir().unwrap();
    let [live, flushed] = ["live", "flushed"].map(|name| folder.path().join(name));
    std::fs::create_dir(&live).unwrap();
    std::fs::create_dir(&flushed).unwrap();
    let answered = answers_of_a_killed_child(folder.path(), &live, &flushed);
    assert_eq!(answered.len(), ANSWERS);
    let store = Database::open(&location(&flushed), schema::MIGRATIONS).unwrap();
    let lost: Vec<_> = answered.difference(&names(&store)).cloned().collect();
    assert!(lost.is_empty(), "{} of {ANSWERS} were lost: {lost:?}", lost.len());
}

fn answers_of_a_killed_child(folder: &Path, live: &Path, flushed: &Path) -> BTreeSet<String> {
    let test = "power_loss::an_answered_sqlite_write_survives_a_power_loss";
    let mut child = Command::new(env::current_exe().unwrap())
        .args([test, "--exact", "--nocapture"])
        .env("LD_PRELOAD", library(folder))
        .env("SHADOW_FROM", live)
        .env("SHADOW_TO", flushed)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    // The test harness may have begun the first line.
    let mut answers = lines.filter_map(|line| Some(line.split_once("answered ")?.1.to_owned()));
    let answered = answers.by_ref().take(ANSWERS).collect();
    child.kill().unwrap();
    child.wait().unwrap();
    answered
}

/// Compiles the library. Building this crate needs a C compiler as well.
fn library(folder: &Path) -> OsString {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/power_loss.c");
    let library = folder.join("power_loss.so");
    let mut compiler = Command::new("cc");
    compiler.args(["-shared", "-fPIC", "-O1", "-Wall", "-Werror", "-o"]);
    let status = compiler.arg(&library).arg(source).arg("-ldl").status();
    assert!(status.expect("a C compiler is there").success());
    library.into_os_string()
}

fn write_until_killed(folder: &Path) -> ! {
    let store = Database::open(&location(folder), schema::MIGRATIONS).unwrap();
    let value = "x".repeat(VALUE_LEN);
    together(WRITERS, |writer| -> () {
        for round in 0.. {
            let name = format!("{writer}-{round}");
            let (stored, value) = (name.clone(), value.clone());
            store.write_blocking(move |conn| fact::get_or_set(conn, &stored, &value)).unwrap();
            println!("answered {name}");
        }
    });
    unreachable!("the parent kills this process")
}

fn location(folder: &Path) -> Location {
    Location::parse(None, folder, Environment::Sandbox, 1).unwrap()
}

fn names(store: &Database) -> BTreeSet<String> {
    let found = store.read_blocking(|conn| {
        let mut names = BTreeSet::new();
        conn.query_text("SELECT name FROM facts", &[], &mut |row| {
            names.insert(row.get(0)?);
            Ok(())
        })?;
        Ok(names)
    });
    found.unwrap()
}
