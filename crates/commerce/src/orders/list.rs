//! Lists of orders and refunds: their parameters, and what these ask the store for.

use contract::rest::{Args, Schema};
use frame::Call;
use serde_json::json;
use shop_rows::order::{OrderFilter, OrderKind, OrderSort};

use super::status::STATUSES;
use super::{status, view};
use crate::common::version::Version;
use crate::common::{args, first, moments, paging};

const ANY: &str = "any";
/// Parameters that came after the first version.
const AFTER_FIRST: &[&str] = &[
    "parent",
    "parent_exclude",
    "order_item_display_meta",
    "include_meta",
    "exclude_meta",
    "created_via",
];
/// Orders that nobody has placed yet.
const DRAFTS: [&str; 2] = [status::AUTO_DRAFT, status::CHECKOUT_DRAFT];

/// The parameters of a list of orders.
pub(super) fn order_args(version: Version) -> Args {
    let mut statuses = vec![ANY, status::TRASH];
    if version != Version::Analytics {
        statuses.push(status::AUTO_DRAFT);
    }
    statuses.extend(STATUSES.iter().map(|(slug, _)| *slug));
    let several = || Schema::list(Schema::text().choices(&statuses));
    let status = match version {
        Version::Analytics => several().default(vec![ANY]),
        Version::One => one_status(),
        _ => several().default(ANY),
    };
    let args = args::records()
        .with(args::parents())
        .arg("status", status.about("Limit results to orders with these statuses."))
        .arg("customer", Schema::integer().about("Limit results to orders of this customer."))
        .arg("product", Schema::integer().about("Limit results to orders with this product."))
        .with(shown_args())
        .arg(
            "created_via",
            Schema::list(Schema::text())
                .about("Limit results to orders created through this channel."),
        );
    let args = first::listed(version, args, AFTER_FIRST);
    if version != Version::Analytics {
        return args;
    }
    args.arg(
        "number",
        Schema::text().about("Limit results to orders whose number starts with this."),
    )
}

/// The parameters of a list of refunds. The first version has those of orders there.
pub(super) fn refund_args(version: Version) -> Args {
    if version == Version::One {
        return order_args(version);
    }
    args::records().with(args::parents()).with(shown_args())
}

/// The first version keeps orders of one status.
fn one_status() -> Schema {
    let known = STATUSES.iter().map(|(slug, _)| *slug);
    let statuses: Vec<&str> = [ANY].into_iter().chain(known).collect();
    Schema::text().default(ANY).choices(&statuses)
}

/// Parameters that say how orders are shown.
fn shown_args() -> Args {
    let keys =
        |about: &str| Schema::list(Schema::text()).default(Vec::<String>::new()).about(about);
    let readable = "Whether to hide internal line metadata.";
    Args::new()
        .arg("dp", Schema::integer().default(2).about("Number of decimals."))
        .arg("order_item_display_meta", Schema::boolean().default(false).about(readable))
        .arg("include_meta", keys("Limit metadata to these keys."))
        .arg("exclude_meta", keys("Exclude metadata with these keys."))
}

/// What a call asks for.
pub(super) fn filter(call: &Call<'_>, kind: OrderKind) -> OrderFilter {
    let params = &call.params;
    let is_gmt = params.flag("dates_are_gmt");
    let bound = |name: &str| moments::bound(call.options(), params.text(name), is_gmt);
    let text = |name: &str| params.text(name).map(str::trim).filter(|text| !text.is_empty());
    let one = |name: &str| text(name).map(str::to_owned).into_iter().collect();
    OrderFilter {
        kinds: vec![kind],
        search: text("search").map(str::to_owned),
        number: text("number").map(str::to_owned),
        after: bound("after"),
        before: bound("before"),
        modified_after: bound("modified_after"),
        modified_before: bound("modified_before"),
        include: params.ints("include"),
        exclude: params.ints("exclude"),
        parents: params.ints("parent"),
        parents_exclude: params.ints("parent_exclude"),
        merchants: one("merchant_id"),
        stores: one("store_id"),
        tpns: one("tpn"),
        sort: match params.text("orderby") {
            Some("id") => OrderSort::Id,
            Some("include") => OrderSort::Include,
            Some("modified") => OrderSort::Modified,
            _ => OrderSort::Date,
        },
        direction: paging::direction_unless_listed(params),
        page: paging::page(call),
        ..OrderFilter::default()
    }
}

/// What a call asks for in a list of orders.
pub(super) fn order_filter(call: &Call<'_>) -> OrderFilter {
    let params = &call.params;
    let mut filter = filter(call, OrderKind::Order);
    filter.customers = params.int("customer").into_iter().collect();
    filter.products = params.int("product").filter(|id| *id != 0).into_iter().collect();
    filter.created_via = params.texts("created_via");
    let statuses = params.texts("status");
    if statuses.is_empty() || statuses.iter().any(|status| status == ANY) {
        let hidden = [status::TRASH].into_iter().chain(DRAFTS);
        let named = |status: &&str| !statuses.iter().any(|other| other == status);
        filter.statuses_exclude = hidden.filter(named).map(str::to_owned).collect();
    } else {
        filter.statuses = statuses;
    }
    filter
}

/// Names in the query what links to other pages repeat, though nobody gave it.
pub(super) fn repeat_in_links(version: Version, call: &mut Call<'_>) {
    let decimals = view::decimals(call);
    call.params.set("dp", decimals);
    let context = call.context();
    call.params.set("context", context);
    if version >= Version::Three {
        let statuses = call.params.texts("status");
        call.params.set("status", json!(statuses));
    }
}
