//! The parameters of the lists of customers, and of what they do on average.

use contract::rest::{Args, Schema};

use crate::reports::args::{self, between, moment, two_dates, two_numbers};

const COLUMNS: &[&str] = &[
    "username",
    "name",
    "first_name",
    "last_name",
    "email",
    "location",
    "country",
    "city",
    "state",
    "postcode",
    "date_registered",
    "date_last_active",
    "orders_count",
    "total_spend",
    "avg_order_value",
];

/// Columns that can be asked to hold something.
const FILLED: &[&str] = &["email", "name", "country", "city", "state", "postcode"];

/// Of `/reports/customers`.
pub fn report() -> Args {
    listed().with(sums()).with(chosen("customers")).with(people())
}

/// Of `/customers`.
pub fn collection() -> Args {
    let include = args::ids("include", "Limit results to these customers.");
    listed().with(sums()).with(excluded()).with(people()).with(include)
}

/// Of `/customers/{id}`.
pub fn one() -> Args {
    let id = Schema::integer().about("Customer ID.");
    Args::new().arg("id", id).with(collection())
}

/// Of `/reports/customers/stats`.
pub fn stats() -> Args {
    args::context()
        .with(who())
        .with(sums())
        .with(chosen("customers"))
        .with(args::fields())
        .with(args::refresh())
        .with(our_people())
        .with(args::currency())
}

fn listed() -> Args {
    args::dated(1, "date_registered", COLUMNS).with(args::currency()).with(who())
}

/// Names, places and dates.
fn who() -> Args {
    let text = |about: &str| Schema::text().about(about);
    let columns = ["name", "username", "email", "all"];
    let searchby = Schema::text().default("name").choices(&columns).about("Where to search.");
    let mut all = Args::new()
        .arg("registered_before", moment("Limit results to customers registered before this date."))
        .arg("registered_after", moment("Limit results to customers registered after this date."))
        .with(args::matching())
        .arg("search", text("Limit results to customers whose name contains this."))
        .arg("searchby", searchby);
    for name in ["name", "username", "email", "country"] {
        all = all
            .arg(&format!("{name}_includes"), text("Limit results to these, separated by commas."))
            .arg(&format!("{name}_excludes"), text("Exclude these, separated by commas."));
    }
    all.arg(
        "last_active_before",
        moment("Limit results to customers last active before this date."),
    )
    .arg("last_active_after", moment("Limit results to customers last active after this date."))
    .with(between("last_active_between", Schema::text(), two_dates))
    .with(between("registered_between", Schema::text(), two_dates))
}

type Make = fn() -> Schema;

/// What they bought.
fn sums() -> Args {
    let least = |about: &str, schema: Schema| schema.about(about);
    let (whole, any): (Make, Make) = (Schema::integer, Schema::number);
    let mut all = Args::new();
    for (name, one) in [("orders_count", whole), ("total_spend", any), ("avg_order_value", any)] {
        all = all
            .arg(&format!("{name}_min"), least("Limit results to who has at least as much.", one()))
            .arg(&format!("{name}_max"), least("Limit results to who has at most as much.", one()))
            .with(between(&format!("{name}_between"), Schema::integer(), two_numbers));
    }
    all.arg(
        "last_order_before",
        moment("Limit results to customers whose last order was before this date."),
    )
    .arg(
        "last_order_after",
        moment("Limit results to customers whose last order was after this date."),
    )
}

fn chosen(name: &str) -> Args {
    args::ids(name, "Limit results to these customers.").with(excluded())
}

fn excluded() -> Args {
    args::ids("customers_exclude", "Exclude these customers.")
}

/// The same for averages, with bounds in time: filters that only we have there.
fn our_people() -> Args {
    let names = ["users", "filter_empty", "user_type", "location_includes", "location_excludes"];
    let all = names.into_iter().chain(["after", "before"]);
    all.fold(people().with(args::range()), |args, name| args.revise(name, Schema::ours))
}

fn people() -> Args {
    let text = |about: &str| Schema::text().about(about);
    let filled =
        Schema::list(Schema::text().choices(FILLED)).about("Fields that must not be empty.");
    let kinds = ["all", "registered", "guest"];
    let kind = Schema::text()
        .default("all")
        .choices(&kinds)
        .about("Type of customers: registered, guest or all.");
    args::ids("users", "Limit results to these users.")
        .arg("filter_empty", filled)
        .arg("user_type", kind)
        .arg("location_includes", text("Limit results to these countries, or country:state."))
        .arg("location_excludes", text("Exclude these countries, or country:state."))
}
