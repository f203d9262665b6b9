//! Backups that the server takes by itself: into a folder and a bucket, kept in number, never at
//! the cost of those before, and restored by one command.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use db::background_job::{self, JobState};
use db::filter::Page;
use serde_json::Value;
use testkit::http::{self, Connection, Request};

use crate::load::{Ids, read_back};
use crate::support::{Running, Site, body, complaint, eventually};
use crate::test_bucket::{ACCESS_KEY, BUCKET, Error, SECRET_KEY, TestBucket};

/// For several periods on a busy machine.
const WITHIN: Duration = Duration::from_mins(1);
/// In a backup every byte of a file is two, so that this is sent in parts.
const FILE_BYTES: usize = 5 << 20;
/// What somebody else keeps beside the backups.
const OTHERS: &str = "nightly/notes.txt";

/// A folder for backups in the data folder.
fn folder_of(site: &Site) -> PathBuf {
    site.data().join("kept")
}

fn into_folder(site: Site, every: &str, keep: u32) -> Site {
    let folder = folder_of(&site);
    let site = site.set("backup.to", folder.to_str().unwrap());
    site.set("backup.every", every).set("backup.keep", keep)
}

/// What is in the folder, in the order of time.
fn names_in(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names: Vec<String> =
        entries.map(|entry| entry.file_name().into_string().unwrap()).collect();
    names.sort();
    names.retain(|name| name.ends_with(".backup"));
    names
}

/// A metric of the sandbox; further labels are given as they are written.
fn metric(running: &Running, name: &str, labels: &str) -> u64 {
    let metrics = http::get(&running.admin_url(), "/metrics", &[]).unwrap().text();
    let start = format!("{name}{{environment=\"sandbox\"{labels}}} ");
    let line = metrics.lines().find_map(|line| line.strip_prefix(&start));
    line.map_or(0, |value| value.parse().unwrap())
}

fn failures(running: &Running) -> u64 {
    let count = |outcome: &str| {
        let labels = format!(",kind=\"backup\",outcome=\"{outcome}\"");
        metric(running, "boardwalk_job_attempts_total", &labels)
    };
    count("postponed") + count("failed")
}

fn last_success(running: &Running) -> u64 {
    metric(running, "boardwalk_backup_last_success_timestamp_seconds", "")
}

/// What the doctor says about the backups of the sandbox: a state, and why.
fn doctor(site: &Site) -> (String, String) {
    let output = site.run(&["--json", "doctor", "--environment", "sandbox"]);
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    let checks = found["checks"].as_array().unwrap();
    let check = checks.iter().find(|check| check["check"].as_str().unwrap().starts_with("backups"));
    let text = |name: &str| check.unwrap()[name].as_str().unwrap().to_owned();
    (text("state"), text("detail"))
}

/// Restores with these arguments into an empty site with the same master key and settings, which
/// then has what was onboarded.
fn restores(from: &Site, to: &Site, arguments: &[&str], key: &str, kept: &BTreeMap<String, Ids>) {
    fs::copy(from.data().join("master.key"), to.data().join("master.key")).unwrap();
    let told = to.json(&[&["restore"], arguments].concat());
    assert!(told["rows"]["merchants"].as_u64().unwrap() >= 1, "{told}");
    let entries = fs::read_dir(to.data()).unwrap().flatten();
    let left: Vec<_> = entries.map(|entry| entry.file_name()).collect();
    let is_fetched = |name: &std::ffi::OsString| name.to_string_lossy().contains("fetched");
    assert!(!left.iter().any(is_fetched), "{left:?}");
    read_back(&to.serve(), key, kept);
}

fn onboarded(running: &Running, key: &str, dba: &str) -> (String, Ids) {
    let answer = running.onboard(key, &body(dba));
    assert_eq!(answer.status, 200, "{}", answer.text());
    (dba.to_owned(), Ids::of(&answer))
}

