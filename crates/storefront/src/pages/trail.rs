//! The way from the home page to a product or a list of products: what breadcrumbs show.

use commerce::taxonomies::CATEGORY;
use db::Conn;
use frame::Visit;
use serde_json::Value;
use site_rows::term::{self, TermFilter, TermRow};
use types::Result;

use super::values::{Target, list, number};
use crate::products::show::term_address;

/// Levels of terms that are followed upwards.
const LEVELS_MAX: usize = 32;

/// The way to a term: those above it, the highest first, and itself.
pub(super) fn of_term(conn: &mut dyn Conn, visit: &Visit, row: &TermRow) -> Result<Vec<Target>> {
    let mut rows = vec![row.clone()];
    let mut next = row.parent_id;
    while next != 0 && rows.len() < LEVELS_MAX {
        let Some(parent) = term::get(conn, next)? else { break };
        next = parent.parent_id;
        rows.push(parent);
    }
    rows.reverse();
    let mut slugs: Vec<&str> = Vec::new();
    let mut trail = Vec::new();
    for one in &rows {
        slugs.push(&one.slug);
        let href = term_address(visit, &row.taxonomy, &slugs.join("/"));
        trail.push(Target { text: content::web::plain(&one.name), href });
    }
    Ok(trail)
}

/// The way to a product by the deepest of its categories.
pub(super) fn of_product(
    conn: &mut dyn Conn,
    visit: &Visit,
    product: &Value,
) -> Result<Vec<Target>> {
    let mut deepest: Option<TermRow> = None;
    for category in list(product, "categories") {
        let Some(row) = term::get(conn, number(category, "id"))? else { continue };
        if deepest.as_ref().is_none_or(|known| row.parent_id > known.parent_id) {
            deepest = Some(row);
        }
    }
    match deepest {
        Some(row) => of_term(conn, visit, &row),
        None => Ok(Vec::new()),
    }
}

/// The categories right below one, or the highest, as far as something is in them.
pub(super) fn categories_below(
    conn: &mut dyn Conn,
    visit: &Visit,
    (parent_id, above): (i64, &[Target]),
) -> Result<Vec<Target>> {
    let wanted = TermFilter {
        taxonomies: vec![CATEGORY.to_owned()],
        parent: Some(parent_id),
        hide_empty: true,
        ..TermFilter::default()
    };
    let (rows, _) = term::list(conn, &wanted)?;
    let base = above.last().map(|target| target.href.clone());
    let base = base.unwrap_or_else(|| visit.page("/product-category/"));
    let target = |row: TermRow| Target {
        text: content::web::plain(&row.name),
        href: format!("{base}{}/", row.slug),
    };
    Ok(rows.into_iter().map(target).collect())
}
