//! Lists of users: each filter, each order, all at once, and the same on both engines.

use db::filter::{Direction, LIST_MAX, PAGE_MAX, Page};
use db::{Database, filter};
use shop_rows::customer::{self, CustomerRow};
use shop_rows::customer_lookup::{self, CustomerLookupRow};
use site_rows::post::{self, PostRow};
use site_rows::user::{self, UserColumn, UserFilter, UserOrder, UserRow};
use types::{Kind, Role};

use crate::support::{self, TestDatabase, time};

testkit::on_both_engines!(
    filters_choose,
    orders_sort,
    pages_count_all_that_match,
    all_filters_at_once,
    a_list_has_a_bound,
);

/// Logins, roles and URLs are such that case, wildcards and parts of words would show.
fn filled(database: &TestDatabase) -> Database {
    let store = database.open();
    let rows = [
        ("admin", "Zelda", "https://a.example/UP", vec![Role::Administrator]),
        ("Bo_b", "émile", "", vec![Role::ShopManager, Role::Editor]),
        ("bo%c", "Émilie", "https://b.example/", vec![Role::Customer]),
        ("d!d", "alf", "", vec![Role::Customer]),
        ("bo-e", "Bert", "", vec![]),
    ];
    store
        .write_blocking(move |conn| {
            for (place, (login, display_name, url, roles)) in (0..).zip(&rows) {
                let row = UserRow {
                    display_name: (*display_name).to_owned(),
                    nicename: format!("nice{}", 9 - place),
                    url: (*url).to_owned(),
                    roles: roles.clone(),
                    registered: time(if place == 3 { -1 } else { 7 }),
                    ..support::user(login)
                };
                user::insert(conn, &row)?;
            }
            for (user_id, is_paying) in [(3, true), (4, false)] {
                customer::put(conn, &CustomerRow { is_paying, ..CustomerRow::empty(user_id) })?;
            }
            for user_id in [Some(2), Some(4), None] {
                let row = CustomerLookupRow { user_id, ..CustomerLookupRow::default() };
                customer_lookup::find_or_insert(conn, &row)?;
            }
            let written = [(2, "post", "publish"), (3, "page", "publish"), (4, "post", "draft")];
            for (author_id, kind, status) in written {
                let (kind, status) = (kind.to_owned(), status.to_owned());
                let row = PostRow { author_id, kind, status, ..support::post("p") };
                post::insert(conn, &row)?;
            }
            Ok(())
        })
        .unwrap();
    store
}

fn ids(store: &Database, filter: UserFilter) -> Vec<i64> {
    let (rows, total) = store.read_blocking(move |conn| user::list(conn, &filter)).unwrap();
    assert_eq!(total, i64::try_from(rows.len()).unwrap());
    rows.into_iter().map(|user| user.user_id).collect()
}

fn filters_choose(database: &TestDatabase) {
    use UserColumn::{DisplayName, Email, Id, Login, Nicename, Url};
    let store = filled(database);
    let search = |text: &str, columns: &[UserColumn]| {
        let search = Some((text.to_owned(), columns.to_vec()));
        UserFilter { search, ..UserFilter::default() }
    };
    let roles = |roles: &[Role]| UserFilter { roles: roles.to_vec(), ..UserFilter::default() };
    let kinds = |kinds: &[&str]| UserFilter {
        published_kinds: kinds.iter().map(|kind| (*kind).to_owned()).collect(),
        ..UserFilter::default()
    };
    let cases: Vec<(UserFilter, &[i64])> = vec![
        (UserFilter::default(), &[1, 2, 3, 4, 5]),
        (search("BO", &[Login]), &[2, 3, 5]),
        (search("o_b", &[Login]), &[2]),
        (search("o%", &[Login]), &[3]),
        (search("!", &[Login]), &[4]),
        (search("ÉMIL", &[DisplayName]), &[2, 3]),
        (search("emil", &[DisplayName]), &[]),
        (search("/up", &[Url]), &[1]),
        (search("nice", &[Nicename]), &[1, 2, 3, 4, 5]),
        (search("@example.com", &[Email]), &[1, 2, 3, 4, 5]),
        (search("3", &[Id]), &[3]),
        (search("x", &[Id]), &[]),
        (search("5", &[Id, Nicename]), &[5]),
        (search("a.example", UserColumn::ALL), &[1]),
        (search("admin", &[]), &[]),
        (UserFilter { include: vec![4, 2, 99], ..UserFilter::default() }, &[2, 4]),
        (UserFilter { exclude: vec![4, 2, 99], ..UserFilter::default() }, &[1, 3, 5]),
        (roles(&[Role::Customer]), &[3, 4]),
        (roles(&[Role::Editor, Role::Administrator]), &[1, 2]),
        (roles(&[Role::Store]), &[]),
        (
            UserFilter {
                roles_exclude: vec![Role::Customer, Role::ShopManager],
                ..UserFilter::default()
            },
            &[1, 5],
        ),
        (UserFilter { registered_from: Some(time(7)), ..UserFilter::default() }, &[1, 2, 3, 5]),
        (UserFilter { registered_before: Some(time(7)), ..UserFilter::default() }, &[4]),
        (UserFilter { is_in_reports: Some(true), ..UserFilter::default() }, &[2, 4]),
        (UserFilter { is_in_reports: Some(false), ..UserFilter::default() }, &[1, 3, 5]),
        (UserFilter { after: Some(3), ..UserFilter::default() }, &[4, 5]),
        (UserFilter { is_paying: Some(true), ..UserFilter::default() }, &[3]),
        (UserFilter { is_paying: Some(false), ..UserFilter::default() }, &[1, 2, 4, 5]),
        (kinds(&["post"]), &[2]),
        (kinds(&["post", "page"]), &[2, 3]),
        (
            UserFilter {
                nicenames: vec!["nice7".to_owned(), "Nice8".to_owned()],
                ..UserFilter::default()
            },
            &[3],
        ),
    ];
    for (filter, expected) in cases {
        let described = format!("{filter:?}");
        assert_eq!(ids(&store, filter), expected, "{described}");
    }
}

