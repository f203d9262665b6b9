//! Items of the media library: their files, names that stay taken, lists by type and by file name.

use site_rows::media::{self, KIND, MediaFileRow, MediaRow};
use site_rows::post::{self, PostFilter, PostRow};

use crate::support::{self, TestDatabase};

testkit::on_both_engines!(items_and_their_files, lists_by_type_and_name);

fn item(post_id: i64, file: &str, mime_type: &str) -> (MediaRow, Vec<MediaFileRow>) {
    let (name, mime_type) = (file.to_owned(), mime_type.to_owned());
    let row = MediaRow {
        post_id,
        file: name.clone(),
        mime_type: mime_type.clone(),
        bytes: 7,
        origin: format!("https://far.example/{file}"),
        sizes: String::from("[]"),
        ..MediaRow::default()
    };
    let file = MediaFileRow { name, post_id, mime_type, bytes: 7, tag: String::from("t") };
    (row, vec![file])
}

fn add(conn: &mut dyn db::Conn, slug: &str, mime_type: &str) -> types::Result<i64> {
    let post = PostRow { kind: KIND.to_owned(), ..support::post(slug) };
    let post_id = post::insert(conn, &post)?;
    let (row, files) = item(post_id, &format!("2026/11/{slug}.bin"), mime_type);
    media::insert(conn, &row, &files)?;
    Ok(post_id)
}

fn items_and_their_files(database: &TestDatabase) {
    let added = database.open().write_blocking(|conn| {
        let id = add(conn, "a", "image/png")?;
        let name = String::from("2026/11/a.bin");
        assert_eq!(media::get(conn, id)?.unwrap().file, name);
        assert_eq!(
            media::by_origin(conn, "https://far.example/2026/11/a.bin")?.unwrap().post_id,
            id
        );
        assert_eq!(media::bytes(conn)?, 7);
        assert_eq!(media::by_ids(conn, &[id, 99])?.len(), 1);
        assert_eq!(media::posts_by_ids(conn, &[id, 99])?.len(), 1);
        assert_eq!(media::files_after(conn, "", 9)?.len(), 1);
        let featured = PostRow { featured_media: id, ..support::post("b") };
        let featured = post::insert(conn, &featured)?;
        post::delete(conn, id)?;
        assert_eq!(media::without_post(conn, 9)?, [id]);
        assert_eq!(media::delete(conn, id)?.len(), 1);
        assert_eq!((media::get(conn, id)?, media::bytes(conn)?), (None, 0));
        // The name stays taken, and nothing points to what is gone.
        assert_eq!(
            media::taken_names(conn, &[name.clone(), String::from("free")])?,
            std::slice::from_ref(&name)
        );
        assert_eq!(media::file(conn, &name)?.unwrap().post_id, 0);
        assert_eq!(post::get(conn, featured)?.unwrap().featured_media, 0);
        assert!(media::files_after(conn, "", 9)?.is_empty());
        Ok(())
    });
    added.unwrap();
}

fn lists_by_type_and_name(database: &TestDatabase) {
    let listed = database.open().write_blocking(|conn| {
        let (first, second) = (add(conn, "a", "image/png")?, add(conn, "b", "text/plain")?);
        let mut ids = |filter: PostFilter| -> types::Result<Vec<i64>> {
            let (rows, total) = post::list(conn, &filter)?;
            assert_eq!(total, i64::try_from(rows.len()).unwrap());
            Ok(rows.into_iter().map(|row| row.post_id).collect())
        };
        let of_types = |types: &[&str]| PostFilter {
            mime_types: types.iter().map(|name| (*name).to_owned()).collect(),
            ..PostFilter::default()
        };
        assert_eq!(ids(of_types(&["image/png"]))?, [first]);
        assert_eq!(ids(of_types(&["image/png", "text/plain"]))?.len(), 2);
        assert!(ids(of_types(&["video/mp4"]))?.is_empty());
        let named = |search_files| PostFilter {
            search: vec![String::from("11/B.bin")],
            search_files,
            ..PostFilter::default()
        };
        assert_eq!(ids(named(true))?, [second]);
        assert!(ids(named(false))?.is_empty());
        assert!(post::slug_is_taken_anywhere(conn, "a", second)?);
        assert!(!post::slug_is_taken_anywhere(conn, "a", first)?);
        Ok(())
    });
    listed.unwrap();
}
