//! The tables of places and currencies that are built into the binary, as they lie in the
//! repository's `data` folder, which also says where the facts come from.

use std::sync::LazyLock;

static CONTINENTS: LazyLock<Vec<Continent>> = LazyLock::new(|| {
    let of_row = |row: &[&'static str]| match row {
        [code, name, countries] => Some(Continent { code, name, countries }),
        _ => None,
    };
    parse(include_str!("../../../../data/continent.tsv"), of_row)
});

static COUNTRIES: LazyLock<Vec<Country>> = LazyLock::new(|| {
    let states = parse(include_str!("../../../../data/state.tsv"), |row| match row {
        [country, code, name] => Some((*country, State { code, name })),
        _ => None,
    });
    parse(include_str!("../../../../data/country.tsv"), |row| match row {
        [code, format @ .., name] => {
            let own = states.iter().filter(|(country, _)| country == code);
            let states = own.map(|(_, state)| *state).collect();
            Some(Country { code, name, states, format: Format::of_row(format) })
        }
        _ => None,
    })
});

static CURRENCIES: LazyLock<Vec<Currency>> = LazyLock::new(|| {
    let of_row = |row: &[&'static str]| match row {
        [code, symbol, name] => Some(Currency { code, symbol, name }),
        _ => None,
    };
    parse(include_str!("../../../../data/currency.tsv"), of_row)
});

static ADDRESS_FIELDS: LazyLock<Vec<AddressField>> = LazyLock::new(|| {
    parse(include_str!("../../../../data/address-field.tsv"), |row| match row {
        [country, field, label, required, hidden, priority, class] => Some(AddressField {
            country,
            field,
            label,
            required: yes_or_no(required),
            hidden: Hidden::of_word(hidden),
            priority: priority.parse().ok(),
            class,
        }),
        _ => None,
    })
});

/// A continent with the codes of its countries, in the order in which they are listed.
#[derive(Clone, Copy, Debug)]
pub struct Continent {
    pub code: &'static str,
    pub name: &'static str,
    countries: &'static str,
}

impl Continent {
    pub fn countries(&self) -> impl Iterator<Item = &'static Country> + use<> {
        self.countries.split_ascii_whitespace().filter_map(country)
    }
}

#[derive(Clone, Debug)]
pub struct Country {
    /// Two capital letters.
    pub code: &'static str,
    pub name: &'static str,
    /// In the order in which they are listed; empty where addresses need none.
    pub states: Vec<State>,
    /// Unknown where nobody trades.
    pub format: Option<Format>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct State {
    pub code: &'static str,
    pub name: &'static str,
}

/// How a country writes amounts and measures things.
#[derive(Clone, Copy, Debug)]
pub struct Format {
    pub currency: &'static str,
    /// `left`, `right`, `left_space` or `right_space`.
    pub position: &'static str,
    pub thousand: &'static str,
    pub decimal: &'static str,
    pub decimals: i64,
    pub weight: &'static str,
    pub dimension: &'static str,
}

impl Format {
    fn of_row(row: &[&'static str]) -> Option<Self> {
        let [currency, position, thousand, decimal, decimals, weight, dimension] = row else {
            return None;
        };
        let decimals = decimals.parse().ok()?;
        Some(Self { currency, position, thousand, decimal, decimals, weight, dimension })
    }
}

/// A currency; symbol and name are HTML.
#[derive(Clone, Copy, Debug)]
pub struct Currency {
    pub code: &'static str,
    pub symbol: &'static str,
    pub name: &'static str,
}

/// Where a field of an address is not asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Hidden {
    Never,
    Always,
    /// In a shop of the country itself.
    AtHome,
}

impl Hidden {
    fn of_word(word: &str) -> Option<Self> {
        match word {
            "no" => Some(Self::Never),
            "yes" => Some(Self::Always),
            "home" => Some(Self::AtHome),
            _ => None,
        }
    }
}

/// What is different about a field of an address in a country.
#[derive(Clone, Copy, Debug)]
pub(super) struct AddressField {
    pub(super) country: &'static str,
    pub(super) field: &'static str,
    /// Empty for the usual one.
    pub(super) label: &'static str,
    pub(super) required: Option<bool>,
    pub(super) hidden: Option<Hidden>,
    pub(super) priority: Option<i64>,
    /// Empty for the usual ones.
    pub(super) class: &'static str,
}

pub fn continents() -> &'static [Continent] {
    &CONTINENTS
}

/// All countries, in the order of their names.
pub fn countries() -> &'static [Country] {
    &COUNTRIES
}

/// The country of a code in capital letters.
pub fn country(code: &str) -> Option<&'static Country> {
    COUNTRIES.iter().find(|country| country.code == code)
}

pub fn currencies() -> &'static [Currency] {
    &CURRENCIES
}

/// The currency of a code in capital letters.
pub fn currency(code: &str) -> Option<&'static Currency> {
    CURRENCIES.iter().find(|currency| currency.code == code)
}

pub(super) fn address_fields() -> &'static [AddressField] {
    &ADDRESS_FIELDS
}

fn yes_or_no(word: &str) -> Option<bool> {
    match word {
        "yes" => Some(true),
        "no" => Some(false),
        _ => None,
    }
}

/// The rows below the header. One that does not fit is left out; the tests notice.
fn parse<T>(table: &'static str, of_row: impl Fn(&[&'static str]) -> Option<T>) -> Vec<T> {
    let rows = table.lines().skip(1);
    rows.filter_map(|line| of_row(&line.split('\t').collect::<Vec<_>>())).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn every_row_is_read() {
        assert_eq!((continents().len(), countries().len(), currencies().len()), (7, 250, 163));
        let states: usize = countries().iter().map(|country| country.states.len()).sum();
        assert_eq!((states, address_fields().len()), (2_030, 174));
        let without: Vec<&str> =
            countries().iter().filter(|c| c.format.is_none()).map(|c| c.code).collect();
        assert_eq!(without, ["AQ"]);
    }

    #[test]
    fn every_country_is_on_one_continent_and_every_reference_leads_somewhere() {
        let placed: Vec<&str> =
            continents().iter().flat_map(Continent::countries).map(|c| c.code).collect();
        assert_eq!(placed.len(), countries().len());
        assert_eq!(placed.iter().collect::<HashSet<_>>().len(), placed.len());
        for field in address_fields() {
            assert!(country(field.country).is_some(), "{field:?}");
        }
        for state_code in ["CA", "NY", "AP"] {
            let states = &country("US").unwrap().states;
            assert!(states.iter().any(|state| state.code == state_code));
        }
        assert_eq!(currency("EUR").unwrap().symbol, "&euro;");
        assert!(currency("eur").is_none() && country("XX").is_none());
    }
}
