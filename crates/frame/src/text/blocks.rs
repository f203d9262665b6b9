//! The editor's blocks in stored content: HTML between comments that name a block and its
//! attributes. Most blocks are stored as readers see them; some are only made here.

use serde_json::Value;

use super::escape::escaped;

/// Starts each block of the editor.
const BLOCK_START: &str = "<!-- wp:";
const BLOCK_END: &str = "<!-- /wp:";
const COMMENT_START: &str = "<!--";
const COMMENT_END: &str = "-->";
const PARAGRAPH: &str = "<p";
const PARAGRAPH_CLASS: &str = "wp-block-paragraph";

/// Whether the content was made of the editor's blocks.
pub fn has_blocks(content: &str) -> bool {
    content.contains(BLOCK_START)
}

/// What stands in a comment that begins a block.
struct Block<'a> {
    name: &'a str,
    attributes: Value,
    /// Whether nothing of it is stored but this.
    is_whole: bool,
}

impl<'a> Block<'a> {
    /// From what is between `<!-- wp:` and `-->`.
    fn read(text: &'a str) -> Self {
        let text = text.trim();
        let (text, is_whole) = match text.strip_suffix('/') {
            Some(text) => (text.trim_end(), true),
            None => (text, false),
        };
        let (name, attributes) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
        let attributes = serde_json::from_str(attributes.trim()).unwrap_or_default();
        Self { name, attributes, is_whole }
    }

    fn text(&self, name: &str) -> &str {
        self.attributes.get(name).and_then(Value::as_str).unwrap_or_default()
    }

    /// What the site makes of a block that is stored by its attributes alone.
    fn made(&self) -> Option<String> {
        match self.name {
            "navigation-link" if self.is_whole && !self.text("label").is_empty() => Some(format!(
                "<li class=\"wp-block-navigation-item wp-block-navigation-link\">\
                 <a class=\"wp-block-navigation-item__content\"  href=\"{}\">\
                 <span class=\"wp-block-navigation-item__label\">{}</span></a></li>",
                escaped(self.text("url")),
                escaped(self.text("label"))
            )),
            _ => None,
        }
    }
}

/// The content without the comments, as readers see it.
pub fn rendered(content: &str) -> String {
    rendered_with(content, &mut |_, _| None)
}

/// The same, with what `made` makes of blocks that are stored by their attributes alone: asked with
/// the name of each and its attributes.
pub fn rendered_with(
    content: &str,
    made: &mut dyn FnMut(&str, &Value) -> Option<String>,
) -> String {
    let mut shown = String::with_capacity(content.len());
    let mut in_paragraph = false;
    walk(content, &mut |piece| match piece {
        Piece::Html(text) if in_paragraph && text.contains(PARAGRAPH) => {
            in_paragraph = false;
            shown.push_str(&with_class(text, PARAGRAPH_CLASS));
        }
        Piece::Html(text) => shown.push_str(text),
        Piece::Start(block) => {
            in_paragraph = block.name == "paragraph";
            let own = block.is_whole.then(|| made(block.name, &block.attributes)).flatten();
            shown.extend(own.or_else(|| block.made()));
        }
        Piece::End => in_paragraph = false,
    });
    shown
}

/// The content as it is stored, without the comments.
pub fn without_marks(content: &str) -> String {
    let mut shown = String::with_capacity(content.len());
    walk(content, &mut |piece| {
        if let Piece::Html(text) = piece {
            shown.push_str(text);
        }
    });
    shown
}

enum Piece<'a> {
    Html(&'a str),
    Start(Block<'a>),
    End,
}

fn walk<'a>(content: &'a str, see: &mut dyn FnMut(Piece<'a>)) {
    let mut rest = content;
    while let Some(place) = rest.find(COMMENT_START) {
        let (before, comment) = rest.split_at_checked(place).unwrap_or((rest, ""));
        see(Piece::Html(before));
        if !comment.starts_with(BLOCK_START) && !comment.starts_with(BLOCK_END) {
            let (start, after) = comment.split_at_checked(COMMENT_START.len()).unwrap_or_default();
            see(Piece::Html(start));
            rest = after;
            continue;
        }
        let Some((mark, after)) = comment.split_once(COMMENT_END) else { return };
        see(mark
            .strip_prefix(BLOCK_START)
            .map_or(Piece::End, |text| Piece::Start(Block::read(text))));
        rest = after;
    }
    see(Piece::Html(rest));
}

/// The HTML with a class at its first paragraph.
fn with_class(html: &str, class: &str) -> String {
    let Some((before, tag)) = html.split_once(PARAGRAPH) else { return html.to_owned() };
    let Some((attributes, after)) = tag.split_once('>') else { return html.to_owned() };
    match attributes.split_once("class=\"") {
        Some((front, classes)) => {
            format!("{before}{PARAGRAPH}{front}class=\"{class} {classes}>{after}")
        }
        None => format!("{before}{PARAGRAPH} class=\"{class}\"{attributes}>{after}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_shown_as_readers_see_them() {
        for (stored, expected) in [
            (
                "<!-- wp:paragraph -->\n<p>x</p>\n<!-- /wp:paragraph --><p>y</p>",
                "\n<p class=\"wp-block-paragraph\">x</p>\n<p>y</p>",
            ),
            (
                "<!-- wp:paragraph {\"align\":\"right\"} --><p class=\"a\">x</p>",
                "<p class=\"wp-block-paragraph a\">x</p>",
            ),
            ("<!-- wp:x --><!-- other --><i>y</i>", "<!-- other --><i>y</i>"),
            ("<!-- wp:heading {\"level\":2} --><h2>x</h2><!-- /wp:heading", "<h2>x</h2>"),
            ("<!-- wp:paragraph --><p", "<p"),
            (
                "<!-- wp:navigation-link {\"label\":\"A<b>\",\"url\":\"/?a&\\\"b\"} /-->",
                "<li class=\"wp-block-navigation-item wp-block-navigation-link\"><a \
                 class=\"wp-block-navigation-item__content\"  href=\"/?a&amp;&quot;b\"><span \
                 class=\"wp-block-navigation-item__label\">A&lt;b&gt;</span></a></li>",
            ),
        ] {
            assert_eq!(rendered(stored), expected, "{stored:?}");
        }
    }
}
