//! Files of the media library: what is known about each item, and which files it has. The texts of
//! an item are a post of the kind [`KIND`].

use std::collections::HashMap;

use db::filter::{Clause, Direction, Filter, LIST_MAX, Page};
use db::{Conn, Record, Row, SITE, statements};
use types::Result;

use crate::post::PostRow;

/// The kind of posts that items of the library are.
pub const KIND: &str = "attachment";

db::record! {
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct MediaRow in "media", fixed(site_id = SITE), key(post_id: i64) {
        /// The name of the file below the folder of uploads, such as `2026/11/anchor.png`.
        file: String,
        mime_type: String,
        bytes: i64,
        /// Zero for what is no picture.
        width: i64,
        height: i64,
        alt_text: String,
        /// The address that the file was fetched from, or empty.
        origin: String,
        /// The item that this one was made of, or zero.
        edited_from: i64,
        /// The smaller forms of a picture, as JSON.
        sizes: String,
    }
    folded { file as "file_key" }
}

db::record! {
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct MediaFileRow in "media_files", fixed(site_id = SITE), key(name: String) {
        /// Zero when the file is deleted; its name is kept.
        post_id: i64,
        mime_type: String,
        bytes: i64,
        /// A digest of the content.
        tag: String,
    }
}

statements! {
    MEDIA_INSERT = db::insert!(MediaRow);
    MEDIA_UPDATE = db::update!(MediaRow);
    MEDIA_GET = db::select!(MediaRow, "WHERE site_id = $1 AND post_id = $2");
    MEDIA_BY_ORIGIN = db::select!(
        MediaRow,
        "WHERE site_id = $1 AND origin = $2 ORDER BY post_id DESC LIMIT 1"
    );
    MEDIA_DELETE = "DELETE FROM media WHERE site_id = $1 AND post_id = $2";
    MEDIA_WITHOUT_POST =
        "SELECT post_id FROM media WHERE site_id = $1 AND NOT EXISTS (
           SELECT 1 FROM posts WHERE posts.site_id = media.site_id
             AND posts.post_id = media.post_id AND posts.kind = $2)
         ORDER BY post_id LIMIT $3";
    MEDIA_BYTES =
        "SELECT CAST(COALESCE(SUM(bytes), 0) AS BIGINT) FROM media_files
         WHERE site_id = $1 AND post_id <> 0";
    MEDIA_FILE_INSERT = db::insert!(MediaFileRow);
    MEDIA_FILE_GET = db::select!(MediaFileRow, "WHERE site_id = $1 AND name = $2");
    MEDIA_FILES_OF = db::select!(MediaFileRow, "WHERE site_id = $1 AND post_id = $2 ORDER BY name");
    MEDIA_FILES_AFTER = db::select!(
        MediaFileRow,
        "WHERE site_id = $1 AND post_id <> 0 AND name > $2 ORDER BY name LIMIT $3"
    );
    MEDIA_FILES_FREE = "UPDATE media_files SET post_id = 0 WHERE site_id = $1 AND post_id = $2";
    MEDIA_RENUMBER = "UPDATE media SET post_id = $1 WHERE site_id = $2 AND post_id = $3";
    MEDIA_FILES_RENUMBER =
        "UPDATE media_files SET post_id = $1 WHERE site_id = $2 AND post_id = $3";
    MEDIA_POST_RENUMBER = "UPDATE posts SET post_id = $1 WHERE site_id = $2 AND post_id = $3";
    MEDIA_FEATURED_CLEAR =
        "UPDATE posts SET featured_media = 0
         WHERE site_id = $1 AND featured_media = $2 AND featured_media <> 0";
}

pub fn get(conn: &mut dyn Conn, post_id: i64) -> Result<Option<MediaRow>> {
    conn.row(&MEDIA_GET, &[SITE.into(), post_id.into()], MediaRow::read)
}

/// The items among these ids, by id.
pub fn by_ids(conn: &mut dyn Conn, ids: &[i64]) -> Result<HashMap<i64, MediaRow>> {
    records_of(conn, ids, |row: &MediaRow| row.post_id)
}

/// The texts of the items among these ids, by id.
pub fn posts_by_ids(conn: &mut dyn Conn, ids: &[i64]) -> Result<HashMap<i64, PostRow>> {
    let mut posts = records_of(conn, ids, |row: &PostRow| row.post_id)?;
    posts.retain(|_, post| post.kind == KIND);
    Ok(posts)
}

