//! The posts and pages of a bundle.

use std::collections::{BTreeMap, BTreeSet};

use db::Conn;
use frame::Options;
use frame::bundle::{ImportSection, at, import_sections, records, time};
use frame::first_content;
use serde::Deserialize;
use serde_json::Value;
use site_rows::post::{self, PostRow};
use types::Result;

use crate::posts;

const POSTS: &str = "posts";
const CATEGORY: &str = "category";
/// Sections whose ids come from the same numbers.
const NUMBERED_LIKE_POSTS: [&str; 6] =
    [POSTS, "products", "variations", "coupons", "orders", "refunds"];

const SECTIONS: &[(&str, ImportSection)] = &[(POSTS, import_posts)];

#[derive(Clone, Debug, Deserialize)]
struct BundlePost {
    id: i64,
    #[serde(rename = "type")]
    kind: String,
    slug: String,
    status: String,
    title: String,
    author: i64,
    date: String,
    date_gmt: String,
    modified: String,
    modified_gmt: String,
    content: String,
    #[serde(default)]
    excerpt: String,
    comment_status: String,
    ping_status: String,
    #[serde(default)]
    template: String,
}

/// Imports the posts, before any section of the crates beside this one, and says how many there
/// were.
pub fn import(
    conn: &mut dyn Conn,
    sections: &BTreeMap<String, Value>,
) -> Result<BTreeMap<&'static str, usize>> {
    posts::found(conn)?;
    let numbers = numbers(sections);
    // What is imported later, or moves, must not get one of them meanwhile.
    if let Some(greatest) = numbers.last() {
        post::reserve_id(conn, *greatest)?;
    }
    first_content::give_way(conn, &numbers)?;
    let totals = import_sections(conn, SECTIONS, sections)?;
    Ok(totals)
}

/// The ids that the bundle brings along.
fn numbers(sections: &BTreeMap<String, Value>) -> BTreeSet<i64> {
    let records = NUMBERED_LIKE_POSTS.iter().filter_map(|name| sections.get(*name)?.as_array());
    records.flatten().filter_map(|record| record.get("id")?.as_i64()).collect()
}

fn import_posts(conn: &mut dyn Conn, section: &Value) -> Result<usize> {
    let posts: Vec<BundlePost> = records(section)?;
    for post in &posts {
        post.import(conn).map_err(|error| at(error, "post", post.id))?;
    }
    Ok(posts.len())
}

impl BundlePost {
    /// A bundle holds what the block editor wrote without its marks: it is one block of HTML.
    fn blocks(&self) -> String {
        let content = self.content.trim();
        if content.is_empty() || content.contains("<!-- wp:") {
            return self.content.clone();
        }
        format!("<!-- wp:html -->\n{content}\n<!-- /wp:html -->")
    }

    fn import(&self, conn: &mut dyn Conn) -> Result<()> {
        let known = post::get(conn, self.id)?;
        let is_new = known.is_none();
        let before = known.unwrap_or_else(|| PostRow {
            format: String::from("standard"),
            meta: String::from("{}"),
            ..PostRow::default()
        });
        let row = PostRow {
            post_id: self.id,
            kind: self.kind.clone(),
            status: self.status.clone(),
            slug: self.slug.clone(),
            title: self.title.clone(),
            content: self.blocks(),
            excerpt: self.excerpt.clone(),
            author_id: self.author,
            comment_status: self.comment_status.clone(),
            ping_status: self.ping_status.clone(),
            template: self.template.clone(),
            date: time(&self.date)?,
            date_gmt: Some(time(&self.date_gmt)?),
            modified: time(&self.modified)?,
            modified_gmt: time(&self.modified_gmt)?,
            ..before
        };
        if !is_new {
            return post::update(conn, &row).map(drop);
        }
        post::insert_with_id(conn, &row)?;
        if self.kind == "post" {
            let category = Options::read(conn)?.integer("default_category");
            site_rows::term::set_terms(conn, self.id, CATEGORY, &[category])?;
        }
        Ok(())
    }
}
