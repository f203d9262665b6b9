//! Lists of terms: each filter, each order, all at once, and the same on both engines.

use db::Database;
use db::filter::{Direction, Page};
use site_rows::post;
use site_rows::post::PostRow;
use site_rows::term::{self, TermFilter, TermOrder, TermRow};

use crate::support::{self, TestDatabase};

testkit::on_both_engines!(filters_choose, orders_sort, all_filters_at_once);

fn filled(database: &TestDatabase) -> Database {
    let store = database.open();
    store
        .write_blocking(|conn| {
            for (taxonomy, slug, name, description, parent_id) in [
                ("tag", "m-1", "Zoo", "b", 0),
                ("tag", "k_2", "ábaco", "a", 1),
                ("tag", "x%3", "Ábaco", "", 1),
                ("category", "a-4", "Banana", "c", 0),
                ("tag", "b-5", "apple", "B", 0),
            ] {
                let row = TermRow {
                    name: name.to_owned(),
                    description: description.to_owned(),
                    parent_id,
                    ..support::term(taxonomy, slug)
                };
                term::insert(conn, &row)?;
            }
            for (status, terms) in [("publish", &[2, 5][..]), ("publish", &[5]), ("draft", &[1])] {
                let status = status.to_owned();
                let post_id = post::insert(conn, &PostRow { status, ..support::post("p") })?;
                term::set_terms(conn, post_id, "tag", terms)?;
            }
            Ok(())
        })
        .unwrap();
    store
}

fn listed(store: &Database, filter: TermFilter) -> Vec<(i64, i64)> {
    let (rows, total) = store.read_blocking(move |conn| term::list(conn, &filter)).unwrap();
    assert_eq!(total, i64::try_from(rows.len()).unwrap());
    let ids: Vec<i64> = rows.into_iter().map(|term| term.term_id).collect();
    let of_all = ids.clone();
    let counts = store.read_blocking(move |conn| term::counts(conn, &of_all)).unwrap();
    for (id, count) in &counts {
        let (id, count) = (*id, *count);
        assert_eq!(store.read_blocking(move |conn| term::count(conn, id)).unwrap(), count);
    }
    ids.into_iter().map(|id| (id, counts[&id])).collect()
}

fn ids(store: &Database, filter: TermFilter) -> Vec<i64> {
    listed(store, filter).into_iter().map(|(id, _)| id).collect()
}

fn any() -> TermFilter {
    TermFilter::default()
}

fn texts(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

fn filters_choose(database: &TestDatabase) {
    let store = filled(database);
    let search = |text: &str| TermFilter { search: Some(text.to_owned()), ..any() };
    let cases: Vec<(TermFilter, &[i64])> = vec![
        (any(), &[1, 2, 3, 4, 5]),
        (TermFilter { taxonomies: texts(&["tag"]), ..any() }, &[1, 2, 3, 5]),
        (search("ÁBA"), &[2, 3]),
        (search("-"), &[1, 4, 5]),
        (search("K_"), &[2]),
        (search("%3"), &[3]),
        (search("aba"), &[]),
        (TermFilter { include: vec![3, 2, 8], ..any() }, &[2, 3]),
        (TermFilter { exclude: vec![3, 2, 8], ..any() }, &[1, 4, 5]),
        (TermFilter { slugs: texts(&["m-1", "B-5"]), ..any() }, &[1]),
        (TermFilter { parent: Some(1), ..any() }, &[2, 3]),
        (TermFilter { parent: Some(0), ..any() }, &[1, 4, 5]),
        (TermFilter { hide_empty: true, ..any() }, &[2, 5]),
        (TermFilter { bearer: Some(3), ..any() }, &[1]),
        (TermFilter { bearer: Some(9), ..any() }, &[]),
    ];
    for (filter, expected) in cases {
        let described = format!("{filter:?}");
        let filter = TermFilter { order: TermOrder::Id, ..filter };
        assert_eq!(ids(&store, filter), expected, "{described}");
    }
    let counted = TermFilter { order: TermOrder::Id, ..any() };
    assert_eq!(listed(&store, counted), [(1, 0), (2, 1), (3, 0), (4, 0), (5, 2)]);
}

fn orders_sort(database: &TestDatabase) {
    let store = filled(database);
    for (order, expected) in [
        (TermOrder::Name, [5, 4, 1, 2, 3]),
        (TermOrder::Id, [1, 2, 3, 4, 5]),
        (TermOrder::Slug, [4, 5, 2, 1, 3]),
        (TermOrder::Description, [3, 5, 2, 1, 4]),
        (TermOrder::Count, [1, 3, 4, 2, 5]),
        (TermOrder::Group, [1, 2, 3, 4, 5]),
        (TermOrder::Include, [2, 5, 1, 3, 4]),
        (TermOrder::IncludeSlugs, [3, 1, 2, 5, 4]),
    ] {
        let filter = TermFilter {
            include: vec![2, 5, 1, 3, 4],
            slugs: texts(&["x%3", "m-1", "k_2", "b-5", "a-4"]),
            order,
            ..any()
        };
        assert_eq!(ids(&store, filter.clone()), expected, "{order:?}");
        let mut backwards = expected;
        backwards.reverse();
        if order == TermOrder::Count {
            // Those that as many bear stay in the order of their making.
            backwards = [5, 2, 1, 3, 4];
        }
        let filter = TermFilter { direction: Direction::Descending, ..filter };
        assert_eq!(ids(&store, filter), backwards, "{order:?} backwards");
    }
}

fn all_filters_at_once(database: &TestDatabase) {
    let store = filled(database);
    for order in [TermOrder::Include, TermOrder::Count] {
        for (offset, found) in [(0, 1), (1, 0)] {
            let filter = TermFilter {
                taxonomies: texts(&["tag", "category"]),
                search: Some("k".to_owned()),
                include: vec![5, 2],
                exclude: vec![1],
                slugs: texts(&["k_2", "b-5"]),
                parent: Some(1),
                hide_empty: true,
                bearer: Some(1),
                order,
                direction: Direction::Descending,
                page: Page { offset, limit: 1 },
            };
            let (rows, total) = store.read_blocking(move |conn| term::list(conn, &filter)).unwrap();
            assert_eq!((rows.len(), total), (found, 1), "{order:?}");
        }
    }
}
