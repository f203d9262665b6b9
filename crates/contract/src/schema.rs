//! A JSON Schema in the form that the walker interprets.
//!
//! Schemas come from `schemars` derives. [`Schema::compile`] reads the small set of keywords that
//! we use, once, at start; **a keyword that it does not know is refused**, because a rule that is
//! published and not enforced is a lie. Two keywords are our own: `x-code` gives a value's faults
//! a public code of their own, and `x-select` lists the paths whose presence selects a variant.

use serde_json::Value;

use crate::{Format, Formats};

/// One compiled schema node.
#[derive(Debug, Default)]
pub struct Schema {
    pub(crate) types: Types,
    pub(crate) format: Option<&'static Format>,
    pub(crate) length: Bounds,
    pub(crate) items_count: Bounds,
    pub(crate) range: (Option<i64>, Option<i64>),
    pub(crate) allowed: Vec<Value>,
    pub(crate) default: Option<Value>,
    pub(crate) properties: Vec<Property>,
    pub(crate) items: Option<Box<Schema>>,
    pub(crate) variants: Option<Variants>,
    pub(crate) code: Option<String>,
}

#[derive(Debug)]
pub(crate) struct Property {
    pub(crate) name: String,
    pub(crate) required: bool,
    pub(crate) schema: Schema,
}

pub(crate) type Bounds = (Option<usize>, Option<usize>);

/// The JSON types that a node accepts. Null is not listed: it counts as absent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Types {
    pub(crate) string: bool,
    pub(crate) integer: bool,
    pub(crate) number: bool,
    pub(crate) boolean: bool,
    pub(crate) array: bool,
    pub(crate) object: bool,
}

/// Alternatives of an object and how to tell them apart.
#[derive(Debug)]
pub(crate) enum Variants {
    /// A member of the object names the variant.
    Tag { name: String, tag_schema: Box<Schema>, list: Vec<(String, Schema)> },
    /// The first variant of whose paths all are present; the last one has none.
    Presence { list: Vec<(Vec<Vec<String>>, Schema)> },
}

const ANNOTATIONS: &[&str] =
    &["$schema", "$id", "title", "description", "examples", "readOnly", "writeOnly", "deprecated"];

impl Schema {
    /// Compiles a schema document; an error names the keyword at fault.
    pub fn compile(document: &Value, formats: Formats) -> Result<Self, String> {
        let Value::Object(keywords) = document else {
            return Err(format!("a schema must be an object, not {document}"));
        };
        let mut schema = Self::default();
        for (keyword, value) in keywords {
            schema.read_keyword(keyword, value, formats).map_err(|m| format!("{keyword}: {m}"))?;
        }
        for name in string_list(keywords.get("required"))? {
            let property = schema.properties.iter_mut().find(|property| property.name == name);
            property.ok_or_else(|| format!("required: no property `{name}`"))?.required = true;
        }
        if schema.properties.iter().any(|p| p.required && p.schema.default.is_some()) {
            return Err(String::from("a property with a default cannot be required"));
        }
        Ok(schema)
    }

    fn read_keyword(&mut self, name: &str, value: &Value, formats: Formats) -> Result<(), String> {
        match name {
            "type" => self.types = Types::read(value)?,
            "format" => {
                let name = value.as_str().ok_or("must be text")?;
                self.format = Some(formats.find(name).ok_or(format!("unknown format `{name}`"))?);
            }
            "minLength" => self.length.0 = Some(count(value)?),
            "maxLength" => self.length.1 = Some(count(value)?),
            "minItems" => self.items_count.0 = Some(count(value)?),
            "maxItems" => self.items_count.1 = Some(count(value)?),
            "minimum" => self.range.0 = Some(value.as_i64().ok_or("must be an integer")?),
            "maximum" => self.range.1 = Some(value.as_i64().ok_or("must be an integer")?),
            "enum" => {
                let list = value.as_array().ok_or("must be a list")?;
                self.allowed = list.iter().filter(|value| !value.is_null()).cloned().collect();
            }
            "const" => self.allowed = vec![value.clone()],
            "default" if value.is_null() => {}
            "default" => self.default = Some(value.clone()),
            "properties" => {
                let members = value.as_object().ok_or("must be an object")?;
                for (name, document) in members {
                    let schema = Self::compile(document, formats)
                        .map_err(|message| format!("{name}: {message}"))?;
                    self.properties.push(Property { name: name.clone(), required: false, schema });
                }
            }
            "items" => self.items = Some(Box::new(Self::compile(value, formats)?)),
            "anyOf" | "oneOf" => self.read_variants(value, formats)?,
            "x-code" => self.code = value.as_str().map(str::to_owned),
            // Read by the parent's anyOf, and by the required pass above.
            "x-select" | "required" => {}
            _ if ANNOTATIONS.contains(&name) => {}
            _ => return Err(String::from("the walker does not enforce this keyword")),
        }
        Ok(())
    }

