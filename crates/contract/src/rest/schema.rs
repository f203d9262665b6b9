//! What a parameter or a field looks like, in the dialect's flavour of JSON Schema draft 4.
//!
//! A [`Schema`] is the published document itself, with its keywords in the order in which they were
//! given. [`Schema::compile`] turns it into a [`Node`], which the walker in [`super::check`] reads.
//! **The published schema is the enforced schema.**

use serde_json::{Map, Value};

use super::node::Node;

/// The keywords that the published description of a parameter may have. `required` comes on top.
const PUBLISHED_KEYWORDS: &[&str] = &[
    "title",
    "description",
    "default",
    "type",
    "format",
    "enum",
    "items",
    "properties",
    "additionalProperties",
    "patternProperties",
    "minProperties",
    "maxProperties",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minLength",
    "maxLength",
    "pattern",
    "minItems",
    "maxItems",
    "uniqueItems",
    "anyOf",
    "oneOf",
];

/// The keyword that tells what only this product has: `true` for all of it, or a list of choices.
/// It is published nowhere.
const OURS: &str = "ours";

/// A schema in the making, and its document.
#[must_use]
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Schema {
    document: Map<String, Value>,
}

/// Where a schema starts.
impl Schema {
    /// Anything: no type at all.
    pub fn any() -> Self {
        Self { document: Map::new() }
    }

    /// Exactly this document.
    pub fn from_document(document: Map<String, Value>) -> Self {
        Self { document }
    }

    pub fn typed(name: &str) -> Self {
        Self::any().keyword("type", name)
    }

    /// Any of these types; the first that accepts a value decides what becomes of it.
    pub fn types(names: &[&str]) -> Self {
        Self::any().keyword("type", names)
    }

    pub fn text() -> Self {
        Self::typed("string")
    }

    pub fn integer() -> Self {
        Self::typed("integer")
    }

    pub fn number() -> Self {
        Self::typed("number")
    }

    pub fn boolean() -> Self {
        Self::typed("boolean")
    }

    pub fn date_time() -> Self {
        Self::text().format("date-time")
    }

    pub fn list(items: Self) -> Self {
        Self::typed("array").keyword("items", items)
    }

    /// An object with these properties, and others unless [`Schema::no_additional`] says so.
    pub fn object<N: Into<String>>(properties: impl IntoIterator<Item = (N, Self)>) -> Self {
        Self::typed("object").properties(properties)
    }

    /// An object of which nothing is said.
    pub fn map() -> Self {
        Self::typed("object")
    }

    pub fn one_of(schemas: impl IntoIterator<Item = Self>) -> Self {
        Self::any().alternatives("oneOf", schemas)
    }

    pub fn any_of(schemas: impl IntoIterator<Item = Self>) -> Self {
        Self::any().alternatives("anyOf", schemas)
    }
}

/// What is added to a schema. A keyword that is given again is replaced in its place.
impl Schema {
    /// Any keyword, for what has no method of its own.
    pub fn keyword(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.document.insert(name.to_owned(), value.into());
        self
    }

    pub fn without(mut self, keyword: &str) -> Self {
        self.document.shift_remove(keyword);
        self
    }

    pub fn title(self, title: &str) -> Self {
        self.keyword("title", title)
    }

    pub fn about(self, description: &str) -> Self {
        self.keyword("description", description)
    }

    pub fn default(self, value: impl Into<Value>) -> Self {
        self.keyword("default", value)
    }

    pub fn choices(self, choices: &[&str]) -> Self {
        self.keyword("enum", choices)
    }

    /// Choices that only this product has, after those that clients know. The index of a published
    /// interface does not tell of them; descriptions of our own do.
    pub fn own_choices(self, choices: &[&str]) -> Self {
        let mut all = match self.get("enum") {
            Some(Value::Array(known)) => known.clone(),
            _ => Vec::new(),
        };
        all.extend(choices.iter().map(|choice| Value::from(*choice)));
        self.keyword("enum", all).keyword(OURS, choices)
    }

    /// The whole parameter is one that only this product has.
    pub fn ours(self) -> Self {
        self.keyword(OURS, true)
    }

    pub fn format(self, name: &str) -> Self {
        self.keyword("format", name)
    }

    pub fn min(self, minimum: impl Into<Value>) -> Self {
        self.keyword("minimum", minimum)
    }

    pub fn max(self, maximum: impl Into<Value>) -> Self {
        self.keyword("maximum", maximum)
    }

    /// The minimum itself is too small.
    pub fn exclusive_min(self) -> Self {
        self.keyword("exclusiveMinimum", true)
    }

    /// The maximum itself is too large.
    pub fn exclusive_max(self) -> Self {
        self.keyword("exclusiveMaximum", true)
    }

