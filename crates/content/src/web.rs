//! The site's pages for people: content, documentation, signing in, connecting an application.
//!
//! [`page`] takes a request and answers it with a page, or not at all: what is no page is
//! left to the interfaces for programs. **Every form carries a token of its own page**, bound to
//! the session or, before there is one, to a cookie, but for that of comments, which is a
//! stranger's, and that of a password; and no address of a request leads a browser
//! away from this site, but for those that a signed-in user has approved. Pages of crates above are
//! made of the same parts: a [`PageRequest`] knows the circumstances and the ways to answer.

mod administration;
mod answer;
mod archive;
mod authorize;
mod callback;
mod coming_soon;
mod discovery;
mod discussion;
mod feeds;
mod forgotten;
mod form;
mod found;
mod guides;
mod headers;
mod key_grant;
mod local_path;
mod nonces;
mod openid;
mod page_path;
mod page_request;
mod plain;
mod public;
mod second_factor;
mod sign_in;
mod sitemaps;
mod unlock;

use std::sync::Arc;

use frame::{Request, Site};
use types::Error;

pub use self::answer::WebAnswer;
pub use self::callback::encoded;
pub use self::form::{Fields, Visitor};
pub use self::headers::link_json;
pub use self::local_path::local_path;
pub use self::page_path::Spelling;
pub use self::page_request::{PageRequest, Session};
pub use self::plain::{plain, shown_title};
pub use self::sign_in::{Keep, STALE, WRONG, told_to_wait, typed_login};

use self::page_path::PagePath;

/// Bytes of a form at most.
pub const FORM_BYTES_MAX: usize = 32 * 1024;

/// Whether a request with this method and path may be for a page.
pub fn may_be_page(method: &str, path: &str) -> bool {
    match (method, PagePath::at(path)) {
        ("GET" | "HEAD", page) => page.is_some(),
        ("POST", Some(page)) => page.has_form(),
        _ => false,
    }
}

/// The page that the request asks for. Nothing if there is none and the client does not say that it
/// would show one.
pub async fn page(site: &Arc<Site>, request: Request) -> Option<WebAnswer> {
    if !may_be_page(&request.method, &request.url_path) {
        return None;
    }
    let path = PagePath::at(&request.url_path)?;
    let page = match PageRequest::open(site, &request).await {
        Ok(page) => page,
        Err(error) => return Some(failed(&error)),
    };
    match page.answer(&path).await {
        Ok(Some(answer)) => Some(answer),
        Ok(None) if path.is_of_site() => Some(page.not_found()),
        Ok(None) => headers::accepts_html(&request).then(|| page.not_found()),
        Err(error) => Some(failed(&error)),
    }
}

impl PageRequest<'_> {
    async fn answer(&self, path: &PagePath<'_>) -> Result<Option<WebAnswer>, Error> {
        if self.is_closed(path).await? {
            return Ok(Some(self.coming_soon()));
        }
        match path {
            PagePath::Front => self.front().await,
            PagePath::Content { path, embed } => self.content(path, *embed).await,
            PagePath::Author(slug) => self.author(slug).await,
            PagePath::Archive { archive, path } => match self.archive(archive).await? {
                Some(list) => Ok(Some(list)),
                None => self.content(path, false).await,
            },
            PagePath::Guides => Ok(Some(self.guides())),
            PagePath::Guide { slug, embed } => Ok(self.guide(slug, *embed)),
            PagePath::Attachment(path) => Ok(self.attachment(path)),
            PagePath::SignIn(spelling) => self.sign_in(*spelling).await.map(Some),
            PagePath::SignInReturn => self.return_from_provider().await.map(Some),
            PagePath::Authorize(spelling) => self.authorize(*spelling).await.map(Some),
            PagePath::Nonce(spelling) => self.nonce(*spelling).await.map(Some),
            PagePath::KeyGrant(step) => self.key_grant(step).await.map(Some),
            PagePath::ThemeStyle => Ok(Some(self.theme_style())),
            PagePath::Administration(name) => self.administration(name).await.map(Some),
            PagePath::NoKeyGrant => Ok(Some(self.not_found())),
            PagePath::Feed { of, format } => self.feed(of, *format).await,
            PagePath::Comment => self.leave_comment().await.map(Some),
            PagePath::Robots => Ok(Some(self.robots())),
            PagePath::Icon => Ok(Some(WebAnswer::icon())),
            PagePath::Discovery => self.discovery(),
            PagePath::SitemapMoved => Ok(Some(self.sitemap_moved())),
            PagePath::SitemapIndex => self.sitemap_index().await,
            PagePath::SitemapPage(name) => self.sitemap_page(name).await,
            PagePath::SitemapStyle(style) => Ok(Some(sitemaps::style(*style))),
        }
    }
}

/// Our own failure, logged in full and told in general.
pub fn failed(error: &Error) -> WebAnswer {
    let refusal = frame::rest::failed(error);
    let mut answer = WebAnswer::sentence(refusal.status, &refusal.message);
    if refusal.status == 503 {
        answer.headers.push(("retry-after", String::from("1")));
    }
    answer
}
