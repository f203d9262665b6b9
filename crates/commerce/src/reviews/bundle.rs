//! Import of reviews, their numbers kept.

use std::collections::BTreeSet;

use db::Conn;
use frame::Options;
use frame::bundle::records;
use frame::dates::Moment;
use serde::Deserialize;
use serde_json::Value;
use shop_rows::review::{self, ReviewRow};
use types::{Error, Result};

use super::{APPROVED, HOLD, SPAM, TRASH};
use crate::products::rating;

#[derive(Debug, Deserialize)]
struct Entry {
    id: i64,
    product_id: i64,
    reviewer: String,
    reviewer_email: String,
    #[serde(default)]
    user_id: i64,
    review: String,
    approved: String,
    /// In the site's time.
    date: String,
    #[serde(default)]
    rating: i64,
    #[serde(default)]
    verified: bool,
}

pub(crate) fn reviews(conn: &mut dyn Conn, section: &Value) -> Result<usize> {
    let reviews: Vec<Entry> = records(section)?;
    let options = Options::read(conn)?;
    let mut products = BTreeSet::new();
    let count = reviews.len();
    for review in reviews {
        let moment = Moment::parse(&options, &review.date, false)
            .ok_or_else(|| Error::invalid(format!("the date of review {}", review.id)))?;
        let status = match review.approved.as_str() {
            "1" => APPROVED,
            "0" => HOLD,
            "spam" => SPAM,
            "trash" => TRASH,
            _ => return Err(Error::invalid(format!("the status of review {}", review.id))),
        };
        let row = ReviewRow {
            review_id: review.id,
            product_id: review.product_id,
            user_id: review.user_id,
            reviewer: review.reviewer,
            email: review.reviewer_email,
            review: review.review,
            rating: review.rating,
            status: status.to_owned(),
            trashed_status: None,
            verified: review.verified,
            created: moment.gmt,
        };
        if !review::update(conn, &row)? {
            review::insert_with_id(conn, &row)?;
        }
        products.insert(row.product_id);
    }
    for product_id in products {
        rating::refresh(conn, product_id)?;
    }
    Ok(count)
}
