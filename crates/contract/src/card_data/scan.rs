//! Reads a text for card numbers, alone or in groups of digits, and for tracks.
//!
//! It reads digits of all scripts, because full-width or Arabic digits are the same card number to
//! a person, and takes linear time.

use icu_properties::CodePointMapData;
use icu_properties::props::GeneralCategory;

use super::issuer::{LEN_MAX, LEN_MIN, is_card_number};
use super::words::{self, Field};

/// Characters before and behind a number that may say what it is.
const CONTEXT_BEFORE: usize = 40;
const CONTEXT_AFTER: usize = 20;
/// Characters between two groups of one number, such as ` - `.
const JOINT_MAX: usize = 3;
/// Characters of a word that touches a number; longer ones name no card.
const WORD_MAX: usize = 20;
/// A telephone number has fewer digits.
const LEN_NO_PHONE: usize = 16;

/// How cards show their numbers in groups, and how people cut them up. Groups of four with a
/// shorter one behind stand for all their lengths.
const GROUPINGS: &[&[usize]] = &[
    &[4, 4, 4, 4, 3],
    &[4, 4, 4, 4, 2],
    &[4, 4, 4, 4],
    &[4, 4, 4, 3],
    &[4, 4, 4, 2],
    &[4, 6, 5],
    &[4, 6, 4],
    &[8, 8],
    &[6, 13],
];
/// More groups of four than this in a row, joined alike, are several card numbers or a longer
/// number of another kind.
const FOURS_MAX: usize = 5;
/// Groups of four that are looked at together.
const RUN_MAX: usize = 64;
/// Groups of four of one card number.
const CARD_FOURS: usize = 4;

/// Whether some part of the text, which has this name, may be a card number or a track.
pub(super) fn finds_card_data(text: &str, name: Option<&str>) -> bool {
    // Nearly all texts have too few digits to be looked at closely.
    if text.len() < LEN_MIN || !has_digits(text) {
        return false;
    }
    // Nearly all that have as many are no cards', whatever they are called.
    let mut field = None;
    let text: Vec<char> = text.chars().collect();
    let mut at = 0;
    while let Some(character) = text.get(at) {
        if is_sentinel(*character) && track_starts(&text, at) {
            return true;
        }
        if digit_value(*character).is_none() {
            at += 1;
            continue;
        }
        let chain = Chain::read(&text, at);
        if chain.has_card_number(Field::Other) {
            let field = *field.get_or_insert_with(|| name.map_or(Field::Other, Field::named));
            let is_excused = match field {
                Field::Other => false,
                Field::Identifier => true,
                Field::Phone => !chain.has_card_number(field),
            };
            if !is_excused {
                return true;
            }
        }
        at = chain.end();
    }
    false
}

/// Whether there are as many digits as a card has, of any script.
fn has_digits(text: &str) -> bool {
    if text.is_ascii() {
        return text.bytes().filter(u8::is_ascii_digit).count() >= LEN_MIN;
    }
    text.chars().filter_map(digit_value).take(LEN_MIN).count() == LEN_MIN
}

/// Digits that stand together.
#[derive(Clone, Copy, Debug)]
struct Group {
    start: usize,
    len: usize,
    /// What stands between the group before and this one; nothing before the first.
    joint: Option<char>,
}

/// Groups of digits with nothing between them but what may separate the groups of one number.
struct Chain<'t> {
    text: &'t [char],
    groups: Vec<Group>,
}

impl<'t> Chain<'t> {
    fn read(text: &'t [char], start: usize) -> Self {
        let mut chain = Self { text, groups: Vec::new() };
        let mut next = Some((start, None));
        while let Some((start, joint)) = next {
            let is_digit = |character: &&char| digit_value(**character).is_some();
            let len = text.iter().skip(start).take_while(is_digit).count();
            chain.groups.push(Group { start, len, joint });
            next = joint_at(text, start + len).map(|(kind, start)| (start, Some(kind)));
        }
        chain
    }

    fn end(&self) -> usize {
        self.groups.last().map_or(self.text.len(), |group| group.start + group.len)
    }

    fn has_card_number(&self, field: Field) -> bool {
        let alone = self.groups.iter().any(|group| self.is_alone(*group, field));
        alone || self.is_in_single_digits() || self.is_in_groups()
    }

    /// Whether the group is a card number by itself.
    fn is_alone(&self, group: Group, field: Field) -> bool {
        let Group { start, len, .. } = group;
        if !(LEN_MIN..=LEN_MAX).contains(&len) || !self.is_card_number(start, start + len) {
            return false;
        }
        let is_phone = field == Field::Phone || self.before(start) == Some('+');
        if is_phone && len < LEN_NO_PHONE {
            return false;
        }
        // Numbers of 13 digits are rare on cards, and common everywhere else.
        if len == LEN_MIN && !self.is_all_there_is(start, start + len) {
            return false;
        }
        self.stands_for_card(start, start + len)
    }

