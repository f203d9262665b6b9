//! What the demo's customers and staff write.

use super::dice::Dice;

const WISHES: &[&str] = &[
    "Please leave it with the neighbors.",
    "It's a gift; please don't include an invoice.",
    "Please ring twice, the bell is faint.",
    "No rush.",
    "Could you wrap the mug well?",
];
const STAFF_NOTES: &[&str] = &[
    "Customer asked to ship to the office; label changed.",
    "Called back about the size; no change.",
    "Checked manually, OK.",
    "Packed with another order for the same address.",
];
const TOLD: &[&str] = &[
    "Your order has shipped and should arrive in a few days.",
    "One item ships from another store, so delivery takes a day longer.",
    "We added a little something for the wait.",
];
const REASONS: &[&str] = &[
    "Did not fit",
    "Arrived damaged",
    "Ordered twice",
    "Not as described",
    "Arrived too late",
    "Out of stock",
];
const GOOD: &[&str] = &[
    "Even better than in the picture.",
    "Bought it again for a friend.",
    "Exactly what I was looking for.",
    "Well made and well packed.",
    "I have used it every day since it came.",
];
const FAIR: &[&str] =
    &["Does what it should.", "Nice, but a little expensive.", "Good, but delivery was slow."];
const POOR: &[&str] = &[
    "Smaller than I expected.",
    "The color is different from the picture.",
    "Arrived with a scratch, but the shop took care of it.",
];
const ENDINGS: &[&str] = &["", " Would buy again.", " Thank you.", " My sister wants one too."];
/// How many of a hundred reviews give each number of stars, from one to five.
const STARS: [u64; 5] = [4, 5, 11, 26, 54];

pub(super) fn wish(dice: &mut Dice) -> String {
    dice.text(WISHES).to_owned()
}

/// A note of the staff, and whether the customer was told.
pub(super) fn note(dice: &mut Dice) -> (String, bool) {
    let imported = dice.in_thousand(400);
    (dice.text(if imported { TOLD } else { STAFF_NOTES }).to_owned(), imported)
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
