//! Which markup writers may use who are not trusted with all of it. **Scripts, frames, forms,
//! handlers of events and addresses of unknown schemes never pass.** The lists follow what clients
//! of the reference expect to survive.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use ammonia::Builder;

const BLOCK_TAGS: &[&str] = &[
    "address",
    "article",
    "aside",
    "blockquote",
    "caption",
    "center",
    "col",
    "colgroup",
    "dd",
    "details",
    "dir",
    "div",
    "dl",
    "dt",
    "fieldset",
    "figcaption",
    "figure",
    "footer",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "header",
    "hgroup",
    "hr",
    "legend",
    "li",
    "main",
    "menu",
    "nav",
    "ol",
    "p",
    "pre",
    "search",
    "section",
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

const INLINE_TAGS: &[&str] = &[
    "a", "abbr", "acronym", "area", "audio", "b", "bdo", "big", "br", "button", "cite", "code",
    "data", "del", "dfn", "em", "font", "i", "img", "ins", "kbd", "label", "map", "mark",
    "picture", "q", "rb", "rp", "rt", "rtc", "ruby", "s", "samp", "small", "source", "span",
    "strike", "strong", "sub", "sup", "textarea", "time", "track", "tt", "u", "var", "video",
    "wbr",
];

const EVERYWHERE: &[&str] =
    &["align", "class", "dir", "hidden", "id", "lang", "role", "style", "title", "xml:lang"];

const TAG_ATTRIBUTES: &[(&str, &[&str])] = &[
    ("a", &["href", "rel", "rev", "name", "target", "download"]),
    ("area", &["alt", "coords", "href", "nohref", "shape", "target"]),
    ("audio", &["autoplay", "controls", "loop", "muted", "preload", "src"]),
    ("blockquote", &["cite"]),
    ("button", &["disabled", "name", "type", "value"]),
    ("col", &["span", "width"]),
    ("colgroup", &["span", "width"]),
    ("data", &["value"]),
    ("del", &["datetime", "cite"]),
    ("details", &["open"]),
    ("font", &["color", "face", "size"]),
    (
        "img",
        &[
            "alt",
            "border",
            "decoding",
            "fetchpriority",
            "height",
            "hspace",
            "loading",
            "longdesc",
            "sizes",
            "src",
            "srcset",
            "usemap",
            "vspace",
            "width",
        ],
    ),
    ("ins", &["datetime", "cite"]),
    ("label", &["for"]),
    ("map", &["name"]),
    ("ol", &["start", "type", "reversed"]),
    ("pre", &["width"]),
    ("q", &["cite"]),
    ("source", &["src", "srcset", "media", "sizes", "type"]),
    ("table", &["bgcolor", "border", "cellpadding", "cellspacing", "rules", "summary", "width"]),
    (
        "td",
        &[
            "abbr", "axis", "bgcolor", "colspan", "headers", "height", "rowspan", "scope",
            "valign", "width",
        ],
    ),
    ("textarea", &["cols", "rows", "disabled", "name", "readonly"]),
    (
        "th",
        &[
            "abbr", "axis", "bgcolor", "colspan", "headers", "height", "rowspan", "scope",
            "valign", "width",
        ],
    ),
    ("time", &["datetime"]),
    ("tr", &["bgcolor", "valign"]),
    ("track", &["default", "kind", "label", "src", "srclang"]),
    ("ul", &["type"]),
    (
        "video",
        &[
            "autoplay",
            "controls",
            "height",
            "loop",
            "muted",
            "playsinline",
            "poster",
            "preload",
            "src",
            "width",
        ],
    ),
];

/// What a title may hold.
const TITLE_TAGS: &[&str] = &[
    "a",
    "abbr",
    "acronym",
    "b",
    "blockquote",
    "cite",
    "code",
    "del",
    "em",
    "i",
    "q",
    "s",
    "strike",
    "strong",
];

const SCHEMES: &[&str] = &[
    "http", "https", "ftp", "ftps", "mailto", "news", "irc", "irc6", "ircs", "gopher", "nntp",
    "feed", "telnet", "mms", "rtsp", "sms", "svn", "tel", "fax", "xmpp", "webcal", "urn",
];

/// Properties of styles that change how a thing looks and nothing beside it.
const STYLE_PROPERTIES: &[&str] = &[
    "aspect-ratio",
    "background",
    "background-color",
    "border",
    "border-bottom",
    "border-collapse",
    "border-color",
    "border-left",
    "border-radius",
    "border-right",
    "border-spacing",
    "border-style",
    "border-top",
    "border-width",
    "caption-side",
    "clear",
    "color",
    "column-count",
    "column-gap",
    "column-width",
    "display",
    "flex",
    "flex-basis",
    "flex-direction",
    "flex-grow",
    "flex-shrink",
    "flex-wrap",
    "float",
    "font",
    "font-family",
    "font-size",
    "font-style",
    "font-variant",
    "font-weight",
    "gap",
    "height",
    "justify-content",
    "letter-spacing",
    "line-height",
    "list-style-type",
    "margin",
    "margin-bottom",
    "margin-left",
    "margin-right",
    "margin-top",
    "max-height",
    "max-width",
    "min-height",
    "min-width",
    "object-fit",
    "object-position",
    "opacity",
    "overflow",
    "padding",
    "padding-bottom",
    "padding-left",
    "padding-right",
    "padding-top",
    "row-gap",
    "text-align",
    "text-decoration",
    "text-indent",
    "text-transform",
    "vertical-align",
    "white-space",
    "width",
    "word-break",
    "word-spacing",
];

static CONTENT: LazyLock<Builder<'static>> = LazyLock::new(|| {
    let tags = BLOCK_TAGS.iter().chain(INLINE_TAGS).copied().collect();
    builder(tags, TAG_ATTRIBUTES, EVERYWHERE)
});

