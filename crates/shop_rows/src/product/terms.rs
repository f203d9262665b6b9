//! The terms that products bear, and how many products bear a term.

use std::collections::BTreeMap;

use db::filter::{Clause, Direction, Filter, PAGE_MAX, Page};
use db::{Conn, Row, SITE, statements};
use types::{Error, Result};

/// A term that a product bears.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProductTerm {
    pub product_id: i64,
    pub taxonomy: String,
    pub term_id: i64,
    pub name: String,
    pub slug: String,
    pub menu_order: i64,
}

statements! {
    PRODUCT_TERMS_CLEAR =
        "DELETE FROM product_terms WHERE site_id = $1 AND product_id = $2
           AND term_id IN (SELECT term_id FROM terms WHERE site_id = $1 AND taxonomy = $3)";
    PRODUCT_TERM_INSERT =
        "INSERT INTO product_terms (site_id, product_id, term_id)
     SELECT site_id, $1, term_id FROM terms WHERE site_id = $2 AND term_id = $3 AND taxonomy = $4
     ON CONFLICT (site_id, product_id, term_id) DO UPDATE SET term_id = excluded.term_id";
    PRODUCT_BEARERS =
        "SELECT product_terms.product_id, product_terms.term_id
         FROM product_terms JOIN terms
           ON terms.site_id = product_terms.site_id AND terms.term_id = product_terms.term_id
         WHERE product_terms.site_id = $1 AND terms.taxonomy = $2
         ORDER BY product_terms.product_id, product_terms.term_id";
    PRODUCTS_AFTER =
        "SELECT product_id FROM product_terms
         WHERE term_id = $1 AND site_id = $2 AND product_id > $3 ORDER BY product_id LIMIT $4";
    // UNION drops what is there already, so that terms which are each other's parents end it as
    // well.
    PRODUCT_COUNTS_BY_TERM =
        "WITH RECURSIVE under (top_id, term_id) AS (
           SELECT term_id, term_id FROM terms WHERE site_id = $1 AND taxonomy = $2
           UNION
           SELECT under.top_id, terms.term_id FROM under JOIN terms
             ON terms.parent_id = under.term_id AND terms.site_id = $1 AND terms.taxonomy = $2)
         SELECT under.top_id, COUNT(DISTINCT products.product_id)
         FROM under JOIN product_terms
             ON product_terms.term_id = under.term_id AND product_terms.site_id = $1
           JOIN products
             ON products.site_id = $1 AND products.product_id = product_terms.product_id
         WHERE products.status = 'publish' AND products.catalog_visibility IN ('visible', 'catalog')
         GROUP BY under.top_id ORDER BY under.top_id";
}

/// Lets the product bear these terms of the taxonomy and no others. A conflict when one of them is
/// not of that taxonomy.
pub fn set_terms(
    conn: &mut dyn Conn,
    product_id: i64,
    taxonomy: &str,
    term_ids: &[i64],
) -> Result<()> {
    conn.execute(&PRODUCT_TERMS_CLEAR, &[SITE.into(), product_id.into(), taxonomy.into()])?;
    for term_id in term_ids {
        let params = [product_id.into(), SITE.into(), (*term_id).into(), taxonomy.into()];
        if conn.execute(&PRODUCT_TERM_INSERT, &params)? != 1 {
            return Err(Error::conflict("the taxonomy has no such term"));
        }
    }
    Ok(())
}

/// Every term that these products bear: by product, then by name.
pub fn terms_of(conn: &mut dyn Conn, product_ids: &[i64]) -> Result<Vec<ProductTerm>> {
    let mut found = Vec::new();
    for some in product_ids.chunks(site_rows::term::BEARERS_AT_ONCE) {
        found.append(&mut terms_of_some(conn, some)?);
    }
    Ok(found)
}

fn terms_of_some(conn: &mut dyn Conn, product_ids: &[i64]) -> Result<Vec<ProductTerm>> {
    let mut filter = Filter::new("product_terms.site_id = ?", SITE);
    filter.and_list("product_terms.product_id IN (?)", product_ids)?;
    let keys = ["product_terms.product_id", "terms.name_key", "terms.term_id"];
    let order = keys.map(|key| (Clause::fixed(key), Direction::Ascending)).into();
    let (columns, tables) = (
        "product_terms.product_id, terms.taxonomy, terms.term_id, terms.name, terms.slug,
         terms.menu_order",
        "product_terms JOIN terms
           ON terms.site_id = product_terms.site_id AND terms.term_id = product_terms.term_id",
    );
    let (rows, total) =
        filter.page(conn, (columns, tables), order, Page::default(), ProductTerm::read)?;
    if total > PAGE_MAX {
        return Err(Error::invalid("these products bear too many terms; ask for fewer products"));
    }
    Ok(rows)
}

/// Every product with every term of the taxonomy that it bears: products and terms, ascending. For
/// who keeps all of them.
pub fn bearers(conn: &mut dyn Conn, taxonomy: &str) -> Result<Vec<(i64, i64)>> {
    let read = |row: &dyn Row| Ok((row.get(0)?, row.get(1)?));
    conn.rows(&PRODUCT_BEARERS, &[SITE.into(), taxonomy.into()], read)
}

/// So many products of the term at most, in the order of their numbers: those after this one, and
/// from the beginning where there are no more.
pub fn bearers_after(
    conn: &mut dyn Conn,
    term_id: i64,
    product_id: i64,
    count: usize,
) -> Result<Vec<i64>> {
    let mut found: Vec<i64> = Vec::new();
    for start in [product_id, 0] {
        let rest = i64::try_from(count - found.len()).unwrap_or(i64::MAX);
        let params = [term_id.into(), SITE.into(), start.into(), rest.into()];
        for id in conn.rows(&PRODUCTS_AFTER, &params, |row| row.get::<i64>(0))? {
            if !found.contains(&id) {
                found.push(id);
            }
        }
        if found.len() >= count {
            break;
        }
    }
    Ok(found)
}

/// How many published products that the catalogue shows bear each term, or a term below it. Terms
/// without any are left out.
pub fn counts_by_term(conn: &mut dyn Conn, taxonomy: &str) -> Result<BTreeMap<i64, i64>> {
    let read = |row: &dyn Row| Ok((row.get(0)?, row.get(1)?));
    let counts = conn.rows(&PRODUCT_COUNTS_BY_TERM, &[SITE.into(), taxonomy.into()], read)?;
    Ok(counts.into_iter().collect())
}

impl ProductTerm {
    fn read(row: &dyn Row) -> Result<Self> {
        Ok(Self {
            product_id: row.get(0)?,
            taxonomy: row.get(1)?,
            term_id: row.get(2)?,
            name: row.get(3)?,
            slug: row.get(4)?,
            menu_order: row.get(5)?,
        })
    }
}
