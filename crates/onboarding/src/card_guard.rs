//! Finds card numbers and magnetic-stripe tracks in text, so that they are refused before anything
//! is stored or logged.
//!
//! A hit is 13 to 19 digits that pass Luhn, also in groups with blanks or hyphens between, or a
//! track sentinel in front of 13 or more digits. One random number in ten passes Luhn, so **numeric
//! identifiers such as a Mid must not be put through it**. It reads digits of all scripts, because
//! full-width or Arabic digits are the same card number to a person. It allocates nothing and
//! **never repeats what it found**.

use icu_properties::props::GeneralCategory;
use types::luhn;

use crate::text::category;

const CARD_LEN_MIN: usize = 13;
const CARD_LEN_MAX: usize = 19;

/// Whether some part of the text may be a card number or a track.
pub fn looks_like_card_data(text: &str) -> bool {
    // Nearly all texts have too few digits to be looked at closely.
    if text.len() < CARD_LEN_MIN || text.chars().filter_map(digit_value).count() < CARD_LEN_MIN {
        return false;
    }
    let mut rest = text.chars();
    let mut is_group_start = true;
    loop {
        let here = rest.clone();
        let Some(character) = rest.next() else { return false };
        let is_digit = digit_value(character).is_some();
        if is_digit && is_group_start && card_starts(here) {
            return true;
        }
        if is_sentinel(character) && track_starts(character, rest.clone()) {
            return true;
        }
        is_group_start = !is_digit;
    }
}

/// Whether the group of digits that starts here is a card number, alone or with groups behind it.
///
/// Each end of a group is tried, so `4111 1111 1111 1111 12 25` is found in spite of its expiry
/// date.
fn card_starts(rest: impl Iterator<Item = char>) -> bool {
    let mut digits = [0_u8; CARD_LEN_MAX];
    let mut len = 0;
    let mut is_group_end = false;
    for character in rest {
        match digit_value(character) {
            Some(digit) => {
                if is_group_end && is_card(&digits, len) {
                    return true;
                }
                let Some(free) = digits.get_mut(len) else { return false };
                *free = digit;
                len += 1;
                is_group_end = false;
            }
            None if is_joiner(character) => is_group_end = true,
            None => break,
        }
    }
    is_card(&digits, len)
}

fn is_card(digits: &[u8; CARD_LEN_MAX], len: usize) -> bool {
    len >= CARD_LEN_MIN && luhn::is_valid(digits.iter().take(len).copied())
}

/// Whether what follows the sentinel is `B` or another letter (track 1 only) and enough digits.
fn track_starts(sentinel: char, mut rest: impl Iterator<Item = char> + Clone) -> bool {
    let mut behind_letter = rest.clone();
    if is_track_1(sentinel) && behind_letter.next().is_some_and(char::is_alphabetic) {
        rest = behind_letter;
    }
    let starts_with_digit = rest.clone().next().and_then(digit_value).is_some();
    let digits = rest.filter(|&character| !is_joiner(character)).map_while(digit_value);
    starts_with_digit && digits.take(CARD_LEN_MIN).count() == CARD_LEN_MIN
}

fn is_sentinel(character: char) -> bool {
    is_track_1(character) || matches!(character, ';' | '；')
}

fn is_track_1(character: char) -> bool {
    matches!(character, '%' | '％')
}

/// Blanks and hyphens in a wide sense, with the invisible characters that could hide among digits.
fn is_joiner(character: char) -> bool {
    let is_hyphen = matches!(
        character,
        '-' | '\u{ad}' | '\u{2010}'
            ..='\u{2015}' | '\u{2212}' | '\u{fe58}' | '\u{fe63}' | '\u{ff0d}'
    );
    let is_invisible = matches!(character, '\u{200b}'..='\u{200f}' | '\u{2060}' | '\u{feff}');
    is_hyphen || is_invisible || character.is_whitespace()
}

