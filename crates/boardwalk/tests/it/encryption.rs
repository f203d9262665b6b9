//! Data keys and the master key are replaced while requests go on, through kills; nothing is lost,
//! and what was replaced opens nothing new.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use data_encoding::{BASE32_NOPAD, BASE64, HEXLOWER};
use frame::auth::second_factor::{STEP_SECONDS, code_at};
use serde_json::{Value, json};
use site_rows::sealed::{Content, Form, Owner, PLACES, Place, Position, SHORT_LIVED, page};
use testkit::http::{self, Request};
use testkit::process;
use types::{Environment, IsoId};
use vault::{Aad, KeyVersion, MasterKey, Vault, WrappedKey};

use crate::browser::Browser;
use crate::load::Ids;
use crate::support::{Running, Site, authorization, body, complaint, eventually, text};

const PASSWORD: &str = "correct horse battery";
const MERCHANTS: usize = 12;
const STOPPED_WITHIN: Duration = Duration::from_secs(30);
/// Two waits for all servers, a kill in each, and a lease that has to end on PostgreSQL.
const ROTATED_WITHIN: Duration = Duration::from_mins(4);

on_both_engines!(
    data_keys_are_replaced_while_requests_go_on,
    the_master_key_is_replaced_while_requests_go_on,
);

/// An ISO and a site with something in every place that is sealed.
struct Filled {
    iso: String,
    key: String,
    administrator: String,
    merchants: Vec<Ids>,
    totp: String,
}

fn call(running: &Running, (method, path): (&str, &str), who: &str, body: &Value) -> Value {
    let request = Request::new(method, path)
        .header("Authorization", who)
        .header("Content-Type", "application/json")
        .body(body.to_string());
    let answer = http::send(&running.url, &request).unwrap();
    assert!(answer.status < 300, "{method} {path}: {answer:?}");
    answer.json().unwrap()
}

fn fill(site: &Site, running: &Running) -> Filled {
    let iso = site.iso("Pier Payments");
    let key = site.key(&iso);
    let onboard = |number| Ids::of(&running.onboard(&key, &body(&format!("Kiosk {number}"))));
    let merchants: Vec<Ids> = (0..MERCHANTS).map(onboard).collect();
    let api = |method, path: &str, body: Value| {
        call(running, (method, path), &authorization(&key), &body)
    };
    let merchant = format!("/v1/merchants/{}", merchants[0].merchant);
    let change = || json!({ "firstName": "Ada", "expectedVersion": 1 });
    api("PATCH", &merchant, change());
    api("PATCH", &format!("/v1/stores/{}", merchants[0].store), change());
    let headers = json!([{ "name": "X-Own", "value": "sesame" }]);
    let hook = json!({ "url": "https://hooks.example/a", "headers": headers });
    let hook = text(&api("POST", "/v1/webhooks", hook), "webhookId");
    api("POST", &format!("/v1/webhooks/{hook}/rotate"), json!({}));
    api("PATCH", &format!("/v1/isos/{iso}"), json!({ "contactName": "Ida", "expectedVersion": 1 }));
    let link = json!({ "email": "owner@harbor.example", "sendEmail": false });
    api("POST", "/v1/onboarding-links", link);
    let store = json!({ "url": "https://shop.example", "consumerKey": "ck_0123456789",
                        "consumerSecret": "cs_0123456789" });
    api("POST", "/v1/connections", store);

    let administrator = site.administrator();
    site.json(&["user", "consumer-key", "--login", "admin", "--permissions", "read"]);
    let rest = |path: &str, body: Value| {
        call(running, ("POST", &format!("/wp-json{path}")), &administrator, &body)
    };
    let hook = json!({ "name": "Orders", "topic": "order.created", "secret": "sesame",
                       "delivery_url": "https://hooks.example/b" });
    rest("/wc/v3/webhooks", hook);
    let gateway = json!({ "id": "quiet", "name": "Quiet", "title": "Card", "enabled": true,
                          "url": "https://pay.example/",
                          "secret": "whsec_c2VjcmV0IG9mIGJvdGggc2lkZXM=" });
    rest("/boardwalk/v1/payment-gateways", gateway);
    let ada = ["--login", "ada", "--email", "ada@b.example", "--role", "editor"];
    let made = site.command(&[&["user", "create", "--password-stdin"], &ada[..]].concat());
    let made = process::run_command(made, format!("{PASSWORD}\n").as_bytes()).unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let ada = Browser::sign_in(running, "ada", PASSWORD).unwrap();
    let begun = json!({ "password": PASSWORD });
    let begun = ada.done("POST", "/wp-json/boardwalk/v1/me/second-factor", Some(&begun));
    let totp = text(&begun, "secret");
    Filled { iso, key, administrator, merchants, totp }
}

