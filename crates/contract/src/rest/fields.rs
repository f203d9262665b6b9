//! The `_fields` parameter: which parts of an answer the client wants.

use serde_json::{Map, Value};

use super::{Params, loose};

/// The wanted fields, as listed and as a tree.
#[derive(Clone, Debug, PartialEq)]
pub struct Fields {
    names: Vec<String>,
    tree: Map<String, Value>,
}

/// Names that are read; what follows does not count.
const NAMES_MAX: usize = 500;
/// Levels into which a name may lead. No answer is deeper.
const LEVELS_MAX: usize = 32;

/// Stands in the tree for a field that is wanted as a whole.
const WHOLE: Value = Value::Bool(true);

impl Fields {
    /// The wanted fields; nothing when the client did not say.
    pub fn read(params: &Params) -> Option<Self> {
        let names = params.texts("_fields");
        Self::of(names.iter().map(String::as_str))
    }

    /// Fields with these names, in which points lead to inner members.
    pub fn of<'a>(names: impl IntoIterator<Item = &'a str>) -> Option<Self> {
        let trimmed = names.into_iter().map(|name| name.trim_matches(loose::is_space).to_owned());
        let is_near = |name: &String| name.matches('.').count() < LEVELS_MAX;
        let names: Vec<String> = trimmed.filter(is_near).take(NAMES_MAX).collect();
        if names.is_empty() {
            return None;
        }
        let mut tree = Map::new();
        for name in &names {
            if !plant(&mut tree, name) {
                break;
            }
        }
        Some(Self { names, tree })
    }

    /// Whether any part of a field is wanted, so that it must be computed.
    pub fn includes(&self, name: &str) -> bool {
        let is_inside = |inner: &str, outer: &str| {
            inner.strip_prefix(outer).is_some_and(|rest| rest.starts_with('.'))
        };
        self.names
            .iter()
            .any(|wanted| wanted == name || is_inside(wanted, name) || is_inside(name, wanted))
    }

    /// Keeps the wanted fields of an object, or of each object of a list.
    #[must_use]
    pub fn filter(&self, value: Value) -> Value {
        match value {
            Value::Array(items) => items.into_iter().map(|item| keep(item, &self.tree)).collect(),
            other => keep(other, &self.tree),
        }
    }
}

/// Adds a name to the tree. Says no when a whole field is already wanted of which this is a part:
/// clients know that what follows is then not read.
fn plant(tree: &mut Map<String, Value>, name: &str) -> bool {
    let (outer, last) = match name.rsplit_once('.') {
        Some((outer, last)) => (Some(outer), last),
        None => (None, name),
    };
    let mut branch = tree;
    for part in outer.into_iter().flat_map(|outer| outer.split('.')) {
        let next = branch.entry(part).or_insert_with(|| Value::Object(Map::new()));
        match next {
            Value::Object(next) => branch = next,
            _ => return false,
        }
    }
    branch.insert(last.to_owned(), WHOLE);
    true
}

/// Nothing left is an empty list, as clients know it.
fn keep(value: Value, tree: &Map<String, Value>) -> Value {
    let members: Vec<(String, Value)> = match value {
        Value::Object(members) => members.into_iter().collect(),
        Value::Array(items) => {
            items.into_iter().enumerate().map(|(index, item)| (index.to_string(), item)).collect()
        }
        scalar => return scalar,
    };
    let mut kept = Map::new();
    for (name, member) in members {
        let Some(wanted) = tree.get(&name) else { continue };
        let member = match wanted {
            Value::Object(inner) => keep(member, inner),
            _ => member,
        };
        kept.insert(name, member);
    }
    let is_list = kept.keys().enumerate().all(|(index, name)| *name == index.to_string());
    if is_list { kept.into_iter().map(|(_, member)| member).collect() } else { Value::Object(kept) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neither_depth_nor_number_of_names_is_without_bound() {
        let deep = "a.".repeat(100_000);
        assert_eq!(Fields::of([deep.as_str()]), None);
        let many: Vec<String> = (0..100_000).map(|number| format!("f{number}")).collect();
        let fields = Fields::of(many.iter().map(String::as_str)).unwrap();
        assert!(fields.includes("f0") && !fields.includes("f99999"));
    }
}
