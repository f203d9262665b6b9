//! What people wrote about products. The current version has one list of all reviews; the older
//! ones have a list below each product, with fewer fields under other names.

mod bundle;
mod item;
mod leave;
mod write;

use contract::rest::route::Route;
use contract::rest::{Args, Item, Links, Refusal, Schema, Stop};
use db::filter::{Direction, Page};
use frame::users::avatar_urls;
use frame::{Action, Call, Names, text};
use serde_json::{Value, json};
use shop_rows::product::ProductRow;
use shop_rows::review::{self, ReviewFilter, ReviewOrder, ReviewRow};
use types::{Capability, Error};

use crate::common::{moments, paging};

use crate::common::version::Version;
use crate::resource::{self, Act, DeletionReply, ItemRule, Listed, Resource, Rights};

pub(crate) use self::bundle::reviews;
pub use self::leave::{has_stars, leave, takes_reviews};

const PATH: &str = "/products/reviews";
const PATH_BELOW: &str = r"/products/(?P<product_id>[\d]+)/reviews";

/// The kind of products that have no reviews of their own.
const VARIATION: &str = "variation";

const APPROVED: &str = "approved";
const HOLD: &str = "hold";
const SPAM: &str = "spam";
const TRASH: &str = "trash";
/// Statuses of what is neither spam nor thrown away.
pub(crate) const READABLE: [&str; 2] = [APPROVED, HOLD];

/// A review with what it is about, which may be gone.
#[derive(Debug)]
struct Review {
    row: ReviewRow,
    product: Option<ProductRow>,
}

/// All reviews, as the current version and analytics have them.
#[derive(Debug)]
struct Reviews {
    version: Version,
    item: Item,
    /// The namespace in which users are.
    content: String,
    /// The namespace in which the product of a review is.
    namespace: String,
}

/// The reviews of one product, as the older versions have them.
#[derive(Debug)]
struct ReviewsBelow {
    version: Version,
    item: Item,
    namespace: String,
}

pub(crate) fn routes(names: &Names) -> Vec<Route<Action>> {
    let mut routes = Vec::new();
    for version in Version::ALL {
        let namespace = version.namespace(names).to_owned();
        let at = namespace.clone();
        let made = if version >= Version::Three {
            let (item, content) = (item::current(), names.content.clone());
            resource::routes(&at, PATH, Reviews { version, item, content, namespace })
        } else {
            let item = item::older(version);
            resource::routes(&at, PATH_BELOW, ReviewsBelow { version, item, namespace })
        };
        routes.extend(made.expect("the schema of a review is well formed"));
    }
    routes
}

fn with_product(call: &mut Call<'_>, row: ReviewRow) -> Result<Review, Error> {
    let product = shop_rows::product::get(call.conn()?, row.product_id)?;
    Ok(Review { row, product })
}

/// The product of this number, unless it is a variation or in the trash.
fn product_of(call: &mut Call<'_>, product_id: i64) -> Result<ProductRow, Stop> {
    let found = shop_rows::product::get(call.conn()?, product_id)?;
    let found = found.filter(|product| product.kind != VARIATION);
    found.ok_or_else(|| {
        let message = "Product not found.";
        Refusal::new(404, "woocommerce_rest_product_invalid_id", message).into()
    })
}

fn permalink(call: &Call<'_>, product: Option<&ProductRow>) -> String {
    product
        .map_or_else(String::new, |product| call.visit.page(&format!("/product/{}/", product.slug)))
}

impl Reviews {
    fn wanted(call: &Call<'_>) -> ReviewFilter {
        let params = &call.params;
        let (options, text) = (call.options(), |name: &str| params.text(name));
        let statuses: &[&str] = match text("status").unwrap_or(APPROVED) {
            "all" => &READABLE,
            "hold" => &[HOLD],
            "spam" => &[SPAM],
            "trash" => &[TRASH],
            _ => &[APPROVED],
        };
        let order = match text("orderby").unwrap_or_default() {
            "id" => ReviewOrder::Id,
            "include" => ReviewOrder::Include,
            "product" => ReviewOrder::Product,
            _ => ReviewOrder::Date,
        };
        let search = text("search").filter(|text| !text.is_empty()).map(str::to_owned);
        let email = text("reviewer_email").filter(|email| !email.is_empty()).map(str::to_owned);
        ReviewFilter {
            products: params.ints("product"),
            statuses: statuses.iter().map(|status| (*status).to_owned()).collect(),
            reviewers: params.ints("reviewer"),
            reviewers_exclude: params.ints("reviewer_exclude"),
            email,
            search: search.into_iter().collect(),
            include: params.ints("include"),
            exclude: params.ints("exclude"),
            after: moments::bound(options, text("after"), false),
            before: moments::bound(options, text("before"), false),
            order,
            direction: paging::direction_unless_listed(params),
            page: paging::page(call),
            ..ReviewFilter::default()
        }
    }
}

