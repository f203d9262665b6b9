//! The headers that answers of the REST interface carry.

use crate::{Request, Settings, Visit};

/// Never stored by anybody: the answer is for one user.
pub(super) const NO_STORE: &str = "no-cache, must-revalidate, max-age=0, no-store, private";
/// A date long past, for caches of another age.
pub(super) const EXPIRED: &str = "Wed, 11 Jan 1984 05:00:00 GMT";

pub(super) type Headers = Vec<(&'static str, String)>;

/// What every answer carries.
pub(super) fn base(rest_url: &str) -> Headers {
    vec![
        ("content-type", String::from("application/json; charset=UTF-8")),
        ("x-robots-tag", String::from("noindex")),
        ("link", ["<", rest_url, "/>; rel=\"https://api.w.org/\""].concat()),
        ("x-content-type-options", String::from("nosniff")),
        ("access-control-expose-headers", String::from("X-WP-Total, X-WP-TotalPages, Link")),
        (
            "access-control-allow-headers",
            String::from(
                "Authorization, X-WP-Nonce, Content-Disposition, Content-MD5, Content-Type",
            ),
        ),
    ]
}

/// What pages of other sites may do with the answer.
pub(super) fn cross_origin(headers: &mut Headers, request: &Request, settings: &Settings) {
    let Some(origin) = request.header("origin").filter(|origin| !origin.is_empty()) else { return };
    let origin: String = origin.split_whitespace().collect::<Vec<_>>().join(" ");
    let listed = &settings.credential_origins;
    if listed.iter().any(|allowed| allowed == "*" || *allowed == origin) {
        headers.push(("access-control-allow-credentials", String::from("true")));
    }
    headers.push(("access-control-allow-origin", origin));
    let methods = String::from("OPTIONS, GET, POST, PUT, PATCH, DELETE");
    headers.push(("access-control-allow-methods", methods));
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
