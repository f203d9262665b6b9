//! The parameters of lists of products and of variations.

use contract::rest::{Args, Schema};

use super::record::{KINDS, STOCK_STATUSES};
use super::version::is_current;
use crate::common::args::{self, created, id_list, ids, modified, offset, order, paging, parents};
use crate::common::first;
use crate::common::version::Version;

const STATUSES: &[&str] = &["any", "future", "trash", "draft", "pending", "private", "publish"];
const TAX_CLASSES: &[&str] = &["standard", "reduced-rate", "zero-rate"];
const SEARCHED: &[&str] = &["name", "global_unique_id", "description", "short_description", "sku"];
/// Every part of the interface that adds an order names some of them again.
const ORDERS: &[&str] = &[
    "date",
    "id",
    "include",
    "title",
    "slug",
    "modified",
    "popularity",
    "rating",
    "post__in",
    "price",
    "sales",
    "menu_order",
    "random",
    "popularity",
    "rating",
    "menu_order",
    "price",
    "popularity",
    "rating",
];
/// How many of them the suggestions have.
const SUGGESTED_ORDERS: usize = 16;

/// The parameters of a list of products.
pub(super) fn products(version: Version) -> Args {
    if !is_current(version) {
        return older(version);
    }
    let mut args = start(ORDERS)
        .arg("brand", text("Limit results to products of these brands, by ID."))
        .with(which())
        .with(taxes())
        .arg("on_sale", flag("Limit results to products that are on sale, or are not."))
        .with(price_bounds())
        .with(meta_choice())
        .arg("stock_status", stock_status())
        .arg("search_sku", text("Limit results to products whose SKU contains this."))
        .arg(
            "search_name_or_sku",
            text("Limit results to products whose name or SKU contains these words."),
        )
        .arg("search_fields", search_fields())
        .with(statuses())
        .arg("include_types", list_of(KINDS, "Limit results to products of these types."))
        .arg("exclude_types", list_of(KINDS, "Exclude products of these types."))
        .arg("downloadable", flag("Limit results to downloadable products, or to others."))
        .arg("virtual", flag("Limit results to virtual products, or to others."))
        .arg("pos_products_only", flag("Limit results to products sold at the point of sale."));
    if version == Version::Analytics {
        let few = flag("Limit results to products that are low in stock.").default(false);
        args = args.arg("low_in_stock", few);
    }
    args
}

/// The parameters of suggestions.
pub(super) fn suggested() -> Args {
    let orders = ORDERS.get(..SUGGESTED_ORDERS).unwrap_or(ORDERS);
    start(orders)
        .arg("brand", text("Limit results to products of these brands, by ID."))
        .with(which())
        .with(taxes())
        .arg("in_stock", flag("Limit results to products that are in stock, or are not."))
        .arg("on_sale", flag("Limit results to products that are on sale, or are not."))
        .with(price_bounds())
        .with(meta_choice())
        .arg("categories", id_list("Suggest products of these categories."))
        .arg("tags", id_list("Suggest products with these tags."))
        .arg("limit", Schema::integer().default(5).about("Maximum number of suggestions."))
}

fn older(version: Version) -> Args {
    let orders: &[&str] = &["date", "id", "include", "title", "slug", "modified"];
    let args = match version {
        Version::One => paging()
            .with(args::search())
            .with(created())
            .with(ids())
            .with(offset())
            .with(order("desc", orders)),
        _ => start(orders),
    };
    let args = args
        .with(which())
        .with(taxes())
        .arg("in_stock", flag("Limit results to products that are in stock, or are not."))
        .arg("on_sale", flag("Limit results to products that are on sale, or are not."))
        .with(price_bounds());
    let later = ["featured", "tax_class", "in_stock", "on_sale", "min_price", "max_price"];
    let args = first::listed(version, args, &later);
    match version {
        // Its clients cannot ask for what is in the trash.
        Version::One => {
            let statuses = || STATUSES.iter().copied().filter(|status| *status != "trash");
            args.revise("status", |schema| schema.choices(&statuses().collect::<Vec<_>>()))
        }
        _ => args,
    }
}

