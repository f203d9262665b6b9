//! The words that tell what a number is: in the name of its field, or before it in a text.

/// What the name of a field says about the numbers in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Field {
    /// An identifier that a machine made. Its digits are nobody's card.
    Identifier,
    /// A telephone number, which has 15 digits at most.
    Phone,
    Other,
}

/// Of identifiers. `track` is not among them: a track is what a card's stripe holds.
const IDENTIFIER_WORDS: &[&str] = &[
    "awb",
    "barcode",
    "consignment",
    "dhl",
    "dpd",
    "ean",
    "fedex",
    "gls",
    "gtin",
    "hash",
    "iban",
    "id",
    "ids",
    "imei",
    "isbn",
    "mid",
    "parcel",
    "sendung",
    "shipment",
    "sku",
    "skus",
    "terminal",
    "tid",
    "timestamp",
    "tracking",
    "transaction",
    "txn",
    "upc",
    "ups",
    "usps",
    "uuid",
    "waybill",
];

const PHONE_WORDS: &[&str] =
    &["cell", "fax", "mobile", "phone", "tel", "telefon", "telephone", "whatsapp"];

/// Of cards. Where one of these stands, the number is no identifier.
const CARD_WORDS: &[&str] = &[
    "amex",
    "card",
    "cardnumber",
    "cards",
    "carta",
    "carte",
    "cc",
    "credit",
    "creditcard",
    "cvc",
    "cvv",
    "debit",
    "diners",
    "discover",
    "jcb",
    "karte",
    "kreditkarte",
    "maestro",
    "mastercard",
    "mc",
    "pan",
    "tarjeta",
    "unionpay",
    "visa",
];

impl Field {
    pub(super) fn named(name: &str) -> Self {
        let has = |known: &[&str]| words(name).any(|word| known.contains(&&*word));
        if has(CARD_WORDS) {
            Self::Other
        } else if has(IDENTIFIER_WORDS) {
            Self::Identifier
        } else if has(PHONE_WORDS) {
            Self::Phone
        } else {
            Self::Other
        }
    }
}

/// What the text around a number says about it.
pub(super) fn around(before: &str, after: &str) -> Field {
    match Field::named(&format!("{before} {after}")) {
        // A telephone is named in many texts that have other numbers, too.
        Field::Identifier if Field::named(before) == Field::Identifier => Field::Identifier,
        _ => Field::Other,
    }
}

/// Whether a word that touches a number says that it is a card's.
pub(super) fn is_of_card(word: &str) -> bool {
    words(word).last().is_some_and(|word| CARD_WORDS.contains(&&*word))
}

/// The words of a name such as `_tracking_number`, `merchantId` or `TermId`, in lower case; one
/// with capitals in it as a whole, too, such as `FedEx`.
fn words(name: &str) -> impl Iterator<Item = String> {
    let runs = name.split(|character: char| !character.is_alphabetic());
    runs.filter(|run| !run.is_empty()).flat_map(|run| {
        let mut words = vec![String::new()];
        let mut was_lower = false;
        for character in run.chars() {
            if was_lower && character.is_uppercase() {
                words.push(String::new());
            }
            if let Some(word) = words.last_mut() {
                word.extend(character.to_lowercase());
            }
            was_lower = character.is_lowercase();
        }
        let whole = (words.len() > 1).then(|| words.concat());
        whole.into_iter().chain(words)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_what_their_numbers_are() {
        for (name, expected) in [
            ("transaction_id", Field::Identifier),
            ("_tracking_number", Field::Identifier),
            ("TermId", Field::Identifier),
            ("Mid", Field::Identifier),
            ("TerminalNumber", Field::Identifier),
            ("sku", Field::Identifier),
            ("global_unique_id", Field::Identifier),
            ("billing_phone", Field::Phone),
            ("phoneNumber", Field::Phone),
            ("card_id", Field::Other),
            ("Track2", Field::Other),
            ("apiKey", Field::Other),
            ("paid", Field::Other),
            ("customer_note", Field::Other),
        ] {
            assert_eq!(Field::named(name), expected, "{name}");
        }
    }

    #[test]
    fn texts_tell_what_the_next_number_is() {
        for (before, after, expected) in [
            ("Shipped with FedEx, number ", "", Field::Identifier),
            ("Transaction ID: ", "", Field::Identifier),
            ("Tracking number of the card reader ", "", Field::Other),
            ("Paid with ", " (Visa)", Field::Other),
            ("", " is your tracking number", Field::Other),
            ("Call my phone ", "", Field::Other),
        ] {
            assert_eq!(around(before, after), expected, "{before}…{after}");
        }
    }
}
