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
    Schema::boolean().about("Whether the reviewer bought the product.").context(BOTH).readonly()
}

pub(super) fn current() -> Item {
    let date = |about: &str| Schema::typed("date-time").about(about).context(BOTH).readonly();
    let status = text("Whether it is shown.").default(APPROVED).choices(&STATUSES);
    let avatar = |size: &'static str| (size, text("Address of the picture.").format("uri"));
    let avatars = Schema::object(["24", "48", "96"].map(avatar))
        .about("Pictures of the reviewer, by size.")
        .context(BOTH)
        .readonly();
    Item::new(
        "product_review",
        Schema::object([
            ("id", integer("Number of the review.").readonly()),
            ("date_created", date("When it was written, in the site's time.")),
            ("date_created_gmt", date("When it was written, in GMT.")),
            ("product_id", integer("Number of the product.")),
            ("product_name", text("Name of the product.")),
            ("product_permalink", text("Address of the product.").format("uri").readonly()),
            ("status", status),
            ("reviewer", text("Name of who wrote it.")),
            ("reviewer_email", text("Their e-mail address.").format("email")),
            ("review", text("What they wrote.")),
            ("rating", integer("How many stars they gave, from 0 to 5.")),
            ("verified", verified()),
            ("reviewer_avatar_urls", avatars),
        ]),
    )
}

pub(super) fn older(version: Version) -> Item {
    let date = |about: &str| Schema::typed("date-time").about(about).context(BOTH);
    let mut fields = vec![
        ("id", integer("Number of the review.").readonly()),
        ("date_created", date("When it was written.")),
    ];
    if version > Version::One {
        fields.push(("date_created_gmt", date("When it was written, in GMT.")));
    }
    fields.extend([
        ("review", text("What they wrote.")),
        ("rating", integer("How many stars they gave, from 0 to 5.")),
        ("name", text("Name of who wrote it.")),
        ("email", text("Their e-mail address.")),
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
        .about("Keep only the reviews of who has this e-mail address.");
    let status = Schema::text()
        .default(APPROVED)
        .choices(&["all", "hold", "approved", "spam", "trash"])
        .about("Keep only the reviews of this status.");
    args::paging()
        .with(args::search())
        .with(args::created())
        .with(args::ids())
        .with(args::offset())
        .with(args::order("desc", &orders))
        .revise("orderby", |schema| schema.default("date_gmt"))
        .arg("reviewer", ids("Keep only the reviews of these users."))
        .arg("reviewer_exclude", ids("Leave out the reviews of these users."))
        .arg("reviewer_email", email)
        .arg("product", args::id_list("Keep only the reviews of these products."))
        .arg("status", status)
}
