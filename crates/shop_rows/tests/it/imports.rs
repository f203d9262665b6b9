//! What imports need: many rows at once, numbers that are taken, and what they remember.

use std::collections::HashSet;

use shop_rows::import::{self, Progress};
use shop_rows::{customer_lookup, order};
use site_rows::{post, user};

use crate::sales::lookup;
use crate::support::{self, TestDatabase, count, time};

testkit::on_both_engines!(
    everybody_gets_one_number_at_once,
    numbers_of_elsewhere_are_remembered,
    progress_is_remembered,
    taken_numbers_are_told,
);

/// More than fit into one statement, and a rest.
const MANY: i64 = 150;

fn progress_at(done: i64) -> Progress {
    Progress { done, details: "{}".to_owned(), updated: time(done) }
}

fn everybody_gets_one_number_at_once(database: &TestDatabase) {
    let store = database.open();
    store
        .write_blocking(|conn| {
            let user_id = user::insert(conn, &support::user("ada"))?;
            let known = customer_lookup::find_or_insert(conn, &lookup(None, "g0"))?;
            let mut list = vec![
                lookup(Some(user_id), "ada"),
                lookup(Some(user_id), "other"),
                lookup(None, "ADA"),
            ];
            list.extend((0..MANY).map(|n| lookup(None, &format!("G{n}"))));
            customer_lookup::ensure_many(conn, &list)?;
            customer_lookup::ensure_many(conn, &list)?;
            customer_lookup::ensure_many(conn, &[])?;
            let first = customer_lookup::find_guest(conn, "g0@example.com")?.unwrap();
            assert_eq!(first.customer_id, known);
            let user = customer_lookup::find_by_user(conn, user_id)?.unwrap();
            assert_eq!(user.email, "ada@Example.com");
            let next = customer_lookup::find_or_insert(conn, &lookup(None, "z"))?;
            assert_eq!(next, MANY + 3);
            Ok(())
        })
        .unwrap();
    assert_eq!(count(&store, "customer_lookup"), MANY + 3);
}

fn numbers_of_elsewhere_are_remembered(database: &TestDatabase) {
    let store = database.open();
    store
        .write_blocking(|conn| {
            let pairs: Vec<(i64, i64)> = (1..=MANY).map(|id| (id, id + 1_000)).collect();
            import::remember_ids(conn, ("shop", "order"), &pairs)?;
            import::remember_ids(conn, ("shop", "order"), &[(2, 5_000)])?;
            import::remember_ids(conn, ("shop", "product"), &[(1, 7)])?;
            let found = import::own_ids(conn, ("shop", "order"), &[1, 2, 999])?;
            assert_eq!(found, [(1, 1_001), (2, 5_000)].into());
            assert!(import::own_ids(conn, ("mall", "order"), &[1])?.is_empty());
            assert!(import::own_ids(conn, ("shop", "order"), &[])?.is_empty());
            Ok(())
        })
        .unwrap();
}

fn progress_is_remembered(database: &TestDatabase) {
    let store = database.open();
    store
        .write_blocking(|conn| {
            assert_eq!(import::progress(conn, "file")?, None);
            import::put_progress(conn, "file", &progress_at(5))?;
            import::put_progress(conn, "file", &progress_at(9))?;
            assert_eq!(import::progress(conn, "file")?, Some(progress_at(9)));
            assert!(import::forget_progress(conn, "file")?);
            assert!(!import::forget_progress(conn, "file")?);
            Ok(())
        })
        .unwrap();
}

fn taken_numbers_are_told(database: &TestDatabase) {
    let store = database.open();
    store
        .write_blocking(|conn| {
            let mut sold = order::Order::default();
            (sold.row.order_id, sold.row.details) = (7, "{}".to_owned());
            order::insert_many(conn, &[sold])?;
            let mut written = post::PostRow { post_id: 9, ..post::PostRow::default() };
            written.meta = "{}".to_owned();
            post::insert_with_id(conn, &written)?;
            let taken = post::taken_ids(conn, &(1..=2_000).collect::<Vec<_>>())?;
            assert_eq!(taken, HashSet::from([7, 9]));
            assert!(post::taken_ids(conn, &[])?.is_empty());
            Ok(())
        })
        .unwrap();
}