impl Resource for Reviews {
    type Record = Review;

    fn word(&self) -> &'static str {
        "review"
    }

    fn rights(&self) -> Rights {
        let edit = Capability::EditProducts;
        let read = Capability::ModerateComments;
        Rights { read, create: edit, edit, delete: edit, batch: edit }
    }

    fn item(&self) -> &Item {
        &self.item
    }

    fn create_args(&self) -> Args {
        let required = ["product_id", "reviewer", "review"];
        let args = self.item.create_args();
        let args =
            required.into_iter().fold(args, |args, name| args.revise(name, Schema::required));
        // What is no address is refused with a code of its own.
        args.revise("reviewer_email", |schema| schema.without("format").required())
    }

    fn list_args(&self) -> Args {
        item::list_args()
    }

    fn deletion_reply(&self) -> DeletionReply {
        DeletionReply::Noted
    }

    /// No method is allowed where there is no review.
    fn refuses_unknown_first(&self) -> bool {
        true
    }

    fn unknown_id(&self, _: Act) -> (u16, String) {
        (404, String::from("woocommerce_rest_review_invalid_id"))
    }

    fn find(&self, call: &mut Call<'_>, id: i64) -> Result<Option<Review>, Stop> {
        let Some(row) = review::get(call.conn()?, id)? else { return Ok(None) };
        Ok(Some(with_product(call, row)?))
    }

    fn list(&self, call: &mut Call<'_>) -> Result<Listed<Review>, Stop> {
        let wanted = Self::wanted(call);
        let (rows, total) = review::list(call.conn()?, &wanted)?;
        let mut records = Vec::with_capacity(rows.len());
        for row in rows {
            records.push(with_product(call, row)?);
        }
        Ok(Listed { records, total })
    }

    fn show(&self, call: &mut Call<'_>, record: &Review) -> Result<Value, Stop> {
        let Review { row, product } = record;
        let [local, gmt] = moments::pair(call.options(), Some(row.created));
        let name = product.as_ref().map(|product| text::render::title(&product.name));
        let review = match call.context().as_str() {
            "edit" => row.review.clone(),
            _ => text::render::paragraphs(&row.review),
        };
        Ok(json!({
            "id": row.review_id,
            "date_created": local,
            "date_created_gmt": gmt,
            "product_id": row.product_id,
            "product_name": name.unwrap_or_default(),
            "product_permalink": permalink(call, product.as_ref()),
            "status": row.status,
            "reviewer": row.reviewer,
            "reviewer_email": row.email,
            "review": review,
            "rating": row.rating,
            "verified": row.verified,
            "reviewer_avatar_urls": avatar_urls(&row.email),
        }))
    }

    fn links(&self, call: &Call<'_>, record: &Review, base: &str) -> Links {
        let rest = |path: String| call.visit.rest(&path);
        let row = &record.row;
        let product = rest(format!("/{}/products/{}", self.namespace, row.product_id));
        let mut links = Links::new()
            .to("self", rest(format!("{base}/{}", row.review_id)))
            .to("collection", rest(base.to_owned()));
        if record.product.is_some() {
            links = match self.version {
                Version::Analytics => links.embeddable("up", product),
                _ => links.to("up", product),
            };
        }
        match row.user_id {
            0 => links,
            user => links.embeddable("reviewer", rest(format!("/{}/users/{user}", self.content))),
        }
    }

    fn id(&self, record: &Review) -> i64 {
        record.row.review_id
    }

    fn is_trashed(&self, record: &Review) -> bool {
        record.row.status == TRASH
    }

    fn create(&self, call: &mut Call<'_>) -> Result<Review, Stop> {
        let product = product_of(call, call.params.int("product_id").unwrap_or_default())?;
        let row = write::create(call, &write::CURRENT, product.product_id)?;
        Ok(Review { row, product: Some(product) })
    }

    fn update(&self, call: &mut Call<'_>, record: Review) -> Result<Review, Stop> {
        let mut product_id = record.row.product_id;
        if let Some(asked) = call.params.int("product_id") {
            product_id = product_of(call, asked)?.product_id;
        }
        let row = write::update(call, &write::CURRENT, record.row, product_id)?;
        Ok(with_product(call, row)?)
    }

    fn trash(&self, call: &mut Call<'_>, record: Review) -> Result<(), Stop> {
        write::set_status(call, record.row, TRASH)
    }

    fn delete(&self, call: &mut Call<'_>, record: Review) -> Result<(), Stop> {
        write::delete(call, &record.row)
    }
}

