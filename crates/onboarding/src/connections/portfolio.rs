//! `/v1/portfolio`: what all connected stores of the ISO sold. **Currencies are never added up**,
//! unless the ISO gave rates and asks for one currency.

mod report;

use std::cmp::Reverse;
use std::collections::BTreeMap;

use contract::{Answer, Endpoint, Route};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use types::Scope;

use super::calendar::day_number;
use super::rates::{ONE, RateView};
use crate::codes::refusal;
use crate::fields::{CurrencyCode, Day, PortfolioGroup, PortfolioOrder};
use crate::perform::Outcome;
use crate::{Code, Cx};
use report::{CHANGES_MAX, Group, GroupBy, Question, Report};

/// Groups of one answer.
const GROUPS_MAX: u32 = 1_000;
/// How groups by day are sorted unless something else is asked for.
const DAY: &str = "day";
/// Amounts are in hundredths of a cent, times one, and shown with two decimals.
const CENT: i128 = 100 * ONE;

const fn groups_default() -> u32 {
    GROUPS_MAX
}

/// Show what the connected stores sold.
///
/// Sums are by currency. With `currency`, they are converted by the rates of
/// `/v1/portfolio/rates`; currencies without a rate are left out, and listed in `leftOut`. Days are
/// those of each store's own time.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PortfolioGet {
    /// The first day, such as `2026-11-01`.
    from: Day,
    /// The last day.
    to: Day,
    /// By what the sums are grouped, beside the currency. `country` is that of the store;
    /// `category` is the category code of the store, or of its merchant's stores if they share one.
    group_by: Option<PortfolioGroup>,
    /// Convert the sums into this currency. Absent: nothing is converted.
    currency: Option<CurrencyCode>,
    /// What comes first within each currency: the greatest `netSales`, `orders`, `refunds` or
    /// `growth` of net sales. Absent: `netSales`; days come in their order.
    order_by: Option<PortfolioOrder>,
    /// Groups of each currency at most.
    #[serde(default = "groups_default")]
    #[schemars(range(min = 1, max = 1000))]
    limit: u32,
    /// Compare net sales with those of the period of the same length before. Groups by day are not
    /// compared.
    #[serde(default)]
    compare: bool,
}

/// Sums of a group in one currency.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PortfolioSum {
    /// The merchant, store (by its connection), day, country or category code; null if the group is
    /// the currency alone, or if nothing is known of the stores.
    group: Option<String>,
    /// Name of the merchant, store or category.
    name: Option<String>,
    /// Currency of the amounts.
    currency: String,
    /// Stores that sold something.
    stores: i64,
    /// Orders.
    orders: i64,
    /// Items sold.
    items: i64,
    /// Gross sales.
    gross_sales: String,
    /// Net sales.
    net_sales: String,
    /// Refunds.
    refunds: String,
    /// Net sales of the period before; null unless `compare` asks for it.
    previous_net_sales: Option<String>,
    /// Growth of net sales in percent, such as `12.5`; null if there is nothing to compare with.
    growth: Option<String>,
}

/// What could not be converted.
#[derive(Debug, Serialize, JsonSchema)]
pub struct PortfolioLeftOut {
    /// Currency without a rate.
    currency: String,
    /// Stores that are left out, at least for a part of the period.
    stores: i64,
    /// Their orders that are left out.
    orders: i64,
}

/// What the connected stores sold.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Portfolio {
    /// The sums of groups, the currency with the most orders first.
    data: Vec<PortfolioSum>,
    /// The sums of everything, by currency.
    totals: Vec<PortfolioSum>,
    /// Rates that were used.
    rates: Vec<RateView>,
    /// Currencies that have no rate, at least for a part of the period, and are not in the sums.
    left_out: Vec<PortfolioLeftOut>,
    /// Whether there are more groups than are shown.
    has_more: bool,
}

impl Endpoint<Cx> for PortfolioGet {
    const ROUTE: Route = Route::get("/v1/portfolio").scope(Scope::ReportsRead);
    type Reply = Portfolio;

    async fn handle(self, cx: &Cx) -> Outcome<Answer<Portfolio>> {
        let is_by_day = self.group_by.as_ref().is_some_and(|group| group.as_str() == "day");
        let usual = if is_by_day { DAY } else { "netSales" };
        let order = self.order_by.as_ref().map_or(usual, PortfolioOrder::as_str).to_owned();
        let (question, limit) = (self.question(&order)?, self.limit);
        let iso_id = cx.caller()?.iso_id().clone();
        let read =
            cx.platform.store.list(move |conn| report::make(conn, &iso_id, &question)).await?;
        let report = read.ok_or_else(|| {
            let message = format!(
                "The rates change more than {CHANGES_MAX} times in the period. Choose a shorter \
                 one."
            );
            refusal("currency", Code::InvalidValue, message)
        })?;
        Ok(Answer::new(view(report, &order, limit)))
    }
}

