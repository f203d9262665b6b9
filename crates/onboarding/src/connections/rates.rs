//! `/v1/portfolio/rates`: the exchange rates by which reports over stores of several currencies can
//! be converted. **They are those that the ISO gave**: none is fetched, inverted or derived from
//! others.

use std::collections::{BTreeMap, BTreeSet};

use contract::{Answer, Endpoint, Route};
use db::Conn;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use types::{Error, IsoId, Result, Scope};

use super::calendar::day_number;
use crate::change::{Basis, tagged};
use crate::codes::refusal;
use crate::fields::{CurrencyCode, Day, ExchangeRate};
use crate::perform::{Outcome, perform};
use crate::rows::portfolio_rates::{self, RatesRow};
use crate::{Code, Cx, audit};

/// Decimals of a rate.
const DECIMALS: usize = 10;
/// What a rate of one is.
pub(super) const ONE: i128 = 10_i128.pow(10);
/// Digits before the point.
const DIGITS_MAX: usize = 8;

/// An exchange rate.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct RateView {
    /// Currency that is converted.
    pub(super) currency: String,
    /// Currency that it is converted into.
    pub(super) into: String,
    /// First day on which the rate holds. It holds until another one does.
    pub(super) from: String,
    /// What one unit of `currency` is in units of `into`.
    pub(super) rate: String,
}

/// The exchange rates of the portfolio.
#[derive(Debug, Serialize, JsonSchema)]
pub struct RatesView {
    /// Grows by one with every change; 0 if no rates were ever set.
    version: i64,
    /// The rates, by currency and day.
    rates: Vec<RateView>,
}

/// Whether a text is a rate: decimal, and more than nothing.
pub(crate) fn is_rate(text: &str) -> bool {
    scaled(text).is_some_and(|rate| rate > 0)
}

/// A rate as a whole number of its smallest part.
fn scaled(text: &str) -> Option<i128> {
    let (whole, part) = text.split_once('.').unwrap_or((text, ""));
    let is_number = |digits: &str| digits.bytes().all(|byte| byte.is_ascii_digit());
    let fits = (1..=DIGITS_MAX).contains(&whole.len()) && part.len() <= DECIMALS;
    let is_decimal = is_number(whole) && is_number(part) && !text.ends_with('.');
    (fits && is_decimal).then(|| format!("{whole}{part:0<DECIMALS$}").parse().ok())?
}

/// The rates into one currency.
#[derive(Debug)]
pub(super) struct Rates {
    into: String,
    /// By currency: first day, rate and how it was given, by day.
    given: BTreeMap<String, Vec<(i64, i128, RateView)>>,
}

impl Rates {
    pub(super) fn read(conn: &mut dyn Conn, iso_id: &IsoId, into: &str) -> Result<Self> {
        let mut given: BTreeMap<String, Vec<_>> = BTreeMap::new();
        for rate in stored(conn, iso_id)?.1.into_iter().filter(|rate| rate.into == into) {
            let (day, value) = (day_number(&rate.from), scaled(&rate.rate));
            let (Some(day), Some(value)) = (day, value) else { continue };
            given.entry(rate.currency.clone()).or_default().push((day, value, rate));
        }
        for rates in given.values_mut() {
            rates.sort_by_key(|(day, ..)| *day);
        }
        Ok(Self { into: into.to_owned(), given })
    }

    pub(super) fn into(&self) -> &str {
        &self.into
    }

    /// The rate of a currency on a day, and how it was given; nothing was given for the currency
    /// itself.
    pub(super) fn at(&self, currency: &str, day: i64) -> Option<(i128, Option<&RateView>)> {
        if currency == self.into {
            return Some((ONE, None));
        }
        let rates = self.given.get(currency)?;
        let (_, rate, given) = rates.iter().rev().find(|(from, ..)| *from <= day)?;
        Some((*rate, Some(given)))
    }

    /// Days on which a rate changes.
    pub(super) fn changes(&self) -> BTreeSet<i64> {
        self.given.values().flatten().map(|(day, ..)| *day).collect()
    }
}

/// The version of the ISO's rates, and the rates.
fn stored(conn: &mut dyn Conn, iso_id: &IsoId) -> Result<(i64, Vec<RateView>)> {
    let Some(row) = portfolio_rates::get(conn, iso_id)? else { return Ok((0, Vec::new())) };
    let rates = serde_json::from_str(&row.rates)
        .map_err(|error| Error::internal("stored rates cannot be read").because(error))?;
    Ok((row.version, rates))
}

