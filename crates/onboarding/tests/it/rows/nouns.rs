//! Every noun comes back as it was put in.

use onboarding::rows::{api_key, idempotency, merchant, template, tpn};
use site_rows::iso;
use types::{IsoId, KeyId, Kind, MerchantId, StoreId, TemplateId, Tpn};

use super::support::{self, TestDatabase, count, iso_id, number, time, together};

testkit::on_both_engines!(
    isos,
    api_keys,
    templates,
    merchants_and_stores,
    a_dba_is_free_per_iso,
    tpns_and_profiles,
    answers_by_idempotency_key,
    what_does_not_belong_is_refused,
    one_writer_wins_a_dba,
);

fn isos(database: &TestDatabase) {
    let store = database.open();
    store.write_blocking(|conn| iso::insert(conn, &support::iso())).unwrap();
    let found = store.read_blocking(|conn| iso::get(conn, &iso_id())).unwrap();
    assert_eq!(found, Some(support::iso()));
    assert_eq!(store.read_blocking(iso::list).unwrap(), [support::iso()]);
    let absent = store.read_blocking(|conn| iso::get(conn, &IsoId::new("iso_2"))).unwrap();
    assert_eq!(absent, None);
    let again = store.write_blocking(|conn| iso::insert(conn, &support::iso()));
    assert_eq!(again.unwrap_err().kind(), Kind::Conflict);
}

fn api_keys(database: &TestDatabase) {
    let store = database.open();
    let key_id = KeyId::new("k1");
    store
        .write_blocking(|conn| {
            iso::insert(conn, &support::iso())?;
            api_key::insert(conn, &support::key("k1"))?;
            api_key::insert(conn, &support::key("k2"))
        })
        .unwrap();
    let (iso, id) = (iso_id(), key_id.clone());
    let revoked = store.write_blocking(move |conn| {
        let revoked = api_key::revoke(conn, &iso, &id, time(20))?;
        let again = api_key::revoke(conn, &iso, &id, time(21))?;
        api_key::set_expiry(conn, &iso, &id, time(22))?;
        api_key::set_last_used(conn, &iso, &id, time(23), Some("192.0.2.9"))?;
        api_key::set_last_used(conn, &iso, &KeyId::new("gone"), time(23), None)?;
        Ok((revoked, again))
    });
    assert_eq!(revoked.unwrap(), (true, false));
    let mut expected = support::key("k1");
    expected.revoked = Some(time(20));
    expected.expires = Some(time(22));
    expected.last_used = Some(time(23));
    expected.last_ip = Some("192.0.2.9".to_owned());
    expected.warned_days = Some(0);
    let found = store.read_blocking(move |conn| api_key::find(conn, &key_id)).unwrap();
    assert_eq!(found.as_ref(), Some(&expected));
    assert_eq!(store.read_blocking(api_key::list).unwrap(), [expected, support::key("k2")]);
}

fn templates(database: &TestDatabase) {
    let store = database.open();
    let inserted = store.write_blocking(|conn| {
        iso::insert(conn, &support::iso())?;
        let first = template::insert(conn, &support::template("basic"))?;
        Ok((first, template::insert(conn, &support::template("basic"))))
    });
    let (first, again) = inserted.unwrap();
    assert!(first);
    assert!(!again.unwrap(), "the name was taken");
    let found = store.read_blocking(|conn| template::find(conn, &iso_id(), "basic")).unwrap();
    assert_eq!(found, Some((TemplateId::new("tpl_basic"), 3)));
    let other = store.read_blocking(|conn| template::find(conn, &iso_id(), "Basic")).unwrap();
    assert_eq!(other, None);
    assert_eq!(store.read_blocking(template::list).unwrap(), [support::template("basic")]);
}