    /// Whether the text has nothing else but a few blanks or signs.
    fn is_all_there_is(&self, start: usize, end: usize) -> bool {
        let around = [self.text.get(..start), self.text.get(end..)];
        around.into_iter().flatten().all(|part| {
            part.len() <= JOINT_MAX && part.iter().all(|sign| joint_kind(*sign).is_some())
        })
    }

    /// Whether every digit of the chain stands by itself and all of them are a card number.
    fn is_in_single_digits(&self) -> bool {
        let all_single = self.groups.iter().all(|group| group.len == 1);
        let longer = self.groups.len() > LEN_MIN && self.groups.len() <= LEN_MAX;
        all_single && longer && self.is_window(self.groups.as_slice())
    }

    fn is_in_groups(&self) -> bool {
        (0..self.groups.len()).any(|first| {
            let rest = self.groups.get(first..).unwrap_or_default();
            let (before, behind) = self.fours_around(first);
            if self.follows_code(first) {
                return false;
            }
            match (before, before + behind) {
                // Something else of four digits may stand before the number.
                (0, ..=FOURS_MAX) | (1, FOURS_MAX) => GROUPINGS.iter().any(|grouping| {
                    let lengths = rest.iter().map(|group| &group.len);
                    grouping.iter().eq(lengths.take(grouping.len()))
                        && self.is_window(rest.get(..grouping.len()).unwrap_or_default())
                }),
                (0, all) if all % CARD_FOURS == 0 => {
                    let run = rest.get(..all).unwrap_or_default();
                    run.chunks(CARD_FOURS).all(|card| self.is_window(card))
                }
                _ => false,
            }
        })
    }

    /// How many groups of four, joined alike, stand before this one, and from this one on.
    fn fours_around(&self, first: usize) -> (usize, usize) {
        let rest = self.groups.get(first..).unwrap_or_default();
        let is_four = |group: &&Group| group.len == 4;
        let joint = rest.get(1).and_then(|group| group.joint);
        let more = rest.iter().skip(1).take(RUN_MAX);
        let more = more.take_while(|group| is_four(group) && group.joint == joint).count();
        let behind = if rest.first().is_some_and(|group| group.len == 4) { 1 + more } else { 0 };
        if behind == 0 {
            return (0, 0);
        }
        let joined = self.groups.get(..=first).unwrap_or_default().iter().rev();
        let joined = joined.take(RUN_MAX).take_while(|group| group.joint == joint).count();
        let earlier = self.groups.get(..first).unwrap_or_default().iter().rev();
        (earlier.take(joined).take_while(is_four).count(), behind)
    }

    /// Whether the group before is the end of letters and digits, as in `DE44 5001 0517 …`.
    fn follows_code(&self, first: usize) -> bool {
        let previous = first.checked_sub(1).and_then(|index| self.groups.get(index));
        previous.is_some_and(|group| self.before(group.start).is_some_and(char::is_alphanumeric))
    }

    /// Whether these groups, which must be separated alike, are a card number.
    fn is_window(&self, groups: &[Group]) -> bool {
        let (Some(first), Some(last)) = (groups.first(), groups.last()) else { return false };
        // A number may go on in the next line.
        let mut joints = groups.iter().skip(1).map(|group| match group.joint {
            Some(LINE_END) => Some(BLANK),
            joint => joint,
        });
        let joint = joints.next().flatten();
        let end = last.start + last.len;
        joints.all(|other| other == joint)
            && self.is_card_number(first.start, end)
            && self.stands_for_card(first.start, end)
    }

    /// Whether the digits from here to there are a card number.
    fn is_card_number(&self, start: usize, end: usize) -> bool {
        let digits = self.part(start, end).iter();
        let digits: Vec<u8> = digits.filter_map(|character| digit_value(*character)).collect();
        is_card_number(&digits)
    }

    /// Whether nothing around the number says that it is something else.
    fn stands_for_card(&self, start: usize, end: usize) -> bool {
        let text = |from, to| self.part(from, to).iter().collect::<String>();
        let before = text(start.saturating_sub(CONTEXT_BEFORE), start);
        self.starts_word(start)
            && self.ends_word(end)
            && words::around(&before, &text(end, end + CONTEXT_AFTER)) != Field::Identifier
    }

    fn part(&self, from: usize, to: usize) -> &[char] {
        self.text.get(from..to.min(self.text.len())).unwrap_or_default()
    }

    fn before(&self, at: usize) -> Option<char> {
        at.checked_sub(1).and_then(|index| self.text.get(index)).copied()
    }

    /// Whether nothing that belongs to the number stands before it: it may be the end of a longer
    /// identifier such as `1Z9994712345678901`, unless what stands there is `card` or the like.
    fn starts_word(&self, start: usize) -> bool {
        let is_glue = |character: &char| matches!(character, '-' | '_' | '#' | '.' | '/');
        let before = self.text.get(..start).unwrap_or_default();
        let glued = before.iter().rev().take_while(|character| is_glue(character)).count();
        let rest = before.get(..start.saturating_sub(glued)).unwrap_or_default();
        // Paths and sentences go on behind these, identifiers do not.
        let is_apart = glued > 0 && before.last().is_some_and(|last| matches!(last, '.' | '/'));
        let word = rest.iter().rev().take(WORD_MAX).take_while(|sign| sign.is_alphanumeric());
        let word: Vec<char> = word.copied().collect();
        let word: String = word.into_iter().rev().collect();
        word.is_empty() || is_apart || words::is_of_card(&word)
    }

