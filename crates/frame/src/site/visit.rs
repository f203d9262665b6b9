//! What is known about a request once its sender is: identity, time, addresses, options.

use std::sync::Arc;

use types::Timestamp;

use crate::password::Hashes;
use crate::request::Client;
use crate::{Identity, Options};

/// The circumstances of a request; the same for everything that it sets off.
#[derive(Clone, Debug)]
pub struct Visit {
    pub identity: Identity,
    pub now: Timestamp,
    /// Address of the site without a slash at its end.
    pub home: String,
    /// Address of the REST interface without a slash at its end.
    pub rest_url: String,
    pub secure: bool,
    pub client: Client,
    /// Path and query of the request as it was sent; empty for one from within.
    pub requested: String,
    /// Names in lower case.
    pub headers: Arc<Vec<(String, String)>>,
    /// The body as it was sent, of a request that brings a signature of it.
    pub signed_body: Option<Arc<[u8]>>,
    pub options: Arc<Options>,
    /// Whether application passwords may be used and made over this connection.
    pub application_passwords: bool,
    /// Hashes of the passwords that the request sets.
    pub hashes: Hashes,
    /// Whether what is made has a past elsewhere: its number and its dates are kept, and nobody is
    /// told of it as of something new.
    pub is_import: bool,
}

impl Visit {
    /// The address of a REST path, such as `/wp/v2/posts`.
    pub fn rest(&self, path: &str) -> String {
        format!("{}{path}", self.rest_url)
    }

    /// The address of a page, such as `/hello-world/`.
    pub fn page(&self, path: &str) -> String {
        format!("{}{path}", self.home)
    }

    /// The same visit to a site of another address.
    pub(crate) fn called(&self, home: &str) -> Self {
        let root = self.rest_url.strip_prefix(&*self.home).unwrap_or_default();
        Self { home: home.to_owned(), rest_url: format!("{home}{root}"), ..self.clone() }
    }

    /// The REST path, with its query string, of an address of this interface.
    pub fn local_path<'a>(&self, href: &'a str) -> Option<&'a str> {
        href.strip_prefix(&*self.rest_url).filter(|path| path.starts_with('/'))
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(other, _)| other == name).map(|(_, value)| value.as_str())
    }
}
