//! A coupon as it is stored: the columns that lists search and sort, and the details beside them.

use db::Conn;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use shop_rows::coupon::{self, CouponRow};
use types::{Amount, Error, Result, Timestamp};

#[derive(Clone, Debug, PartialEq)]
pub struct Coupon {
    pub row: CouponRow,
    pub details: Details,
    /// Who used it, once for each use, as far as somebody wanted to know.
    pub uses: Vec<String>,
}

/// What nobody searches for.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Details {
    /// The name in addresses, which the first code gave and no later one changes.
    pub slug: String,
    /// Not together with other coupons.
    pub individual_use: bool,
    pub product_ids: Vec<i64>,
    pub excluded_product_ids: Vec<i64>,
    pub product_categories: Vec<i64>,
    pub excluded_product_categories: Vec<i64>,
    pub exclude_sale_items: bool,
    /// To how many items of an order it applies; none for all.
    pub items_limit: Option<i64>,
    pub free_shipping: bool,
    /// What the order must come to; zero for anything.
    pub minimum_amount: Amount,
    pub maximum_amount: Amount,
    /// Addresses in lower case, or patterns such as `*@example.com`; empty for everybody.
    pub email_restrictions: Vec<String>,
    /// Ids of users or addresses, once for each use before the coupon came here or before uses had
    /// rows of their own. The next use moves them there.
    pub used_by: Vec<String>,
    pub meta_data: Vec<Value>,
}

impl Coupon {
    /// A published coupon without a code, which takes nothing off a cart.
    pub fn new(now: Timestamp) -> Self {
        let row = CouponRow {
            status: super::PUBLISHED.to_owned(),
            discount_kind: super::schema::DEFAULT_KIND.to_owned(),
            created: now,
            modified: now,
            ..CouponRow::default()
        };
        Self { row, details: Details::default(), uses: Vec::new() }
    }

    pub fn read(row: CouponRow) -> Result<Self> {
        let details = serde_json::from_str(&row.details)
            .map_err(|error| Error::internal("cannot read a coupon's details").because(error))?;
        Ok(Self { row, details, uses: Vec::new() })
    }

    pub fn get(conn: &mut dyn Conn, coupon_id: i64) -> Result<Option<Self>> {
        coupon::get(conn, coupon_id)?.map(Self::read).transpose()
    }

    /// The same, knowing who used it.
    pub fn with_uses(mut self, conn: &mut dyn Conn) -> Result<Self> {
        self.uses = coupon::uses_of(conn, self.row.coupon_id)?;
        Ok(self)
    }

    /// The same, knowing how often it was used by somebody, if that is limited.
    pub fn with_uses_by(mut self, conn: &mut dyn Conn, who: &str) -> Result<Self> {
        if self.row.usage_limit_per_user.is_some() {
            let count = coupon::uses_by(conn, self.row.coupon_id, who)?;
            self.uses = (0..count).map(|_| who.to_owned()).collect();
        }
        Ok(self)
    }

    /// Remembers and counts a use by somebody, or forgets one.
    pub fn count_use(&mut self, conn: &mut dyn Conn, who: &str, is_new: bool) -> Result<()> {
        let coupon_id = self.row.coupon_id;
        let earlier = std::mem::take(&mut self.details.used_by);
        if !earlier.is_empty() {
            coupon::add_uses(conn, coupon_id, &earlier)?;
            self.update(conn)?;
        }
        if is_new {
            coupon::add_uses(conn, coupon_id, &[who.to_owned()])?;
        } else {
            coupon::remove_use(conn, coupon_id, who)?;
        }
        coupon::count_uses(conn, coupon_id, if is_new { 1 } else { -1 })
    }

    /// Inserts the coupon and takes the id that it was given.
    pub fn insert(&mut self, conn: &mut dyn Conn) -> Result<()> {
        self.pack();
        self.row.coupon_id = coupon::insert(conn, &self.row)?;
        Ok(())
    }

    pub fn update(&mut self, conn: &mut dyn Conn) -> Result<()> {
        self.pack();
        coupon::update(conn, &self.row).map(drop)
    }

    /// Inserts or replaces the coupon of this id.
    pub fn put(&mut self, conn: &mut dyn Conn) -> Result<()> {
        self.pack();
        if coupon::update(conn, &self.row)? {
            return coupon::clear_uses(conn, self.row.coupon_id);
        }
        coupon::insert_with_id(conn, &self.row)
    }

    /// Writes the details into their column.
    fn pack(&mut self) {
        self.row.details = serde_json::json!(self.details).to_string();
    }
}