    /// Whether nothing that belongs to the number stands behind it but the rest of a track.
    fn ends_word(&self, end: usize) -> bool {
        let rest = self.text.get(end..).unwrap_or_default();
        let mut word = rest.iter().take_while(|character| character.is_alphanumeric());
        match word.next() {
            None => true,
            Some('D' | 'd' | 'F' | 'f') => word.all(|character| digit_value(*character).is_some()),
            Some(_) => false,
        }
    }
}

/// What separates the digits before `at` from more digits, and where those are.
fn joint_at(text: &[char], at: usize) -> Option<(char, usize)> {
    let rest = text.get(at..)?;
    let len = rest.iter().take_while(|character| joint_kind(**character).is_some()).count();
    let is_digit = rest.get(len).is_some_and(|character| digit_value(*character).is_some());
    if !(1..=JOINT_MAX).contains(&len) || !is_digit {
        return None;
    }
    let mut kind = BLANK;
    for found in rest.iter().take(len).filter_map(|character| joint_kind(*character)) {
        match found {
            BLANK => {}
            _ if kind == BLANK || kind == found => kind = found,
            _ => return None,
        }
    }
    Some((kind, at + len))
}

/// Stands for all blanks and hyphens, and for all line ends.
const BLANK: char = ' ';
const LINE_END: char = '\n';

/// What may separate groups of digits, with one character for all that are alike: blanks and
/// hyphens in a wide sense, with the invisible characters that could hide among digits; brackets;
/// and the signs that people put there.
fn joint_kind(character: char) -> Option<char> {
    let is_hyphen = matches!(
        character,
        '-' | '\u{ad}' | '\u{2010}'
            ..='\u{2015}' | '\u{2212}' | '\u{fe58}' | '\u{fe63}' | '\u{ff0d}'
    );
    let is_invisible = matches!(character, '\u{200b}'..='\u{200f}' | '\u{2060}' | '\u{feff}');
    match character {
        // What stands on another line is seldom a part of the number.
        '\n' | '\r' => Some(LINE_END),
        _ if is_hyphen || is_invisible || character.is_whitespace() => Some(BLANK),
        '(' | ')' | '[' | ']' | '{' | '}' | '<' | '>' => Some('('),
        '\'' | '’' | '‘' | '`' | '"' => Some('\''),
        '.' | '·' | '•' | '．' => Some('.'),
        '/' | '\\' | '_' | ',' | '*' | '+' | ':' | ';' | '|' | '~' | '#' | '=' | '^' | '&'
        | '!' => Some(character),
        _ => None,
    }
}

/// Whether a track starts with the sentinel at `at`: `%`, a letter and a card's number of digits,
/// or `;` and as many, unless that ends a reference to a character such as `&nbsp;`.
fn track_starts(text: &[char], at: usize) -> bool {
    let rest = text.get(at + 1..).unwrap_or_default();
    let digits = match text.get(at) {
        Some('%' | '％') if rest.first().is_some_and(|next| next.is_alphabetic()) => {
            rest.get(1..).unwrap_or_default()
        }
        Some(';' | '；') => {
            let before = at.checked_sub(1).and_then(|index| text.get(index));
            if before.is_some_and(|before| before.is_alphanumeric()) {
                return false;
            }
            rest
        }
        _ => return false,
    };
    let starts_with_digit = digits.first().is_some_and(|first| digit_value(*first).is_some());
    let digits = digits
        .iter()
        .filter(|character| joint_kind(**character) != Some(BLANK))
        .map_while(|character| digit_value(*character));
    starts_with_digit && digits.take(LEN_MIN).count() == LEN_MIN
}

fn is_sentinel(character: char) -> bool {
    matches!(character, '%' | '％' | ';' | '；')
}

/// The value of a decimal digit of any script.
///
/// Unicode keeps the digits of a script together, zero first, so the value is the distance to the
/// start of their row; several rows may touch, as those of the mathematical digits do.
fn digit_value(character: char) -> Option<u8> {
    if character.is_ascii() {
        return character.to_digit(10).and_then(|digit| u8::try_from(digit).ok());
    }
    let is_digit = |&character: &char| {
        CodePointMapData::<GeneralCategory>::new().get(character) == GeneralCategory::DecimalNumber
    };
    if !is_digit(&character) {
        return None;
    }
    let before = ('\0'..character).rev().take_while(is_digit).count();
    u8::try_from(before % 10).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_of_digits_has_ten() {
        // What `digit_value` relies on; fails if a later Unicode version breaks with it.
        let category = |character| CodePointMapData::<GeneralCategory>::new().get(character);
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
}
