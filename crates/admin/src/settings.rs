//! What an operator may choose about administration: where plugins and themes come from.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Where plugins, themes and what the marketplace sells come from.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// A folder with packages (`*.zip`) that are offered besides the bundled ones.
    pub catalogue_folder: Option<PathBuf>,
    /// Address of a list of packages that are offered besides the bundled ones.
    pub catalogue_url: Option<String>,
    /// Public keys (Ed25519, base64). With any, packages that are not bundled must be signed by one
    /// of them.
    pub trusted_keys: Vec<String>,
    /// Address of a marketplace, such as `https://market.example`. Empty: the bundled one.
    pub marketplace_url: Option<String>,
}
