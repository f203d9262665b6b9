//! Facts, and what every text must keep to.

use db::fact;
use types::Kind;

use crate::support::TestDatabase;

testkit::on_both_engines!(facts, the_zero_character_is_refused);

fn facts(database: &TestDatabase) {
    let store = database.open();
    let first = store.write_blocking(|conn| fact::get_or_set(conn, "master key", "abc"));
    assert_eq!(first.unwrap(), "abc");
    let second = store.write_blocking(|conn| fact::get_or_set(conn, "master key", "xyz"));
    assert_eq!(second.unwrap(), "abc");
}

/// PostgreSQL cannot store it, so neither engine may.
fn the_zero_character_is_refused(database: &TestDatabase) {
    let store = database.open();
    let error = store.write_blocking(|conn| fact::get_or_set(conn, "a\0b", "c")).unwrap_err();
    assert_eq!(error.kind(), Kind::Invalid, "{error:?}");
    let text = "\u{1}\u{7f}\u{feff}\u{fffd}\u{10ffff}";
    let stored = store.write_blocking(move |conn| fact::get_or_set(conn, "odd", text)).unwrap();
    assert_eq!(stored, text);
}
