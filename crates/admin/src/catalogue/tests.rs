//! The catalogue over a network that is a list of answers, a folder, and a clock that is moved by
//! looking from another site.

use std::sync::Mutex;

use frame::outbound::{Fetch, FetchError, Fetched, Fetching, Outbound};
use serde_json::{Value, json};
use types::Kind;

use super::*;
use crate::package::pack;
use crate::testing::site_at;

const LIST: &str = "https://offers.example/list.json";
const ARCHIVE: &str = "https://offers.example/far.zip";
const START: &str = "2026-11-15T08:00:00Z";

type Answer = (&'static str, Result<(u16, Vec<u8>), FetchError>);

/// Answers by the whole address, and counts how often it was asked.
#[derive(Debug, Default)]
struct FakeNetwork {
    answers: Mutex<Vec<Answer>>,
    request_count: Mutex<usize>,
}

impl Outbound for FakeNetwork {
    fn fetch(&self, request: Fetch) -> Fetching<'_> {
        *self.request_count.lock().unwrap() += 1;
        let answers = self.answers.lock().unwrap();
        let found = answers.iter().find(|(url, _)| *url == request.url.as_str());
        let answer = match found.map(|(_, answer)| answer.clone()) {
            Some(Ok((_, body))) if body.len() > request.max_bytes => Err(FetchError::TooLarge),
            Some(Ok((status, body))) => {
                Ok(Fetched { status, headers: Vec::new(), body, final_url: request.url })
            }
            Some(Err(error)) => Err(error),
            None => Err(FetchError::Unreachable),
        };
        Box::pin(async move { answer })
    }
}

/// A catalogue with its network, looked at at any time.
struct Scenario {
    catalogue: Catalogue,
    network: Arc<FakeNetwork>,
    folder: tempfile::TempDir,
    runtime: tokio::runtime::Runtime,
}

impl Scenario {
    fn new() -> Self {
        let folder = testkit::temp_dir().unwrap();
        let settings = Settings {
            catalogue_folder: Some(folder.path().join("packages")),
            catalogue_url: Some(LIST.to_owned()),
            ..Settings::default()
        };
        std::fs::create_dir(folder.path().join("packages")).unwrap();
        let market = Arc::new(Market::new(None).unwrap());
        Self {
            catalogue: Catalogue::new(&settings, market).unwrap(),
            network: Arc::default(),
            folder,
            runtime: tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap(),
        }
    }

    fn respond_with(&self, answers: &[Answer]) {
        *self.network.answers.lock().unwrap() = answers.to_vec();
    }

    /// A site on which so many seconds have passed.
    fn site(&self, seconds: u64) -> Site {
        let now = Timestamp::parse(START).unwrap().plus(Duration::from_secs(seconds));
        let network: Arc<FakeNetwork> = Arc::clone(&self.network);
        site_at(&self.folder.path().join(seconds.to_string()), now, network)
    }

    /// The names that are offered after so many seconds and that are not bundled.
    fn offered(&self, seconds: u64) -> Vec<String> {
        let site = self.site(seconds);
        let offers = self.runtime.block_on(self.catalogue.offers(&site));
        let others = offers.iter().filter(|offer| !offer.is_bundled());
        others.map(|offer| offer.manifest.slug().to_owned()).collect()
    }

    fn obtained(&self, seconds: u64, slug: &str) -> Result<Obtained> {
        let site = self.site(seconds);
        self.runtime.block_on(self.catalogue.obtain(&site, PackageKind::Plugin, slug))
    }

    /// What is said when it cannot be obtained.
    fn refusal(&self, seconds: u64, slug: &str) -> (Kind, String) {
        let error = self.obtained(seconds, slug).expect_err("it is refused");
        (error.kind(), error.to_string())
    }
}

fn manifest(slug: &str) -> Value {
    json!({ "slug": slug, "name": slug, "version": "1.0.0" })
}

fn archive(slug: &str) -> Vec<u8> {
    let files: Files =
        [(String::from("plugin.json"), manifest(slug).to_string().into_bytes())].into();
    pack(&files, None).unwrap()
}

fn list(slugs: &[&str], sha256: &str) -> Vec<u8> {
    let entry = |slug: &&str| {
        json!({
            "type": "plugin", "manifest": manifest(slug), "url": "far.zip", "sha256": sha256,
        })
    };
    let packages: Vec<Value> = slugs.iter().map(entry).collect();
    json!({ "packages": packages }).to_string().into_bytes()
}

fn digest(bytes: &[u8]) -> String {
    crate::package::hex_sha256(bytes)
}

#[test]
fn the_address_is_asked_again_after_a_while_and_believed_while_it_is_away() {
    let scenario = Scenario::new();
    scenario.respond_with(&[(LIST, Ok((200, list(&["far"], ""))))]);
    assert_eq!(scenario.offered(0), ["far"]);
    scenario.respond_with(&[(LIST, Ok((200, list(&["far", "further"], ""))))]);
    assert_eq!(scenario.offered(10), ["far"], "it was asked a moment ago");
    assert_eq!(scenario.offered(31), ["far", "further"]);
    for (seconds, down) in [
        (70, Err(FetchError::Unreachable)),
        (110, Ok((503, Vec::new()))),
        (150, Ok((200, b"<html>".to_vec()))),
        (190, Ok((200, vec![b' '; 3 << 20]))),
    ] {
        scenario.respond_with(&[(LIST, down)]);
        assert_eq!(scenario.offered(seconds), ["far", "further"], "at {seconds}");
    }
    assert_eq!(
        *scenario.network.request_count.lock().unwrap(),
        6,
        "once for each time that has passed"
    );
    scenario.respond_with(&[(LIST, Ok((200, list(&[], ""))))]);
    assert!(scenario.offered(230).is_empty(), "what is listed no more is offered no more");
}

