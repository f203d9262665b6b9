//! Checks of the audit log: they start where the last one ended, and who can write to the database
//! cannot mislead them.

use std::fmt::Write as _;
use std::sync::Arc;

use onboarding::Platform;
use onboarding::audit::{Entry, Verified, VerifyFrom, append};
use types::IsoId;

use crate::audit::chained;
use crate::support::now;

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().build().unwrap()
}

fn append_unchained(platform: &Platform, iso_id: &IsoId, count: i64) {
    let owner = iso_id.clone();
    let more = move |conn: &mut dyn db::Conn| {
        (0..count).try_for_each(|_| {
            append(conn, &Entry::by_system(Some(&owner), now(), "sandbox.clock", "iso", "x"))
        })
    };
    platform.store.write_blocking(more).unwrap();
}

fn append_entries(platform: &Platform, iso_id: &IsoId, count: i64) {
    append_unchained(platform, iso_id, count);
    runtime().block_on(platform.audit_chain()).unwrap();
}

fn quick(platform: &Platform, iso_id: &IsoId) -> Verified {
    let found = platform.audit_verify(Some(iso_id.clone()), VerifyFrom::Checkpoint);
    runtime().block_on(found).unwrap()
}

fn tamper(platform: &Arc<Platform>, iso_id: &IsoId, script: &str) {
    let script = script.replace("ISO", iso_id.as_str());
    platform.store.write_blocking(move |conn| conn.script(&script)).unwrap();
}

fn check_moving(url: Option<&str>) {
    let (platform, iso_id, _folder) = chained(url);
    append_entries(&platform, &iso_id, 1_500);
    let first = quick(&platform, &iso_id);
    assert_eq!((first.after, first.checked, first.errors), (0, 1_510, vec![]));
    let second = quick(&platform, &iso_id);
    assert_eq!((second.after, second.checked, second.errors), (1_510, 0, vec![]));
    append_entries(&platform, &iso_id, 7);
    // Few entries are not worth a write.
    for _ in 0..2 {
        let third = quick(&platform, &iso_id);
        assert_eq!((third.after, third.checked, third.head.seq), (1_510, 7, 1_517));
    }
    let mut told = Vec::new();
    let whole = platform
        .audit_verify_blocking(Some(&iso_id), &mut |checked, total| told.push((checked, total)));
    assert_eq!((whole.unwrap().checked, told), (1_517, vec![(1_517, 1_517)]));
    assert_eq!(quick(&platform, &iso_id).after, 1_517);
}

#[test]
fn a_check_starts_where_the_last_one_ended_on_sqlite() {
    check_moving(None);
}

#[test]
fn a_check_starts_where_the_last_one_ended_on_postgres() {
    check_moving(Some(&testkit::postgres::shared().create_database().unwrap()));
}

/// Where an error is found, and a part of what is said about it.
type Expected = Option<(i64, &'static str)>;

/// Ways to tamper with a chain of ten that was checked, and what a check from there says.
const TAMPERINGS: &[(&str, &str, Expected)] = &[
    ("nothing", "", None),
    (
        "the checkpoint moved forward",
        "UPDATE audit_verified SET seq = 11, hash = (SELECT hash FROM audit WHERE seq = 11
           AND iso_id = 'ISO') WHERE iso_id = 'ISO'",
        Some((11, "the seal of the last check")),
    ),
    (
        "the errors of a check wiped out",
        "UPDATE audit_verified SET errors = '[ ]' WHERE iso_id = 'ISO'",
        Some((10, "the seal of the last check")),
    ),
    (
        "the checked entry changed",
        "UPDATE audit SET reason = 'x' WHERE seq = 10 AND iso_id = 'ISO'",
        Some((10, "was changed")),
    ),
    (
        "the checked entry removed",
        "DELETE FROM audit WHERE seq = 10 AND iso_id = 'ISO'",
        Some((10, "is missing")),
    ),
    (
        "a later entry changed",
        "UPDATE audit SET reason = 'x' WHERE seq = 12 AND iso_id = 'ISO'",
        Some((12, "was changed")),
    ),
    (
        "cut off behind the checkpoint, with an older end",
        "DELETE FROM audit WHERE seq > 9 AND iso_id = 'ISO';
         UPDATE audit_heads SET seq = 9, hash = (SELECT hash FROM audit WHERE seq = 9
           AND iso_id = 'ISO') WHERE iso_id = 'ISO'",
        Some((10, "is missing")),
    ),
];

