//! Customers: users with addresses, and the numbers under which reports count users and guests.

use db::filter::{Direction, Page};
use db::{Database, filter};
use shop_rows::customer::{self, CustomerFilter, CustomerRow};
use shop_rows::customer_lookup::{
    self, CustomerKey, CustomerLookupFilter, CustomerLookupRow, LookupColumn, LookupOrder,
};
use site_rows::user::{self, UserFilter, UserOrder, UserRow};
use types::{Kind, Role};

use crate::sales::{customer_row, lookup};
use crate::support::{self, TestDatabase, count, time, together};

testkit::on_both_engines!(
    a_customer_is_a_user,
    customers_are_listed,
    everybody_has_one_number,
    numbers_race,
    lookups_are_chosen_and_sorted,
);

fn a_customer_is_a_user(database: &TestDatabase) {
    let store = database.open();
    store
        .write_blocking(|conn| {
            let user_id = user::insert(conn, &support::user("ada"))?;
            assert_eq!(customer::get(conn, 99)?, None);
            let found = customer::get(conn, user_id)?.unwrap();
            assert_eq!(found.row, CustomerRow::empty(user_id));
            customer::put(conn, &CustomerRow { is_paying: false, ..customer_row(user_id) })?;
            customer::put(conn, &customer_row(user_id))?;
            let found = customer::get(conn, user_id)?.unwrap();
            assert_eq!((found.user.login.as_str(), found.row), ("ada", customer_row(user_id)));
            Ok(())
        })
        .unwrap();
    let nobody = store.write_blocking(|conn| customer::put(conn, &customer_row(99)));
    assert_eq!(nobody.unwrap_err().kind(), Kind::Conflict);
    store.write_blocking(|conn| user::delete(conn, 1)).unwrap();
    assert_eq!(count(&store, "customers"), 0);
}

fn customers_are_listed(database: &TestDatabase) {
    let store = database.open();
    store
        .write_blocking(|conn| {
            for (login, role) in
                [("zoe", Role::Customer), ("ann", Role::Customer), ("root", Role::Administrator)]
            {
                let user = UserRow { roles: vec![role], ..support::user(login) };
                let user_id = user::insert(conn, &user)?;
                if login != "ann" {
                    customer::put(conn, &customer_row(user_id))?;
                }
            }
            Ok(())
        })
        .unwrap();
    let any = CustomerFilter::default;
    let email = |text: &str| CustomerFilter { email: Some(text.to_owned()), ..any() };
    let users = |users: UserFilter| CustomerFilter { users, ..any() };
    let roles = vec![Role::Customer];
    let include = vec![2, 3];
    let by_name = UserFilter { order: UserOrder::DisplayName, ..UserFilter::default() };
    let named = UserFilter { include: include.clone(), ..UserFilter::default() };
    let cases: Vec<(CustomerFilter, &[(i64, bool)])> = vec![
        (any(), &[(1, true), (2, false), (3, true)]),
        (users(UserFilter { roles: roles.clone(), ..by_name }), &[(2, false), (1, true)]),
        (users(named.clone()), &[(2, false), (3, true)]),
        (email("ZOE@example.com"), &[(1, true)]),
        (email("nobody@example.com"), &[]),
        (email("zoe"), &[]),
        (CustomerFilter { users: named.clone(), ..email("zoe@example.com") }, &[]),
        (CustomerFilter { users: named, ..email("root@example.com") }, &[(3, true)]),
        (
            CustomerFilter {
                users: UserFilter { roles, ..UserFilter::default() },
                ..email("root@example.com")
            },
            &[],
        ),
    ];
    for (wanted, expected) in cases {
        let described = format!("{wanted:?}");
        let (rows, total) = store.read_blocking(move |conn| customer::list(conn, &wanted)).unwrap();
        let found: Vec<_> = rows.iter().map(|one| (one.user.user_id, one.row.is_paying)).collect();
        assert_eq!(found, expected, "{described}");
        assert_eq!(total, i64::try_from(expected.len()).unwrap());
        assert!(rows.iter().all(|one| one.user.user_id == one.row.user_id));
    }
    let many = store.read_blocking(|conn| {
        assert_eq!(customer::get_many(conn, &[])?, []);
        customer::get_many(conn, &[3, 1, 99])
    });
    let many: Vec<_> = many.unwrap().into_iter().map(|one| one.row.user_id).collect();
    assert_eq!(many, [1, 3]);
}

