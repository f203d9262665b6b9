//! The documentation that the product serves about itself: the guides of this repository, embedded
//! in the binary, as HTML, as JSON and through full-text search.
//!
//! [`GUIDES`] is the one list. Title, summary and headings are read from the text, so that a guide
//! says them once. **Nothing here depends on a request**: load once, then share.

mod markdown;
mod search;

use std::ops::Range;
use std::path::Path;

use serde::Serialize;

use self::markdown::{Guide, Section};
use self::search::Index;
pub use self::search::{HITS_MAX, Hit, HitView, Piece, QUERY_CHARS_MAX};

/// Where the pages are on the site: `/docs/` lists them, `/docs/{slug}/` is one.
pub const ROOT_PATH: &str = "/docs/";

/// The guides in reading order: slug and text. The slug is the file's name without its ending.
const GUIDES: &[(&str, &str)] = &[
    ("onboarding", include_str!("../../../docs/onboarding.md")),
    ("bulk", include_str!("../../../docs/bulk.md")),
    ("records", include_str!("../../../docs/records.md")),
    ("lifecycle", include_str!("../../../docs/lifecycle.md")),
    ("templates", include_str!("../../../docs/templates.md")),
    ("devices", include_str!("../../../docs/devices.md")),
    ("events", include_str!("../../../docs/events.md")),
    ("registration", include_str!("../../../docs/registration.md")),
    ("keys", include_str!("../../../docs/keys.md")),
    ("sandbox", include_str!("../../../docs/sandbox.md")),
    ("limits", include_str!("../../../docs/limits.md")),
    ("audit", include_str!("../../../docs/audit.md")),
    ("rest", include_str!("../../../docs/rest.md")),
    ("api-design", include_str!("../../../docs/api-design.md")),
    ("portal", include_str!("../../../docs/portal.md")),
    ("plugins", include_str!("../../../docs/plugins.md")),
    ("operating", include_str!("../../../docs/operating.md")),
    ("mail", include_str!("../../../docs/mail.md")),
    ("setup", include_str!("../../../docs/setup.md")),
    ("analytics", include_str!("../../../docs/analytics.md")),
    ("security", include_str!("../../../docs/security.md")),
    ("imports", include_str!("../../../docs/imports.md")),
    ("logging", include_str!("../../../docs/logging.md")),
    ("performance", include_str!("../../../docs/performance.md")),
];

/// Files that guides link to or show, by their path below [`ROOT_PATH`].
const ATTACHMENTS: &[Attachment] = &[
    Attachment {
        path: "examples/full.json",
        text: include_str!("../../../docs/examples/full.json"),
    },
    Attachment {
        path: "examples/store.json",
        text: include_str!("../../../docs/examples/store.json"),
    },
    Attachment { path: "examples/tpn.json", text: include_str!("../../../docs/examples/tpn.json") },
    Attachment {
        path: "images/reports-growth.svg",
        text: include_str!("../../../docs/images/reports-growth.svg"),
    },
];

/// All pages and the index over them.
#[derive(Debug)]
pub struct Docs {
    pages: Vec<Page>,
    index: Index,
}

/// One guide, rendered.
#[derive(Debug)]
pub struct Page {
    pub slug: &'static str,
    pub title: String,
    /// The opening paragraph as plain text; for a guide without one, the names of its sections.
    pub summary: String,
    /// Without the title.
    pub headings: Vec<Heading>,
    /// The whole text, its title included. Links to other pages are addresses of this site.
    pub html: String,
    pub markdown: &'static str,
    sections: Vec<Section>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Heading {
    /// 2 for a section, 3 for a part of one, and so on.
    pub level: u8,
    pub text: String,
    /// The anchor, as in `#anchor`; unique on its page.
    pub id: String,
}

/// A file that goes with the guides: an example, or a picture.
#[derive(Debug, PartialEq, Eq)]
pub struct Attachment {
    pub path: &'static str,
    pub text: &'static str,
}

impl Attachment {
    pub fn content_type(&self) -> &'static str {
        let is_picture = Path::new(self.path).extension().is_some_and(|kind| kind == "svg");
        if is_picture { "image/svg+xml" } else { "application/json" }
    }
}