impl ReviewsBelow {
    fn product_id(call: &Call<'_>) -> i64 {
        call.params.int("product_id").unwrap_or_default()
    }
}

impl Resource for ReviewsBelow {
    type Record = ReviewRow;

    fn word(&self) -> &'static str {
        "product_review"
    }

    fn rights(&self) -> Rights {
        Rights {
            read: Capability::ReadPrivateProducts,
            create: Capability::PublishProducts,
            edit: Capability::EditProducts,
            delete: Capability::DeleteProducts,
            batch: Capability::EditOthersProducts,
        }
    }

    fn item(&self) -> &Item {
        &self.item
    }

    fn create_args(&self) -> Args {
        let required = ["review", "name", "email"];
        let args = self.item.create_args();
        required.into_iter().fold(args, |args, name| args.revise(name, Schema::required))
    }

    fn list_args(&self) -> Args {
        Args::new()
    }

    fn path_args(&self) -> Args {
        let id = |about: &str| Schema::integer().about(about);
        let args = Args::new().arg("product_id", id("Product ID."));
        match self.version {
            // It names the review wherever it names the product.
            Version::One => args.arg("id", id("Resource ID.")),
            _ => args,
        }
    }

    fn has_batch(&self) -> bool {
        self.version != Version::One
    }

    fn has_pages(&self) -> bool {
        false
    }

    fn unknown_id(&self, act: Act) -> (u16, String) {
        let code = match act {
            Act::Read => "woocommerce_rest_invalid_id",
            Act::Edit | Act::Delete => "rest_product_review_invalid_id",
        };
        (404, code.to_owned())
    }

    /// Below a product that does not exist nothing is allowed, which is known by looking for it.
    fn item_rule(&self) -> Option<ItemRule<ReviewRow>> {
        Some(|call, _, capability| call.can(capability))
    }

    fn find(&self, call: &mut Call<'_>, id: i64) -> Result<Option<ReviewRow>, Stop> {
        let product = product_of(call, Self::product_id(call))?;
        let found = review::get(call.conn()?, id)?;
        Ok(found.filter(|row| row.product_id == product.product_id))
    }

    fn list(&self, call: &mut Call<'_>) -> Result<Listed<ReviewRow>, Stop> {
        let product = product_of(call, Self::product_id(call))?;
        let wanted = ReviewFilter {
            products: vec![product.product_id],
            include: call.params.ints("id"),
            statuses: vec![APPROVED.to_owned()],
            direction: Direction::Ascending,
            page: Page::default(),
            ..ReviewFilter::default()
        };
        let (records, total) = review::list(call.conn()?, &wanted)?;
        Ok(Listed { records, total })
    }

    fn show(&self, call: &mut Call<'_>, row: &ReviewRow) -> Result<Value, Stop> {
        let [local, gmt] = moments::pair(call.options(), Some(row.created));
        let mut body = json!({
            "id": row.review_id,
            "date_created": if self.version == Version::One { gmt.clone() } else { local },
            "date_created_gmt": gmt,
            "review": row.review,
            "rating": row.rating,
            "name": row.reviewer,
            "email": row.email,
            "verified": row.verified,
        });
        if let (Version::One, Some(members)) = (self.version, body.as_object_mut()) {
            members.shift_remove("date_created_gmt");
        }
        Ok(body)
    }

    fn links(&self, call: &Call<'_>, row: &ReviewRow, base: &str) -> Links {
        let product = format!("/{}/products/{}", self.namespace, row.product_id);
        Links::new()
            .to("self", call.visit.rest(&format!("{base}/{}", row.review_id)))
            .to("collection", call.visit.rest(base))
            .to("up", call.visit.rest(&product))
    }

    fn id(&self, row: &ReviewRow) -> i64 {
        row.review_id
    }

    fn is_trashed(&self, row: &ReviewRow) -> bool {
        row.status == TRASH
    }

    fn create(&self, call: &mut Call<'_>) -> Result<ReviewRow, Stop> {
        let product = product_of(call, Self::product_id(call))?;
        write::create(call, &write::OLDER, product.product_id)
    }

    fn update(&self, call: &mut Call<'_>, row: ReviewRow) -> Result<ReviewRow, Stop> {
        let product_id = row.product_id;
        write::update(call, &write::OLDER, row, product_id)
    }

    fn trash(&self, call: &mut Call<'_>, row: ReviewRow) -> Result<(), Stop> {
        write::set_status(call, row, TRASH)
    }

    fn delete(&self, call: &mut Call<'_>, row: ReviewRow) -> Result<(), Stop> {
        write::delete(call, &row)
    }
}
