//! Posts and terms come back as they were put in, and do not leave anything behind.

use db::Conn;
use site_rows::post::PostRow;
use site_rows::term::TermRow;
use site_rows::{post, term};
use types::{Kind, Result};

use crate::support::{self, TestDatabase, count, time};

testkit::on_both_engines!(
    posts,
    imported_posts_keep_their_ids,
    slugs,
    a_deleted_post_leaves_its_children_to_its_parent,
    terms,
    posts_bear_terms,
    a_deleted_term_leaves_its_children_to_its_parent,
    terms_of_many_posts,
);

fn posts(database: &TestDatabase) {
    let store = database.open();
    let plain = PostRow {
        sticky: false,
        date_gmt: Some(time(5)),
        trashed_status: None,
        trashed: None,
        ..support::post("second")
    };
    let written = plain.clone();
    let found = store.write_blocking(move |conn| {
        assert_eq!(post::insert(conn, &support::post("first"))?, 1);
        assert_eq!(post::insert(conn, &support::post("to change"))?, 2);
        assert!(post::update(conn, &PostRow { post_id: 2, ..written.clone() })?);
        assert!(!post::update(conn, &PostRow { post_id: 9, ..written.clone() })?);
        Ok([post::get(conn, 1)?, post::get(conn, 2)?, post::get(conn, 3)?])
    });
    let expected = [
        Some(PostRow { post_id: 1, ..support::post("first") }),
        Some(PostRow { post_id: 2, ..plain }),
        None,
    ];
    assert_eq!(found.unwrap(), expected);
}

fn imported_posts_keep_their_ids(database: &TestDatabase) {
    let store = database.open();
    let ids = store.write_blocking(|conn| {
        post::insert_with_id(conn, &PostRow { post_id: 40, ..support::post("a") })?;
        post::insert_with_id(conn, &PostRow { post_id: 7, ..support::post("b") })?;
        let next = post::insert(conn, &support::post("c"))?;
        post::reserve_id(conn, 90)?;
        term::insert_with_id(conn, &TermRow { term_id: 15, ..support::term("tag", "x") })?;
        Ok((next, post::take_id(conn)?, term::insert(conn, &support::term("tag", "y"))?))
    });
    assert_eq!(ids.unwrap(), (41, 91, 16));
    let again = PostRow { post_id: 7, ..support::post("d") };
    let error = store.write_blocking(move |conn| post::insert_with_id(conn, &again)).unwrap_err();
    assert_eq!(error.kind(), Kind::Conflict);
}

fn slugs(database: &TestDatabase) {
    let store = database.open();
    store
        .write_blocking(|conn| {
            let draft = PostRow { status: "draft".to_owned(), ..support::post("pier") };
            post::insert(conn, &draft)?;
            post::insert(conn, &support::post("pier"))?;
            post::insert(conn, &PostRow { kind: "page".to_owned(), ..support::post("about") })?;
            let found = post::find_by_slug(conn, "post", "pier")?;
            assert_eq!(found.map(|post| post.post_id), Some(2), "the published one");
            assert_eq!(post::find_by_slug(conn, "post", "about")?, None);
            assert_eq!(post::find_by_slug(conn, "post", "Pier")?, None);
            assert!(post::slug_is_taken(conn, "post", "pier", 0)?);
            assert!(post::slug_is_taken(conn, "post", "pier", 1)?);
            assert!(post::slug_is_taken(conn, "page", "about", 0)?);
            assert!(!post::slug_is_taken(conn, "page", "about", 3)?);
            assert!(!post::slug_is_taken(conn, "page", "pier", 0)?);
            Ok(())
        })
        .unwrap();
}

fn a_deleted_post_leaves_its_children_to_its_parent(database: &TestDatabase) {
    let store = database.open();
    let parents = store.write_blocking(|conn| {
        for parent_id in [0, 1, 2, 2, 9] {
            post::insert(conn, &PostRow { parent_id, ..support::post("p") })?;
        }
        let term_id = term::insert(conn, &support::term("tag", "x"))?;
        term::set_terms(conn, 2, "tag", &[term_id])?;
        assert!(post::delete(conn, 2)?);
        assert!(!post::delete(conn, 2)?);
        assert!(!post::delete(conn, 9)?, "its child stays as it is");
        [1, 3, 4, 5].map(|id| Ok(post::get(conn, id)?.unwrap().parent_id)).into_iter().collect()
    });
    let parents: Vec<i64> = parents.unwrap();
    assert_eq!(parents, [0, 1, 1, 9]);
    assert_eq!(count(&store, "post_terms"), 0);
}