/// A page as an item of a list.
#[derive(Debug, Serialize)]
pub struct PageEntry<'page> {
    pub slug: &'static str,
    pub title: &'page str,
    pub summary: &'page str,
    pub link: String,
    pub headings: &'page [Heading],
}

/// A page with its content.
#[derive(Debug, Serialize)]
pub struct PageView<'page> {
    #[serde(flatten)]
    pub entry: PageEntry<'page>,
    pub html: &'page str,
    pub markdown: &'static str,
}

impl Docs {
    /// Renders and indexes every guide; takes a few milliseconds.
    pub fn load() -> Self {
        let pages: Vec<Page> = GUIDES.iter().map(|(slug, text)| Page::read(slug, text)).collect();
        let index = Index::of(&pages);
        Self { pages, index }
    }

    /// In reading order.
    pub fn pages(&self) -> &[Page] {
        &self.pages
    }

    pub fn page(&self, slug: &str) -> Option<&Page> {
        self.pages.iter().find(|page| page.slug == slug)
    }

    /// By its path below [`ROOT_PATH`].
    pub fn attachment(&self, path: &str) -> Option<&'static Attachment> {
        attachment(path)
    }

    /// The sections in which every word of the query occurs, best first; the last word may be the
    /// beginning of one. Only the first [`QUERY_CHARS_MAX`] characters of the query count, and
    /// there are at most [`HITS_MAX`] hits.
    pub fn search(&self, query: &str, limit: usize) -> Vec<Hit<'_>> {
        self.index.search(&self.pages, query, limit)
    }
}

/// Markdown that strangers wrote, as HTML that anybody may be shown.
pub fn html_of_stranger(markdown: &str) -> String {
    crate::content::clean_content(&Guide::read(markdown).html)
}

impl Page {
    fn read(slug: &'static str, text: &'static str) -> Self {
        let Guide { title, summary, headings, html, sections } = Guide::read(text);
        Self { slug, title, summary, headings, html, markdown: text, sections }
    }

    /// The page's path on the site.
    pub fn path(&self) -> String {
        page_path(self.slug)
    }

    /// For lists; `home` is the site's address.
    pub fn entry(&self, home: &str) -> PageEntry<'_> {
        PageEntry {
            slug: self.slug,
            title: &self.title,
            summary: &self.summary,
            link: absolute(home, &self.path()),
            headings: &self.headings,
        }
    }

    pub fn view(&self, home: &str) -> PageView<'_> {
        PageView { entry: self.entry(home), html: &self.html, markdown: self.markdown }
    }
}

fn attachment(path: &str) -> Option<&'static Attachment> {
    ATTACHMENTS.iter().find(|attachment| attachment.path == path)
}

fn page_path(slug: &str) -> String {
    format!("{ROOT_PATH}{slug}/")
}

fn absolute(home: &str, path: &str) -> String {
    format!("{}{path}", home.trim_end_matches('/'))
}

/// The words of a text in order, folded, each with its place in the text. A word is a run of
/// letters and digits, so that `object_not_found` and `X-Request-Id` are found by their parts.
fn words(text: &str) -> impl Iterator<Item = (String, Range<usize>)> + '_ {
    let mut rest = text.char_indices().peekable();
    std::iter::from_fn(move || {
        let start = loop {
            let (at, character) = rest.next()?;
            if character.is_alphanumeric() {
                break (at, character);
            }
        };
        let mut folded: String = fold(start.1).collect();
        let mut end = start.0 + start.1.len_utf8();
        while let Some((at, character)) = rest.next_if(|(_, next)| next.is_alphanumeric()) {
            folded.extend(fold(character));
            end = at + character.len_utf8();
        }
        Some((folded, start.0..end))
    })
}

