//! Names of users: logins, slugs, and names that are safe to put into markup.

use crate::text::slugify;

/// Characters of a login at most.
pub const LOGIN_LENGTH_MAX: usize = 60;
/// Characters of a slug at most.
pub const SLUG_LENGTH_MAX: usize = 50;
/// The slug of a user in whose login nothing is left for one.
const SLUG_FALLBACK: &str = "user";

/// Whether the text can be a login: ASCII letters, digits, `. _ - @`, and single blanks inside.
pub fn is_login(text: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || " ._-@".contains(c);
    let tidy = text.trim() == text && !text.contains("  ");
    !text.is_empty() && tidy && text.chars().all(plain)
}

/// The text as it stands in addresses; nothing may be left of it.
pub fn slug(text: &str) -> String {
    slugify(text)
}

/// The slug of a user who chose none.
pub fn slug_of_login(login: &str) -> String {
    let cut: String = slug(login).chars().take(SLUG_LENGTH_MAX).collect();
    let cut = cut.trim_end_matches('-');
    if cut.is_empty() { String::from(SLUG_FALLBACK) } else { cut.to_owned() }
}

/// The name as clients expect it: ready for markup. What is escaped already stays as it is.
pub fn escaped(name: &str) -> String {
    let mut escaped = String::with_capacity(name.len());
    let mut rest = name;
    while let Some(letter) = rest.chars().next() {
        match letter {
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '&' if !starts_with_entity(rest) => escaped.push_str("&amp;"),
            other => escaped.push(other),
        }
        rest = rest.get(letter.len_utf8()..).unwrap_or_default();
    }
    escaped
}

/// Letters of an entity's name that are looked at.
const ENTITY_LENGTH_MAX: usize = 10;

fn starts_with_entity(text: &str) -> bool {
    let Some(after) = text.strip_prefix('&') else { return false };
    let name: String = after.chars().take_while(|c| *c != ';').take(ENTITY_LENGTH_MAX).collect();
    if !after.get(name.len()..).is_some_and(|rest| rest.starts_with(';')) {
        return false;
    }
    match name.strip_prefix('#') {
        Some(number) => match number.strip_prefix(['x', 'X']) {
            Some(hex) => !hex.is_empty() && hex.chars().all(|c| c.is_ascii_hexdigit()),
            None => !number.is_empty() && number.chars().all(|c| c.is_ascii_digit()),
        },
        None => !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logins_are_plain() {
        for good in ["admin", "a", "Anna B", "x.y_z-1@shop"] {
            assert!(is_login(good), "{good}");
        }
        for bad in ["", " a", "a ", "a  b", "<b>", "a/b", "ä", "a%20b", "a\u{0}", "a&amp;"] {
            assert!(!is_login(bad), "{bad:?}");
        }
    }

    #[test]
    fn slugs_stand_in_addresses() {
        for (text, expected) in [
            ("Anna B", "anna-b"),
            ("x.y_z-1@shop", "x-y_z-1shop"),
            ("--a---b--", "a-b"),
            ("<i>A</i> & B", "a-b"),
            ("\u{e4}", "a"),
            ("@", ""),
        ] {
            assert_eq!(slug(text), expected, "{text}");
        }
        assert_eq!(slug_of_login("@"), "user");
        assert_eq!(slug_of_login(&"a".repeat(60)).len(), SLUG_LENGTH_MAX);
    }

    #[test]
    fn names_are_escaped_once() {
        for (name, expected) in [
            ("A & B", "A &amp; B"),
            ("A &amp; B", "A &amp; B"),
            ("a < b > c", "a &lt; b &gt; c"),
            ("O'Neil \"x\"", "O'Neil \"x\""),
            ("&#39;&#x41;&#;&;&", "&#39;&#x41;&amp;#;&amp;;&amp;"),
            ("&\u{e4};", "&amp;\u{e4};"),
        ] {
            assert_eq!(escaped(name), expected, "{name}");
        }
    }
}
