//! A request as the server hands it over, before anything about it is believed.

use std::net::IpAddr;
use std::sync::Arc;

use contract::rest::form;
use serde_json::{Map, Value};

use crate::media::Upload;

/// One HTTP request for the REST interface.
#[derive(Clone, Debug)]
pub struct Request {
    /// As sent; an override may change it.
    pub method: String,
    /// The REST path: what follows the root, decoded, such as `/wp/v2/posts`.
    pub path: String,
    /// The URL's own path, still encoded, for signatures.
    pub url_path: String,
    /// The query string as sent.
    pub query_text: String,
    pub query: Map<String, Value>,
    /// Names in lower case.
    pub headers: Arc<Vec<(String, String)>>,
    pub body: Vec<u8>,
    /// The body, if it was written to disk as it came.
    pub upload: Option<Arc<Upload>>,
    /// Came over TLS, here or at a trusted proxy.
    pub secure: bool,
    /// Came over TLS to this server.
    pub encrypted_here: bool,
    /// As the request names the site.
    pub host: String,
    pub client: Client,
}

/// Where a request comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Client {
    pub address: IpAddr,
    /// Guesses of this client are counted; the operator's own machine is exempt.
    pub throttled: bool,
    /// The operator's own machine, and nobody behind it.
    pub local: bool,
}

/// A path with one slash before and none after.
pub(crate) fn tidy_path(path: &str) -> String {
    format!("/{}", path.trim_matches('/'))
}

impl Request {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(other, _)| other == name).map(|(_, value)| value.as_str())
    }

    /// A parameter of the query string, if it is a text.
    pub fn query_parameter(&self, name: &str) -> Option<&str> {
        self.query.get(name).and_then(Value::as_str)
    }

    /// Whether the body is declared as JSON.
    pub fn is_json(&self) -> bool {
        let media_type = self.header("content-type").unwrap_or_default();
        let media_type = media_type.split(';').next().unwrap_or_default().trim();
        let media_type = media_type.to_ascii_lowercase();
        let Some(kind) = media_type.strip_prefix("application/") else { return false };
        kind == "json" || kind == "json+oembed" || (kind.len() > 5 && kind.ends_with("+json"))
    }

    /// Reads the query string into [`Request::query`].
    pub fn decode_query(query_text: &str) -> Map<String, Value> {
        form::decode(query_text)
    }
}
