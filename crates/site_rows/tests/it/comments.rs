//! Comments: listed by every filter, answers that move up, and what tells of repetition and floods.

use db::filter::Direction;
use site_rows::comment::{self, CommentFilter, CommentOrder, CommentRow};

use crate::support::{TestDatabase, time};

testkit::on_both_engines!(comments, who_writes_much);

fn row(post_id: i64, content: &str, minute: i64) -> CommentRow {
    CommentRow {
        post_id,
        kind: String::from("comment"),
        author: String::from("Gus"),
        email: String::from("Gus@example.test"),
        author_ip: String::from("192.0.2.7"),
        content: content.to_owned(),
        status: String::from("approved"),
        created: time(minute),
        meta: String::from("{}"),
        ..CommentRow::default()
    }
}

fn comments(database: &TestDatabase) {
    let store = database.open();
    store
        .write_blocking(|conn| {
            let first = comment::insert(conn, &row(7, "First", 1))?;
            let reply = CommentRow { parent_id: first, ..row(7, "Reply", 2) };
            let reply = comment::insert(conn, &reply)?;
            let deeper = CommentRow { parent_id: reply, ..row(7, "Deeper", 3) };
            let deeper = comment::insert(conn, &deeper)?;
            let review =
                CommentRow { kind: String::from("review"), rating: 5, ..row(8, "Good", 4) };
            let review = comment::insert(conn, &review)?;
            let all = CommentFilter { direction: Direction::Descending, ..Default::default() };
            let kind = |kind: &str| vec![kind.to_owned()];
            for (wanted, expected) in [
                (all.clone(), vec![review, deeper, reply, first]),
                (CommentFilter { posts: vec![7], ..all.clone() }, vec![deeper, reply, first]),
                (CommentFilter { kinds: kind("review"), ..all.clone() }, vec![review]),
                (CommentFilter { kinds_exclude: kind("comment"), ..all.clone() }, vec![review]),
                (CommentFilter { parents: vec![first], ..all.clone() }, vec![reply]),
                (CommentFilter { search: kind("FIRST"), ..all.clone() }, vec![first]),
                (CommentFilter { after: Some(time(3)), ..all.clone() }, vec![review]),
                (CommentFilter { before: Some(time(2)), ..all.clone() }, vec![first]),
                (
                    CommentFilter { email: Some(String::from("gus@EXAMPLE.test")), ..all.clone() },
                    vec![review, deeper, reply, first],
                ),
                (
                    CommentFilter { order: CommentOrder::Parent, ..Default::default() },
                    vec![review, first, reply, deeper],
                ),
            ] {
                let (rows, total) = comment::list(conn, &wanted)?;
                let ids: Vec<i64> = rows.iter().map(|row| row.comment_id).collect();
                assert_eq!(ids, expected, "{wanted:?}");
                assert_eq!(usize::try_from(total).unwrap(), expected.len());
            }
            assert_eq!(comment::count_by_post(conn, &all)?, [(7, 3), (8, 1)]);
            assert!(comment::has_children(conn, first)? && !comment::has_children(conn, deeper)?);
            assert!(comment::delete(conn, reply)? && !comment::delete(conn, reply)?);
            let moved = comment::get(conn, deeper)?.unwrap();
            assert_eq!(moved.parent_id, first, "answers move up");
            assert_eq!(comment::delete_of(conn, 7)?, 2);
            Ok(())
        })
        .unwrap();
}

fn who_writes_much(database: &TestDatabase) {
    let store = database.open();
    store
        .write_blocking(|conn| {
            comment::insert(conn, &row(7, "Hello", 5))?;
            assert!(comment::is_repeated(conn, &row(7, "Hello", 9))?);
            assert!(!comment::is_repeated(conn, &row(8, "Hello", 9))?, "elsewhere");
            assert!(!comment::is_repeated(conn, &row(7, "Other", 9))?);
            let stranger = CommentRow {
                author: String::from("Ivy"),
                email: String::from("ivy@example.test"),
                author_ip: String::from("192.0.2.8"),
                ..row(7, "Hello", 9)
            };
            assert!(!comment::is_repeated(conn, &stranger)?);
            assert_eq!(comment::last_of_author(conn, &stranger, time(0))?, None);
            let same_address =
                CommentRow { author_ip: String::from("192.0.2.7"), ..stranger.clone() };
            assert_eq!(comment::last_of_author(conn, &same_address, time(0))?, Some(time(5)));
            assert_eq!(comment::last_of_author(conn, &same_address, time(5))?, None, "long ago");
            assert!(comment::is_known_author(conn, &row(9, "x", 9))?);
            assert!(!comment::is_known_author(conn, &stranger)?);
            Ok(())
        })
        .unwrap();
}
