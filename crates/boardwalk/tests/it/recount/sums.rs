//! What must hold within an answer: intervals add up to totals, and segments to what they split.

use serde_json::Value;

use super::compare::is_same;
use super::query::Query;

/// Columns that add up, whatever is split.
const ADDITIVE: [&str; 15] = [
    "orders_count",
    "num_items_sold",
    "gross_sales",
    "total_sales",
    "coupons",
    "taxes",
    "shipping",
    "net_revenue",
    "items_sold",
    "amount",
    "total_tax",
    "order_tax",
    "shipping_tax",
    "download_count",
    "refunds",
];

/// Columns that segments share out without leaving anything over. An item has one product and one
/// variation; of an order only its goods are in lines, and lump sums that were paid back are not.
fn shared_out(route: &str, by: &str) -> &'static [&'static str] {
    match (route, by) {
        ("reports/orders/stats" | "reports/revenue/stats", "customer_type") => &ADDITIVE,
        ("reports/products/stats", "product")
        | ("reports/variations/stats", "product" | "variation") => &["items_sold", "net_revenue"],
        ("reports/coupons/stats", "coupon") => &["amount"],
        ("reports/taxes/stats", "tax_rate_id") => &["total_tax", "order_tax", "shipping_tax"],
        _ => &[],
    }
}

/// Checks an answer; `whole` are its intervals if all of them are on the page.
pub(super) fn check(
    query: &Query,
    totals: &Value,
    whole: Option<&[Value]>,
    shown: &[Value],
    differences: &mut Vec<String>,
) {
    if let Some(intervals) = whole {
        let parts: Vec<&Value> = intervals.iter().map(|interval| &interval["subtotals"]).collect();
        adds_up(totals, &parts, &ADDITIVE, "the intervals", differences);
        for segment in totals["segments"].as_array().into_iter().flatten() {
            let id = &segment["segment_id"];
            let own = intervals.iter().filter_map(|interval| {
                let segments = interval["subtotals"]["segments"].as_array()?;
                Some(&segments.iter().find(|segment| segment["segment_id"] == *id)?["subtotals"])
            });
            let what = format!("segment {id} of the intervals");
            let parts: Vec<&Value> = own.collect();
            adds_up(&segment["subtotals"], &parts, &ADDITIVE, &what, differences);
        }
    }
    let Some(by) = query.text("segmentby") else { return };
    let columns = shared_out(&query.route, by);
    let subtotals = shown.iter().map(|interval| &interval["subtotals"]);
    for numbers in subtotals.chain([totals]) {
        let segments = numbers["segments"].as_array().into_iter().flatten();
        let parts: Vec<&Value> = segments.map(|segment| &segment["subtotals"]).collect();
        adds_up(numbers, &parts, columns, "the segments", differences);
    }
}

fn adds_up(
    whole: &Value,
    parts: &[&Value],
    columns: &[&str],
    what: &str,
    differences: &mut Vec<String>,
) {
    for column in columns {
        let Some(total) = whole[*column].as_f64() else { continue };
        let sum: f64 = parts.iter().filter_map(|part| part[*column].as_f64()).sum();
        if !is_same(total, sum) {
            differences.push(format!("{column} of {what} come to {sum}, and not {total}"));
        }
    }
}
