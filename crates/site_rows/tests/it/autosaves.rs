//! Texts that are not saved yet: one for each item and user, and gone with their item.

use site_rows::autosave::{self, AutosaveRow};
use site_rows::post;

use crate::support::{self, TestDatabase, time};

testkit::on_both_engines!(autosaves);

fn autosave(post_id: i64, author_id: i64, title: &str, at: i64) -> AutosaveRow {
    AutosaveRow {
        autosave_id: 0,
        post_id,
        author_id,
        title: title.to_owned(),
        content: String::new(),
        excerpt: String::new(),
        date: time(at),
        date_gmt: time(at),
    }
}

fn autosaves(database: &TestDatabase) {
    let store = database.open();
    store
        .write_blocking(|conn| {
            let post_id = post::insert(conn, &support::post("a"))?;
            let first = autosave::put(conn, &autosave(post_id, 7, "one", 1))?;
            assert_eq!(first, post_id + 1, "of the posts' numbers");
            assert_eq!(autosave::put(conn, &autosave(post_id, 7, "two", 2))?, first);
            let other = autosave::put(conn, &autosave(post_id, 8, "three", 3))?;
            assert_ne!(other, first, "each user has one");
            autosave::put(conn, &autosave(post_id + 1, 7, "of another item", 4))?;
            let titles = |conn: &mut dyn db::Conn, post_id| -> types::Result<Vec<String>> {
                let rows = autosave::of_post(conn, post_id)?;
                Ok(rows.into_iter().map(|row| row.title).collect())
            };
            assert_eq!(titles(conn, post_id)?, ["three", "two"]);
            autosave::delete_of(conn, post_id)?;
            assert_eq!(titles(conn, post_id)?, Vec::<String>::new());
            assert_eq!(titles(conn, post_id + 1)?, ["of another item"]);
            Ok(())
        })
        .unwrap();
}
