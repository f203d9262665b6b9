//! The schema of a variation in each of its shapes.

use contract::rest::{Item, Schema};

use super::super::record::STOCK_STATUSES;
use super::super::schema::{
    BACKORDERS, TAX_STATUSES, choice, chosen, dimensions, downloads, field, flag, image, moment,
    number, sale_dates, text,
};
use super::super::version::is_current;
use crate::common::meta;
use crate::common::version::Version;

const STATUSES: &[&str] = &["draft", "pending", "private", "publish"];

type Fields = Vec<(&'static str, Schema)>;

pub(super) fn item(version: Version) -> Item {
    let mut fields = Fields::new();
    fields.extend(identity(version));
    fields.extend(prices(version));
    fields.extend(nature());
    fields.extend(stock(version));
    fields.extend(rest(version));
    Item::new("product_variation", Schema::object(fields))
}

fn identity(version: Version) -> Fields {
    let mut fields = vec![("id", number("Number of the variation.").readonly())];
    match version {
        Version::Analytics => {
            fields.push(("type", choice(&["variation"], "variation", "Kind of product.")));
        }
        Version::Three => fields.push(("type", text("Kind of product.").readonly())),
        _ => {}
    }
    fields.extend([
        ("date_created", moment("When it was made, in the site's time.").readonly()),
        ("date_modified", moment("When it was last changed, in the site's time.").readonly()),
        ("description", text("What it is.")),
        ("permalink", text("Address of its page.").format("uri").readonly()),
        ("sku", text("The shop's own number for it.")),
    ]);
    if is_current(version) {
        fields.push(("global_unique_id", text("Its GTIN, UPC, EAN or ISBN.")));
    }
    fields
}

fn prices(version: Version) -> Fields {
    let mut fields = vec![
        ("price", text("What it costs now.").readonly()),
        ("regular_price", text("What it costs without a sale.")),
        ("sale_price", text("What it costs in a sale.")),
    ];
    fields.extend(sale_dates());
    fields.push(("on_sale", flag("Whether there is a sale.").readonly()));
    if is_current(version) {
        fields.push(("status", choice(STATUSES, "publish", "Whether it is published.")));
    } else {
        fields.push(("visible", flag("Whether buyers see it.").default(true)));
    }
    fields.push(("purchasable", flag("Whether it can be bought.").readonly()));
    fields
}

fn nature() -> Fields {
    vec![
        ("virtual", flag("Whether it is nothing to ship.").default(false)),
        ("downloadable", flag("Whether buyers get files.").default(false)),
        ("downloads", downloads()),
        ("download_limit", number("How often a file may be fetched.").default(-1)),
        ("download_expiry", number("For how many days files may be fetched.").default(-1)),
        ("tax_status", choice(TAX_STATUSES, "taxable", "What of it is taxed.")),
        ("tax_class", text("Its class of taxes.")),
    ]
}

fn stock(version: Version) -> Fields {
    let managed = Schema::types(&["boolean", "string"]).default(false);
    let about = "Whether its stock is counted, by itself or with its product.";
    let managed = match version {
        Version::Two => flag(about).default(false),
        _ => field(managed, about),
    };
    let mut fields =
        vec![("manage_stock", managed), ("stock_quantity", number("How many there are."))];
    if is_current(version) {
        let status = choice(STOCK_STATUSES, "instock", "Whether it can be had.");
        fields.push(("stock_status", status));
    } else {
        fields.push(("in_stock", flag("Whether it can be had.").default(true)));
    }
    fields.extend([
        ("backorders", choice(BACKORDERS, "no", "Whether more can be ordered than there are.")),
        ("backorders_allowed", flag("Whether more can be ordered.").readonly()),
        ("backordered", flag("Whether more were ordered than there are.").readonly()),
    ]);
    if is_current(version) {
        let about = "From which quantity on there are few.";
        fields.push(("low_stock_amount", field(Schema::types(&["integer", "null"]), about)));
    }
    fields
}

fn rest(version: Version) -> Fields {
    let class_id = if is_current(version) { Schema::text() } else { Schema::integer() };
    let mut fields = vec![
        ("weight", text("How heavy it is.")),
        ("dimensions", dimensions()),
        ("shipping_class", text("Its class of shipping.")),
        ("shipping_class_id", field(class_id, "Number of the class of shipping.").readonly()),
        ("image", field(Schema::object(image(version)), "Its picture, by its address.")),
    ];
    if is_current(version) {
        let ids = Schema::list(Schema::integer().min(1));
        fields.push(("gallery_image_ids", field(ids, "Numbers of more pictures.")));
    }
    fields.extend([
        ("attributes", field(Schema::list(chosen()), "What makes it differ.")),
        ("menu_order", number("Its place in lists.")),
        ("meta_data", meta::schema()),
    ]);
    match version {
        Version::Analytics => {
            fields.push(("parent_id", number("Number of the product.")));
            fields.push(("name", text("Name of the variation, which follows from its product.")));
        }
        Version::Three => fields.push(("parent_id", number("Number of the product.").readonly())),
        _ => {}
    }
    fields
}
