//! Ways to sign in that work once.

use db::{Conn, Database};
use site_rows::login_token::{self, LoginTokenRow};
use site_rows::user;
use types::Result;

use crate::support::{self, TestDatabase, count, time};

testkit::on_both_engines!(a_way_to_sign_in_works_once, old_ways_to_sign_in_go);

pub(crate) fn token(hash: u8, user_id: i64) -> LoginTokenRow {
    LoginTokenRow {
        token_hash: vec![hash; 4],
        kind: "qr_login".to_owned(),
        state: "pending".to_owned(),
        user_id,
        session_hash: None,
        detail: "{}".to_owned(),
        created: time(10),
        expires: time(20),
    }
}

fn write<T: Send + 'static>(
    store: &Database,
    closure: impl Fn(&mut dyn Conn) -> Result<T> + Send + 'static,
) -> T {
    store.write_blocking(closure).unwrap()
}

fn a_way_to_sign_in_works_once(database: &TestDatabase) {
    let store = database.open();
    let user_id = write(&store, |conn| user::insert(conn, &support::user("ada")));
    let row = token(1, user_id);
    let stored = row.clone();
    write(&store, move |conn| login_token::insert(conn, &stored));
    let next = LoginTokenRow {
        state: "scanned".to_owned(),
        session_hash: Some(vec![9; 4]),
        detail: r#"{"a":1}"#.to_owned(),
        expires: time(30),
        ..row
    };
    let moved = next.clone();
    let advance = move |conn: &mut dyn Conn| login_token::advance(conn, &moved, "pending");
    assert!(write(&store, advance.clone()));
    assert!(!write(&store, advance), "it is not in that state any more");
    let found = store.read_blocking(|conn| {
        let by_session = login_token::by_session(conn, &[9; 4])?;
        Ok((login_token::get(conn, &[1; 4])?, by_session, login_token::get(conn, &[2; 4])?))
    });
    assert_eq!(found.unwrap(), (Some(next.clone()), Some(next), None));
    let counted = |since| {
        store.read_blocking(move |conn| {
            login_token::count_since(conn, user_id, "qr_login", time(since))
        })
    };
    assert_eq!((counted(9).unwrap(), counted(10).unwrap()), (1, 0));
}

fn old_ways_to_sign_in_go(database: &TestDatabase) {
    let store = database.open();
    let user_id = write(&store, |conn| user::insert(conn, &support::user("ada")));
    write(&store, move |conn| login_token::insert(conn, &token(1, user_id)));
    let prune = |at| write(&store, move |conn| login_token::prune(conn, time(at)));
    assert_eq!((prune(20), prune(21)), (0, 1));
    write(&store, move |conn| login_token::insert(conn, &token(2, user_id)));
    assert!(write(&store, move |conn| user::delete(conn, user_id)));
    assert_eq!(count(&store, "login_tokens"), 0, "a deleted user takes them along");
}
