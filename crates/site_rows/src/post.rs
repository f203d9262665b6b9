//! Posts and pages. Objects of other tables take their numbers from the same counter, so that a
//! number means one thing on the whole site.

mod list;

use std::collections::HashSet;

use db::filter::{Clause, Direction, Filter, LIST_MAX, Page, fold};
use db::{Conn, Row, SITE, Sql, Val, counter, statements};
use types::{Result, Timestamp};

pub use list::{
    PostColumn, PostFilter, PostOrder, Relation, SEARCH_WORDS_MAX, TERM_CONDITIONS_MAX,
    TermCondition, list,
};

const POST_ID: &str = "post.id";

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PostRow {
    pub post_id: i64,
    /// `post`, `page` and what else the site has.
    pub kind: String,
    pub status: String,
    pub slug: String,
    pub title: String,
    pub content: String,
    pub excerpt: String,
    pub author_id: i64,
    pub parent_id: i64,
    pub menu_order: i64,
    pub comment_status: String,
    pub ping_status: String,
    pub template: String,
    pub format: String,
    pub sticky: bool,
    pub password: String,
    pub featured_media: i64,
    /// The site's local time, written as if it were UTC.
    pub date: Timestamp,
    /// A draft that was given no date has none.
    pub date_gmt: Option<Timestamp>,
    /// The site's local time, written as if it were UTC.
    pub modified: Timestamp,
    pub modified_gmt: Timestamp,
    /// What the status was before the post went to the trash.
    pub trashed_status: Option<String>,
    pub trashed: Option<Timestamp>,
    /// A JSON object.
    pub meta: String,
}

/// What [`PostRow::read`] reads, in its order.
macro_rules! post_columns {
    () => {
        "post_id, kind, status, slug, title, content, excerpt, author_id, parent_id, menu_order,
         comment_status, ping_status, template, format, sticky, password, featured_media, date_us,
         date_gmt_us, modified_us, modified_gmt_us, trashed_status, trashed_us, meta"
    };
}
use post_columns;

statements! {
    POST_INSERT =
        "INSERT INTO posts
       (kind, status, slug, title, title_key, content, content_key, excerpt, excerpt_key,
        author_id, parent_id, menu_order, comment_status, ping_status, template, format, sticky,
        password, featured_media, date_us, date_gmt_us, modified_us, modified_gmt_us,
        trashed_status, trashed_us, meta, site_id, post_id)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19,
        $20, $21, $22, $23, $24, $25, $26, $27, $28)";
    POST_UPDATE =
        "UPDATE posts SET
           kind = $1, status = $2, slug = $3, title = $4, title_key = $5, content = $6,
           content_key = $7, excerpt = $8, excerpt_key = $9, author_id = $10, parent_id = $11,
           menu_order = $12, comment_status = $13, ping_status = $14, template = $15, format = $16,
           sticky = $17, password = $18, featured_media = $19, date_us = $20, date_gmt_us = $21,
           modified_us = $22, modified_gmt_us = $23, trashed_status = $24, trashed_us = $25,
           meta = $26
         WHERE site_id = $27 AND post_id = $28";
    POST_DELETE = "DELETE FROM posts WHERE site_id = $1 AND post_id = $2";
    POST_TERMS_DELETE = "DELETE FROM post_terms WHERE site_id = $1 AND post_id = $2";
    POST_CHILDREN_MOVE =
        "UPDATE posts SET parent_id =
           (SELECT gone.parent_id FROM posts AS gone WHERE gone.site_id = $1 AND gone.post_id = $2)
         WHERE site_id = $1 AND parent_id = $2
           AND EXISTS (SELECT 1 FROM posts AS gone WHERE gone.site_id = $1 AND gone.post_id = $2)";
    POST_GET =
        concat!("SELECT ", post_columns!(), " FROM posts WHERE site_id = $1 AND post_id = $2");
    POST_BY_SLUG = concat!(
        "SELECT ",
        post_columns!(),
        " FROM posts WHERE site_id = $1 AND kind = $2 AND slug = $3
          ORDER BY CASE WHEN status = 'publish' THEN 0 ELSE 1 END, post_id LIMIT 1"
    );
    POST_SLUG_TAKEN =
        "SELECT 1 FROM posts WHERE site_id = $1 AND kind = $2 AND slug = $3 AND post_id <> $4 LIMIT
         1";
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
    write(conn, &POST_INSERT, post, post_id)?;
    Ok(post_id)
}

/// Inserts the post with the id that it comes with, and sees to it that the id is not given again.
pub fn insert_with_id(conn: &mut dyn Conn, post: &PostRow) -> Result<()> {
    reserve_id(conn, post.post_id)?;
    write(conn, &POST_INSERT, post, post.post_id).map(drop)
}

/// Returns whether there is such a post.
pub fn update(conn: &mut dyn Conn, post: &PostRow) -> Result<bool> {
    write(conn, &POST_UPDATE, post, post.post_id)
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

fn write(conn: &mut dyn Conn, sql: &Sql, post: &PostRow, post_id: i64) -> Result<bool> {
    let (title_key, content_key) = (fold(&post.title), fold(&post.content));
    let excerpt_key = fold(&post.excerpt);
    let params: [Val<'_>; 28] = [
        (&post.kind).into(),
        (&post.status).into(),
        (&post.slug).into(),
        (&post.title).into(),
        (&title_key).into(),
        (&post.content).into(),
        (&content_key).into(),
        (&post.excerpt).into(),
        (&excerpt_key).into(),
        post.author_id.into(),
        post.parent_id.into(),
        post.menu_order.into(),
        (&post.comment_status).into(),
        (&post.ping_status).into(),
        (&post.template).into(),
        (&post.format).into(),
        post.sticky.into(),
        (&post.password).into(),
        post.featured_media.into(),
        post.date.into(),
        post.date_gmt.into(),
        post.modified.into(),
        post.modified_gmt.into(),
        post.trashed_status.as_deref().into(),
        post.trashed.into(),
        (&post.meta).into(),
        SITE.into(),
        post_id.into(),
    ];
    Ok(conn.execute(sql, &params)? == 1)
}

impl PostRow {
    fn read(row: &dyn Row) -> Result<Self> {
        Ok(Self {
            post_id: row.get(0)?,
            kind: row.get(1)?,
            status: row.get(2)?,
            slug: row.get(3)?,
            title: row.get(4)?,
            content: row.get(5)?,
            excerpt: row.get(6)?,
            author_id: row.get(7)?,
            parent_id: row.get(8)?,
            menu_order: row.get(9)?,
            comment_status: row.get(10)?,
            ping_status: row.get(11)?,
            template: row.get(12)?,
            format: row.get(13)?,
            sticky: row.get(14)?,
            password: row.get(15)?,
            featured_media: row.get(16)?,
            date: row.get(17)?,
            date_gmt: row.get(18)?,
            modified: row.get(19)?,
            modified_gmt: row.get(20)?,
            trashed_status: row.get(21)?,
            trashed: row.get(22)?,
            meta: row.get(23)?,
        })
    }
}