/// The value of a decimal digit of any script.
///
/// Unicode keeps the digits of a script together, zero first, so the value is the distance to the
/// start of their row; several rows may touch, as those of the mathematical digits do.
fn digit_value(character: char) -> Option<u8> {
    if character.is_ascii() {
        return character.to_digit(10).and_then(|digit| u8::try_from(digit).ok());
    }
    let is_digit = |&character: &char| category(character) == GeneralCategory::DecimalNumber;
    if !is_digit(&character) {
        return None;
    }
    let before = ('\0'..character).rev().take_while(is_digit).count();
    u8::try_from(before % 10).ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn card_numbers_are_found() {
        for text in [
            "4111111111111111",
            "5555555555554444",
            "411111111111111118",
            "4222222222222",
            "4111111111111111110",
            "4111111111111111D2",
            "4111111111111111=2512101",
            "Card 4111111111111111 here",
            "4111 1111 1111 1111",
            "4111-1111-1111-1111",
            "4111 - 1111 - 1111 - 1111",
            "3782 822463 10005",
            "4111 1111 1111 1111 12 25",
            "Suite 12 4111 1111 1111 1111",
            "4111111111111111 123",
            "x4111111111111111x",
            "４１１１１１１１１１１１１１１１",
            "٤١١١١١١١١١١١١١١١",
            "4111\u{a0}1111\u{200b}1111\u{2011}1111",
        ] {
            assert!(looks_like_card_data(text), "{text}");
        }
    }

    #[test]
    fn tracks_are_found_whatever_their_check_digit() {
        for text in [
            "%B4111111111111112^DOE/J^2512101?",
            ";4111111111111112=2512101?",
            ";4111111111111112?",
            "%b1234567890123",
            "%1234567890123",
            "% ;1234567890123",
            ";123456789012345678901234567890",
            "%B4111 1111 1111 1112^",
            "100%;1234567890123",
        ] {
            assert!(looks_like_card_data(text), "{text}");
        }
    }

    #[test]
    fn ordinary_texts_pass() {
        for text in [
            "",
            "411111111117",
            "4111111111111112",
            "41111111111111111111111111111111",
            "%;?",
            "100% Pure; Since 1987?",
            "Kit % 1234567890123",
            "Kit ; 1234567890123",
            ";B1234567890123",
            "%BB1234567890123",
            ";123456789012=345678",
            "12 Main St, Suite 300, 555-123-4567",
            "PINPAD000000",
            "4111a1111a1111a1111",
            "4111.1111.1111.1111",
            "²²²²²²²²²²²²²²²²",
        ] {
            assert!(!looks_like_card_data(text), "{text}");
        }
    }

    #[test]
    fn every_row_of_digits_has_ten() {
        // What `digit_value` relies on; fails if a later Unicode version breaks with it.
        let mut row_len = 0;
        for character in '\0'..=char::MAX {
            if category(character) == GeneralCategory::DecimalNumber {
                row_len += 1;
            } else {
                assert_eq!(row_len % 10, 0, "digits before {:x}", u32::from(character));
                row_len = 0;
            }
        }
        let values: Vec<u8> = "09３٣𝟎𝟗𝟘".chars().filter_map(digit_value).collect();
        assert_eq!(values, [0, 9, 3, 3, 0, 9, 0]);
        assert_eq!("²①½a".chars().filter_map(digit_value).count(), 0);
    }

    proptest! {
        #[test]
        fn any_card_is_found_in_any_company(
            payload in "[0-9]{12,18}",
            before in "([A-Za-z.,!%;-]*[a-z])?",
            after in "([a-z=^?][A-Za-z0-9 ]*)?",
            gap in prop::sample::select(vec!["", " ", "-", "  ", " - "]),
        ) {
            let check_digit = luhn::check_digit(payload.bytes().map(|byte| byte - b'0'));
            let mut text = before;
            for (index, digit) in format!("{payload}{check_digit}").chars().enumerate() {
                text.push_str(if index > 0 && index % 4 == 0 { gap } else { "" });
                text.push(digit);
            }
            text.push_str(&after);
            prop_assert!(looks_like_card_data(&text), "{}", text);
        }

        #[test]
        fn a_wrong_check_digit_passes(payload in "[0-9]{12,18}", off in 1_u8..10) {
            let check_digit = luhn::check_digit(payload.bytes().map(|byte| byte - b'0'));
            let text = format!("{payload}{}", (check_digit + off) % 10);
            prop_assert!(!looks_like_card_data(&text));
        }

        #[test]
        fn no_text_makes_it_panic(text: String) {
            let _ = looks_like_card_data(&text);
        }
    }
}
