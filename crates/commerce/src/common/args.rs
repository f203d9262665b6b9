//! The parameters that lists of commerce records share.

use contract::rest::{Args, Schema};

/// Items on a page at most.
pub const PER_PAGE_MAX: i64 = 100;

pub fn paging() -> Args {
    let page = Schema::integer().default(1).min(1).about("Page of the collection.");
    let per_page = Schema::integer()
        .default(10)
        .min(1)
        .max(PER_PAGE_MAX)
        .about("Maximum number of items per page.");
    Args::new().arg("page", page).arg("per_page", per_page)
}

pub fn search() -> Args {
    Args::new().arg("search", Schema::text().about("Limit results to items matching these words."))
}

/// Bounds of the date of creation.
pub fn created() -> Args {
    Args::new()
        .arg("after", moment("Limit results to items created after this date."))
        .arg("before", moment("Limit results to items created before this date."))
}

/// Bounds of the date of the last change, and which clock all the bounds are in.
pub fn modified() -> Args {
    let gmt = Schema::boolean().default(false).about("Whether the dates are in GMT.");
    Args::new()
        .arg("modified_after", moment("Limit results to items modified after this date."))
        .arg("modified_before", moment("Limit results to items modified before this date."))
        .arg("dates_are_gmt", gmt)
}

fn moment(about: &str) -> Schema {
    Schema::text().format("date-time").about(about)
}

/// A choice of ids to leave out or to keep.
pub fn ids() -> Args {
    Args::new()
        .arg("exclude", id_list("Exclude items with these IDs."))
        .arg("include", id_list("Limit results to items with these IDs."))
}

pub fn id_list(about: &str) -> Schema {
    Schema::list(Schema::integer()).default(Vec::<i64>::new()).about(about)
}

pub fn offset() -> Args {
    Args::new().arg("offset", Schema::integer().about("Number of items to skip."))
}

/// The direction and the field by which to sort; the first of each is the default.
pub fn order(direction: &str, fields: &[&str]) -> Args {
    let order = Schema::text().default(direction).choices(&["asc", "desc"]).about("Sort order.");
    let default = fields.first().copied().unwrap_or_default();
    let orderby = Schema::text().default(default).choices(fields).about("Field to sort by.");
    Args::new().arg("order", order).arg("orderby", orderby)
}

/// The list parameters of records that have dates and titles.
pub fn records() -> Args {
    let fields = ["date", "id", "include", "title", "slug", "modified"];
    paging()
        .with(search())
        .with(created())
        .with(modified())
        .with(ids())
        .with(offset())
        .with(order("desc", &fields))
}

/// Ids of the parents to keep or to leave out.
pub fn parents() -> Args {
    Args::new()
        .arg("parent", id_list("Limit results to items with these parents."))
        .arg("parent_exclude", id_list("Exclude items with these parents."))
}
