//! What a connected store sold, day by day, as its copy reports it: kept in the environment's
//! database, so that a report over thousands of stores opens none of them.

use db::Conn;
use onboarding::rows::portfolio::{self, DayRow};
use serde_json::Value;
use types::Timestamp;

use crate::work::{Halt, Work};

/// Days of one question.
const PAGE: usize = 100;
/// Sums of a store that changes all the time are not made more often.
const PAUSE_US: i64 = 5 * 1_000_000;
/// Sums are kept in hundredths of a cent.
const SCALE: f64 = 10_000.0;
/// Ten billions a day. What a store says beyond that must not keep the others of its ISO, up to
/// twenty thousand, from being added up.
const FIGURE_MAX: i64 = 100_000_000_000_000;
/// The first day that is asked for.
pub(crate) const FIRST: &str = "1990-01-01T00:00:00";

/// Brings the sums up to date, if anything changed and it is not too soon.
pub(crate) async fn refresh(work: &mut Work) -> Result<(), Halt> {
    let now = work.now().as_micros();
    let is_recent = work.cursor.days_at.is_some_and(|at| now - at < PAUSE_US);
    if !work.cursor.days_stale || is_recent {
        return Ok(());
    }
    let days = read(work).await?;
    let row = work.row.clone();
    let put = move |conn: &mut dyn Conn| portfolio::put_days(conn, &row, &days);
    if !work.stores.platform.store.write(put).await? {
        return Err(Halt::Lost);
    }
    work.cursor.days_stale = false;
    work.cursor.days_at = Some(now);
    work.save().await
}

/// The days on which something was sold or given back.
async fn read(work: &Work) -> Result<Vec<DayRow>, Halt> {
    let currency = work.store.site.options().await?.text("woocommerce_currency");
    let end =
        frame::dates::written(Timestamp::from_micros(work.now().as_micros() + 86_400_000_000));
    let first = first_day(work).await?;
    let mut days = Vec::new();
    for page in 1.. {
        let path = format!(
            "/{}/reports/revenue/stats?interval=day&order=asc&per_page={PAGE}&page={page}\
             &after={first}&before={end}&force_cache_refresh={}",
            work.store.site.settings().names.analytics,
            page == 1,
        );
        let (_, answer) = work.ask(&path).await?;
        let intervals = answer.get("intervals").and_then(Value::as_array);
        let intervals = intervals.map(Vec::as_slice).unwrap_or_default();
        days.extend(intervals.iter().map(|interval| day(interval, &currency)));
        if intervals.len() < PAGE {
            break;
        }
    }
    days.retain(|day| day.orders != 0 || day.gross != 0 || day.net != 0 || day.refunds != 0);
    Ok(days)
}

/// When the oldest order was created.
async fn first_day(work: &Work) -> Result<String, Halt> {
    let path = format!(
        "/{}/orders?per_page=1&orderby=date&order=asc&status=any&_fields=date_created",
        work.store.site.settings().names.commerce_v3
    );
    let (_, answer) = work.ask(&path).await?;
    let created = answer.get(0).and_then(|order| order.get("date_created"));
    let day = created.and_then(Value::as_str).and_then(|text| text.split('T').next());
    // A time long past is none, and would be asked for day by day.
    let first = day.map_or_else(|| FIRST.to_owned(), |day| format!("{day}T00:00:00"));
    Ok(first.max(FIRST.to_owned()))
}

fn day(interval: &Value, currency: &str) -> DayRow {
    let sums = interval.get("subtotals");
    let number = |name: &str| sums.and_then(|sums| sums.get(name)).and_then(Value::as_f64);
    let count = |name: &str| rounded(number(name).unwrap_or_default());
    let amount = |name: &str| rounded(number(name).unwrap_or_default() * SCALE);
    DayRow {
        day: interval.get("interval").and_then(Value::as_str).unwrap_or_default().to_owned(),
        currency: currency.to_owned(),
        orders: count("orders_count"),
        items: count("num_items_sold"),
        gross: amount("gross_sales"),
        net: amount("net_revenue"),
        refunds: amount("refunds"),
    }
}

/// The nearest whole number.
fn rounded(number: f64) -> i64 {
    let whole: i64 = format!("{number:.0}").parse().unwrap_or_default();
    whole.clamp(-FIGURE_MAX, FIGURE_MAX)
}
