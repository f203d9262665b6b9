//! What reviews look like to clients, and how their list is asked for.

use contract::rest::{Args, Item, Schema};
use serde_json::Value;

use super::APPROVED;
use crate::common::args;
use crate::common::version::Version;

const BOTH: &[&str] = &["view", "edit"];
/// What a request may make of a review.
const STATUSES: [&str; 6] = ["approved", "hold", "spam", "unspam", "trash", "untrash"];

fn text(about: &str) -> Schema {
    Schema::text().about(about).context(BOTH)
}

fn integer(about: &str) -> Schema {
    Schema::integer().about(about).context(BOTH)
}

fn verified() -> Schema {
    Schema::boolean().about("Whether the reviewer purchased the product.").context(BOTH).readonly()
}

pub(super) fn current() -> Item {
    let date = |about: &str| Schema::typed("date-time").about(about).context(BOTH).readonly();
    let status = text("Review status.").default(APPROVED).choices(&STATUSES);
    let avatar = |size: &'static str| (size, text("Avatar URL.").format("uri"));
    let avatars = Schema::object(["24", "48", "96"].map(avatar))
        .about("Reviewer's avatars, by size.")
        .context(BOTH)
        .readonly();
    Item::new(
        "product_review",
        Schema::object([
            ("id", integer("Review ID.").readonly()),
            ("date_created", date("Date created, in the site's time zone.")),
            ("date_created_gmt", date("Date created, in GMT.")),
            ("product_id", integer("Product ID.")),
            ("product_name", text("Product name.")),
            ("product_permalink", text("Product URL.").format("uri").readonly()),
            ("status", status),
            ("reviewer", text("Reviewer name.")),
            ("reviewer_email", text("Reviewer e-mail address.").format("email")),
            ("review", text("Review content.")),
            ("rating", integer("Rating, from 0 to 5.")),
            ("verified", verified()),
            ("reviewer_avatar_urls", avatars),
        ]),
    )
}

pub(super) fn older(version: Version) -> Item {
    let date = |about: &str| Schema::typed("date-time").about(about).context(BOTH);
    let mut fields = vec![
        ("id", integer("Review ID.").readonly()),
        ("date_created", date("Date created, in the site's time zone.")),
    ];
    if version > Version::One {
        fields.push(("date_created_gmt", date("Date created, in GMT.")));
    }
    fields.extend([
        ("review", text("Review content.")),
        ("rating", integer("Rating, from 0 to 5.")),
        ("name", text("Reviewer name.")),
        ("email", text("Reviewer e-mail address.")),
        ("verified", verified()),
    ]);
    Item::new("product_review", Schema::object(fields))
}

pub(super) fn list_args() -> Args {
    let orders = ["date", "date_gmt", "id", "include", "product"];
    let ids = |about: &str| Schema::list(Schema::integer()).about(about);
    let email = Schema::text()
        .default(Value::Null)
        .format("email")
        .about("Limit results to reviews from this e-mail address.");
    let status = Schema::text()
        .default(APPROVED)
        .choices(&["all", "hold", "approved", "spam", "trash"])
        .about("Limit results to reviews with this status.");
    args::paging()
        .with(args::search())
        .with(args::created())
        .with(args::ids())
        .with(args::offset())
        .with(args::order("desc", &orders))
        .revise("orderby", |schema| schema.default("date_gmt"))
        .arg("reviewer", ids("Limit results to reviews by these users."))
        .arg("reviewer_exclude", ids("Exclude reviews by these users."))
        .arg("reviewer_email", email)
        .arg("product", args::id_list("Limit results to reviews of these products."))
        .arg("status", status)
}
