//! The parameters of lists of products.

use contract::rest::args::{absint, id_list, text_field, text_list};
use contract::rest::{Args, Schema, Treatment};
use serde_json::json;

const ORDERS: &[&str] = &[
    "date",
    "modified",
    "id",
    "include",
    "title",
    "slug",
    "price",
    "popularity",
    "rating",
    "menu_order",
    "comment_count",
];
const OPERATORS: &[&str] = &["in", "not_in", "and"];

pub(crate) fn context(contexts: &[&str]) -> Schema {
    let about = "Scope of the request; determines the fields in the response.";
    Schema::text().about(about).choices(contexts).default("view")
}

/// What both the list and its counts take, but for `context`.
pub(super) fn list() -> Args {
    let text = |about: &str| Schema::text().about(about);
    let ids = |about: &str| Schema::list(Schema::integer()).default(Vec::<i64>::new()).about(about);
    let flag = |about: &str| Schema::boolean().about(about);
    let types = ["simple", "grouped", "external", "variable", "variation"];
    let columns = ["date", "date_gmt", "modified", "modified_gmt"];
    let mut args = commerce::common::args::paging()
        .treated(
            "search",
            text("Limit results to products matching these words."),
            Treatment::Own(text_field),
        )
        .arg("slug", text("Limit results to products with these slugs."))
        .arg(
            "after",
            text("Limit results to products created after this date.").format("date-time"),
        )
        .arg(
            "before",
            text("Limit results to products created before this date.").format("date-time"),
        )
        .arg(
            "date_column",
            text("Date that after and before compare.").choices(&columns).default("date"),
        )
        .treated("exclude", ids("Exclude products with these IDs."), Treatment::Own(id_list))
        .treated(
            "include",
            ids("Limit results to products with these IDs."),
            Treatment::Own(id_list),
        )
        .treated(
            "offset",
            Schema::integer().about("Number of products to skip."),
            Treatment::Own(absint),
        )
        .arg("order", text("Sort order.").choices(&["asc", "desc"]).default("desc"))
        .arg("orderby", text("Field to sort by.").choices(ORDERS).default("date"))
        .treated(
            "parent",
            ids("Limit results to variations of these products."),
            Treatment::Own(id_list),
        )
        .treated(
            "parent_exclude",
            ids("Exclude variations of these products."),
            Treatment::Own(id_list),
        )
        .arg("type", text("Limit results to products of this type.").choices(&types))
        .arg("sku", text("Limit results to products with these SKUs."))
        .arg("featured", flag("Limit results to featured products."));
    for (name, noun) in [("category", "categories"), ("brand", "brands"), ("tag", "tags")] {
        let about = format!("Limit results to products of these {noun}, by ID or slug.");
        let operator = text("How several terms are combined.").choices(OPERATORS).default("in");
        args = args
            .treated(name, text(&about), Treatment::Own(text_list))
            .arg(&format!("{name}_operator"), operator);
    }
    more(args)
}

fn more(args: Args) -> Args {
    let text = |about: &str| Schema::text().about(about);
    let statuses = Schema::text().choices(&["instock", "outofstock", "onbackorder"]);
    let visibilities = ["any", "visible", "catalog", "search", "hidden"];
    let stars = Schema::integer().keyword("enum", json!([1, 2, 3, 4, 5]));
    let attribute = Schema::object([
        ("attribute", text("Taxonomy of the attribute.")),
        ("term_id", Schema::list(Schema::integer()).about("IDs of terms.")),
        ("slug", Schema::list(Schema::text()).about("Slugs of terms.")),
        ("operator", text("How several terms are combined.").choices(OPERATORS)),
    ]);
    let none = Vec::<i64>::new();
    args.arg("on_sale", Schema::boolean().about("Limit results to products on sale."))
        .arg(
            "min_price",
            text("Limit results to products that cost at least this, in the minor unit."),
        )
        .arg(
            "max_price",
            text("Limit results to products that cost at most this, in the minor unit."),
        )
        .arg(
            "stock_status",
            Schema::list(statuses)
                .default(none.clone())
                .about("Limit results to these stock statuses."),
        )
        .arg(
            "attributes",
            Schema::list(attribute)
                .default(none.clone())
                .about("Limit results to products with these terms of attributes."),
        )
        .arg(
            "attribute_relation",
            text("How several attributes are combined.").choices(&["in", "and"]).default("and"),
        )
        .arg(
            "catalog_visibility",
            text("Limit results to products visible here.").choices(&visibilities),
        )
        .treated(
            "rating",
            Schema::list(stars).default(none).about("Limit results to products of these ratings."),
            Treatment::Own(id_list),
        )
        .treated(
            "related",
            Schema::integer().about("Limit results to products related to this one."),
            Treatment::Own(absint),
        )
}
