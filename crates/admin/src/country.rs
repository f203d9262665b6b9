//! The country in which the shop is, and what is of use there.

use frame::Options;

/// Two letters, such as `US`; the option may have a state behind them.
pub(crate) fn of(options: &Options) -> String {
    let place = options.text("woocommerce_default_country");
    place.split(':').next().unwrap_or_default().to_ascii_uppercase()
}

/// Whether something that is for these countries is for this one. None named is everywhere.
pub(crate) fn is_served(countries: &[String], country: &str) -> bool {
    countries.is_empty() || countries.iter().any(|one| one.eq_ignore_ascii_case(country))
}
