//! What this site says about its own pages.

use frame::text::escaped;
use serde_json::{Map, Value, json};

/// The narrowest and widest frame that is offered, in pixels.
const WIDTH_MIN: u64 = 200;
const WIDTH_MAX: u64 = 600;
const HEIGHT_MIN: u64 = 200;
/// The frame is as wide to its height as 16 to 9.
const RATIO_WIDTH: u64 = 16;
const RATIO_HEIGHT: u64 = 9;

/// A public page of this site. All texts are plain, none is markup.
#[derive(Clone, Debug)]
pub struct LocalPage<'a> {
    pub title: &'a str,
    /// The page's address, complete.
    pub permalink: &'a str,
    pub site_name: &'a str,
    /// The site's address, complete.
    pub site_url: &'a str,
    /// The site's name and address stand in where a page has no author.
    pub author: Option<Author<'a>>,
    pub thumbnail: Option<Thumbnail<'a>>,
}

/// Who wrote a page.
#[derive(Clone, Copy, Debug)]
pub struct Author<'a> {
    pub name: &'a str,
    pub url: &'a str,
}

/// The picture that stands for a page.
#[derive(Clone, Copy, Debug)]
pub struct Thumbnail<'a> {
    pub url: &'a str,
    pub width: u64,
    pub height: u64,
}

/// How large a frame may be, in pixels; of any height if it says none.
#[derive(Clone, Copy, Debug)]
pub struct SizeMax {
    pub width: u64,
    pub height: Option<u64>,
}

/// The oEmbed answer for a page. `secret` joins the frame with the quote around it; see
/// [`super::new_secret`].
pub fn describe(page: &LocalPage<'_>, size: SizeMax, secret: &str) -> Map<String, Value> {
    let (width, height) = frame_size(size);
    let mut answer = described(page, "rich");
    let mut say = |name: &str, value: Value| {
        answer.insert(name.to_owned(), value);
    };
    say("width", json!(width));
    say("height", json!(height));
    say("html", json!(frame(page, width, height, secret)));
    if let Some(thumbnail) = page.thumbnail {
        say("thumbnail_url", json!(thumbnail.url));
        say("thumbnail_width", json!(thumbnail.width));
        say("thumbnail_height", json!(thumbnail.height));
    }
    answer
}

/// The oEmbed answer for a page that no other page may show in a frame.
pub fn describe_link(page: &LocalPage<'_>) -> Map<String, Value> {
    described(page, "link")
}

/// What is said of every page.
fn described(page: &LocalPage<'_>, kind: &str) -> Map<String, Value> {
    let author = page.author.unwrap_or(Author { name: page.site_name, url: page.site_url });
    let said = [
        ("version", "1.0"),
        ("provider_name", page.site_name),
        ("provider_url", page.site_url),
        ("author_name", author.name),
        ("author_url", author.url),
        ("title", page.title),
        ("type", kind),
    ];
    said.into_iter().map(|(name, value)| (name.to_owned(), json!(value))).collect()
}

/// As wide as allowed; no higher than allowed, as long as there is something to see.
fn frame_size(size: SizeMax) -> (u64, u64) {
    let width = size.width.clamp(WIDTH_MIN, WIDTH_MAX);
    let height = (width * RATIO_HEIGHT).div_ceil(RATIO_WIDTH);
    let height = size.height.filter(|most| *most > 0).map_or(height, |most| height.min(most));
    (width, height.max(HEIGHT_MIN))
}

/// A quote that links to the page, for readers without frames, and the page in a frame that may
/// run its own scripts and follow a link that the reader clicks, and nothing else. The class and
/// the data attributes are those by which consumers' scripts find both.
fn frame(page: &LocalPage<'_>, width: u64, height: u64, secret: &str) -> String {
    let (title, permalink, secret) =
        (escaped(page.title), escaped(page.permalink), escaped(secret));
    let embed = escaped(&embed_url(page.permalink));
    let label = escaped(&format!("“{}” — {}", page.title, page.site_name));
    format!(
        "<blockquote class=\"wp-embedded-content\" data-secret=\"{secret}\">\
         <a href=\"{permalink}\">{title}</a></blockquote>\
         <iframe class=\"wp-embedded-content\" sandbox=\"allow-scripts \
         allow-top-navigation-by-user-activation\" security=\"restricted\" \
         src=\"{embed}#?secret={secret}\" data-secret=\"{secret}\" title=\"{label}\" \
         width=\"{width}\" height=\"{height}\" frameborder=\"0\" marginwidth=\"0\" \
         marginheight=\"0\" scrolling=\"no\"></iframe>"
    )
}

