//! What operations answer, where that is more than their published schemas say or does not follow
//! from their method. It is declared beside the operation, and told by the `OpenAPI` document only:
//! **clients compare the published schemas, so those stay as they are known.**

use serde_json::Value;

use super::Schema;
use super::document::Document;
use super::schema::{OR_NULL, SHOWN};

/// What follows a schema's published keywords.
impl Schema {
    /// Answers may have null here, although the published interface does not say so.
    pub fn or_null(self) -> Self {
        self.keyword(OR_NULL, true)
    }

    /// Answers have this here, although the published interface says something else.
    pub fn shown_as(self, answer: Self) -> Self {
        self.keyword(SHOWN, answer)
    }
}

/// The document of an item without what only `OpenAPI` tells.
pub(super) fn published(document: &Value) -> Value {
    match document {
        Value::Object(members) => {
            let told = members.iter().filter(|(name, _)| *name != OR_NULL && *name != SHOWN);
            Value::Object(told.map(|(name, member)| (name.clone(), published(member))).collect())
        }
        Value::Array(items) => items.iter().map(published).collect(),
        other => other.clone(),
    }
}

/// The body of a successful answer.
#[derive(Clone, Debug, Default)]
pub(super) enum Shape {
    /// A list, where the operation takes `per_page`; else an item.
    #[default]
    Usual,
    /// An item, although there are pages.
    Item,
    List,
    /// An object with an item for each name.
    Map,
    /// The item as it was, or the word that it is gone with what it was.
    Deletion,
    /// The results of a batch over items of this document.
    Batch(Document),
    /// This, which is no item of the route.
    Like(Document),
    /// An item of this document, where the route has no items of its own.
    One(Document),
    /// A list of such items.
    Several(Document),
    /// A file of this media type, which is no JSON.
    File(&'static str),
}

/// What an operation answers.
#[derive(Clone, Debug, Default)]
pub(super) struct Answers {
    /// Statuses of success; without any it is 200.
    pub(super) statuses: Vec<u16>,
    pub(super) shape: Shape,
    /// Media types of texts that come in the place of JSON where a request asks for them.
    pub(super) texts: Vec<&'static str>,
    /// There is no success at all.
    pub(super) only_refuses: bool,
    /// Statuses of refusals that other operations do not know.
    pub(super) refusals: Vec<u16>,
    /// The body of refusals that are no error object.
    pub(super) refusal: Option<Document>,
}
