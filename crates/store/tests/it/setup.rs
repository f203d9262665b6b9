//! What setting up reads and keeps: whether there is any of something, orders with a mark, and ways
//! to sign in that work once.

use store::login_token::{self, LoginTokenRow};
use store::order::{Order, OrderRow};
use store::presence::{self, Presence};
use store::product::ProductRow;
use store::{Conn, Store, order, product, user};
use types::Result;

use crate::support::{self, Database, count, time};

on_both_engines!(
    what_is_there_is_noticed,
    orders_with_a_mark_are_found,
    a_way_to_sign_in_works_once,
    old_ways_to_sign_in_go,
);

fn what_is_there_is_noticed(database: &Database) {
    let store = database.open();
    let read = |store: &Store| store.read_blocking(presence::read).unwrap();
    assert_eq!(read(&store), Presence::default());
    let add = |kind: &'static str, status: &'static str| {
        let row = ProductRow {
            kind: kind.to_owned(),
            status: status.to_owned(),
            ..ProductRow::default()
        };
        store.write_blocking(move |conn| product::insert(conn, &row)).unwrap()
    };
    add("simple", "draft");
    add("variation", "publish");
    assert!(!read(&store).product, "neither drafts nor variations are for sale");
    for _ in 0..3 {
        add("simple", "publish");
    }
    assert_eq!(read(&store), Presence { product: true, ..Presence::default() });
    let counted = |max| store.read_blocking(move |conn| presence::products_up_to(conn, max));
    assert_eq!((counted(2).unwrap(), counted(9).unwrap()), (2, 3));
}

fn orders_with_a_mark_are_found(database: &Database) {
    let store = database.open();
    for details in [
        r#"{"meta_data":[{"id":1,"key":"mode","value":"test"}]}"#,
        r#"{"meta_data":[{"id":2,"key":"mode","value":"live"}]}"#,
        "{}",
    ] {
        let row = OrderRow { details: details.to_owned(), ..OrderRow::default() };
        let sold = Order { row, items: Vec::new() };
        store.write_blocking(move |conn| order::insert(conn, &sold).map(drop)).unwrap();
    }
    let found = store.read_blocking(|conn| {
        Ok((order::count_marked(conn, "mode", "test")?, order::marked(conn, "mode", "test", 9)?))
    });
    assert_eq!(found.unwrap(), (1, vec![1]));
}

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
    store: &Store,
    closure: impl Fn(&mut dyn Conn) -> Result<T> + Send + 'static,
) -> T {
    store.write_blocking(closure).unwrap()
}

fn a_way_to_sign_in_works_once(database: &Database) {
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

fn old_ways_to_sign_in_go(database: &Database) {
    let store = database.open();
    let user_id = write(&store, |conn| user::insert(conn, &support::user("ada")));
    write(&store, move |conn| login_token::insert(conn, &token(1, user_id)));
    let prune = |at| write(&store, move |conn| login_token::prune(conn, time(at)));
    assert_eq!((prune(20), prune(21)), (0, 1));
    write(&store, move |conn| login_token::insert(conn, &token(2, user_id)));
    assert!(write(&store, move |conn| user::delete(conn, user_id)));
    assert_eq!(count(&store, "login_tokens"), 0, "a deleted user takes them along");
}
