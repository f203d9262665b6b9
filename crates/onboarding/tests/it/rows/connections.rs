//! Connections: who holds them, and when somebody looks at them again.

use onboarding::rows::connection::{self, ConnectionRow, ConnectionStatus, Hint};
use site_rows::iso;
use types::{Result, Timestamp};

use super::support::{self, TestDatabase, time};

testkit::on_both_engines!(
    what_was_taken_away_is_not_written,
    a_store_that_fails_is_left_alone,
    webhooks_of_a_turn_are_looked_at_after_it,
);

fn row() -> ConnectionRow {
    ConnectionRow {
        iso_id: support::iso().iso_id,
        connection_id: String::from("con_1"),
        merchant_id: None,
        store_id: None,
        url: String::from("https://shop.example"),
        name: String::new(),
        status: ConnectionStatus::Live,
        version: 1,
        key_sealed: None,
        access_sealed: vec![1],
        cursor: String::from("{}"),
        counts: String::from("{}"),
        error_code: String::new(),
        error_message: String::new(),
        failures: 0,
        drift: 0,
        last_event: None,
        last_success: None,
        reconciled: None,
        due: Some(time(10)),
        lease: String::new(),
        lease_until: None,
        country: String::new(),
        checks: String::from("[]"),
        is_held: false,
        created: time(1),
        updated: time(1),
    }
}

/// Takes the one connection that there is.
fn claim(conn: &mut dyn db::Conn, lease: &str, now: i64) -> Result<ConnectionRow> {
    let mut claimed = connection::claim(conn, lease, (time(now), time(now + 15)), 5)?;
    assert_eq!(claimed.len(), 1);
    Ok(claimed.remove(0))
}

fn due(conn: &mut dyn db::Conn) -> Result<Option<Timestamp>> {
    Ok(connection::find(conn, "con_1")?.unwrap().due)
}

fn hint(conn: &mut dyn db::Conn, object_id: i64, now: i64) -> Result<()> {
    let hint = Hint { resource: String::from("order"), object_id, received_us: 0 };
    connection::hint(conn, &row(), &hint, time(now), 100)
}

fn what_was_taken_away_is_not_written(database: &TestDatabase) {
    let written = database.open().write_blocking(|conn| {
        iso::insert(conn, &support::iso())?;
        connection::insert(conn, &row())?;
        let first = claim(conn, "process-1", 20)?;
        let ended = ConnectionRow { status: ConnectionStatus::Disconnected, ..row() };
        connection::update(conn, &ended)?;
        let second = claim(conn, "process-2", 20)?;
        assert!(!connection::progress(conn, &first, time(40))?);
        assert!(!connection::renew(conn, &first, time(40))?);
        assert!(!connection::remove(conn, &first)?);
        connection::put_off(conn, &first, time(90))?;
        let kept = connection::find(conn, "con_1")?.unwrap();
        assert_eq!(
            (kept.status, kept.lease),
            (ConnectionStatus::Disconnected, second.lease.clone())
        );
        assert!(connection::remove(conn, &second)?);
        assert_eq!(connection::find(conn, "con_1")?, None);
        Ok(())
    });
    written.unwrap();
}

fn a_store_that_fails_is_left_alone(database: &TestDatabase) {
    let written = database.open().write_blocking(|conn| {
        iso::insert(conn, &support::iso())?;
        connection::insert(conn, &row())?;
        let mut held = claim(conn, "process-1", 20)?;
        hint(conn, 1, 21)?;
        held.failures = 1;
        assert!(connection::progress(conn, &held, time(40))?);
        connection::put_off(conn, &held, time(600))?;
        assert_eq!(due(conn)?, Some(time(600)));
        // Whatever it sends.
        hint(conn, 2, 30)?;
        assert_eq!(due(conn)?, Some(time(600)));
        assert!(!connection::is_due(conn, time(599))?);
        Ok(())
    });
    written.unwrap();
}

fn webhooks_of_a_turn_are_looked_at_after_it(database: &TestDatabase) {
    let written = database.open().write_blocking(|conn| {
        iso::insert(conn, &support::iso())?;
        connection::insert(conn, &row())?;
        hint(conn, 1, 15)?;
        let held = claim(conn, "process-1", 20)?;
        connection::release(conn, &held, time(600), time(20))?;
        assert_eq!(due(conn)?, Some(time(600)), "it was there before");
        hint(conn, 2, 30)?;
        let held = claim(conn, "process-2", 31)?;
        hint(conn, 3, 32)?;
        connection::release(conn, &held, time(600), time(31))?;
        assert_eq!(due(conn)?, Some(time(32)));
        Ok(())
    });
    written.unwrap();
}
