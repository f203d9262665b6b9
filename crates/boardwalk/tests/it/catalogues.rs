//! Packages from elsewhere, and feeds, through what can go wrong: a catalogue over HTTP and one in
//! a folder, a server killed in the middle of an install, a feed that fails and one that is old.

use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use admin::package::{Files, hex_sha256, pack};
use admin::rows::catalogue_feed::{self, FeedRow};
use serde_json::{Value, json};
use testkit::http;
use types::Timestamp;

use crate::far_host::{self, EXEMPT};
use crate::shop_client::{ShopClient, each};
use crate::support::{Site, eventually};

/// A job whose worker was killed is taken over when its lease ends.
const PATIENCE: Duration = Duration::from_mins(2);
const MOMENT: Duration = Duration::from_millis(50);

fn manifest(slug: &str) -> Value {
    json!({ "slug": slug, "name": slug, "version": "1.0.0" })
}

fn archive(slug: &str) -> Vec<u8> {
    let manifest = manifest(slug).to_string().into_bytes();
    let files: Files = [(String::from("plugin.json"), manifest)].into();
    pack(&files, None).unwrap()
}

/// What a catalogue elsewhere does.
#[derive(Default)]
struct Elsewhere {
    /// Archives wait while this is so.
    holds: AtomicBool,
    /// Archives that were asked for.
    asked: AtomicUsize,
}

impl Elsewhere {
    fn start() -> (Arc<Self>, String) {
        let elsewhere = Arc::new(Self::default());
        let own = Arc::clone(&elsewhere);
        let url = far_host::start(move |asked| own.answer(&asked.path));
        (elsewhere, format!("{url}/list.json"))
    }

    fn answer(&self, path: &str) -> far_host::CannedAnswer {
        let entry = |slug: &str, sha256: &str| {
            json!({
                "type": "plugin", "manifest": manifest(slug), "url": format!("{slug}.zip"),
                "sha256": sha256,
            })
        };
        let sum = |slug: &str| hex_sha256(&archive(slug));
        match path {
            "/list.json" => far_host::json(
                200,
                &json!({ "packages": [
                    entry("far", &sum("far")),
                    entry("forged", &sum("far")),
                    entry("huge", &sum("far")),
                    json!({ "manifest": {}, "url": "", "sha256": "" }),
                ] }),
            ),
            "/far.zip" => {
                self.asked.fetch_add(1, Ordering::SeqCst);
                while self.holds.load(Ordering::SeqCst) {
                    thread::sleep(MOMENT);
                }
                (200, archive("far"))
            }
            "/forged.zip" => (200, archive("forged")),
            "/huge.zip" => (200, vec![0; 9 << 20]),
            _ => (404, Vec::new()),
        }
    }
}

on_both_engines!(packages_come_from_elsewhere);

fn packages_come_from_elsewhere(site: Site) {
    let (elsewhere, url) = Elsewhere::start();
    let folder = testkit::temp_dir().unwrap();
    fs::write(folder.path().join("near.zip"), archive("near")).unwrap();
    fs::write(folder.path().join("broken.zip"), b"no archive").unwrap();
    let (exempt, hosts) = EXEMPT;
    let site = site
        .set("admin.catalogue_url", url)
        .set("admin.catalogue_folder", folder.path().display())
        .set(exempt, hosts);
    let client = ShopClient::open(site);
    let offered = each(&client.get("/boardwalk/v1/plugins"), "slug");
    let expected = ["far", "forged", "huge", "ledger", "letters", "near", "parcels"];
    assert_eq!(json!(offered), json!(expected));
    let install = |slug: &str| {
        let told = client.ask("POST", "/wc-admin/plugins/install", &json!({ "plugins": slug }));
        let error = told["errors"]["errors"][slug][0].as_str().unwrap_or_default().to_owned();
        (told["success"] == json!(true), error)
    };
    assert_eq!(install("near"), (true, String::new()));
    for (slug, word) in [("forged", "does not match"), ("huge", "too large")] {
        let (is_done, error) = install(slug);
        assert!(!is_done && error.contains(word), "{slug}: {error}");
    }
    assert_eq!(installed(&client), json!(["woocommerce", "near"]));
    killed_while_installing(client, &elsewhere);
}

fn installed(client: &ShopClient) -> Value {
    client.get("/wc-admin/plugins/installed")["plugins"].clone()
}

