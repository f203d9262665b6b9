//! An operation that is to be carried out: its route was found and its parameters were checked.

use std::sync::Arc;

use contract::rest::{Params, Refusal, Sources, Verb, form};
use serde_json::{Map, Value};

use crate::Site;
use crate::media::Upload;
use crate::request::tidy_path;

/// A request whose parameters have been looked at.
#[derive(Clone, Debug)]
pub struct Invocation {
    pub verb: Verb,
    pub head_only: bool,
    /// The REST path; a route is there.
    pub path: String,
    pub params: Params,
    /// What is wrong with the parameters, if anything is.
    pub refused: Option<Refusal>,
    pub embed: Option<Embed>,
    /// The body, if it was written to disk as it came.
    pub upload: Option<Arc<Upload>>,
}

impl Invocation {
    /// A request from within: its path may carry a query string.
    pub fn internal(
        site: &Site,
        verb: Verb,
        path: &str,
        form: Map<String, Value>,
    ) -> Result<Self, Refusal> {
        Self::from_within(site, verb, path, Sources { form, ..Sources::default() })
    }

    /// The same with a JSON body.
    pub fn with_json(
        site: &Site,
        verb: Verb,
        path: &str,
        json: Option<Value>,
    ) -> Result<Self, Refusal> {
        Self::from_within(site, verb, path, Sources { json, ..Sources::default() })
    }

    fn from_within(site: &Site, verb: Verb, path: &str, sources: Sources) -> Result<Self, Refusal> {
        let (path, query) = path.split_once('?').unwrap_or((path, ""));
        let path = tidy_path(path);
        let query = form::decode(query);
        let Some(found) = site.table().find(verb, &path) else { return Err(no_route()) };
        let sources = Sources { query, path: found.variables, ..sources };
        let (params, refused) = site.accept((verb, &path), &found.endpoint.args, sources);
        Ok(Self { verb, head_only: false, path, params, refused, embed: None, upload: None })
    }
}

pub(crate) fn no_route() -> Refusal {
    Refusal::new(404, "rest_no_route", "No route matches this path and method.")
}

/// Which relations to embed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Embed {
    All,
    Only(Vec<String>),
}

impl Embed {
    /// Reads the query parameter.
    pub fn read(value: Option<&Value>) -> Option<Self> {
        let texts: Vec<&str> = match value? {
            Value::String(text) => match text.as_str() {
                "" | "1" | "true" => return Some(Self::All),
                text => text.split([',', ' ', '\t', '\n']).collect(),
            },
            Value::Array(items) => items.iter().filter_map(Value::as_str).collect(),
            _ => return None,
        };
        let names = texts.into_iter().filter(|name| !name.is_empty()).map(str::to_owned);
        Some(Self::Only(names.collect()))
    }

    pub(crate) fn wants(&self, relation: &str) -> bool {
        match self {
            Self::All => true,
            Self::Only(names) => names.iter().any(|name| name == relation),
        }
    }
}
