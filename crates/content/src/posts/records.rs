//! The records behind items: rows of posts, or what a source of the site keeps instead, such as
//! products.

use db::Conn;
use frame::{Call, ContentSource};
use site_rows::post::{self, PostFilter, PostRow};
use site_rows::term::{self, TermRow};
use types::{Error, Result};

use super::kind::Kind;
use super::slug;
use super::taxonomy::Taxonomy;

/// The record of this number, whatever its kind.
pub(crate) fn get(call: &mut Call<'_>, id: i64) -> Result<Option<PostRow>> {
    let (site, visit) = (call.site, call.visit);
    let conn = call.conn()?;
    if let Some(row) = post::get(conn, id)? {
        return Ok(Some(row));
    }
    for source in site.content_sources() {
        if let Some(row) = source.get(conn, visit, id)? {
            return Ok(Some(row));
        }
    }
    Ok(None)
}

/// A page of the records of a kind that match, and how many match.
pub(crate) fn list(
    call: &mut Call<'_>,
    kind: &Kind,
    wanted: &PostFilter,
) -> Result<(Vec<PostRow>, i64)> {
    let (site, visit) = (call.site, call.visit);
    match site.content_source(kind.name) {
        Some(source) => source.list(call.conn()?, visit, wanted),
        None => post::list(call.conn()?, wanted),
    }
}

/// The terms that these records bear: id of the record, taxonomy, id of the term.
pub(crate) fn terms(
    call: &mut Call<'_>,
    kind: &Kind,
    ids: &[i64],
) -> Result<Vec<(i64, String, i64)>> {
    match call.site.content_source(kind.name) {
        Some(source) => source.terms(call.conn()?, ids),
        None => term::ids_of_posts(call.conn()?, ids),
    }
}

/// Names of classes that only its source knows.
pub(crate) fn classes(call: &mut Call<'_>, row: &PostRow, place: usize) -> Result<Vec<String>> {
    match call.site.content_source(&row.kind) {
        Some(source) => source.classes(call.conn()?, row.post_id, place),
        None => Ok(Vec::new()),
    }
}

/// How many published records bear a term, as the source of their kind counts them.
pub(crate) fn term_count(call: &mut Call<'_>, taxonomy: &Taxonomy, row: &TermRow) -> Result<i64> {
    let site = call.site;
    for source in site.content_sources() {
        if let Some(count) = source.term_count(call.conn()?, taxonomy.name, row.term_id)? {
            return Ok(count);
        }
    }
    Ok(row.count)
}

/// The slug that its title would give a published item.
pub(crate) fn generated_slug(
    call: &mut Call<'_>,
    kind: &Kind,
    row: &PostRow,
) -> Result<String, Error> {
    let wanted = slug::slugify(&row.title);
    let item = slug::Item { id: row.post_id, parent_id: row.parent_id, status: "publish" };
    slug::unique(call.conn()?, kind, &wanted, item)
}

/// Tells the source of a record that comments on it changed.
pub(crate) fn comments_changed(
    source: Option<&dyn ContentSource>,
    conn: &mut dyn Conn,
    id: i64,
) -> Result<()> {
    source.map_or(Ok(()), |source| source.comments_changed(conn, id))
}