#[test]
fn a_checkpoint_cannot_be_forged() {
    for (what, script, expected) in TAMPERINGS {
        let (platform, iso_id, _folder) = chained(None);
        platform.audit_verify_blocking(Some(&iso_id), &mut |_, _| {}).unwrap();
        append_entries(&platform, &iso_id, 3);
        tamper(&platform, &iso_id, script);
        let found = quick(&platform, &iso_id);
        let first = found.errors.first();
        match expected {
            None => assert_eq!((found.after, found.checked, first), (10, 3, None), "{what}"),
            Some((seq, message)) => {
                let first = first.unwrap_or_else(|| panic!("{what} was not noticed"));
                assert_eq!(first.seq, *seq, "{what}: {found:?}");
                assert!(first.what.contains(message), "{what}: {found:?}");
            }
        }
    }
}

#[test]
fn what_a_full_check_found_stays_until_another_finds_nothing() {
    let (platform, iso_id, _folder) = chained(None);
    let full = || platform.audit_verify_blocking(Some(&iso_id), &mut |_, _| {}).unwrap();
    assert_eq!(full().errors, vec![]);
    tamper(&platform, &iso_id, "UPDATE audit SET reason = 'x' WHERE seq = 4 AND iso_id = 'ISO'");
    assert_eq!(quick(&platform, &iso_id).errors, vec![], "it is before the checkpoint");
    assert_eq!(full().errors[0].seq, 4);
    assert_eq!(quick(&platform, &iso_id).errors[0].seq, 4);
    append_entries(&platform, &iso_id, 1_200);
    assert_eq!(quick(&platform, &iso_id).errors[0].seq, 4);
    tamper(&platform, &iso_id, "UPDATE audit SET reason = '' WHERE seq = 4 AND iso_id = 'ISO'");
    assert_eq!(full().errors, vec![]);
    assert_eq!(quick(&platform, &iso_id).errors, vec![]);
}

/// Everything after an entry written anew, so that the hashes are right again; the seal is not.
fn rewrite(platform: &Arc<Platform>, iso_id: &IsoId, from: i64) {
    let owner = iso_id.clone();
    let forge = move |conn: &mut dyn db::Conn| {
        use onboarding::rows::audit;
        let links = audit::after(conn, Some(&owner), from - 1, 100)?;
        let mut previous = links[0].prev_hash.clone();
        let mut script = String::new();
        for mut link in links {
            link.record.reason = String::from("forged");
            let hash = audit::hash(link.seq, &link.record, &previous);
            let hex = |bytes: &[u8]| data_encoding::HEXLOWER.encode(bytes);
            let seq = link.seq;
            let _ = write!(
                script,
                "UPDATE audit SET reason = 'forged', prev_hash = X'{}', hash = X'{}'
                   WHERE seq = {seq} AND iso_id = '{owner}';
                 UPDATE audit_heads SET hash = X'{}' WHERE iso_id = '{owner}';",
                hex(&previous),
                hex(&hash),
                hex(&hash),
            );
            previous = hash.to_vec();
        }
        conn.script(&script)
    };
    platform.store.write_blocking(forge).unwrap();
}

/// So many entries are checked before anybody asks.
const CHECKED_EVERY: i64 = 10_000;

#[test]
fn a_chain_that_has_become_much_longer_is_checked() {
    let (platform, iso_id, _folder) = chained(None);
    runtime().block_on(platform.audit_chain()).unwrap();
    let had = quick(&platform, &iso_id).head.seq;
    let append_many = |count: i64| {
        append_unchained(&platform, &iso_id, count);
        runtime().block_on(platform.audit_chain_and_check()).unwrap();
        quick(&platform, &iso_id)
    };
    let before = append_many(CHECKED_EVERY - had - 1);
    assert_eq!((before.after, before.checked), (0, CHECKED_EVERY - 1), "asked for, it is checked");
    let after = append_many(CHECKED_EVERY + 7);
    let end = 2 * CHECKED_EVERY + 6;
    assert_eq!((after.after, after.checked, after.head.seq), (end, 0, end));
}

#[test]
fn a_forged_end_is_not_sealed_by_the_next_entry() {
    for checked_before in [false, true] {
        let (platform, iso_id, _folder) = chained(None);
        runtime().block_on(platform.audit_chain()).unwrap();
        if checked_before {
            platform.audit_verify_blocking(Some(&iso_id), &mut |_, _| {}).unwrap();
        }
        rewrite(&platform, &iso_id, 5);
        append_entries(&platform, &iso_id, 2);
        append_entries(&platform, &iso_id, 1);
        let full = platform.audit_verify_blocking(Some(&iso_id), &mut |_, _| {}).unwrap();
        let says = |text: &str| full.errors.iter().any(|error| error.what.contains(text));
        assert!(says("the seal of the chain's end"), "{full:?}");
        assert_eq!(says("another one than at the last check"), checked_before, "{full:?}");
    }
}
