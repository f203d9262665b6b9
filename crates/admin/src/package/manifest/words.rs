//! What the words of a manifest may hold. They are shown by programs that take them for HTML and
//! for links: **no text has markup, and no address leads to anything but a page**.

use serde_json::Value;
use types::{Error, Result};
use url::Url;

/// Characters of one text at most.
pub(super) const TEXT_LENGTH_MAX: usize = 4_000;
/// Items of one list at most.
const ITEMS_MAX: usize = 50;
/// What the shop's own routes take, and clean where they do.
const TAKEN_BY_OTHERS: [&str; 2] = ["parameters", "product"];

/// No text is endless or holds what no text should, and no list is endless.
pub(super) fn check_texts(value: &Value) -> Result<()> {
    check(value, true)
}

fn check(value: &Value, is_shown: bool) -> Result<()> {
    match value {
        Value::String(text) => {
            let is_odd = |c: char| c.is_control() && !matches!(c, '\n' | '\t');
            if text.chars().count() > TEXT_LENGTH_MAX || text.chars().any(is_odd) {
                return Err(Error::invalid(format!(
                    "a text in the manifest has more than {TEXT_LENGTH_MAX} characters, or \
                     contains control characters"
                )));
            }
            if is_shown && has_markup(text) {
                return Err(Error::invalid(
                    "a text in the manifest contains markup; use plain text",
                ));
            }
            Ok(())
        }
        Value::Array(items) if items.len() > ITEMS_MAX => {
            Err(Error::invalid(format!("a list in the manifest has more than {ITEMS_MAX} items")))
        }
        Value::Array(items) => items.iter().try_for_each(|item| check(item, is_shown)),
        Value::Object(members) => members.iter().try_for_each(|(name, member)| {
            check(member, is_shown && !TAKEN_BY_OTHERS.contains(&name.as_str()))
        }),
        _ => Ok(()),
    }
}

/// Whether a browser would take a part of the text for a tag, a comment or the like.
fn has_markup(text: &str) -> bool {
    let mut after = text.split('<').skip(1);
    after.any(|rest| rest.starts_with(|c: char| c.is_ascii_alphabetic() || "/!?".contains(c)))
}

/// Refuses an address that is neither a page of the web nor a path of this site. None is fine.
pub(super) fn check_address(text: &str) -> Result<()> {
    if text.is_empty() || is_web(text) || is_own_path(text) {
        return Ok(());
    }
    Err(Error::invalid("a URL in the manifest must start with https://, http:// or a single slash"))
}

pub(super) fn is_web(text: &str) -> bool {
    // Parsers of addresses pass over some of what cannot be seen; readers of the text would not.
    let is_plain = !text.chars().any(|c| c.is_control() || c.is_whitespace());
    is_plain && Url::parse(text).is_ok_and(|url| matches!(url.scheme(), "http" | "https"))
}

/// Browsers read two slashes, forwards or backwards, as the beginning of another host.
fn is_own_path(text: &str) -> bool {
    let is_odd = |c: char| c.is_control() || c.is_whitespace() || c == '\\';
    text.starts_with('/') && !text.starts_with("//") && !text.chars().any(is_odd)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn addresses_lead_to_pages() {
        for (text, fine) in [
            ("", true),
            ("https://shop.example/a?b=c#d", true),
            ("HTTP://shop.example", true),
            ("/portal/plugins/demo", true),
            ("/", true),
            ("javascript:alert(1)", false),
            ("JavaScript:alert(1)", false),
            (" javascript:alert(1)", false),
            ("java\nscript:alert(1)", false),
            ("data:text/html,<script>", false),
            ("vbscript:x", false),
            ("file:///etc/passwd", false),
            ("//evil.example/", false),
            ("/\\evil.example/", false),
            ("/\t/evil.example/", false),
            ("https://a b.example/", false),
            ("portal", false),
            ("?page=x", false),
        ] {
            assert_eq!(check_address(text).is_ok(), fine, "{text:?}");
        }
    }

    #[test]
    fn texts_are_plain() {
        for (value, fine) in [
            (json!("1 < 2, and 3 > 2 & more"), true),
            (json!("a <3 you"), true),
            (json!("<b>bold</b>"), false),
            (json!({ "notes": [{ "title": "x<SCRIPT>y" }] }), false),
            (json!("</p>"), false),
            (json!("<!-- x -->"), false),
            (json!("<svg/onload=alert(1)>"), false),
            (json!({ "product": { "description": "<p>Fine.</p>" } }), true),
            (json!({ "product": { "description": "\u{7}" } }), false),
        ] {
            assert_eq!(check_texts(&value).is_ok(), fine, "{value}");
        }
    }
}