/// Everything that was sealed is read by those who may.
fn check_readable(running: &Running, filled: &mut Filled) {
    let who = authorization(&filled.key);
    for ids in &filled.merchants {
        let merchant = running.get(&format!("/v1/merchants/{}", ids.merchant), &filled.key);
        assert!(merchant.text().contains("maria@harbor.example"), "{merchant:?}");
    }
    let ids = &filled.merchants[0];
    let found = running.get("/v1/merchants?email=maria@harbor.example&limit=50", &filled.key);
    let found = found.json().unwrap();
    assert!(found["data"].as_array().is_some_and(|all| !all.is_empty()), "by its blind index");
    let reveal = format!("/v1/tpns/{}/profiles/01/reveal", ids.tpn);
    let revealed = call(running, ("POST", &reveal), &who, &json!({ "reason": "look" }));
    assert!(revealed.to_string().contains("processor-key-0001"), "{revealed}");
    let iso = running.get(&format!("/v1/isos/{}", filled.iso), &filled.key);
    assert!(iso.text().contains("Ida"), "{iso:?}");
    let links = running.get("/v1/onboarding-links", &filled.key);
    assert!(links.text().contains("owner@harbor.example"), "{links:?}");
    let own = [("Authorization", filled.administrator.as_str())];
    let me = http::get(&running.url, "/wp-json/wp/v2/users/me", &own).unwrap();
    assert_eq!(me.status, 200, "{me:?}");
    let secret = BASE32_NOPAD.decode(filled.totp.as_bytes()).unwrap();
    let step = types::Clock::System.now().as_micros() / 1_000_000 / STEP_SECONDS;
    let code = json!({ "code": code_at(&secret, step) });
    let ada = Browser::sign_in(running, "ada", PASSWORD).unwrap();
    // A wrong code would be refused: the secret was opened to compare.
    let path = "/wp-json/boardwalk/v1/me/second-factor";
    let confirmed = ada.send("POST", &format!("{path}/confirm"), Some(&code));
    assert_eq!(confirmed.status, 200, "{confirmed:?}");
    let code = json!({ "code": code_at(&secret, step + 1) });
    ada.done("POST", &format!("{path}/disable"), Some(&code));
    let begun = ada.done("POST", path, Some(&json!({ "password": PASSWORD })));
    filled.totp = text(&begun, "secret");
}

/// The versions of everything that is sealed, by place.
fn versions(site: &Site, iso: &str) -> BTreeMap<&'static str, BTreeSet<u16>> {
    let (store, iso) = (site.store(), iso.to_owned());
    let of = |place: &'static Place| {
        let owner = (place.owner == Owner::Iso).then(|| iso.clone());
        let found = store.read_blocking(move |conn| {
            page(conn, place, owner.as_deref(), &Position::default(), 10_000)
        });
        let versions = found.unwrap().into_iter().filter_map(|found| {
            KeyVersion::of_sealed(&sealed(place, found.content)?).map(KeyVersion::get)
        });
        (place.name, versions.collect::<BTreeSet<u16>>())
    };
    PLACES.iter().map(of).collect()
}

