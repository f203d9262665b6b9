//! Finding a page's own word about its oEmbed endpoint: the `link` elements of its head.

use url::Url;

use super::html::{Scanner, Tag, Token};

/// Bytes of a page that are looked at: its head comes first.
pub const PAGE_BYTES_MAX: usize = 150 * 1024;

const TYPE_JSON: &str = "application/json+oembed";
/// Both spellings are found in the wild.
const TYPES_XML: &[&str] = &["text/xml+oembed", "application/xml+oembed"];

/// The endpoint that the page names, resolved against `base`: the one for JSON if there is one,
/// else that for XML.
pub fn find(page: &[u8], base: &Url) -> Option<Url> {
    let beginning = page.get(..PAGE_BYTES_MAX).unwrap_or(page);
    let text = String::from_utf8_lossy(beginning);
    let mut base = base.clone();
    let mut xml = None;
    for token in Scanner::new(&text) {
        match token {
            Token::Start(tag) if tag.name == "body" => break,
            Token::End(name) if name == "head" => break,
            Token::Start(tag) if tag.name == "base" => {
                if let Some(other) = tag.attribute("href").and_then(|href| web_address(&base, href))
                {
                    base = other;
                }
            }
            Token::Start(tag) if is_alternate(&tag) => {
                let kind = tag.attribute("type").unwrap_or_default().trim().to_ascii_lowercase();
                let target = tag.attribute("href").and_then(|href| web_address(&base, href));
                if kind == TYPE_JSON && target.is_some() {
                    return target;
                }
                if TYPES_XML.contains(&kind.as_str()) && xml.is_none() {
                    xml = target;
                }
            }
            _ => {}
        }
    }
    xml
}

fn is_alternate(tag: &Tag) -> bool {
    let mut relations = tag.attribute("rel").unwrap_or_default().split_ascii_whitespace();
    // Some name the type alone.
    tag.name == "link"
        && relations.next().is_none_or(|first| {
            [first].into_iter().chain(relations).any(|rel| rel.eq_ignore_ascii_case("alternate"))
        })
}

fn web_address(base: &Url, href: &str) -> Option<Url> {
    let href = href.trim();
    let address = base.join(href).ok().filter(|_| !href.is_empty())?;
    matches!(address.scheme(), "http" | "https").then_some(address)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_head_names_the_endpoint() {
        let base = Url::parse("https://blog.example/posts/one").unwrap();
        let json = r#"<link rel="alternate" type="application/json+oembed" href="/o?u=1&amp;f=2">"#;
        let xml = "<LINK type='text/xml+oembed' href=x.xml rel='me alternate'/>";
        let check = |page: &str, expected: Option<&str>| {
            let found = find(page.as_bytes(), &base);
            assert_eq!(found.as_ref().map(Url::as_str), expected, "{page}");
        };
        let (at_json, at_xml) =
            (Some("https://blog.example/o?u=1&f=2"), Some("https://blog.example/posts/x.xml"));
        check(&format!("<html><head>{xml}{json}</head>"), at_json);
        check(&format!("<head>{xml}</head>{json}"), at_xml);
        check(&format!("<head><body>{json}"), None);
        check(&format!("<head><!-- {json} --><script>'{json}'</script></head>"), None);
        check(&format!("<base href='//cdn.example/a/'>{xml}"), Some("https://cdn.example/a/x.xml"));
        check("<link rel=alternate type=application/json+oembed href='javascript:x()'>", None);
        check("<link rel=alternate type=application/json+oembed href=''>", None);
        check("<link rel=stylesheet type=application/json+oembed href='/o'>", None);
        check("<link rel=alternate type=application/rss+xml href='/o'>", None);
        check("", None);
        let late = format!("<head>{}{json}", " ".repeat(PAGE_BYTES_MAX));
        check(&late, None);
    }

    #[test]
    fn bytes_that_are_no_text_do_no_harm() {
        let base = Url::parse("https://blog.example/").unwrap();
        let page = b"\xff\xfe<link rel=alternate type=application/json+oembed href=/\xff>";
        assert_eq!(find(page, &base).unwrap().as_str(), "https://blog.example/%EF%BF%BD");
    }
}
