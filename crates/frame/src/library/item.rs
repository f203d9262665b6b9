//! The rows of a new item of the library: a post of its own kind for its texts, and what is known
//! of its file.

use db::Conn;
use site_rows::media::{self, MediaRow};
use site_rows::post::{self, PostRow};
use types::{Error, Result};

use super::placed::Placed;
use crate::dates::Moment;
use crate::text::slug::{SLUG_LENGTH_MAX, cut};
use crate::text::slugify;

/// Items have the status of what they are attached to.
pub const STATUS: &str = "inherit";
/// How often a slug is tried with another number behind it.
const ATTEMPTS_MAX: u32 = 10_000;

/// What is said about a new item.
#[derive(Clone, Debug)]
pub struct NewItem {
    /// One that nothing has; zero for the next.
    pub number: i64,
    /// Empty: the name of the file.
    pub title: String,
    pub description: String,
    pub caption: String,
    pub alt_text: String,
    /// Empty: from the title.
    pub slug: String,
    pub author_id: i64,
    pub parent_id: i64,
    pub comment_status: String,
    pub ping_status: String,
    pub date: Moment,
    pub now: Moment,
    pub origin: String,
    pub edited_from: i64,
}

impl NewItem {
    /// An item of which nothing is said.
    pub fn at(now: Moment, author_id: i64) -> Self {
        Self {
            number: 0,
            title: String::new(),
            description: String::new(),
            caption: String::new(),
            alt_text: String::new(),
            slug: String::new(),
            author_id,
            parent_id: 0,
            comment_status: String::from("open"),
            ping_status: String::from("closed"),
            date: now,
            now,
            origin: String::new(),
            edited_from: 0,
        }
    }

    /// Writes the rows of the item whose files are placed.
    pub fn insert(self, conn: &mut dyn Conn, placed: &Placed) -> Result<(PostRow, MediaRow)> {
        let title = if self.title.is_empty() { placed.stem().to_owned() } else { self.title };
        let wanted = if self.slug.is_empty() { slugify(&title) } else { self.slug };
        let mut post = PostRow {
            kind: media::KIND.to_owned(),
            status: STATUS.to_owned(),
            slug: unique_slug(conn, &wanted, 0)?,
            title,
            content: self.description,
            excerpt: self.caption,
            author_id: self.author_id,
            parent_id: self.parent_id,
            comment_status: self.comment_status,
            ping_status: self.ping_status,
            date: self.date.local,
            date_gmt: Some(self.date.gmt),
            modified: self.now.local,
            modified_gmt: self.now.gmt,
            meta: String::from("{}"),
            ..PostRow::default()
        };
        if self.number > 0 {
            post.post_id = self.number;
            post::insert_with_id(conn, &post)?;
        } else {
            post.post_id = post::insert(conn, &post)?;
        }
        if post.slug.is_empty() {
            post.slug = unique_slug(conn, &post.post_id.to_string(), post.post_id)?;
            post::update(conn, &post)?;
        }
        let about = MediaRow {
            post_id: post.post_id,
            alt_text: self.alt_text,
            origin: self.origin,
            edited_from: self.edited_from,
            ..MediaRow::default()
        };
        let media = placed.record(conn, about)?;
        Ok((post, media))
    }
}

/// The wanted slug, or the first of `-2`, `-3`, … that nothing of whatever kind has.
pub fn unique_slug(conn: &mut dyn Conn, wanted: &str, item_id: i64) -> Result<String> {
    let mut candidate = wanted.to_owned();
    for number in 2..ATTEMPTS_MAX {
        if wanted.is_empty() || !post::slug_is_taken_anywhere(conn, &candidate, item_id)? {
            return Ok(candidate);
        }
        let suffix = format!("-{number}");
        let start = cut(wanted, SLUG_LENGTH_MAX - suffix.len()).trim_end_matches('-');
        candidate = format!("{start}{suffix}");
    }
    Err(Error::conflict("too many items share this slug; choose another one"))
}
