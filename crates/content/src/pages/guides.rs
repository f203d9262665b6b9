//! The documentation as pages: the list, one guide with its neighbours, and what a search found.

use askama::Template;
use frame::pages::Address;

use super::masthead::{Masthead, rendered};
use crate::docs;

#[derive(Debug, Template)]
#[template(path = "docs_index.html")]
pub struct DocsIndexPage<'a> {
    pub site: Masthead<'a>,
    pub docs: &'a [docs::Page],
}

#[derive(Debug, Template)]
#[template(path = "docs_page.html")]
pub struct DocsPage<'a> {
    pub site: Masthead<'a>,
    /// All guides, for the list beside this one.
    pub docs: &'a [docs::Page],
    pub page: &'a docs::Page,
    /// The same as JSON.
    pub rest_url: Address<'a>,
}

#[derive(Debug, Template)]
#[template(path = "docs_search.html")]
pub struct DocsSearchPage<'a> {
    pub site: Masthead<'a>,
    pub query: &'a str,
    pub hits: &'a [docs::Hit<'a>],
}

pub fn docs_index(page: &DocsIndexPage<'_>) -> String {
    rendered(page)
}

pub fn docs_page(page: &DocsPage<'_>) -> String {
    rendered(page)
}

pub fn docs_search(page: &DocsSearchPage<'_>) -> String {
    rendered(page)
}

impl<'a> DocsPage<'a> {
    fn previous(&self) -> Option<&'a docs::Page> {
        self.docs.get(self.place()?.checked_sub(1)?)
    }

    fn next(&self) -> Option<&'a docs::Page> {
        self.docs.get(self.place()? + 1)
    }

    fn place(&self) -> Option<usize> {
        self.docs.iter().position(|other| other.slug == self.page.slug)
    }
}
