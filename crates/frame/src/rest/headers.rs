//! The headers that answers of the REST interface carry.

use std::borrow::Cow;

use crate::{Request, Settings, Visit};

/// Never stored by anybody: the answer is for one user.
pub(super) const NO_STORE: &str = "no-cache, must-revalidate, max-age=0, no-store, private";
/// A date long past, for caches of another age.
pub(super) const EXPIRED: &str = "Wed, 11 Jan 1984 05:00:00 GMT";

pub(super) const JSON: &str = "application/json; charset=UTF-8";

/// Most values are the same for all answers.
pub(super) type Headers = Vec<(&'static str, Cow<'static, str>)>;

/// What every answer carries.
pub(super) fn base(rest_url: &str) -> Headers {
    vec![
        ("content-type", JSON.into()),
        ("x-robots-tag", "noindex".into()),
        ("link", ["<", rest_url, "/>; rel=\"https://api.w.org/\""].concat().into()),
        ("x-content-type-options", "nosniff".into()),
        ("access-control-expose-headers", "X-WP-Total, X-WP-TotalPages, Link".into()),
        (
            "access-control-allow-headers",
            "Authorization, X-WP-Nonce, Content-Disposition, Content-MD5, Content-Type".into(),
        ),
    ]
}

/// What pages of other sites may do with the answer.
pub(super) fn cross_origin(headers: &mut Headers, request: &Request, settings: &Settings) {
    let Some(origin) = request.header("origin").filter(|origin| !origin.is_empty()) else { return };
    let origin: String = origin.split_whitespace().collect::<Vec<_>>().join(" ");
    let listed = &settings.credential_origins;
    if listed.iter().any(|allowed| allowed == "*" || *allowed == origin) {
        headers.push(("access-control-allow-credentials", "true".into()));
    }
    headers.push(("access-control-allow-origin", origin.into()));
    let methods = "OPTIONS, GET, POST, PUT, PATCH, DELETE";
    headers.push(("access-control-allow-methods", methods.into()));
}

/// Whether nobody may keep the answer.
pub(super) fn forbids_caching(request: &Request, visit: &Visit, status: u16, code: &str) -> bool {
    let overridden = request.header("x-http-method-override").is_some() && status >= 400;
    let nonce = code == "rest_cookie_invalid_nonce";
    !visit.identity.is_anonymous() || overridden || nonce
}

/// A header's usual spelling, where answers show headers inside their body.
pub(crate) fn spelling(name: &str) -> String {
    match name {
        "x-wp-total" => return String::from("X-WP-Total"),
        "user-id" => return String::from("User-ID"),
        "x-wp-totalpages" => return String::from("X-WP-TotalPages"),
        _ => {}
    }
    let words = name.split('-').map(|word| {
        let mut letters = word.chars();
        let first = letters.next().map(|letter| letter.to_ascii_uppercase());
        first.into_iter().chain(letters).collect::<String>()
    });
    words.collect::<Vec<_>>().join("-")
}
