//! What people wrote about products, with the stars that they gave. The rows are those of
//! [`site_rows::comment`]: a review is a kind of comment, and only this kind is listed here.

use std::collections::BTreeMap;

use db::filter::{Clause, Direction, Filter, Page, containing, fold};
use db::{Conn, Record, Row, SITE, counter, statements};
use site_rows::comment::COMMENT_ID as REVIEW_ID;
use site_rows::post::SEARCH_WORDS_MAX;
use types::{Error, Result, Timestamp};

db::record! {
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct ReviewRow in "reviews", fixed(site_id = SITE), key(review_id: i64) {
        product_id: i64,
        /// Who wrote it; 0 for somebody without an account.
        user_id: i64,
        reviewer: String,
        email: String,
        review: String,
        /// Stars from 1 to 5; 0 for none.
        rating: i64,
        status: String,
        /// What the status was before the review went to the trash.
        trashed_status: Option<String>,
        /// Whether the reviewer bought the product.
        verified: bool,
        created: Timestamp,
    }
    folded { email as "email_key", search_text() as "search" }
}

impl ReviewRow {
    fn search_text(&self) -> String {
        [&*self.review, &self.reviewer, &self.email].join("\n")
    }
}

statements! {
    REVIEW_INSERT = db::insert!(ReviewRow);
    REVIEW_UPDATE = db::update!(ReviewRow);
    REVIEW_DELETE =
        "DELETE FROM reviews WHERE site_id = $1 AND review_id = $2 AND kind = 'review'";
    REVIEW_GET = db::select!(
        ReviewRow,
        "WHERE site_id = $1 AND review_id = $2 AND kind = 'review'"
    );
    // UNION drops what is there already, so that terms which are each other's parents end it.
    REVIEW_COUNTS_BY_TERM =
        "WITH RECURSIVE under (top_id, term_id) AS (
           SELECT term_id, term_id FROM terms WHERE site_id = $1 AND taxonomy = $2
           UNION
           SELECT under.top_id, terms.term_id FROM under JOIN terms
             ON terms.parent_id = under.term_id AND terms.site_id = $1 AND terms.taxonomy = $2),
         borne (top_id, product_id) AS (
           SELECT DISTINCT under.top_id, product_terms.product_id FROM under JOIN product_terms
             ON product_terms.term_id = under.term_id AND +product_terms.site_id = $1),
         counted (top_id, review_count) AS (
           SELECT borne.top_id,
             (SELECT COUNT(*) FROM reviews
              WHERE reviews.product_id = borne.product_id AND reviews.status = 'approved'
                AND reviews.kind = 'review' AND +reviews.site_id = $1)
           FROM borne)
         SELECT top_id, CAST(SUM(review_count) AS BIGINT) FROM counted
         WHERE review_count > 0 GROUP BY top_id ORDER BY top_id";
}