fn sealed(place: &Place, content: Content) -> Option<Vec<u8>> {
    match content {
        Content::Bytes(bytes) => Some(bytes),
        Content::Text(text) => {
            let value: Value = serde_json::from_str(&text).ok()?;
            let value = value.get("sealed")?.as_str()?.as_bytes().to_owned();
            let encoding = if place.form == Form::RecordJson { HEXLOWER } else { BASE64 };
            encoding.decode(&value).ok()
        }
    }
}

/// Places that [`fill`] does not reach: they need a service, an installed plugin, or mail.
const UNFILLED: [&str; 3] =
    ["service_connections.token_sealed", "packages.settings", "iso_invitations.sealed"];

fn check_versions(site: &Site, iso: &str, expected: u16) {
    for (place, versions) in versions(site, iso) {
        if UNFILLED.contains(&place) {
            continue;
        }
        assert_eq!(versions, BTreeSet::from([expected]), "{place}");
    }
}

/// Onboards and reads until told to stop; returns how often. **Everything must succeed.**
fn go_on(urls: &dyn Fn() -> String, key: &str, read: &str, stop: &AtomicBool) -> usize {
    let mut count = 0;
    while !stop.load(Ordering::Relaxed) {
        let headers = [("Authorization", &*authorization(key))];
        let dba = format!("Busy {} {count}", thread::current().name().unwrap_or_default());
        let made = http::post(&urls(), "/v1/onboardmerchant", &headers, &body(&dba));
        // A server that is killed answers nobody.
        let Ok(made) = made else { continue };
        assert_eq!(made.status, 200, "{made:?}");
        if let Ok(seen) = http::get(&urls(), read, &headers) {
            assert_eq!(seen.status, 200, "{seen:?}");
            assert!(seen.text().contains("maria@harbor.example"), "{seen:?}");
        }
        count += 1;
        thread::sleep(Duration::from_millis(20));
    }
    count
}

fn rotation(site: &Site) -> Value {
    let status = site.json(&["--environment", "sandbox", "encryption", "status"]);
    status["environments"][0]["rotation"].clone()
}

fn is_done(rotation: &Value) -> bool {
    assert_ne!(rotation["state"], "failed", "{rotation}");
    rotation["state"] == "done"
}

fn data_keys_are_replaced_while_requests_go_on(site: Site) {
    let running = site.serve();
    let mut filled = fill(&site, &running);
    check_versions(&site, &filled.iso, 1);
    check_readable(&running, &mut filled);
    let master = fs::read_to_string(site.data().join("master.key")).unwrap();
    let vault = Vault::new(&MasterKey::from_text(&master).unwrap(), Environment::Sandbox);
    let iso = IsoId::new(filled.iso.as_str());
    let id = iso.clone();
    let row = site.store().read_blocking(move |conn| site_rows::iso::get(conn, &id)).unwrap();
    let old = vault.data_key_open(&iso, &WrappedKey(row.unwrap().data_key)).unwrap();

    site.json(&["encryption", "rotate-data-keys"]);
    let twice = complaint(&site.run(&["encryption", "rotate-data-keys"]), 1);
    assert!(twice.contains("being replaced already"), "{twice}");
    // Cut off twice: when new versions are known, and when they are used.
    let mut running = running;
    for done in [2, 4] {
        eventually("a step is done", ROTATED_WITHIN, || {
            rotation(&site)["done"].as_i64().is_some_and(|seen| seen >= done)
        });
        running.server.kill();
        running = site.serve();
    }
    let (stop, url) = (AtomicBool::new(false), running.url.clone());
    let read = format!("/v1/merchants/{}", filled.merchants[1].merchant);
    thread::scope(|scope| {
        let busy = scope.spawn(|| go_on(&|| url.clone(), &filled.key, &read, &stop));
        eventually("data keys are replaced", ROTATED_WITHIN, || is_done(&rotation(&site)));
        stop.store(true, Ordering::Relaxed);
        assert!(busy.join().unwrap() > 0, "requests went on");
    });
    let ended = rotation(&site);
    assert_eq!(ended["unreadable"], 0, "{ended}");
    assert!(ended["resealed"].as_i64().is_some_and(|count| count > 30), "{ended}");
    check_versions(&site, &filled.iso, 2);
    check_readable(&running, &mut filled);
    let merchants = PLACES.iter().find(|place| place.name == "merchants.sealed").unwrap();
    let owner = filled.iso.clone();
    let rows = site
        .store()
        .read_blocking(move |conn| page(conn, merchants, Some(&owner), &Position::default(), 1));
    let first = rows.unwrap().remove(0);
    let Content::Bytes(bytes) = first.content else { panic!("bytes") };
    let aad = Aad { kind: "merchant", id: &first.at.first, column: "sealed" };
    assert!(old.open(&aad, &bytes).is_err(), "the old data key opens nothing new");
    let audit = running.get("/v1/audit?action=data_key.rotate", &filled.key);
    assert!(audit.text().contains("data_key.rotate"), "{audit:?}");
    // An ISO that comes later begins with its own first key; one ISO alone can be replaced.
    let other = site.iso("Later");
    site.json(&["encryption", "rotate-data-keys", "--iso", &other]);
    eventually("one data key is replaced", ROTATED_WITHIN, || is_done(&rotation(&site)));
    check_versions(&site, &filled.iso, 2);
    check_readable(&running, &mut filled);
}

