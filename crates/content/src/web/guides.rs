//! The documentation: the list, a search, one guide, its card, and the files beside the guides.

use frame::pages::Address;

use super::answer::WebAnswer;
use super::headers;
use super::page_request::PageRequest;
use crate::docs::{self, HITS_MAX};
use crate::pages::{
    self, DocsIndexPage, DocsPage, DocsSearchPage, EmbedPage, Policy, SEARCH_FIELD,
};

const KIND: &str = "page:docs";

impl PageRequest<'_> {
    /// The list, or what a search found. Both are at an address with a slash at its end.
    pub(super) fn guides(&self) -> WebAnswer {
        if let Some(moved) = self.with_slash(KIND) {
            return moved;
        }
        let (site, query) = (self.masthead(), self.query());
        let words = query.text(SEARCH_FIELD).trim();
        let body = if words.is_empty() {
            pages::docs_index(&DocsIndexPage { site, docs: docs::docs().pages() })
        } else {
            let hits = docs::docs().search(words, HITS_MAX);
            let shown: String = words.chars().take(docs::QUERY_CHARS_MAX).collect();
            pages::docs_search(&DocsSearchPage { site, query: &shown, hits: &hits })
        };
        self.open_page(KIND, Policy::Page, body)
    }

    pub(super) fn guide(&self, slug: &str, embed: bool) -> Option<WebAnswer> {
        let guides = docs::docs();
        let page = guides.page(slug)?;
        if let Some(moved) = self.with_slash(KIND) {
            return Some(moved);
        }
        let site = self.masthead();
        if embed {
            let permalink = self.visit.page(&page.path());
            let card = EmbedPage {
                site,
                title: &page.title,
                summary: &page.summary,
                permalink: Address::new(&permalink),
            };
            return Some(self.open_page("page:embed", Policy::Embed, pages::embed(&card)));
        }
        let namespace = &self.site.settings().names.docs;
        let json = self.visit.rest(&format!("/{namespace}/pages/{}", page.slug));
        let rest_url = Address::new(&json);
        let body = pages::docs_page(&DocsPage { site, docs: guides.pages(), page, rest_url });
        let mut answer = self.open_page(KIND, Policy::Page, body);
        headers::link_json(&mut answer.headers, &json);
        Some(answer)
    }

    pub(super) fn attachment(&self, path: &str) -> Option<WebAnswer> {
        let file = docs::docs().attachment(path)?;
        let body = file.text.to_owned();
        let mut answer = self.open_page(KIND, Policy::Page, body);
        headers::set(&mut answer.headers, "content-type", file.content_type());
        Some(answer)
    }

    /// Where the page is, if it was asked for without the slash at its end.
    pub fn with_slash(&self, kind: &'static str) -> Option<WebAnswer> {
        let path = &self.request.url_path;
        if path.ends_with('/') {
            return None;
        }
        let query = &self.request.query_text;
        let query = if query.is_empty() { String::new() } else { format!("?{query}") };
        Some(self.moved(kind, &self.visit.page(&format!("{path}/{query}"))))
    }
}
