//! Downloads over time: how often files were fetched.

use contract::rest::{Args, Stop};
use frame::Call;
use shop_rows::customer_lookup;

use super::{Stats, query_args};
use crate::columns::{Shape, column};
use crate::context::QueryContext;
use crate::query::{DateColumn, Filter, IdSet, Measure, Table, When};
use crate::reports::{args, filters};

pub static STATS: Stats = Stats {
    path: "/downloads/stats",
    title: "report_downloads_stats",
    table: Table::Downloads,
    columns: &[column(
        "download_count",
        "Number of downloads.",
        Shape::Count,
        &[(1, Measure::Rows(When::Always))],
    )
    .indicator()],
    of_totals: &[],
    always: &[],
    dimensions: &[],
    sorts: &[],
    product_params: ("", ""),
    variations_param: "",
    is_of_variations: false,
    coupons_param: "",
    args: stats_args,
    query_args: &[
        query_args::FIELDS,
        query_args::INTERVAL,
        query_args::text("match", "all"),
        query_args::list("product_includes"),
        query_args::list("product_excludes"),
        query_args::list("customer_includes"),
        query_args::list("customer_excludes"),
        query_args::list("order_includes"),
        query_args::list("order_excludes"),
        query_args::list("ip_address_includes"),
        query_args::list("ip_address_excludes"),
        query_args::REFRESH,
    ],
    date: |_| DateColumn::Created,
    filter,
    split: |_, _, _| None,
};

fn stats_args() -> Args {
    args::dated(1, "date", &["date", "download_count"])
        .with(args::fields())
        .with(args::interval())
        .with(args::matching())
        .with(args::loose_ids("product_includes", "Limit results to files of these products."))
        .with(args::loose_ids("product_excludes", "Exclude files of these products."))
        .with(who_and_where())
}

/// Filters by order, customer and address.
pub fn who_and_where() -> Args {
    args::ids("order_includes", "Limit results to files of these orders.")
        .with(args::ids("order_excludes", "Exclude files of these orders."))
        .with(args::ids("customer_includes", "Limit results to downloads of these customers."))
        .with(args::ids("customer_excludes", "Exclude downloads of these customers."))
        .with(args::texts(
            "ip_address_includes",
            "Limit results to downloads from these addresses.",
        ))
        .with(args::texts("ip_address_excludes", "Exclude downloads from these addresses."))
}

/// The list of downloads is filtered in the same way.
pub fn filter(call: &mut Call<'_>, _: &QueryContext) -> Result<Filter, Stop> {
    let (wanted, unwanted) = (users(call, "customer_includes")?, users(call, "customer_excludes")?);
    let params = &call.params;
    let ids = |name: &str| filters::ids(params, name);
    let addresses = |name: &str| {
        Some(params.texts(name)).filter(|texts| !texts.is_empty()).map(Filter::DownloadIp)
    };
    let conditions = [
        ids("product_includes").map(Filter::DownloadProduct),
        ids("product_excludes").map(Filter::DownloadProduct).map(Filter::negated),
        ids("order_includes").map(Filter::DownloadOrder),
        ids("order_excludes").map(Filter::DownloadOrder).map(Filter::negated),
        wanted.map(Filter::DownloadUser),
        unwanted.map(Filter::DownloadUser).map(Filter::negated),
        addresses("ip_address_includes"),
        addresses("ip_address_excludes").map(Filter::negated),
    ];
    let conditions: Vec<Filter> = conditions.into_iter().flatten().collect();
    Ok(filters::joined(conditions, filters::is_any(params)))
}

/// The users behind customers of reports; guests have none.
fn users(call: &mut Call<'_>, name: &str) -> Result<Option<IdSet>, Stop> {
    let Some(customers) = filters::ids(&call.params, name) else { return Ok(None) };
    let mut users = Vec::new();
    for customer_id in customers.ids() {
        let found = customer_lookup::get(call.conn()?, *customer_id)?;
        users.extend(found.and_then(|customer| customer.user_id));
    }
    Ok(Some(users.into_iter().collect()))
}
