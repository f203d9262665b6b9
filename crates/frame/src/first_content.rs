//! What a new site begins with: a menu, the placeholder, the pages of the shop, all of them records
//! like those that people make. Each crate adds its own.
//!
//! **It is made once.** What is there already is left as it is, what people delete is not made
//! again, and what nobody has changed gives way to an import that brings a whole site along.

use std::collections::BTreeSet;

use db::Conn;
use db::filter::Page;
use serde::{Deserialize, Serialize};
use serde_json::json;
use site_rows::media;
use site_rows::post::{self, PostRow};
use site_rows::user::{self, UserFilter};
use types::{Error, Result, Role, Timestamp};

use crate::Options;
use crate::dates::Moment;
use crate::library::{NewItem, Placed};
use crate::options::{self, FIRST_CONTENT_OPTION};

/// The first numbers stay free: on the sites that bundles come from, samples have them.
const FREE_NUMBERS: i64 = 3;
/// Among which an imported site is looked at for a number that it does not use.
const LOW_NUMBERS: i64 = 20;
/// The number of whoever is registered first.
const FIRST_USER_ID: i64 = 1;

/// Something that was made.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Piece {
    id: i64,
    /// The option that points to it, or empty.
    option: String,
}

/// An item to begin with.
#[derive(Clone, Copy, Debug)]
pub struct FirstItem<'a> {
    pub kind: &'a str,
    pub slug: &'a str,
    pub title: &'a str,
    pub content: &'a str,
    /// The option that points to it, if there is one.
    pub option: &'a str,
}

/// The first content in the making, within one transaction.
#[derive(Debug)]
pub struct FirstContent {
    now: Moment,
    author_id: i64,
    /// Whether the site has not begun before.
    pub is_due: bool,
    pieces: Vec<Piece>,
}

impl FirstContent {
    pub fn begin(conn: &mut dyn Conn, now: Timestamp) -> Result<Self> {
        let options = Options::read(conn)?;
        let made = options.get(FIRST_CONTENT_OPTION);
        let is_due = made.is_null();
        if post::next_id(conn)? == 1 {
            post::reserve_id(conn, FREE_NUMBERS)?;
        }
        let wanted = UserFilter {
            roles: vec![Role::Administrator],
            page: Page { offset: 0, limit: 1 },
            ..UserFilter::default()
        };
        let (administrators, _) = user::list(conn, &wanted)?;
        let author_id = administrators.first().map_or(FIRST_USER_ID, |first| first.user_id);
        let pieces = serde_json::from_value(made).unwrap_or_default();
        Ok(Self { now: Moment::at(&options, now), author_id, is_due, pieces })
    }

    /// Adds an item. An option that points somewhere stays; a published item of this kind and slug
    /// is taken for the one that is wanted.
    pub fn add(&mut self, conn: &mut dyn Conn, item: FirstItem<'_>) -> Result<()> {
        if !item.option.is_empty() && Options::read(conn)?.integer(item.option) != 0 {
            return Ok(());
        }
        let known = post::find_by_slug(conn, item.kind, item.slug)?;
        let known = known.filter(|known| known.status == "publish");
        let id = match known {
            Some(known) => known.post_id,
            None => self.insert(conn, item)?,
        };
        point(conn, item.option, id)
    }

    fn insert(&mut self, conn: &mut dyn Conn, item: FirstItem<'_>) -> Result<i64> {
        let row = PostRow {
            kind: item.kind.to_owned(),
            status: String::from("publish"),
            slug: item.slug.to_owned(),
            title: item.title.to_owned(),
            content: item.content.to_owned(),
            author_id: self.author_id,
            comment_status: String::from("closed"),
            ping_status: String::from("closed"),
            date: self.now.local,
            date_gmt: Some(self.now.gmt),
            modified: self.now.local,
            modified_gmt: self.now.gmt,
            meta: String::from("{}"),
            ..PostRow::default()
        };
        let id = post::insert(conn, &row)?;
        self.pieces.push(Piece { id, option: item.option.to_owned() });
        Ok(id)
    }

    /// Adds a picture whose files are placed, unless another start was faster.
    pub fn add_picture(
        &mut self,
        conn: &mut dyn Conn,
        placed: &Placed,
        option: &str,
    ) -> Result<()> {
        if media::file(conn, &placed.file)?.is_some() {
            return Ok(());
        }
        let number = if self.is_due { 0 } else { free_number(conn)? };
        let item = NewItem { number, ..NewItem::at(self.now, self.author_id) };
        let (row, _) = item.insert(conn, placed)?;
        self.pieces.push(Piece { id: row.post_id, option: option.to_owned() });
        if Options::read(conn)?.integer(option) == 0 {
            point(conn, option, row.post_id)?;
        }
        Ok(())
    }

    /// Says that the site has begun.
    pub fn end(self, conn: &mut dyn Conn) -> Result<()> {
        record(conn, &self.pieces)
    }
}

/// A number that an imported site left out, so that its next record gets the number that it would
/// have got where it came from; zero if there is none.
fn free_number(conn: &mut dyn Conn) -> Result<i64> {
    let low: Vec<i64> = (1..=LOW_NUMBERS).collect();
    let taken = post::taken_ids(conn, &low)?;
    Ok(low.into_iter().find(|number| !taken.contains(number)).unwrap_or_default())
}

/// Makes room for a whole site that is imported with its numbers: what nobody has changed goes, and
/// a picture gets another number if its own is among those. A site that is imported before its
/// first start begins with nothing else.
pub fn give_way(conn: &mut dyn Conn, numbers: &BTreeSet<i64>) -> Result<()> {
    let options = Options::read(conn)?;
    let made = serde_json::from_value(options.get(FIRST_CONTENT_OPTION));
    let made: Vec<Piece> = made.unwrap_or_default();
    for piece in &made {
        let Some(row) = post::get(conn, piece.id)? else { continue };
        let points = options.integer(&piece.option) == piece.id;
        let is_unchanged = row.date_gmt == Some(row.modified_gmt);
        if row.kind == media::KIND {
            if numbers.contains(&piece.id) {
                let next = media::renumber(conn, piece.id)?;
                point(conn, if points { &piece.option } else { "" }, next)?;
            }
        } else if is_unchanged {
            post::delete(conn, piece.id)?;
            if points {
                options::set(conn, &piece.option, &json!(""))?;
            }
        } else if numbers.contains(&piece.id) {
            let message = format!(
                "the number {} belongs to {} here, which was changed, and to something else in \
                 the bundle; import into a new site",
                piece.id, row.title
            );
            return Err(Error::conflict(message));
        }
    }
    record(conn, &[])
}

fn point(conn: &mut dyn Conn, option: &str, id: i64) -> Result<()> {
    if option.is_empty() { Ok(()) } else { options::set(conn, option, &json!(id.to_string())) }
}

fn record(conn: &mut dyn Conn, pieces: &[Piece]) -> Result<()> {
    options::set(conn, FIRST_CONTENT_OPTION, &json!(pieces))
}
