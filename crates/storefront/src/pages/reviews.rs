//! What people say about a product below it, and the form by which they say it.

use std::sync::Arc;

use commerce::products::ProductRecord;
use content::web::WebAnswer;
use contract::rest::route::Verb;
use contract::rest::{Params, Refusal, Sources, Stop, clean};
use db::filter::{Direction, Page};
use frame::Call;
use frame::action::Later;
use frame::pages::{Address, Date, Link};
use frame::text::render;
use serde_json::json;
use shop_rows::product::{self, ProductRow};
use shop_rows::review::{self, ReviewFilter, ReviewOrder};
use types::Result;

use super::shop_request::ShopRequest;
use crate::{attempts, products};

const KIND: &str = "page:review";
const APPROVED: &str = "approved";
/// Reviews below a product at most; the latest.
const SHOWN_MAX: i64 = 50;
/// Reviews that one client may leave in a minute.
const REVIEWS_PER_MINUTE_MAX: i64 = 5;

/// A review as the page shows it. Its text was cleaned before it was stored.
#[derive(Debug)]
pub(super) struct ReviewView {
    pub(super) id: i64,
    pub(super) author: String,
    pub(super) stars: i64,
    pub(super) is_verified: bool,
    pub(super) html: String,
    at: String,
}

impl ReviewView {
    pub(super) fn date(&self) -> Date<'_> {
        Date(&self.at)
    }
}

/// The form for a review of a product that takes some.
#[derive(Clone, Copy, Debug)]
pub(super) struct ReviewForm {
    pub(super) product_id: i64,
    pub(super) has_stars: bool,
    pub(super) needs_stars: bool,
}

/// What was said about the product, and the form if more may be said.
pub(super) fn reviews_of(
    call: &mut Call<'_>,
    row: Option<ProductRow>,
) -> Result<(Vec<ReviewView>, Option<ReviewForm>), Stop> {
    let Some(product) = row.map(ProductRecord::of_row).transpose()? else {
        return Ok((Vec::new(), None));
    };
    let options = Arc::clone(&call.visit.options);
    // What has a password is not talked about before those who do not know it.
    let is_open = call.site.is_open_to(call.visit, &product.lock());
    if !is_open || !options.is_on("woocommerce_enable_reviews") {
        return Ok((Vec::new(), None));
    }
    let wanted = ReviewFilter {
        products: vec![product.row.product_id],
        statuses: vec![APPROVED.to_owned()],
        order: ReviewOrder::Date,
        direction: Direction::Descending,
        page: Page { offset: 0, limit: SHOWN_MAX },
        ..ReviewFilter::default()
    };
    let (rows, _) = review::list(call.conn()?, &wanted)?;
    let views = rows.into_iter().map(|row| ReviewView {
        id: row.review_id,
        author: row.reviewer,
        stars: row.rating,
        is_verified: row.verified,
        html: render::paragraphs(&row.review),
        at: options.local(row.created).to_string(),
    });
    let has_stars = commerce::reviews::has_stars(&options);
    let form = commerce::reviews::takes_reviews(&options, &product).then_some(ReviewForm {
        product_id: product.row.product_id,
        has_stars,
        needs_stars: options.is_on("woocommerce_review_rating_required"),
    });
    Ok((views.collect(), form))
}

/// The review that the form brought: whether it is shown, and where. Nothing if it is about
/// something else than a product.
fn leave(call: &mut Call<'_>, product_id: i64) -> Result<Option<(bool, String)>, Stop> {
    let found = product::get(call.conn()?, product_id)?;
    // What strangers do not see is not there; neither have variations reviews.
    if products::shown(call, found.clone().into_iter().collect())?.is_empty() {
        return Ok(None);
    }
    let Some(product) = found.map(ProductRecord::of_row).transpose()? else { return Ok(None) };
    let is_shown = commerce::reviews::leave(call, &product)?;
    let address = commerce::products::address::of_row(call.visit, &product.row);
    Ok(Some((is_shown, address)))
}

impl ShopRequest<'_> {
    /// Takes a review, and leads back to the product. The form of a post is the site's affair.
    pub(super) async fn review_posted(&mut self) -> Result<Option<WebAnswer>> {
        if !self.is_post() {
            return Ok(None);
        }
        let fields = self.page.form();
        let product_id = fields.text("comment_post_ID").trim().parse::<i64>().unwrap_or(0);
        if !self.page.is_direct_post() {
            return Ok(None);
        }
        let said = json!({
            "review": fields.text("comment"),
            "reviewer": clean::text_field(fields.text("author")),
            "reviewer_email": clean::text_field(fields.text("email")),
            "rating": fields.text("rating").trim().parse::<i64>().unwrap_or(0),
        });
        let call = Later {
            site: Arc::clone(self.page.site),
            visit: Arc::clone(&self.page.visit),
            params: Params::unchecked(Sources { json: Some(said), ..Sources::default() }),
            verb: Verb::Post,
            upload: None,
        };
        // Counted by itself, so that what is refused counts too.
        let is_free =
            |call: &mut Call<'_>| attempts::take(call, "reviews of", REVIEWS_PER_MINUTE_MAX);
        let left = match call.attempt(is_free).await {
            Ok(true) => call.attempt(move |call| leave(call, product_id)).await,
            Ok(false) => {
                let message = "Too many reviews from this address; try again in a minute.";
                Err(Refusal::new(429, "comment_flood", message).into())
            }
            Err(stop) => Err(stop),
        };
        let mut answer = match left {
            Ok(None) => return Ok(None),
            Ok(Some((true, address))) => WebAnswer::redirect(KIND, &format!("{address}#reviews")),
            Ok(Some((false, address))) => {
                let message = "Thank you. Your review is shown once it is approved.";
                let back = Link { text: "Back", href: Address::new(&address) };
                self.page.notice(KIND, ("Review received", message), Some(back))
            }
            Err(Stop::Refused(refusal)) => {
                let status = (KIND, refusal.status);
                return Ok(Some(self.page.error(status, ("Reviews", &refusal.message), None)));
            }
            Err(Stop::Failed(error)) => return Err(error),
        };
        self.page.remember(&mut answer);
        Ok(Some(answer))
    }
}
