//! Lists of posts: each filter, each order, all at once, and the same on both engines.

use db::Database;
use db::filter::{Direction, Page};
use site_rows::post::{
    self, PostColumn, PostFilter, PostOrder, PostRow, Relation, SEARCH_WORDS_MAX,
    TERM_CONDITIONS_MAX, TermCondition,
};
use site_rows::term;
use types::Kind;

use crate::support::{self, TestDatabase, time};

testkit::on_both_engines!(
    filters_choose,
    searches_find,
    terms_choose,
    orders_sort,
    the_best_match_comes_first,
    all_filters_at_once,
    too_much_is_refused,
);

/// Kind, status, slug, title, content, author and parent.
type Short = (&'static str, &'static str, &'static str, &'static str, &'static str, i64, i64);

const POSTS: [Short; 5] = [
    ("post", "publish", "zebra", "Big Wheel", "turns 100% of the day", 1, 0),
    ("post", "draft", "apple", "the big top", "A clown_s nose", 2, 0),
    ("page", "publish", "mango", "Árbol", "wheel", 1, 4),
    ("page", "trash", "apple", "árbol", "BIG sign", 3, 9),
    ("post", "publish", "kiwi", "Arbor", "wheel, so big", 2, 0),
];

fn filled(database: &TestDatabase) -> Database {
    let store = database.open();
    store
        .write_blocking(|conn| {
            for (place, (kind, status, slug, title, content, author_id, parent_id)) in
                (0..).zip(POSTS)
            {
                let row = PostRow {
                    kind: kind.to_owned(),
                    status: status.to_owned(),
                    title: title.to_owned(),
                    content: content.to_owned(),
                    excerpt: if place == 3 { "Wheel of Fortune" } else { "" }.to_owned(),
                    author_id,
                    parent_id,
                    menu_order: place % 2,
                    sticky: place == 1,
                    format: if place == 2 { "video" } else { "standard" }.to_owned(),
                    password: if place == 0 { "" } else { "secret" }.to_owned(),
                    date: time([30, 10, 50, 20, 40][usize::try_from(place).unwrap()]),
                    modified: time(-place),
                    ..support::post(slug)
                };
                post::insert(conn, &row)?;
            }
            for slug in ["a", "b", "c"] {
                term::insert(conn, &support::term("tag", slug))?;
            }
            term::set_terms(conn, 1, "tag", &[1, 2])?;
            term::set_terms(conn, 2, "tag", &[2])?;
            term::set_terms(conn, 3, "tag", &[3])
        })
        .unwrap();
    store
}

fn ids(store: &Database, filter: PostFilter) -> Vec<i64> {
    let (rows, total) = store.read_blocking(move |conn| post::list(conn, &filter)).unwrap();
    assert_eq!(total, i64::try_from(rows.len()).unwrap());
    rows.into_iter().map(|post| post.post_id).collect()
}

fn check(store: &Database, filter: PostFilter, expected: &[i64]) {
    let described = format!("{filter:?}");
    let filter = PostFilter { order: PostOrder::Id, ..filter };
    assert_eq!(ids(store, filter), expected, "{described}");
}

fn texts(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

fn any() -> PostFilter {
    PostFilter::default()
}

fn filters_choose(database: &TestDatabase) {
    let store = filled(database);
    let cases: Vec<(PostFilter, &[i64])> = vec![
        (any(), &[1, 2, 3, 4, 5]),
        (PostFilter { kinds: texts(&["page"]), ..any() }, &[3, 4]),
        (PostFilter { statuses: texts(&["draft", "trash", "x"]), ..any() }, &[2, 4]),
        (PostFilter { authors: vec![1, 3], ..any() }, &[1, 3, 4]),
        (PostFilter { authors_exclude: vec![1, 3], ..any() }, &[2, 5]),
        (PostFilter { include: vec![5, 1, 77], ..any() }, &[1, 5]),
        (PostFilter { exclude: vec![5, 1, 77], ..any() }, &[2, 3, 4]),
        (PostFilter { slugs: texts(&["apple", "Kiwi"]), ..any() }, &[2, 4]),
        (PostFilter { parents: vec![0], ..any() }, &[1, 2, 5]),
        (PostFilter { parents_exclude: vec![0, 9], ..any() }, &[3]),
        (PostFilter { formats: texts(&["video"]), ..any() }, &[3]),
        (PostFilter { after: Some(time(20)), ..any() }, &[1, 3, 5]),
        (PostFilter { before: Some(time(20)), ..any() }, &[2]),
        (PostFilter { modified_after: Some(time(-1)), ..any() }, &[1]),
        (PostFilter { modified_before: Some(time(-2)), ..any() }, &[4, 5]),
        (PostFilter { menu_order: Some(1), ..any() }, &[2, 4]),
        (PostFilter { sticky: Some(true), ..any() }, &[2]),
        (PostFilter { sticky: Some(false), ..any() }, &[1, 3, 4, 5]),
    ];
    for (filter, expected) in cases {
        check(&store, filter, expected);
    }
}

fn searches_find(database: &TestDatabase) {
    let store = filled(database);
    let cases: [(&[&str], &[PostColumn], &[i64]); 10] = [
        (&["WHEEL"], &[], &[1, 3, 4, 5]),
        (&["wheel", "big"], &[], &[1, 4, 5]),
        (&["wheel"], &[PostColumn::Title], &[1]),
        (&["wheel"], &[PostColumn::Content], &[3, 5]),
        (&["wheel"], &[PostColumn::Excerpt, PostColumn::Title], &[1, 4]),
        (&["ÁRBOL"], &[], &[3, 4]),
        (&["arbol"], &[], &[]),
        (&["0%"], &[], &[1]),
        (&["n_s"], &[], &[2]),
        (&["wheel of"], &[], &[4]),
    ];
    for (words, columns, expected) in cases {
        let search_columns = columns.to_vec();
        check(&store, PostFilter { search: texts(words), search_columns, ..any() }, expected);
    }
    // The whole of a column, in whatever case, and not a part of it.
    let exact: [(&str, &[i64]); 3] = [("big WHEEL", &[1]), ("wheel", &[3]), ("big", &[])];
    for (text, expected) in exact {
        let search = texts(&[text]);
        check(&store, PostFilter { search, search_exact: true, ..any() }, expected);
    }
}

fn terms_choose(database: &TestDatabase) {
    use TermCondition::{AnyOf, NoneOf};
    let store = filled(database);
    let cases: Vec<(Vec<TermCondition>, Relation, &[i64])> = vec![
        (vec![AnyOf(vec![1, 3])], Relation::And, &[1, 3]),
        (vec![NoneOf(vec![1, 3])], Relation::And, &[2, 4, 5]),
        (vec![AnyOf(vec![2]), NoneOf(vec![1])], Relation::And, &[2]),
        (vec![AnyOf(vec![1]), AnyOf(vec![3])], Relation::And, &[]),
        (vec![AnyOf(vec![1]), AnyOf(vec![3])], Relation::Or, &[1, 3]),
        (vec![AnyOf(vec![]), NoneOf(vec![])], Relation::Or, &[1, 2, 3, 4, 5]),
    ];
    for (terms, terms_relation, expected) in cases {
        check(&store, PostFilter { terms, terms_relation, ..any() }, expected);
    }
}

fn orders_sort(database: &TestDatabase) {
    let store = filled(database);
    for (order, expected) in [
        (PostOrder::Date, [2, 4, 1, 5, 3]),
        (PostOrder::Author, [1, 3, 2, 5, 4]),
        (PostOrder::Id, [1, 2, 3, 4, 5]),
        (PostOrder::Modified, [5, 4, 3, 2, 1]),
        (PostOrder::Parent, [1, 2, 5, 3, 4]),
        (PostOrder::Slug, [2, 4, 5, 3, 1]),
        (PostOrder::Title, [5, 1, 2, 3, 4]),
        (PostOrder::MenuOrder, [1, 3, 5, 2, 4]),
        (PostOrder::Include, [4, 1, 5, 2, 3]),
        (PostOrder::IncludeSlugs, [5, 1, 2, 4, 3]),
        (PostOrder::Relevance, [2, 4, 1, 5, 3]),
    ] {
        let filter = PostFilter {
            include: vec![4, 1, 5, 2, 3],
            slugs: texts(&["kiwi", "zebra", "apple", "mango"]),
            order,
            ..any()
        };
        assert_eq!(ids(&store, filter.clone()), expected, "{order:?}");
        let mut backwards = expected;
        backwards.reverse();
        let filter = PostFilter { direction: Direction::Descending, ..filter };
        assert_eq!(ids(&store, filter), backwards, "{order:?} backwards");
    }
}

fn the_best_match_comes_first(database: &TestDatabase) {
    let store = database.open();
    store
        .write_blocking(|conn| {
            for (title, excerpt, content) in [
                ("x", "", "red, not boat"),
                ("x", "", "a red boat"),
                ("x", "a Red Boat", "red"),
                ("boat", "", "red"),
                ("boat of red", "", ""),
                ("The RED boat", "", ""),
                ("The red boat", "", ""),
            ] {
                let row = PostRow {
                    title: title.to_owned(),
                    excerpt: excerpt.to_owned(),
                    content: content.to_owned(),
                    ..support::post("p")
                };
                post::insert(conn, &row)?;
            }
            Ok(())
        })
        .unwrap();
    for direction in [Direction::Ascending, Direction::Descending] {
        let filter = PostFilter {
            search: texts(&["red", "boat"]),
            order: PostOrder::Relevance,
            direction,
            ..any()
        };
        assert_eq!(ids(&store, filter), [7, 6, 5, 4, 3, 2, 1]);
    }
}

/// In every order, with a second page so that the matches are counted as well.
fn all_filters_at_once(database: &TestDatabase) {
    let store = filled(database);
    for order in [PostOrder::Relevance, PostOrder::Include, PostOrder::IncludeSlugs] {
        for (offset, found) in [(0, 1), (1, 0)] {
            let filter = PostFilter {
                kinds: texts(&["post", "page"]),
                statuses: texts(&["publish", "draft"]),
                authors: vec![1, 2],
                authors_exclude: vec![3],
                include: vec![1, 2, 3],
                exclude: vec![3, 4, 5],
                slugs: texts(&["apple", "zebra"]),
                parents: vec![0, 1],
                parents_exclude: vec![4],
                formats: texts(&["standard"]),
                search: texts(&["big", "wheel"]),
                search_exact: false,
                search_files: true,
                mime_types: Vec::new(),
                listed_only: true,
                without_password: true,
                search_columns: PostColumn::ALL.to_vec(),
                after: Some(time(1)),
                before: Some(time(99)),
                modified_after: Some(time(-50)),
                modified_before: Some(time(50)),
                menu_order: Some(0),
                sticky: Some(false),
                terms: vec![TermCondition::AnyOf(vec![1, 2]), TermCondition::NoneOf(vec![3])],
                terms_relation: Relation::And,
                order,
                direction: Direction::Descending,
                page: Page { offset, limit: 1 },
            };
            let listed = store.read_blocking(move |conn| post::list(conn, &filter)).unwrap();
            assert_eq!((listed.0.len(), listed.1), (found, 1), "{order:?}");
            assert!(listed.0.iter().all(|post| post.post_id == 1));
        }
    }
}

fn too_much_is_refused(database: &TestDatabase) {
    let store = database.open();
    for filter in [
        PostFilter { search: vec!["x".to_owned(); SEARCH_WORDS_MAX + 1], ..any() },
        PostFilter { terms: vec![TermCondition::AnyOf(vec![1]); TERM_CONDITIONS_MAX + 1], ..any() },
        PostFilter { authors: vec![1; 5000], ..any() },
    ] {
        let answer = store.read_blocking(move |conn| post::list(conn, &filter));
        assert_eq!(answer.unwrap_err().kind(), Kind::Invalid);
    }
    let most = PostFilter {
        search: vec!["x".to_owned(); SEARCH_WORDS_MAX],
        order: PostOrder::Relevance,
        terms: vec![TermCondition::NoneOf((0..1024).collect()); TERM_CONDITIONS_MAX],
        ..any()
    };
    assert_eq!(ids(&store, most), [0; 0]);
}