fn the_master_key_is_replaced_while_requests_go_on(site: Site) {
    let running = site.serve();
    let mut filled = fill(&site, &running);
    let old = fs::read_to_string(site.data().join("master.key")).unwrap();
    let missing = complaint(&site.run(&["encryption", "rotate-master-key"]), 1);
    assert!(missing.contains("there is no new master key"), "{missing}");
    let backup = site.data().join("before.backup");
    let backup = backup.to_str().unwrap();
    let backed_up = site.run(&["backup", backup]);
    assert!(backed_up.status.success(), "{}", String::from_utf8_lossy(&backed_up.stderr));
    site.json(&["encryption", "new-master-key"]);
    let again = complaint(&site.run(&["encryption", "new-master-key"]), 1);
    assert!(again.contains("already"), "{again}");
    let new = fs::read_to_string(site.data().join("master.key.next")).unwrap();

    let (stop, url) = (AtomicBool::new(false), running.url.clone());
    let read = format!("/v1/merchants/{}", filled.merchants[1].merchant);
    thread::scope(|scope| {
        let busy = scope.spawn(|| go_on(&|| url.clone(), &filled.key, &read, &stop));
        let replaced = site.run(&["encryption", "rotate-master-key", "--json"]);
        assert!(replaced.status.success(), "{}", String::from_utf8_lossy(&replaced.stderr));
        stop.store(true, Ordering::Relaxed);
        assert!(busy.join().unwrap() > 0, "requests went on");
    });
    check_readable(&running, &mut filled);
    // An ISO of now is wrapped by the new key, by whoever makes it.
    let later = site.iso("Later");
    let later_key = site.key(&later);
    running.server.terminate(STOPPED_WITHIN).unwrap();
    assert_eq!(fs::read_to_string(site.data().join("master.key")).unwrap(), new);
    assert!(!site.data().join("master.key.next").exists());
    fs::remove_file(site.data().join("master.key.previous")).unwrap();

    let running = site.serve();
    check_readable(&running, &mut filled);
    assert_eq!(running.onboard(&later_key, &body("Later")).status, 200);
    site.json(&["encryption", "rotate-data-keys"]);
    eventually("data keys are replaced", ROTATED_WITHIN, || is_done(&rotation(&site)));
    check_readable(&running, &mut filled);
    running.server.terminate(STOPPED_WITHIN).unwrap();
    let log = site.data().join("operator.jsonl");
    site.json(&["audit", "export", log.to_str().unwrap()]);
    let log = fs::read_to_string(log).unwrap();
    assert!(log.contains("master_key.rotate") && log.contains("data_key.rotate"), "{log}");

    // The old key opens what was backed up before, and nothing else.
    let restored = Site::sqlite();
    let path = restored.data().join("master.key");
    fs::write(&path, &old).unwrap();
    set_private(&path);
    let done = restored.run(&["restore", backup]);
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let running = restored.serve();
    let merchant = running.get(&read, &filled.key);
    assert!(merchant.text().contains("maria@harbor.example"), "{merchant:?}");
    let site = site.set("master_key", old.trim());
    let refused = complaint(&site.run(&["iso", "list"]), 1);
    assert!(refused.contains("was replaced; use the new one"), "{refused}");
}

