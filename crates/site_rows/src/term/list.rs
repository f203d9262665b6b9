//! Lists of terms: which match, in which order, and how many there are.

use std::collections::{BTreeMap, BTreeSet};

use db::filter::{Clause, Direction, Filter, LIST_MAX, PAGE_MAX, Page, containing};
use db::{Conn, Row, SITE};
use types::{Error, Result};

use super::{TermRow, term_columns, term_count};

/// Levels of terms below terms that are looked into.
const LEVELS_MAX: usize = 32;

/// Which terms to list. An empty list asks for nothing.
#[derive(Clone, Debug, Default)]
pub struct TermFilter {
    pub taxonomies: Vec<String>,
    /// A text that must be in the name or in the slug.
    pub search: Option<String>,
    pub include: Vec<i64>,
    pub exclude: Vec<i64>,
    pub slugs: Vec<String>,
    pub parent: Option<i64>,
    /// Only terms that a published post or product bears.
    pub hide_empty: bool,
    /// Only terms that this post or product bears; they share their numbers.
    pub bearer: Option<i64>,
    pub order: TermOrder,
    pub direction: Direction,
    pub page: Page,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TermOrder {
    #[default]
    Name,
    Id,
    Slug,
    Description,
    Count,
    /// Then by name.
    MenuOrder,
    /// Terms are not grouped here, so all are of one group and sorted by their ids.
    Group,
    /// As the ids are listed in `include`.
    Include,
    /// As the slugs are listed in `slugs`.
    IncludeSlugs,
}

/// A page of the terms that match, and how many match.
pub fn list(conn: &mut dyn Conn, wanted: &TermFilter) -> Result<(Vec<TermRow>, i64)> {
    let mut filter = Filter::new("terms.site_id = ?", SITE);
    filter.and_list("terms.taxonomy IN (?)", &wanted.taxonomies)?;
    let pattern = wanted.search.as_deref().map(containing).transpose()?;
    filter.and_value("(name_key LIKE ? ESCAPE '!' OR slug LIKE ? ESCAPE '!')", pattern);
    filter.and_list("terms.term_id IN (?)", &wanted.include)?;
    filter.and_list("terms.term_id NOT IN (?)", &wanted.exclude)?;
    filter.and_list("terms.slug IN (?)", &wanted.slugs)?;
    filter.and_value("terms.parent_id = ?", wanted.parent);
    if wanted.hide_empty {
        filter.and(Clause::fixed(
            "(EXISTS (SELECT 1 FROM post_terms JOIN posts
                ON posts.site_id = post_terms.site_id AND posts.post_id = post_terms.post_id
              WHERE post_terms.site_id = terms.site_id AND post_terms.term_id = terms.term_id
                AND posts.status = 'publish')
              OR EXISTS (SELECT 1 FROM product_terms JOIN products
                ON products.site_id = product_terms.site_id
                  AND products.product_id = product_terms.product_id
              WHERE product_terms.site_id = terms.site_id
                AND product_terms.term_id = terms.term_id AND products.status = 'publish'))",
        ));
    }
    filter.and_value(
        "(EXISTS (SELECT 1 FROM post_terms WHERE post_terms.site_id = terms.site_id
            AND post_terms.term_id = terms.term_id AND post_terms.post_id = ?)
          OR EXISTS (SELECT 1 FROM product_terms WHERE product_terms.site_id = terms.site_id
            AND product_terms.term_id = terms.term_id AND product_terms.product_id = ?))",
        wanted.bearer,
    );
    let key = order(&mut filter, wanted)?;
    let second = match wanted.order {
        TermOrder::MenuOrder => Some("name_key"),
        _ => None,
    };
    // Those that as many bear come in the order of their making, whichever way the list goes.
    let ties = match wanted.order {
        TermOrder::Count => Direction::Ascending,
        _ => wanted.direction,
    };
    let second = second.map(|key| (Clause::fixed(key), wanted.direction));
    let last = (Clause::fixed("term_id"), ties);
    let order = [(key, wanted.direction)].into_iter().chain(second).chain([last]).collect();
    filter.page(conn, (term_columns!(), "terms"), order, wanted.page, TermRow::read)
}

