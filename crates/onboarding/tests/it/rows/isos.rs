//! ISOs as accounts, and registrations that become some.

use std::time::Duration;

use db::Conn;
use onboarding::rows::audit::Link;
use onboarding::rows::audit_keeping;
use onboarding::rows::caught_webhook::{self, CaughtWebhook, KEPT_MAX};
use onboarding::rows::iso_account::{self, IsoAccount};
use onboarding::rows::iso_registration::{self, IsoRegistration};
use site_rows::iso as isos;
use site_rows::iso::IsoRow;
use types::{IsoId, Result};

use super::platform;
use super::support::{TestDatabase, iso, time};

testkit::on_both_engines!(
    one_of_each_is_kept,
    accounts_take_the_place_of_each_other,
    accounts_are_listed_by_pages,
    links_work_once_and_not_for_ever,
    the_newest_of_what_is_caught_is_kept,
);

fn one_of_each_is_kept(database: &TestDatabase) {
    database.open().write_blocking(one_of_each).unwrap();
}

/// Puts something into every table of accounts.
fn one_of_each(conn: &mut dyn Conn) -> Result<()> {
    isos::insert(conn, &iso())?;
    iso_account::put(conn, &account("active"), time(5))?;
    caught_webhook::keep(conn, &caught("{}"))?;
    let link = Link {
        seq: 1,
        record: platform::record(None, "old"),
        prev_hash: Vec::new(),
        hash: vec![1; 32],
    };
    audit_keeping::cut(conn, &link, &|_| vec![2; 32], time(6))?;
    audit_keeping::note_told(conn, iso().iso_id.as_str(), 1, time(6))?;
    iso_registration::put(conn, &registration(1, 1, 50))
}

fn account(status: &str) -> IsoAccount {
    IsoAccount {
        status: status.to_owned(),
        status_reason: Some(String::from("why")),
        contact_sealed: Some(vec![1, 2, 3]),
        version: 2,
        updated: Some(time(5)),
        limits: String::from("{\"tpns\":2}"),
        clock_ahead: Duration::from_secs(9),
        ..IsoAccount::plain(iso().iso_id)
    }
}

fn registration(email: u8, token: u8, expires: i64) -> IsoRegistration {
    IsoRegistration {
        email_index: vec![email; 32],
        token_hash: vec![token; 32],
        sealed: vec![9],
        created: time(1),
        expires: time(expires),
    }
}

fn accounts_take_the_place_of_each_other(database: &TestDatabase) {
    let store = database.open();
    let id = iso().iso_id;
    let (before, after, renamed) = store
        .write_blocking(move |conn| {
            isos::insert(conn, &iso())?;
            let before = iso_account::get(conn, &id)?;
            iso_account::put(conn, &account("pending_approval"), time(4))?;
            iso_account::put(conn, &account("suspended"), time(5))?;
            let mut row = iso();
            "Other".clone_into(&mut row.name);
            isos::update(conn, &row)?;
            Ok((before, iso_account::get(conn, &id)?, isos::get(conn, &id)?))
        })
        .unwrap();
    assert_eq!(before, IsoAccount::plain(iso().iso_id), "an ISO without an account is active");
    assert_eq!(after, account("suspended"));
    assert!(!after.is_active());
    assert_eq!(renamed.unwrap().name, "Other");
    assert_eq!(store.read_blocking(iso_account::list).unwrap(), [account("suspended")]);
}

