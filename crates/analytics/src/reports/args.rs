//! The parameters of reports: each is defined once here, and every route names those it takes.
//!
//! Lists of ids come as a list or as a text with commas. **Most routes check them; a few take
//! whatever they can read as a number**, as clients of the reference know them.

use contract::rest::args::id_list;
use contract::rest::{Args, ParamError, Schema, Treatment, loose};
use serde_json::Value;

use crate::calendar::Unit;

/// Rows on a page at most.
pub const PER_PAGE_MAX: i64 = 100;
/// Rows on a page unless somebody asks for more.
pub const PER_PAGE: i64 = 10;

/// The statuses that a filter knows. `any` stands for all of them.
pub const STATUSES: &[&str] = &[
    "any",
    "trash",
    "pending",
    "processing",
    "on-hold",
    "completed",
    "cancelled",
    "refunded",
    "failed",
    "checkout-draft",
];

/// The view of an item: nothing differs between them here.
pub fn context() -> Args {
    Args::new().arg("context", view().choices(&["view", "edit"]))
}

pub fn view_only() -> Args {
    Args::new().arg("context", view().choices(&["view"]))
}

fn view() -> Schema {
    let about = "Scope of the request: decides which fields the answer has.";
    Schema::text().about(about).default("view")
}

/// Which page of how many rows; `least` is the fewest that may be asked for.
pub fn paging(least: i64, usual: i64, most: i64) -> Args {
    let page = Schema::integer().default(1).min(1).about("Which page of the list to show.");
    let per_page = Schema::integer()
        .default(usual)
        .min(least)
        .max(most)
        .about("Maximum number of rows per page.");
    Args::new().arg("page", page).arg("per_page", per_page)
}

/// The bounds of the report in time, both included.
pub fn range() -> Args {
    Args::new()
        .arg("after", moment("Start of the date range."))
        .arg("before", moment("End of the date range."))
}

pub fn moment(about: &str) -> Schema {
    Schema::date_time().about(about)
}

/// The direction and the column by which to sort; `usual` is one of `columns`.
pub fn order(direction: &str, usual: &str, columns: &[&str]) -> Args {
    let order = Schema::text()
        .default(direction)
        .choices(&["asc", "desc"])
        .about("Whether to sort upwards or downwards.");
    let orderby = Schema::text().default(usual).choices(columns).about("What to sort by.");
    Args::new().arg("order", order).arg("orderby", orderby)
}

pub fn refresh() -> Args {
    let about = "Whether to wait until all earlier changes are included.";
    Args::new().arg("force_cache_refresh", Schema::boolean().about(about))
}

/// What every dated report takes, in the order in which clients know it.
pub fn dated(least: i64, usual: &str, columns: &[&str]) -> Args {
    context()
        .with(paging(least, PER_PAGE, PER_PAGE_MAX))
        .with(range())
        .with(order("desc", usual, columns))
        .with(refresh())
}

/// Whether one of the filters is enough.
pub fn matching() -> Args {
    let schema = Schema::text().default("all").choices(&["all", "any"]);
    Args::new().arg("match", schema.about("Whether all or any of the filters must match."))
}

pub fn interval() -> Args {
    let names: Vec<&str> = Unit::ALL.iter().map(|unit| unit.name()).collect();
    let schema = Schema::text().default("week").choices(&names);
    Args::new().arg("interval", schema.about("Length of the intervals."))
}

pub fn fields() -> Args {
    let schema = Schema::list(Schema::text()).about("Columns to return.");
    Args::new().treated("fields", schema, Treatment::Cleaned(slug_list))
}

pub fn extended_info() -> Args {
    let schema = Schema::boolean().default(false);
    Args::new().arg("extended_info", schema.about("Whether to include details of each row."))
}

/// Ids that are checked. Without any, nothing is filtered.
pub fn ids(name: &str, about: &str) -> Args {
    Args::new().treated(name, id_schema(about), Treatment::Cleaned(id_list))
}

/// Ids that are checked, where no list is an empty one.
pub fn ids_or_none(name: &str, about: &str) -> Args {
    let schema = id_schema(about).default(Vec::<i64>::new());
    Args::new().treated(name, schema, Treatment::Cleaned(id_list))
}

