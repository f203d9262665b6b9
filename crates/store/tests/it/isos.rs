//! ISOs as accounts, and registrations that become some.

use store::iso_account::{self, IsoAccount};
use store::iso_registration::{self, IsoRegistration};
use store::{Conn, iso as isos};
use types::Result;

use crate::support::{Database, iso, time};

on_both_engines!(accounts_take_the_place_of_each_other, links_work_once_and_not_for_ever);

/// Puts something into every table of accounts.
pub(crate) fn fill(conn: &mut dyn Conn) -> Result<()> {
    iso_account::put(conn, &account("active"), time(5))?;
    iso_registration::put(conn, &registration(1, 1, 50))
}

fn account(status: &str) -> IsoAccount {
    IsoAccount {
        status: status.to_owned(),
        status_reason: Some(String::from("why")),
        contact_sealed: Some(vec![1, 2, 3]),
        version: 2,
        updated: Some(time(5)),
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

fn accounts_take_the_place_of_each_other(database: &Database) {
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

fn links_work_once_and_not_for_ever(database: &Database) {
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
