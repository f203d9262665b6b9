//! What the marketplace replies, be it the bundled one or another.

use serde_json::Value;

/// A status, and JSON.
#[derive(Clone, Debug)]
pub(crate) struct MarketReply {
    pub(crate) status: u16,
    pub(crate) body: Value,
}

impl MarketReply {
    pub(crate) fn is_fine(&self) -> bool {
        (200..300).contains(&self.status)
    }

    /// The marketplace's message, or a default.
    pub(crate) fn message(&self) -> String {
        let message = self.body.get("message").and_then(Value::as_str);
        message.unwrap_or("The marketplace rejected the request.").to_owned()
    }
}