fn merchants_and_stores(database: &TestDatabase) {
    let store = database.open();
    let inserted = store.write_blocking(|conn| {
        iso::insert(conn, &support::iso())?;
        assert!(merchant::insert(conn, &support::merchant("m1", "Pier One"))?);
        assert!(!merchant::insert(conn, &support::merchant("m2", "PIER ONE"))?);
        assert!(merchant::store_insert(conn, &support::shop("s1", "m1", "Shop"))?);
        merchant::store_insert(conn, &support::shop("s2", "m1", "SHOP"))
    });
    assert!(!inserted.unwrap(), "the store's dba was taken");
    store
        .read_blocking(|conn| {
            let (iso, id, shop_id) = (iso_id(), MerchantId::new("m1"), StoreId::new("s1"));
            let found = merchant::get(conn, &iso, &id)?;
            assert_eq!(found, Some(support::merchant("m1", "Pier One")));
            assert_eq!(merchant::get(conn, &iso, &MerchantId::new("m2"))?, None);
            assert_eq!(merchant::by_dba(conn, &iso, "pier one")?, Some(id.clone()));
            assert_eq!(merchant::by_dba(conn, &iso, "Pier One")?, None);
            assert_eq!(merchant::status(conn, &iso, &id)?.as_deref(), Some("active"));
            let found = merchant::store_get(conn, &iso, &shop_id)?;
            assert_eq!(found, Some(support::shop("s1", "m1", "Shop")));
            assert_eq!(merchant::store_by_dba(conn, &iso, "shop")?, Some(shop_id.clone()));
            let status = merchant::store_status(conn, &iso, &shop_id)?;
            assert_eq!(status, Some((id, "active".to_owned())));
            assert_eq!(merchant::store_status(conn, &iso, &StoreId::new("s2"))?, None);
            Ok(())
        })
        .unwrap();
}

fn a_dba_is_free_per_iso(database: &TestDatabase) {
    let inserted = database.open().write_blocking(|conn| {
        let mut other_iso = support::iso();
        other_iso.iso_id = IsoId::new("iso_2");
        let mut other = support::merchant("m1", "Pier");
        other.iso_id = IsoId::new("iso_2");
        iso::insert(conn, &support::iso())?;
        iso::insert(conn, &other_iso)?;
        assert!(merchant::insert(conn, &support::merchant("m1", "Pier"))?);
        let free = merchant::insert(conn, &other)?;
        assert_eq!(merchant::get(conn, &other.iso_id, &other.merchant_id)?, Some(other));
        Ok(free)
    });
    assert!(inserted.unwrap());
}

fn tpns_and_profiles(database: &TestDatabase) {
    let mut bare = support::tpn("t2", "m1", "s1");
    (bare.template, bare.default_label, bare.tpn_bin) = (None, None, Some("7".to_owned()));
    let plain = bare.clone();
    let found = database.open().write_blocking(move |conn| {
        iso::insert(conn, &support::iso())?;
        merchant::insert(conn, &support::merchant("m1", "Pier"))?;
        merchant::store_insert(conn, &support::shop("s1", "m1", "Shop"))?;
        tpn::insert(conn, &support::tpn("t1", "m1", "s1"))?;
        tpn::insert(conn, &plain)?;
        tpn::profile_put(conn, &support::profile("t1", "p2"))?;
        tpn::profile_put(conn, &support::profile("t1", "p1"))?;
        let (iso, number) = (iso_id(), Tpn::new("t1"));
        assert_eq!(tpn::profile_by_identity(conn, &iso, &[9; 16], None)?, None);
        assert_eq!(tpn::profile_by_identity(conn, &iso, &[6; 16], None)?, Some(number.clone()));
        assert_eq!(
            tpn::profile_list(conn, &iso, &number)?,
            [support::profile("t1", "p1"), support::profile("t1", "p2")]
        );
        conn.script("UPDATE tpns SET status = 'retired' WHERE tpn = 't1'")?;
        assert_eq!(tpn::profile_by_identity(conn, &iso, &[6; 16], None)?, None);
        conn.script("UPDATE tpns SET status = 'active' WHERE tpn = 't1'")?;
        Ok((tpn::get(conn, &iso, &number)?, tpn::get(conn, &iso, &Tpn::new("t2"))?))
    });
    assert_eq!(found.unwrap(), (Some(support::tpn("t1", "m1", "s1")), Some(bare)));
}

