//! Reading the fields of a request about a product.

use contract::rest::loose;
use frame::Call;
use serde_json::Value;

/// Ids of products that a product may name in one list.
pub(super) const IDS_MAX: usize = 1_000;

/// Reading a request's fields; a null counts as not given.
pub(super) struct RequestFields<'a, 'c> {
    pub(super) call: &'a mut Call<'c>,
}

impl RequestFields<'_, '_> {
    pub(super) fn text(&self, name: &str) -> Option<String> {
        let value = self.call.params.get(name)?;
        loose::scalar_text(value).map(std::borrow::Cow::into_owned)
    }

    pub(super) fn flag(&self, name: &str) -> Option<bool> {
        self.call.params.get(name).map(loose::to_bool)
    }

    pub(super) fn list(&self, name: &str) -> Option<Vec<Value>> {
        match self.call.params.get(name)? {
            Value::Array(items) => Some(items.clone()),
            Value::Object(members) => Some(members.values().cloned().collect()),
            _ => None,
        }
    }

    pub(super) fn ids(&self, name: &str) -> Option<Vec<i64>> {
        self.call.params.get(name)?;
        let mut ids = self.call.params.ints(name);
        ids.retain(|id| *id > 0);
        ids.truncate(IDS_MAX);
        Some(ids)
    }
}
