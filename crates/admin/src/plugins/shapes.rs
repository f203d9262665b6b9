//! How lists of plugins and their errors look to clients.

use serde_json::{Map, Value, json};

use super::installed::Installed;

/// The shop itself counts as a plugin that is always there: clients look for it by this name.
pub(crate) const SHOP: &str = "woocommerce";

/// The names of the plugins, and that of the shop first.
pub(crate) fn with_shop(plugins: &[Installed]) -> Vec<String> {
    let slugs = plugins.iter().map(|plugin| plugin.row.slug.clone());
    std::iter::once(SHOP.to_owned()).chain(slugs).collect()
}

/// Errors by plugin, as clients know them.
pub(super) fn error_bag(errors: &[(String, String)]) -> Value {
    let mut by_slug = Map::new();
    for (slug, message) in errors {
        by_slug.insert(slug.clone(), json!([message]));
    }
    let by_slug = if by_slug.is_empty() { json!([]) } else { Value::Object(by_slug) };
    json!({ "errors": by_slug, "error_data": [] })
}

/// An object that clients expect as a list while it is empty.
pub(super) fn map_or_list(members: Map<String, Value>) -> Value {
    if members.is_empty() { json!([]) } else { Value::Object(members) }
}
