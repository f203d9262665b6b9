//! The audit log: everything that changes something is in it, and nobody can change it unnoticed.

use std::sync::Arc;
use std::time::Duration;

use db::{Database, Location};
use onboarding::audit::{Entry, VerifyFrom, append};
use onboarding::dialect::ResponseStyle;
use onboarding::keys::KeyLife;
use onboarding::{Origin, Platform, Settings};
use serde_json::{Value, json};
use types::{Clock, Environment, IsoId, Scope, ScopeSet};

use crate::bodies::body;
use crate::support::{House, authenticate, master_key, now};

const START: VerifyFrom = VerifyFrom::After(0);

/// The entries of a list, the newest first, as action and object.
fn lines(list: &Value) -> Vec<String> {
    let line = |entry: &Value| {
        format!("{} {}", entry["action"].as_str().unwrap(), entry["objectId"].as_str().unwrap())
    };
    list["data"].as_array().unwrap().iter().map(line).collect()
}

#[test]
fn everything_that_changes_something_is_there() {
    let house = House::new();
    let answer = house.onboard(body("full-cknx")).unwrap();
    let rotated = house.platform.key_rotate(&house.key.key_id, Duration::ZERO).unwrap();
    house.platform.key_revoke(&rotated.key_id).unwrap();
    let template = house.platform.template_create(&house.iso_id, "RETAIL01", &json!({})).unwrap();
    let list = house.get("audit_list", json!({})).unwrap();
    let id = |name: &str| answer["data"][name].as_str().unwrap().to_owned();
    let first_key = house.key.key_id.as_str();
    assert_eq!(
        lines(&list),
        [
            format!("template.create {template}"),
            format!("key.revoke {}", rotated.key_id),
            format!("key.rotate {first_key}"),
            format!("merchant.onboard {}", id("merchantId")),
            format!("key.create {first_key}"),
            format!("iso.create {}", house.iso_id),
        ]
    );
    let onboarded = &list["data"][3];
    assert_eq!(onboarded["actor"], format!("key:{first_key}"));
    assert_eq!(onboarded["related"], json!([id("storeId"), id("tpn")]));
    assert_eq!(onboarded["versionAfter"], 1);
    assert_eq!(onboarded["sequence"], 3);
    assert_eq!(onboarded["previousHash"], list["data"][4]["hash"]);
    for object_id in [id("merchantId"), id("storeId"), id("tpn")] {
        let found = house.get("audit_list", json!({ "objectId": object_id })).unwrap();
        assert_eq!(lines(&found), [format!("merchant.onboard {}", id("merchantId"))]);
    }
    let other = house.caller_of_another_iso();
    let found = house.get_as(&other, "audit_list", json!({ "objectId": id("tpn") })).unwrap();
    assert_eq!(lines(&found), [""; 0]);
}

#[test]
fn a_refused_onboarding_is_no_change() {
    let house = House::new();
    let before = lines(&house.get("audit_list", json!({})).unwrap()).len();
    let mut wrong = body("full-cknx");
    wrong["merchantData"]["zipCode"] = json!("00000");
    house.errors(wrong);
    assert_eq!(lines(&house.get("audit_list", json!({})).unwrap()).len(), before);
}

#[test]
fn lists_are_filtered_and_paged() {
    let house = House::new();
    for _ in 0..5 {
        house.onboard(body("minimal-cknx")).unwrap();
    }
    let list = |params: Value| house.get("audit_list", params).unwrap();
    let onboarded = list(json!({ "action": "merchant.onboard", "limit": "2" }));
    assert_eq!(lines(&onboarded).len(), 2);
    assert_eq!(onboarded["nextCursor"], "6");
    let rest = list(json!({ "action": "merchant.onboard", "cursor": "6" }));
    assert_eq!((lines(&rest).len(), &rest["hasMore"]), (3, &json!(false)));
    for (params, count) in [
        (json!({ "actor": "system" }), 2),
        (json!({ "actor": format!("key:{}", house.key.key_id) }), 5),
        (json!({ "object": "merchant" }), 5),
        (json!({ "result": "refused" }), 0),
        (json!({ "requestId": "req_none" }), 0),
        (json!({ "from": "2026-11-15T08:00:00Z" }), 7),
        (json!({ "until": "2026-11-15T08:00:00Z" }), 0),
        (json!({ "objectId": "%" }), 0),
    ] {
        assert_eq!(lines(&list(params.clone())).len(), count, "{params}");
    }
}