/// How many published posts and products bear each of these terms.
pub fn counts(conn: &mut dyn Conn, term_ids: &[i64]) -> Result<BTreeMap<i64, i64>> {
    let mut counts = BTreeMap::new();
    for some in term_ids.chunks(LIST_MAX) {
        let mut filter = Filter::new("terms.site_id = ?", SITE);
        filter.and_list("terms.term_id IN (?)", some)?;
        let columns = concat!("terms.term_id, ", term_count!());
        let order = vec![(Clause::fixed("term_id"), Direction::Ascending)];
        let page = Page { offset: 0, limit: PAGE_MAX };
        let read = |row: &dyn Row| Ok((row.get::<i64>(0)?, row.get::<i64>(1)?));
        counts.extend(filter.page(conn, (columns, "terms"), order, page, read)?.0);
    }
    Ok(counts)
}

/// These terms and all that are below them, each once, by id.
pub fn with_descendants(conn: &mut dyn Conn, term_ids: &[i64]) -> Result<Vec<i64>> {
    let mut found: BTreeSet<i64> = term_ids.iter().copied().collect();
    let mut level: Vec<i64> = found.iter().copied().collect();
    for _ in 0..LEVELS_MAX {
        if level.is_empty() {
            break;
        }
        let mut filter = Filter::new("terms.site_id = ?", SITE);
        filter.and_list("parent_id IN (?)", &level)?;
        let order = vec![(Clause::fixed("term_id"), Direction::Ascending)];
        let below = filter
            .page(conn, ("term_id", "terms"), order, Page::default(), |row| row.get::<i64>(0));
        level = below?.0.into_iter().filter(|term_id| found.insert(*term_id)).collect();
    }
    Ok(found.into_iter().collect())
}

/// Posts or products whose terms are read with one query: a page of rows must hold them all.
pub const BEARERS_AT_ONCE: usize = 20;

/// The post, taxonomy and id of every term that these posts bear: by post, then by name.
pub fn ids_of_posts(conn: &mut dyn Conn, post_ids: &[i64]) -> Result<Vec<(i64, String, i64)>> {
    let mut found = Vec::new();
    for some in post_ids.chunks(BEARERS_AT_ONCE) {
        found.append(&mut ids_of_some(conn, some)?);
    }
    Ok(found)
}

fn ids_of_some(conn: &mut dyn Conn, post_ids: &[i64]) -> Result<Vec<(i64, String, i64)>> {
    let mut filter = Filter::new("post_terms.site_id = ?", SITE);
    filter.and_list("post_terms.post_id IN (?)", post_ids)?;
    let keys = ["post_terms.post_id", "terms.name_key", "terms.term_id"];
    let order = keys.map(|key| (Clause::fixed(key), Direction::Ascending)).into();
    let (columns, tables) = (
        "post_terms.post_id, terms.taxonomy, terms.term_id",
        "post_terms JOIN terms
           ON terms.site_id = post_terms.site_id AND terms.term_id = post_terms.term_id",
    );
    let read = |row: &dyn Row| Ok((row.get(0)?, row.get(1)?, row.get(2)?));
    let (rows, total) = filter.page(conn, (columns, tables), order, Page::default(), read)?;
    if total > PAGE_MAX {
        return Err(Error::invalid("these posts bear too many terms; ask for fewer posts"));
    }
    Ok(rows)
}

fn order(filter: &mut Filter, wanted: &TermFilter) -> Result<Clause> {
    Ok(Clause::fixed(match wanted.order {
        TermOrder::Include if !wanted.include.is_empty() => {
            return filter.place("term_id", &wanted.include);
        }
        TermOrder::IncludeSlugs if !wanted.slugs.is_empty() => {
            return filter.place("slug", &wanted.slugs);
        }
        TermOrder::Name | TermOrder::Include | TermOrder::IncludeSlugs => "name_key",
        TermOrder::Id | TermOrder::Group => "term_id",
        TermOrder::Slug => "slug",
        TermOrder::Description => "description",
        TermOrder::Count => term_count!(),
        TermOrder::MenuOrder => "menu_order",
    }))
}