fn answers_by_idempotency_key(database: &TestDatabase) {
    let store = database.open();
    let stored = store.write_blocking(|conn| {
        iso::insert(conn, &support::iso())?;
        assert!(idempotency::insert(conn, &support::answer(b"k", 20))?);
        assert!(idempotency::insert(conn, &support::answer(b"other", 99))?);
        assert!(!idempotency::insert(conn, &support::answer(b"k", 30))?, "the first answer stays");
        let found = idempotency::find(conn, &iso_id(), b"k", time(19))?;
        assert_eq!(found, Some(support::answer(b"k", 20)));
        assert_eq!(idempotency::find(conn, &iso_id(), b"k", time(20))?, None);
        assert_eq!(idempotency::find(conn, &IsoId::new("iso_2"), b"k", time(0))?, None);
        let later = idempotency::StoredAnswer { created: time(20), ..support::answer(b"k", 40) };
        assert!(idempotency::insert(conn, &later)?, "an expired answer counts as none");
        assert_eq!(idempotency::find(conn, &iso_id(), b"k", time(20))?, Some(later));
        assert_eq!(idempotency::purge(conn, time(40), 10)?, 1);
        idempotency::find(conn, &iso_id(), b"other", time(0))
    });
    assert_eq!(stored.unwrap(), Some(support::answer(b"other", 99)));
}

fn what_does_not_belong_is_refused(database: &TestDatabase) {
    let store = database.open();
    store.write_blocking(|conn| iso::insert(conn, &support::iso())).unwrap();
    let orphan = store
        .write_blocking(|conn| merchant::store_insert(conn, &support::shop("s1", "m1", "Shop")))
        .unwrap_err();
    assert_eq!(orphan.kind(), Kind::Conflict);
    assert!(orphan.to_string().contains("does not exist"), "{orphan}");
    let null = "INSERT INTO facts (name, value) VALUES ('x', NULL)";
    let error = store.write_blocking(|conn| conn.script(null)).unwrap_err();
    assert_eq!(error.kind(), Kind::Internal, "{error:?}");
}

fn one_writer_wins_a_dba(database: &TestDatabase) {
    let store = database.open();
    store.write_blocking(|conn| iso::insert(conn, &support::iso())).unwrap();
    for round in 0..5 {
        let wins = together(16, |writer| {
            let row = support::merchant(&format!("m{round}_{writer}"), &format!("Pier {round}"));
            store.write_blocking(move |conn| merchant::insert(conn, &row)).unwrap()
        });
        assert_eq!(wins.into_iter().filter(|won| *won).count(), 1);
    }
    assert_eq!(count(&store, "merchants"), 5);
}

/// What a transaction has read keeps others from writing there, so it must not read whole tables,
/// not even while a new database has no statistics and its plans were made for empty tables.
#[test]
fn a_new_postgres_database_checks_references_by_primary_key() {
    let store = TestDatabase::postgres_with(1).open();
    store.write_blocking(|conn| iso::insert(conn, &support::iso())).unwrap();
    let onboard = |index: u32| {
        store.write_blocking(move |conn| {
            let name = index.to_string();
            merchant::insert(conn, &support::merchant(&name, &name))?;
            merchant::store_insert(conn, &support::shop(&name, &name, &name))?;
            tpn::insert(conn, &support::tpn(&name, &name, &name))?;
            tpn::profile_put(conn, &support::profile(&name, "p"))?;
            number(
                conn,
                // Earlier transactions keep theirs as long as others run that began before.
                "SELECT COUNT(*) FROM pg_locks
                 WHERE mode = 'SIReadLock' AND virtualtransaction =
                   (SELECT virtualtransaction FROM pg_locks
                    WHERE locktype = 'virtualxid' AND pid = pg_backend_pid())",
            )
        })
    };
    let locks: Vec<_> = (0..300).map(|index| onboard(index).unwrap()).collect();
    assert!(locks.iter().all(|count| *count <= 8), "{locks:?}");
}
