//! Text in markup: what somebody wrote is never read as a tag or an attribute.

/// The text as it may stand between tags, and within quotes of either kind.
pub fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#039;"),
            _ => safe.push(character),
        }
    }
    safe
}
