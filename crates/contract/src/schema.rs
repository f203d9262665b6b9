//! A JSON Schema in the form that the walker interprets.
//!
//! Schemas come from `schemars` derives. [`Schema::compile`] reads the small set of keywords that
//! we use, once, at start; **a keyword that it does not know is refused**, because a rule that is
//! published and not enforced is a lie. Two keywords are our own: `x-code` gives a value's errors
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
    /// What members are like that are none of the properties; without it they are taken out.
    pub(crate) additional: Option<Box<Schema>>,
    /// What the names of such members are like.
    pub(crate) names: Option<Box<Schema>>,
    pub(crate) members_max: Option<usize>,
    pub(crate) items: Option<Box<Schema>>,
    pub(crate) variants: Option<Variants>,
    pub(crate) code: Option<String>,
    /// Whether a text is kept as it came, blanks at its ends included: a password.
    pub(crate) verbatim: bool,
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
#[expect(clippy::struct_excessive_bools, reason = "it is a set, one bool per member")]
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
        schema.check_enforced()?;
        Ok(schema)
    }

    /// Refuses keywords on types for which the walker does not enforce them.
    fn check_enforced(&self) -> Result<(), String> {
        let Types { string, integer, array, .. } = self.types;
        let names_members = self.members_max.is_some() || self.names.is_some();
        let has = |(min, max): Bounds| min.is_some() || max.is_some();
        let ranged = self.range.0.is_some() || self.range.1.is_some();
        match () {
            () if has(self.length) && !string => Err("minLength and maxLength are for texts"),
            () if self.format.is_some() && !string => Err("this format is for texts"),
            () if !self.allowed.iter().all(Value::is_string) => Err("only texts can be listed"),
            () if !self.allowed.is_empty() && !string => Err("only texts can be listed"),
            () if ranged && (string || !integer) => Err("minimum and maximum are for integers"),
            () if has(self.items_count) && !array => Err("minItems and maxItems are for lists"),
            () if names_members && self.additional.is_none() => {
                Err("maxProperties and propertyNames need additionalProperties")
            }
            () => Ok(()),
        }
        .map_err(str::to_owned)
    }

    fn read_keyword(&mut self, name: &str, value: &Value, formats: Formats) -> Result<(), String> {
        match name {
            "type" => self.types = Types::read(value)?,
            "format" => {
                let name = value.as_str().ok_or("must be text")?;
                if let Some(range) = integer_range(name) {
                    self.narrow(range);
                } else {
                    let format = formats.find(name);
                    self.format = Some(format.ok_or(format!("unknown format `{name}`"))?);
                }
            }
            "minLength" => self.length.0 = Some(count(value)?),
            "maxLength" => self.length.1 = Some(count(value)?),
            "minItems" => self.items_count.0 = Some(count(value)?),
            "maxItems" => self.items_count.1 = Some(count(value)?),
            "minimum" => self.narrow((Some(value.as_i64().ok_or("must be an integer")?), None)),
            "maximum" => self.narrow((None, Some(value.as_i64().ok_or("must be an integer")?))),
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
            "additionalProperties" => {
                self.additional = Some(Box::new(Self::compile(value, formats)?));
            }
            "propertyNames" => self.names = Some(Box::new(Self::compile(value, formats)?)),
            "maxProperties" => self.members_max = Some(count(value)?),
            "items" => self.items = Some(Box::new(Self::compile(value, formats)?)),
            "anyOf" | "oneOf" => self.read_variants(value, formats)?,
            "x-code" => self.code = value.as_str().map(str::to_owned),
            "x-verbatim" => self.verbatim = value.as_bool() == Some(true),
            // Read by the parent's anyOf, and by the required pass above.
            "x-select" | "required" => {}
            _ if ANNOTATIONS.contains(&name) => {}
            _ => return Err(String::from("the walker does not enforce this keyword")),
        }
        Ok(())
    }

    /// Bounds may come from several keywords; all of them hold.
    fn narrow(&mut self, (min, max): (Option<i64>, Option<i64>)) {
        self.range.0 = self.range.0.max(min);
        self.range.1 = match (self.range.1, max) {
            (Some(one), Some(other)) => Some(one.min(other)),
            (one, other) => one.or(other),
        };
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
            let inner = Self::compile(only, formats)?;
            let default = self.default.take().or(inner.default);
            let code = self.code.take().or(inner.code);
            *self = Self { default, code, ..inner };
            return Ok(());
        }
        if documents.iter().any(|document| document.get("properties").is_none()) {
            return Err(String::from("a variant must be an object with properties"));
        }
        self.types.object = true;
        self.variants = Some(match common_tag(&documents) {
            Some(name) => Variants::by_tag(name, &documents, formats)?,
            None => Variants::by_presence(&documents, formats)?,
        });
        Ok(())
    }

    pub(crate) fn property_position(&self, name: &str) -> Option<usize> {
        self.properties.iter().position(|property| property.name == name)
    }
}

impl Variants {
    /// The place in the list of the variant that the value asks for.
    pub(crate) fn select(&self, value: &Value) -> Option<usize> {
        match self {
            Self::Tag { name, list, .. } => {
                let tag = value.get(name)?.as_str()?.trim();
                list.iter().position(|(candidate, _)| candidate == tag)
            }
            Self::Presence { list } => {
                let is_asked_for =
                    |paths: &[Vec<String>]| paths.iter().all(|p| is_present(value, p));
                list.iter().position(|(paths, _)| is_asked_for(paths))
            }
        }
    }

    pub(crate) fn get(&self, place: usize) -> Option<&Schema> {
        match self {
            Self::Tag { list, .. } => list.get(place).map(|(_, schema)| schema),
            Self::Presence { list } => list.get(place).map(|(_, schema)| schema),
        }
    }

    pub(crate) fn schemas(&self) -> impl Iterator<Item = &Schema> {
        (0..).map_while(|place| self.get(place))
    }

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
        match list.iter().position(|(paths, _)| paths.is_empty()) {
            Some(place) if place + 1 == list.len() => Ok(Self::Presence { list }),
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

/// The bounds of the integer types that `schemars` names by a format; none of ours.
fn integer_range(format: &str) -> Option<(Option<i64>, Option<i64>)> {
    let bounds = |min: i64, max: i64| Some((Some(min), Some(max)));
    match format {
        "int8" => bounds(i8::MIN.into(), i8::MAX.into()),
        "uint8" => bounds(0, u8::MAX.into()),
        "int16" => bounds(i16::MIN.into(), i16::MAX.into()),
        "uint16" => bounds(0, u16::MAX.into()),
        "int32" => bounds(i32::MIN.into(), i32::MAX.into()),
        "uint32" => bounds(0, u32::MAX.into()),
        "int64" => bounds(i64::MIN, i64::MAX),
        // The upper half of the unsigned range is refused: no column could hold it.
        "uint64" => bounds(0, i64::MAX),
        _ => None,
    }
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
