//! Zones, their places and their methods: what is written is what is read, and goes together.

use shop_rows::shipping::{self, MethodRow, ZoneRow};
use types::Kind;

use crate::sales::{location, method, zone};
use crate::support::{TestDatabase, count};

testkit::on_both_engines!(zones_come_and_go, a_zone_has_places, a_zone_has_methods);

fn zones_come_and_go(database: &TestDatabase) {
    let store = database.open();
    store
        .write_blocking(|conn| {
            assert_eq!(shipping::zone_insert(conn, &zone("Far", 2))?, 1);
            assert_eq!(shipping::zone_insert(conn, &zone("Near", 1))?, 2);
            let imported = ZoneRow { zone_id: 9, ..zone("Also near", 1) };
            shipping::zone_insert_with_id(conn, &imported)?;
            assert_eq!(shipping::zone_insert(conn, &zone("Last", 3))?, 10);
            let ids: Vec<_> =
                shipping::zone_list(conn)?.into_iter().map(|zone| zone.zone_id).collect();
            assert_eq!(ids, [2, 9, 1, 10]);
            let renamed = ZoneRow { zone_id: 9, ..zone("Renamed", 7) };
            assert!(shipping::zone_update(conn, &renamed)?);
            assert_eq!(shipping::zone_get(conn, 9)?, Some(renamed));
            assert!(!shipping::zone_update(conn, &zone("x", 0))?);
            assert_eq!(shipping::zone_get(conn, 3)?, None);
            assert!(!shipping::zone_delete(conn, 3)?);
            Ok(())
        })
        .unwrap();
}

fn a_zone_has_places(database: &TestDatabase) {
    let store = database.open();
    store
        .write_blocking(|conn| {
            let zone_id = shipping::zone_insert(conn, &zone("Home", 0))?;
            let places = [location("postcode", "1*"), location("country", "DE")];
            shipping::locations_set(conn, zone_id, &[location("state", "US:NJ")])?;
            shipping::locations_set(conn, zone_id, &places)?;
            assert_eq!(shipping::locations_of(conn, zone_id)?, places);
            assert_eq!(shipping::locations_of(conn, 0)?, []);
            assert!(shipping::zone_delete(conn, zone_id)?);
            Ok(())
        })
        .unwrap();
    assert_eq!(count(&store, "shipping_zone_locations"), 0);
    let places = [location("country", "DE")];
    let nowhere = store.write_blocking(move |conn| shipping::locations_set(conn, 5, &places));
    assert_eq!(nowhere.unwrap_err().kind(), Kind::Conflict);
}

fn a_zone_has_methods(database: &TestDatabase) {
    let store = database.open();
    store
        .write_blocking(|conn| {
            let zone_id = shipping::zone_insert(conn, &zone("Home", 0))?;
            for row in [method(zone_id, 2), method(zone_id, 1), method(0, 1)] {
                shipping::method_insert(conn, &row)?;
            }
            let imported = MethodRow { instance_id: 20, ..method(zone_id, 1) };
            shipping::method_insert_with_id(conn, &imported)?;
            assert_eq!(shipping::method_insert(conn, &method(0, 0))?, 21);
            let ids = |methods: Vec<MethodRow>| -> Vec<i64> {
                methods.into_iter().map(|method| method.instance_id).collect()
            };
            assert_eq!(ids(shipping::methods_of(conn, zone_id)?), [2, 20, 1]);
            assert_eq!(ids(shipping::methods_of(conn, 0)?), [21, 3]);
            let changed = MethodRow {
                instance_id: 20,
                zone_id: 0,
                method_id: "free_shipping".to_owned(),
                position: 5,
                enabled: false,
                settings: "{}".to_owned(),
            };
            assert!(shipping::method_update(conn, &changed)?);
            assert_eq!(shipping::method_get(conn, 20)?, Some(changed));
            assert!(!shipping::method_update(conn, &method(0, 0))?);
            assert!(shipping::method_delete(conn, 21)?);
            assert!(!shipping::method_delete(conn, 21)?);
            assert_eq!(shipping::method_get(conn, 21)?, None);
            assert!(shipping::zone_delete(conn, zone_id)?);
            assert_eq!(ids(shipping::methods_of(conn, zone_id)?), [0; 0]);
            assert_eq!(ids(shipping::methods_of(conn, 0)?), [3, 20]);
            Ok(())
        })
        .unwrap();
}
