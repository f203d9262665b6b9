//! Addresses of posts, pages and terms, and the way back from an address to its item.

use db::{Conn, filter};
use frame::{Call, Options, Visit};
use site_rows::post::{self, PostFilter, PostRow};
use site_rows::term::{self, TermRow};
use types::Result;

use super::kind::{Kind, PAGE, POST, PRODUCT, kind_of};
use super::permalinks::Structure;
use super::taxonomy::Taxonomy;
use super::{permit, slug, status};

/// Levels of pages within pages, and of terms within terms, that an address shows.
const DEPTH_MAX: usize = 32;
/// Items with one slug that are looked at.
const NAMESAKES_MAX: i64 = 20;

/// The address of an item: by its slug if it can be read there, else by its number.
pub(crate) fn permalink(conn: &mut dyn Conn, visit: &Visit, row: &PostRow) -> Result<String> {
    let Some(kind) = kind_of(&row.kind) else { return Ok(plain_link(visit, &POST, row)) };
    let readable = status::is_public(&row.status)
        || (row.status == status::PRIVATE && permit::may_read(&visit.identity, row));
    if !readable || row.slug.is_empty() {
        return Ok(plain_link(visit, kind, row));
    }
    if kind.hierarchical && is_front_page(visit, row) {
        return Ok(visit.page("/"));
    }
    Ok(visit.page(&path_of(conn, visit, kind, (row, &row.slug))?))
}

/// The path of an item whose slug is this.
fn path_of(
    conn: &mut dyn Conn,
    visit: &Visit,
    kind: &Kind,
    (row, slug): (&PostRow, &str),
) -> Result<String> {
    if kind.hierarchical {
        return Ok(format!("{}{slug}/", parents_path(conn, kind, row)?));
    }
    if kind.name == PRODUCT.name {
        return Ok(format!("/{}/{slug}/", PRODUCT.base));
    }
    Ok(Structure::of(&visit.options).path(row, slug))
}

fn is_front_page(visit: &Visit, row: &PostRow) -> bool {
    visit.options.text("show_on_front") == "page"
        && visit.options.integer("page_on_front") == row.post_id
}

/// The address that stays the same whatever becomes of the slug.
pub(crate) fn plain_link(visit: &Visit, kind: &Kind, row: &PostRow) -> String {
    visit.page(&format!("/?{}{}", kind.id_query, row.post_id))
}

/// The address with a gap for the slug.
pub(crate) fn template(call: &mut Call<'_>, row: &PostRow) -> Result<String> {
    let (visit, kind) = (call.visit, kind_of(&row.kind).unwrap_or(&POST));
    Ok(visit.page(&path_of(call.conn()?, visit, kind, (row, kind.slug_tag))?))
}

/// `/` or `/parent/…/`.
fn parents_path(conn: &mut dyn Conn, kind: &Kind, row: &PostRow) -> Result<String> {
    let mut slugs = Vec::new();
    let mut parent_id = if kind.hierarchical { row.parent_id } else { 0 };
    while parent_id != 0 && slugs.len() < DEPTH_MAX {
        let Some(parent) = post::get(conn, parent_id)? else { break };
        slugs.push(parent.slug);
        parent_id = parent.parent_id;
    }
    slugs.retain(|slug| !slug.is_empty());
    slugs.reverse();
    Ok(if slugs.is_empty() { String::from("/") } else { format!("/{}/", slugs.join("/")) })
}

/// The item at a path of this site, with its query string: `/{slug}/`, `/{parent}/{slug}/`,
/// `/?p=ID`, `/?page_id=ID`. **Whether the caller may see it is another question.**
pub fn find_by_path(conn: &mut dyn Conn, options: &Options, path: &str) -> Result<Option<PostRow>> {
    let path = path.split('#').next().unwrap_or_default();
    let (path, query) = path.split_once('?').unwrap_or((path, ""));
    let parts: Vec<String> =
        path.split('/').filter(|part| !part.is_empty()).map(slug::slugify).collect();
    let Some(last) = parts.last() else { return find_by_query(conn, query) };
    if parts.len() > DEPTH_MAX || parts.iter().any(String::is_empty) {
        return Ok(None);
    }
    if let Some(page) = find_page(conn, &parts)? {
        return Ok(Some(page));
    }
    let structure = Structure::of(options);
    if parts.len() != structure.length() {
        return Ok(None);
    }
    let found = post::find_by_slug(conn, POST.name, last)?;
    Ok(found.filter(|row| structure.fits(row, &parts)))
}

fn find_by_query(conn: &mut dyn Conn, query: &str) -> Result<Option<PostRow>> {
    let query = contract::rest::form::decode(query);
    for parameter in ["p", "page_id"] {
        let id = query.get(parameter).and_then(|id| id.as_str()?.parse::<i64>().ok());
        if let Some(id) = id {
            // Either parameter finds either kind, as old links expect.
            return Ok(post::get(conn, id)?.filter(is_viewable));
        }
    }
    Ok(None)
}

fn find_page(conn: &mut dyn Conn, parts: &[String]) -> Result<Option<PostRow>> {
    let mut found: Option<PostRow> = None;
    for part in parts {
        let wanted = PostFilter {
            kinds: vec![PAGE.name.to_owned()],
            slugs: vec![part.clone()],
            parents: vec![found.as_ref().map_or(0, |page| page.post_id)],
            page: filter::Page { offset: 0, limit: NAMESAKES_MAX },
            ..PostFilter::default()
        };
        let (mut pages, _) = post::list(conn, &wanted)?;
        pages.sort_by_key(|page| !status::is_public(&page.status));
        match pages.into_iter().next() {
            Some(page) => found = Some(page),
            None => return Ok(None),
        }
    }
    Ok(found)
}

fn is_viewable(row: &PostRow) -> bool {
    kind_of(&row.kind).is_some_and(|kind| kind.viewable)
}

/// Whether everybody may read the item on a page of the site.
pub(crate) fn is_publicly_viewable(row: &PostRow) -> bool {
    is_viewable(row) && status::is_public(&row.status)
}

/// The address of a term's archive.
pub(crate) fn term_link(
    conn: &mut dyn Conn,
    visit: &Visit,
    taxonomy: &Taxonomy,
    row: &TermRow,
) -> Result<String> {
    let mut slugs = vec![row.slug.clone()];
    let mut parent_id = row.parent_id;
    while parent_id != 0 && slugs.len() < DEPTH_MAX {
        let Some(parent) = term::get(conn, parent_id)? else { break };
        slugs.push(parent.slug);
        parent_id = parent.parent_id;
    }
    slugs.reverse();
    let Some(path) = taxonomy.path else {
        let query = format!("/?taxonomy={}&term={}", taxonomy.name, row.slug);
        return Ok(visit.page(&query));
    };
    Ok(visit.page(&format!("/{path}/{}/", slugs.join("/"))))
}
