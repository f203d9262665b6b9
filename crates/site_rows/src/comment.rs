//! What people wrote about posts, products and whatever else has a number of the site: comments,
//! and the reviews of products, which `shop_rows::review` reads with their stars.

use db::filter::{Clause, Direction, Filter, Page, containing, fold};
use db::{Conn, Record, SITE, statements};
use types::{Error, Result, Timestamp};

use crate::post::SEARCH_WORDS_MAX;

/// The counter of the numbers of comments.
pub const COMMENT_ID: &str = "review.id";

db::record! {
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct CommentRow in "reviews", fixed(site_id = SITE), key(comment_id: i64 as "review_id") {
        /// What it is about.
        post_id: i64 as "product_id",
        /// `comment`, `review` and what else clients have.
        kind: String,
        /// The comment that it answers; 0 for none.
        parent_id: i64,
        /// Who wrote it; 0 for somebody without an account.
        user_id: i64,
        author: String as "reviewer",
        email: String,
        author_url: String,
        author_ip: String,
        author_agent: String,
        content: String as "review",
        /// Stars of a review, from 1 to 5; 0 for none.
        rating: i64,
        status: String,
        /// What the status was before the comment went to the trash or became spam.
        former_status: Option<String> as "trashed_status",
        /// Whether the reviewer bought the product.
        verified: bool,
        created: Timestamp,
        /// A JSON object.
        meta: String,
    }
    folded { email as "email_key", search_text() as "search" }
}

impl CommentRow {
    fn search_text(&self) -> String {
        [&*self.content, &self.author, &self.email].join("\n")
    }
}

statements! {
    COMMENT_INSERT = db::insert!(CommentRow);
    COMMENT_UPDATE = db::update!(CommentRow);
    COMMENT_DELETE = "DELETE FROM reviews WHERE site_id = $1 AND review_id = $2";
    COMMENTS_DELETE = "DELETE FROM reviews WHERE site_id = $1 AND product_id = $2";
    COMMENT_CHILDREN_MOVE =
        "UPDATE reviews SET parent_id =
           (SELECT deleted.parent_id FROM reviews AS deleted
            WHERE deleted.site_id = $1 AND deleted.review_id = $2)
         WHERE site_id = $1 AND parent_id = $2
           AND EXISTS (SELECT 1 FROM reviews AS deleted
             WHERE deleted.site_id = $1 AND deleted.review_id = $2)";
    COMMENT_GET = db::select!(CommentRow, "WHERE site_id = $1 AND review_id = $2");
    COMMENT_HAS_CHILDREN =
        "SELECT 1 FROM reviews WHERE site_id = $1 AND parent_id = $2
           AND status IN ('approved', 'hold') LIMIT 1";
    COMMENT_LATEST =
        "SELECT MAX(created_us) FROM reviews
         WHERE site_id = $1 AND created_us > $2
           AND (author_ip = $3 OR email_key = $4 OR (user_id <> 0 AND user_id = $5))";
    COMMENT_KNOWN_AUTHOR =
        "SELECT 1 FROM reviews WHERE site_id = $1 AND reviewer = $2 AND email_key = $3
           AND status = 'approved' LIMIT 1";
    COMMENT_SAME =
        "SELECT 1 FROM reviews WHERE site_id = $1 AND product_id = $2 AND parent_id = $3
           AND status <> 'trash' AND (reviewer = $4 OR email_key = $5) AND review = $6 LIMIT 1";
}