fn terms(database: &TestDatabase) {
    let store = database.open();
    let found = store.write_blocking(|conn| {
        assert_eq!(term::insert(conn, &support::term("category", "news"))?, 1);
        assert_eq!(term::insert(conn, &support::term("tag", "news"))?, 2);
        let changed = TermRow {
            term_id: 2,
            name: "Ñews".to_owned(),
            description: "what is new".to_owned(),
            parent_id: 1,
            ..support::term("tag", "newer")
        };
        assert!(term::update(conn, &changed)?);
        assert!(!term::update(conn, &TermRow { term_id: 3, ..support::term("tag", "x") })?);
        assert_eq!(term::find_by_slug(conn, "tag", "newer")?.as_ref(), Some(&changed));
        assert_eq!(term::find_by_slug(conn, "tag", "news")?, None);
        assert_eq!(term::get(conn, 2)?, Some(changed));
        assert_eq!(term::get(conn, 3)?, None);
        term::get(conn, 1)
    });
    assert_eq!(found.unwrap(), Some(TermRow { term_id: 1, ..support::term("category", "news") }));
    let again = store
        .write_blocking(|conn| term::insert(conn, &support::term("category", "news")))
        .unwrap_err();
    assert_eq!(again.kind(), Kind::Conflict);
    assert!(again.to_string().contains("slug"), "{again}");
}

/// Slugs of the terms of a post, with their counts.
fn borne(conn: &mut dyn Conn, post_id: i64, taxonomy: &str) -> Result<Vec<(String, i64)>> {
    let terms = term::terms_of(conn, post_id, taxonomy)?;
    let ids: Vec<i64> = terms.iter().map(|term| term.term_id).collect();
    let counts = term::counts(conn, &ids)?;
    Ok(terms.into_iter().map(|term| (term.slug, counts[&term.term_id])).collect())
}

fn posts_bear_terms(database: &TestDatabase) {
    let store = database.open();
    store
        .write_blocking(|conn| {
            for status in ["publish", "draft", "publish"] {
                let status = status.to_owned();
                post::insert(conn, &PostRow { status, ..support::post("p") })?;
            }
            for (taxonomy, slug) in [("tag", "b"), ("tag", "a"), ("category", "c")] {
                term::insert(conn, &support::term(taxonomy, slug))?;
            }
            term::set_terms(conn, 1, "tag", &[1, 2, 1])?;
            term::set_terms(conn, 2, "tag", &[1])?;
            term::set_terms(conn, 3, "tag", &[2])?;
            term::set_terms(conn, 1, "category", &[3])?;
            let pair = |slug: &str, count| (slug.to_owned(), count);
            assert_eq!(borne(conn, 1, "tag")?, [pair("a", 2), pair("b", 1)]);
            assert_eq!(borne(conn, 1, "category")?, [pair("c", 1)]);
            term::set_terms(conn, 1, "tag", &[1])?;
            assert_eq!(borne(conn, 1, "tag")?, [pair("b", 1)]);
            assert_eq!(borne(conn, 1, "category")?, [pair("c", 1)]);
            term::set_terms(conn, 1, "tag", &[])?;
            assert_eq!(borne(conn, 1, "tag")?, []);
            Ok(())
        })
        .unwrap();
    for strange in [3, 99] {
        let refused = store
            .write_blocking(move |conn| term::set_terms(conn, 2, "tag", &[2, strange]))
            .unwrap_err();
        assert_eq!(refused.kind(), Kind::Conflict, "{strange}");
    }
    let kept = store.read_blocking(|conn| borne(conn, 2, "tag")).unwrap();
    assert_eq!(kept, [("b".to_owned(), 0)], "a refused change changes nothing");
}

fn a_deleted_term_leaves_its_children_to_its_parent(database: &TestDatabase) {
    let store = database.open();
    let parents = store.write_blocking(|conn| {
        for (slug, parent_id) in [("a", 0), ("b", 1), ("c", 2)] {
            term::insert(conn, &TermRow { parent_id, ..support::term("category", slug) })?;
        }
        term::set_terms(conn, 1, "category", &[2, 3])?;
        assert!(term::delete(conn, 2)?);
        assert!(!term::delete(conn, 2)?);
        Ok([1, 3].map(|id| term::get(conn, id).unwrap().unwrap().parent_id))
    });
    assert_eq!(parents.unwrap(), [0, 1]);
    assert_eq!(count(&store, "post_terms"), 1);
}

fn terms_of_many_posts(database: &TestDatabase) {
    let store = database.open();
    let found = store.write_blocking(|conn| {
        for (taxonomy, slug) in [("tag", "b"), ("tag", "a"), ("category", "c")] {
            term::insert(conn, &support::term(taxonomy, slug))?;
        }
        term::set_terms(conn, 5, "tag", &[1, 2])?;
        term::set_terms(conn, 5, "category", &[3])?;
        term::set_terms(conn, 6, "tag", &[1])?;
        term::set_terms(conn, 7, "tag", &[1])?;
        assert_eq!(term::ids_of_posts(conn, &[])?, []);
        term::ids_of_posts(conn, &[6, 5, 99])
    });
    let row = |post_id, taxonomy: &str, term_id| (post_id, taxonomy.to_owned(), term_id);
    let expected = [row(5, "tag", 2), row(5, "tag", 1), row(5, "category", 3), row(6, "tag", 1)];
    assert_eq!(found.unwrap(), expected);
}
