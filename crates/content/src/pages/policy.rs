//! What a browser may do with a page: the value of its `Content-Security-Policy` header.
//! **No page runs a script**, and the one style sheet is known by its hash, computed from the very
//! text that the pages carry.

use std::iter;
use std::sync::LazyLock;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use frame::pages::Theme;
use sha2::{Digest, Sha256};
use url::Url;

use super::masthead::STYLE;

#[derive(Clone, Copy, Debug)]
pub enum Policy<'a> {
    /// Login, errors, the front page, authors, the documentation.
    Page,
    /// A post, which may hold pictures, sound and styles of its own.
    Post,
    /// The shop, whose pictures may be on other hosts.
    Shop,
    /// The card that other sites show in a frame.
    Embed,
    /// The question whether to connect an application. A browser holds the form's policy against
    /// the address that the answer leads to as well, so that one must be named.
    Authorize { success_url: Option<&'a str>, reject_url: Option<&'a str> },
}

impl Policy<'_> {
    pub const HEADER_NAME: &'static str = "Content-Security-Policy";

    /// The header's value, for pages that look as the theme says.
    pub fn header(&self, theme: Option<&Theme>) -> String {
        let own = theme.map(|theme| format!(" {}", theme.source())).unwrap_or_default();
        let style = format!("{}{own}", STYLE_SOURCE.as_str());
        // Tools that judge a page fetch its robots.txt under the page's own policy.
        let common =
            format!("default-src 'none'; base-uri 'none'; connect-src 'self'; style-src {style}");
        match self {
            Self::Page => {
                format!(
                    "{common}; img-src 'self' data:; form-action 'self'; frame-ancestors 'none'"
                )
            }
            Self::Post => format!(
                "{common}; style-src-attr 'unsafe-inline'; img-src 'self' https: data:; \
                 media-src 'self' https:; form-action 'self'; frame-ancestors 'none'"
            ),
            Self::Shop => format!(
                "{common}; img-src 'self' https: data:; form-action 'self'; frame-ancestors 'none'"
            ),
            Self::Embed => {
                format!("{common}; img-src data:; form-action 'none'; frame-ancestors *")
            }
            Self::Authorize { success_url, reject_url } => {
                let targets = [success_url, reject_url].into_iter().copied().flatten();
                let own = String::from("'self'");
                let sources: Vec<String> =
                    iter::once(own).chain(targets.filter_map(source)).collect();
                let sources = sources.join(" ");
                format!("{common}; img-src data:; form-action {sources}; frame-ancestors 'none'")
            }
        }
    }
}

static STYLE_SOURCE: LazyLock<String> =
    LazyLock::new(|| format!("'sha256-{}'", BASE64_STANDARD.encode(Sha256::digest(STYLE))));

/// The address as a policy names it: its origin, or the scheme alone where a policy cannot say
/// more. A host may hold signs that would end the directive, so only plain ones are named.
fn source(address: &str) -> Option<String> {
    let url = Url::parse(address).ok()?;
    let is_web = matches!(url.scheme(), "http" | "https");
    let is_plain = |host: &str| {
        host.chars().all(|sign| sign.is_ascii_alphanumeric() || matches!(sign, '.' | '-'))
    };
    if is_web && url.host_str().is_some_and(is_plain) {
        return Some(url.origin().ascii_serialization());
    }
    Some(format!("{}:", url.scheme()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_policy_allows_no_script() {
        let authorize = Policy::Authorize { success_url: None, reject_url: None };
        for policy in [Policy::Page, Policy::Post, Policy::Shop, Policy::Embed, authorize] {
            let header = policy.header(None);
            assert!(header.starts_with("default-src 'none'; "), "{header}");
            assert!(!header.contains("script-src"), "{header}");
            assert!(header.contains("style-src 'sha256-"), "{header}");
        }
    }

    #[test]
    fn the_answer_may_lead_where_the_application_is() {
        let check = |success_url: &str, reject_url: Option<&str>, expected: &str| {
            let policy = Policy::Authorize { success_url: Some(success_url), reject_url };
            let header = policy.header(None);
            let form = header.split("; ").find(|part| part.starts_with("form-action")).unwrap();
            assert_eq!(form, format!("form-action 'self'{expected}"), "{success_url}");
        };
        check("https://app.example/cb?a", None, " https://app.example");
        check(
            "https://app.example:8443/",
            Some("http://127.0.0.1:9/"),
            " https://app.example:8443 http://127.0.0.1:9",
        );
        check("http://[::1]:9/", None, " http:");
        check("shop://connected/", None, " shop:");
        check("https://a.example/; script-src *", None, " https://a.example");
        check("https://a;sandbox/", None, " https:");
        check("nothing; script-src *", None, "");
    }
}
