//! The headers of pages, and what a request's headers say about pages.

use frame::Request;
use frame::pages::Theme;

use crate::pages::{self, Policy};

pub(super) const NO_STORE: &str = "no-store";
/// Readers who are not signed in may keep a page, and ask again whether it is the same.
const NO_CACHE: &str = "no-cache";

/// Who may keep the page, and what it tells the site that a link leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Privacy {
    Open,
    /// Forms and secrets: nobody keeps it, and links from it tell nothing.
    Private,
}

/// The headers of a page.
pub(super) fn of_page(
    policy: Policy<'_>,
    privacy: Privacy,
    (rest_root, theme): (&str, Option<&Theme>),
) -> Vec<(&'static str, String)> {
    let (cache, referrer) = match privacy {
        Privacy::Open => (NO_CACHE, "strict-origin-when-cross-origin"),
        Privacy::Private => (NO_STORE, "no-referrer"),
    };
    let mut headers = vec![
        ("content-type", pages::CONTENT_TYPE.to_owned()),
        ("content-security-policy", policy.header(theme)),
        ("x-content-type-options", String::from("nosniff")),
        ("referrer-policy", referrer.to_owned()),
        ("cache-control", cache.to_owned()),
        ("link", format!("<{rest_root}>; rel=\"https://api.w.org/\"")),
    ];
    if !matches!(policy, Policy::Embed) {
        headers.push(("x-frame-options", String::from("DENY")));
    }
    headers
}

/// Says where the same is as JSON.
pub fn link_json(headers: &mut [(&'static str, String)], address: &str) {
    if let Some((_, value)) = headers.iter_mut().find(|(name, _)| *name == "link") {
        let kind = "rel=\"alternate\"; title=\"JSON\"; type=\"application/json\"";
        *value = format!("{value}, <{address}>; {kind}");
    }
}

pub(super) fn set(headers: &mut Vec<(&'static str, String)>, name: &'static str, value: &str) {
    headers.retain(|(other, _)| *other != name);
    headers.push((name, value.to_owned()));
}

/// Whether the client names pages among what it shows; programs that take anything do not.
pub(super) fn accepts_html(request: &Request) -> bool {
    let accepts = |value: &str| {
        let value = value.to_ascii_lowercase();
        value.contains("text/html") || value.contains("application/xhtml+xml")
    };
    request.header("accept").is_some_and(accepts)
}

/// Whether the request comes from a page of this site, as far as the browser tells. Browsers that
/// tell nothing are judged by the form's token alone, and so is the origin `null`, which they send
/// for our own forms because these tell no referrer.
pub(super) fn is_same_origin(request: &Request, home: &str) -> bool {
    if let Some(site) = request.header("sec-fetch-site") {
        return matches!(site, "same-origin" | "none");
    }
    match request.header("origin") {
        None | Some("null") => true,
        Some(origin) => is_own_origin(request, home, origin),
    }
}

/// Whether nothing says that the request comes from a page of another site. Stricter than
/// [`is_same_origin`], for requests that bring no token: a page that hides its origin is another
/// site's, and so is one that only the referrer tells of.
pub(super) fn is_from_here(request: &Request, home: &str) -> bool {
    let is_own = |origin: &str| is_own_origin(request, home, origin);
    let referrer = || request.header("referer").and_then(origin_of);
    is_same_origin(request, home)
        && request.header("origin").is_none_or(is_own)
        && referrer().is_none_or(|origin| is_own(&origin))
}

fn is_own_origin(request: &Request, home: &str, origin: &str) -> bool {
    let host = origin.split_once("://").map(|(_, host)| host);
    origin == home || host.is_some_and(|host| host.eq_ignore_ascii_case(&request.host))
}

/// Scheme and host of an address.
fn origin_of(address: &str) -> Option<String> {
    let (scheme, rest) = address.split_once("://")?;
    let host = rest.split(['/', '?', '#']).next()?;
    Some(format!("{scheme}://{host}"))
}