fn records_of<R: Record>(
    conn: &mut dyn Conn,
    ids: &[i64],
    id: fn(&R) -> i64,
) -> Result<HashMap<i64, R>> {
    let mut found = HashMap::new();
    for ids in ids.chunks(LIST_MAX) {
        let mut filter = Filter::new("site_id = ?", SITE);
        filter.and_list("post_id IN (?)", ids)?;
        let order = vec![(Clause::fixed("post_id"), Direction::Ascending)];
        let (rows, _) = filter.records::<R>(conn, order, Page::default())?;
        found.extend(rows.into_iter().map(|row| (id(&row), row)));
    }
    Ok(found)
}

/// The newest item that was fetched from this address.
pub fn by_origin(conn: &mut dyn Conn, origin: &str) -> Result<Option<MediaRow>> {
    conn.row(&MEDIA_BY_ORIGIN, &[SITE.into(), origin.into()], MediaRow::read)
}

/// Adds an item, whose post is there, with its files.
pub fn insert(conn: &mut dyn Conn, media: &MediaRow, files: &[MediaFileRow]) -> Result<()> {
    conn.insert(&MEDIA_INSERT, media)?;
    insert_files(conn, files)
}

pub fn insert_files(conn: &mut dyn Conn, files: &[MediaFileRow]) -> Result<()> {
    for file in files {
        conn.insert(&MEDIA_FILE_INSERT, file)?;
    }
    Ok(())
}

pub fn update(conn: &mut dyn Conn, media: &MediaRow) -> Result<()> {
    conn.update(&MEDIA_UPDATE, media)
}

/// Deletes what is known about an item, and returns the files that it had. Their names stay taken.
pub fn delete(conn: &mut dyn Conn, post_id: i64) -> Result<Vec<MediaFileRow>> {
    let files = free_files(conn, post_id)?;
    let params = [SITE.into(), post_id.into()];
    conn.execute(&MEDIA_FEATURED_CLEAR, &params)?;
    conn.execute(&MEDIA_DELETE, &params)?;
    Ok(files)
}

/// The files of something that is gone, whose names stay taken.
pub fn free_files(conn: &mut dyn Conn, post_id: i64) -> Result<Vec<MediaFileRow>> {
    let params = [SITE.into(), post_id.into()];
    let files = conn.rows(&MEDIA_FILES_OF, &params, MediaFileRow::read)?;
    conn.execute(&MEDIA_FILES_FREE, &params)?;
    Ok(files)
}

/// Gives an item that nothing refers to the next number, and returns that.
pub fn renumber(conn: &mut dyn Conn, post_id: i64) -> Result<i64> {
    let next = crate::post::take_id(conn)?;
    let params = [next.into(), SITE.into(), post_id.into()];
    for statement in [&MEDIA_POST_RENUMBER, &MEDIA_RENUMBER, &MEDIA_FILES_RENUMBER] {
        conn.execute(statement, &params)?;
    }
    Ok(next)
}

/// Items whose posts were deleted by somebody who knows no files.
pub fn without_post(conn: &mut dyn Conn, limit: i64) -> Result<Vec<i64>> {
    conn.rows(&MEDIA_WITHOUT_POST, &[SITE.into(), KIND.into(), limit.into()], |row| row.get(0))
}

/// Bytes of all files.
pub fn bytes(conn: &mut dyn Conn) -> Result<i64> {
    let sum = conn.row(&MEDIA_BYTES, &[SITE.into()], |row| row.get(0))?;
    Ok(sum.unwrap_or_default())
}

/// A file by its name, also one that was deleted.
pub fn file(conn: &mut dyn Conn, name: &str) -> Result<Option<MediaFileRow>> {
    conn.row(&MEDIA_FILE_GET, &[SITE.into(), name.into()], MediaFileRow::read)
}

/// Files by name, after this one.
pub fn files_after(conn: &mut dyn Conn, name: &str, limit: i64) -> Result<Vec<MediaFileRow>> {
    let params = [SITE.into(), name.into(), limit.into()];
    conn.rows(&MEDIA_FILES_AFTER, &params, MediaFileRow::read)
}

/// Those of the names that are taken, be it by a file that was deleted.
pub fn taken_names(conn: &mut dyn Conn, names: &[String]) -> Result<Vec<String>> {
    let mut filter = Filter::new("site_id = ?", SITE);
    filter.and_list("name IN (?)", names)?;
    let order = vec![(Clause::fixed("name"), Direction::Ascending)];
    let read = |row: &dyn Row| row.get(0);
    let (taken, _) = filter.page(conn, ("name", "media_files"), order, Page::default(), read)?;
    Ok(taken)
}
