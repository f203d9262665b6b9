//! The addresses to which an application wants its password, or the refusal, sent.
//!
//! **What was checked is what the browser gets**: the address is kept as it was read, not as it was
//! written.

use contract::rest::form;
use types::Environment;
use url::{Host, Url};

/// Bytes of an address at most.
const LENGTH_MAX: usize = 2_000;
/// Schemes whose addresses run in a page or read what is the visitor's.
const REFUSED_SCHEMES: &[&str] =
    &["javascript", "data", "vbscript", "blob", "file", "filesystem", "about", "view-source"];

/// An address to which a browser may carry a password.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Callback(Url);

/// What is wrong with an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AddressError {
    Format,
    /// Plain http to another computer.
    Scheme,
}

impl AddressError {
    pub(super) fn message(self) -> &'static str {
        match self {
            Self::Format => "It must be a complete address, such as https://app.example/connected.",
            Self::Scheme => {
                "It must use https; plain http is for programs on this computer only, at \
                 127.0.0.1 or [::1]."
            }
        }
    }
}

impl Callback {
    /// Nothing for an empty text.
    pub(super) fn read(text: &str, environment: Environment) -> Result<Option<Self>, AddressError> {
        let text = text.trim_matches(' ');
        if text.is_empty() {
            return Ok(None);
        }
        let callback = Self::parse(text)?;
        if callback.is_plain() && environment != Environment::Sandbox {
            return Err(AddressError::Scheme);
        }
        Ok(Some(callback))
    }

    /// An address that no secret is sent to by the browser, so that it may be a plain one.
    pub(super) fn parse(text: &str) -> Result<Self, AddressError> {
        let (scheme, rest) = text.split_once("://").ok_or(AddressError::Format)?;
        let is_odd = |c: char| c.is_control() || c == '\\';
        let is_written_right = text.len() <= LENGTH_MAX
            && scheme.starts_with(|c: char| c.is_ascii_alphabetic())
            && !rest.starts_with(['/', '?', '#'])
            && !text.chars().any(is_odd);
        let url = Url::parse(text).map_err(|_| AddressError::Format)?;
        let has_host = url.host_str().is_some_and(|host| !host.is_empty());
        if !is_written_right || !has_host || REFUSED_SCHEMES.contains(&url.scheme()) {
            return Err(AddressError::Format);
        }
        Ok(Self(url))
    }

    /// Whether others could read on the way what is sent there.
    pub(super) fn is_plain(&self) -> bool {
        self.0.scheme() == "http" && !is_this_computer(&self.0)
    }

    pub(super) fn url(&self) -> &Url {
        &self.0
    }

    pub(super) fn as_str(&self) -> &str {
        self.0.as_str()
    }

    /// The address with these parameters in its query; those of the same names go.
    pub(super) fn with(&self, parameters: &[(&str, &str)]) -> String {
        let is_replaced = |pair: &str| {
            let name = pair.split('=').next().unwrap_or_default();
            parameters.iter().any(|(other, _)| *other == name)
        };
        let kept = self.0.query().unwrap_or_default().split('&');
        let mut query: Vec<String> =
            kept.filter(|pair| !pair.is_empty() && !is_replaced(pair)).map(str::to_owned).collect();
        query.extend(parameters.iter().map(|(name, value)| format!("{name}={}", encoded(value))));
        let mut url = self.0.clone();
        url.set_query(Some(&query.join("&")));
        url.into()
    }
}

fn is_this_computer(url: &Url) -> bool {
    match url.host() {
        Some(Host::Ipv4(address)) => address == std::net::Ipv4Addr::LOCALHOST,
        Some(Host::Ipv6(address)) => address == std::net::Ipv6Addr::LOCALHOST,
        _ => false,
    }
}

