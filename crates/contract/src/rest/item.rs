//! One schema of an item, from which follow the parameters that create and update it, the views in
//! which its fields are shown, and its published description.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::Schema;
use super::args::{Args, Treatment};
use super::check::{Path, is_list, types_or};
use super::check::{find_any, find_one};
use super::node::{Additional, Node, Type, Types};

/// An item of the interface: a title and an object schema.
#[derive(Clone, Debug)]
pub struct Item {
    title: String,
    schema: Schema,
}

impl Item {
    pub fn new(title: &str, schema: Schema) -> Self {
        Self { title: title.to_owned(), schema }
    }

    pub fn title(&self) -> &str {
        &self.title
    }

    pub fn schema(&self) -> &Schema {
        &self.schema
    }

    fn properties(&self) -> impl Iterator<Item = (&String, &Map<String, Value>)> {
        let properties = self.schema.get("properties").and_then(Value::as_object);
        let properties = properties.into_iter().flatten();
        properties.filter_map(|(name, property)| property.as_object().map(|p| (name, p)))
    }

    /// The fields that are taken when an item is created, with defaults and what is required.
    pub fn create_args(&self) -> Args {
        self.args(&["context"])
    }

    /// The fields that are taken when an item is changed. **No default may overwrite anything.**
    pub fn update_args(&self) -> Args {
        self.args(&["context", "default", "required"])
    }

    fn args(&self, dropped: &[&str]) -> Args {
        let mut args = Args::new();
        for (name, property) in self.properties() {
            let mut schema = Schema::from_document(property.clone());
            if schema.is_readonly() {
                continue;
            }
            for keyword in dropped {
                schema = schema.without(keyword);
            }
            args = args.treated(name, schema, Treatment::Convert);
        }
        args
    }

    /// All views that the fields name, the last of the alphabet first.
    pub fn contexts(&self) -> Vec<&str> {
        let lists = self.properties().filter_map(|(_, property)| property.get("context"));
        let names = lists.filter_map(Value::as_array).flatten().filter_map(Value::as_str);
        names.collect::<BTreeSet<&str>>().into_iter().rev().collect()
    }

    /// The parameter that chooses the view.
    pub fn context_arg(&self) -> Schema {
        self.context_arg_without_default().default("view")
    }

    /// The parameter that chooses the view, where a view need not be chosen.
    pub fn context_arg_without_default(&self) -> Schema {
        let about = "Scope of the request; determines the fields in the response.";
        let schema = Schema::text().about(about);
        let contexts = self.contexts();
        if contexts.is_empty() { schema } else { schema.choices(&contexts) }
    }

    /// The published description.
    pub fn document(&self) -> Value {
        let mut document = Map::new();
        document.insert(String::from("$schema"), json!("http://json-schema.org/draft-04/schema#"));
        document.insert(String::from("title"), json!(self.title));
        if let Value::Object(schema) = self.schema.item() {
            document.extend(schema);
        }
        Value::Object(document)
    }

    /// Prepares the filter by view.
    pub fn compile(&self) -> Result<CompiledItem, String> {
        let node = self.schema.compile().map_err(|problem| format!("{}: {problem}", self.title))?;
        Ok(CompiledItem { node })
    }
}

/// An item schema that is ready to filter answers.
#[derive(Clone, Debug)]
pub struct CompiledItem {
    node: Node,
}

impl CompiledItem {
    /// Removes what is not shown in a view. Fields that the schema does not name stay.
    #[must_use]
    pub fn filter_by_context(&self, value: Value, context: &str) -> Value {
        filter(&self.node, value, context)
    }

    pub fn node(&self) -> &Node {
        &self.node
    }
}

fn filter(node: &Node, value: Value, context: &str) -> Value {
    let mut value = value;
    let mut types = &node.types;
    let place = Path::Param("");
    if !node.any_of.is_empty()
        && let Ok(found) = find_any(node, &value, place)
    {
        types = types_or(types, found);
        value = filter(found, value, context);
    }
    if !node.one_of.is_empty()
        && let Ok(found) = find_one(node, &value, place)
    {
        types = types_or(types, found);
        value = filter(found, value, context);
    }
    let says_properties = node.object.as_ref().is_some_and(|rules| rules.says_properties);
    let named = |wanted: Type| match types {
        Types::Unsaid => wanted == Type::Object && says_properties,
        Types::One(only) => *only == wanted,
        Types::Several(several) => several.contains(&wanted),
    };
    let (is_array, is_object) = (named(Type::Array), named(Type::Object));
    let as_list = is_array && (!is_object || is_list(&value));
    match value {
        Value::Array(items) if as_list => filter_items(node, items, context),
        Value::Object(members) if is_object && !as_list => filter_members(node, members, context),
        other => other,
    }
}

/// Whether a field is shown; without a word about it, it is, and nothing in it is looked at.
fn shows(node: &Node, context: &str) -> Option<bool> {
    let contexts = node.contexts.as_ref()?;
    Some(contexts.iter().any(|shown| shown == context))
}

fn filter_items(node: &Node, items: Vec<Value>, context: &str) -> Value {
    let Some(inner) = node.list.as_ref().and_then(|rules| rules.items.as_ref()) else {
        return Value::Array(items);
    };
    match shows(inner, context) {
        None => Value::Array(items),
        Some(false) => Value::Array(Vec::new()),
        Some(true) => items.into_iter().map(|item| filter(inner, item, context)).collect(),
    }
}

fn filter_members(node: &Node, members: Map<String, Value>, context: &str) -> Value {
    let Some(rules) = &node.object else { return Value::Object(members) };
    let was_empty = members.is_empty();
    let mut shown = Map::new();
    for (name, member) in members {
        let inner = rules.property(&name).or(match &rules.additional {
            Additional::Like(inner) => Some(&**inner),
            Additional::Welcome | Additional::Forbidden => None,
        });
        let member = match inner.map(|inner| (inner, shows(inner, context))) {
            Some((_, Some(false))) => continue,
            Some((inner, Some(true))) => filter(inner, member, context),
            Some((_, None)) | None => member,
        };
        shown.insert(name, member);
    }
    // Clients know an object of which nothing is left as an empty list.
    if shown.is_empty() && !was_empty { json!([]) } else { Value::Object(shown) }
}
