//! Making, changing and deleting reviews, with the rating of their products and with events.

use contract::rest::{Refusal, Stop, clean, formats, loose};
use db::Conn;
use db::filter::Page;
use frame::Call;
use frame::text::{clean_comment, clean_content};
use serde_json::{Value, json};
use shop_rows::order::{self, OrderFilter, OrderKind};
use shop_rows::review::{self, ReviewFilter, ReviewRow};
use types::{Capability, Error};

use super::{APPROVED, HOLD, SPAM, TRASH};
use crate::common::{events, moments};
use crate::orders::status;
use crate::products::rating;

/// Bytes of what a reviewer writes.
const REVIEW_LENGTH_MAX: usize = 65_525;
/// Characters of a reviewer's name.
const NAME_LENGTH_MAX: usize = 245;
/// Characters of an e-mail address.
const EMAIL_LENGTH_MAX: usize = 100;
const STARS_MAX: i64 = 5;
/// Orders that are looked at for the address of a reviewer.
const ORDERS_MAX: i64 = 100;
/// The statuses of orders that were paid.
const PAID: [&str; 2] = [status::PROCESSING, status::COMPLETED];

/// How a version calls the fields.
#[derive(Debug)]
pub(super) struct Fields {
    name: &'static str,
    email: &'static str,
    /// Whether a request can say when the review was written.
    takes_date: bool,
    takes_status: bool,
}

pub(super) const CURRENT: Fields =
    Fields { name: "reviewer", email: "reviewer_email", takes_date: false, takes_status: true };
pub(super) const OLDER: Fields =
    Fields { name: "name", email: "email", takes_date: true, takes_status: false };

pub(super) fn create(
    call: &mut Call<'_>,
    fields: &Fields,
    product_id: i64,
) -> Result<ReviewRow, Stop> {
    create_as(call, fields, product_id, APPROVED)
}

/// Makes a review that has this status, unless the request says otherwise.
pub(super) fn create_as(
    call: &mut Call<'_>,
    fields: &Fields,
    product_id: i64,
    status: &str,
) -> Result<ReviewRow, Stop> {
    let blank = ReviewRow {
        product_id,
        status: status.to_owned(),
        created: moments::now(call),
        ..ReviewRow::default()
    };
    let mut row = changed(call, fields, blank)?;
    if row.review.is_empty() {
        return Err(empty_review());
    }
    refuse_repetition(call.conn()?, &row)?;
    row.verified = has_bought(call.conn()?, &row)?;
    if let Some(created) = moments::created(call).filter(|_| call.visit.is_import) {
        row.created = created;
    }
    if let Some(id) = call.kept_id() {
        row.review_id = id;
        review::insert_with_id(call.conn()?, &row)?;
    } else {
        row.review_id = review::insert(call.conn()?, &row)?;
    }
    told(call, "review.created", &row)?;
    Ok(row)
}

pub(super) fn update(
    call: &mut Call<'_>,
    fields: &Fields,
    before: ReviewRow,
    product_id: i64,
) -> Result<ReviewRow, Stop> {
    let former_product = before.product_id;
    let row = changed(call, fields, ReviewRow { product_id, ..before })?;
    if row.review.is_empty() {
        return Err(empty_review());
    }
    review::update(call.conn()?, &row)?;
    if former_product != product_id {
        rating::refresh(call.conn()?, former_product)?;
    }
    told(call, "review.updated", &row)?;
    Ok(row)
}

pub(super) fn set_status(call: &mut Call<'_>, row: ReviewRow, status: &str) -> Result<(), Stop> {
    let row = with_status(row, status);
    review::update(call.conn()?, &row)?;
    told(call, "review.updated", &row)?;
    Ok(())
}

pub(super) fn delete(call: &mut Call<'_>, row: &ReviewRow) -> Result<(), Stop> {
    review::delete(call.conn()?, row.review_id)?;
    told(call, "review.deleted", row)?;
    Ok(())
}

/// Keeps the rating of the product in step, and tells the followers.
fn told(call: &mut Call<'_>, kind: &'static str, row: &ReviewRow) -> Result<(), Error> {
    rating::refresh(call.conn()?, row.product_id)?;
    events::append(call, kind, row.review_id, &json!({ "product_id": row.product_id }))
}

fn empty_review() -> Stop {
    let message = "The review must not be empty.";
    Refusal::new(400, "woocommerce_rest_review_content_invalid", message).into()
}

