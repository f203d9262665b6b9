//! Reviews that buyers leave on the page of a product. **Whoever is signed in in that browser is
//! not looked at**: it is nobody's word but the form's, and it is shown once somebody approved it,
//! unless the shop wants it otherwise.

use contract::rest::{Refusal, Stop};
use frame::discussion::{self, Remark, Standing, Subject, Verdict};
use frame::{Call, Options};
use shop_rows::review::{self, ReviewFilter, ReviewRow};
use types::Error;

use super::write::{self, CURRENT};
use super::{APPROVED, HOLD, TRASH};
use crate::products::{ProductRecord, address};

/// Whether strangers who see the product may say something about it.
pub fn takes_reviews(options: &Options, product: &ProductRecord) -> bool {
    options.is_on("woocommerce_enable_reviews")
        && product.details.reviews_allowed
        && !options.is_on("comment_registration")
        && !options.is_on("woocommerce_review_rating_verification_required")
}

/// Whether reviews have stars.
pub fn has_stars(options: &Options) -> bool {
    options.is_on("woocommerce_enable_review_rating")
}

fn refused(code: &'static str, message: &'static str) -> Stop {
    Refusal::new(400, code, message).into()
}

/// Stores the review that the request brings, and returns whether it is shown already.
pub fn leave(call: &mut Call<'_>, product: &ProductRecord) -> Result<bool, Stop> {
    let is_seen = call.site.is_open_to(call.visit, &product.lock());
    if !is_seen || !takes_reviews(call.options(), product) {
        let message = "This product takes no reviews.";
        return Err(Refusal::new(403, "comment_closed", message).into());
    }
    let text = |name: &str| call.params.text(name).unwrap_or_default().trim();
    let is_nameless = text("reviewer").is_empty() || text("reviewer_email").is_empty();
    if is_nameless && call.options().is_on("require_name_email") {
        return Err(refused("require_name_email", "Enter your name and your e-mail address."));
    }
    let is_unrated = call.params.int("rating").is_none_or(|stars| stars < 1);
    let needs_stars = call.options().is_on("woocommerce_review_rating_required");
    if has_stars(call.options()) && needs_stars && is_unrated {
        return Err(refused("require_rating", "Select a rating."));
    }
    let status = first_status(call)?;
    let row = write::create_as(call, &CURRENT, product.row.product_id, status)?;
    notify(call, &row, product)?;
    Ok(row.status == APPROVED)
}

/// Tells whoever approves reviews, or whoever sells the product.
fn notify(call: &mut Call<'_>, row: &ReviewRow, product: &ProductRecord) -> Result<(), Error> {
    let verdict = match row.status.as_str() {
        APPROVED => Verdict::Fine,
        HOLD => Verdict::Held,
        _ => return Ok(()),
    };
    let page = address::of_row(call.visit, &product.row);
    let subject = Subject {
        words: "review of",
        thing: "product",
        title: &product.row.name,
        address: &format!("{page}#comment-{}", row.review_id),
        author_id: product.row.author_id,
    };
    let client = call.visit.client.address.to_string();
    let remark = Remark {
        author: &row.reviewer,
        email: &row.email,
        url: "",
        content: &row.review,
        address: &client,
    };
    discussion::notify(call, &remark, &subject, Standing { verdict, user_id: row.user_id })
}

/// What is said by people whom the shop knows is shown at once, unless the rules for discussions
/// speak against it.
fn first_status(call: &mut Call<'_>) -> Result<&'static str, Stop> {
    let text = |name: &str| call.params.text(name).unwrap_or_default().trim().to_owned();
    let (name, email, review) = (text("reviewer"), text("reviewer_email"), text("review"));
    let client = call.visit.client.address.to_string();
    let remark =
        Remark { author: &name, email: &email, url: "", content: &review, address: &client };
    match discussion::verdict(call.options(), &remark) {
        Verdict::Discarded => return Ok(TRASH),
        Verdict::Held => return Ok(HOLD),
        Verdict::Fine => {}
    }
    if !call.options().is_on("comment_previously_approved") {
        return Ok(APPROVED);
    }
    if email.is_empty() {
        return Ok(HOLD);
    }
    let known = ReviewFilter {
        statuses: vec![APPROVED.to_owned()],
        email: Some(email),
        ..ReviewFilter::default()
    };
    let (rows, _) = review::list(call.conn()?, &known)?;
    let is_known = rows.iter().any(|row| row.reviewer == name);
    Ok(if is_known { APPROVED } else { HOLD })
}
