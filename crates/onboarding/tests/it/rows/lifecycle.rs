//! Versions of objects, devices, templates' versions and what is due later, on both engines.

use onboarding::rows::device::{self, DeviceRow, PairingCode};
use onboarding::rows::due_work::{self, DueWork};
use onboarding::rows::history::{self, PastVersion};
use onboarding::rows::template::{self, DefaultsRow};
use onboarding::rows::{merchant, tpn};
use site_rows::iso;
use types::{IsoId, Result, Tpn};

use super::support::{self, TestDatabase, iso_id, time};

testkit::on_both_engines!(
    rows_are_replaced,
    the_version_of_a_time_is_found,
    work_is_taken_once,
    codes_and_devices,
    template_versions_and_defaults,
    credentials_are_shredded,
);

fn open(database: &TestDatabase) -> db::Database {
    let store = database.open();
    let fill = |conn: &mut dyn db::Conn| -> Result<()> {
        iso::insert(conn, &support::iso())?;
        merchant::insert(conn, &support::merchant("m1", "Pier"))?;
        merchant::store_insert(conn, &support::shop("s1", "m1", "Shop"))?;
        tpn::insert(conn, &support::tpn("t1", "m1", "s1"))?;
        tpn::profile_put(conn, &support::profile("t1", "p1"))
    };
    store.write_blocking(fill).unwrap();
    store
}

fn rows_are_replaced(database: &TestDatabase) {
    let mut merchant_row = support::merchant("m1", "Other name");
    (merchant_row.version, merchant_row.ebt, merchant_row.metadata) = (7, None, Some("{}".into()));
    let mut shop = support::shop("s1", "m1", "Other shop");
    (shop.status, shop.version) = ("closed".to_owned(), 8);
    let mut terminal = support::tpn("t1", "m1", "s1");
    (terminal.store_id, terminal.template, terminal.version) = (None, None, 9);
    let mut profile = support::profile("t1", "p1");
    (profile.status, profile.mid) = ("failed".to_owned(), None);
    let expected = (merchant_row.clone(), shop.clone(), terminal.clone(), profile.clone());
    let found = open(database).write_blocking(move |conn| {
        merchant::update(conn, &merchant_row)?;
        merchant::store_update(conn, &shop)?;
        tpn::update(conn, &terminal)?;
        tpn::profile_put(conn, &profile)?;
        let (iso, number) = (iso_id(), Tpn::new("t1"));
        let merchant_found = merchant::get(conn, &iso, &merchant_row.merchant_id)?.unwrap();
        let shop_found = merchant::store_get(conn, &iso, &shop.store_id)?.unwrap();
        let terminal_found = tpn::get(conn, &iso, &number)?.unwrap();
        let profiles = tpn::profile_list(conn, &iso, &number)?;
        Ok((merchant_found, shop_found, terminal_found, profiles))
    });
    let (merchant_found, shop_found, terminal_found, profiles) = found.unwrap();
    assert_eq!((merchant_found, shop_found, terminal_found), (expected.0, expected.1, expected.2));
    assert_eq!(profiles, [expected.3]);
}

fn the_version_of_a_time_is_found(database: &TestDatabase) {
    let found = open(database).write_blocking(|conn| {
        let iso_id = iso_id();
        for version in 1..=3 {
            let record = format!("{{\"version\":{version}}}");
            let from = time(version * 10);
            let (object, object_id) = ("merchant", "m1");
            let past = PastVersion { iso_id: &iso_id, object, object_id, version, from, record };
            history::keep(conn, &past)?;
        }
        let at = [9, 10, 19, 20, 99].map(time);
        let found = at.map(|at| history::as_of(conn, &iso_id, "merchant", "m1", at).unwrap());
        assert_eq!(history::as_of(conn, &iso_id, "store", "m1", time(99))?, None);
        assert_eq!(history::as_of(conn, &IsoId::new("iso_2"), "merchant", "m1", time(99))?, None);
        Ok(found)
    });
    let version = |number: i64| Some(format!("{{\"version\":{number}}}"));
    assert_eq!(found.unwrap(), [None, version(1), version(1), version(2), version(3)]);
}