    pub fn multiple_of(self, factor: impl Into<Value>) -> Self {
        self.keyword("multipleOf", factor)
    }

    pub fn min_length(self, length: u64) -> Self {
        self.keyword("minLength", length)
    }

    pub fn max_length(self, length: u64) -> Self {
        self.keyword("maxLength", length)
    }

    pub fn pattern(self, pattern: &str) -> Self {
        self.keyword("pattern", pattern)
    }

    pub fn min_items(self, count: u64) -> Self {
        self.keyword("minItems", count)
    }

    pub fn max_items(self, count: u64) -> Self {
        self.keyword("maxItems", count)
    }

    pub fn unique_items(self) -> Self {
        self.keyword("uniqueItems", true)
    }

    pub fn properties<N: Into<String>>(
        self,
        properties: impl IntoIterator<Item = (N, Self)>,
    ) -> Self {
        let named = properties.into_iter().map(|(name, schema)| (name.into(), schema.into()));
        self.keyword("properties", Value::Object(named.collect()))
    }

    /// Properties whose names match a pattern.
    pub fn pattern_properties<N: Into<String>>(
        self,
        properties: impl IntoIterator<Item = (N, Self)>,
    ) -> Self {
        let named = properties.into_iter().map(|(name, schema)| (name.into(), schema.into()));
        self.keyword("patternProperties", Value::Object(named.collect()))
    }

    /// Only the properties that are named.
    pub fn no_additional(self) -> Self {
        self.keyword("additionalProperties", false)
    }

    /// Other properties are welcome as they are; says so in the document.
    pub fn any_additional(self) -> Self {
        self.keyword("additionalProperties", true)
    }

    /// Other properties look like this.
    pub fn additional(self, schema: Self) -> Self {
        self.keyword("additionalProperties", schema)
    }

    pub fn min_properties(self, count: u64) -> Self {
        self.keyword("minProperties", count)
    }

    pub fn max_properties(self, count: u64) -> Self {
        self.keyword("maxProperties", count)
    }

    /// The value must be given.
    pub fn required(self) -> Self {
        self.keyword("required", true)
    }

    /// In which views of an item the field is shown.
    pub fn context(self, contexts: &[&str]) -> Self {
        self.keyword("context", contexts)
    }

    /// The field is shown and never taken.
    pub fn readonly(self) -> Self {
        self.keyword("readonly", true)
    }

    fn alternatives(self, keyword: &str, schemas: impl IntoIterator<Item = Self>) -> Self {
        self.keyword(keyword, schemas.into_iter().collect::<Vec<_>>())
    }
}

/// What a schema gives.
impl Schema {
    /// Every keyword as it was given.
    pub fn document(&self) -> &Map<String, Value> {
        &self.document
    }

    pub fn get(&self, keyword: &str) -> Option<&Value> {
        self.document.get(keyword)
    }

    pub fn is_required(&self) -> bool {
        self.get("required") == Some(&Value::Bool(true))
    }

    pub fn is_readonly(&self) -> bool {
        self.get("readonly") == Some(&Value::Bool(true))
    }

    /// Whether the parameter is one that only this product has.
    pub fn is_ours(&self) -> bool {
        self.get(OURS) == Some(&Value::Bool(true))
    }

    /// Whether only this product has the parameter, or some of its choices.
    pub(super) fn has_ours(&self) -> bool {
        has_ours(&self.document)
    }

    /// What the index publishes of a parameter: without what only this product has.
    pub fn published(&self) -> Value {
        if self.has_ours() {
            Self { document: without_ours(&self.document) }.described()
        } else {
            self.described()
        }
    }

    /// All that there is to say about a parameter.
    pub fn described(&self) -> Value {
        let is_published = |name: &str| PUBLISHED_KEYWORDS.contains(&name);
        let mut published: Map<String, Value> = self
            .document
            .iter()
            .filter(|(name, _)| is_published(name))
            .map(|(name, value)| (name.clone(), empty_maps_as_lists(name, value, IN_REQUESTS)))
            .collect();
        published.insert(String::from("required"), self.is_required().into());
        Value::Object(published)
    }

    /// What the description of an item says of a field: all of it.
    pub fn item(&self) -> Value {
        let keywords = self.document.iter();
        let told = keywords
            .map(|(name, value)| (name.clone(), empty_maps_as_lists(name, value, IN_ITEMS)));
        Value::Object(told.collect())
    }

    /// The tree that the walker reads. The error says where the schema is wrong.
    pub fn compile(&self) -> Result<Node, String> {
        Node::compile(&self.document)
    }
}

impl From<Schema> for Value {
    fn from(schema: Schema) -> Self {
        Value::Object(schema.document)
    }
}

