//! The fields of a coupon, as the newest version has them; [`shape`] gives those of the others.

use contract::rest::{Item, Schema};

use super::shape;
use crate::common::version::Version;
use crate::common::{amounts, meta};

const BOTH: &[&str] = &["view", "edit"];

const AMOUNTS: &[&str] = &["amount", "minimum_amount", "maximum_amount"];

/// Ways of reckoning the discount.
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
        ("id", Schema::integer().about("Number of the coupon.").readonly()),
        ("code", Schema::text().about("What customers type in.")),
        ("amount", amounts::schema("How much is taken off: money or percent, by the kind.")),
        ("status", Schema::text().about("Whether it is published, a draft or to be reviewed.")),
        ("date_created", moment("When it was made, in the site's time.").readonly()),
        ("date_created_gmt", moment("When it was made, in GMT.").readonly()),
        ("date_modified", moment("When it was changed last, in the site's time.").readonly()),
        ("date_modified_gmt", moment("When it was changed last, in GMT.").readonly()),
        ("discount_type", kind()),
        ("description", Schema::text().about("What it is for; customers do not see it.")),
        ("date_expires", moment("From when on it is not taken, in the site's time.")),
        ("date_expires_gmt", moment("From when on it is not taken, in GMT.")),
        ("usage_count", Schema::integer().about("How often it was used.").readonly()),
    ];
    fields.extend(conditions());
    fields.push(("used_by", ids("Who has used it: ids of users, or addresses.").readonly()));
    fields.push(("meta_data", meta::schema()));
    fields
}

fn conditions() -> [(&'static str, Schema); 13] {
    let addresses = Schema::list(Schema::text());
    [
        ("individual_use", switch("Whether it excludes all other coupons.")),
        ("product_ids", ids("Products that it is for.")),
        ("excluded_product_ids", ids("Products that it is not for.")),
        ("usage_limit", count("How often it can be used in all.")),
        ("usage_limit_per_user", count("How often one customer can use it.")),
        ("limit_usage_to_x_items", count("To how many items of an order it applies.")),
        ("free_shipping", switch("Whether it makes free shipping available.")),
        ("product_categories", ids("Categories that it is for.")),
        ("excluded_product_categories", ids("Categories that it is not for.")),
        ("exclude_sale_items", switch("Whether it leaves out what is on sale.")),
        ("minimum_amount", amounts::schema("What an order must come to before it applies.")),
        ("maximum_amount", amounts::schema("Up to which amount of an order it applies.")),
        ("email_restrictions", addresses.about("Addresses of the customers that it is for.")),
    ]
}

fn kind() -> Schema {
    let kind = Schema::text().default(DEFAULT_KIND).choices(KINDS);
    kind.about("How the discount is reckoned.")
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