fn are_taken_kept_and_restored(site: Site, empty: Site) {
    let site = into_folder(site, "2s", 2);
    let folder = folder_of(&site);
    let key = site.key(&site.iso("Kept"));
    assert_eq!(doctor(&site).0, "warning", "none was taken yet");
    let running = site.serve();
    let merchants: BTreeMap<String, Ids> = [onboarded(&running, &key, "Kept one")].into();
    let mut seen = Vec::new();
    eventually("four backups were taken", WITHIN, || {
        seen.extend(names_in(&folder));
        seen.sort();
        seen.dedup();
        seen.len() >= 4
    });
    eventually("two are kept", WITHIN, || names_in(&folder).len() == 2);
    let told = site.json(&["backups", "--environment", "sandbox"]);
    assert!(told["backups"].as_array().unwrap().len() >= 2, "{told}");
    // On a busy machine two periods may pass between two backups.
    eventually("the doctor is content", WITHIN, || doctor(&site).0 == "ok");
    assert!(last_success(&running) > 1_700_000_000);
    assert!(metric(&running, "boardwalk_backup_size_bytes", "") > 1_000);
    assert_eq!(metric(&running, "boardwalk_backup_period_seconds", ""), 2);
    assert_eq!(failures(&running), 0, "{}", running.server.stderr());
    running.server.terminate(WITHIN).unwrap();

    let rest = fs::read_dir(&folder).unwrap().count();
    assert_eq!(rest, names_in(&folder).len(), "something is left of a backup that was cut off");
    // Older than two periods by then.
    thread::sleep(Duration::from_secs(6));
    let (state, said) = doctor(&site);
    assert!(state == "warning" && said.contains("every 2s"), "{state}: {said}");
    let empty = empty.set("backup.to", folder.to_str().unwrap());
    restores(&site, &empty, &["--latest"], &key, &merchants);
}

#[test]
fn scheduled_backups_are_taken_kept_and_restored() {
    are_taken_kept_and_restored(Site::sqlite(), Site::postgres());
}

#[test]
fn scheduled_backups_are_taken_kept_and_restored_on_postgres() {
    are_taken_kept_and_restored(Site::postgres(), Site::sqlite());
}

#[test]
fn a_broken_folder_costs_no_backup() {
    let site = into_folder(Site::sqlite(), "1s", 1);
    site.iso("Broken");
    let (folder, aside) = (folder_of(&site), site.data().join("aside"));
    let running = site.serve();
    eventually("a backup is taken", WITHIN, || last_success(&running) > 0);
    fs::rename(&folder, &aside).unwrap();
    // Nobody can write into it, not even root.
    fs::write(&folder, "").unwrap();
    // One that was under way may end well.
    thread::sleep(Duration::from_secs(1));
    let (kept, before) = (names_in(&aside), failures(&running));
    assert!(!kept.is_empty());
    eventually("two backups fail", WITHIN, || failures(&running) >= before + 2);
    let log = running.server.stderr();
    assert!(log.contains("a job failed") && log.contains("cannot work in"), "{log}");
    let (state, said) = doctor(&site);
    assert!(state == "problem" && said.contains("backup folder"), "{state}: {said}");
    assert_eq!(names_in(&aside), kept);

    fs::remove_file(&folder).unwrap();
    fs::rename(&aside, &folder).unwrap();
    let before = last_success(&running);
    eventually("backups are taken again", WITHIN, || last_success(&running) > before);
    eventually("the old one is deleted", WITHIN, || {
        let now = names_in(&folder);
        now.len() == 1 && now != kept
    });
}

#[test]
fn a_place_that_cannot_be_used_is_refused_at_start() {
    let site = Site::sqlite();
    site.iso("Refused");
    let refused = |site: &Site, words: &str| {
        let said = complaint(&site.run(&["serve", "--environment", "sandbox"]), 1);
        assert!(said.contains(words), "{said}");
    };
    let site = site.set("backup.to", "backups");
    refused(&site, "absolute path");
    let site = site.set("backup.to", "s3://kept");
    refused(&site, "backup.s3.access_key_id");
    assert!(complaint(&site.run(&["backups"]), 1).contains("access_key_id"));
    let site = site.set("backup.to", "/kept").set("backup.every", "0s");
    refused(&site, "backup.every");
    let off = complaint(&Site::sqlite().run(&["backups"]), 1);
    assert!(off.contains("set backup.to"), "{off}");
}

fn into_bucket(site: Site, bucket: &TestBucket, secret: &str) -> Site {
    let site = site.set("backup.to", format!("s3://{BUCKET}/nightly"));
    let site = site.set("backup.every", "2s").set("backup.keep", 2);
    let site = site.set("backup.s3.endpoint", &bucket.url);
    site.set("backup.s3.access_key_id", ACCESS_KEY).set("backup.s3.secret_access_key", secret)
}