fn everybody_has_one_number(database: &TestDatabase) {
    let store = database.open();
    store
        .write_blocking(|conn| {
            let mut numbers = Vec::new();
            for row in [
                lookup(None, "Guest"),
                lookup(Some(7), "Guest"),
                lookup(None, "gUEST"),
                lookup(Some(7), "Renamed"),
                lookup(None, "other"),
            ] {
                numbers.push(customer_lookup::find_or_insert(conn, &row)?);
            }
            assert_eq!(numbers, [1, 2, 2, 2, 3], "who registered comes before the guest");
            let expected = CustomerLookupRow { customer_id: 2, ..lookup(Some(7), "Guest") };
            assert_eq!(customer_lookup::get(conn, 2)?, Some(expected.clone()));
            assert_eq!(customer_lookup::find_by_user(conn, 7)?, Some(expected));
            let guest = customer_lookup::find_guest(conn, "GUEST@example.COM")?.unwrap();
            assert_eq!((guest.customer_id, guest.user_id), (1, None));
            let registered =
                CustomerLookupRow { user_id: Some(8), registered: Some(time(1)), ..guest };
            assert!(customer_lookup::update(conn, &registered)?);
            assert_eq!(customer_lookup::find_guest(conn, "guest@example.com")?, None);
            assert_eq!(customer_lookup::find_by_user(conn, 8)?, Some(registered));
            let key = |customer_id, user_id, email_key: &str| {
                let email_key = email_key.to_owned();
                CustomerKey { customer_id, user_id, email_key }
            };
            let all = [
                key(1, Some(8), "guest@example.com"),
                key(2, Some(7), "guest@example.com"),
                key(3, None, "other@example.com"),
            ];
            assert_eq!(customer_lookup::keys_after(conn, 0, 10)?, all);
            assert_eq!(customer_lookup::keys_after(conn, 1, 1)?, all[1..2]);
            assert_eq!(customer_lookup::keys_of_users(conn, &[8, 9])?, all[..1]);
            assert_eq!(customer_lookup::keys_of_users(conn, &[])?, []);
            let emails = ["guest@example.com".to_owned()];
            let mut theirs = customer_lookup::keys_of_emails(conn, &emails)?;
            theirs.sort_by_key(|key| key.customer_id);
            assert_eq!(theirs, all[..2]);
            let imported = CustomerLookupRow { customer_id: 40, ..lookup(None, "imported") };
            customer_lookup::insert_with_id(conn, &imported)?;
            assert_eq!(customer_lookup::find_or_insert(conn, &lookup(None, "last"))?, 41);
            assert!(customer_lookup::delete(conn, 40)?);
            assert!(!customer_lookup::delete(conn, 40)?);
            assert!(!customer_lookup::update(conn, &imported)?);
            Ok(())
        })
        .unwrap();
    for row in [lookup(Some(7), "x"), lookup(None, "OTHER")] {
        let row = CustomerLookupRow { customer_id: 90, ..row };
        let twice = store.write_blocking(move |conn| customer_lookup::insert_with_id(conn, &row));
        assert_eq!(twice.unwrap_err().kind(), Kind::Conflict);
    }
}

