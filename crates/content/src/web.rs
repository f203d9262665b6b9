//! The site's pages for people: content, documentation, signing in, connecting an application.
//!
//! [`Site::page`] takes a request and answers it with a page, or not at all: what is no page is
//! left to the interfaces for programs. **Every form carries a token of its own page**, bound to
//! the session or, before there is one, to a cookie; and no address of a request leads a browser
//! away from this site, but for those that a signed-in user has approved.

mod authorize;
mod callback;
mod coming_soon;
pub(crate) mod cookies;
mod desk;
mod form;
mod guides;
mod headers;
mod local_path;
mod nonces;
mod place;
mod plain;
mod public;
mod sign_in;

use std::sync::Arc;

use types::Error;

use self::desk::Desk;
use self::place::Place;
use crate::{Request, Site};

/// Bytes of a form at most.
pub const FORM_BYTES_MAX: usize = 32 * 1024;

/// A page, or where to find one.
#[derive(Debug)]
pub struct WebAnswer {
    /// What kind of page it is, for metrics and the log.
    pub kind: &'static str,
    pub status: u16,
    pub headers: Vec<(&'static str, String)>,
    /// Also for HEAD, whose answer has the length of it.
    pub body: String,
    pub user_id: Option<i64>,
}

impl WebAnswer {
    /// A sentence for a request that never reached a page.
    pub fn sentence(status: u16, text: &str) -> Self {
        let headers = vec![
            ("content-type", String::from("text/plain; charset=UTF-8")),
            ("cache-control", headers::NO_STORE.to_owned()),
            ("x-content-type-options", String::from("nosniff")),
        ];
        Self { kind: "page:fault", status, headers, body: format!("{text}\n"), user_id: None }
    }

    /// Sends the browser elsewhere, this once.
    fn redirect(kind: &'static str, location: &str) -> Self {
        let headers = vec![
            ("location", location.to_owned()),
            ("cache-control", headers::NO_STORE.to_owned()),
            ("referrer-policy", String::from("no-referrer")),
        ];
        Self { kind, status: 302, headers, body: String::new(), user_id: None }
    }
}

/// Whether a request with this method and path may be for a page.
pub fn may_be_page(method: &str, path: &str) -> bool {
    match (method, Place::at(path)) {
        ("GET" | "HEAD", place) => place.is_some(),
        ("POST", Some(place)) => place.has_form(),
        _ => false,
    }
}

impl Site {
    /// The page that the request asks for. Nothing if there is none and the client does not say
    /// that it would show one.
    pub async fn page(self: &Arc<Self>, request: Request) -> Option<WebAnswer> {
        if !may_be_page(&request.method, &request.url_path) {
            return None;
        }
        let place = Place::at(&request.url_path)?;
        let desk = match Desk::open(self, &request).await {
            Ok(desk) => desk,
            Err(error) => return Some(failed(&error)),
        };
        match desk.answer(&place).await {
            Ok(Some(answer)) => Some(answer),
            Ok(None) => headers::accepts_html(&request).then(|| desk.not_found()),
            Err(error) => Some(failed(&error)),
        }
    }
}

impl Desk<'_> {
    async fn answer(&self, place: &Place<'_>) -> Result<Option<WebAnswer>, Error> {
        if self.is_shut(place).await? {
            return Ok(Some(self.coming_soon()));
        }
        match place {
            Place::Front => self.front().await,
            Place::Content { path, embed } => self.content(path, *embed).await,
            Place::Author(slug) => self.author(slug).await,
            Place::Guides => Ok(Some(self.guides())),
            Place::Guide { slug, embed } => Ok(self.guide(slug, *embed)),
            Place::Attachment(path) => Ok(self.attachment(path)),
            Place::SignIn(spelling) => self.sign_in(*spelling).await.map(Some),
            Place::Authorize(spelling) => self.authorize(*spelling).await.map(Some),
            Place::Nonce(spelling) => self.nonce(*spelling).await.map(Some),
            Place::ThemeStyle => Ok(Some(self.theme_style())),
            Place::AdminHome => Ok(Some(WebAnswer::redirect("page:admin", &self.visit.page("/")))),
        }
    }
}

/// Our own failure, logged in full and told in general.
fn failed(error: &Error) -> WebAnswer {
    let refusal = crate::frame::failed(error);
    let mut answer = WebAnswer::sentence(refusal.status, &refusal.message);
    if refusal.status == 503 {
        answer.headers.push(("retry-after", String::from("1")));
    }
    answer
}
