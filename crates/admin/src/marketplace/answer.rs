//! What the marketplace answers, be it the bundled one or another.

use serde_json::Value;

/// A status, and JSON.
#[derive(Clone, Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) body: Value,
}

impl Answer {
    pub(crate) fn is_fine(&self) -> bool {
        (200..300).contains(&self.status)
    }

    /// The marketplace's own words, or ours.
    pub(crate) fn message(&self) -> String {
        let told = self.body.get("message").and_then(Value::as_str);
        told.unwrap_or("The marketplace refused this.").to_owned()
    }
}
