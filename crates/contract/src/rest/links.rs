//! Hypermedia links of an item: relations with their targets, in the compact spelling of clients.

use serde_json::{Map, Value, json};

/// The relations of the interface's own vocabulary are spelt `wp:name`.
const CURIE_PREFIX: &str = "wp:";
const CURIE_NAME: &str = "wp";
const CURIE_HREF: &str = "https://api.w.org/{rel}";

/// Relations in the order in which they were added.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Links {
    relations: Map<String, Value>,
}

impl Links {
    pub fn new() -> Self {
        Self::default()
    }

    #[must_use]
    pub fn to(self, relation: &str, href: impl Into<String>) -> Self {
        self.add(relation, json!({ "href": href.into() }))
    }

    /// A target that `_embed` may fetch.
    #[must_use]
    pub fn embeddable(self, relation: &str, href: impl Into<String>) -> Self {
        self.add(relation, json!({ "embeddable": true, "href": href.into() }))
    }

    /// A target with attributes of its own; `href` is one of them.
    #[must_use]
    pub fn add(mut self, relation: &str, target: Value) -> Self {
        match self.relations.get_mut(relation) {
            Some(Value::Array(targets)) => targets.push(target),
            _ => {
                self.relations.insert(relation.to_owned(), json!([target]));
            }
        }
        self
    }

    /// Says at the targets of a relation what the caller may do there.
    #[must_use]
    pub fn hint(mut self, relation: &str, allow: &[&str]) -> Self {
        let targets = self.relations.get_mut(relation).and_then(Value::as_array_mut);
        for target in targets.into_iter().flatten().filter_map(Value::as_object_mut) {
            target.insert(String::from("targetHints"), json!({ "allow": allow }));
        }
        self
    }

    pub fn is_empty(&self) -> bool {
        self.relations.is_empty()
    }

    /// The `_links` object, or nothing if there are none.
    pub fn into_value(mut self) -> Option<Value> {
        if self.relations.is_empty() {
            return None;
        }
        if self.relations.keys().any(|relation| relation.starts_with(CURIE_PREFIX)) {
            let curie = json!({ "name": CURIE_NAME, "href": CURIE_HREF, "templated": true });
            self.relations.insert(String::from("curies"), json!([curie]));
        }
        Some(Value::Object(self.relations))
    }
}