/// The page made for frames: one step below it, or asked for in the query where the page has one.
pub fn embed_url(permalink: &str) -> String {
    let address = permalink.split_once('#').map_or(permalink, |(address, _)| address);
    if address.contains('?') {
        return format!("{address}&embed=true");
    }
    format!("{}/embed/", address.trim_end_matches('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page() -> LocalPage<'static> {
        LocalPage {
            title: "Tees & \"more\" <b>",
            permalink: "https://shop.example/product/tee/",
            site_name: "Shop",
            site_url: "https://shop.example",
            author: Some(Author { name: "ada", url: "https://shop.example/author/ada/" }),
            thumbnail: None,
        }
    }

    #[test]
    fn frames_stay_within_their_sizes() {
        let check = |width: u64, expected: (u64, u64)| {
            assert_eq!(frame_size(SizeMax { width, height: None }), expected, "{width}");
        };
        check(0, (200, 200));
        check(50, (200, 200));
        check(300, (300, 200));
        check(356, (356, 201));
        check(400, (400, 225));
        check(600, (600, 338));
        check(9_999, (600, 338));
        check(u64::MAX, (600, 338));
        let low = |height: u64| frame_size(SizeMax { width: 600, height: Some(height) });
        assert_eq!(low(300), (600, 300));
        assert_eq!(low(1_000), (600, 338));
        assert_eq!(low(20), (600, 200));
        assert_eq!(low(0), (600, 338));
    }

    #[test]
    fn a_page_is_described() {
        let answer = describe(&page(), SizeMax { width: 600, height: None }, "S3cretS3cr");
        let names: Vec<&str> = answer.keys().map(String::as_str).collect();
        let expected = [
            "version",
            "provider_name",
            "provider_url",
            "author_name",
            "author_url",
            "title",
            "type",
            "width",
            "height",
            "html",
        ];
        assert_eq!(names, expected);
        assert_eq!(answer["title"], "Tees & \"more\" <b>");
        let html = answer["html"].as_str().unwrap();
        assert!(html.contains(">Tees &amp; &quot;more&quot; &lt;b&gt;</a>"), "{html}");
        assert!(
            html.contains("src=\"https://shop.example/product/tee/embed/#?secret=S3cretS3cr\""),
            "{html}"
        );
        assert_eq!(html.matches("data-secret=\"S3cretS3cr\"").count(), 2, "{html}");
        let sandbox = "sandbox=\"allow-scripts allow-top-navigation-by-user-activation\"";
        assert!(html.contains(sandbox), "{html}");
    }

    #[test]
    fn the_site_stands_in_for_the_author_and_pictures_are_shown() {
        let thumbnail = Thumbnail { url: "https://shop.example/t.png", width: 30, height: 20 };
        let page = LocalPage { author: None, thumbnail: Some(thumbnail), ..page() };
        let answer = describe(&page, SizeMax { width: 600, height: None }, "x");
        assert_eq!(answer["author_name"], "Shop");
        assert_eq!(answer["author_url"], "https://shop.example");
        assert_eq!(answer["thumbnail_width"], 30);
    }

    #[test]
    fn the_page_for_frames_is_below_the_page() {
        let check = |permalink: &str, expected: &str| assert_eq!(embed_url(permalink), expected);
        check("https://a.example/x/", "https://a.example/x/embed/");
        check("https://a.example/x", "https://a.example/x/embed/");
        check("https://a.example/?p=1", "https://a.example/?p=1&embed=true");
        check("https://a.example/x/#y", "https://a.example/x/embed/");
    }
}
