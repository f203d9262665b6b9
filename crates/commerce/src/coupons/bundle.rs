//! Coupons of a bundle: read, checked, and put in the place of those that have their ids.

use db::Conn;
use frame::Options;
use frame::bundle::records;
use serde::Deserialize;
use serde_json::Value;
use types::{Amount, Error, Result, Timestamp};

use super::Coupon;
use crate::common::moments;

#[derive(Debug, Deserialize)]
struct BundleCoupon {
    id: i64,
    code: String,
    status: String,
    discount_type: String,
    amount: Amount,
    #[serde(default)]
    description: String,
    date_created: String,
    date_modified: String,
    date_expires: Option<String>,
    #[serde(default)]
    usage_count: i64,
    #[serde(default)]
    usage_limit: i64,
    #[serde(default)]
    usage_limit_per_user: i64,
    #[serde(default)]
    free_shipping: bool,
    #[serde(default)]
    individual_use: bool,
    #[serde(default)]
    used_by: Vec<String>,
}

/// Imports the coupons, their ids kept. One that is there already becomes what the bundle says.
pub(crate) fn import(conn: &mut dyn Conn, section: &Value) -> Result<usize> {
    let coupons: Vec<BundleCoupon> = records(section)?;
    let options = Options::read(conn)?;
    let count = coupons.len();
    for coupon in coupons {
        coupon.import(conn, &options)?;
    }
    Ok(count)
}

impl BundleCoupon {
    fn import(self, conn: &mut dyn Conn, options: &Options) -> Result<()> {
        let time = |text: &str| -> Result<Timestamp> {
            let read = moments::read(options, &Value::from(text));
            let wrong = || format!("coupon {}: `{text}` is not a time", self.id);
            read.ok_or_else(|| Error::invalid(wrong()))
        };
        let limit = |limit: i64| Some(limit).filter(|limit| *limit > 0);
        let created = time(&self.date_created)?;
        let known = Coupon::get(conn, self.id)?;
        let mut coupon = known.unwrap_or_else(|| Coupon::new(created));
        let (row, details) = (&mut coupon.row, &mut coupon.details);
        row.created = created;
        row.modified = time(&self.date_modified)?;
        row.expires = self.date_expires.as_deref().map(time).transpose()?;
        row.coupon_id = self.id;
        details.slug = frame::text::slugify(&self.code);
        row.code = contract::rest::clean::code(&self.code);
        row.status = self.status;
        row.discount_kind = self.discount_type;
        row.amount = self.amount;
        row.description = self.description;
        row.usage_count = self.usage_count;
        row.usage_limit = limit(self.usage_limit);
        row.usage_limit_per_user = limit(self.usage_limit_per_user);
        details.free_shipping = self.free_shipping;
        details.individual_use = self.individual_use;
        details.used_by = self.used_by;
        coupon.put(conn)
    }
}
