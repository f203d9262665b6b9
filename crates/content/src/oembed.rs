//! oEmbed: how a page says what it looks like inside another page.
//!
//! [`local`] describes the pages of this site. [`mod@proxy`] asks others for an editor: a
//! provider of the trusted list ([`providers`]) or the endpoint that the page itself names
//! ([`discover`]); [`markup`] makes the answer safe to show. [`xml`] is the other format.
//!
//! Everything here is plain computing but [`proxy::proxy`], which is handed its way to the network.

pub mod details;
pub mod discover;
mod endpoint;
mod html;
pub mod local;
pub mod markup;
mod media;
pub mod providers;
pub mod proxy;
pub mod xml;

pub use endpoint::{Endpoint, Format};
pub(crate) use html::decoded;
pub use local::{Author, LocalPage, SizeMax, Thumbnail, describe, describe_link};
pub use proxy::{ProxyError, ProxyRequest, proxy};

use types::{Error, Result};

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_differ() {
        let (first, second) = (new_secret().unwrap(), new_secret().unwrap());
        assert_eq!(first.len(), SECRET_CHARS);
        assert!(first.bytes().all(|byte| byte.is_ascii_alphanumeric()));
        assert_ne!(first, second);
    }
}