/// A job whose archive is on its way when the server dies leaves nothing, and is finished later.
fn killed_while_installing(client: ShopClient, elsewhere: &Elsewhere) {
    let far = json!({ "plugins": ["far", "letters"] });
    elsewhere.holds.store(true, Ordering::SeqCst);
    let path = "/wc-admin/onboarding/plugins/install-and-activate-async";
    let job_id = client.ask("POST", path, &far)["job_id"].as_str().unwrap().to_owned();
    let status = format!("/wc-admin/onboarding/plugins/scheduled-installs/{job_id}");
    eventually("the archive is being fetched", PATIENCE, || {
        elsewhere.asked.load(Ordering::SeqCst) == 1
    });
    let told = client.get(&status);
    assert_eq!(told["status"], json!("in-progress"), "{told}");
    assert_eq!(told["plugins"]["far"]["status"], json!("installing"), "{told}");
    assert_eq!(told["plugins"]["letters"]["status"], json!("pending"), "{told}");
    let client = client.kill();
    let told = client.get(&status);
    assert_ne!(told["plugins"]["far"]["status"], json!("activated"), "{told}");
    assert_eq!(installed(&client), json!(["woocommerce", "near"]), "nothing is half there");
    elsewhere.holds.store(false, Ordering::SeqCst);
    eventually("the job ends", PATIENCE, || client.get(&status)["status"] == json!("complete"));
    let told = client.get(&status);
    for slug in ["far", "letters"] {
        assert_eq!(told["plugins"][slug]["status"], json!("activated"), "{told}");
    }
    assert_eq!(installed(&client), json!(["woocommerce", "far", "letters", "near"]));
}

on_both_engines!(feeds_fail_and_end);

fn feeds_fail_and_end(site: Site) {
    let client = ShopClient::open(site);
    let create = |client: &ShopClient| client.ask("POST", "/wc/pos/v1/catalog/create", &json!({}));
    plant_hopeless_feed(&client.shop.site);
    let mut told = Value::Null;
    eventually("the feed ends", PATIENCE, || {
        told = create(&client);
        !matches!(told["state"].as_str(), Some("scheduled" | "in_progress"))
    });
    assert_eq!(told["state"], json!("failed"), "{told}");
    assert!(told["error"].is_string() && told["failed_at"].is_i64(), "{told}");
    assert_eq!(told.get("url"), None);
    assert_eq!(create(&client)["state"], json!("scheduled"), "a failure is told once");
    eventually("the next one is there", PATIENCE, || {
        create(&client)["state"] == json!("completed")
    });
    let url = create(&client)["url"].as_str().unwrap().to_owned();
    let path = url.strip_prefix(&client.running.url).unwrap().to_owned();
    // What goes while it is read breaks off.
    let is_there = |client: &ShopClient| {
        http::get(&client.running.url, &path, &[]).map_or(0, |answer| answer.status)
    };
    assert_eq!(is_there(&client), 200);
    let feed = age_feed(&client.shop.site, Duration::from_hours(19));
    let client = client.kill();
    assert_eq!(is_there(&client), 200, "it is good for 20 hours");
    assert_eq!(age_feed(&client.shop.site, Duration::from_hours(21)).file_name, feed.file_name);
    let client = client.kill();
    eventually("the old feed goes by itself", PATIENCE, || is_there(&client) == 404);
    let left = client.shop.site.store().read_blocking(move |conn| {
        Ok((
            catalogue_feed::get(conn, &feed_key())?,
            catalogue_feed::part(conn, &feed.file_name, 0)?,
        ))
    });
    assert_eq!(left.unwrap(), (None, None));
}

/// What the feed with all fields is known by.
fn feed_key() -> String {
    hex_sha256(b"|")
}

/// A feed that somebody asked for who is gone.
fn plant_hopeless_feed(site: &Site) {
    let now = types::Clock::System.now();
    let arguments = json!({
        "feed_key": feed_key(), "file_name": "hopeless.json", "user_id": 999_999,
        "choice": { "product_fields": [], "variation_fields": [] },
    });
    let plant = move |conn: &mut dyn db::Conn| {
        let kind = "catalogue.feed";
        let job = frame::jobs::enqueue(conn, kind, Some("hopeless"), &arguments, now)?;
        let feed = FeedRow {
            feed_key: feed_key(),
            job_id: job.job_id,
            file_name: String::from("hopeless.json"),
            total: -1,
            scheduled: now,
            updated: now,
            ..FeedRow::default()
        };
        catalogue_feed::put(conn, &feed)
    };
    site.store().write_blocking(plant).unwrap();
}

/// Lets the feed with all fields have ended so long ago.
fn age_feed(site: &Site, age: Duration) -> FeedRow {
    let ago = i64::try_from(age.as_micros()).unwrap();
    let ended = Timestamp::from_micros(types::Clock::System.now().as_micros() - ago);
    let change = move |conn: &mut dyn db::Conn| {
        let mut feed = catalogue_feed::get(conn, &feed_key())?.expect("the feed is there");
        feed.ended = Some(ended);
        catalogue_feed::put(conn, &feed)?;
        Ok(feed)
    };
    site.store().write_blocking(change).unwrap()
}
