//! The nouns of the site: users and how they prove who they are, and options.

use site_rows::user::UserRow;
use site_rows::{
    application_password, consumer_key, login_token, oembed_cache, option, session, user,
};
use types::{Kind, Role};

use crate::login_tokens::token;
use crate::support::{self, TestDatabase, count, time, together};

testkit::on_both_engines!(
    users,
    a_user_is_found_in_whatever_case,
    imported_users_keep_their_ids,
    a_deleted_user_takes_its_credentials_along,
    a_nicename_gets_a_number_when_taken,
    application_passwords,
    consumer_keys,
    a_nonce_serves_once,
    sessions,
    options,
    embeddings,
    users_inserted_at_once_get_ids_in_a_row,
);

fn users(database: &TestDatabase) {
    let store = database.open();
    let ids = store.write_blocking(|conn| {
        let first = user::insert(conn, &support::user("ada"))?;
        Ok((first, user::insert(conn, &support::user("bob"))?))
    });
    assert_eq!(ids.unwrap(), (1, 2));
    for taken in [
        UserRow { login: "ADA".to_owned(), ..support::user("new") },
        UserRow { email: "Ada@example.com".to_owned(), ..support::user("new") },
        UserRow { nicename: "ada".to_owned(), ..support::user("new") },
    ] {
        let again = taken.clone();
        let error = store.write_blocking(move |conn| user::insert(conn, &taken)).unwrap_err();
        assert_eq!(error.kind(), Kind::Conflict);
        assert!(error.to_string().contains("login or e-mail"), "{error}");
        let update = UserRow { user_id: 2, ..again };
        let error = store.write_blocking(move |conn| user::update(conn, &update)).unwrap_err();
        assert_eq!(error.kind(), Kind::Conflict);
    }
    let row = |login: &str, user_id| UserRow { user_id, ..support::user(login) };
    assert_eq!(store.read_blocking(user::all).unwrap(), [row("ada", 1), row("bob", 2)]);
    let changed = UserRow {
        roles: vec![],
        password_hash: Some("$x".to_owned()),
        iso_id: None,
        merchant_id: Some("m".to_owned()),
        store_id: Some("s".to_owned()),
        meta: "{}".to_owned(),
        registered: time(99),
        ..row("robert", 2)
    };
    let expected = changed.clone();
    let found = store.write_blocking(move |conn| {
        assert!(user::update(conn, &changed)?);
        assert!(!user::update(conn, &UserRow { user_id: 3, ..support::user("nobody") })?);
        assert_eq!(user::get(conn, 3)?, None);
        user::get(conn, 2)
    });
    assert_eq!(found.unwrap(), Some(expected));
}

fn a_user_is_found_in_whatever_case(database: &TestDatabase) {
    let store = database.open();
    let found = store.write_blocking(|conn| {
        user::insert(conn, &support::user("Zoë K"))?;
        Ok([
            user::find_by_login(conn, "zOË k")?,
            user::find_by_email(conn, "ZOË K@EXAMPLE.com")?,
            user::find_by_nicename(conn, "zoë k")?,
            user::find_by_login(conn, "zoe k")?,
            user::find_by_login(conn, "zoë%")?,
            user::find_by_nicename(conn, "Zoë k")?,
        ]
        .map(|user| user.map(|user| user.login)))
    });
    let zoe = Some("Zoë K".to_owned());
    assert_eq!(found.unwrap(), [zoe.clone(), zoe.clone(), zoe, None, None, None]);
}

fn imported_users_keep_their_ids(database: &TestDatabase) {
    let store = database.open();
    let ids = store.write_blocking(|conn| {
        let row = |login: &str, user_id| UserRow { user_id, ..support::user(login) };
        user::insert_with_id(conn, &row("ten", 10))?;
        user::insert_with_id(conn, &row("four", 4))?;
        let next = user::insert(conn, &support::user("next"))?;
        let all = user::all(conn)?.into_iter().map(|user| user.user_id).collect::<Vec<_>>();
        Ok((next, all))
    });
    assert_eq!(ids.unwrap(), (11, vec![4, 10, 11]));
    let again = UserRow { user_id: 4, ..support::user("other") };
    let error = store.write_blocking(move |conn| user::insert_with_id(conn, &again)).unwrap_err();
    assert_eq!(error.kind(), Kind::Conflict);
}

fn a_deleted_user_takes_its_credentials_along(database: &TestDatabase) {
    let store = database.open();
    let deleted = store.write_blocking(|conn| {
        for login in ["ada", "bob"] {
            let id = user::insert(conn, &support::user(login))?;
            application_password::insert(conn, &support::application_password(id, "u"))?;
            let key = support::consumer_key(id, login.as_bytes());
            let key_id = consumer_key::insert(conn, &key)?;
            consumer_key::use_nonce(conn, key_id, "n", 1)?;
            session::insert(conn, &support::session(id, login.as_bytes(), 50))?;
        }
        Ok((user::delete(conn, 1)?, user::delete(conn, 1)?))
    });
    assert_eq!(deleted.unwrap(), (true, false));
    for table in ["users", "application_passwords", "consumer_keys", "oauth_nonces", "sessions"] {
        assert_eq!(count(&store, table), 1, "{table}");
    }
}

