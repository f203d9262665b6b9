//! How stored texts become HTML for readers: paragraphs, excerpts, titles.
//!
//! Nothing is cleaned here: what may not be shown was never stored.

use contract::rest::clean;

use super::blocks;
use super::typography::typeset;

/// Words of an excerpt that is taken from the content.
pub const EXCERPT_WORDS: usize = 55;
/// Elements around which no paragraph is put.
const BLOCK_ELEMENTS: &[&str] = &[
    "address",
    "article",
    "aside",
    "blockquote",
    "caption",
    "col",
    "colgroup",
    "dd",
    "details",
    "div",
    "dl",
    "dt",
    "fieldset",
    "figcaption",
    "figure",
    "footer",
    "form",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "header",
    "hgroup",
    "hr",
    "iframe",
    "legend",
    "li",
    "main",
    "map",
    "math",
    "menu",
    "nav",
    "noscript",
    "object",
    "ol",
    "option",
    "p",
    "pre",
    "section",
    "select",
    "style",
    "summary",
    "table",
    "tbody",
    "td",
    "tfoot",
    "th",
    "thead",
    "tr",
    "ul",
];

/// Stored content as HTML.
pub fn content(raw: &str) -> String {
    typeset(&if blocks::has_blocks(raw) { blocks::rendered(raw) } else { paragraphs(raw) })
}

/// A stored excerpt as HTML, or what stands in for one: the first words of the content.
pub fn excerpt(excerpt: &str, content: &str, words: usize) -> String {
    let own = !excerpt.trim().is_empty();
    typeset(&if own { paragraphs(excerpt) } else { paragraphs(&summary(content, words)) })
}

/// The first words of the content as text that can stand in HTML.
fn summary(content: &str, words: usize) -> String {
    let plain = plain_text(content);
    let mut all = plain.split_whitespace();
    let first: Vec<&str> = all.by_ref().take(words).collect();
    let more = if all.next().is_some() { " [&hellip;]" } else { "" };
    format!("{}{more}", first.join(" "))
}

/// Content without any markup; entities stay as they are.
pub fn plain_text(content: &str) -> String {
    let spaced = blocks::without_marks(content).replace("</p>", "</p> ").replace("<br", " <br");
    clean::textarea_field(&spaced)
}

/// A title as HTML.
pub fn title(raw: &str) -> String {
    typeset(raw)
}

/// Text with paragraphs where it has blank lines, and line breaks where it has line breaks.
/// Elements that are paragraphs of their own are left alone.
pub fn paragraphs(text: &str) -> String {
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    let mut html = String::with_capacity(text.len());
    let mut verbatim = Verbatim::default();
    for part in text.split("\n\n") {
        let part = if verbatim.is_open() { part } else { part.trim() };
        let was_open = verbatim.is_open();
        verbatim.see(part);
        if was_open || verbatim.is_open() {
            html.push_str(part);
            html.push_str(if verbatim.is_open() { "\n\n" } else { "\n" });
        } else if !part.is_empty() {
            push_part(&mut html, part);
        }
    }
    html
}

fn push_part(html: &mut String, part: &str) {
    if starts_block(part) {
        html.push_str(part);
    } else {
        html.push_str("<p>");
        html.push_str(&part.replace("<br />\n", "\n").replace('\n', "<br />\n"));
        html.push_str("</p>");
    }
    html.push('\n');
}

fn starts_block(part: &str) -> bool {
    let Some(tag) = part.strip_prefix('<') else { return false };
    let tag = tag.strip_prefix('/').unwrap_or(tag);
    if tag.starts_with("!--") {
        return true;
    }
    let end = tag.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(tag.len());
    let name = tag.get(..end).unwrap_or_default().to_ascii_lowercase();
    BLOCK_ELEMENTS.contains(&name.as_str())
}

/// Elements whose blank lines mean something.
#[derive(Default)]
struct Verbatim {
    open: Option<&'static str>,
}

impl Verbatim {
    const ELEMENTS: &[(&str, &str)] =
        &[("pre", "/pre"), ("script", "/script"), ("style", "/style")];

    fn is_open(&self) -> bool {
        self.open.is_some()
    }

    fn see(&mut self, part: &str) {
        for (place, _) in part.match_indices('<') {
            let tag = part.get(place + 1..).unwrap_or_default();
            let starts = |name: &str| {
                tag.get(..name.len()).is_some_and(|start| start.eq_ignore_ascii_case(name))
            };
            match self.open {
                Some(end) if starts(end) => self.open = None,
                Some(_) => {}
                None => {
                    let found = Self::ELEMENTS.iter().find(|(start, _)| starts(start));
                    self.open = found.map(|(_, end)| *end);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_becomes_paragraphs() {
        for (raw, expected) in [
            ("", ""),
            ("One\nline\n\nTwo", "<p>One<br />\nline</p>\n<p>Two</p>\n"),
            ("<p>Done</p>", "<p>Done</p>\n"),
            ("<h2>Head</h2>\n\ntext", "<h2>Head</h2>\n<p>text</p>\n"),
            ("<pre>a\n\n\n\nb</pre>\n\nc", "<pre>a\n\n\n\nb</pre>\n<p>c</p>\n"),
            (
                "<!-- wp:paragraph -->\n<p>x</p>\n<!-- /wp:paragraph -->",
                "\n<p class=\"wp-block-paragraph\">x</p>\n",
            ),
        ] {
            assert_eq!(content(raw), expected, "{raw:?}");
        }
    }

    #[test]
    fn an_excerpt_is_written_or_taken_from_the_content() {
        assert_eq!(excerpt("Mine", "Other", EXCERPT_WORDS), "<p>Mine</p>\n");
        assert_eq!(excerpt("", "", EXCERPT_WORDS), "");
        assert_eq!(excerpt("", "<p>a</p><p>b</p>", EXCERPT_WORDS), "<p>a b</p>\n");
        let long = "word ".repeat(56);
        assert!(excerpt("", &long, EXCERPT_WORDS).ends_with("word [&hellip;]</p>\n"));
        assert_eq!(excerpt("", "a b c", 2), "<p>a b [&hellip;]</p>\n");
    }
}
