//! Coupons. They take their numbers from the counter of posts. Several may have the same code as
//! long as one of them at most is published, which whoever writes them sees to.

mod list;

use db::filter::fold;
use db::{Conn, Row, SITE, Sql, Val, statements};
use site_rows::post;
use types::{Amount, Result, Timestamp};

pub use list::{CouponFilter, CouponOrder, count_by_kind, list};

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CouponRow {
    pub coupon_id: i64,
    pub code: String,
    pub status: String,
    /// `percent`, `fixed_cart`, `fixed_product` and what else the shop has.
    pub discount_kind: String,
    pub amount: Amount,
    pub description: String,
    pub usage_count: i64,
    /// None for no limit.
    pub usage_limit: Option<i64>,
    pub usage_limit_per_user: Option<i64>,
    pub created: Timestamp,
    pub modified: Timestamp,
    pub expires: Option<Timestamp>,
    /// What the status was before the coupon went to the trash.
    pub trashed_status: Option<String>,
    /// A JSON object.
    pub details: String,
}

/// What [`CouponRow::read`] reads, in its order.
macro_rules! coupon_columns {
    () => {
        "coupon_id, code, status, discount_kind, amount, description, usage_count, usage_limit,
         usage_limit_per_user, created_us, modified_us, expires_us, trashed_status, details"
    };
}
use coupon_columns;

statements! {
    COUPON_INSERT =
        "INSERT INTO coupons
           (code, code_key, status, discount_kind, amount, description, usage_count, usage_limit,
            usage_limit_per_user, created_us, modified_us, expires_us, trashed_status, search,
            details, site_id, coupon_id)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17)";
    COUPON_UPDATE =
        "UPDATE coupons SET
           code = $1, code_key = $2, status = $3, discount_kind = $4, amount = $5, description = $6,
           usage_count = $7, usage_limit = $8, usage_limit_per_user = $9, created_us = $10,
           modified_us = $11, expires_us = $12, trashed_status = $13, search = $14, details = $15
         WHERE site_id = $16 AND coupon_id = $17";
    COUPON_DELETE = "DELETE FROM coupons WHERE site_id = $1 AND coupon_id = $2";
    COUPON_GET = concat!(
        "SELECT ",
        coupon_columns!(),
        " FROM coupons WHERE site_id = $1 AND coupon_id = $2"
    );
    COUPON_BY_CODE = concat!(
        "SELECT ",
        coupon_columns!(),
        " FROM coupons WHERE site_id = $1 AND code_key = $2 AND status <> 'trash'
          ORDER BY CASE WHEN status = 'publish' THEN 0 ELSE 1 END, coupon_id DESC LIMIT 1"
    );
    COUPON_PUBLISHED =
        "SELECT coupon_id FROM coupons
         WHERE site_id = $1 AND code_key = $2 AND coupon_id <> $3 AND status = 'publish'
         ORDER BY coupon_id DESC LIMIT 1";
}

/// Inserts the coupon with the next id, whatever `coupon_id` says, and returns that id.
pub fn insert(conn: &mut dyn Conn, coupon: &CouponRow) -> Result<i64> {
    let coupon_id = post::take_id(conn)?;
    write(conn, &COUPON_INSERT, coupon, coupon_id)?;
    Ok(coupon_id)
}

/// Inserts the coupon with the id that it comes with, and sees to it that the id is not given
/// again.
pub fn insert_with_id(conn: &mut dyn Conn, coupon: &CouponRow) -> Result<()> {
    post::reserve_id(conn, coupon.coupon_id)?;
    write(conn, &COUPON_INSERT, coupon, coupon.coupon_id).map(drop)
}

/// Returns whether there is such a coupon.
pub fn update(conn: &mut dyn Conn, coupon: &CouponRow) -> Result<bool> {
    write(conn, &COUPON_UPDATE, coupon, coupon.coupon_id)
}

/// Deletes the coupon for good. Returns whether there was one.
pub fn delete(conn: &mut dyn Conn, coupon_id: i64) -> Result<bool> {
    Ok(conn.execute(&COUPON_DELETE, &[SITE.into(), coupon_id.into()])? == 1)
}

pub fn get(conn: &mut dyn Conn, coupon_id: i64) -> Result<Option<CouponRow>> {
    conn.row(&COUPON_GET, &[SITE.into(), coupon_id.into()], CouponRow::read)
}

/// The coupon with this code, in whatever case: the published one, else the newest that is not in
/// the trash.
pub fn find_by_code(conn: &mut dyn Conn, code: &str) -> Result<Option<CouponRow>> {
    conn.row(&COUPON_BY_CODE, &[SITE.into(), (&fold(code)).into()], CouponRow::read)
}

/// The published coupon other than `except_id` that has this code, in whatever case. A new coupon
/// has the id 0.
pub fn published_id(conn: &mut dyn Conn, code: &str, except_id: i64) -> Result<Option<i64>> {
    let key = fold(code);
    conn.row(&COUPON_PUBLISHED, &[SITE.into(), (&key).into(), except_id.into()], |row| row.get(0))
}

fn write(conn: &mut dyn Conn, sql: &Sql, coupon: &CouponRow, coupon_id: i64) -> Result<bool> {
    let code_key = fold(&coupon.code);
    let search = fold(&[&*coupon.code, &coupon.description].join("\n"));
    let params: [Val<'_>; 17] = [
        (&coupon.code).into(),
        (&code_key).into(),
        (&coupon.status).into(),
        (&coupon.discount_kind).into(),
        coupon.amount.into(),
        (&coupon.description).into(),
        coupon.usage_count.into(),
        coupon.usage_limit.into(),
        coupon.usage_limit_per_user.into(),
        coupon.created.into(),
        coupon.modified.into(),
        coupon.expires.into(),
        coupon.trashed_status.as_deref().into(),
        (&search).into(),
        (&coupon.details).into(),
        SITE.into(),
        coupon_id.into(),
    ];
    Ok(conn.execute(sql, &params)? == 1)
}

impl CouponRow {
    fn read(row: &dyn Row) -> Result<Self> {
        Ok(Self {
            coupon_id: row.get(0)?,
            code: row.get(1)?,
            status: row.get(2)?,
            discount_kind: row.get(3)?,
            amount: row.get(4)?,
            description: row.get(5)?,
            usage_count: row.get(6)?,
            usage_limit: row.get(7)?,
            usage_limit_per_user: row.get(8)?,
            created: row.get(9)?,
            modified: row.get(10)?,
            expires: row.get(11)?,
            trashed_status: row.get(12)?,
            details: row.get(13)?,
        })
    }
}
