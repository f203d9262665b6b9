//! A tolerant scanner of HTML that others wrote: start tags, end tags and text, in order.
//!
//! It never fails and reads each byte a bounded number of times. It may see a document otherwise
//! than a browser does, so **its output is only for finding and rebuilding**: whoever shows
//! something of it writes new tags around escaped values.

/// Attributes of one tag beyond these are not looked at.
const ATTRIBUTES_MAX: usize = 64;
/// The longest character reference is that of the last character of Unicode: `&#x0010FFFF;`.
const REFERENCE_BYTES_MAX: usize = 12;

/// Elements whose content is no markup. It is passed over.
const RAW_ELEMENTS: &[&str] =
    &["iframe", "noembed", "noframes", "noscript", "script", "style", "textarea", "title", "xmp"];

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Token<'text> {
    Start(Tag),
    End(String),
    /// Not yet decoded.
    Text(&'text str),
}

/// A start tag; names are in lower case, values decoded.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Tag {
    pub(super) name: String,
    pub(super) attributes: Vec<(String, String)>,
}

impl Tag {
    pub(super) fn attribute(&self, name: &str) -> Option<&str> {
        let found = self.attributes.iter().find(|(attribute, _)| attribute == name);
        found.map(|(_, value)| value.as_str())
    }
}

/// The tokens of a text.
#[derive(Debug)]
pub(super) struct Scanner<'text> {
    rest: &'text str,
}

impl<'text> Scanner<'text> {
    pub(super) fn new(text: &'text str) -> Self {
        Self { rest: text }
    }

    /// Moves behind the first of `mark`, or to the end if there is none.
    fn skip_behind(&mut self, mark: &str) {
        self.rest = self.rest.split_once(mark).map_or("", |(_, after)| after);
    }

    /// Takes what comes before the first character that ends it.
    fn take_until(&mut self, ends: impl Fn(char) -> bool) -> &'text str {
        let (taken, rest) = self.rest.split_at(self.rest.find(ends).unwrap_or(self.rest.len()));
        self.rest = rest;
        taken
    }

    fn start_tag(&mut self) -> Option<Tag> {
        let name = self.take_until(is_name_end).to_ascii_lowercase();
        let mut attributes: Vec<(String, String)> = Vec::new();
        loop {
            self.take_until(|character| !is_space(character) && character != '/');
            if let Some(after) = self.rest.strip_prefix('>') {
                self.rest = after;
                break;
            }
            // A tag that the text ends in is none.
            let first = self.rest.chars().next()?;
            let (attribute, value) = self.attribute(first)?;
            let known = attributes.iter().any(|(other, _)| *other == attribute);
            if !known && attributes.len() < ATTRIBUTES_MAX {
                attributes.push((attribute, value));
            }
        }
        if RAW_ELEMENTS.contains(&name.as_str()) {
            self.skip_raw(&name);
        }
        Some(Tag { name, attributes })
    }

    /// `first` is part of the name even if it is an equals sign.
    fn attribute(&mut self, first: char) -> Option<(String, String)> {
        let start = self.rest;
        self.rest = start.get(first.len_utf8()..)?;
        let more = self.take_until(|character| is_name_end(character) || character == '=').len();
        let name = start.get(..first.len_utf8() + more)?.to_ascii_lowercase();
        self.take_until(|character| !is_space(character));
        let Some(after) = self.rest.strip_prefix('=') else {
            return Some((name, String::new()));
        };
        self.rest = after;
        self.take_until(|character| !is_space(character));
        let value = match self.rest.chars().next()? {
            quote @ ('"' | '\'') => {
                let (value, after) = self.rest.get(1..)?.split_once(quote)?;
                self.rest = after;
                value
            }
            _ => self.take_until(|character| is_space(character) || character == '>'),
        };
        Some((name, decoded(value)))
    }

    /// Moves to the end tag of a raw element, or to the end of the text.
    fn skip_raw(&mut self, name: &str) {
        let closes = |after: &str| {
            let (Some(start), Some(rest)) = (after.get(..name.len()), after.get(name.len()..))
            else {
                return false;
            };
            start.eq_ignore_ascii_case(name) && rest.chars().next().is_none_or(is_name_end)
        };
        let places = self.rest.match_indices("</");
        let mut ends = places.filter(|(place, _)| self.rest.get(place + 2..).is_some_and(closes));
        let end = ends.next().map_or(self.rest.len(), |(place, _)| place);
        self.rest = self.rest.get(end..).unwrap_or_default();
    }
}

impl<'text> Iterator for Scanner<'text> {
    type Item = Token<'text>;

