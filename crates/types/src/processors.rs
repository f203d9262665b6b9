//! The payment processors that merchants can be taken on board for, as people are told of them.
//! What each asks of a profile is the matter of onboarding, which checks that the names agree.

/// A processor in words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProcessorCard {
    /// As onboarding requests name it.
    pub name: &'static str,
    pub title: &'static str,
    pub about: &'static str,
    /// Where its merchants can be, by two letters.
    pub countries: &'static [&'static str],
}

/// Merchants have a ZIP code, so all of them are there.
const UNITED_STATES: &[&str] = &["US"];

/// All of them, in the order in which they are suggested.
pub const PROCESSORS: &[ProcessorCard] = &[
    card("TSYS", "Cards over TSYS"),
    card("FRDC", "Cards over FRDC"),
    card("WPAY", "Cards over WPAY"),
    card("ELVN", "Cards over ELVN"),
    card("PNWX", "Cards over PNWX"),
    card("ZCRD", "Cards over ZCRD"),
    card("CKNX", "Cards over CKNX"),
];

const fn card(name: &'static str, title: &'static str) -> ProcessorCard {
    let about = "Take cards at the counter and in the shop: bind a TPN to this processor.";
    ProcessorCard { name, title, about, countries: UNITED_STATES }
}