#[test]
fn entries_that_are_wrong_are_left_out() {
    let scenario = Scenario::new();
    let entry = |change: &dyn Fn(&mut Value)| {
        let mut entry = json!({ "manifest": manifest("far"), "url": "far.zip", "sha256": "" });
        change(&mut entry);
        entry
    };
    let packages = [
        entry(&|_| {}),
        entry(&|entry| entry["manifest"]["slug"] = json!("../far")),
        entry(&|entry| entry["manifest"]["code"] = json!("<?php")),
        entry(&|entry| entry["url"] = json!("http://[")),
        entry(&|entry| entry["manifest"] = manifest("letters")),
    ];
    let body = json!({ "packages": packages }).to_string().into_bytes();
    scenario.respond_with(&[(LIST, Ok((200, body)))]);
    assert_eq!(scenario.offered(0), ["far"], "and the bundled plugin of a name stays");
    let many: Vec<String> = (0..600).map(|number| format!("far-{number}")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    scenario.respond_with(&[(LIST, Ok((200, list(&many, ""))))]);
    assert_eq!(scenario.offered(60).len(), 500, "a list has an end");
}

#[test]
fn an_archive_must_be_what_was_listed() {
    let scenario = Scenario::new();
    let (good, other) = (archive("far"), archive("near"));
    let (wrong, away) = (Kind::Invalid, Kind::Unavailable);
    for (seconds, sha256, answer, expected) in [
        (0, digest(&good), Ok((200, good.clone())), None),
        (60, digest(&good).to_uppercase(), Ok((200, good.clone())), None),
        (120, digest(&other), Ok((200, good.clone())), Some(wrong)),
        (180, digest(&other), Ok((200, other.clone())), Some(wrong)),
        (240, digest(b"no zip"), Ok((200, b"no zip".to_vec())), Some(wrong)),
        (300, digest(&good), Ok((404, Vec::new())), Some(Kind::NotFound)),
        (330, digest(&good), Ok((500, Vec::new())), Some(away)),
        (360, digest(&good), Err(FetchError::Unreachable), Some(away)),
        (420, digest(&good), Ok((200, vec![0; ARCHIVE_BYTES_MAX + 1])), Some(wrong)),
    ] {
        scenario.respond_with(&[(LIST, Ok((200, list(&["far"], &sha256)))), (ARCHIVE, answer)]);
        let got = scenario.obtained(seconds, "far");
        assert_eq!(got.as_ref().err().map(Error::kind), expected, "at {seconds}");
        let origin = got.map(|obtained| obtained.origin).ok();
        assert_eq!(origin.is_some_and(|origin| origin == "remote"), expected.is_none());
    }
}

#[test]
fn a_folder_offers_what_is_in_it_and_whole() {
    let scenario = Scenario::new();
    let put = |name: &str, content: &[u8]| {
        std::fs::write(scenario.folder.path().join("packages").join(name), content).unwrap();
    };
    put("near.zip", &archive("near"));
    put("letters.zip", &archive("letters"));
    put("broken.zip", b"no zip");
    put("large.zip", &vec![0; ARCHIVE_BYTES_MAX + 1]);
    put("readme.txt", b"not looked at");
    scenario.respond_with(&[(LIST, Ok((200, list(&["near", "far"], ""))))]);
    assert_eq!(scenario.offered(0), ["far", "near"]);
    assert_eq!(scenario.obtained(1, "near").unwrap().origin, "folder", "it wins over the address");
    assert_eq!(scenario.obtained(1, "letters").unwrap().origin, "bundled", "which wins over both");
    put("near.zip", b"cut off");
    assert_eq!(scenario.refusal(2, "near").0, Kind::Invalid);
    std::fs::remove_file(scenario.folder.path().join("packages/near.zip")).unwrap();
    assert_eq!(scenario.refusal(3, "near").0, Kind::Unavailable, "it was there a moment ago");
    assert_eq!(scenario.offered(60), ["far", "near"], "now the address has it");
    assert_eq!(scenario.refusal(61, "nowhere").0, Kind::NotFound);
}

#[test]
fn what_is_no_file_is_not_waited_for() {
    let scenario = Scenario::new();
    let packages = scenario.folder.path().join("packages");
    std::fs::write(packages.join("near.zip"), archive("near")).unwrap();
    std::fs::create_dir(packages.join("folder.zip")).unwrap();
    let made = std::process::Command::new("mkfifo").arg(packages.join("pipe.zip")).status();
    assert!(made.unwrap().success());
    let started = std::time::Instant::now();
    assert_eq!(scenario.offered(0), ["near"]);
    assert!(started.elapsed() < FOLDER_TIME, "nobody waits for who writes into the pipe");
}

#[test]
fn a_disk_that_hangs_costs_one_thread_and_takes_away_nothing() {
    let scenario = Scenario::new();
    std::fs::write(scenario.folder.path().join("packages/near.zip"), archive("near")).unwrap();
    assert_eq!(scenario.offered(0), ["near"]);
    // As if the reading that began before had not ended.
    scenario.catalogue.is_reading.store(true, Ordering::Release);
    assert_eq!(scenario.offered(60), ["near"], "what was listed last is still offered");
    scenario.catalogue.is_reading.store(false, Ordering::Release);
    std::fs::remove_file(scenario.folder.path().join("packages/near.zip")).unwrap();
    assert_eq!(scenario.offered(120), Vec::<String>::new());
}