/// Show the exchange rates of the portfolio.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct RatesGet {}

impl Endpoint<Cx> for RatesGet {
    const ROUTE: Route = Route::get("/v1/portfolio/rates").scope(Scope::ReportsRead);
    type Reply = RatesView;

    async fn handle(self, cx: &Cx) -> Outcome<Answer<RatesView>> {
        let iso_id = cx.caller()?.iso_id().clone();
        let (version, rates) = cx.platform.store.read(move |conn| stored(conn, &iso_id)).await?;
        Ok(tagged(version, RatesView { version, rates }))
    }
}

/// A rate to set.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub struct GivenRate {
    /// Currency that is converted, such as `EUR`.
    currency: CurrencyCode,
    /// Currency that it is converted into, such as `USD`.
    into: CurrencyCode,
    /// First day on which the rate holds. It holds until another one does.
    from: Day,
    /// What one unit of `currency` is in units of `into`, such as `1.0825`.
    rate: ExchangeRate,
}

/// Set the exchange rates of the portfolio.
///
/// Reports are converted by these rates and no others, and only if `currency` asks for it. An
/// amount is converted by the rate that holds on its day.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RatesPut {
    /// All rates, in the place of those that were set before.
    #[schemars(length(max = 300))]
    rates: Vec<GivenRate>,
    /// The version that the change is based on; instead of `If-Match`.
    expected_version: Option<i64>,
}

impl Endpoint<Cx> for RatesPut {
    const ROUTE: Route = Route::put("/v1/portfolio/rates").scope(Scope::IsosWrite);
    type Reply = RatesView;

    async fn handle(self, cx: &Cx) -> Outcome<Answer<RatesView>> {
        let (iso_id, now) = (cx.caller()?.iso_id().clone(), cx.now);
        let entry = cx.entry("portfolio_rates.update", "portfolio_rates", iso_id.as_str())?;
        let basis = Basis::of(cx, self.expected_version);
        let rates = ordered(self.rates)?;
        let text = serde_json::to_string(&rates)
            .map_err(|error| Error::internal("rates cannot be written as JSON").because(error))?;
        perform(cx, move |conn| {
            let (before, _) = stored(conn, &iso_id)?;
            basis.check(before)?;
            let version = before + 1;
            let row =
                RatesRow { iso_id: iso_id.clone(), version, rates: text.clone(), updated: now };
            portfolio_rates::put(conn, &row)?;
            audit::append(conn, &entry.clone().versions(Some(before), Some(version)))?;
            Ok(tagged(version, RatesView { version, rates: rates.clone() }))
        })
        .await
    }
}

/// The rates by currency and day, each once.
fn ordered(rates: Vec<GivenRate>) -> Outcome<Vec<RateView>> {
    let mut seen = BTreeSet::new();
    let mut ordered = Vec::new();
    for (index, rate) in rates.into_iter().enumerate() {
        let view = RateView {
            currency: rate.currency.into_string(),
            into: rate.into.into_string(),
            from: rate.from.into_string(),
            rate: rate.rate.into_string(),
        };
        if view.currency == view.into {
            let message = "A currency needs no rate into itself.";
            return Err(refusal(&format!("rates[{index}].into"), Code::InvalidValue, message));
        }
        if !seen.insert((view.currency.clone(), view.into.clone(), view.from.clone())) {
            let message = "There is already a rate from this day on.";
            return Err(refusal(&format!("rates[{index}].from"), Code::InvalidValue, message));
        }
        ordered.push(view);
    }
    ordered.sort();
    Ok(ordered)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_positive_decimals() {
        for (text, expected) in [
            ("1", Some(ONE)),
            ("1.0825", Some(10_825_000_000)),
            ("0.0000000001", Some(1)),
            ("12345678", Some(12_345_678 * ONE)),
            ("0", Some(0)),
            ("", None),
            (".5", None),
            ("1.", None),
            ("-1", None),
            ("1e3", None),
            ("1.00000000001", None),
            ("123456789", None),
        ] {
            assert_eq!(scaled(text), expected, "{text}");
        }
        assert!(is_rate("0.5") && !is_rate("0.000"));
    }
}