/// The parameters of a list of variations.
pub(super) fn variations(version: Version) -> Args {
    let orders: &[&str] = &["date", "id", "include", "title", "slug", "modified", "menu_order"];
    let base = start(orders.get(..if is_current(version) { 7 } else { 6 }).unwrap_or(orders))
        .arg("slug", text("Limit results to this slug."))
        .arg("status", status());
    if !is_current(version) {
        return base
            .arg("sku", text("Limit results to these SKUs."))
            .with(taxes())
            .arg("in_stock", flag("Limit results to variations that are in stock, or are not."))
            .arg("on_sale", flag("Limit results to variations that are on sale, or are not."))
            .with(price_bounds());
    }
    let attribute = Schema::object([
        ("attribute", Schema::text().about("Attribute name.")),
        ("term", Schema::text().about("Attribute term.")),
        ("terms", Schema::typed("array").about("Attribute terms, one of which must match.")),
    ]);
    base.arg("sku", text("Limit results to these SKUs."))
        .with(taxes())
        .arg("on_sale", flag("Limit results to variations that are on sale, or are not."))
        .with(price_bounds())
        .with(meta_choice())
        .arg("stock_status", stock_status())
        .arg("has_price", flag("Limit results to variations with a price, or without."))
        .arg(
            "attributes",
            Schema::list(attribute).about("Limit results to variations with these attributes."),
        )
        .arg("virtual", flag("Limit results to virtual variations, or to others."))
        .arg("downloadable", flag("Limit results to downloadable variations, or to others."))
        .with(statuses())
        .arg("pos_products_only", flag("Limit results to variations sold at the point of sale."))
}

fn start(orders: &[&str]) -> Args {
    paging()
        .with(args::search())
        .with(created())
        .with(modified())
        .with(ids())
        .with(offset())
        .with(order("desc", orders))
        .with(parents())
}

fn which() -> Args {
    Args::new()
        .arg("slug", text("Limit results to the product with this slug."))
        .arg("status", status())
        .arg("type", Schema::text().choices(KINDS).about("Limit results to products of this type."))
        .arg("sku", text("Limit results to products with these SKUs."))
        .arg("featured", flag("Limit results to featured products, or to others."))
        .arg("category", text("Limit results to products of these categories, by ID."))
        .arg("tag", text("Limit results to products with these tags, by ID."))
        .arg("shipping_class", text("Limit results to products of these shipping classes, by ID."))
        .arg("attribute", text("Limit results to products with this attribute, by taxonomy."))
        .arg("attribute_term", text("Attribute terms, by ID."))
}

fn taxes() -> Args {
    let class = Schema::text().choices(TAX_CLASSES).about("Limit results to this tax class.");
    Args::new().arg("tax_class", class)
}

fn price_bounds() -> Args {
    Args::new().arg("min_price", text("Minimum price.")).arg("max_price", text("Maximum price."))
}

fn meta_choice() -> Args {
    let names =
        |about: &str| Schema::list(Schema::text()).default(Vec::<String>::new()).about(about);
    Args::new()
        .arg("include_meta", names("Limit meta_data to these keys."))
        .arg("exclude_meta", names("Exclude these keys from meta_data."))
}

fn statuses() -> Args {
    let named = STATUSES.get(1..).unwrap_or(STATUSES);
    Args::new()
        .arg("include_status", list_of(STATUSES, "Limit results to these statuses."))
        .arg("exclude_status", list_of(named, "Exclude these statuses."))
}

fn status() -> Schema {
    Schema::text().default("any").choices(STATUSES).about("Limit results to this status.")
}

fn stock_status() -> Schema {
    Schema::text().choices(STOCK_STATUSES).about("Limit results to this stock status.")
}

fn search_fields() -> Schema {
    Schema::list(Schema::text().choices(SEARCHED))
        .default(Vec::<String>::new())
        .about("Fields to search.")
}

fn list_of(choices: &[&str], about: &str) -> Schema {
    Schema::list(Schema::text().choices(choices)).about(about)
}

fn text(about: &str) -> Schema {
    Schema::text().about(about)
}

fn flag(about: &str) -> Schema {
    Schema::boolean().about(about)
}
