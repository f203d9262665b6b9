//! The documentation that the product serves about itself: the guides of this repository, embedded
//! in the binary, as HTML, as JSON and through full-text search.
//!
//! `page::GUIDES` is the one list. Title, summary and headings are read from the text, so that a
//! guide says them once. **Nothing here depends on a request**: load once, then share.

mod page;
mod search;
mod words;

use std::sync::LazyLock;

pub use self::page::{Attachment, Page, PageEntry, PageView, ROOT_PATH};
pub use self::search::{HITS_MAX, Hit, HitView, Piece, QUERY_CHARS_MAX};

use self::page::GUIDES;

/// All pages.
#[derive(Debug)]
pub struct Docs {
    pages: Vec<Page>,
}

/// The guides of this version; the same for every site of the process.
pub fn docs() -> &'static Docs {
    static DOCS: LazyLock<Docs> = LazyLock::new(Docs::load);
    &DOCS
}

impl Docs {
    /// Renders and indexes every guide; takes a few milliseconds.
    pub fn load() -> Self {
        let pages: Vec<Page> = GUIDES.iter().map(|(slug, text)| Page::read(slug, text)).collect();
        Self { pages }
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
        page::attachment(path)
    }

    /// The sections in which every word of the query occurs, best first; the last word may be the
    /// beginning of one. Only the first [`QUERY_CHARS_MAX`] characters of the query count, and
    /// there are at most [`HITS_MAX`] hits.
    pub fn search(&self, query: &str, limit: usize) -> Vec<Hit<'_>> {
        search::search(&self.pages, query, limit)
    }
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
}