fn orders_sort(database: &TestDatabase) {
    let store = filled(database);
    for (order, expected) in [
        (UserOrder::Id, [1, 2, 3, 4, 5]),
        (UserOrder::Login, [1, 3, 5, 2, 4]),
        (UserOrder::DisplayName, [4, 5, 1, 2, 3]),
        (UserOrder::Registered, [4, 1, 2, 3, 5]),
        (UserOrder::Nicename, [5, 4, 3, 2, 1]),
        (UserOrder::Email, [1, 3, 5, 2, 4]),
        (UserOrder::Url, [2, 4, 5, 1, 3]),
        (UserOrder::Include, [3, 1, 5, 4, 2]),
        (UserOrder::IncludeNicenames, [2, 1, 4, 3, 5]),
    ] {
        let filter = UserFilter {
            include: vec![3, 1, 5, 4, 2],
            nicenames: ["nice8", "nice9", "nice6", "nice7", "nice5"].map(str::to_owned).to_vec(),
            order,
            ..UserFilter::default()
        };
        assert_eq!(ids(&store, filter.clone()), expected, "{order:?}");
        let mut backwards = expected;
        backwards.reverse();
        let filter = UserFilter { direction: Direction::Descending, ..filter };
        assert_eq!(ids(&store, filter), backwards, "{order:?} backwards");
    }
    let nothing_to_go_by = UserFilter { order: UserOrder::Include, ..UserFilter::default() };
    assert_eq!(ids(&store, nothing_to_go_by), [1, 2, 3, 4, 5]);
}

fn pages_count_all_that_match(database: &TestDatabase) {
    let store = filled(database);
    let cases: [((i64, i64), &[i64]); 7] = [
        ((0, 2), &[5, 3]),
        ((2, 2), &[2]),
        ((0, 3), &[5, 3, 2]),
        ((0, 4), &[5, 3, 2]),
        ((3, 2), &[]),
        ((9, 2), &[]),
        ((0, 0), &[]),
    ];
    for ((offset, limit), expected) in cases {
        let filter = UserFilter {
            search: Some(("bo".to_owned(), vec![UserColumn::Login])),
            include: vec![5, 3, 2, 1],
            order: UserOrder::Include,
            page: Page { offset, limit },
            ..UserFilter::default()
        };
        let (rows, total) = store.read_blocking(move |conn| user::list(conn, &filter)).unwrap();
        let found: Vec<i64> = rows.into_iter().map(|user| user.user_id).collect();
        assert_eq!((found.as_slice(), total), (expected, 3), "{offset}, {limit}");
    }
}

fn all_filters_at_once(database: &TestDatabase) {
    let store = filled(database);
    let filter = UserFilter {
        search: Some(("2".to_owned(), UserColumn::ALL.to_vec())),
        include: vec![1, 2, 3],
        exclude: vec![3, 4],
        roles: Role::ALL.to_vec(),
        roles_exclude: vec![Role::Store],
        registered_from: Some(time(7)),
        registered_before: Some(time(8)),
        is_paying: Some(false),
        is_in_reports: Some(true),
        after: Some(1),
        nicenames: vec!["nice8".to_owned()],
        published_kinds: vec!["post".to_owned()],
        order: UserOrder::Include,
        direction: Direction::Descending,
        page: Page { offset: 0, limit: 1 },
    };
    let (rows, total) = store.read_blocking(move |conn| user::list(conn, &filter)).unwrap();
    assert_eq!((rows.len(), rows[0].user_id, total), (1, 2, 1));
}

fn a_list_has_a_bound(database: &TestDatabase) {
    let store = filled(database);
    let most = i64::try_from(LIST_MAX).unwrap();
    let full = UserFilter {
        include: (1..=most).rev().collect(),
        order: UserOrder::Include,
        ..UserFilter::default()
    };
    assert_eq!(ids(&store, full), [5, 4, 3, 2, 1]);
    for refused in [
        UserFilter { include: (0..=most).collect(), ..UserFilter::default() },
        UserFilter { page: Page { offset: 0, limit: PAGE_MAX + 1 }, ..UserFilter::default() },
        UserFilter { page: Page { offset: -1, limit: 1 }, ..UserFilter::default() },
        UserFilter {
            search: Some(("x".repeat(filter::SEARCH_LENGTH_MAX + 1), vec![UserColumn::Login])),
            ..UserFilter::default()
        },
    ] {
        let answer = store.read_blocking(move |conn| user::list(conn, &refused));
        assert_eq!(answer.unwrap_err().kind(), Kind::Invalid);
    }
}