    fn next(&mut self) -> Option<Token<'text>> {
        loop {
            if self.rest.is_empty() {
                return None;
            }
            let starts_name = |text: &str| text.starts_with(|c: char| c.is_ascii_alphabetic());
            let Some(markup) = self.rest.strip_prefix('<') else {
                return Some(Token::Text(self.take_until(|character| character == '<')));
            };
            if starts_name(markup) {
                self.rest = markup;
                let Some(tag) = self.start_tag() else {
                    self.rest = "";
                    return None;
                };
                return Some(Token::Start(tag));
            }
            if let Some(comment) = markup.strip_prefix("!--") {
                self.rest = comment;
                self.skip_behind("-->");
            } else if let Some(end) = markup.strip_prefix('/').filter(|end| starts_name(end)) {
                self.rest = end;
                let name = self.take_until(is_name_end).to_ascii_lowercase();
                self.skip_behind(">");
                return Some(Token::End(name));
            } else if markup.starts_with(['!', '?', '/']) {
                self.rest = markup;
                self.skip_behind(">");
            } else {
                let (sign, rest) = self.rest.split_at(1);
                self.rest = rest;
                return Some(Token::Text(sign));
            }
        }
    }
}

fn is_space(character: char) -> bool {
    matches!(character, ' ' | '\t' | '\n' | '\r' | '\x0c')
}

fn is_name_end(character: char) -> bool {
    is_space(character) || matches!(character, '/' | '>')
}

/// The text with its character references replaced: those by number, and the few by name that
/// markup and typography need. Others stay as they are.
pub(crate) fn decoded(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, reference)) = rest.split_once('&') {
        out.push_str(before);
        let near = reference.as_bytes().iter().take(REFERENCE_BYTES_MAX);
        let end = near.into_iter().position(|byte| *byte == b';');
        let replaced =
            end.and_then(|end| Some((referred(reference.get(..end)?)?, reference.get(end + 1..)?)));
        if let Some((character, after)) = replaced {
            out.push(character);
            rest = after;
        } else {
            out.push('&');
            rest = reference;
        }
    }
    out.push_str(rest);
    out
}

fn referred(name: &str) -> Option<char> {
    if let Some(number) = name.strip_prefix('#') {
        let code = match number.strip_prefix(['x', 'X']) {
            Some(digits) => u32::from_str_radix(digits, 16).ok()?,
            None => number.parse().ok()?,
        };
        return char::from_u32(code);
    }
    match name {
        "amp" => Some('&'),
        "lt" => Some('<'),
        "gt" => Some('>'),
        "quot" => Some('"'),
        "apos" => Some('\''),
        "nbsp" => Some('\u{a0}'),
        "hellip" => Some('…'),
        "ndash" => Some('–'),
        "mdash" => Some('—'),
        "lsquo" => Some('‘'),
        "rsquo" => Some('’'),
        "ldquo" => Some('“'),
        "rdquo" => Some('”'),
        _ => None,
    }
}

/// The text as it may stand between tags and within quotes of either kind.
pub(crate) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#039;"),
            _ => out.push(character),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The tokens in short: `<name a=b>`, `</name>` and text.
    fn scan(text: &str) -> String {
        let show = |token: Token<'_>| match token {
            Token::Start(tag) => {
                let pairs = tag.attributes.iter().map(|(name, value)| format!(" {name}={value}"));
                format!("<{}{}>", tag.name, pairs.collect::<Vec<_>>().concat())
            }
            Token::End(name) => format!("</{name}>"),
            Token::Text(text) => text.to_owned(),
        };
        Scanner::new(text).map(show).collect::<Vec<_>>().concat()
    }

    #[test]
    fn markup_is_read_as_browsers_read_it() {
        let check = |text: &str, expected: &str| assert_eq!(scan(text), expected, "{text}");
        check("a<B c='d' E=\"f\" g=h i>j</b >k", "a<b c=d e=f g=h i=>j</b>k");
        check("<a href=\"?x=1&amp;y=&#50;&#x33;&copy;\">", "<a href=?x=1&y=23&copy;>");
        check("<!doctype html><!-- <a> --><?php <a ?><b/>", "<b>");
        check("<script>\"<a>\"</scrip></SCRIPT ><b>", "<script></script><b>");
        check("<iframe><script>x</iframe>y", "<iframe></iframe>y");
        check("1 < 2 <3", "1 < 2 <3");
        check("<a b=c b=d>", "<a b=c>");
        check("<a/href=x/y>", "<a href=x/y>");
        check("<a =b=c>", "<a =b=c>");
        check("</>x</ y>z", "xz");
        // What is not closed is not there.
        check("x<a href=\"y>", "x");
        check("x<a", "x");
        check("x<!-- <b>", "x");
        check("<style><b>", "<style>");
    }

    #[test]
    fn scanning_any_text_ends() {
        proptest::proptest!(|(text in "[a<>/='\" !&;#x0é-]{0,60}")| {
            assert!(Scanner::new(&text).count() <= text.len());
            decoded(&text);
        });
    }

    #[test]
    fn references_out_of_range_stay_text() {
        let check = |text: &str, expected: &str| assert_eq!(decoded(text), expected);
        check("&#xD800;&#1114112;&#x;&;&", "&#xD800;&#1114112;&#x;&;&");
        check("&&amp;é&#233;", "&&éé");
        assert_eq!(decoded(&escaped("<a b='\"&\">")), "<a b='\"&\">");
    }
}
