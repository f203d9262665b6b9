//! The records behind items: rows of posts, or what a source of the site keeps instead, such as
//! products.

use db::Conn;
use db::filter::Page;
use frame::{Call, ContentSource, Site, Visit};
use site_rows::post::{self, PostFilter, PostRow};
use site_rows::term::{self, TermRow};
use types::{Error, Result};

use super::kind::{Kind, PRODUCT, SEARCHED_KINDS};
use super::taxonomy::Taxonomy;
use super::{slug, status};

/// The record of this number, whatever its kind.
pub(crate) fn get(call: &mut Call<'_>, id: i64) -> Result<Option<PostRow>> {
    let (site, visit) = (call.site, call.visit);
    get_in(site, call.conn()?, visit, id)
}

/// The same where there is no request to the interface.
pub(crate) fn get_in(
    site: &Site,
    conn: &mut dyn Conn,
    visit: &Visit,
    id: i64,
) -> Result<Option<PostRow>> {
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
    list_in(site, call.conn()?, visit, kind, wanted)
}

/// The same where there is no request to the interface.
pub(crate) fn list_in(
    site: &Site,
    conn: &mut dyn Conn,
    visit: &Visit,
    kind: &Kind,
    wanted: &PostFilter,
) -> Result<(Vec<PostRow>, i64)> {
    match site.content_source(kind.name) {
        Some(source) => source.list(conn, visit, wanted),
        // What has a source where that is missing is not there.
        None if kind.name == PRODUCT.name => Ok((Vec::new(), 0)),
        None => post::list(conn, wanted),
    }
}

/// What readers find by this slug, wherever its address is.
pub(crate) fn by_slug(
    site: &Site,
    conn: &mut dyn Conn,
    visit: &Visit,
    slug: &str,
) -> Result<Option<PostRow>> {
    for kind in SEARCHED_KINDS {
        let wanted = PostFilter {
            kinds: vec![kind.name.to_owned()],
            statuses: vec![status::PUBLISH.to_owned()],
            slugs: vec![slug.to_owned()],
            page: Page { offset: 0, limit: 1 },
            ..PostFilter::default()
        };
        let (rows, _) = list_in(site, conn, visit, kind, &wanted)?;
        if let Some(row) = rows.into_iter().next() {
            return Ok(Some(row));
        }
    }
    Ok(None)
}

/// The record of a source whose page is at a path.
pub(crate) fn at_path(
    site: &Site,
    conn: &mut dyn Conn,
    visit: &Visit,
    path: &str,
) -> Result<Option<PostRow>> {
    let below = path.strip_prefix('/').and_then(|path| path.strip_prefix(PRODUCT.base));
    let Some(slug) = below.and_then(|below| below.strip_prefix('/')) else { return Ok(None) };
    let wanted = PostFilter {
        kinds: vec![PRODUCT.name.to_owned()],
        statuses: vec![status::PUBLISH.to_owned()],
        slugs: vec![slug::slugify(slug)],
        page: Page { offset: 0, limit: 1 },
        ..PostFilter::default()
    };
    Ok(list_in(site, conn, visit, &PRODUCT, &wanted)?.0.into_iter().next())
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
    term::count(call.conn()?, row.term_id)
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
