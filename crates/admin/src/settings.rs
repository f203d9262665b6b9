//! The operator's settings for administration: where plugins and themes come from.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Sources of plugins, themes and marketplace products.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// Folder with packages (`*.zip`) offered in addition to the bundled ones.
    pub catalogue_folder: Option<PathBuf>,
    /// URL of a package list offered in addition to the bundled packages.
    pub catalogue_url: Option<String>,
    /// Public keys (Ed25519, base64). If set, packages that are not bundled must be signed with one
    /// of them.
    pub trusted_keys: Vec<String>,
    /// URL of a marketplace, such as `https://market.example`. Default: the bundled one.
    pub marketplace_url: Option<String>,
    /// Names of the experiments that run on this installation: half of all users are on either
    /// side of each. Clients are told of no side for other names.
    pub experiments: Vec<String>,
}
