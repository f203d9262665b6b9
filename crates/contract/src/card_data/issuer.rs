//! Which digits are a card number: the prefixes of the issuers, the lengths of their numbers, and
//! the check digit.

use types::luhn;

pub(super) const LEN_MIN: usize = 13;
pub(super) const LEN_MAX: usize = 19;

/// First and last prefix of a range, and the lengths of its numbers.
type Range = (u32, u32, &'static [usize]);

/// By the first four digits.
const RANGES: &[Range] = &[
    (2200, 2204, &[16, 17, 18, 19]),
    (2221, 2720, &[16]),
    (3000, 3059, &[14, 16, 19]),
    (3095, 3095, &[14, 16, 19]),
    (3400, 3499, &[15]),
    (3528, 3589, &[16, 17, 18, 19]),
    (3600, 3699, &[14, 16, 19]),
    (3700, 3799, &[15]),
    (3800, 3999, &[14, 16, 19]),
    (4000, 4999, &[13, 16, 18, 19]),
    (5000, 5099, &[16, 18, 19]),
    (5100, 5599, &[16]),
    (5600, 5899, &[16, 18, 19]),
    (6000, 6199, &[16, 19]),
    (6200, 6299, &[16, 17, 18, 19]),
    (6300, 6399, &[16, 18, 19]),
    (6440, 6599, &[16, 19]),
    (6700, 6799, &[16, 18, 19]),
    (9792, 9792, &[16]),
];

/// Whether the digits (values 0 to 9) are a number that an issuer of cards may have given.
pub(super) fn is_card_number(digits: &[u8]) -> bool {
    let prefix = digits.iter().take(4).fold(0, |prefix, digit| prefix * 10 + u32::from(*digit));
    let is_issued = RANGES.iter().any(|(first, last, lengths)| {
        (*first..=*last).contains(&prefix) && lengths.contains(&digits.len())
    });
    is_issued && luhn::is_valid(digits.iter().copied()) && !is_article_number(digits)
}

/// Whether 13 or 14 digits end in the check digit of an article number (EAN, GTIN): articles of
/// some countries start with the digits of issuers.
fn is_article_number(digits: &[u8]) -> bool {
    let weights = [1, 3].into_iter().cycle();
    let sum: u32 = digits.iter().rev().zip(weights).map(|(digit, by)| u32::from(*digit) * by).sum();
    digits.len() < 15 && sum.is_multiple_of(10)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: bool) {
        let digits: Vec<u8> = text.bytes().map(|byte| byte - b'0').collect();
        assert_eq!(is_card_number(&digits), expected, "{text}");
    }

    #[test]
    fn numbers_of_every_brand_are_known() {
        for number in [
            "4111111111111111",
            "4242424242424242",
            "4222222222222",
            "411111111111111118",
            "4111111111111111110",
            "5555555555554444",
            "2223003122003222",
            "378282246310005",
            "30569309025904",
            "3530111333300000",
            "6011111111111117",
            "6200000000000005",
            "6759649826438453",
            "2200000000000004",
            "6304000000000000",
        ] {
            check(number, true);
        }
    }

    #[test]
    fn other_numbers_are_none() {
        // A wrong check digit, no issuer, another length, and articles whose number passes Luhn.
        for number in [
            "4111111111111112",
            "1234567812345670",
            "41111111111111113",
            "4000000000006",
            "490154203237518",
        ] {
            check(number, false);
        }
    }
}
