//! What a page says about itself in its head: title, icon, description and picture.

use url::Url;

use super::discover::PAGE_BYTES_MAX;
use super::html::{Scanner, Tag, Token, decoded};

/// Characters of a text that are kept.
const TEXT_LENGTH_MAX: usize = 1_000;

/// What the head of a page says; what it leaves out is empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PageDetails {
    pub title: String,
    pub icon: String,
    pub description: String,
    pub image: String,
}

/// Reads the head of a page that came from this address.
pub fn read(page: &[u8], base: &Url) -> PageDetails {
    let beginning = page.get(..PAGE_BYTES_MAX).unwrap_or(page);
    let text = String::from_utf8_lossy(beginning);
    let mut details = PageDetails { title: title(&text), ..PageDetails::default() };
    for token in Scanner::new(&text) {
        match token {
            Token::Start(tag) if tag.name == "body" => break,
            Token::End(name) if name == "head" => break,
            Token::Start(tag) if tag.name == "link" => {
                let relations = tag.attribute("rel").unwrap_or_default();
                let is_icon = relations
                    .split_ascii_whitespace()
                    .any(|relation| relation.eq_ignore_ascii_case("icon"));
                if is_icon && details.icon.is_empty() {
                    details.icon = address(base, tag.attribute("href"));
                }
            }
            Token::Start(tag) if tag.name == "meta" => meta(&mut details, &tag, base),
            _ => {}
        }
    }
    details
}

fn meta(details: &mut PageDetails, tag: &Tag, base: &Url) {
    let name = tag.attribute("property").or_else(|| tag.attribute("name")).unwrap_or_default();
    let content = tag.attribute("content");
    match name.to_ascii_lowercase().as_str() {
        "og:title" if details.title.is_empty() => details.title = shortened(content),
        "description" => details.description = shortened(content),
        "og:description" if details.description.is_empty() => {
            details.description = shortened(content);
        }
        "og:image" | "og:image:url" if details.image.is_empty() => {
            details.image = address(base, content);
        }
        _ => {}
    }
}

fn shortened(text: Option<&str>) -> String {
    let words: Vec<&str> = text.unwrap_or_default().split_whitespace().collect();
    words.join(" ").chars().take(TEXT_LENGTH_MAX).collect()
}

/// The content of the first title.
fn title(page: &str) -> String {
    let lower = page.to_ascii_lowercase();
    let found = lower.find("<title").and_then(|start| {
        let open = start + lower.get(start..)?.find('>')? + 1;
        let close = open + lower.get(open..)?.find("</title")?;
        page.get(open..close)
    });
    shortened(Some(&decoded(found.unwrap_or_default())))
}

fn address(base: &Url, href: Option<&str>) -> String {
    let href = href.unwrap_or_default().trim();
    let target = base.join(href).ok().filter(|_| !href.is_empty());
    let target = target.filter(|target| matches!(target.scheme(), "http" | "https"));
    target.map(String::from).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_head_tells_of_the_page() {
        let base = Url::parse("https://blog.example/posts/one").unwrap();
        let page = r#"<html><head><TITLE lang="en"> A &amp; B
            </TITLE><link rel="shortcut icon" href="/i.ico">
            <meta name="description" content="About  it"><meta property="og:image" content="p.png">
            </head><body><meta name="description" content="no"><title>no</title>"#;
        let expected = PageDetails {
            title: String::from("A & B"),
            icon: String::from("https://blog.example/i.ico"),
            description: String::from("About it"),
            image: String::from("https://blog.example/posts/p.png"),
        };
        assert_eq!(read(page.as_bytes(), &base), expected);
        assert_eq!(read(b"", &base), PageDetails::default());
        let evil = "<link rel=icon href='javascript:x()'><meta property=og:title content=T>";
        let found = read(evil.as_bytes(), &base);
        assert_eq!((&*found.icon, &*found.title), ("", "T"));
    }
}
