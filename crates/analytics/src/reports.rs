//! Every report, and the index of them.

pub mod args;
pub mod filters;
pub mod lists;
pub mod stats;

use std::sync::Arc;

use contract::rest::route::{READ, Route};
use contract::rest::{Args, Item, Links, Reply, Schema, Stop};
use frame::action::{memory, read};
use frame::{Action, Call};
use serde_json::{Value, json};

use crate::context::{ReportContext, may_view};
use lists::customers::{self, CustomersRoute, averages};

/// The reports that the index names, with what each tells; two of them clients know without a
/// route.
const INDEX: &[(&str, &str)] = &[
    ("performance-indicators", "Key figures of several reports."),
    ("revenue/stats", "Revenue over time."),
    ("orders/stats", "Orders over time."),
    ("products", "Sales by product."),
    ("products/stats", "Products over time."),
    ("variations", "Sales by variation."),
    ("variations/stats", "Variations over time."),
    ("categories", "Sales by category."),
    ("categories/stats", "Categories over time."),
    ("coupons", "What coupons took off."),
    ("coupons/stats", "Coupons over time."),
    ("taxes", "Taxes by rate."),
    ("taxes/stats", "Taxes over time."),
    ("downloads", "Downloads."),
    ("downloads/files", "Downloadable files."),
    ("downloads/stats", "Downloads over time."),
    ("customers", "Customers and their purchases."),
    ("customers/stats", "Customer averages."),
];

type Run = fn(&ReportContext, &mut Call<'_>) -> Result<Reply, Stop>;

/// Reports that are lists: where, with which parameters, what they look like, and how.
type Listed = (&'static str, fn() -> Args, fn() -> Value, Run);

const LISTS: &[Listed] = &[
    ("/products", lists::products::args, lists::products::document, lists::products::list),
    ("/variations", lists::variations::args, lists::variations::document, lists::variations::list),
    ("/orders", lists::orders::args, lists::orders::document, lists::orders::list),
    ("/categories", lists::categories::args, lists::categories::document, lists::categories::list),
    ("/taxes", lists::taxes::args, lists::taxes::document, lists::taxes::list),
    ("/coupons", lists::coupons::args, lists::coupons::document, lists::coupons::list),
    ("/stock", lists::stock::args, lists::stock::document, lists::stock::list),
    ("/stock/stats", args::context, lists::stock::stats_document, lists::stock::stats),
    ("/downloads", lists::downloads::args, lists::downloads::document, lists::downloads::list),
    ("/customers", customers::args::report, customers::document, |reports, call| {
        customers::list(reports, call, CustomersRoute::Report)
    }),
    ("/customers/stats", customers::args::stats, averages::document, averages::show),
];

pub fn routes(namespace: &str, reports: &Arc<ReportContext>) -> Vec<Route<Action>> {
    let of_index = Arc::clone(reports);
    let index = move |call: &mut Call<'_>| Ok(index(&of_index, call));
    let mut routes = vec![
        Route::at(namespace, "/reports")
            .on(READ, args::view_only(), memory(may_view, index))
            .lists()
            .schema(index_document()),
    ];
    for (path, args, document, list) in LISTS.iter().copied() {
        let reports = Arc::clone(reports);
        let waiting = Arc::clone(&reports);
        let run = read(may_view, move |call: &mut Call<'_>| list(&reports, call))
            .after(move |site, visit, params| waiting.fresh(site, visit, params))
            .in_turns();
        let route = Route::at(namespace, &format!("/reports{path}"));
        routes.push(route.on(READ, args(), run).schema(document()));
    }
    routes.extend(stats::ALL.iter().map(|report| report.route(namespace, reports)));
    routes
}

fn index_document() -> Value {
    let text = |about: &str| Schema::text().about(about).context(&["view"]).readonly();
    let members = [
        ("slug", text("Report name.")),
        ("description", text("Report description.")),
        ("path", text("Report path.")),
    ];
    Item::new("report", Schema::object(members)).document()
}

fn index(reports: &ReportContext, call: &Call<'_>) -> Reply {
    let collection = format!("{}/reports", reports.base);
    let entry = |(slug, description): &(&str, &str)| {
        let path = format!("{collection}/{slug}");
        let page = slug.strip_suffix("/stats").unwrap_or(slug);
        let links = Links::new()
            .to("self", call.visit.rest(&path))
            .to("report", format!("/analytics/{page}"))
            .to("collection", call.visit.rest(&collection));
        let body = json!({ "slug": slug, "description": description, "path": path });
        match body {
            Value::Object(members) => lists::linked(members, links),
            other => other,
        }
    };
    Reply::new(INDEX.iter().map(entry).collect::<Vec<Value>>())
}
