//! Performance indicators: single numbers of the reports over time, side by side.

use std::collections::BTreeMap;
use std::sync::Arc;

use contract::rest::route::{READ, Route};
use contract::rest::{Args, Item, Links, Refusal, Reply, Schema, Stop};
use frame::action::{Computation, computed, read};
use frame::{Action, Call};
use serde_json::{Map, Value, json};

use crate::compat::Rule;
use crate::context::{ReportContext, may_view};
use crate::reports::args;
use crate::reports::lists::linked;
use crate::reports::stats::{self, Stats, TotalsRequest};

/// The indicators in the order in which they are shown, with their names.
const INDICATORS: &[(&str, &str)] = &[
    ("revenue/total_sales", "Total sales"),
    ("revenue/net_revenue", "Net sales"),
    ("orders/orders_count", "Orders"),
    ("orders/avg_order_value", "Average order value"),
    ("products/items_sold", "Items sold"),
    ("revenue/refunds", "Refunds"),
    ("coupons/orders_count", "Discounted orders"),
    ("coupons/amount", "Discount amount"),
    ("taxes/total_tax", "Total tax"),
    ("taxes/order_tax", "Order tax"),
    ("taxes/shipping_tax", "Shipping tax"),
    ("revenue/shipping", "Shipping"),
    ("downloads/download_count", "Downloads"),
    ("revenue/gross_sales", "Gross sales"),
    ("variations/items_sold", "Variations sold"),
];

/// An indicator: a column of a report over time.
struct Indicator {
    stat: &'static str,
    label: &'static str,
    report: &'static Stats,
    name: &'static str,
    column: &'static str,
    is_money: bool,
}

fn all() -> impl Iterator<Item = Indicator> {
    INDICATORS.iter().filter_map(|(stat, label)| {
        let (name, column) = stat.split_once('/')?;
        let path = format!("/{name}/stats");
        let report = stats::ALL.iter().find(|report| report.path == path)?;
        let definition = report.columns.iter().find(|known| known.name == column)?;
        let is_money = definition.marks.currency;
        Some(Indicator { stat, label, report, name, column, is_money })
    })
}

pub fn routes(namespace: &str, reports: &Arc<ReportContext>) -> Vec<Route<Action>> {
    let (of_all, of_allowed) = (Arc::clone(reports), Arc::clone(reports));
    let show = move |call: &mut Call<'_>| show(&of_all, call);
    let allowed = move |call: &mut Call<'_>| Ok(allowed(&of_allowed, call));
    let document = document();
    vec![
        Route::at(namespace, "/reports/performance-indicators")
            .on(READ, list_args(), computed(may_view, show).in_turns())
            .lists()
            .schema(document.clone()),
        Route::at(namespace, "/reports/performance-indicators/allowed")
            .on(READ, list_args(), read(may_view, allowed))
            .lists()
            .schema(document),
    ]
}

fn list_args() -> Args {
    let stat = Schema::text().keyword("enum", Vec::<Value>::new());
    let stats = Schema::list(stat).default(Vec::<Value>::new());
    args::context()
        .arg("stats", stats.about("Which indicators to show; all if there are none."))
        .with(args::range())
        .with(args::currency())
}

fn document() -> Value {
    let names: Vec<&str> = INDICATORS.iter().map(|(stat, _)| *stat).collect();
    let text = |about: &str| Schema::text().about(about).context(&["view", "edit"]).readonly();
    let members = [
        ("stat", text("Indicator ID.").choices(&names)),
        ("chart", text("Report column.")),
        ("label", text("Label.")),
        ("format", text("Number format.").choices(&["number", "currency"])),
        ("value", Schema::number().about("Value.").context(&["view", "edit"]).readonly()),
    ];
    Item::new("report_performance_indicator", Schema::object(members)).document()
}

/// A list of indicators has its length in its headers, and one page.
fn counted(bodies: Vec<Value>) -> Reply {
    let total = bodies.len().to_string();
    Reply::new(bodies).header("x-wp-total", total).header("x-wp-totalpages", "1")
}

fn allowed(reports: &ReportContext, call: &Call<'_>) -> Reply {
    let body = |indicator: Indicator| linked(head(&indicator), links(reports, call, &indicator));
    counted(all().map(body).collect())
}

fn show(reports: &ReportContext, call: &mut Call<'_>) -> Result<Computation, Stop> {
    let context = reports.query_context(call)?;
    let wanted = call.params.texts("stats");
    let needs_dates = context.follows(Rule::IndicatorsNeedDates);
    if wanted.is_empty() && needs_dates {
        let message = "stats is required: list the indicators to return.";
        let code = "woocommerce_analytics_performance_indicators_empty_query";
        return Err(Refusal::new(400, code, message).into());
    }
    let is_bounded = call.params.get("after").is_some() && call.params.get("before").is_some();
    let is_known = is_bounded || !needs_dates;
    let mut requests: BTreeMap<&'static str, TotalsRequest> = BTreeMap::new();
    let mut rows = Vec::new();
    let is_wanted = |stat: &str| wanted.is_empty() || wanted.iter().any(|name| name == stat);
    for indicator in all().filter(|indicator| is_wanted(indicator.stat)) {
        let Indicator { report, name, .. } = &indicator;
        if is_known && !requests.contains_key(report.path) {
            let is_shown = |column: &str| is_wanted(&format!("{name}/{column}"));
            requests.insert(report.path, report.totals_request(&context, call, is_shown)?);
        }
        let links = links(reports, call, &indicator);
        rows.push((indicator, links));
    }
    Ok(Box::new(move || {
        let mut totals: BTreeMap<&str, Map<String, Value>> = BTreeMap::new();
        for (path, request) in &requests {
            totals.insert(path, request.compute(&context)?);
        }
        let bodies = rows.into_iter().map(|(indicator, links)| {
            let numbers = totals.get(indicator.report.path);
            let value = numbers.and_then(|numbers| numbers.get(indicator.column)).cloned();
            let mut body = head(&indicator);
            let format = if indicator.is_money { "currency" } else { "number" };
            body.insert(String::from("format"), json!(format));
            body.insert(String::from("value"), value.unwrap_or_default());
            linked(body, links)
        });
        Ok(context.with_notes(counted(bodies.collect())))
    }))
}

fn head(indicator: &Indicator) -> Map<String, Value> {
    let mut body = Map::new();
    body.insert(String::from("stat"), json!(indicator.stat));
    body.insert(String::from("chart"), json!(indicator.column));
    body.insert(String::from("label"), json!(indicator.label));
    body
}

fn links(reports: &ReportContext, call: &Call<'_>, indicator: &Indicator) -> Links {
    let report = call.visit.rest(&format!("{}/reports{}", reports.base, indicator.report.path));
    Links::new().to("api", report).to("report", format!("/analytics/{}", indicator.name))
}