impl PortfolioGet {
    fn question(&self, order: &str) -> Outcome<Question> {
        let day = |field, day: &Day| {
            let message = "Send a day such as 2026-11-15.";
            day_number(day.as_str()).ok_or_else(|| refusal(field, Code::InvalidFormat, message))
        };
        let (from, to) = (day("from", &self.from)?, day("to", &self.to)?);
        if from > to {
            let message = "The last day is before the first.";
            return Err(refusal("to", Code::InvalidValue, message));
        }
        let by = match self.group_by.as_ref().map(PortfolioGroup::as_str) {
            Some("day") => GroupBy::Day,
            Some("store") => GroupBy::Store,
            Some("merchant") => GroupBy::Merchant,
            Some("country") => GroupBy::Country,
            Some("category") => GroupBy::Category,
            _ => GroupBy::Currency,
        };
        let into = self.currency.as_ref().map(|currency| currency.as_str().to_owned());
        Ok(Question { days: (from, to), by, into, compare: self.compare || order == "growth" })
    }
}

fn view(report: Report, order: &str, limit: u32) -> Portfolio {
    let Report { mut groups, mut totals, rates, left_out } = report;
    let rank = |group: &Group| (Reverse(group.sums.orders), group.currency.clone());
    totals.sort_by_key(rank);
    let ranks: BTreeMap<String, usize> =
        totals.iter().enumerate().map(|(rank, group)| (group.currency.clone(), rank)).collect();
    let value = |group: &Group| match order {
        "orders" => Some(i128::from(group.sums.orders)),
        "refunds" => Some(group.sums.refunds.abs()),
        "growth" => group.growth(),
        // By their names, which is the order of the days.
        DAY => None,
        _ => Some(group.sums.net),
    };
    groups.sort_by_cached_key(|group| {
        let rank = ranks.get(&group.currency).copied();
        (rank, Reverse(value(group)), group.key.clone())
    });
    let count = groups.len();
    let mut shown: BTreeMap<String, u32> = BTreeMap::new();
    groups.retain(|group| {
        let shown = shown.entry(group.currency.clone()).or_default();
        *shown += 1;
        *shown <= limit
    });
    groups.truncate(usize::try_from(GROUPS_MAX).unwrap_or(usize::MAX));
    let left_out = left_out.into_iter().map(|(currency, left_out)| PortfolioLeftOut {
        currency,
        stores: left_out.stores,
        orders: left_out.orders,
    });
    Portfolio {
        has_more: groups.len() < count,
        data: groups.into_iter().map(sum).collect(),
        totals: totals.into_iter().map(sum).collect(),
        rates: rates.into_iter().collect(),
        left_out: left_out.collect(),
    }
}

fn sum(group: Group) -> PortfolioSum {
    let growth = group.growth().map(|tenths| decimal(tenths, 1));
    PortfolioSum {
        previous_net_sales: group.net_before.map(amount),
        growth,
        group: group.key,
        name: group.name,
        currency: group.currency,
        stores: group.stores,
        orders: group.sums.orders,
        items: group.sums.items,
        gross_sales: amount(group.sums.gross),
        net_sales: amount(group.sums.net),
        refunds: amount(group.sums.refunds),
    }
}

/// An amount with two decimals, rounded away from zero at the half.
fn amount(value: i128) -> String {
    let half = if value < 0 { -CENT / 2 } else { CENT / 2 };
    decimal(value.saturating_add(half) / CENT, 2)
}

/// A number of so many decimals.
fn decimal(value: i128, decimals: u32) -> String {
    let unit = 10_i128.pow(decimals);
    let sign = if value < 0 { "-" } else { "" };
    let width = usize::try_from(decimals).unwrap_or_default();
    format!("{sign}{}.{:0width$}", value.abs() / unit, value.abs() % unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_have_two_decimals() {
        for (value, expected) in [
            (0, "0.00"),
            (123_400, "12.34"),
            (123_450, "12.35"),
            (-123_450, "-12.35"),
            (49, "0.00"),
            (-49, "0.00"),
            (9_990_000, "999.00"),
        ] {
            assert_eq!(amount(value * ONE), expected, "{value}");
        }
        assert_eq!(decimal(-5, 1), "-0.5");
    }
}
