//! What an operator may choose about the site.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Names;

/// The site: its address, its names, and how it treats browsers of other sites.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// Address of the site, such as `https://shop.example`, for links. Empty: as each request names
    /// it.
    pub url: Option<String>,
    /// Answer JSONP (`_jsonp=`) to anonymous readers.
    pub jsonp: bool,
    /// Origins whose pages may read answers with the reader's own session, besides the site itself.
    /// `*` allows every origin, as the reference product does.
    pub credential_origins: Vec<String>,
    /// Path of the REST interface and names of its namespaces.
    pub names: Names,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            url: None,
            jsonp: true,
            credential_origins: vec![String::from("*")],
            names: Names::default(),
        }
    }
}
