//! Terms of taxonomies, such as categories and tags, and which posts bear them. Which products do
//! is in `shop_rows::product`.

mod list;

use db::filter::fold;
use db::{Conn, Row, SITE, Sql, Val, counter, statements};
use types::{Error, Kind, Result};

pub use list::{
    BEARERS_AT_ONCE, TermFilter, TermOrder, counts, ids_of_posts, list, with_descendants,
};

const TERM_ID: &str = "term.id";

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TermRow {
    pub term_id: i64,
    pub taxonomy: String,
    pub name: String,
    pub slug: String,
    pub description: String,
    pub parent_id: i64,
    pub menu_order: i64,
    /// A JSON object.
    pub details: String,
}

/// What [`TermRow::read`] reads, in its order.
macro_rules! term_columns {
    () => {
        "terms.term_id, terms.taxonomy, terms.name, terms.slug, terms.description,
         terms.parent_id, terms.menu_order, terms.details"
    };
}
use term_columns;

/// How many published posts and products bear a term. **This reads all of them**, so it is asked
/// for by who shows it alone.
macro_rules! term_count {
    () => {
        "(SELECT COUNT(*) FROM post_terms JOIN posts
            ON posts.site_id = post_terms.site_id AND posts.post_id = post_terms.post_id
          WHERE post_terms.site_id = terms.site_id AND post_terms.term_id = terms.term_id
            AND posts.status = 'publish')
         + (SELECT COUNT(*) FROM product_terms JOIN products
            ON products.site_id = product_terms.site_id
              AND products.product_id = product_terms.product_id
          WHERE product_terms.site_id = terms.site_id AND product_terms.term_id = terms.term_id
            AND products.status = 'publish')"
    };
}
use term_count;

statements! {
    TERM_INSERT =
        "INSERT INTO terms
           (taxonomy, name, name_key, slug, description, parent_id, menu_order, details, site_id,
            term_id)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)";
    TERM_UPDATE =
        "UPDATE terms SET taxonomy = $1, name = $2, name_key = $3, slug = $4, description = $5,
           parent_id = $6, menu_order = $7, details = $8
         WHERE site_id = $9 AND term_id = $10";
    TERM_DELETE = "DELETE FROM terms WHERE site_id = $1 AND term_id = $2";
    TERMS_RENAME = "UPDATE terms SET taxonomy = $1 WHERE site_id = $2 AND taxonomy = $3";
    TERMS_DELETE = "DELETE FROM terms WHERE site_id = $1 AND taxonomy = $2";
    TERM_CHILDREN_MOVE =
        "UPDATE terms SET parent_id =
           (SELECT deleted.parent_id FROM terms AS deleted
            WHERE deleted.site_id = $1 AND deleted.term_id = $2)
         WHERE site_id = $1 AND parent_id = $2
           AND EXISTS (SELECT 1 FROM terms AS deleted
             WHERE deleted.site_id = $1 AND deleted.term_id = $2)";
    TERM_GET = concat!(
        "SELECT ",
        term_columns!(),
        " FROM terms WHERE terms.site_id = $1 AND term_id = $2"
    );
    TERM_COUNT = concat!(
        "SELECT ",
        term_count!(),
        " FROM terms WHERE terms.site_id = $1 AND terms.term_id = $2"
    );
    TERM_BY_SLUG = concat!(
        "SELECT ",
        term_columns!(),
        " FROM terms WHERE terms.site_id = $1 AND terms.taxonomy = $2 AND terms.slug = $3"
    );
    TERMS_OF_POST = concat!(
        "SELECT ",
        term_columns!(),
        " FROM terms JOIN post_terms AS borne
            ON borne.site_id = terms.site_id AND borne.term_id = terms.term_id
          WHERE terms.site_id = $1 AND borne.post_id = $2 AND terms.taxonomy = $3
          ORDER BY terms.name_key, terms.term_id"
    );
    POST_TERMS_CLEAR =
        "DELETE FROM post_terms WHERE site_id = $1 AND post_id = $2
           AND term_id IN (SELECT term_id FROM terms WHERE site_id = $1 AND taxonomy = $3)";
    POST_TERM_INSERT =
        "INSERT INTO post_terms (site_id, post_id, term_id)
     SELECT site_id, $1, term_id FROM terms WHERE site_id = $2 AND term_id = $3 AND taxonomy = $4
     ON CONFLICT (site_id, post_id, term_id) DO UPDATE SET term_id = excluded.term_id";
}

/// Inserts the term with the next id, whatever `term_id` says, and returns that id.
pub fn insert(conn: &mut dyn Conn, term: &TermRow) -> Result<i64> {
    let term_id = counter::take(conn, TERM_ID, 1)? + 1;
    write(conn, &TERM_INSERT, term, term_id)?;
    Ok(term_id)
}