/// Ids of which only what is a number counts.
pub fn loose_ids(name: &str, about: &str) -> Args {
    let schema = id_schema(about).default(Vec::<i64>::new());
    Args::new().treated(name, schema, Treatment::Own(id_list))
}

fn id_schema(about: &str) -> Schema {
    Schema::list(Schema::integer()).about(about)
}

pub fn texts(name: &str, about: &str) -> Args {
    Args::new().arg(name, Schema::list(Schema::text()).about(about))
}

/// The statuses to keep and to leave out.
pub fn statuses() -> Args {
    let status = |about: &str| Schema::list(Schema::text().choices(STATUSES)).about(about);
    let cleaned = Treatment::Cleaned(slug_list);
    Args::new()
        .treated("status_is", status("Limit results to orders of these statuses."), cleaned)
        .treated("status_is_not", status("Exclude orders of these statuses."), cleaned)
}

/// Pairs of an attribute and a term that an ordered item must have, or have otherwise.
pub fn attributes() -> Args {
    let pairs =
        |about: &str| Schema::list(Schema::typed("array")).default(Vec::<i64>::new()).about(about);
    Args::new()
        .arg(
            "attribute_is",
            pairs("Limit results to items with these pairs of attribute and term."),
        )
        .arg("attribute_is_not", pairs("Exclude items with these pairs of attribute and term."))
}

/// A pair of numbers within which a value lies. Only a list is taken, not a text with commas.
pub fn between(name: &str, items: Schema, checker: contract::rest::args::Checker) -> Args {
    let about = format!(
        "Limit results to rows whose {} is between these two values.",
        name.replace('_', " ")
    );
    let schema = Schema::list(items).about(about.trim_end_matches(" between"));
    Args::new().treated(name, schema, Treatment::Checked(checker))
}

/// What clients of ours can ask for besides: the currency that amounts are in.
pub fn currency() -> Args {
    let about = "Code of the currency to report; the shop's if there is none.";
    Args::new().arg("currency", Schema::text().about(about).ours())
}

/// What clients of ours can ask for besides: whose sales count, and in which currency.
pub fn scope() -> Args {
    let list = |about: &str| Schema::list(Schema::text()).about(about).ours();
    Args::new()
        .arg("merchant_includes", list("Limit results to sales of these merchants."))
        .arg("store_includes", list("Limit results to sales of these stores."))
        .arg("tpn_includes", list("Limit results to sales at these terminals."))
        .with(currency())
}

/// For lists of names: lower case, each once.
fn slug_list(value: &Value, name: &str) -> Result<Value, ParamError> {
    let mut slugs: Vec<Value> = Vec::new();
    if let Value::Array(items) = contract::rest::args::text_list(value, name)? {
        for item in items {
            let text = loose::scalar_text(&item).unwrap_or_default();
            let slug = Value::from(text.trim().to_lowercase());
            if !slugs.contains(&slug) {
                slugs.push(slug);
            }
        }
    }
    Ok(Value::Array(slugs))
}

/// Exactly two numbers.
pub fn two_numbers(value: &Value, name: &str) -> Result<(), Option<ParamError>> {
    two(value, name, "numbers", |item| match item {
        Value::Number(_) => true,
        Value::String(text) => text.trim().parse::<f64>().is_ok_and(f64::is_finite),
        _ => false,
    })
}

/// Exactly two dates with times.
pub fn two_dates(value: &Value, name: &str) -> Result<(), Option<ParamError>> {
    two(value, name, "dates", |item| {
        item.as_str().is_some_and(contract::rest::formats::is_date_time)
    })
}

fn two(
    value: &Value,
    name: &str,
    what: &str,
    is_fine: impl Fn(&Value) -> bool,
) -> Result<(), Option<ParamError>> {
    let fine = match value {
        Value::Array(items) => items.len() == 2 && items.iter().all(is_fine),
        _ => false,
    };
    let message = format!("{name} must be a list of two {what}.");
    if fine { Ok(()) } else { Err(Some(ParamError::new("rest_invalid_param", message))) }
}
