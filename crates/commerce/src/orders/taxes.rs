//! The tax rates that apply at a location, and the tax they add to an amount.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use db::filter::{LIST_MAX, PAGE_MAX, Page};
use db::{Conn, Engine};
use frame::Options;
use shop_rows::tax_rate::{self, TaxRateFilter, TaxRateLocation, TaxRateRow};
use types::{Amount, Result};

use super::record::Address;

/// The address that taxes are based on, in upper case.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct TaxLocation {
    country: String,
    state: String,
    postcode: String,
    city: String,
}

impl TaxLocation {
    pub(super) fn new(country: &str, state: &str, postcode: &str, city: &str) -> Self {
        let upper = |text: &str| text.trim().to_uppercase();
        let postcode = upper(postcode);
        Self { country: upper(country), state: upper(state), postcode, city: upper(city) }
    }

    pub(super) fn of_address(address: &Address) -> Self {
        Self::new(&address.country, &address.state, &address.postcode, &address.city)
    }
}

/// A rate with where it holds.
#[derive(Debug)]
struct Rate {
    row: TaxRateRow,
    /// None for everywhere in its state.
    postcodes: Vec<String>,
    cities: Vec<String>,
}

/// The class of rates, and their country in upper case.
type Place = (String, String);

/// All rates of the shop.
#[derive(Debug, Default)]
pub(super) struct Rates {
    all: Vec<Rate>,
    by_id: HashMap<i64, usize>,
    by_place: HashMap<Place, Vec<usize>>,
}

/// The rates as they were read, and in which state they were.
#[derive(Debug, Default)]
struct KeptRates(Mutex<Option<(i64, Arc<Rates>)>>);

impl Rates {
    /// The rates as the transaction sees them: on SQLite from memory if they are still the same.
    /// On PostgreSQL, to look whether they are would be to read what all who write count in.
    pub(super) fn kept(conn: &mut dyn Conn, options: &Options) -> Result<Arc<Self>> {
        if conn.engine() == Engine::Postgres {
            return Ok(Arc::new(Self::load(conn)?));
        }
        let KeptRates(kept) = options.beside.get();
        let state = tax_rate::state(conn)?;
        let known = kept.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some((_, rates)) = known.filter(|(known, _)| *known == state) {
            return Ok(rates);
        }
        let rates = Arc::new(Self::load(conn)?);
        *kept.lock().unwrap_or_else(PoisonError::into_inner) = Some((state, Arc::clone(&rates)));
        Ok(rates)
    }

    fn load(conn: &mut dyn Conn) -> Result<Self> {
        let mut rows = Vec::new();
        loop {
            let offset = i64::try_from(rows.len()).unwrap_or(i64::MAX);
            let page = Page { offset, limit: PAGE_MAX };
            let wanted = TaxRateFilter { page, ..TaxRateFilter::default() };
            let (found, total) = tax_rate::list(conn, &wanted)?;
            let is_last = found.is_empty();
            rows.extend(found);
            if is_last || i64::try_from(rows.len()).unwrap_or(i64::MAX) >= total {
                break;
            }
        }
        let ids: Vec<i64> = rows.iter().map(|row| row.rate_id).collect();
        let mut locations = Vec::new();
        for chunk in ids.chunks(LIST_MAX) {
            locations.extend(tax_rate::locations_of(conn, chunk)?);
        }
        Ok(Self::of(rows, locations))
    }

    fn of(rows: Vec<TaxRateRow>, locations: Vec<TaxRateLocation>) -> Self {
        let mut rates = Self::default();
        for (number, row) in rows.into_iter().enumerate() {
            rates.by_id.insert(row.rate_id, number);
            let place = (row.class.clone(), row.country.to_ascii_uppercase());
            rates.by_place.entry(place).or_default().push(number);
            rates.all.push(Rate { row, postcodes: Vec::new(), cities: Vec::new() });
        }
        for TaxRateLocation { rate_id, kind, value } in locations {
            let number = rates.by_id.get(&rate_id);
            let Some(rate) = number.and_then(|number| rates.all.get_mut(*number)) else { continue };
            let values = if kind == "postcode" { &mut rate.postcodes } else { &mut rate.cities };
            values.push(value);
        }
        rates
    }