/// Which reviews to list. An empty list asks for nothing.
#[derive(Clone, Debug, Default)]
pub struct ReviewFilter {
    pub products: Vec<i64>,
    /// Terms of which the product must bear one.
    pub terms: Vec<i64>,
    /// Only of products that everybody may see.
    pub of_published: bool,
    pub statuses: Vec<String>,
    pub statuses_exclude: Vec<String>,
    /// Users who wrote them.
    pub reviewers: Vec<i64>,
    pub reviewers_exclude: Vec<i64>,
    /// The whole address, in whatever case.
    pub email: Option<String>,
    /// Words, each of which must be in the text, the name or the address.
    pub search: Vec<String>,
    pub include: Vec<i64>,
    pub exclude: Vec<i64>,
    /// Reviews of exactly that moment are not listed.
    pub after: Option<Timestamp>,
    pub before: Option<Timestamp>,
    pub order: ReviewOrder,
    pub direction: Direction,
    pub page: Page,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ReviewOrder {
    #[default]
    Date,
    Id,
    /// As the ids are listed in `include`.
    Include,
    Product,
    Rating,
}

/// Inserts the review with the next id, whatever `review_id` says, and returns that id.
pub fn insert(conn: &mut dyn Conn, review: &ReviewRow) -> Result<i64> {
    conn.insert_next(&REVIEW_INSERT, review, REVIEW_ID)
}

/// Inserts the review with the id that it comes with, and sees to it that the id is not given
/// again.
pub fn insert_with_id(conn: &mut dyn Conn, review: &ReviewRow) -> Result<()> {
    counter::raise(conn, REVIEW_ID, review.review_id)?;
    conn.insert(&REVIEW_INSERT, review).map(drop)
}

/// Returns whether there is such a review.
pub fn update(conn: &mut dyn Conn, review: &ReviewRow) -> Result<bool> {
    conn.update_existing(&REVIEW_UPDATE, review)
}

/// Returns whether there was such a review.
pub fn delete(conn: &mut dyn Conn, review_id: i64) -> Result<bool> {
    Ok(conn.execute(&REVIEW_DELETE, &[SITE.into(), review_id.into()])? == 1)
}

/// Deletes all reviews of a product, and other comments on it, and returns how many there were.
pub fn delete_of(conn: &mut dyn Conn, product_id: i64) -> Result<u64> {
    site_rows::comment::delete_of(conn, product_id)
}

pub fn get(conn: &mut dyn Conn, review_id: i64) -> Result<Option<ReviewRow>> {
    conn.row(&REVIEW_GET, &[SITE.into(), review_id.into()], ReviewRow::read)
}

/// A page of the reviews that match, and how many match.
pub fn list(conn: &mut dyn Conn, wanted: &ReviewFilter) -> Result<(Vec<ReviewRow>, i64)> {
    let mut filter = conditions(wanted)?;
    let key = match wanted.order {
        ReviewOrder::Include if !wanted.include.is_empty() => {
            filter.place("review_id", &wanted.include)?
        }
        ReviewOrder::Date | ReviewOrder::Include => Clause::fixed("created_us"),
        ReviewOrder::Id => Clause::fixed("review_id"),
        ReviewOrder::Product => Clause::fixed("product_id"),
        ReviewOrder::Rating => Clause::fixed("rating"),
    };
    // Of one product, the latest come first in either direction.
    let tie = match wanted.order {
        ReviewOrder::Product => Direction::Descending,
        _ => wanted.direction,
    };
    let order = vec![(key, wanted.direction), (Clause::fixed("review_id"), tie)];
    filter.records(conn, order, wanted.page)
}

/// How many of the reviews that match gave how many stars, the fewest stars first.
pub fn count_by_rating(conn: &mut dyn Conn, wanted: &ReviewFilter) -> Result<Vec<(i64, i64)>> {
    conditions(wanted)?.counts(conn, "rating", "reviews")
}

/// How many approved reviews the products of each term of the taxonomy have, those of the terms
/// below it among them. Terms without any are left out.
pub fn counts_by_term(conn: &mut dyn Conn, taxonomy: &str) -> Result<BTreeMap<i64, i64>> {
    let read = |row: &dyn Row| Ok((row.get(0)?, row.get(1)?));
    let counts = conn.rows(&REVIEW_COUNTS_BY_TERM, &[SITE.into(), taxonomy.into()], read)?;
    Ok(counts.into_iter().collect())
}

fn conditions(wanted: &ReviewFilter) -> Result<Filter> {
    let mut filter = Filter::tallied("site_id = ?", SITE);
    filter.and_tallied(Clause::fixed("kind = 'review'"));
    filter.and_list("product_id IN (?)", &wanted.products)?;
    filter.and_list(
        "EXISTS (SELECT 1 FROM product_terms AS borne WHERE borne.site_id = reviews.site_id
           AND borne.product_id = reviews.product_id AND borne.term_id IN (?))",
        &wanted.terms,
    )?;
    if wanted.of_published {
        filter.and(Clause::fixed(
            "EXISTS (SELECT 1 FROM products WHERE products.site_id = reviews.site_id
               AND products.product_id = reviews.product_id AND products.status = 'publish')",
        ));
    }
    filter.and_tallied_list("status IN (?)", &wanted.statuses)?;
    filter.and_tallied_list("status NOT IN (?)", &wanted.statuses_exclude)?;
    filter.and_list("user_id IN (?)", &wanted.reviewers)?;
    filter.and_list("user_id NOT IN (?)", &wanted.reviewers_exclude)?;
    filter.and_value("email_key = ?", wanted.email.as_deref().map(fold));
    if wanted.search.len() > SEARCH_WORDS_MAX {
        return Err(Error::invalid(format!("search for at most {SEARCH_WORDS_MAX} words")));
    }
    for word in &wanted.search {
        filter.and_value("search LIKE ? ESCAPE '!'", Some(containing(word)?));
    }
    filter.and_list("review_id IN (?)", &wanted.include)?;
    filter.and_list("review_id NOT IN (?)", &wanted.exclude)?;
    filter.and_value("created_us > ?", wanted.after);
    filter.and_value("created_us < ?", wanted.before);
    Ok(filter)
}
