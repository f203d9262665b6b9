//! A published description, kept as text: a server has thousands, is asked for few, and would need
//! ten times the memory for them as trees.

use serde_json::Value;

/// The text of a JSON document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Document(Box<str>);

impl Document {
    pub(super) fn new(value: &Value) -> Self {
        Self(value.to_string().into_boxed_str())
    }

    pub(super) fn value(&self) -> Value {
        serde_json::from_str(&self.0).expect("a document is kept as it was written")
    }
}
