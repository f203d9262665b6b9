//! The schema of a variation in each of its shapes.

use contract::rest::{Item, Schema};

use super::super::record::STOCK_STATUSES;
use super::super::schema::{
    BACKORDERS, TAX_STATUSES, choice, chosen, dimensions, downloads, field, flag, moment, number,
    picture, sale_dates, text,
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
    let mut fields = vec![("id", number("Variation ID.").readonly())];
    match version {
        Version::Analytics => {
            fields.push(("type", choice(&["variation"], "variation", "Product type.")));
        }
        Version::Three => fields.push(("type", text("Product type.").readonly())),
        _ => {}
    }
    fields.extend([
        ("date_created", moment("Date created, in the site's time zone.").readonly()),
        ("date_modified", moment("Date last modified, in the site's time zone.").readonly()),
        ("description", text("Variation description.")),
        ("permalink", text("Variation URL.").format("uri").readonly()),
        ("sku", text("SKU.")),
    ]);
    if is_current(version) {
        fields.push(("global_unique_id", text("GTIN, UPC, EAN or ISBN.")));
    }
    fields
}

fn prices(version: Version) -> Fields {
    let mut fields = vec![
        ("price", text("Current price.").readonly()),
        ("regular_price", text("Regular price.")),
        ("sale_price", text("Sale price.")),
    ];
    fields.extend(sale_dates());
    fields.push(("on_sale", flag("Whether the variation is on sale.").readonly()));
    if is_current(version) {
        fields.push(("status", choice(STATUSES, "publish", "Variation status.")));
    } else {
        fields.push((
            "visible",
            flag("Whether the variation is visible to customers.").default(true),
        ));
    }
    fields.push(("purchasable", flag("Whether the variation can be purchased.").readonly()));
    fields
}

fn nature() -> Fields {
    vec![
        ("virtual", flag("Whether the variation is virtual.").default(false)),
        ("downloadable", flag("Whether the variation is downloadable.").default(false)),
        ("downloads", downloads()),
        ("download_limit", number("Number of times a file can be downloaded.").default(-1)),
        ("download_expiry", number("Number of days until the download expires.").default(-1)),
        ("tax_status", choice(TAX_STATUSES, "taxable", "Tax status.")),
        ("tax_class", text("Tax class.")),
    ]
}

fn stock(version: Version) -> Fields {
    let managed = Schema::types(&["boolean", "string"]).default(false);
    let about = "Whether stock is tracked: for the variation, or with its parent product.";
    let managed = match version {
        Version::Two => flag(about).default(false),
        _ => field(managed, about),
    };
    let mut fields =
        vec![("manage_stock", managed), ("stock_quantity", number("Stock quantity.").or_null())];
    if is_current(version) {
        let status = choice(STOCK_STATUSES, "instock", "Stock status.");
        fields.push(("stock_status", status));
    } else {
        fields.push(("in_stock", flag("Whether the variation is in stock.").default(true)));
    }
    fields.extend([
        (
            "backorders",
            choice(
                BACKORDERS,
                "no",
                "Whether backorders are allowed, and whether the customer is notified.",
            ),
        ),
        ("backorders_allowed", flag("Whether backorders are allowed.").readonly()),
        ("backordered", flag("Whether the variation is on backorder.").readonly()),
    ]);
    if is_current(version) {
        let about = "Low stock threshold.";
        fields.push(("low_stock_amount", field(Schema::types(&["integer", "null"]), about)));
    }
    fields
}

fn rest(version: Version) -> Fields {
    let class_id = if is_current(version) { Schema::text() } else { Schema::integer() };
    let mut fields = vec![
        ("weight", text("Weight.")),
        ("dimensions", dimensions()),
        ("shipping_class", text("Shipping class slug.")),
        (
            "shipping_class_id",
            field(class_id, "Shipping class ID.").readonly().shown_as(Schema::integer()),
        ),
        ("image", field(picture(version), "Variation image.").or_null()),
    ];
    if is_current(version) {
        let ids = Schema::list(Schema::integer().min(1));
        fields.push(("gallery_image_ids", field(ids, "IDs of additional images.")));
    }
    fields.extend([
        ("attributes", field(Schema::list(chosen()), "Variation attributes.")),
        ("menu_order", number("Menu order.")),
        ("meta_data", meta::schema()),
    ]);
    match version {
        Version::Analytics => {
            fields.push(("parent_id", number("Parent product ID.")));
            fields.push(("name", text("Variation name, derived from its product.")));
        }
        Version::Three => fields.push(("parent_id", number("Parent product ID.").readonly())),
        _ => {}
    }
    fields
}
