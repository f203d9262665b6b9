//! What the demo's customers and staff write.

use super::dice::Dice;

const WISHES: &[&str] = &[
    "Please leave it with the neighbours.",
    "It is a present; no invoice in the parcel, please.",
    "Ring twice, the bell is faint.",
    "No hurry at all.",
    "Could you wrap the mug well?",
];
const STAFF_NOTES: &[&str] = &[
    "Asked whether the parcel may go to the office; changed the label.",
    "Called back about the size; stays as ordered.",
    "Checked by hand, fine.",
    "Packed together with an order of the same household.",
];
const TOLD: &[&str] = &[
    "Your parcel has left us and should be with you in a few days.",
    "One piece comes from the other store, so this takes a day longer.",
    "We have put a little something in for the wait.",
];
const REASONS: &[&str] = &[
    "Did not fit",
    "Arrived damaged",
    "Ordered twice",
    "Not as expected",
    "Came too late",
    "Out of stock after all",
];
const GOOD: &[&str] = &[
    "Better than in the picture.",
    "Bought it again for a friend.",
    "Exactly what I was looking for.",
    "Well made and well packed.",
    "In use every day since it came.",
];
const FAIR: &[&str] =
    &["Does what it should.", "Nice, if a little dear.", "Good, but the parcel took its time."];
const POOR: &[&str] = &[
    "Smaller than I thought.",
    "The colour is not that of the picture.",
    "Came with a scratch; the shop was kind about it.",
];
const ENDINGS: &[&str] = &["", " Would buy again.", " Thank you.", " My sister wants one too."];
/// How many of a hundred reviews give each number of stars, from one to five.
const STARS: [u64; 5] = [4, 5, 11, 26, 54];

pub(super) fn wish(dice: &mut Dice) -> String {
    dice.text(WISHES).to_owned()
}

/// A note of the staff, and whether the customer was told.
pub(super) fn note(dice: &mut Dice) -> (String, bool) {
    let told = dice.in_thousand(400);
    (dice.text(if told { TOLD } else { STAFF_NOTES }).to_owned(), told)
}

pub(super) fn reason(dice: &mut Dice) -> String {
    dice.text(REASONS).to_owned()
}

/// The stars and the text of a review.
pub(super) fn review(dice: &mut Dice) -> (i64, String) {
    let stars = i64::try_from(dice.weighted(STARS.iter().copied())).unwrap_or(4) + 1;
    let list = match stars {
        4.. => GOOD,
        3 => FAIR,
        _ => POOR,
    };
    let ending = if stars > 3 { dice.text(ENDINGS) } else { "" };
    (stars, format!("{}{ending}", dice.text(list)))
}
