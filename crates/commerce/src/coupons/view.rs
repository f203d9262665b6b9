//! A coupon as it is shown: all of its fields, amounts with their decimals, dates in both clocks.

use frame::Options;
use serde_json::{Value, json};
use types::Amount;

use super::Coupon;
use crate::common::moments;

/// Amounts of coupons have two decimals, whatever the shop's prices have.
const DECIMALS: u32 = 2;

/// All fields, by their names in the newest version.
pub(super) fn body(options: &Options, coupon: &Coupon) -> Vec<(&'static str, Value)> {
    let Coupon { row, details, uses } = coupon;
    let used_by: Vec<&String> = details.used_by.iter().chain(uses).collect();
    let [created, created_gmt] = moments::pair(options, Some(row.created));
    let [modified, modified_gmt] = moments::pair(options, Some(row.modified));
    let [expires, expires_gmt] = moments::pair(options, row.expires);
    vec![
        ("id", json!(row.coupon_id)),
        ("code", json!(row.code)),
        ("amount", amount(row.amount)),
        ("status", json!(row.status)),
        ("date_created", created),
        ("date_created_gmt", created_gmt),
        ("date_modified", modified),
        ("date_modified_gmt", modified_gmt),
        ("discount_type", json!(row.discount_kind)),
        ("description", json!(row.description)),
        ("date_expires", expires),
        ("date_expires_gmt", expires_gmt),
        ("usage_count", json!(row.usage_count)),
        ("individual_use", json!(details.individual_use)),
        ("product_ids", json!(details.product_ids)),
        ("excluded_product_ids", json!(details.excluded_product_ids)),
        ("usage_limit", json!(row.usage_limit)),
        ("usage_limit_per_user", json!(row.usage_limit_per_user)),
        ("limit_usage_to_x_items", json!(details.items_limit)),
        ("free_shipping", json!(details.free_shipping)),
        ("product_categories", json!(details.product_categories)),
        ("excluded_product_categories", json!(details.excluded_product_categories)),
        ("exclude_sale_items", json!(details.exclude_sale_items)),
        ("minimum_amount", amount(details.minimum_amount)),
        ("maximum_amount", amount(details.maximum_amount)),
        ("email_restrictions", json!(details.email_restrictions)),
        ("used_by", json!(used_by)),
        ("meta_data", json!(details.meta_data)),
    ]
}

fn amount(amount: Amount) -> Value {
    json!(amount.to_text(DECIMALS))
}