    pub(super) fn get(&self, rate_id: i64) -> Option<&TaxRateRow> {
        Some(&self.all.get(*self.by_id.get(&rate_id)?)?.row)
    }

    /// The rates of a class that hold at the place: of each priority the most particular one.
    pub(super) fn at(&self, location: &TaxLocation, class: &str) -> Vec<&TaxRateRow> {
        let countries: &[&str] =
            if location.country.is_empty() { &[""] } else { &[&location.country, ""] };
        let numbers = countries.iter().flat_map(|country| {
            self.by_place.get(&(class.to_owned(), (*country).to_owned())).into_iter().flatten()
        });
        let rates = numbers.filter_map(|number| self.all.get(*number));
        let mut found: Vec<&Rate> = rates.filter(|rate| rate.holds(location)).collect();
        found.sort_by(|one, other| one.rank().cmp(&other.rank()));
        found.dedup_by_key(|rate| rate.row.priority);
        found.into_iter().map(|rate| &rate.row).collect()
    }
}

impl Rate {
    /// By priority. Whoever names a place comes before whoever means every place.
    fn rank(&self) -> impl Ord {
        let Self { row, postcodes, cities } = self;
        (
            row.priority,
            (row.country.is_empty(), &row.country),
            (row.state.is_empty(), &row.state),
            (Reverse(postcodes.len()), Reverse(cities.len())),
            (row.position, row.rate_id),
        )
    }

    /// Whether it holds at a place of its country.
    fn holds(&self, location: &TaxLocation) -> bool {
        let state = &self.row.state;
        (state.is_empty() || state.eq_ignore_ascii_case(&location.state))
            && (self.cities.is_empty() || self.cities.contains(&location.city))
            && (self.postcodes.is_empty()
                || self.postcodes.iter().any(|code| covers(code, &location.postcode)))
    }
}

/// Whether a postcode is meant by one that may end with `*` or be a range such as `100...199`.
pub(crate) fn covers(wanted: &str, postcode: &str) -> bool {
    let bare = |text: &str| text.replace([' ', '-'], "");
    if let Some((from, to)) = wanted.split_once("...") {
        let number = |text: &str| bare(text).parse::<u64>().ok();
        let (Some(from), Some(to), Some(code)) = (number(from), number(to), number(postcode))
        else {
            return false;
        };
        return (from..=to).contains(&code);
    }
    match wanted.strip_suffix('*') {
        Some(start) => bare(postcode).starts_with(&bare(start)),
        None => bare(wanted) == bare(postcode),
    }
}

/// What one rate takes.
pub(super) type Taken = (i64, Amount);

fn percent(rate: &TaxRateRow) -> Amount {
    rate.rate.unwrap_or_default()
}

/// What the rates add to an amount: compound ones to the others as well.
pub(super) fn on_top(amount: Amount, rates: &[&TaxRateRow]) -> Vec<Taken> {
    let plain = |rate: &TaxRateRow, base: Amount| {
        base.share(percent(rate), Amount::HUNDRED).unwrap_or_default()
    };
    let mut taken: Vec<Taken> = rates.iter().map(|rate| (rate.rate_id, Amount::ZERO)).collect();
    let mut sum = Amount::ZERO;
    for compound in [false, true] {
        for (rate, (_, tax)) in rates.iter().zip(&mut taken) {
            if rate.compound == compound {
                let base = if compound { amount + sum } else { amount };
                *tax = plain(rate, base);
            }
            if rate.compound == compound && compound {
                sum += *tax;
            }
        }
        if !compound {
            sum = taken.iter().map(|(_, tax)| *tax).sum();
        }
    }
    taken
}

