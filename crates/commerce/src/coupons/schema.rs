//! The fields of a coupon, as the newest version has them; [`shape`] gives those of the others.

use contract::rest::{Item, Schema};

use super::shape;
use crate::common::version::Version;
use crate::common::{amounts, meta};

const BOTH: &[&str] = &["view", "edit"];

const AMOUNTS: &[&str] = &["amount", "minimum_amount", "maximum_amount"];

/// Ways of calculating the discount.
pub(super) const KINDS: &[&str] = &[PERCENT, DEFAULT_KIND, "fixed_product"];
pub(super) const PERCENT: &str = "percent";
pub(super) const DEFAULT_KIND: &str = "fixed_cart";

pub(super) fn item(version: Version) -> Item {
    let fields = fields().into_iter();
    // The first version takes amounts as texts only.
    let spelt = |field: &str, schema: Schema| match version {
        Version::One if AMOUNTS.contains(&field) => schema.keyword("type", "string"),
        _ => schema,
    };
    let named = fields
        .filter_map(|(field, schema)| Some((shape::name(version, field)?, spelt(field, schema))));
    Item::new("shop_coupon", Schema::object(named.map(|(name, s)| (name, s.context(BOTH)))))
}

fn fields() -> Vec<(&'static str, Schema)> {
    let mut fields = vec![
        ("id", Schema::integer().about("Coupon ID.").readonly()),
        ("code", Schema::text().about("Coupon code.")),
        (
            "amount",
            amounts::schema(
                "Discount amount: a sum or a percentage, depending on the discount type.",
            ),
        ),
        ("status", Schema::text().about("Coupon status.")),
        ("date_created", moment("Date created, in the site's time zone.").readonly()),
        ("date_created_gmt", moment("Date created, in GMT.").readonly()),
        ("date_modified", moment("Date last modified, in the site's time zone.").readonly()),
        ("date_modified_gmt", moment("Date last modified, in GMT.").readonly()),
        ("discount_type", kind()),
        ("description", Schema::text().about("Description, not shown to customers.")),
        ("date_expires", moment("Expiry date, in the site's time zone.").or_null()),
        ("date_expires_gmt", moment("Expiry date, in GMT.").or_null()),
        ("usage_count", Schema::integer().about("Number of times the coupon was used.").readonly()),
    ];
    fields.extend(conditions());
    fields.push((
        "used_by",
        ids("Users who used the coupon: user IDs or e-mail addresses.")
            .readonly()
            .shown_as(Schema::list(Schema::text())),
    ));
    fields.push(("meta_data", meta::schema()));
    fields
}

fn conditions() -> [(&'static str, Schema); 13] {
    let addresses = Schema::list(Schema::text());
    [
        ("individual_use", switch("Whether the coupon cannot be combined with others.")),
        ("product_ids", ids("Products the coupon applies to.")),
        ("excluded_product_ids", ids("Excluded products.")),
        ("usage_limit", count("Usage limit in total.").or_null()),
        ("usage_limit_per_user", count("Usage limit per customer.").or_null()),
        (
            "limit_usage_to_x_items",
            count("Maximum number of items the coupon applies to.").or_null(),
        ),
        ("free_shipping", switch("Whether the coupon grants free shipping.")),
        ("product_categories", ids("Product categories the coupon applies to.")),
        ("excluded_product_categories", ids("Excluded product categories.")),
        ("exclude_sale_items", switch("Whether sale items are excluded.")),
        ("minimum_amount", amounts::schema("Minimum order amount.")),
        ("maximum_amount", amounts::schema("Maximum order amount.")),
        (
            "email_restrictions",
            addresses.about("E-mail addresses of the customers who can use the coupon."),
        ),
    ]
}

fn kind() -> Schema {
    let kind = Schema::text().default(DEFAULT_KIND).choices(KINDS);
    kind.about("Discount type.")
}

fn moment(about: &str) -> Schema {
    Schema::typed("date-time").about(about)
}

fn switch(about: &str) -> Schema {
    Schema::boolean().default(false).about(about)
}

fn count(about: &str) -> Schema {
    Schema::integer().about(about)
}

fn ids(about: &str) -> Schema {
    Schema::list(Schema::integer()).about(about)
}