/// Up and down again, so that ß meets SS and a final sigma the other one.
fn fold(character: char) -> impl Iterator<Item = char> {
    character.to_uppercase().flat_map(char::to_lowercase)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_guide_says_what_it_is() {
        let docs = Docs::load();
        assert_eq!(docs.pages().len(), GUIDES.len());
        for page in docs.pages() {
            assert!(!page.title.is_empty(), "{} has no title", page.slug);
            assert!(page.summary.len() > 20, "{} has no summary", page.slug);
            assert!(!page.headings.is_empty(), "{} has no headings", page.slug);
            assert!(page.html.starts_with("<h1 id="), "{} has no h1", page.slug);
        }
        assert_eq!(docs.page("onboarding").unwrap().title, "Onboarding guide");
        assert!(docs.page("nothing").is_none());
    }

    #[test]
    fn every_guide_of_the_repository_is_served() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs");
        let mut files: Vec<String> = std::fs::read_dir(folder)
            .unwrap()
            .filter_map(|entry| {
                entry
                    .unwrap()
                    .file_name()
                    .into_string()
                    .unwrap()
                    .strip_suffix(".md")
                    .map(str::to_owned)
            })
            .collect();
        files.sort();
        let mut slugs: Vec<&str> = GUIDES.iter().map(|(slug, _)| *slug).collect();
        slugs.sort_unstable();
        assert_eq!(files, slugs);
    }

    /// A link of a page leads to another page, to one of its headings, or to an attachment.
    #[test]
    fn links_between_pages_lead_somewhere() {
        let docs = Docs::load();
        let mut count = 0;
        for page in docs.pages() {
            for link in page.html.split("href=\"").skip(1) {
                let link = link.split('"').next().unwrap();
                if link.starts_with("http") {
                    continue;
                }
                let (path, anchor) = link.split_once('#').unwrap_or((link, ""));
                let below = path.strip_prefix(ROOT_PATH);
                if below.is_some_and(|path| docs.attachment(path).is_some()) {
                    continue;
                }
                let slug = below.map_or(page.slug, |path| path.trim_end_matches('/'));
                let target = docs.page(slug).unwrap_or_else(|| panic!("{}: {link}", page.slug));
                let is_known = anchor.is_empty() || target.headings.iter().any(|h| h.id == anchor);
                assert!(is_known, "{} links to {link}, which is not there", page.slug);
                count += 1;
            }
        }
        assert!(count > 5, "the guides link to each other");
    }

    #[test]
    fn a_view_holds_the_whole_page() {
        let docs = Docs::load();
        let page = docs.page("security").unwrap();
        let view = serde_json::to_value(page.view("https://s.example/")).unwrap();
        let names: Vec<&String> = view.as_object().unwrap().keys().collect();
        assert_eq!(names, ["slug", "title", "summary", "link", "headings", "html", "markdown"]);
        assert_eq!(view["link"], "https://s.example/docs/security/");
        assert_eq!(view["headings"][0]["level"], 2);
        assert!(serde_json::to_value(page.entry("")).unwrap().get("html").is_none());
    }

    #[test]
    fn words_are_folded_and_know_their_place() {
        let check = |text: &str, expected: &[&str]| {
            let found: Vec<String> = words(text).map(|(word, _)| word).collect();
            assert_eq!(found, expected, "{text}");
        };
        check("", &[]);
        check(" -- ", &[]);
        check("Object_not_found", &["object", "not", "found"]);
        check("ΟΔΟΣ οδος Straße STRASSE", &["οδοσ", "οδοσ", "strasse", "strasse"]);
        check("a\u{0}b 日本", &["a", "b", "日本"]);
        let text = "é, Über";
        let places: Vec<&str> = words(text).map(|(_, place)| &text[place]).collect();
        assert_eq!(places, ["é", "Über"]);
    }
}