#[test]
fn refused_keys_are_noted_once_a_minute() {
    let house = House::new();
    let key = house
        .platform
        .key_create(&house.iso_id, "few", ScopeSet::Only(vec![Scope::EventsRead]), KeyLife::Forever)
        .unwrap();
    let refused = authenticate(house.runtime(), &house.platform, &key, Scope::AuditRead, now());
    let refused = refused.unwrap_err();
    let origin =
        Origin { request_id: "req_1".to_owned(), address: Some("192.0.2.7".parse().unwrap()) };
    for _ in 0..3 {
        let noted = house.platform.audit_refused_key(&refused, &origin, now());
        house.runtime().block_on(noted).unwrap();
    }
    let list = house.get("audit_list", json!({ "result": "refused" })).unwrap();
    assert_eq!(lines(&list), [format!("key.use {}", key.key_id)]);
    let entry = &list["data"][0];
    assert_eq!(entry["reason"], "key lacks the scope");
    assert_eq!((&entry["ip"], &entry["requestId"]), (&json!("192.0.2.7"), &json!("req_1")));
}

/// A platform with a chain of ten entries, on an engine.
pub(crate) fn chained(url: Option<&str>) -> (Arc<Platform>, IsoId, tempfile::TempDir) {
    let folder = testkit::temp_dir().unwrap();
    let location = Location::parse(url, folder.path(), Environment::Sandbox, 2).unwrap();
    let store = Database::open(&location, schema::MIGRATIONS).unwrap();
    let (clock, settings) = (Clock::Fixed(now()), Settings::default());
    let platform =
        Platform::new(Environment::Sandbox, store, &master_key(), settings, clock).unwrap();
    let iso_id = platform.iso_create("ISO", ResponseStyle::Detailed).unwrap();
    let other = platform.iso_create("Other", ResponseStyle::Detailed).unwrap();
    let (mine, theirs) = (iso_id.clone(), other);
    let fill = move |conn: &mut dyn db::Conn| {
        for number in 2..=10 {
            for iso in [&mine, &theirs] {
                let id = format!("object{number}");
                let entry = Entry::by_system(Some(iso), now(), "sandbox.clock", "iso", id);
                append(conn, &entry.changed("number", number - 1, number))?;
            }
        }
        Ok(())
    };
    platform.store.write_blocking(fill).unwrap();
    (Arc::new(platform), iso_id, folder)
}

