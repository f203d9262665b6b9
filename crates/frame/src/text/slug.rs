//! Slugs: the part of an address that comes from a title.

use icu_normalizer::DecomposingNormalizer;

/// Bytes of a slug. What is not ASCII counts three bytes for each of its own.
pub const SLUG_LENGTH_MAX: usize = 200;

/// The slug of a title or of what a client wants: lower case ASCII letters, digits, `-` and `_`;
/// letters with accents lose them, other letters are percent-encoded.
pub fn slugify(text: &str) -> String {
    let text = without_tags(text);
    let text = without_entities(&text);
    let mut slug = String::new();
    let mut rest = text.as_str();
    while let Some(character) = rest.chars().next() {
        let length = character.len_utf8();
        if let Some(octet) = octet_of(rest) {
            slug.push_str(&octet.to_ascii_lowercase());
            rest = rest.get(octet.len()..).unwrap_or_default();
            continue;
        }
        rest = rest.get(length..).unwrap_or_default();
        push_character(&mut slug, character);
    }
    let words = slug.split('-').filter(|word| !word.is_empty());
    let slug = words.collect::<Vec<_>>().join("-");
    cut(&slug, SLUG_LENGTH_MAX).trim_end_matches('-').to_owned()
}

/// A percent-encoded byte at the start of the text stays as it is.
fn octet_of(text: &str) -> Option<&str> {
    let octet = text.get(..3)?;
    let mut bytes = octet.bytes();
    let encoded = bytes.next() == Some(b'%') && bytes.all(|byte| byte.is_ascii_hexdigit());
    encoded.then_some(octet)
}

fn push_character(slug: &mut String, character: char) {
    match character {
        'a'..='z' | '0'..='9' | '_' => slug.push(character),
        'A'..='Z' => slug.push(character.to_ascii_lowercase()),
        ' ' | '-' | '.' | '/' | '\t' | '\n' | '\r' | '\u{a0}' | '\u{2010}'..='\u{2015}' => {
            slug.push('-');
        }
        '×' => slug.push('x'),
        // Quotes and marks that only decorate.
        '¡'
        | '¿'
        | '«'
        | '»'
        | '\u{2018}'..='\u{201f}'
        | '…'
        | '©'
        | '®'
        | '°'
        | '™'
        | '´'
        | '\u{200b}'..='\u{200f}'
        | '\u{feff}' => {}
        character if character.is_ascii() => {}
        character => match plain_letters(character) {
            Some(letters) => slug.push_str(&letters),
            None => push_encoded(slug, character),
        },
    }
}

/// The ASCII letters that stand for a letter of the Latin script.
fn plain_letters(character: char) -> Option<String> {
    let pair = match character {
        'ß' | 'ẞ' => "ss",
        'æ' | 'Æ' => "ae",
        'œ' | 'Œ' => "oe",
        'ø' | 'Ø' | 'º' => "o",
        'đ' | 'Đ' | 'ð' | 'Ð' => "d",
        'ł' | 'Ł' => "l",
        'þ' | 'Þ' => "th",
        'ħ' | 'Ħ' => "h",
        'ŧ' | 'Ŧ' => "t",
        'ı' => "i",
        'ĸ' => "k",
        'ŋ' | 'Ŋ' => "n",
        'ª' => "a",
        '€' => "e",
        '£' => "",
        _ => {
            let mut buffer = [0; 4];
            let decomposer = DecomposingNormalizer::new_nfd();
            let parts = decomposer.normalize(character.encode_utf8(&mut buffer));
            let mut parts = parts.chars();
            let letter = parts.next().filter(char::is_ascii_alphabetic)?;
            let marks_only = parts.all(|mark| ('\u{300}'..='\u{36f}').contains(&mark));
            return marks_only.then(|| letter.to_ascii_lowercase().to_string());
        }
    };
    Some(pair.to_owned())
}

fn push_encoded(slug: &mut String, character: char) {
    let lower: String = character.to_lowercase().collect();
    for byte in lower.bytes() {
        slug.push('%');
        for digit in [byte >> 4, byte & 0x0f] {
            slug.push(char::from_digit(u32::from(digit), 16).unwrap_or('0'));
        }
    }
}

fn without_tags(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, tag)) = rest.split_once('<') {
        plain.push_str(before);
        if tag.starts_with(char::is_whitespace) {
            rest = tag;
            continue;
        }
        match tag.split_once('>') {
            Some((_, after)) => rest = after,
            None => return plain,
        }
    }
    plain.push_str(rest);
    plain
}

fn without_entities(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, entity)) = rest.split_once('&') {
        plain.push_str(before);
        let name_length = entity.find(|c: char| !c.is_ascii_alphanumeric() && c != '#');
        rest = match name_length.and_then(|end| entity.get(end..)) {
            Some(after) if after.starts_with(';') => after.get(1..).unwrap_or_default(),
            _ => entity,
        };
    }
    plain.push_str(rest);
    plain
}

/// At most `length` bytes, and no half of an encoded byte at the end.
pub fn cut(slug: &str, length: usize) -> &str {
    if slug.len() <= length {
        return slug;
    }
    let start = slug.get(..length).unwrap_or_default();
    match start.rfind('%') {
        Some(place) if place + 3 > start.len() => start.get(..place).unwrap_or_default(),
        _ => start,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn titles_become_slugs() {
        for (title, expected) in [
            ("Hello world!", "hello-world"),
            ("  Áccented — Łódź & Straße  ", "accented-lodz-strasse"),
            ("Fish &amp; Chips", "fish-chips"),
            ("<b>Bold</b> 1.5/2", "bold-1-5-2"),
            ("你好", "%e4%bd%a0%e5%a5%bd"),
            ("already-%e4%BD%a0", "already-%e4%bd%a0"),
            ("100% sure", "100-sure"),
            ("don't \u{201c}quote\u{201d}", "dont-quote"),
            ("---", ""),
            ("a < b", "a-b"),
            ("a <b", "a"),
            ("under_score", "under_score"),
        ] {
            assert_eq!(slugify(title), expected, "{title:?}");
        }
    }

    #[test]
    fn a_long_title_is_cut_between_letters() {
        let slug = slugify(&"ß".repeat(500));
        assert_eq!(slug.len(), SLUG_LENGTH_MAX);
        let encoded = slugify(&"你".repeat(500));
        assert!(encoded.len() <= SLUG_LENGTH_MAX && encoded.len().is_multiple_of(3), "{encoded}");
    }
}
