//! What customers do on average: orders, spend and order value.

use contract::rest::{Item, Reply, Schema, Stop};
use frame::Call;
use serde_json::{Map, Value, json};

use super::{CustomerQuery, Sums};
use crate::columns::{float, money_as_float, number, ratio, saturating_sum};
use crate::compat::{self, Rule};
use crate::context::ReportContext;

pub fn document() -> Value {
    let number = |about: &str| Schema::number().about(about);
    let totals = Schema::object([
        ("customers_count", Schema::integer().about("Number of customers.")),
        ("avg_orders_count", number("Average number of orders per customer.")),
        ("avg_total_spend", number("Average total spend per customer.").format("currency")),
        ("avg_avg_order_value", number("Average order value.").format("currency")),
    ]);
    Item::new("report_customers_stats", Schema::object([("totals", totals)])).document()
}

/// What customers do on average. Who bought nothing counts as a customer, and in no average.
pub fn show(reports: &ReportContext, call: &mut Call<'_>) -> Result<Reply, Stop> {
    let context = reports.query_context(call)?;
    if context.follows(Rule::StatsIgnoreFilters) {
        for name in compat::IGNORED_BY_STATS {
            call.params.remove(name);
        }
    }
    let (found, customers) = CustomerQuery::of(call, &context, "customers").everything(call)?;
    let count = |wanted: fn(&Sums) -> bool| -> i64 {
        let all = found.iter().filter(|sums| wanted(sums)).count();
        i64::try_from(all).unwrap_or(i64::MAX)
    };
    let (buyers, payers) = (count(|sums| sums.orders > 0), count(|sums| sums.rows > 0));
    let orders = saturating_sum(found.iter().map(|sums| sums.orders));
    let spend = saturating_sum(found.iter().map(|sums| sums.spend));
    let averages: f64 = found.iter().filter_map(Sums::average).sum();
    let per = |value: f64, count: i64| {
        if count == 0 { json!(0) } else { number(value / float(count)) }
    };
    let totals = [
        ("customers_count", json!(customers)),
        ("avg_orders_count", if buyers == 0 { json!(0) } else { ratio(orders, buyers) }),
        ("avg_total_spend", per(money_as_float(spend), payers)),
        ("avg_avg_order_value", per(averages, buyers)),
    ];
    let fields = call.params.texts("fields");
    let is_shown = |name: &str| fields.is_empty() || fields.iter().any(|field| field == name);
    let totals: Map<String, Value> = totals
        .into_iter()
        .filter(|(name, _)| is_shown(name))
        .map(|(name, value)| (name.to_owned(), value))
        .collect();
    Ok(context.with_notes(Reply::new(json!({ "totals": totals }))))
}
