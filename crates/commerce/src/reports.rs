//! The index of the older reports, and those that count records by their kind. The reports of sales
//! among them are made of the facts of analytics, which serves their routes.

mod totals;

use contract::rest::route::{READ, Route};
use contract::rest::{Args, Item, Links, Reply, Schema, Stop};
use frame::action::memory;
use frame::{Action, Call, Names};
use serde_json::{Value, json};
use types::Capability;

use crate::common::version::Version;
use crate::managers::linked;

/// What every version has, with what is in it.
const REPORTS: &[(&str, &str)] =
    &[("sales", "Sales by day or month."), ("top_sellers", "Top sellers.")];
/// What the third version lists on top. The last three of them never had a route of their own.
const MORE_REPORTS: &[(&str, &str)] = &[
    ("orders/totals", "Order totals by status."),
    ("products/totals", "Product totals by type."),
    ("customers/totals", "Paying and non-paying customers."),
    ("coupons/totals", "Coupon totals by discount type."),
    ("reviews/totals", "Review totals by rating."),
    ("categories/totals", "Categories."),
    ("tags/totals", "Tags."),
    ("attributes/totals", "Attributes."),
];

pub(crate) fn routes(names: &Names) -> Vec<Route<Action>> {
    let mut routes = Vec::new();
    for version in [Version::One, Version::Two, Version::Three] {
        let namespace = version.namespace(names);
        let more = if version == Version::Three { MORE_REPORTS } else { &[] };
        if version == Version::Three {
            routes.extend(totals::routes(namespace));
        }
        routes.push(index(namespace, more));
    }
    routes
}

fn index(namespace: &str, more: &'static [(&str, &str)]) -> Route<Action> {
    let item = Item::new(
        "report",
        Schema::object([
            ("slug", shown(Schema::text(), "Report name.")),
            ("description", shown(Schema::text(), "Report description.")),
        ]),
    );
    let context = Args::new().arg("context", item.context_arg());
    let base = base(namespace);
    let list = move |call: &mut Call<'_>| {
        let item = |(slug, about): &(&str, &str)| {
            let own = call.visit.rest(&format!("{base}/{slug}"));
            let links = Links::new().to("self", own).to("collection", call.visit.rest(&base));
            linked(json!({ "slug": slug, "description": about }), links)
        };
        Ok(Reply::new(REPORTS.iter().chain(more).map(item).collect::<Vec<Value>>()))
    };
    Route::at(namespace, "/reports")
        .on(READ, context, memory(may_view, list))
        .lists()
        .schema(item.document())
}

fn base(namespace: &str) -> String {
    format!("/{namespace}/reports")
}

/// A field of a report: there is nothing to write.
fn shown(schema: Schema, about: &str) -> Schema {
    schema.about(about).context(&["view"]).readonly()
}

fn may_view(call: &mut Call<'_>) -> Result<(), Stop> {
    let (code, message) = ("woocommerce_rest_cannot_view", "You are not allowed to view reports.");
    // These sums are of the whole shop.
    if call.is_bound() {
        return Err(call.deny(code, message).into());
    }
    call.need(Capability::ViewWoocommerceReports, code, message)?;
    call.need(Capability::ManageWoocommerce, code, message)
}
