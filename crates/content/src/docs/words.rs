//! The words of a text, folded, so that a search finds them whatever their case.

use std::ops::Range;

/// A word, folded, with where it is in the text.
#[derive(Debug)]
pub(super) struct Word {
    pub(super) folded: String,
    pub(super) at: Range<usize>,
}

/// The words of a text in order. A word is a run of letters and digits, so that `object_not_found`
/// and `X-Request-Id` are found by their parts.
pub(super) fn words(text: &str) -> impl Iterator<Item = Word> + '_ {
    let mut rest = text.char_indices().peekable();
    std::iter::from_fn(move || {
        let (start, first) = rest.by_ref().find(|(_, character)| character.is_alphanumeric())?;
        let mut folded: String = fold(first).collect();
        let mut end = start + first.len_utf8();
        while let Some((at, character)) = rest.next_if(|(_, next)| next.is_alphanumeric()) {
            folded.extend(fold(character));
            end = at + character.len_utf8();
        }
        Some(Word { folded, at: start..end })
    })
}

/// Up and down again, so that ß meets SS and a final sigma the other one.
fn fold(character: char) -> impl Iterator<Item = char> {
    character.to_uppercase().flat_map(char::to_lowercase)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_folded_and_know_their_place() {
        let check = |text: &str, expected: &[&str]| {
            let found: Vec<String> = words(text).map(|word| word.folded).collect();
            assert_eq!(found, expected, "{text}");
        };
        check("", &[]);
        check(" -- ", &[]);
        check("Object_not_found", &["object", "not", "found"]);
        check("ΟΔΟΣ οδος Straße STRASSE", &["οδοσ", "οδοσ", "strasse", "strasse"]);
        check("a\u{0}b 日本", &["a", "b", "日本"]);
        let text = "é, Über";
        let shown: Vec<&str> = words(text).map(|word| &text[word.at]).collect();
        assert_eq!(shown, ["é", "Über"]);
    }
}