fn a_nicename_gets_a_number_when_taken(database: &TestDatabase) {
    let store = database.open();
    let names = store.write_blocking(|conn| {
        let mut names = Vec::new();
        for login in ["a", "b", "c"] {
            let nicename = user::free_nicename(conn, "pier", 0)?;
            names.push(nicename.clone());
            user::insert(conn, &UserRow { nicename, ..support::user(login) })?;
        }
        names.push(user::free_nicename(conn, "pier", 1)?);
        Ok(names)
    });
    assert_eq!(names.unwrap(), ["pier", "pier-2", "pier-3", "pier"]);
}

fn application_passwords(database: &TestDatabase) {
    let store = database.open();
    let row = support::application_password;
    let found = store.write_blocking(move |conn| {
        assert!(!application_password::any_exist(conn)?);
        let ada = user::insert(conn, &support::user("ada"))?;
        let bob = user::insert(conn, &support::user("bob"))?;
        for password in [row(ada, "u2"), row(ada, "u1"), row(bob, "u1")] {
            application_password::insert(conn, &password)?;
        }
        assert!(application_password::any_exist(conn)?);
        assert!(application_password::rename(conn, ada, "u1", "other")?);
        assert!(!application_password::rename(conn, ada, "u3", "other")?);
        application_password::touch(conn, ada, "u1", time(30), "10.0.0.1")?;
        application_password::touch(conn, ada, "u3", time(30), "10.0.0.1")?;
        assert_eq!(application_password::get(conn, bob, "u1")?, Some(row(bob, "u1")));
        assert_eq!(application_password::get(conn, bob, "u2")?, None);
        let of_ada = application_password::list(conn, ada)?;
        assert!(application_password::delete(conn, ada, "u1")?);
        assert!(!application_password::delete(conn, ada, "u1")?);
        application_password::insert(conn, &row(ada, "u9"))?;
        assert_eq!(application_password::delete_all(conn, ada)?, 2);
        assert_eq!(application_password::list(conn, bob)?.len(), 1);
        Ok(of_ada)
    });
    let used = application_password::ApplicationPasswordRow {
        name: "other".to_owned(),
        last_used: Some(time(30)),
        last_ip: Some("10.0.0.1".to_owned()),
        ..row(1, "u1")
    };
    assert_eq!(found.unwrap(), [used, row(1, "u2")]);
    let orphan = store.write_blocking(move |conn| application_password::insert(conn, &row(9, "u")));
    assert_eq!(orphan.unwrap_err().kind(), Kind::Conflict);
}

fn consumer_keys(database: &TestDatabase) {
    let store = database.open();
    let row = support::consumer_key;
    store
        .write_blocking(move |conn| {
            let ada = user::insert(conn, &support::user("ada"))?;
            let bob = user::insert(conn, &support::user("bob"))?;
            assert_eq!(consumer_key::insert(conn, &row(ada, b"one"))?, 1);
            assert_eq!(consumer_key::insert(conn, &row(bob, b"two"))?, 2);
            consumer_key::touch(conn, 1, time(40))?;
            consumer_key::touch(conn, 3, time(40))?;
            let mut expected = row(ada, b"one");
            expected.key_id = 1;
            expected.last_access = Some(time(40));
            assert_eq!(consumer_key::find_by_hash(conn, b"one")?, Some(expected));
            assert_eq!(consumer_key::find_by_hash(conn, b"on")?, None);
            assert_eq!(consumer_key::list(conn, None)?.len(), 2);
            let of_bob = consumer_key::list(conn, Some(bob))?;
            assert_eq!(of_bob.iter().map(|key| key.key_id).collect::<Vec<_>>(), [2]);
            assert!(consumer_key::delete(conn, 2)?);
            assert!(!consumer_key::delete(conn, 2)?);
            Ok(())
        })
        .unwrap();
    let again = store.write_blocking(move |conn| consumer_key::insert(conn, &row(1, b"one")));
    assert_eq!(again.unwrap_err().kind(), Kind::Conflict);
}

fn a_nonce_serves_once(database: &TestDatabase) {
    let store = database.open();
    store
        .write_blocking(|conn| {
            let user_id = user::insert(conn, &support::user("ada"))?;
            for hash in [b"one", b"two"] {
                consumer_key::insert(conn, &support::consumer_key(user_id, hash))?;
            }
            Ok(())
        })
        .unwrap();
    let wins = together(8, |_| {
        store.write_blocking(|conn| consumer_key::use_nonce(conn, 1, "n", 100)).unwrap()
    });
    assert_eq!(wins.into_iter().filter(|won| *won).count(), 1);
    let rest = store.write_blocking(|conn| {
        assert!(consumer_key::use_nonce(conn, 2, "n", 100)?, "another key");
        assert!(consumer_key::use_nonce(conn, 1, "N", 101)?, "another nonce");
        assert!(!consumer_key::use_nonce(conn, 1, "n", 102)?, "whatever the time");
        assert_eq!(consumer_key::prune_nonces(conn, 101)?, 2);
        consumer_key::use_nonce(conn, 1, "n", 102)
    });
    assert!(rest.unwrap());
}

