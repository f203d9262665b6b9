//! What an operation gives back, and why it may give up instead.

use std::fmt;
use std::sync::Arc;

use serde_json::{Map, Value};
use types::Error;

use super::{Links, Refusal};

/// An answer before it is put on the wire.
#[derive(Clone, Debug)]
pub struct Reply {
    pub status: u16,
    pub body: Body,
    pub headers: Vec<(&'static str, String)>,
    /// Links of a single item. A list carries them in its items' bodies, where `_fields` sees them.
    pub links: Links,
    /// What an envelope tells beside the body.
    pub beside: Map<String, Value>,
    /// Whether the body lacks what only GET returns, so that nobody knows its length.
    pub is_shortened: bool,
}

#[derive(Clone, Debug)]
pub enum Body {
    Json(Value),
    /// A document that was serialised before anybody asked.
    Prepared(Arc<Prepared>),
    /// JSON that was serialised for an earlier request.
    Written(Arc<Vec<u8>>),
    /// Another media type, such as XML.
    Text {
        media_type: &'static str,
        text: String,
    },
    /// A file, such as an archive.
    File {
        media_type: &'static str,
        bytes: Vec<u8>,
    },
    Nothing,
}

/// A document in the forms in which it is sent.
pub struct Prepared {
    pub plain: Vec<u8>,
    pub gzip: Vec<u8>,
    /// Quoted, as it stands in the header.
    pub etag: String,
}

impl fmt::Debug for Prepared {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Prepared({} bytes, {})", self.plain.len(), self.etag)
    }
}

impl Reply {
    pub fn new(body: impl Into<Value>) -> Self {
        Self::of(200, Body::Json(body.into()))
    }

    pub fn created(body: impl Into<Value>, location: String) -> Self {
        Self::of(201, Body::Json(body.into())).header("location", location)
    }

    pub fn of(status: u16, body: Body) -> Self {
        let (headers, links, beside) = (Vec::new(), Links::default(), Map::new());
        Self { status, body, headers, links, beside, is_shortened: false }
    }

    #[must_use]
    pub fn header(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }

    /// Tells something beside the body, to those who ask for an envelope.
    #[must_use]
    pub fn beside(mut self, name: &str, value: Value) -> Self {
        self.beside.insert(name.to_owned(), value);
        self
    }

    #[must_use]
    pub fn links(mut self, links: Links) -> Self {
        self.links = links;
        self
    }

    /// The answer as JSON, with its links where clients look for them.
    pub fn into_json(self) -> (u16, Vec<(&'static str, String)>, Value) {
        let mut body = match self.body {
            Body::Json(value) => value,
            Body::Prepared(document) => {
                serde_json::from_slice(&document.plain).unwrap_or(Value::Null)
            }
            Body::Written(text) => serde_json::from_slice(&text).unwrap_or(Value::Null),
            Body::Text { text, .. } => Value::String(text),
            Body::File { .. } | Body::Nothing => Value::Null,
        };
        if let (Value::Object(members), Some(links)) = (&mut body, self.links.into_value()) {
            members.insert(String::from("_links"), links);
        }
        (self.status, self.headers, body)
    }
}

impl From<&Refusal> for Reply {
    fn from(refusal: &Refusal) -> Self {
        Self::of(refusal.status, Body::Json(refusal.body()))
    }
}

/// Why an operation ends early.
#[derive(Debug)]
pub enum Stop {
    /// The caller's affair: said in the answer.
    Refused(Box<Refusal>),
    /// Ours: storage failed, or must run the transaction again.
    Failed(Error),
}

impl From<Refusal> for Stop {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(Box::new(refusal))
    }
}

impl From<Error> for Stop {
    fn from(error: Error) -> Self {
        Self::Failed(error)
    }
}