/// The same without the marks of blocks, or anything else that hides in a comment.
static SHOWN: LazyLock<Builder<'static>> = LazyLock::new(|| {
    let tags = BLOCK_TAGS.iter().chain(INLINE_TAGS).copied().collect();
    let mut builder = builder(tags, TAG_ATTRIBUTES, EVERYWHERE);
    builder.strip_comments(true);
    builder
});

static TITLE: LazyLock<Builder<'static>> = LazyLock::new(short);

/// As a title; search engines do not follow the links of strangers.
static COMMENT: LazyLock<Builder<'static>> = LazyLock::new(|| {
    let mut builder = short();
    builder.link_rel(Some("nofollow ugc"));
    builder
});

fn short() -> Builder<'static> {
    let attributes: &[(&str, &[&str])] =
        &[("a", &["href"]), ("blockquote", &["cite"]), ("del", &["datetime"]), ("q", &["cite"])];
    builder(TITLE_TAGS.iter().copied().collect(), attributes, &["title"])
}

fn builder(
    tags: HashSet<&'static str>,
    attributes: &[(&'static str, &'static [&'static str])],
    everywhere: &'static [&'static str],
) -> Builder<'static> {
    let attributes: HashMap<&str, HashSet<&str>> =
        attributes.iter().map(|(tag, names)| (*tag, names.iter().copied().collect())).collect();
    let prefixes: HashSet<&str> =
        if everywhere.len() > 1 { HashSet::from(["data-", "aria-"]) } else { HashSet::new() };
    let mut builder = Builder::empty();
    builder
        .tags(tags)
        .tag_attributes(attributes)
        .generic_attributes(everywhere.iter().copied().collect())
        .generic_attribute_prefixes(prefixes)
        .url_schemes(SCHEMES.iter().copied().collect())
        .filter_style_properties(STYLE_PROPERTIES.iter().copied().collect())
        .clean_content_tags(HashSet::from(["script", "style"]))
        .link_rel(None)
        // Comments mark the blocks of the editor.
        .strip_comments(false);
    builder
}

/// Content or an excerpt as far as anybody may write it.
pub fn clean_content(html: &str) -> String {
    clean(&CONTENT, html)
}

/// Content that is put together with other markup: without comments, in which a part of it could
/// hide until another part ends them.
pub fn clean_shown(html: &str) -> String {
    clean(&SHOWN, html)
}

/// A comment as far as strangers may write it: nothing that is fetched from elsewhere or looks like
/// a part of the page.
pub fn clean_comment(html: &str) -> String {
    clean(&COMMENT, html)
}

/// A title as far as anybody may write it.
pub fn clean_title(html: &str) -> String {
    clean(&TITLE, html)
}

fn clean(builder: &Builder<'_>, html: &str) -> String {
    if is_tangled(html) { ammonia::clean_text(html) } else { builder.clean(html).to_string() }
}

/// Tags that a text may have; parsing takes the square of their number when they are nested.
const TAGS_MAX: usize = 10_000;
/// Elements that a text may become.
const ELEMENTS_MAX: usize = 1_000_000;
/// Elements that stay open over the end of a paragraph and are opened again in the next one.
const FORMATTING: &[&str] =
    &["b", "big", "code", "em", "font", "i", "nobr", "s", "small", "strike", "strong", "tt", "u"];
/// How often one of them stays open when its tags are all alike.
const ALIKE_MAX: usize = 3;

/// Whether parsing the text would take too long or too much room, so that it is shown as text.
fn is_tangled(html: &str) -> bool {
    let mut tags = 0_usize;
    let mut reopened = FORMATTING.len() * ALIKE_MAX;
    for (place, _) in html.match_indices('<') {
        tags += 1;
        let tag = html.get(place + 1..).unwrap_or_default();
        let end = tag.bytes().take(8).position(|byte| !byte.is_ascii_alphanumeric());
        let name = end.and_then(|end| tag.get(..end)).unwrap_or_default();
        let has_attributes = end.and_then(|end| tag.as_bytes().get(end)) != Some(&b'>');
        if has_attributes && FORMATTING.iter().any(|other| other.eq_ignore_ascii_case(name)) {
            reopened += 1;
        }
    }
    tags > TAGS_MAX || tags.saturating_mul(reopened) > ELEMENTS_MAX
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_fetch_nothing_and_recommend_nothing() {
        let html = "<img src=\"https://x.example/a.png\"><video autoplay src=x></video>\
                    <div style=\"width:100%\">a <b>b</b></div>";
        assert_eq!(clean_comment(html), "a <b>b</b>");
        let linked = clean_comment("<a href=\"https://x.example/\" target=\"_blank\">x</a>");
        assert_eq!(linked, "<a href=\"https://x.example/\" rel=\"nofollow ugc\">x</a>");
    }

    #[test]
    fn hostile_markup_does_not_pass() {
        for html in [
            "<script>alert(1)</script>",
            "<img src=x onerror=alert(1)>",
            "<a href=\"javascript:alert(1)\">x</a>",
            "<a href=\" jAvA&#115;cript:alert(1)\">x</a>",
            "<iframe src=\"https://x.example\"></iframe>",
            "<svg onload=alert(1)><script>alert(1)</script></svg>",
            "<p style=\"position:fixed;behavior:url(x)\">x</p>",
            "<form action=/><input name=a autofocus onfocus=alert(1)></form>",
            "<math><mtext><table><mglyph><style><img src onerror=alert(1)>",
            "<object data=x></object><embed src=x><base href=//x>",
            "<!-- --!><img src=x onerror=alert(1)> -->",
        ] {
            for clean in [clean_content(html), clean_title(html), clean_comment(html)] {
                let lower = clean.to_lowercase();
                for word in [
                    "<script",
                    "onerror",
                    "onload",
                    "javascript:",
                    "<iframe",
                    "<form",
                    "<input",
                    "position",
                    "<object",
                    "<embed",
                    "<base",
                    "<style",
                    "<svg",
                ] {
                    let outside = lower.replace("&lt;", "").contains(word);
                    assert!(!outside, "{html} became {clean}");
                }
            }
        }
    }

    /// Each of these would take minutes or all memory if it were parsed.
    #[test]
    fn what_is_tangled_is_shown_as_text() {
        let formats: Vec<String> = (0..2_000).map(|number| format!("<b id={number}>")).collect();
        for tangled in ["<div>".repeat(200_000), formats.concat() + &"<p>x".repeat(5_000)] {
            let clean = clean_content(&tangled);
            assert!(clean.starts_with("&lt;") && !clean.contains('<'));
        }
        let long = "<p>A <strong>strong</strong> <code class=\"x\">word</code></p>".repeat(160);
        assert_eq!(clean_content(&long), long);
        let deep = "<div>".repeat(TAGS_MAX);
        assert!(clean_content(&deep).ends_with("</div>"));
    }

    #[test]
    fn harmless_markup_stays() {
        let html = "<!-- wp:paragraph -->\n<p class=\"a\" data-x=\"1\">1 &lt; 2 <a \
                    href=\"/x?a=1&amp;b=2\">y</a></p>\n<!-- /wp:paragraph -->";
        assert_eq!(clean_content(html), html);
        assert_eq!(clean_title("Fish & <em>chips</em>"), "Fish &amp; <em>chips</em>");
    }
}
