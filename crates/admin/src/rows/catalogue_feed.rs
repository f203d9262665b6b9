//! Feeds of the catalogue: how each is getting on, and its file in pieces, so that nobody ever
//! holds the whole of it.

use db::{Conn, Record, SITE, named, statements};
use types::{Result, Timestamp};

named! {
    FeedState {
        #[default]
        Scheduled = "scheduled",
        InProgress = "in_progress",
        Completed = "completed",
        Failed = "failed",
    }
}

db::record! {
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct FeedRow in "catalogue_feeds", fixed(site_id = SITE), key(
        /// The choice of fields that it was made for.
        feed_key: String,
    ) {
        /// The background job that writes it.
        job_id: i64,
        state: FeedState,
        file_name: String,
        processed: i64,
        /// Below zero until it is known.
        total: i64,
        error: Option<String>,
        scheduled: Timestamp,
        updated: Timestamp,
        /// When it was completed, or failed.
        ended: Option<Timestamp>,
    }
}

statements! {
    FEED_PUT = db::insert!(
        FeedRow,
        "ON CONFLICT (site_id, feed_key) DO UPDATE SET
           job_id = excluded.job_id, state = excluded.state, file_name = excluded.file_name,
           processed = excluded.processed, total = excluded.total, error = excluded.error,
           scheduled_us = excluded.scheduled_us, updated_us = excluded.updated_us,
           ended_us = excluded.ended_us"
    );
    FEED_GET = db::select!(FeedRow, "WHERE site_id = $1 AND feed_key = $2");
    FEEDS_ENDED = db::select!(
        FeedRow,
        "WHERE site_id = $1 AND ended_us < $2 ORDER BY feed_key LIMIT $3"
    );
    FEED_DELETE = "DELETE FROM catalogue_feeds WHERE site_id = $1 AND feed_key = $2";
    FEED_PART_PUT =
        "INSERT INTO catalogue_feed_parts (site_id, file_name, part, content)
         VALUES ($1, $2, $3, $4)
         ON CONFLICT (site_id, file_name, part) DO UPDATE SET content = excluded.content";
    FEED_PART_GET =
        "SELECT content FROM catalogue_feed_parts
         WHERE site_id = $1 AND file_name = $2 AND part = $3";
    FEED_BYTES =
        "SELECT CAST(SUM(LENGTH(content)) AS BIGINT) FROM catalogue_feed_parts
         WHERE site_id = $1 AND file_name = $2";
    FEED_PARTS_DELETE = "DELETE FROM catalogue_feed_parts WHERE site_id = $1 AND file_name = $2";
    FEED_OF_FILE = db::select!(FeedRow, "WHERE site_id = $1 AND file_name = $2");
    FEED_PRODUCTS =
        "SELECT product_id, kind, parent_id FROM products
         WHERE site_id = $1 AND product_id > $2 AND status = 'publish'
           AND kind IN ('simple', 'variable', 'variation')
         ORDER BY product_id LIMIT $3";
    FEED_PRODUCTS_COUNT =
        "SELECT COUNT(*) FROM products
         WHERE site_id = $1 AND status = 'publish' AND kind IN ('simple', 'variable', 'variation')";
}

pub fn put(conn: &mut dyn Conn, feed: &FeedRow) -> Result<()> {
    conn.insert(&FEED_PUT, feed).map(drop)
}

pub fn get(conn: &mut dyn Conn, feed_key: &str) -> Result<Option<FeedRow>> {
    conn.row(&FEED_GET, &[SITE.into(), feed_key.into()], FeedRow::read)
}

/// The feed whose file has this name.
pub fn of_file(conn: &mut dyn Conn, file_name: &str) -> Result<Option<FeedRow>> {
    conn.row(&FEED_OF_FILE, &[SITE.into(), file_name.into()], FeedRow::read)
}

/// Feeds that ended before that moment.
pub fn ended_before(conn: &mut dyn Conn, moment: Timestamp, limit: i64) -> Result<Vec<FeedRow>> {
    conn.rows(&FEEDS_ENDED, &[SITE.into(), moment.into(), limit.into()], FeedRow::read)
}

/// Deletes a feed with its file.
pub fn remove(conn: &mut dyn Conn, feed: &FeedRow) -> Result<()> {
    conn.execute(&FEED_PARTS_DELETE, &[SITE.into(), (&feed.file_name).into()])?;
    conn.execute(&FEED_DELETE, &[SITE.into(), (&feed.feed_key).into()]).map(drop)
}

/// Writes a piece of a file, in the place of one that an earlier attempt left.
pub fn part_put(conn: &mut dyn Conn, file_name: &str, part: i64, content: &[u8]) -> Result<()> {
    let params = [SITE.into(), file_name.into(), part.into(), content.into()];
    conn.execute_one(&FEED_PART_PUT, &params)
}

pub fn part(conn: &mut dyn Conn, file_name: &str, part: i64) -> Result<Option<Vec<u8>>> {
    conn.row(&FEED_PART_GET, &[SITE.into(), file_name.into(), part.into()], |row| row.get(0))
}

/// Bytes of a whole file.
pub fn bytes(conn: &mut dyn Conn, file_name: &str) -> Result<i64> {
    let params = [SITE.into(), file_name.into()];
    let sum = conn.row(&FEED_BYTES, &params, |row| row.get::<Option<i64>>(0))?;
    Ok(sum.flatten().unwrap_or(0))
}

/// A product that belongs into a feed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FeedProduct {
    pub product_id: i64,
    pub kind: String,
    /// Zero for what is no variation.
    pub parent_id: i64,
}

/// The products of a feed after one of them, by number.
pub fn products_after(conn: &mut dyn Conn, after: i64, limit: i64) -> Result<Vec<FeedProduct>> {
    conn.rows(&FEED_PRODUCTS, &[SITE.into(), after.into(), limit.into()], |row| {
        Ok(FeedProduct { product_id: row.get(0)?, kind: row.get(1)?, parent_id: row.get(2)? })
    })
}

/// How many products a feed has now.
pub fn products_count(conn: &mut dyn Conn) -> Result<i64> {
    let count = conn.row(&FEED_PRODUCTS_COUNT, &[SITE.into()], |row| row.get(0))?;
    Ok(count.unwrap_or(0))
}