/// Inserts the term with the id that it comes with, and sees to it that the id is not given again.
pub fn insert_with_id(conn: &mut dyn Conn, term: &TermRow) -> Result<()> {
    counter::raise(conn, TERM_ID, term.term_id)?;
    write(conn, &TERM_INSERT, term, term.term_id).map(drop)
}

/// Leaves the numbers up to this one to whoever brings numbers along.
pub fn reserve_id(conn: &mut dyn Conn, term_id: i64) -> Result<()> {
    counter::raise(conn, TERM_ID, term_id)
}

/// Returns whether there is such a term.
pub fn update(conn: &mut dyn Conn, term: &TermRow) -> Result<bool> {
    write(conn, &TERM_UPDATE, term, term.term_id)
}

/// Deletes the term and takes it from its posts; its children become those of its parent. Returns
/// whether there was one.
pub fn delete(conn: &mut dyn Conn, term_id: i64) -> Result<bool> {
    let params = [SITE.into(), term_id.into()];
    conn.execute(&TERM_CHILDREN_MOVE, &params)?;
    Ok(conn.execute(&TERM_DELETE, &params)? == 1)
}

/// Gives all terms of a taxonomy to another one, and returns how many there were.
pub fn rename_taxonomy(conn: &mut dyn Conn, from: &str, to: &str) -> Result<u64> {
    conn.execute(&TERMS_RENAME, &[to.into(), SITE.into(), from.into()])
}

/// Deletes all terms of a taxonomy, and returns how many there were.
pub fn delete_taxonomy(conn: &mut dyn Conn, taxonomy: &str) -> Result<u64> {
    conn.execute(&TERMS_DELETE, &[SITE.into(), taxonomy.into()])
}

pub fn get(conn: &mut dyn Conn, term_id: i64) -> Result<Option<TermRow>> {
    conn.row(&TERM_GET, &[SITE.into(), term_id.into()], TermRow::read)
}

/// How many published posts and products bear the term; none if there is no such term.
pub fn count(conn: &mut dyn Conn, term_id: i64) -> Result<i64> {
    let count = conn.row(&TERM_COUNT, &[SITE.into(), term_id.into()], |row| row.get(0))?;
    Ok(count.unwrap_or(0))
}

pub fn find_by_slug(conn: &mut dyn Conn, taxonomy: &str, slug: &str) -> Result<Option<TermRow>> {
    conn.row(&TERM_BY_SLUG, &[SITE.into(), taxonomy.into(), slug.into()], TermRow::read)
}

/// The terms of one taxonomy that a post bears, by name.
pub fn terms_of(conn: &mut dyn Conn, post_id: i64, taxonomy: &str) -> Result<Vec<TermRow>> {
    conn.rows(&TERMS_OF_POST, &[SITE.into(), post_id.into(), taxonomy.into()], TermRow::read)
}

/// Lets the post bear these terms of the taxonomy and no others. A conflict when one of them is
/// not of that taxonomy.
pub fn set_terms(
    conn: &mut dyn Conn,
    post_id: i64,
    taxonomy: &str,
    term_ids: &[i64],
) -> Result<()> {
    conn.execute(&POST_TERMS_CLEAR, &[SITE.into(), post_id.into(), taxonomy.into()])?;
    for term_id in term_ids {
        let params = [post_id.into(), SITE.into(), (*term_id).into(), taxonomy.into()];
        if conn.execute(&POST_TERM_INSERT, &params)? != 1 {
            return Err(Error::conflict("the taxonomy has no such term"));
        }
    }
    Ok(())
}

fn write(conn: &mut dyn Conn, sql: &Sql, term: &TermRow, term_id: i64) -> Result<bool> {
    let name_key = fold(&term.name);
    let params: [Val<'_>; 10] = [
        (&term.taxonomy).into(),
        (&term.name).into(),
        (&name_key).into(),
        (&term.slug).into(),
        (&term.description).into(),
        term.parent_id.into(),
        term.menu_order.into(),
        (&term.details).into(),
        SITE.into(),
        term_id.into(),
    ];
    match conn.execute(sql, &params) {
        Err(error) if error.kind() == Kind::Conflict => {
            Err(Error::conflict("a term with this slug exists already").because(error))
        }
        written => Ok(written? == 1),
    }
}

impl TermRow {
    fn read(row: &dyn Row) -> Result<Self> {
        Ok(Self {
            term_id: row.get(0)?,
            taxonomy: row.get(1)?,
            name: row.get(2)?,
            slug: row.get(3)?,
            description: row.get(4)?,
            parent_id: row.get(5)?,
            menu_order: row.get(6)?,
            details: row.get(7)?,
        })
    }
}