fn accounts_are_listed_by_pages(database: &TestDatabase) {
    let store = database.open();
    store
        .write_blocking(|conn| {
            for number in 0..5 {
                let row = IsoRow {
                    iso_id: IsoId::new(format!("iso_{number}")),
                    created: time(10 - number),
                    ..iso()
                };
                isos::insert(conn, &row)?;
            }
            let waiting = IsoAccount { iso_id: IsoId::new("iso_3"), ..account("pending_approval") };
            iso_account::put(conn, &waiting, time(5))
        })
        .unwrap();
    let page = |status: Option<&'static str>, after: Option<(i64, &str)>, limit: i64| {
        let after = after.map(|(second, id)| (time(second), id.to_owned()));
        let read =
            move |conn: &mut dyn Conn| iso_account::page(conn, status, after.as_ref(), limit);
        let told = |(row, account): (IsoRow, IsoAccount)| {
            assert_eq!(row.iso_id, account.iso_id);
            if row.iso_id.as_str() != "iso_3" {
                let plain = IsoAccount::plain(row.iso_id.clone());
                assert_eq!(account, plain, "one without a row is what `plain` says");
            }
            format!("{} {}", row.iso_id, account.status)
        };
        store.read_blocking(read).unwrap().into_iter().map(told).collect::<Vec<_>>()
    };
    assert_eq!(page(None, None, 2), ["iso_4 active", "iso_3 pending_approval"], "the oldest first");
    assert_eq!(page(None, Some((8, "iso_2")), 9), ["iso_1 active", "iso_0 active"]);
    assert_eq!(page(None, Some((8, "iso_1")), 1), ["iso_2 active"], "of one moment, by the id");
    assert_eq!(page(Some("pending_approval"), None, 9), ["iso_3 pending_approval"]);
    assert_eq!(page(Some("active"), Some((6, "iso_4")), 2), ["iso_2 active", "iso_1 active"]);
    assert_eq!(
        page(Some("active"), Some((7, "iso_3")), 1),
        ["iso_2 active"],
        "after another state"
    );
    assert_eq!(page(Some("suspended"), None, 9), Vec::<String>::new());
}

fn links_work_once_and_not_for_ever(database: &TestDatabase) {
    let store = database.open();
    let hash = |token: u8| vec![token; 32];
    let write = |work: fn(&mut dyn Conn) -> Result<()>| store.write_blocking(work).unwrap();
    write(|conn| {
        iso_registration::put(conn, &registration(1, 1, 50))?;
        // The same address again: the link before is worth nothing.
        iso_registration::put(conn, &registration(1, 2, 50))?;
        iso_registration::put(conn, &registration(2, 3, 20))
    });
    let take = |token: u8, at: i64| {
        let hash = hash(token);
        store.write_blocking(move |conn| iso_registration::take(conn, &hash, time(at))).unwrap()
    };
    let wanted = hash(2);
    let found =
        store.read_blocking(move |conn| iso_registration::find(conn, &wanted, time(10))).unwrap();
    assert_eq!(found, Some(registration(1, 2, 50)));
    assert!(!take(1, 10), "another link took its place");
    assert!(!take(3, 20), "it has expired");
    assert!(take(2, 10) && !take(2, 10), "a link works once");
    assert_eq!(store.read_blocking(iso_registration::count).unwrap(), 1);
    let pruned = store.write_blocking(|conn| iso_registration::prune(conn, time(20))).unwrap();
    assert_eq!(pruned, 1);
}

fn caught(body: &str) -> CaughtWebhook {
    CaughtWebhook {
        iso_id: iso().iso_id,
        number: 0,
        at: time(1),
        headers: String::from("{}"),
        body: body.to_owned(),
        status: 200,
    }
}

fn the_newest_of_what_is_caught_is_kept(database: &TestDatabase) {
    let store = database.open();
    store
        .write_blocking(|conn| {
            isos::insert(conn, &iso())?;
            (0..KEPT_MAX + 5)
                .try_for_each(|number| caught_webhook::keep(conn, &caught(&number.to_string())))
        })
        .unwrap();
    let list = |before, limit| {
        let rows = store
            .read_blocking(move |conn| caught_webhook::list(conn, &iso().iso_id, before, limit));
        rows.unwrap().into_iter().map(|row| (row.number, row.body)).collect::<Vec<_>>()
    };
    assert_eq!(list(None, 1), [(KEPT_MAX + 5, (KEPT_MAX + 4).to_string())]);
    assert_eq!(list(Some(8), 10), [(7, String::from("6")), (6, String::from("5"))]);
    let clear = |conn: &mut dyn Conn| caught_webhook::clear(conn, &iso().iso_id);
    assert_eq!(store.write_blocking(clear).unwrap(), u64::try_from(KEPT_MAX).unwrap());
    assert_eq!(list(None, 1), []);
    let ahead = store.write_blocking(|conn| {
        iso_account::put(conn, &account("active"), time(5))?;
        iso_account::ahead(conn, 10)
    });
    assert_eq!(ahead.unwrap(), [account("active")]);
}