/// What the rates have in an amount that includes them.
pub(super) fn within(amount: Amount, rates: &[&TaxRateRow]) -> Vec<Taken> {
    let mut taken: Vec<Taken> = rates.iter().map(|rate| (rate.rate_id, Amount::ZERO)).collect();
    let mut rest = amount;
    for (rate, (_, tax)) in rates.iter().zip(&mut taken).rev() {
        if rate.compound {
            let whole = Amount::HUNDRED + percent(rate);
            *tax = rest.share(percent(rate), whole).unwrap_or_default();
            rest -= *tax;
        }
    }
    let plain = rates.iter().filter(|rate| !rate.compound);
    let whole = Amount::HUNDRED + plain.map(|rate| percent(rate)).sum();
    for (rate, (_, tax)) in rates.iter().zip(&mut taken) {
        if !rate.compound {
            *tax = rest.share(percent(rate), whole).unwrap_or_default();
        }
    }
    taken
}

pub(super) fn sum(taken: &[Taken]) -> Amount {
    taken.iter().map(|(_, tax)| *tax).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn amount(text: &str) -> Amount {
        text.parse().unwrap()
    }

    fn rate(rate_id: i64, country: &str, percent: &str, priority: i64) -> TaxRateRow {
        TaxRateRow {
            rate_id,
            country: country.to_owned(),
            rate: Some(amount(percent)),
            priority,
            shipping: true,
            ..TaxRateRow::default()
        }
    }

    #[test]
    fn compound_rates_are_on_top_of_the_others() {
        let state = rate(1, "US", "7.25", 1);
        let city = TaxRateRow { compound: true, ..rate(2, "US", "1.25", 2) };
        let rates = [&state, &city];
        let taken = on_top(amount("15"), &rates);
        assert_eq!(taken, [(1, amount("1.0875")), (2, amount("0.201094"))]);
        let gross = amount("15") + sum(&taken);
        let inside = within(gross, &rates);
        assert_eq!(inside, taken, "the way back");
    }

    #[test]
    fn the_most_particular_rate_of_each_priority_holds() {
        let everywhere = rate(1, "", "1", 1);
        let country = rate(2, "US", "2", 1);
        let state = TaxRateRow { state: "CA".to_owned(), ..rate(3, "US", "3", 1) };
        let second = rate(4, "", "4", 2);
        let reduced = TaxRateRow { class: "reduced".to_owned(), ..rate(5, "", "5", 1) };
        let by_code = rate(6, "DE", "6", 1);
        let rates = Rates::of(
            vec![everywhere, country, state, second, reduced, by_code],
            vec![TaxRateLocation {
                rate_id: 6,
                kind: "postcode".to_owned(),
                value: "101*".to_owned(),
            }],
        );
        let ids = |location: &TaxLocation, class: &str| -> Vec<i64> {
            rates.at(location, class).iter().map(|rate| rate.rate_id).collect()
        };
        assert_eq!(ids(&TaxLocation::new("us", "ca", "", ""), ""), [3, 4]);
        assert_eq!(ids(&TaxLocation::new("US", "NY", "", ""), ""), [2, 4]);
        assert_eq!(ids(&TaxLocation::new("FR", "", "", ""), ""), [1, 4]);
        assert_eq!(ids(&TaxLocation::new("FR", "", "", ""), "reduced"), [5]);
        assert_eq!(ids(&TaxLocation::new("DE", "", "10 115", ""), ""), [6, 4]);
        assert_eq!(ids(&TaxLocation::new("DE", "", "20115", ""), ""), [1, 4]);
    }

    #[test]
    fn postcodes_may_be_ranges() {
        for (wanted, postcode, expected) in [
            ("94103", "94103", true),
            ("SW1A 1AA", "SW1A1AA", true),
            ("94*", "94110", true),
            ("94*", "9", false),
            ("100...199", "150", true),
            ("100...199", "200", false),
            ("100...199", "SW1", false),
        ] {
            assert_eq!(covers(wanted, postcode), expected, "{wanted} {postcode}");
        }
    }
}
