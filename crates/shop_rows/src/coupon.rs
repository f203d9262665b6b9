//! Coupons. They take their numbers from the counter of posts. Several may have the same code as
//! long as one of them at most is published, which whoever writes them sees to.

mod list;
pub(crate) mod uses;

use db::filter::fold;
use db::{Conn, Record, SITE, statements};
use site_rows::post;
use types::{Amount, Result, Timestamp};

pub use list::{CouponFilter, CouponOrder, count_by_kind, list};
pub use uses::{add_uses, clear_uses, count_uses, remove_use, rename_uses, uses_by, uses_of};

db::record! {
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct CouponRow in "coupons", fixed(site_id = SITE), key(coupon_id: i64) {
        code: String,
        status: String,
        /// `percent`, `fixed_cart`, `fixed_product` and what else the shop has.
        discount_kind: String,
        amount: Amount,
        description: String,
        usage_count: i64,
        /// None for no limit.
        usage_limit: Option<i64>,
        usage_limit_per_user: Option<i64>,
        created: Timestamp,
        modified: Timestamp,
        expires: Option<Timestamp>,
        /// What the status was before the coupon went to the trash.
        trashed_status: Option<String>,
        /// A JSON object.
        details: String,
    }
    folded { code as "code_key", search_text() as "search" }
}

impl CouponRow {
    fn search_text(&self) -> String {
        [&*self.code, &self.description].join("\n")
    }
}

statements! {
    COUPON_INSERT = db::insert!(CouponRow);
    COUPON_UPDATE = db::update!(CouponRow);
    COUPON_DELETE = "DELETE FROM coupons WHERE site_id = $1 AND coupon_id = $2";
    COUPON_GET = db::select!(CouponRow, "WHERE site_id = $1 AND coupon_id = $2");
    COUPON_BY_CODE = db::select!(
        CouponRow,
        "WHERE site_id = $1 AND code_key = $2 AND status <> 'trash'
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
    conn.insert_as(&COUPON_INSERT, coupon, coupon_id)?;
    Ok(coupon_id)
}

/// Inserts the coupon with the id that it comes with, and sees to it that the id is not given
/// again.
pub fn insert_with_id(conn: &mut dyn Conn, coupon: &CouponRow) -> Result<()> {
    post::reserve_id(conn, coupon.coupon_id)?;
    conn.insert(&COUPON_INSERT, coupon).map(drop)
}

/// Returns whether there is such a coupon.
pub fn update(conn: &mut dyn Conn, coupon: &CouponRow) -> Result<bool> {
    conn.update_existing(&COUPON_UPDATE, coupon)
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
