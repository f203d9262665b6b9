//! Posts and pages. Objects of other tables take their numbers from the same counter, so that a
//! number means one thing on the whole site.

mod list;

use std::collections::HashSet;

use db::filter::{Clause, Direction, Filter, LIST_MAX, Page};
use db::{Conn, Record, Row, SITE, counter, statements};
use types::{Result, Timestamp};

pub use list::{
    PostColumn, PostFilter, PostOrder, Relation, SEARCH_WORDS_MAX, TERM_CONDITIONS_MAX,
    TermCondition, list,
};

const POST_ID: &str = "post.id";

db::record! {
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct PostRow in "posts", fixed(site_id = SITE), key(post_id: i64) {
        /// `post`, `page` and what else the site has.
        kind: String,
        status: String,
        slug: String,
        title: String,
        content: String,
        excerpt: String,
        author_id: i64,
        parent_id: i64,
        menu_order: i64,
        comment_status: String,
        ping_status: String,
        template: String,
        format: String,
        sticky: bool,
        password: String,
        featured_media: i64,
        /// The site's local time, written as if it were UTC.
        date: Timestamp,
        /// A draft that was given no date has none.
        date_gmt: Option<Timestamp>,
        /// The site's local time, written as if it were UTC.
        modified: Timestamp,
        modified_gmt: Timestamp,
        /// What the status was before the post went to the trash.
        trashed_status: Option<String>,
        trashed: Option<Timestamp>,
        /// A JSON object.
        meta: String,
    }
    folded { title as "title_key", content as "content_key", excerpt as "excerpt_key" }
}

statements! {
    POST_INSERT = db::insert!(PostRow);
    POST_UPDATE = db::update!(PostRow);
    POST_DELETE = "DELETE FROM posts WHERE site_id = $1 AND post_id = $2";
    POST_TERMS_DELETE = "DELETE FROM post_terms WHERE site_id = $1 AND post_id = $2";
    POST_CHILDREN_MOVE =
        "UPDATE posts SET parent_id =
           (SELECT deleted.parent_id FROM posts AS deleted
            WHERE deleted.site_id = $1 AND deleted.post_id = $2)
         WHERE site_id = $1 AND parent_id = $2
           AND EXISTS (SELECT 1 FROM posts AS deleted
             WHERE deleted.site_id = $1 AND deleted.post_id = $2)";
    POST_GET = db::select!(PostRow, "WHERE site_id = $1 AND post_id = $2");
    POST_BY_SLUG = db::select!(
        PostRow,
        "WHERE site_id = $1 AND kind = $2 AND slug = $3
         ORDER BY CASE WHEN status = 'publish' THEN 0 ELSE 1 END, post_id LIMIT 1"
    );
    POST_SLUG_TAKEN =
        "SELECT 1 FROM posts WHERE site_id = $1 AND kind = $2 AND slug = $3 AND post_id <> $4 LIMIT
         1";
    POST_SLUG_TAKEN_ANYWHERE =
        "SELECT 1 FROM posts WHERE site_id = $1 AND slug = $2 AND post_id <> $3 LIMIT 1";
}

/// The next number, for whatever shares the numbers of posts.
pub fn take_id(conn: &mut dyn Conn) -> Result<i64> {
    Ok(counter::take(conn, POST_ID, 1)? + 1)
}

/// The number that is given next if nobody takes it meanwhile.
pub fn next_id(conn: &mut dyn Conn) -> Result<i64> {
    Ok(counter::read(conn, POST_ID)? + 1)
}

/// The first of so many numbers in a row.
pub fn take_ids(conn: &mut dyn Conn, count: i64) -> Result<i64> {
    Ok(counter::take(conn, POST_ID, count)? + 1)
}

/// Those of the numbers that something has: a post, a product, an order or a coupon.
pub fn taken_ids(conn: &mut dyn Conn, ids: &[i64]) -> Result<HashSet<i64>> {
    let mut taken = HashSet::new();
    for ids in ids.chunks(LIST_MAX) {
        let mut filter = Filter::new("site_id = ?", SITE);
        filter.and_list("post_id IN (?)", ids)?;
        let order = vec![(Clause::fixed("post_id"), Direction::Ascending)];
        // Both engines apply the conditions inside.
        let numbered = "(SELECT site_id, post_id FROM posts
             UNION ALL SELECT site_id, product_id FROM products
             UNION ALL SELECT site_id, order_id FROM orders
             UNION ALL SELECT site_id, coupon_id FROM coupons) AS numbered";
        let read = |row: &dyn Row| row.get(0);
        let selection = ("post_id", numbered);
        let (found, _) = filter.page(conn, selection, order, Page::default(), read)?;
        taken.extend::<Vec<i64>>(found);
    }
    Ok(taken)
}

/// Sees to it that an imported number is not given again.
pub fn reserve_id(conn: &mut dyn Conn, post_id: i64) -> Result<()> {
    counter::raise(conn, POST_ID, post_id)
}

/// Inserts the post with the next id, whatever `post_id` says, and returns that id.
pub fn insert(conn: &mut dyn Conn, post: &PostRow) -> Result<i64> {
    let post_id = take_id(conn)?;
    conn.insert_as(&POST_INSERT, post, post_id)?;
    Ok(post_id)
}

/// Inserts the post with the id that it comes with, and sees to it that the id is not given again.
pub fn insert_with_id(conn: &mut dyn Conn, post: &PostRow) -> Result<()> {
    reserve_id(conn, post.post_id)?;
    conn.insert(&POST_INSERT, post).map(drop)
}

/// Returns whether there is such a post.
pub fn update(conn: &mut dyn Conn, post: &PostRow) -> Result<bool> {
    conn.update_existing(&POST_UPDATE, post)
}

/// Deletes the post for good; its children become those of its parent. Returns whether there was
/// one.
pub fn delete(conn: &mut dyn Conn, post_id: i64) -> Result<bool> {
    let params = [SITE.into(), post_id.into()];
    conn.execute(&POST_CHILDREN_MOVE, &params)?;
    let deleted = conn.execute(&POST_DELETE, &params)? == 1;
    if deleted {
        conn.execute(&POST_TERMS_DELETE, &params)?;
    }
    Ok(deleted)
}

pub fn get(conn: &mut dyn Conn, post_id: i64) -> Result<Option<PostRow>> {
    conn.row(&POST_GET, &[SITE.into(), post_id.into()], PostRow::read)
}

/// The post of this kind with this slug, a published one if there are several.
pub fn find_by_slug(conn: &mut dyn Conn, kind: &str, slug: &str) -> Result<Option<PostRow>> {
    conn.row(&POST_BY_SLUG, &[SITE.into(), kind.into(), slug.into()], PostRow::read)
}

/// Whether a post of this kind other than `except_id` has the slug. A new post has the id 0.
pub fn slug_is_taken(conn: &mut dyn Conn, kind: &str, slug: &str, except_id: i64) -> Result<bool> {
    let params = [SITE.into(), kind.into(), slug.into(), except_id.into()];
    Ok(conn.row(&POST_SLUG_TAKEN, &params, |row| row.get::<i64>(0))?.is_some())
}

/// Whether anything of whatever kind other than `except_id` has the slug.
pub fn slug_is_taken_anywhere(conn: &mut dyn Conn, slug: &str, except_id: i64) -> Result<bool> {
    let params = [SITE.into(), slug.into(), except_id.into()];
    Ok(conn.row(&POST_SLUG_TAKEN_ANYWHERE, &params, |row| row.get::<i64>(0))?.is_some())
}