/// Every way to tamper with a chain of ten, and where it is found.
const TAMPERINGS: &[(&str, &str, i64, &str)] = &[
    ("nothing", "", 0, ""),
    (
        "a changed text",
        "UPDATE audit SET changes = '{}' WHERE seq = 4 AND iso_id = 'ISO'",
        4,
        "was changed",
    ),
    (
        "a changed time",
        "UPDATE audit SET at_us = at_us + 1 WHERE seq = 1 AND iso_id = 'ISO'",
        1,
        "was changed",
    ),
    ("a removed entry", "DELETE FROM audit WHERE seq = 5 AND iso_id = 'ISO'", 5, "is missing"),
    ("the first removed", "DELETE FROM audit WHERE seq = 1 AND iso_id = 'ISO'", 1, "is missing"),
    ("the last removed", "DELETE FROM audit WHERE seq = 10 AND iso_id = 'ISO'", 10, "at the end"),
    (
        "a gap closed",
        "DELETE FROM audit WHERE seq = 5 AND iso_id = 'ISO';
         UPDATE audit SET seq = seq - 1 WHERE seq = 6 AND iso_id = 'ISO'",
        5,
        "does not follow",
    ),
    (
        "the end moved back",
        "DELETE FROM audit WHERE seq = 10 AND iso_id = 'ISO';
         UPDATE audit_heads SET seq = 9, hash = (SELECT hash FROM audit WHERE seq = 9
           AND iso_id = 'ISO') WHERE iso_id = 'ISO'",
        9,
        "seal",
    ),
    ("no end", "DELETE FROM audit_heads WHERE iso_id = 'ISO'", 10, "another one"),
    (
        "a hash taken out",
        "UPDATE audit SET hash = NULL WHERE seq = 7 AND iso_id = 'ISO'",
        7,
        "was changed",
    ),
    (
        "an entry given away",
        "UPDATE audit SET iso_id = 'nobody' WHERE seq = 3 AND iso_id = 'ISO'",
        3,
        "is missing",
    ),
];

fn check_tamperings(make_url: &dyn Fn() -> Option<String>) {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    for (what, script, seq, message) in TAMPERINGS {
        let (platform, iso_id, _folder) = chained(make_url().as_deref());
        runtime.block_on(platform.audit_chain()).unwrap();
        let script = script.replace("ISO", iso_id.as_str());
        platform.store.write_blocking(move |conn| conn.script(&script)).unwrap();
        let found = runtime.block_on(platform.audit_verify(Some(iso_id.clone()), START)).unwrap();
        let Some(first) = found.errors.first() else {
            assert_eq!(*seq, 0, "{what} was not noticed");
            assert_eq!((found.checked, found.next, found.head.seq), (10, None, 10));
            let part = runtime
                .block_on(platform.audit_verify(Some(iso_id), VerifyFrom::After(6)))
                .unwrap();
            assert_eq!((part.checked, part.errors), (4, vec![]));
            continue;
        };
        assert_eq!(first.seq, *seq, "{what}: {found:?}");
        assert!(first.what.contains(message), "{what}: {found:?}");
    }
}

#[test]
fn every_tampering_is_found_on_sqlite() {
    check_tamperings(&|| None);
}

#[test]
fn every_tampering_is_found_on_postgres() {
    check_tamperings(&|| Some(testkit::postgres::shared().create_database().unwrap()));
}

/// Every way to tamper with a chain whose first ten entries are off line, and where it is found.
const TAMPERINGS_OFF_LINE: &[(&str, &str, i64, &str)] = &[
    ("nothing", "", 0, ""),
    ("more cut off", "DELETE FROM audit WHERE seq = 11 AND iso_id = 'ISO'", 11, "is missing"),
    (
        "the start moved",
        "UPDATE audit_checkpoints SET seq = 11, hash = (SELECT hash FROM audit WHERE seq = 11
           AND iso_id = 'ISO') WHERE iso_id = 'ISO';
         DELETE FROM audit WHERE seq = 11 AND iso_id = 'ISO'",
        11,
        "the chain's start",
    ),
    ("no start", "DELETE FROM audit_checkpoints WHERE iso_id = 'ISO'", 1, "is missing"),
];