fn work_is_taken_once(database: &TestDatabase) {
    let work = |kind: &str, due: i64| DueWork {
        iso_id: iso_id(),
        kind: kind.to_owned(),
        object_id: "m1".to_owned(),
        due: time(due),
    };
    let (late, early) = (work("late", 20), work("early", 10));
    let store = open(database);
    let listed = store.write_blocking(move |conn| {
        due_work::put(conn, &late)?;
        due_work::put(conn, &work("early", 99))?;
        due_work::put(conn, &early)?;
        assert_eq!(due_work::list(conn, None, time(9), 10)?, []);
        assert_eq!(due_work::list(conn, None, time(20), 1)?, std::slice::from_ref(&early));
        assert_eq!(
            due_work::list(conn, Some(&iso_id()), time(20), 9)?,
            [early.clone(), late.clone()]
        );
        assert_eq!(due_work::list(conn, Some(&IsoId::new("iso_2")), time(20), 9)?, []);
        assert!(due_work::take(conn, &early)?);
        assert!(!due_work::take(conn, &early)?, "somebody else did");
        due_work::list(conn, None, time(20), 9)
    });
    assert_eq!(listed.unwrap(), [work("late", 20)]);
}

fn code(hash: u8) -> PairingCode {
    PairingCode {
        iso_id: iso_id(),
        tpn: Tpn::new("t1"),
        code_hash: vec![hash; 32],
        created: time(1),
        expires: time(2),
        prefix_hash: Some(vec![7; 32]),
        wrong_tries: 0,
    }
}

fn bound_device() -> DeviceRow {
    DeviceRow {
        iso_id: iso_id(),
        tpn: Tpn::new("t1"),
        device_id: "dev_1".to_owned(),
        token_hash: vec![9; 32],
        serial_number: "SN \u{e9}".to_owned(),
        bound: time(3),
        last_seen: None,
        parameters: None,
    }
}

fn codes_and_devices(database: &TestDatabase) {
    let row = bound_device();
    let done = open(database).write_blocking(move |conn| {
        device::pairing_put(conn, &code(1))?;
        device::pairing_put(conn, &code(2))?;
        assert_eq!(device::pairing_find(conn, &[1; 32])?, None);
        assert_eq!(device::pairing_find(conn, &[2; 32])?, Some(code(2)));
        device::pairing_delete(conn, &iso_id(), &row.tpn)?;
        assert_eq!(device::pairing_find(conn, &[2; 32])?, None);
        device::insert(conn, &row)?;
        assert_eq!(device::by_token(conn, &[9; 32])?.as_ref(), Some(&row));
        device::seen(conn, &row, time(4), ("tag", "{}"))?;
        let seen = device::get(conn, &iso_id(), &row.tpn)?.unwrap();
        assert_eq!(seen.last_seen, Some(time(4)));
        assert_eq!(seen.parameters, Some(("tag".to_owned(), "{}".to_owned())));
        assert!(device::delete(conn, &iso_id(), &row.tpn)?);
        device::delete(conn, &iso_id(), &row.tpn)
    });
    assert!(!done.unwrap());
}

fn template_versions_and_defaults(database: &TestDatabase) {
    let done = open(database).write_blocking(|conn| {
        let mut row = support::template("basic");
        row.version = 1;
        assert!(template::insert(conn, &row)?);
        let first = row.parameters.clone();
        (row.version, row.parameters, row.retired) = (2, "{}".to_owned(), Some(time(5)));
        template::update(conn, &row)?;
        let (iso, id) = (iso_id(), row.template_id.clone());
        assert_eq!(template::version_parameters(conn, &iso, &id, 1)?, Some(first));
        assert_eq!(template::version_parameters(conn, &iso, &id, 2)?.as_deref(), Some("{}"));
        assert_eq!(template::version_parameters(conn, &iso, &id, 3)?, None);
        assert_eq!(template::find(conn, &iso, "basic")?, None, "retired");
        assert_eq!(template::get(conn, &iso, "basic")?.as_ref(), Some(&row));
        assert_eq!(template::page(conn, &iso, "", 5)?, [row]);
        assert_eq!(template::page(conn, &iso, "basic", 5)?, []);
        assert_eq!(template::defaults(conn, &iso)?, None);
        for version in 1..=2 {
            let parameters = format!("{{\"v\":{version}}}");
            let row = DefaultsRow { iso_id: iso.clone(), version, parameters, updated: time(6) };
            template::defaults_put(conn, &row)?;
            assert_eq!(template::defaults(conn, &iso)?, Some(row));
        }
        Ok(())
    });
    done.unwrap();
}

fn credentials_are_shredded(database: &TestDatabase) {
    let left = open(database).write_blocking(|conn| {
        assert_eq!(tpn::profiles_shred(conn, &iso_id(), &Tpn::new("t1"))?, 1);
        tpn::profile_list(conn, &iso_id(), &Tpn::new("t1"))
    });
    let left = left.unwrap();
    assert!(left[0].sealed.is_empty() && left[0].identity_index.is_empty());
    assert_eq!(left[0].identifiers, support::profile("t1", "p1").identifiers);
}