    /// `anyOf` is either "this or null", which is just an optional value, or a set of variants.
    fn read_variants(&mut self, value: &Value, formats: Formats) -> Result<(), String> {
        let documents: Vec<&Value> = value
            .as_array()
            .ok_or("must be a list")?
            .iter()
            .filter(|document| document.get("type").and_then(Value::as_str) != Some("null"))
            .collect();
        if let [only] = documents.as_slice() {
            *self = Self::compile(only, formats)?;
            return Ok(());
        }
        self.types.object = true;
        self.variants = Some(match common_tag(&documents) {
            Some(name) => Variants::by_tag(name, &documents, formats)?,
            None => Variants::by_presence(&documents, formats)?,
        });
        Ok(())
    }

    /// The schema that applies to this value: a variant, or the schema itself.
    pub(crate) fn select(&self, value: &Value) -> Option<&Self> {
        match &self.variants {
            None => Some(self),
            Some(Variants::Tag { name, list, .. }) => {
                let tag = value.get(name)?.as_str()?.trim();
                list.iter().find(|(candidate, _)| candidate == tag).map(|(_, schema)| schema)
            }
            Some(Variants::Presence { list }) => list
                .iter()
                .find(|(paths, _)| paths.iter().all(|path| is_present(value, path)))
                .map(|(_, schema)| schema),
        }
    }

    pub(crate) fn property_position(&self, name: &str) -> Option<usize> {
        self.properties.iter().position(|property| property.name == name)
    }
}

impl Variants {
    fn by_tag(name: String, documents: &[&Value], formats: Formats) -> Result<Self, String> {
        let mut list = Vec::new();
        for document in documents {
            let tag = tag_value(document, &name).ok_or("a variant lacks its tag")?;
            list.push((tag.to_owned(), Schema::compile(document, formats)?));
        }
        let allowed = list.iter().map(|(tag, _)| Value::String(tag.clone())).collect();
        let types = Types { string: true, ..Types::default() };
        let tag_schema = Box::new(Schema { types, allowed, ..Schema::default() });
        Ok(Self::Tag { name, tag_schema, list })
    }

    fn by_presence(documents: &[&Value], formats: Formats) -> Result<Self, String> {
        let mut list = Vec::new();
        for document in documents {
            let paths = string_list(document.get("x-select"))?;
            let paths = paths.iter().map(|path| path.split('.').map(str::to_owned).collect());
            list.push((paths.collect::<Vec<_>>(), Schema::compile(document, formats)?));
        }
        match list.last() {
            Some((paths, _)) if paths.is_empty() => Ok(Self::Presence { list }),
            _ => Err(String::from("the last variant must be the one without x-select")),
        }
    }
}

impl Types {
    fn read(value: &Value) -> Result<Self, String> {
        let names = match value {
            Value::String(name) => vec![name.clone()],
            other => string_list(Some(other))?,
        };
        let mut types = Self::default();
        for name in names {
            match name.as_str() {
                "string" => types.string = true,
                "integer" => types.integer = true,
                "number" => types.number = true,
                "boolean" => types.boolean = true,
                "array" => types.array = true,
                "object" => types.object = true,
                "null" => {}
                other => return Err(format!("unknown type `{other}`")),
            }
        }
        Ok(types)
    }

    /// Completes the sentence "This field must be …".
    pub(crate) fn describe(self) -> &'static str {
        match self {
            Self { object: true, .. } => "an object",
            Self { array: true, .. } => "a list",
            Self { string: true, integer: true, .. } => "a string of digits or an integer",
            Self { string: true, .. } => "a string",
            Self { integer: true, .. } => "an integer",
            Self { number: true, .. } => "a number",
            Self { boolean: true, .. } => "true or false",
            _ => "another value",
        }
    }
}

/// Whether something other than null or blanks stands at the path.
fn is_present(value: &Value, path: &[String]) -> bool {
    let mut current = value;
    for name in path {
        match current.get(name) {
            Some(inner) => current = inner,
            None => return false,
        }
    }
    !is_blank(current)
}

/// Null and texts of blanks only count as absent.
pub(crate) fn is_blank(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.trim().is_empty(),
        _ => false,
    }
}

fn common_tag(documents: &[&Value]) -> Option<String> {
    let first = documents.first()?.get("properties")?.as_object()?;
    first
        .keys()
        .find(|name| documents.iter().all(|document| tag_value(document, name).is_some()))
        .cloned()
}

fn tag_value<'a>(document: &'a Value, name: &str) -> Option<&'a str> {
    document.get("properties")?.get(name)?.get("const")?.as_str()
}

fn count(value: &Value) -> Result<usize, String> {
    let number = value.as_u64().ok_or("must be a count")?;
    usize::try_from(number).map_err(|error| error.to_string())
}

fn string_list(value: Option<&Value>) -> Result<Vec<String>, String> {
    let Some(value) = value else { return Ok(Vec::new()) };
    let list = value.as_array().ok_or("must be a list of texts")?;
    list.iter().map(|item| item.as_str().map(str::to_owned).ok_or("must be texts".into())).collect()
}