/// Whoever comes at the same time under the same address gets the same number.
fn numbers_race(database: &TestDatabase) {
    let store = database.open();
    let numbers = together(8, |index| {
        let row = lookup(None, if index % 2 == 0 { "even" } else { "ODD" });
        let found = store.write_blocking(move |conn| customer_lookup::find_or_insert(conn, &row));
        (index % 2, found.unwrap())
    });
    for (parity, number) in &numbers {
        let same = numbers.iter().filter(|(other, _)| other == parity);
        assert!(same.clone().all(|(_, other)| other == number), "{numbers:?}");
    }
    assert_eq!(count(&store, "customer_lookup"), 2);
}

fn filled(database: &TestDatabase) -> Database {
    let store = database.open();
    store
        .write_blocking(|conn| {
            for (user_id, name, registered, active) in [
                (None, "Émile", None, Some(3)),
                (Some(5), "zoe", Some(2), None),
                (Some(6), "ann", Some(1), Some(4)),
            ] {
                let row = CustomerLookupRow {
                    registered: registered.map(time),
                    last_active: active.map(time),
                    ..lookup(user_id, name)
                };
                customer_lookup::find_or_insert(conn, &row)?;
            }
            Ok(())
        })
        .unwrap();
    store
}

fn lookups_are_chosen_and_sorted(database: &TestDatabase) {
    let store = filled(database);
    let any = CustomerLookupFilter::default;
    let search = |text: &str, columns: &[LookupColumn]| CustomerLookupFilter {
        search: Some((text.to_owned(), columns.to_vec())),
        ..any()
    };
    let order = |order: LookupOrder| CustomerLookupFilter { order, ..any() };
    let backwards = CustomerLookupFilter { direction: Direction::Descending, ..any() };
    let cases: Vec<(CustomerLookupFilter, &[i64])> = vec![
        (any(), &[1, 2, 3]),
        (backwards, &[3, 2, 1]),
        (search("ÉMILE ün", &[LookupColumn::Name]), &[1]),
        (search("émile ün", &[LookupColumn::Email, LookupColumn::Username]), &[]),
        (search("n_", &[LookupColumn::Username]), &[3]),
        (search("ZOE@", LookupColumn::ALL), &[2]),
        (search("zoe", &[]), &[]),
        (CustomerLookupFilter { include: vec![3, 1, 9], ..any() }, &[1, 3]),
        (CustomerLookupFilter { exclude: vec![3, 9], ..any() }, &[1, 2]),
        (CustomerLookupFilter { users: vec![6, 9], ..any() }, &[3]),
        (CustomerLookupFilter { registered: Some(true), ..any() }, &[2, 3]),
        (CustomerLookupFilter { registered: Some(false), ..any() }, &[1]),
        (order(LookupOrder::Name), &[3, 2, 1]),
        (order(LookupOrder::Username), &[3, 2, 1]),
        (order(LookupOrder::Email), &[3, 2, 1]),
        (order(LookupOrder::Registered), &[1, 3, 2]),
        (order(LookupOrder::LastActive), &[2, 1, 3]),
    ];
    for (wanted, expected) in cases {
        let described = format!("{wanted:?}");
        let listed = store.read_blocking(move |conn| customer_lookup::list(conn, &wanted));
        let (rows, total) = listed.unwrap();
        let found: Vec<_> = rows.into_iter().map(|row| row.customer_id).collect();
        assert_eq!(found, expected, "{described}");
        assert_eq!(total, i64::try_from(expected.len()).unwrap());
    }
    let page = Page { offset: 1, limit: 1 };
    let second = CustomerLookupFilter { page, ..any() };
    let (rows, total) =
        store.read_blocking(move |conn| customer_lookup::list(conn, &second)).unwrap();
    assert_eq!((rows[0].customer_id, total), (2, 3));
    let most = vec![1; filter::LIST_MAX + 1];
    let too_many = CustomerLookupFilter { users: most, ..any() };
    let refused = store.read_blocking(move |conn| customer_lookup::list(conn, &too_many));
    assert_eq!(refused.unwrap_err().kind(), Kind::Invalid);
}
