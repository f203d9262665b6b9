//! oEmbed: how a page says what it looks like inside another page.
//!
//! [`local`] describes the pages of this site. [`mod@proxy`] asks others for an editor: a
//! provider of the trusted list ([`providers`]) or the endpoint that the page itself names
//! ([`discover`]); [`markup`] makes the answer safe to show. [`xml`] is the other format.
//!
//! Everything here is plain computing but [`proxy::proxy`], which is handed its way to the network.

pub mod discover;
mod html;
pub mod local;
pub mod markup;
mod media;
pub mod providers;
pub mod proxy;
pub mod xml;

pub(crate) use html::decoded;
pub use local::{Author, LocalPage, Thumbnail, describe, describe_link};
pub use proxy::{ProxyFault, ProxyRequest, proxy};

use types::{Error, Result};
use url::Url;

/// The code of the refusal for an address that nothing can be said about.
pub const CODE_INVALID_URL: &str = "oembed_invalid_url";
/// Its status.
pub const STATUS_INVALID_URL: u16 = 404;

const SECRET_CHARS: usize = 10;
/// 32 letters and digits, so that five random bits choose one without preference.
const SECRET_ALPHABET: &[u8; 32] = b"ABCDEFGHJKLMNPQRSTUVWXYZ23456789";

/// A random text that joins a frame with the quote around it. It is public: it only keeps frames
/// of one page apart.
pub fn new_secret() -> Result<String> {
    let mut random = [0_u8; SECRET_CHARS];
    getrandom::fill(&mut random)
        .map_err(|error| Error::unavailable("the system gives no random numbers").because(error))?;
    let letters = random.iter().filter_map(|byte| {
        let index = usize::from(*byte) % SECRET_ALPHABET.len();
        SECRET_ALPHABET.get(index).copied().map(char::from)
    });
    Ok(letters.collect())
}

/// The two formats of oEmbed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    Json,
    Xml,
}

impl Format {
    pub const fn name(self) -> &'static str {
        match self {
            Self::Json => "json",
            Self::Xml => "xml",
        }
    }
}

/// Where a provider answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Endpoint {
    /// May hold `{format}`.
    template: String,
    is_trusted: bool,
}

impl Endpoint {
    /// One that a page named for itself.
    fn discovered(url: &Url) -> Self {
        Self { template: url.to_string(), is_trusted: false }
    }

    pub fn origin(&self) -> markup::Origin {
        if self.is_trusted { markup::Origin::Trusted } else { markup::Origin::Discovered }
    }

    /// The address to ask, with these parameters in place of its own of the same names.
    fn address(&self, format: Format, parameters: &[(&str, &str)]) -> Option<Url> {
        let text = if self.is_trusted {
            self.template.replace("{format}", format.name())
        } else {
            self.template.clone()
        };
        let mut address = Url::parse(&text).ok()?;
        let is_ours = |name: &str| parameters.iter().any(|(other, _)| *other == name);
        let kept: Vec<(String, String)> =
            address.query_pairs().filter(|(name, _)| !is_ours(name)).map(owned).collect();
        address.query_pairs_mut().clear().extend_pairs(kept).extend_pairs(parameters);
        address.set_fragment(None);
        Some(address)
    }
}

fn owned<A: Into<String>, B: Into<String>>((name, value): (A, B)) -> (String, String) {
    (name.into(), value.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_get_our_parameters() {
        let check = |template: &str, is_trusted: bool, expected: &str| {
            let endpoint = Endpoint { template: template.to_owned(), is_trusted };
            let parameters = [("url", "https://a.example/?b&c"), ("format", "xml")];
            let address = endpoint.address(Format::Xml, &parameters).unwrap();
            assert_eq!(address.as_str(), expected);
        };
        let ours = "url=https%3A%2F%2Fa.example%2F%3Fb%26c&format=xml";
        check("https://v.example/o.{format}", true, &format!("https://v.example/o.xml?{ours}"));
        check("https://v.example/o?for=us", true, &format!("https://v.example/o?for=us&{ours}"));
        check(
            "https://d.example/o?url=x&format=json&key=%26#frag",
            false,
            &format!("https://d.example/o?key=%26&{ours}"),
        );
    }

    #[test]
    fn secrets_differ() {
        let (first, second) = (new_secret().unwrap(), new_secret().unwrap());
        assert_eq!(first.len(), SECRET_CHARS);
        assert!(first.bytes().all(|byte| byte.is_ascii_alphanumeric()));
        assert_ne!(first, second);
    }
}