fn sessions(database: &TestDatabase) {
    let store = database.open();
    let row = support::session;
    let ended = store.write_blocking(move |conn| {
        let ada = user::insert(conn, &support::user("ada"))?;
        let bob = user::insert(conn, &support::user("bob"))?;
        session::insert(conn, &row(ada, b"a1", 60))?;
        for (user_id, token) in [(ada, b"a2"), (ada, b"a3"), (bob, b"b1")] {
            session::insert(conn, &row(user_id, token, 50))?;
        }
        assert_eq!(session::get(conn, b"a1", time(59))?, Some(row(ada, b"a1", 60)));
        assert_eq!(session::get(conn, b"a1", time(60))?, None, "it has expired");
        assert_eq!(session::get(conn, b"a", time(0))?, None);
        assert!(session::delete(conn, b"a3")?);
        assert!(!session::delete(conn, b"a3")?);
        login_token::insert(conn, &token(1, ada))?;
        login_token::insert(conn, &token(2, bob))?;
        assert_eq!(session::delete_of_user(conn, ada, Some(b"a1"))?, 1);
        let tokens = [login_token::get(conn, &[1; 4])?, login_token::get(conn, &[2; 4])?];
        assert_eq!(tokens.map(|token| token.is_some()), [false, true], "a link waits no longer");
        assert_eq!(session::prune(conn, time(50))?, 1, "that of bob");
        session::delete_of_user(conn, ada, None)
    });
    assert_eq!(ended.unwrap(), 1);
}

fn options(database: &TestDatabase) {
    let store = database.open();
    assert_eq!(store.read_blocking(option::version).unwrap(), 0);
    let versions = store.write_blocking(|conn| {
        let mut versions = Vec::new();
        let mut note = |changed: bool, conn: &mut dyn db::Conn| {
            versions.push((changed, option::version(conn)?));
            Ok(())
        };
        note(option::set(conn, "b", "1")?, conn)?;
        note(option::set(conn, "b", "1")?, conn)?;
        note(option::set(conn, "b", "null")?, conn)?;
        note(option::set(conn, "a", "\"x\"")?, conn)?;
        note(option::delete(conn, "c")?, conn)?;
        assert_eq!(option::get(conn, "a")?.as_deref(), Some("\"x\""));
        assert_eq!(option::get(conn, "A")?, None);
        let all = option::all(conn)?;
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        assert_eq!(all, [pair("a", "\"x\""), pair("b", "null")]);
        note(option::delete(conn, "b")?, conn)?;
        Ok(versions)
    });
    let expected = [(true, 1), (false, 1), (true, 2), (true, 3), (false, 3), (true, 4)];
    assert_eq!(versions.unwrap(), expected);
}

fn embeddings(database: &TestDatabase) {
    let store = database.open();
    let left = store.write_blocking(|conn| {
        oembed_cache::put(conn, b"a", "1", time(10))?;
        oembed_cache::put(conn, b"a", "2", time(20))?;
        oembed_cache::put(conn, b"b", "3", time(30))?;
        assert_eq!(oembed_cache::get(conn, b"a", time(19))?.as_deref(), Some("2"));
        assert_eq!(oembed_cache::get(conn, b"a", time(20))?, None);
        assert_eq!(oembed_cache::get(conn, b"c", time(0))?, None);
        assert_eq!(oembed_cache::prune(conn, time(20))?, 1);
        oembed_cache::get(conn, b"b", time(0))
    });
    assert_eq!(left.unwrap().as_deref(), Some("3"));
}

/// The roles are stored by name; every name must come back.
#[test]
fn every_role_can_be_stored() {
    let store = TestDatabase::sqlite().open();
    let row = UserRow { roles: Role::ALL.to_vec(), ..support::user("all") };
    let found = store.write_blocking(move |conn| {
        let id = user::insert(conn, &row)?;
        user::get(conn, id)
    });
    assert_eq!(found.unwrap().unwrap().roles, Role::ALL);
}

fn users_inserted_at_once_get_ids_in_a_row(database: &TestDatabase) {
    let store = database.open();
    let mut ids = together(16, |writer| {
        let row = support::user(&format!("user{writer}"));
        store.write_blocking(move |conn| user::insert(conn, &row)).unwrap()
    });
    ids.sort_unstable();
    assert_eq!(ids, (1..=16).collect::<Vec<_>>());
}