/// Percent encoding without the plus sign of forms, which not every reader undoes.
pub fn encoded(text: &str) -> String {
    form::url_encode(text).replace('+', "%20")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_accepted_or_refused() {
        let long = format!("https://app.example/{}", "a".repeat(LENGTH_MAX));
        for (text, production, sandbox) in [
            ("https://app.example/cb", None, None),
            ("https://app.example:8443", None, None),
            ("HTTPS://APP.example/cb", None, None),
            ("https://app.example/cb?state=a b", None, None),
            ("myapp://cb", None, None),
            ("com.example.app://connected/here?x=1", None, None),
            ("http://127.0.0.1:9/cb", None, None),
            ("http://127.0.0.1", None, None),
            ("http://[::1]:9/cb", None, None),
            ("http://0x7f000001/cb", None, None),
            ("http://example.com/cb", Some(AddressError::Scheme), None),
            ("HTTP://example.com/cb", Some(AddressError::Scheme), None),
            ("http://localhost/cb", Some(AddressError::Scheme), None),
            ("http://127.0.0.1.example.com/", Some(AddressError::Scheme), None),
            ("http://127.0.0.1@example.com/", Some(AddressError::Scheme), None),
            ("http://10.0.0.1/", Some(AddressError::Scheme), None),
            ("javascript:alert(1)", Some(AddressError::Format), Some(AddressError::Format)),
            (
                "javascript://app.example/%0aalert(1)",
                Some(AddressError::Format),
                Some(AddressError::Format),
            ),
            ("JavaScript://app.example/", Some(AddressError::Format), Some(AddressError::Format)),
            ("java\tscript://app.example/", Some(AddressError::Format), Some(AddressError::Format)),
            ("data:text/html,x", Some(AddressError::Format), Some(AddressError::Format)),
            ("data://text/html,x", Some(AddressError::Format), Some(AddressError::Format)),
            ("vbscript://x/", Some(AddressError::Format), Some(AddressError::Format)),
            ("file://host/etc", Some(AddressError::Format), Some(AddressError::Format)),
            ("blob:https://app.example/x", Some(AddressError::Format), Some(AddressError::Format)),
            ("view-source://x/", Some(AddressError::Format), Some(AddressError::Format)),
            ("app.example/cb", Some(AddressError::Format), Some(AddressError::Format)),
            ("//app.example/cb", Some(AddressError::Format), Some(AddressError::Format)),
            ("/cb", Some(AddressError::Format), Some(AddressError::Format)),
            ("https:app.example", Some(AddressError::Format), Some(AddressError::Format)),
            ("https://", Some(AddressError::Format), Some(AddressError::Format)),
            ("https:///app.example", Some(AddressError::Format), Some(AddressError::Format)),
            ("myapp:cb", Some(AddressError::Format), Some(AddressError::Format)),
            ("myapp:///cb", Some(AddressError::Format), Some(AddressError::Format)),
            (
                "https://app.example\\@other.example/",
                Some(AddressError::Format),
                Some(AddressError::Format),
            ),
            (
                "https://app.example/\r\nSet-Cookie: a=b",
                Some(AddressError::Format),
                Some(AddressError::Format),
            ),
            ("1app://cb", Some(AddressError::Format), Some(AddressError::Format)),
            (&long, Some(AddressError::Format), Some(AddressError::Format)),
        ] {
            let error = |environment| Callback::read(text, environment).err();
            assert_eq!(error(Environment::Production), production, "{text:?}");
            assert_eq!(error(Environment::Sandbox), sandbox, "{text:?}");
        }
        assert_eq!(Callback::read(" ", Environment::Production), Ok(None));
    }

    #[test]
    fn parameters_join_the_query() {
        let check = |text: &str, expected: &str| {
            let callback = Callback::read(text, Environment::Production).unwrap().unwrap();
            assert_eq!(callback.with(&[("success", "a b&c/d")]), expected, "{text}");
        };
        check("https://a.example/cb", "https://a.example/cb?success=a%20b%26c%2Fd");
        check("https://a.example/cb?x=%20y", "https://a.example/cb?x=%20y&success=a%20b%26c%2Fd");
        check("https://a.example/?", "https://a.example/?success=a%20b%26c%2Fd");
        check("https://a.example/?success=1&x", "https://a.example/?x&success=a%20b%26c%2Fd");
        check("https://a.example/#frag?x", "https://a.example/?success=a%20b%26c%2Fd#frag?x");
        check("myapp://cb", "myapp://cb?success=a%20b%26c%2Fd");
        check("https://a.example/é", "https://a.example/%C3%A9?success=a%20b%26c%2Fd");
    }
}
