//! Cleaning of text that people typed: tags and control characters go, addresses lose what no
//! address holds. Cleaning never fails; at worst nothing is left.

use super::loose::is_space;

/// Longest scheme of an address that is looked at, in bytes.
const SCHEME_LENGTH_MAX: usize = 32;

/// The schemes that an address may have.
const SCHEMES: &[&str] = &[
    "http", "https", "ftp", "ftps", "mailto", "news", "irc", "irc6", "ircs", "gopher", "nntp",
    "feed", "telnet", "mms", "rtsp", "sms", "svn", "tel", "fax", "xmpp", "webcal", "urn",
];

/// One line of plain text: no tags, no percent codes, runs of spaces become one.
pub fn text_field(text: &str) -> String {
    plain(text, false)
}

/// Plain text that keeps its line breaks.
pub fn textarea_field(text: &str) -> String {
    plain(text, true)
}

/// Plain text with its line breaks and its percent signs: `%day%` is a placeholder, and only looks
/// as if it began with a percent code.
pub fn placeholder_text(text: &str) -> String {
    without_markup(text, true)
}

/// A code that is found by its own text, such as that of a coupon: one line of plain text in lower
/// case. **Cleaning it again changes nothing**, so the code that is stored is the one that applies.
pub fn code(text: &str) -> String {
    let mut code = without_markup(text, false).to_lowercase();
    // What is left of a tag may be one again.
    loop {
        let again = without_markup(&code, false);
        if again == code {
            return code;
        }
        code = again;
    }
}

/// A key: lower case letters, digits, `_` and `-`; the rest goes.
pub fn key(text: &str) -> String {
    let lower = text.chars().map(|character| character.to_ascii_lowercase());
    lower.filter(|character| is_key_character(*character)).collect()
}

fn is_key_character(character: char) -> bool {
    character.is_ascii_lowercase() || character.is_ascii_digit() || matches!(character, '_' | '-')
}

fn plain(text: &str, keep_lines: bool) -> String {
    let clean = without_markup(text, keep_lines);
    if !clean.contains('%') {
        return clean;
    }
    let without_codes = without_percent_codes(&clean);
    if without_codes.len() == clean.len() {
        return without_codes;
    }
    join_runs(&without_codes, |c| c == ' ').trim_matches(is_space).to_owned()
}

fn without_markup(text: &str, keep_lines: bool) -> String {
    if is_clean(text) {
        return text.to_owned();
    }
    let mut clean: String = text.chars().filter(|c| !is_unwanted_control(*c)).collect();
    if clean.contains('<') {
        let without_tags = without_tags(&escape_open_brackets(&clean));
        // A line break that is joined later must not complete a tag.
        clean = without_tags.trim_matches(is_space).replace("<\n", "&lt;\n");
    }
    if !keep_lines {
        clean = join_runs(&clean, |c| matches!(c, '\r' | '\n' | '\t' | ' '));
    }
    clean.trim_matches(is_space).to_owned()
}

/// Whether there is nothing to clean for sure, as in nearly all that people type: printable ASCII
/// without a tag and without two spaces in a row, or one at an end.
fn is_clean(text: &str) -> bool {
    let mut after_space = true;
    for byte in text.bytes() {
        let is_space = byte == b' ';
        if !(b' '..=b'~').contains(&byte) || byte == b'<' || (is_space && after_space) {
            return false;
        }
        after_space = is_space;
    }
    !after_space || text.is_empty()
}

fn is_unwanted_control(character: char) -> bool {
    character.is_ascii_control() && !matches!(character, '\t' | '\n' | '\r')
}

/// A `<` that no `>` follows before the next `<` is text, and is written as such.
fn escape_open_brackets(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    let mut pieces = text.split('<');
    escaped.push_str(pieces.next().unwrap_or_default());
    for piece in pieces {
        if piece.contains('>') {
            escaped.push('<');
            escaped.push_str(piece);
            continue;
        }
        escaped.push_str("&lt;");
        for character in piece.chars() {
            match character {
                '"' => escaped.push_str("&quot;"),
                '\'' => escaped.push_str("&#039;"),
                other => escaped.push(other),
            }
        }
    }
    escaped
}

