//! Earlier texts of posts: kept in order, numbered with the posts, and gone with their post.

use site_rows::revision::{REVISIONS_MAX, RevisionRow};
use site_rows::{post, revision};

use crate::support::{self, TestDatabase};

testkit::on_both_engines!(revisions, the_oldest_goes_when_there_are_too_many);

fn revisions(database: &TestDatabase) {
    let store = database.open();
    store
        .write_blocking(|conn| {
            let post_id = post::insert(conn, &support::post("a"))?;
            assert_eq!(revision::count(conn, post_id)?, (0, 0));
            let first = revision::insert(conn, &support::revision(post_id, "one"))?;
            let second = revision::insert(conn, &support::revision(post_id, "two"))?;
            assert_eq!((first, second), (post_id + 1, post_id + 2), "of the posts' numbers");
            assert_eq!(revision::count(conn, post_id)?, (2, second));
            let expected = RevisionRow { revision_id: first, ..support::revision(post_id, "one") };
            assert_eq!(revision::get(conn, first)?, Some(expected));
            let titles: Vec<String> =
                revision::of_post(conn, post_id)?.into_iter().map(|row| row.title).collect();
            assert_eq!(titles, ["two", "one"]);
            assert!(revision::delete(conn, first)? && !revision::delete(conn, first)?);
            assert!(post::delete(conn, post_id)?);
            assert_eq!(revision::get(conn, second)?, None);
            Ok(())
        })
        .unwrap();
}

fn the_oldest_goes_when_there_are_too_many(database: &TestDatabase) {
    let store = database.open();
    store
        .write_blocking(|conn| {
            let post_id = post::insert(conn, &support::post("a"))?;
            for number in 0..=REVISIONS_MAX {
                revision::insert(conn, &support::revision(post_id, &number.to_string()))?;
            }
            let kept = revision::of_post(conn, post_id)?;
            assert_eq!(i64::try_from(kept.len()).unwrap(), REVISIONS_MAX);
            assert_eq!(kept.last().unwrap().title, "1");
            Ok(())
        })
        .unwrap();
}