fn check_off_line(make_url: &dyn Fn() -> Option<String>) {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    for (what, script, seq, message) in TAMPERINGS_OFF_LINE {
        let (early, iso_id, _folder) = chained(make_url().as_deref());
        let later = now().plus(Duration::from_hours(500 * 24));
        let (store, clock) = (early.store.clone(), Clock::Fixed(later));
        let platform =
            Platform::new(Environment::Sandbox, store, &master_key(), Settings::default(), clock)
                .unwrap();
        let owner = iso_id.clone();
        let more = move |conn: &mut dyn db::Conn| {
            (0..2).try_for_each(|_| {
                append(conn, &Entry::by_system(Some(&owner), later, "sandbox.clock", "iso", "x"))
            })
        };
        platform.store.write_blocking(more).unwrap();
        runtime.block_on(platform.audit_chain()).unwrap();
        let mut lines = Vec::new();
        let age = Duration::from_hours(400 * 24);
        let purged = platform.audit_purge(Some(&iso_id), age, &mut |page| {
            lines.extend_from_slice(page);
            Ok(())
        });
        assert_eq!((purged.unwrap(), lines.len()), (10, 10));
        let last: Value = serde_json::from_str(&lines[9]).unwrap();
        assert_eq!((&last["sequence"], &last["objectId"]), (&json!(10), &json!("object10")));
        runtime.block_on(platform.audit_chain()).unwrap();
        let script = script.replace("ISO", iso_id.as_str());
        platform.store.write_blocking(move |conn| conn.script(&script)).unwrap();
        let found = runtime.block_on(platform.audit_verify(Some(iso_id.clone()), START)).unwrap();
        let Some(first) = found.errors.first() else {
            assert_eq!(*seq, 0, "{what} was not noticed");
            // The two that are left, and the entry about the purge.
            assert_eq!((found.checked, found.next, found.head.seq), (3, None, 13));
            let mut count = 0;
            let exported = platform.audit_export(Some(&iso_id), &mut |page| {
                count += page.len();
                Ok(())
            });
            assert_eq!((exported.unwrap(), count), (3, 3));
            continue;
        };
        assert_eq!(first.seq, *seq, "{what}: {found:?}");
        assert!(first.what.contains(message), "{what}: {found:?}");
    }
}

#[test]
fn what_is_left_can_be_checked_after_a_purge_on_sqlite() {
    check_off_line(&|| None);
}

#[test]
fn what_is_left_can_be_checked_after_a_purge_on_postgres() {
    check_off_line(&|| Some(testkit::postgres::shared().create_database().unwrap()));
}

#[test]
fn production_keeps_its_log_on_line_for_400_days() {
    let folder = testkit::temp_dir().unwrap();
    let platform = crate::support::open_platform_as(
        folder.path(),
        Environment::Production,
        &master_key(),
        Settings::default(),
    )
    .unwrap();
    let young = Duration::from_hours(399 * 24);
    assert!(platform.audit_purge(None, young, &mut |_| Ok(())).is_err());
    assert_eq!(
        platform.audit_purge(None, onboarding::audit::ONLINE_FOR, &mut |_| Ok(())).unwrap(),
        0
    );
}

#[test]
fn the_end_of_a_chain_is_told_once_a_day() {
    let house = House::new();
    let tell = |hours: u64| {
        let (store, settings) = (house.platform.store.clone(), Settings::default());
        let clock = Clock::Fixed(now().plus(Duration::from_hours(hours)));
        let later =
            Platform::new(Environment::Sandbox, store, &master_key(), settings, clock).unwrap();
        house.runtime().block_on(later.audit_chain()).unwrap();
        house.runtime().block_on(later.audit_heads_tell()).unwrap();
        house.events().into_iter().filter(|(kind, _)| kind == "audit.head").collect::<Vec<_>>()
    };
    assert_eq!(tell(0).len() + tell(23).len(), 0, "the first day is not over");
    let told = tell(24);
    let verified = house.get("audit_verify", json!({})).unwrap();
    assert_eq!(told.len(), 1);
    for member in ["sequence", "hash", "seal"] {
        assert_eq!(told[0].1[member], verified[member], "{member}");
    }
    assert_eq!(tell(60).len(), 1, "nothing moved");
    house.onboard(body("full-cknx")).unwrap();
    assert_eq!(tell(61).len(), 2);
    house.platform.template_create(&house.iso_id, "RETAIL01", &json!({})).unwrap();
    assert_eq!(tell(62).len(), 2, "not before tomorrow");
}
