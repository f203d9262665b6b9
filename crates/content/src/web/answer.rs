//! The answer to a request for a page.

use super::headers::NO_STORE;
use crate::pages;

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
            ("cache-control", NO_STORE.to_owned()),
            ("x-content-type-options", String::from("nosniff")),
        ];
        Self { kind: "page:error", status, headers, body: format!("{text}\n"), user_id: None }
    }

    /// The mark of the site, which a browser may keep for a day.
    pub(super) fn icon() -> Self {
        let headers = vec![
            ("content-type", String::from("image/svg+xml")),
            ("cache-control", String::from("public, max-age=86400")),
            ("x-content-type-options", String::from("nosniff")),
        ];
        let body = pages::masthead::ICON.to_owned();
        Self { kind: "page:icon", status: 200, headers, body, user_id: None }
    }

    /// Sends the browser elsewhere, this once.
    pub fn redirect(kind: &'static str, location: &str) -> Self {
        let headers = vec![
            ("content-type", pages::CONTENT_TYPE.to_owned()),
            ("location", location.to_owned()),
            ("cache-control", NO_STORE.to_owned()),
            ("referrer-policy", String::from("no-referrer")),
        ];
        Self { kind, status: 302, headers, body: String::new(), user_id: None }
    }
}