/// Puts a file into the media library, and returns its address.
fn upload(site: &Site, running: &Running) -> String {
    let mut film = vec![7; FILE_BYTES];
    film[..12].copy_from_slice(b"\0\0\0\x20ftypisom");
    let request = Request::new("POST", "/wp-json/wp/v2/media")
        .header("Authorization", &site.administrator())
        .header("Content-Type", "video/mp4")
        .header("Content-Disposition", "attachment; filename=\"pier.mp4\"")
        .body(film);
    let answer = Connection::open(&running.url).unwrap().send(&request).unwrap();
    assert_eq!(answer.status, 201, "{}", answer.text());
    let address = answer.json().unwrap()["source_url"].as_str().unwrap().to_owned();
    address.split_once("/wp-content").map(|(_, path)| format!("/wp-content{path}")).unwrap()
}

#[test]
fn a_bucket_keeps_what_reads_back() {
    let bucket = TestBucket::start();
    bucket.state().objects.insert(OTHERS.to_owned(), b"not ours".to_vec());
    let site = into_bucket(Site::sqlite(), &bucket, SECRET_KEY);
    let key = site.key(&site.iso("Far away"));
    let running = site.serve();
    let path = upload(&site, &running);
    let merchants: BTreeMap<String, Ids> = [onboarded(&running, &key, "Far one")].into();
    let backups = || {
        let names = bucket.names();
        names.into_iter().filter(|name| name.ends_with(".backup")).collect::<Vec<String>>()
    };
    eventually("backups are deleted", WITHIN, || bucket.state().deleted.len() >= 2);
    eventually("backups are sent in parts", WITHIN, || bucket.state().in_parts >= 2);
    assert_eq!(bucket.state().unsigned, 0);

    for error in [Error::Full, Error::Damages] {
        bucket.state().error = error;
        // One that was under way may end well.
        eventually("backups fail", WITHIN, || failures(&running) > 0);
        let (before, kept, deleted) =
            (failures(&running), backups(), bucket.state().deleted.clone());
        eventually("more backups fail", WITHIN, || failures(&running) >= before + 2);
        let lost = |name: &&String| !backups().contains(name);
        assert_eq!(kept.iter().filter(lost).count(), 0, "{error:?}: {kept:?}");
        // What is damaged was deleted, and nothing else.
        let state = bucket.state();
        let all: usize = state.deleted.len() - deleted.len();
        assert!(all <= state.damaged, "{error:?}: {:?}", state.deleted);
        assert!(state.uploads.is_empty() || error == Error::Full, "{:?}", state.uploads.keys());
    }
    bucket.state().error = Error::None;
    let before = last_success(&running);
    eventually("backups are taken again", WITHIN, || last_success(&running) > before + 2);
    eventually("two are kept", WITHIN, || backups().len() == 2);
    running.server.terminate(WITHIN).unwrap();
    assert!(bucket.state().objects.contains_key(OTHERS), "somebody else's object is gone");
    let left: Vec<String> = fs::read_dir(site.data())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.contains(".backup"))
        .collect();
    assert!(left.is_empty(), "{left:?}");

    let empty = into_bucket(Site::sqlite(), &bucket, SECRET_KEY);
    restores(&site, &empty, &["--latest"], &key, &merchants);
    let file = http::get(&empty.serve().url, &path, &[]).unwrap();
    assert_eq!((file.status, file.body.len()), (200, FILE_BYTES));
    let named = format!("s3://{BUCKET}/nightly/{}", backups().first().unwrap());
    let empty = into_bucket(Site::sqlite(), &bucket, SECRET_KEY);
    restores(&site, &empty, &[&named], &key, &merchants);
    let stranger = into_bucket(Site::sqlite(), &bucket, "another secret");
    complaint(&stranger.run(&["backups"]), 1);
    assert!(bucket.state().unsigned > 0);
}

#[test]
fn of_two_servers_one_takes_the_backup() {
    let site = into_folder(Site::postgres(), "3s", 100);
    site.iso("Shared");
    let folder = folder_of(&site);
    let servers = [site.serve(), site.serve()];
    eventually("four backups are taken", WITHIN, || names_in(&folder).len() >= 4);
    // Either tells of the last one, whoever took it.
    for running in &servers {
        assert!(last_success(running) > 0);
        assert_eq!(failures(running), 0, "{}", running.server.stderr());
    }
    drop(servers);
    let page = Page { limit: 100, offset: 0 };
    let read = move |conn: &mut dyn db::Conn| background_job::list(conn, "backup", &[], page);
    let (jobs, _) = site.store().read_blocking(read).unwrap();
    let done = jobs.iter().filter(|job| job.state == JobState::Done).count();
    assert!(names_in(&folder).len() <= done + 1, "one was under way at most: {jobs:?}");
    for pair in jobs.windows(2) {
        let apart = pair[0].created.since(pair[1].created);
        assert!(apart >= Duration::from_secs(3), "two for one period: {jobs:?}");
    }
}