fn has_ours(document: &Map<String, Value>) -> bool {
    let items = document.get("items").and_then(Value::as_object);
    document.contains_key(OURS) || items.is_some_and(has_ours)
}

/// The keywords without choices that only this product has, also of the items of a list.
fn without_ours(document: &Map<String, Value>) -> Map<String, Value> {
    let mut document = document.clone();
    if let Some(Value::Array(own)) = document.shift_remove(OURS)
        && let Some(Value::Array(choices)) = document.get_mut("enum")
    {
        choices.retain(|choice| !own.contains(choice));
    }
    if let Some(Value::Object(items)) = document.get_mut("items") {
        *items = without_ours(items);
    }
    document
}

/// The keyword of a schema that answers may also be null.
pub(in crate::rest) const OR_NULL: &str = "x-or-null";
/// The keyword that holds the schema of answers, where that is another than the published one.
pub(in crate::rest) const SHOWN: &str = "x-shown";

/// Keywords within a parameter that are told nowhere.
const IN_REQUESTS: &[&str] = &[OURS, OR_NULL, SHOWN];
/// The same within an item, whose route leaves out what only `OpenAPI` tells.
const IN_ITEMS: &[&str] = &[OURS];

/// Clients know `properties` without a property as an empty list, at every depth.
fn empty_maps_as_lists(keyword: &str, value: &Value, untold: &[&str]) -> Value {
    let of_schema = |schema: &Value| of_schema(schema, untold);
    match (keyword, value) {
        ("default" | "enum", value) => value.clone(),
        ("properties" | "patternProperties", Value::Object(members)) if members.is_empty() => {
            Value::Array(Vec::new())
        }
        ("properties" | "patternProperties", Value::Object(members)) => {
            let inner = members.iter().map(|(name, member)| (name.clone(), of_schema(member)));
            Value::Object(inner.collect())
        }
        ("oneOf" | "anyOf", Value::Array(schemas)) => schemas.iter().map(of_schema).collect(),
        (_, value) => of_schema(value),
    }
}

fn of_schema(schema: &Value, untold: &[&str]) -> Value {
    let Value::Object(keywords) = schema else { return schema.clone() };
    let told = keywords.iter().filter(|(name, _)| !untold.contains(&name.as_str()));
    let inner = told.map(|(name, value)| (name.clone(), empty_maps_as_lists(name, value, untold)));
    Value::Object(inner.collect())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn publishes_parameters_as_the_index_does() {
        let headers = Schema::object::<&str>([])
            .additional(Schema::types(&["string", "array"]).keyword("items", Schema::text()));
        let requests = Schema::list(Schema::object([
            ("method", Schema::text().choices(&["POST", "PUT"]).default("POST")),
            ("path", Schema::text().required()),
            ("body", Schema::object::<&str>([]).any_additional()),
            ("headers", headers),
        ]))
        .max_items(25)
        .context(&["edit"])
        .readonly()
        .required();
        let expected = json!({
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "method": {"type": "string", "enum": ["POST", "PUT"], "default": "POST"},
                    "path": {"type": "string", "required": true},
                    "body": {"type": "object", "properties": [], "additionalProperties": true},
                    "headers": {
                        "type": "object",
                        "properties": [],
                        "additionalProperties": {"type": ["string", "array"], "items": {"type": "string"}}
                    }
                }
            },
            "maxItems": 25,
            "required": true
        });
        assert_eq!(requests.published(), expected);
        let Value::Object(document) = expected else { panic!("an object") };
        assert!(Schema::from_document(document).compile().is_ok(), "the published form compiles");
        assert_eq!(
            Schema::any().default("view").published(),
            json!({"default": "view", "required": false})
        );
    }

    #[test]
    fn tells_of_what_is_ours_in_descriptions_only() {
        let choice = Schema::text().choices(&["one"]).own_choices(&["two"]);
        let known = json!({"type": "string", "enum": ["one"], "required": false});
        let all = json!({"type": "string", "enum": ["one", "two"], "required": false});
        assert_eq!((choice.published(), choice.described()), (known, all));
        let list = Schema::list(choice);
        assert_eq!(list.published()["items"], json!({"type": "string", "enum": ["one"]}));
        assert_eq!(list.described()["items"], json!({"type": "string", "enum": ["one", "two"]}));
        assert!(Schema::boolean().ours().is_ours() && !list.is_ours());
    }

    #[test]
    fn keeps_the_order_of_keywords() {
        let schema = Schema::integer().about("A page").default(1).min(1).default(2);
        let text = Value::from(schema).to_string();
        assert_eq!(text, r#"{"type":"integer","description":"A page","default":2,"minimum":1}"#);
    }
}