/// Removes tags, and scripts and styles with what is in them. Quotes protect a `>` in a tag.
fn without_tags(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    // Looked for once only, or many start tags without an end would take quadratic time.
    let mut may_end = true;
    while let Some((before, from_bracket)) = split_before(rest, '<') {
        plain.push_str(before);
        let inside = from_bracket.strip_prefix('<').unwrap_or_default();
        if inside.starts_with(is_space) {
            plain.push('<');
            rest = inside;
            continue;
        }
        rest = after_tag(inside);
        if let Some(name) = skipped_element(inside).filter(|_| may_end) {
            match after_element(rest, name) {
                Some(after) => rest = after,
                None => may_end = false,
            }
        }
    }
    plain.push_str(rest);
    plain
}

fn split_before(text: &str, mark: char) -> Option<(&str, &str)> {
    text.find(mark).and_then(|position| text.split_at_checked(position))
}

fn after_tag(inside: &str) -> &str {
    let mut quote = None;
    for (position, character) in inside.char_indices() {
        match (quote, character) {
            (None, '>') => return inside.get(position + 1..).unwrap_or_default(),
            (None, '"' | '\'') => quote = Some(character),
            (Some(open), close) if open == close => quote = None,
            _ => {}
        }
    }
    ""
}

fn skipped_element(inside: &str) -> Option<&'static str> {
    ["script", "style"].into_iter().find(|name| {
        let start = inside.get(..name.len());
        start.is_some_and(|start| start.eq_ignore_ascii_case(name))
    })
}

/// What follows the end tag, if there is one.
fn after_element<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let mut rest = text;
    while let Some((_, from_bracket)) = split_before(rest, '<') {
        let inside = from_bracket.strip_prefix('<').unwrap_or_default();
        let end = inside.strip_prefix('/').and_then(|end| end.get(..name.len()));
        if end.is_some_and(|end| end.eq_ignore_ascii_case(name)) {
            return Some(after_tag(inside));
        }
        rest = inside;
    }
    None
}

fn join_runs(text: &str, joins: fn(char) -> bool) -> String {
    let mut joined = String::with_capacity(text.len());
    let mut in_run = false;
    for character in text.chars() {
        if !joins(character) {
            joined.push(character);
        } else if !in_run {
            joined.push(' ');
        }
        in_run = joins(character);
    }
    joined
}

/// Removes `%41` and the like until none is left, also those that a removal brings together.
fn without_percent_codes(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    for character in text.chars() {
        kept.push(character);
        if let Some([b'%', high, low]) = kept.as_bytes().last_chunk::<3>()
            && high.is_ascii_hexdigit()
            && low.is_ascii_hexdigit()
        {
            kept.truncate(kept.len() - 3);
        }
    }
    kept
}

/// An address without what no address holds; empty when its scheme is not a known one.
pub fn url(text: &str) -> String {
    let spaced = text.trim_start_matches(is_space).replace(' ', "%20");
    let mut address: String = spaced.chars().filter(|c| is_url_character(*c)).collect();
    if !starts_with_ignoring_case(&address, "mailto:") {
        address = without_line_break_codes(&address);
    }
    address = address.replace(";//", "://");
    let Some(first) = address.chars().next() else { return address };
    if !address.contains(':') && !matches!(first, '/' | '#' | '?') && !is_script_name(&address) {
        address = format!("http://{address}");
    }
    let address = encode_brackets(&address);
    if first == '/' || has_known_scheme(&address) { address } else { String::new() }
}

fn starts_with_ignoring_case(text: &str, prefix: &str) -> bool {
    text.get(..prefix.len()).is_some_and(|start| start.eq_ignore_ascii_case(prefix))
}

fn is_url_character(character: char) -> bool {
    !character.is_ascii()
        || character.is_ascii_alphanumeric()
        || "-~+_.?#=!&;,/:%@$|*'()[]".contains(character)
}

/// Removes `%0d` and `%0a` until none is left.
fn without_line_break_codes(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    for character in text.chars() {
        kept.push(character);
        if let Some([b'%', b'0', last]) = kept.as_bytes().last_chunk::<3>()
            && matches!(last, b'a' | b'A' | b'd' | b'D')
        {
            kept.truncate(kept.len() - 3);
        }
    }
    kept
}

/// A relative address such as `page.php?x=1`.
fn is_script_name(address: &str) -> bool {
    let name = address.trim_start_matches(|c: char| c.is_ascii_alphanumeric() || c == '-');
    name.len() < address.len() && starts_with_ignoring_case(name, ".php")
}

