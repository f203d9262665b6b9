//! How the slug of an item becomes unique.

pub(crate) use frame::text::slugify;

use db::Conn;
use frame::text::slug::{SLUG_LENGTH_MAX, cut};
use site_rows::post;
use types::{Error, Result};

use super::kind::Kind;
use super::status;

/// How often a slug is tried with another number behind it.
const ATTEMPTS_MAX: u32 = 10_000;
/// What other addresses of the site are called.
const RESERVED: &[&str] = &[
    "embed",
    "feed",
    "rdf",
    "rss",
    "rss2",
    "atom",
    "docs",
    "login",
    "author",
    "session",
    "v1",
    "authorize-application",
    "wp-admin",
    "wp-json",
    "product",
];

/// The wanted slug, or the first of `-2`, `-3`, … that is free for the item. An item that is not
/// finished may share its slug.
pub(crate) fn unique(
    conn: &mut dyn Conn,
    kind: &Kind,
    wanted: &str,
    item: Item<'_>,
) -> Result<String> {
    if wanted.is_empty() || status::is_unfinished(item.status) {
        return Ok(wanted.to_owned());
    }
    let mut candidate = wanted.to_owned();
    for number in 2..ATTEMPTS_MAX {
        if !is_taken(conn, kind, &candidate, item)? {
            return Ok(candidate);
        }
        let suffix = format!("-{number}");
        let start = cut(wanted, SLUG_LENGTH_MAX - suffix.len()).trim_end_matches('-');
        candidate = format!("{start}{suffix}");
    }
    Err(Error::conflict("too many items share this slug; choose another one"))
}

/// For whom a slug must be free.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Item<'a> {
    /// Zero for a new one.
    pub(crate) id: i64,
    pub(crate) parent_id: i64,
    pub(crate) status: &'a str,
}

fn is_taken(conn: &mut dyn Conn, kind: &Kind, slug: &str, item: Item<'_>) -> Result<bool> {
    if RESERVED.contains(&slug) && item.parent_id == 0 {
        return Ok(true);
    }
    if !kind.hierarchical {
        // A number alone would read as the archive of a year.
        let numeric = slug.bytes().all(|byte| byte.is_ascii_digit());
        return Ok(numeric || post::slug_is_taken(conn, kind.name, slug, item.id)?);
    }
    let page_number = slug
        .strip_prefix("page")
        .is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_digit()));
    if page_number {
        return Ok(true);
    }
    // Pages need only differ from their siblings.
    let wanted = post::PostFilter {
        kinds: vec![kind.name.to_owned()],
        slugs: vec![slug.to_owned()],
        parents: vec![item.parent_id],
        exclude: vec![item.id],
        page: db::filter::Page { offset: 0, limit: 0 },
        ..post::PostFilter::default()
    };
    Ok(post::list(conn, &wanted)?.1 > 0)
}