fn too_long(what: &str) -> Stop {
    let code = format!("woocommerce_rest_{what}_column_length");
    Refusal::new(400, code, "The text is too long; shorten it.").into()
}

/// The review with what the request says about it.
fn changed(call: &Call<'_>, fields: &Fields, mut row: ReviewRow) -> Result<ReviewRow, Stop> {
    let text = |name: &str| {
        let text = call.params.get(name).and_then(loose::scalar_text)?;
        Some(text.replace('\0', ""))
    };
    if let Some(review) = text("review") {
        if review.len() > REVIEW_LENGTH_MAX {
            return Err(too_long("comment_content"));
        }
        let review = if call.can(Capability::UnfilteredHtml) {
            review
        } else if call.can(Capability::EditProducts) {
            clean_content(&review)
        } else {
            clean_comment(&review)
        };
        review.trim().clone_into(&mut row.review);
    }
    if let Some(name) = text(fields.name) {
        row.reviewer = clean::text_field(&name);
    }
    if let Some(email) = text(fields.email) {
        email.trim().clone_into(&mut row.email);
    }
    if row.review.len() > REVIEW_LENGTH_MAX {
        return Err(too_long("comment_content"));
    }
    if row.reviewer.chars().count() > NAME_LENGTH_MAX {
        return Err(too_long("comment_author"));
    }
    if row.email.chars().count() > EMAIL_LENGTH_MAX {
        return Err(too_long("comment_author_email"));
    }
    if !row.email.is_empty() && !formats::is_email(&row.email) {
        let message = "An e-mail address is required.";
        return Err(Refusal::new(400, "rest_invalid_email", message).into());
    }
    if let Some(stars) = call.params.get("rating") {
        row.rating = loose::to_int(stars).clamp(0, STARS_MAX);
    }
    if fields.takes_date {
        row.created = date(call).unwrap_or(row.created);
    }
    if let Some(status) = text("status").filter(|_| fields.takes_status) {
        row = with_status(row, &status);
    }
    Ok(row)
}

fn date(call: &Call<'_>) -> Option<types::Timestamp> {
    let text = |name: &str| call.params.get(name).and_then(Value::as_str);
    let local = moments::bound(call.options(), text("date_created"), false);
    local.or_else(|| moments::bound(call.options(), text("date_created_gmt"), true))
}

/// What a status that is asked for makes of a review. Out of the trash it becomes what it was.
fn with_status(mut row: ReviewRow, requested: &str) -> ReviewRow {
    let status = match requested {
        "approved" | "approve" | "1" => APPROVED.to_owned(),
        "hold" | "0" => HOLD.to_owned(),
        "spam" => SPAM.to_owned(),
        "trash" => TRASH.to_owned(),
        "unspam" if row.status == SPAM => HOLD.to_owned(),
        "untrash" if row.status == TRASH => {
            row.trashed_status.clone().unwrap_or_else(|| HOLD.to_owned())
        }
        _ => return row,
    };
    row.trashed_status = match (status.as_str(), row.status.as_str()) {
        (TRASH, TRASH) => row.trashed_status,
        (TRASH, _) => Some(row.status),
        _ => None,
    };
    row.status = status;
    row
}

/// The same words of the same person about the same product are taken once.
fn refuse_repetition(conn: &mut dyn Conn, row: &ReviewRow) -> Result<(), Stop> {
    let filter = ReviewFilter {
        products: vec![row.product_id],
        statuses_exclude: vec![TRASH.to_owned()],
        email: Some(row.email.clone()),
        ..ReviewFilter::default()
    };
    let (rows, _) = review::list(conn, &filter)?;
    if rows.iter().all(|other| other.review != row.review || other.reviewer != row.reviewer) {
        return Ok(());
    }
    let message = "This review already exists.";
    Err(Refusal::new(409, "woocommerce_rest_comment_duplicate", message).into())
}

/// Whether an order that was paid has the reviewer's address and the product.
fn has_bought(conn: &mut dyn Conn, row: &ReviewRow) -> Result<bool, Error> {
    if row.email.is_empty() {
        return Ok(false);
    }
    let filter = OrderFilter {
        kinds: vec![OrderKind::Order],
        statuses: PAID.map(str::to_owned).to_vec(),
        search: Some(row.email.clone()),
        products: vec![row.product_id],
        page: Page { offset: 0, limit: ORDERS_MAX },
        ..OrderFilter::default()
    };
    let (orders, _) = order::list(conn, &filter)?;
    Ok(orders.iter().any(|order| order.billing_email.eq_ignore_ascii_case(&row.email)))
}
