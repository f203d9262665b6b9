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
        .arg("brand", text("Keep only products of these brands, by their numbers."))
        .with(which())
        .with(taxes())
        .arg("on_sale", flag("Keep only products that are in a sale, or are not."))
        .with(price_bounds())
        .with(meta_choice())
        .arg("stock_status", stock_status())
        .arg("search_sku", text("Keep only products whose SKU has this in it."))
        .arg("search_name_or_sku", text("Keep only products with these words in name or SKU."))
        .arg("search_fields", search_fields())
        .with(statuses())
        .arg("include_types", list_of(KINDS, "Keep only products of these kinds."))
        .arg("exclude_types", list_of(KINDS, "Leave out products of these kinds."))
        .arg("downloadable", flag("Keep only products with files, or without."))
        .arg("virtual", flag("Keep only products that are nothing to ship, or are."))
        .arg("pos_products_only", flag("Keep only products that a till can sell."));
    if version == Version::Analytics {
        let few = flag("Keep only products of which there are few.").default(false);
        args = args.arg("low_in_stock", few);
    }
    args
}

/// The parameters of suggestions.
pub(super) fn suggested() -> Args {
    let orders = ORDERS.get(..SUGGESTED_ORDERS).unwrap_or(ORDERS);
    start(orders)
        .arg("brand", text("Keep only products of these brands, by their numbers."))
        .with(which())
        .with(taxes())
        .arg("in_stock", flag("Keep only products that can be had, or cannot."))
        .arg("on_sale", flag("Keep only products that are in a sale, or are not."))
        .with(price_bounds())
        .with(meta_choice())
        .arg("categories", id_list("Suggest products of these categories."))
        .arg("tags", id_list("Suggest products with these tags."))
        .arg("limit", Schema::integer().default(5).about("How many to suggest at most."))
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
        .arg("in_stock", flag("Keep only products that can be had, or cannot."))
        .arg("on_sale", flag("Keep only products that are in a sale, or are not."))
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
        .arg("slug", text("Keep only the one with this slug."))
        .arg("status", status());
    if !is_current(version) {
        return base
            .arg("sku", text("Keep only those with these SKUs."))
            .with(taxes())
            .arg("in_stock", flag("Keep only those that can be had, or cannot."))
            .arg("on_sale", flag("Keep only those that are in a sale, or are not."))
            .with(price_bounds());
    }
    let attribute = Schema::object([
        ("attribute", Schema::text().about("Name of the attribute.")),
        ("term", Schema::text().about("A value.")),
        ("terms", Schema::typed("array").about("Values, of which one must be chosen.")),
    ]);
    base.arg("sku", text("Keep only those with these SKUs."))
        .with(taxes())
        .arg("on_sale", flag("Keep only those that are in a sale, or are not."))
        .with(price_bounds())
        .with(meta_choice())
        .arg("stock_status", stock_status())
        .arg("has_price", flag("Keep only those with a price, or without."))
        .arg("attributes", Schema::list(attribute).about("Keep only those with these values."))
        .arg("virtual", flag("Keep only those that are nothing to ship, or are."))
        .arg("downloadable", flag("Keep only those with files, or without."))
        .with(statuses())
        .arg("pos_products_only", flag("Keep only those that a till can sell."))
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
        .arg("slug", text("Keep only the product with this slug."))
        .arg("status", status())
        .arg("type", Schema::text().choices(KINDS).about("Keep only products of this kind."))
        .arg("sku", text("Keep only products with these SKUs."))
        .arg("featured", flag("Keep only products that are put forward, or are not."))
        .arg("category", text("Keep only products of these categories, by their numbers."))
        .arg("tag", text("Keep only products with these tags, by their numbers."))
        .arg("shipping_class", text("Keep only products of these classes, by their numbers."))
        .arg("attribute", text("Keep only products with this attribute, by its taxonomy."))
        .arg("attribute_term", text("Its values, by their numbers."))
}

fn taxes() -> Args {
    let class = Schema::text().choices(TAX_CLASSES).about("Keep only those of this class.");
    Args::new().arg("tax_class", class)
}

fn price_bounds() -> Args {
    Args::new()
        .arg("min_price", text("Keep only what costs this much at least."))
        .arg("max_price", text("Keep only what costs this much at most."))
}

fn meta_choice() -> Args {
    let names =
        |about: &str| Schema::list(Schema::text()).default(Vec::<String>::new()).about(about);
    Args::new()
        .arg("include_meta", names("Show only these entries of meta_data."))
        .arg("exclude_meta", names("Show all entries of meta_data but these."))
}

fn statuses() -> Args {
    let named = STATUSES.get(1..).unwrap_or(STATUSES);
    Args::new()
        .arg("include_status", list_of(STATUSES, "Keep only those with these statuses."))
        .arg("exclude_status", list_of(named, "Leave out those with these statuses."))
}

fn status() -> Schema {
    Schema::text().default("any").choices(STATUSES).about("Keep only those with this status.")
}

fn stock_status() -> Schema {
    Schema::text().choices(STOCK_STATUSES).about("Keep only those with this stock status.")
}

fn search_fields() -> Schema {
    Schema::list(Schema::text().choices(SEARCHED))
        .default(Vec::<String>::new())
        .about("Where to search.")
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
