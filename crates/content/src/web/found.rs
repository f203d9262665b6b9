//! What a search of the whole site finds: posts, pages and what crates above keep. It asks the
//! search of the REST interface, so that both find the same.

use contract::rest::{Verb, form};
use frame::pages::{Address, Link};
use serde_json::{Map, Value, json};
use types::Result;

use super::answer::WebAnswer;
use super::page_request::PageRequest;
use super::plain::plain;
use crate::pages::{self, Policy, SearchPage};

const PER_PAGE: &str = "20";
/// Characters of a search that are looked at.
const WORDS_CHARS_MAX: usize = 200;

impl PageRequest<'_> {
    pub(super) async fn search(&self) -> Result<WebAnswer> {
        let query = self.query();
        let words: String = query.text("s").trim().chars().take(WORDS_CHARS_MAX).collect();
        let page = query.text("paged").parse::<i64>().unwrap_or(1).max(1);
        let found =
            if words.is_empty() { Vec::new() } else { self.search_found(&words, page).await };
        let links: Vec<Link<'_>> =
            found.iter().map(|(text, href)| Link { text, href: Address::new(href) }).collect();
        let body =
            pages::search(&SearchPage { site: self.masthead(), words: &words, found: &links });
        Ok(self.open_page("page:search", Policy::Page, body))
    }

    /// Titles and addresses.
    async fn search_found(&self, words: &str, page: i64) -> Vec<(String, String)> {
        let mut wanted = Map::new();
        for (name, value) in
            [("search", words), ("page", &*page.to_string()), ("per_page", PER_PAGE)]
        {
            wanted.insert(name.to_owned(), json!(value));
        }
        let namespace = &self.site.settings().names.content;
        let path = format!("/{namespace}/search?{}", form::encode(&wanted));
        let reply = self.site.ask_as(&self.visit, (Verb::Get, &path), None).await;
        let (status, _, found) = reply.into_json();
        let items = found.as_array().filter(|_| status == 200);
        let text = |item: &Value, name: &str| item[name].as_str().unwrap_or_default().to_owned();
        let each = items.into_iter().flatten();
        each.map(|item| (plain(&text(item, "title")), text(item, "url"))).collect()
    }
}