fn set_private(path: &std::path::Path) {
    use std::os::unix::fs::PermissionsExt as _;
    fs::set_permissions(path, fs::Permissions::from_mode(0o600)).unwrap();
}

#[test]
fn a_server_without_the_new_master_key_objects_and_both_go_on() {
    let url = testkit::postgres::shared().create_database().unwrap();
    let sites = [Site::on_database(url.clone()), Site::on_database(url)];
    let iso = sites[0].iso("Shared");
    let key = sites[0].key(&iso);
    let copy = |name: &str| {
        let (from, to) = (sites[0].data().join(name), sites[1].data().join(name));
        fs::copy(from, &to).unwrap();
        set_private(&to);
    };
    copy("master.key");
    let servers = sites.each_ref().map(Site::serve);
    let first = Ids::of(&servers[0].onboard(&key, &body("First")));
    sites[0].json(&["encryption", "new-master-key"]);
    let refused = complaint(&sites[0].run(&["encryption", "rotate-master-key"]), 1);
    assert!(refused.contains("does not have the new master key yet"), "{refused}");
    copy("master.key.next");
    let old = fs::read_to_string(sites[1].data().join("master.key")).unwrap();
    let (stop, turn) = (AtomicBool::new(false), AtomicUsize::new(0));
    let read = format!("/v1/merchants/{}", first.merchant);
    let urls = servers.each_ref().map(|server| server.url.clone());
    let next = || urls[turn.fetch_add(1, Ordering::Relaxed) % 2].clone();
    thread::scope(|scope| {
        let busy = scope.spawn(|| go_on(&next, &key, &read, &stop));
        sites[0].json(&["encryption", "rotate-master-key"]);
        sites[0].json(&["encryption", "rotate-data-keys"]);
        eventually("data keys are replaced", ROTATED_WITHIN, || is_done(&rotation(&sites[0])));
        stop.store(true, Ordering::Relaxed);
        assert!(busy.join().unwrap() > 0, "requests went on");
    });
    for server in servers {
        assert_eq!(server.get(&read, &key).status, 200);
        server.server.terminate(STOPPED_WITHIN).unwrap();
    }
    // With both keys the second server starts, with the old one alone it does not.
    sites[1].serve().server.terminate(STOPPED_WITHIN).unwrap();
    fs::remove_file(sites[1].data().join("master.key.next")).unwrap();
    assert_eq!(fs::read_to_string(sites[1].data().join("master.key")).unwrap(), old);
    let serve = ["serve", "--environment", "sandbox", "--listen", "127.0.0.1:0"];
    let refused = complaint(&sites[1].run(&serve), 1);
    assert!(refused.contains("was replaced; use the new one"), "{refused}");
}

#[test]
fn no_sealed_column_is_forgotten() {
    let mut table = "";
    for line in schema::MIGRATIONS.iter().flat_map(|(_, text)| text.lines()) {
        if let Some(rest) = line.strip_prefix("CREATE TABLE ") {
            table = rest.split_whitespace().next().unwrap_or_default();
        }
        let column = line.split_whitespace().next().unwrap_or_default();
        if !line.contains("@bytes") || !column.ends_with("sealed") {
            continue;
        }
        let name = format!("{table}.{column}");
        let is_known = PLACES.iter().any(|place| place.name == name);
        assert!(is_known || SHORT_LIVED.contains(&name.as_str()), "{name} would keep its old key");
    }
}