/// Brackets may stand in the host only.
fn encode_brackets(address: &str) -> String {
    if !address.contains(['[', ']']) {
        return address.to_owned();
    }
    let host_start = address.find("//").map_or(0, |position| position + 2);
    let after_start = address.get(host_start..).unwrap_or_default();
    let host_length = match host_start {
        0 => 0,
        _ => after_start.find(['/', '?', '#']).unwrap_or(after_start.len()),
    };
    let (front, end) = address.split_at_checked(host_start + host_length).unwrap_or(("", address));
    format!("{front}{}", end.replace('[', "%5B").replace(']', "%5D"))
}

fn has_known_scheme(address: &str) -> bool {
    let Some((scheme, _)) = address.split_once(':') else { return true };
    if scheme.contains("/?") {
        return true;
    }
    scheme.len() <= SCHEME_LENGTH_MAX
        && SCHEMES.iter().any(|known| known.eq_ignore_ascii_case(scheme))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_line_of_plain_text() {
        for (text, expected) in [
            ("  a \n b\t c ", "a b c"),
            ("<b>bold</b> text", "bold text"),
            ("a < b", "a &lt; b"),
            ("a <b", "a &lt;b"),
            ("1 < 2 and 3 > 2", "1 < 2 and 3 > 2"),
            ("x<script>alert(1)</script>y", "xy"),
            ("x<STYLE a='>'>p{}</style >y", "xy"),
            ("x<script>never ends", "xnever ends"),
            ("a<img alt='>' src=x>b", "ab"),
            ("50%41 off", "50 off"),
            ("%%2020x", "x"),
            ("a %20 b", "a b"),
            ("100% sure", "100% sure"),
            ("nul\0and\u{7}bell", "nulandbell"),
            ("ünï", "ünï"),
            ("", ""),
            ("12 Pier Road, 2nd floor", "12 Pier Road, 2nd floor"),
            ("two  spaces", "two spaces"),
            ("at the end ", "at the end"),
            (" ", ""),
            ("del\u{7f}eted", "deleted"),
        ] {
            assert_eq!(text_field(text), expected, "{text:?}");
        }
    }

    #[test]
    fn codes_are_what_they_are_found_by() {
        for (text, expected) in [
            (" Summer SALE ", "summer sale"),
            ("<script>alert(1)</script>save", "save"),
            ("50%ff", "50%ff"),
            ("a < b", "a &lt; b"),
            ("<b>10</b>% Off", "10% off"),
            ("ÄÖÜ", "äöü"),
        ] {
            assert_eq!(code(text), expected, "{text:?}");
            assert_eq!(code(expected), expected, "{expected:?}");
        }
    }

    #[test]
    fn several_lines_of_plain_text() {
        assert_eq!(textarea_field(" a\n<i>b</i>\tc \n"), "a\nb\tc");
        assert_eq!(textarea_field("/%day%/"), "/y%/");
        assert_eq!(placeholder_text(" /%day%/<i>b</i>\n"), "/%day%/b");
    }

    #[test]
    fn keys() {
        assert_eq!(key("Ab C-d_9é!"), "abc-d_9");
    }

    #[test]
    fn addresses() {
        for (text, expected) in [
            ("", ""),
            ("https://a.example/x?y=1&z=a b#f", "https://a.example/x?y=1&z=a%20b#f"),
            ("example.com/a", "http://example.com/a"),
            ("/path", "/path"),
            ("#part", "#part"),
            ("page.php?x", "page.php?x"),
            ("javascript:alert(1)", ""),
            ("JAVASCRIPT:alert(1)", ""),
            ("data:text/html,x", ""),
            ("mailto:a@b.example", "mailto:a@b.example"),
            ("http;//a.example", "http://a.example"),
            ("https://a.example/%0d%0aSet", "https://a.example/Set"),
            ("https://a.example/%0%0da", "https://a.example/"),
            ("https://a.example/<\"x\">", "https://a.example/x"),
            ("https://a.example/?a[0]=1", "https://a.example/?a%5B0%5D=1"),
            ("https://[::1]/a", "https://[::1]/a"),
            ("foo:bar", ""),
        ] {
            assert_eq!(url(text), expected, "{text}");
        }
    }
}