/// Which comments to list. An empty list asks for nothing.
#[derive(Clone, Debug, Default)]
pub struct CommentFilter {
    pub posts: Vec<i64>,
    pub kinds: Vec<String>,
    pub kinds_exclude: Vec<String>,
    pub statuses: Vec<String>,
    pub users: Vec<i64>,
    pub users_exclude: Vec<i64>,
    /// The whole address, in whatever case.
    pub email: Option<String>,
    /// Words, each of which must be in the text, the name or the address.
    pub search: Vec<String>,
    pub include: Vec<i64>,
    pub exclude: Vec<i64>,
    pub parents: Vec<i64>,
    pub parents_exclude: Vec<i64>,
    /// Comments of exactly that moment are not listed.
    pub after: Option<Timestamp>,
    pub before: Option<Timestamp>,
    pub order: CommentOrder,
    pub direction: Direction,
    pub page: Page,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CommentOrder {
    #[default]
    Date,
    Id,
    /// As the ids are listed in `include`.
    Include,
    Post,
    Parent,
    Kind,
}

/// Inserts the comment with the next id, whatever `comment_id` says, and returns that id.
pub fn insert(conn: &mut dyn Conn, comment: &CommentRow) -> Result<i64> {
    conn.insert_next(&COMMENT_INSERT, comment, COMMENT_ID)
}

/// Returns whether there is such a comment.
pub fn update(conn: &mut dyn Conn, comment: &CommentRow) -> Result<bool> {
    conn.update_existing(&COMMENT_UPDATE, comment)
}

/// Deletes the comment for good; answers to it become those to what it answered. Returns whether
/// there was one.
pub fn delete(conn: &mut dyn Conn, comment_id: i64) -> Result<bool> {
    let params = [SITE.into(), comment_id.into()];
    conn.execute(&COMMENT_CHILDREN_MOVE, &params)?;
    Ok(conn.execute(&COMMENT_DELETE, &params)? == 1)
}

/// Deletes all comments on a post and returns how many there were.
pub fn delete_of(conn: &mut dyn Conn, post_id: i64) -> Result<u64> {
    conn.execute(&COMMENTS_DELETE, &[SITE.into(), post_id.into()])
}

pub fn get(conn: &mut dyn Conn, comment_id: i64) -> Result<Option<CommentRow>> {
    conn.row(&COMMENT_GET, &[SITE.into(), comment_id.into()], CommentRow::read)
}

/// Whether somebody answered the comment, and the answer is neither spam nor thrown away.
pub fn has_children(conn: &mut dyn Conn, comment_id: i64) -> Result<bool> {
    let params = [SITE.into(), comment_id.into()];
    Ok(conn.row(&COMMENT_HAS_CHILDREN, &params, |row| row.get::<i64>(0))?.is_some())
}

/// When the author of this comment last wrote one, if that is after a moment: whoever has the
/// account, the e-mail address or the network address.
pub fn last_of_author(
    conn: &mut dyn Conn,
    comment: &CommentRow,
    after: Timestamp,
) -> Result<Option<Timestamp>> {
    let email = fold(&comment.email);
    let params = [
        SITE.into(),
        after.into(),
        (&comment.author_ip).into(),
        (&email).into(),
        comment.user_id.into(),
    ];
    Ok(conn.row(&COMMENT_LATEST, &params, |row| row.get(0))?.flatten())
}

/// Whether a comment of this name and address was approved before.
pub fn is_known_author(conn: &mut dyn Conn, comment: &CommentRow) -> Result<bool> {
    let email = fold(&comment.email);
    let params = [SITE.into(), (&comment.author).into(), (&email).into()];
    Ok(conn.row(&COMMENT_KNOWN_AUTHOR, &params, |row| row.get::<i64>(0))?.is_some())
}

/// Whether the same was said before, by the same name or address in the same place.
pub fn is_repeated(conn: &mut dyn Conn, comment: &CommentRow) -> Result<bool> {
    let email = fold(&comment.email);
    let params = [
        SITE.into(),
        comment.post_id.into(),
        comment.parent_id.into(),
        (&comment.author).into(),
        (&email).into(),
        (&comment.content).into(),
    ];
    Ok(conn.row(&COMMENT_SAME, &params, |row| row.get::<i64>(0))?.is_some())
}

/// A page of the comments that match, and how many match.
pub fn list(conn: &mut dyn Conn, wanted: &CommentFilter) -> Result<(Vec<CommentRow>, i64)> {
    let mut filter = conditions(wanted)?;
    let key = match wanted.order {
        CommentOrder::Include if !wanted.include.is_empty() => {
            filter.place("review_id", &wanted.include)?
        }
        CommentOrder::Date | CommentOrder::Include => Clause::fixed("created_us"),
        CommentOrder::Id => Clause::fixed("review_id"),
        CommentOrder::Post => Clause::fixed("product_id"),
        CommentOrder::Parent => Clause::fixed("parent_id"),
        CommentOrder::Kind => Clause::fixed("kind"),
    };
    // Among those that are alike the latest come first, unless they are sorted by time.
    let tie = match wanted.order {
        CommentOrder::Post | CommentOrder::Parent | CommentOrder::Kind => Direction::Descending,
        CommentOrder::Date | CommentOrder::Id | CommentOrder::Include => wanted.direction,
    };
    let order = vec![(key, wanted.direction), (Clause::fixed("review_id"), tie)];
    filter.records(conn, order, wanted.page)
}

/// How many of the comments that match each post has.
pub fn count_by_post(conn: &mut dyn Conn, wanted: &CommentFilter) -> Result<Vec<(i64, i64)>> {
    conditions(wanted)?.counts(conn, "product_id", "reviews")
}

fn conditions(wanted: &CommentFilter) -> Result<Filter> {
    let mut filter = Filter::new("site_id = ?", SITE);
    filter.and_list("product_id IN (?)", &wanted.posts)?;
    filter.and_list("kind IN (?)", &wanted.kinds)?;
    filter.and_list("kind NOT IN (?)", &wanted.kinds_exclude)?;
    filter.and_list("status IN (?)", &wanted.statuses)?;
    filter.and_list("user_id IN (?)", &wanted.users)?;
    filter.and_list("user_id NOT IN (?)", &wanted.users_exclude)?;
    filter.and_list("parent_id IN (?)", &wanted.parents)?;
    filter.and_list("parent_id NOT IN (?)", &wanted.parents_exclude)?;
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
