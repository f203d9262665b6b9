//! Figures of the reports: as a server has kept them through everything, and made anew.

use std::collections::BTreeMap;
use std::fs;
use std::time::Duration;

use serde_json::Value;

use crate::support::{eventually, text};
use crate::world::World;

const CAUGHT_UP_WITHIN: Duration = Duration::from_mins(1);
const STOPS_WITHIN: Duration = Duration::from_secs(30);
const RANGE: &str = "after=2000-01-01T00:00:00&before=2100-01-01T00:00:00";
/// Each with all that it has in one answer.
const REPORTS: &[&str] = &[
    "orders/stats?interval=year&per_page=100",
    "revenue/stats?interval=year&per_page=100",
    "products/stats?interval=year&per_page=100",
    "products?per_page=100&orderby=items_sold",
    "variations?per_page=100",
    "categories?per_page=100",
    "coupons/stats?interval=year",
    "taxes/stats?interval=year",
    "customers/stats",
    "customers?per_page=100&orderby=username",
    "stock/stats",
    "performance-indicators?stats=revenue/total_sales,orders/orders_count,products/items_sold",
];

/// Fails unless the figures agree with the orders, and a new server finds the same figures.
pub(crate) fn compare(world: &mut World, orders: &BTreeMap<String, (i64, String)>) {
    let cents = |total: &str| -> i64 {
        let (whole, part) = total.split_once('.').unwrap_or((total, "00"));
        whole.parse::<i64>().unwrap() * 100 + part.parse::<i64>().unwrap()
    };
    let sum: i64 = orders.values().map(|(_, total)| cents(total)).sum();
    let count = i64::try_from(orders.len()).unwrap();
    eventually("the reports know all orders", CAUGHT_UP_WITHIN, || counted(world) == Some(count));
    let live = all(world);
    let sales = live[1]["totals"]["total_sales"].as_f64().unwrap();
    assert!((sales * 100.0 - as_float(sum)).abs() < 0.5, "{sales} of {sum} cents are in reports");

    let stopped = world.running.take().unwrap().server.terminate(STOPS_WITHIN).unwrap();
    assert!(stopped.success(), "{stopped}");
    fs::remove_file(world.site.data().join("sandbox.facts")).unwrap();
    world.running = Some(world.site.serve());
    eventually("the reports are made anew", CAUGHT_UP_WITHIN, || counted(world) == Some(count));
    for ((report, live), anew) in REPORTS.iter().zip(live).zip(all(world)) {
        assert_eq!(live, anew, "{report}");
    }
}

#[expect(clippy::cast_precision_loss, clippy::as_conversions, reason = "cents of a small shop")]
fn as_float(cents: i64) -> f64 {
    cents as f64
}

fn all(world: &World) -> Vec<Value> {
    REPORTS.iter().map(|report| world.rest(&path(report))).collect()
}

fn path(report: &str) -> String {
    let sign = if report.contains('?') { '&' } else { '?' };
    format!("wc-analytics/reports/{report}{sign}{RANGE}")
}

/// How many orders the reports count; nothing while they are loading.
fn counted(world: &World) -> Option<i64> {
    let answer = world.look(&path(REPORTS[0]));
    match answer.status {
        200 => answer.json().unwrap()["totals"]["orders_count"].as_i64(),
        503 => None,
        status => panic!("{status} {}", text(&answer.json().unwrap(), "message")),
    }
}
