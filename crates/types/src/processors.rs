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
    card("TSYS", "Card payments through TSYS"),
    card("FRDC", "Card payments through FRDC"),
    card("WPAY", "Card payments through WPAY"),
    card("ELVN", "Card payments through ELVN"),
    card("PNWX", "Card payments through PNWX"),
    card("ZCRD", "Card payments through ZCRD"),
    card("CKNX", "Card payments through CKNX"),
];

const fn card(name: &'static str, title: &'static str) -> ProcessorCard {
    let about = "Accept cards in person and online: assign this processor to a TPN.";
    ProcessorCard { name, title, about, countries: UNITED_STATES }
}
