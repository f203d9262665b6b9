//! The walker: coerces a value to its schema and collects **all** issues with their paths.
//!
//! It works in place. What is wrong or unknown is taken out of the value, so that what remains is
//! valid as far as it goes; the endpoint's own checks may then look at the valid rest.

use std::borrow::Cow;
use std::fmt::Write as _;

use serde_json::{Map, Value};

use crate::card_data::Step;
use crate::schema::{Schema, Variants, is_blank};
use crate::{Issue, IssueKind, Issues, Parsed};

/// How a dialect treats values before the schema sees them.
#[derive(Clone, Copy, Debug)]
pub struct Sanitizer {
    /// Puts a text into the form in which it is checked and stored.
    pub clean: fn(&str) -> Cow<'_, str>,
}

/// What came of a walk.
#[derive(Debug, Default)]
pub struct Walked {
    pub issues: Issues,
    /// Members that no schema knows, in the order in which they were found.
    pub ignored: Vec<Ignored>,
    pub selected: Selected,
}

/// Which variant each object with variants was found to be: its path, and the place of the variant.
/// It is noted because the value cannot tell any more once what was wrong has been taken out.
#[derive(Debug, Default)]
pub struct Selected(Vec<(String, usize)>);

impl Selected {
    /// The schema that applies at the path: a variant, or the schema itself.
    fn schema_at<'a>(&self, path: &str, schema: &'a Schema) -> Option<&'a Schema> {
        let Some(variants) = &schema.variants else { return Some(schema) };
        let (_, place) = self.0.iter().find(|(candidate, _)| candidate == path)?;
        variants.get(*place)
    }
}

/// A member that was taken out because its object does not have it.
#[derive(Debug)]
pub struct Ignored {
    pub path: String,
    /// Null or blanks only.
    pub blank: bool,
}

/// Walks `value` against `schema`.
pub fn walk(schema: &Schema, value: &mut Value, sanitizer: Sanitizer) -> Walked {
    let mut walker = Walker { sanitizer, walked: Walked::default() };
    walker.value(schema, value, &Path::Root);
    walker.walked
}

/// Puts issues into document order: the order of the schema's properties, list items by index.
pub fn sort_in_document_order(issues: &mut Issues, schema: &Schema, selected: &Selected) {
    issues.sort_by_cached_key(|issue| document_position(schema, selected, &issue.path));
}

fn document_position(schema: &Schema, selected: &Selected, path: &str) -> Vec<usize> {
    let mut position = Vec::new();
    let mut schema = Some(schema);
    let mut parent_end = 0;
    for part in path.split_inclusive(['.', '[']) {
        let parent = path.get(..parent_end).unwrap_or_default().trim_end_matches(['.', '[']);
        parent_end += part.len();
        let part = part.trim_end_matches(['.', '[']);
        schema = schema.and_then(|schema| selected.schema_at(parent, schema));
        if let Some(index) = part.strip_suffix(']') {
            position.push(index.parse().unwrap_or(usize::MAX));
            schema = schema.and_then(|schema| schema.items.as_deref());
        } else if !part.is_empty() {
            let found = schema.and_then(|schema| schema.property_position(part));
            // A member that the schema does not have comes after those that it has.
            position.push(found.unwrap_or(usize::MAX));
            schema = schema
                .zip(found)
                .and_then(|(schema, index)| schema.properties.get(index))
                .map(|property| &property.schema);
        }
    }
    position
}

/// Where the walker stands; turned into text only when there is something to report.
enum Path<'a> {
    Root,
    Member(&'a Path<'a>, &'a str),
    Item(&'a Path<'a>, usize),
}

impl Path<'_> {
    fn text(&self) -> String {
        let mut text = String::new();
        self.write(&mut text);
        text
    }

    fn write(&self, text: &mut String) {
        match self {
            Self::Root => {}
            Self::Member(parent, name) => {
                parent.write(text);
                if !text.is_empty() {
                    text.push('.');
                }
                text.push_str(name);
            }
            Self::Item(parent, index) => {
                parent.write(text);
                let _ = write!(text, "[{index}]");
            }
        }
    }
}

/// The text of a path that somebody else walked.
pub fn path_text(steps: &[Step<'_>]) -> String {
    let mut text = String::new();
    for step in steps {
        match step {
            Step::Member(name) if text.is_empty() => text.push_str(name),
            Step::Member(name) => {
                let _ = write!(text, ".{name}");
            }
            Step::Item(index) => {
                let _ = write!(text, "[{index}]");
            }
        }
    }
    text
}

struct Walker {
    sanitizer: Sanitizer,
    walked: Walked,
}

impl Walker {
    fn report(&mut self, schema: &Schema, path: &Path<'_>, error: IssueKind) {
        // A missing value and a wrong type keep their usual codes; the rest may be renamed.
        let renamed =
            !matches!(error, IssueKind::Missing | IssueKind::Type { .. } | IssueKind::Rule { .. });
        let code = if renamed { schema.code.clone() } else { None };
        self.walked.issues.push(Issue { path: path.text(), error, code });
    }

    /// Returns whether the value may stay.
    fn value(&mut self, schema: &Schema, value: &mut Value, path: &Path<'_>) -> bool {
        let types = schema.types;
        match value {
            Value::Object(members) if types.object => {
                self.object(schema, members, path);
                return true;
            }
            Value::Array(items) if types.array => return self.array(schema, items, path),
            Value::String(text) if types.string => {
                return match self.text(schema, text) {
                    Ok(None) => true,
                    Ok(Some(replacement)) => {
                        *text = replacement;
                        true
                    }
                    Err(error) => {
                        self.report(schema, path, error);
                        false
                    }
                };
            }
            Value::String(text) if types.integer || types.boolean => {
                return self.scalar_from_text(schema, text.trim().to_owned(), value, path);
            }
            Value::Number(number) if types.integer && (number.is_i64() || number.is_u64()) => {
                if types.string {
                    *value = Value::String(number.to_string());
                    return self.value(schema, value, path);
                }
                let number = number.as_i64();
                return self.integer(schema, number, path);
            }
            Value::Number(_) if types.number => return true,
            Value::Bool(_) if types.boolean => return true,
            _ => {}
        }
        let expected = types.describe().to_owned();
        self.report(schema, path, IssueKind::Type { expected });
        false
    }

    fn scalar_from_text(
        &mut self,
        schema: &Schema,
        text: String,
        value: &mut Value,
        path: &Path<'_>,
    ) -> bool {
        let parsed = match text.as_str() {
            "true" | "1" if schema.types.boolean => Some(Value::Bool(true)),
            "false" | "0" if schema.types.boolean => Some(Value::Bool(false)),
            digits if schema.types.integer => digits.parse::<i64>().ok().map(Value::from),
            _ => None,
        };
        if let Some(parsed) = parsed {
            *value = parsed;
            self.value(schema, value, path)
        } else {
            let expected = schema.types.describe().to_owned();
            self.report(schema, path, IssueKind::Type { expected });
            false
        }
    }

    fn integer(&mut self, schema: &Schema, number: Option<i64>, path: &Path<'_>) -> bool {
        let (min, max) = schema.range;
        let inside = number.is_some_and(|number| {
            min.is_none_or(|min| min <= number) && max.is_none_or(|max| number <= max)
        });
        if inside {
            return true;
        }
        let bound = |bound: Option<i64>| bound.map_or(String::from("any"), |b| b.to_string());
        let expected = format!("an integer from {} to {}", bound(min), bound(max));
        self.report(schema, path, IssueKind::Format { expected });
        false
    }

    /// `Ok(Some(text))` is the form in which to keep the text; `Ok(None)` keeps it as it is.
    fn text(&self, schema: &Schema, text: &str) -> Result<Option<String>, IssueKind> {
        let cleaned =
            if schema.verbatim { Cow::Borrowed(text) } else { (self.sanitizer.clean)(text) };
        let mut replacement = match cleaned {
            Cow::Borrowed(same) if same.len() == text.len() => None,
            other => Some(other.into_owned()),
        };
        let current = replacement.as_deref().unwrap_or(text);
        if let Some(format) = schema.format {
            match (format.parse)(current) {
                Parsed::Fine => {}
                Parsed::Replaced(other) => replacement = Some(other),
                Parsed::Refused => {
                    return Err(IssueKind::Format { expected: format.expected.to_owned() });
                }
                Parsed::IssueKind(error) => return Err(error),
            }
        }
        let current = replacement.as_deref().unwrap_or(text);
        check_length(schema, current)?;
        let listed = schema.allowed.is_empty()
            || schema.allowed.iter().any(|allowed| allowed.as_str() == Some(current));
        if !listed {
            let allowed = schema.allowed.iter().filter_map(Value::as_str).map(str::to_owned);
            return Err(IssueKind::Value { allowed: allowed.collect() });
        }
        Ok(replacement)
    }

    fn array(&mut self, schema: &Schema, items: &mut [Value], path: &Path<'_>) -> bool {
        let (min, max) = schema.items_count;
        let few = min.is_some_and(|min| items.len() < min);
        let many = max.is_some_and(|max| max < items.len());
        if few || many {
            self.report(schema, path, IssueKind::Items { min, max });
            return false;
        }
        if let Some(item_schema) = &schema.items {
            for (index, item) in items.iter_mut().enumerate() {
                let place = Path::Item(path, index);
                if is_blank(item) {
                    self.report(item_schema, &place, IssueKind::Missing);
                } else if !self.value(item_schema, item, &place) {
                    // The place stays, so that later items keep their index.
                    *item = Value::Null;
                }
            }
        }
        true
    }

    fn object(&mut self, schema: &Schema, members: &mut Map<String, Value>, path: &Path<'_>) {
        let Some(variants) = &schema.variants else {
            return self.members(schema, members, path);
        };
        let whole = Value::Object(std::mem::take(members));
        let selected = variants.select(&whole);
        if let Value::Object(taken) = whole {
            *members = taken;
        }
        let variant = selected.and_then(|place| variants.get(place));
        if let Some(place) = selected {
            self.walked.selected.0.push((path.text(), place));
        }
        match (variant, variants) {
            (Some(variant), _) => self.members(variant, members, path),
            (None, Variants::Tag { name, tag_schema, .. }) => {
                let place = Path::Member(path, name);
                self.member(tag_schema, true, members, name, &place);
                // Without its tag, nobody can say whether the rest is valid.
                members.clear();
            }
            (None, Variants::Presence { .. }) => unreachable!("the last variant has no condition"),
        }
    }

    fn members(&mut self, schema: &Schema, members: &mut Map<String, Value>, path: &Path<'_>) {
        for property in &schema.properties {
            let place = Path::Member(path, &property.name);
            self.member(&property.schema, property.required, members, &property.name, &place);
        }
        if let Some(additional) = &schema.additional {
            self.additional(schema, additional, members, path);
        } else if members.keys().any(|name| schema.property_position(name).is_none()) {
            self.take_out_unknown(schema, members, path);
        }
    }

    /// Members with names of the caller's choice. Blank ones count as absent.
    fn additional(
        &mut self,
        schema: &Schema,
        additional: &Schema,
        members: &mut Map<String, Value>,
        path: &Path<'_>,
    ) {
        if schema.members_max.is_some_and(|max| max < members.len()) {
            return self.report(
                schema,
                path,
                IssueKind::Items { min: None, max: schema.members_max },
            );
        }
        members.retain(|name, value| {
            if schema.property_position(name).is_some() {
                return true;
            }
            let place = Path::Member(path, name);
            let misnamed = schema.names.as_ref().and_then(|names| self.text(names, name).err());
            if let Some(error) = misnamed {
                self.report(schema, &place, error);
                return false;
            }
            !is_blank(value) && self.value(additional, value, &place)
        });
    }

    fn member(
        &mut self,
        schema: &Schema,
        required: bool,
        members: &mut Map<String, Value>,
        name: &str,
        path: &Path<'_>,
    ) {
        let keep = match members.get_mut(name) {
            Some(value) if !is_blank(value) => self.value(schema, value, path),
            _ => {
                if required {
                    self.report(schema, path, IssueKind::Missing);
                }
                false
            }
        };
        if keep {
            return;
        }
        let reported = required || members.get(name).is_some_and(|value| !is_blank(value));
        match &schema.default {
            Some(default) if !reported => {
                members.insert(name.to_owned(), default.clone());
            }
            _ => {
                members.shift_remove(name);
            }
        }
    }

    fn take_out_unknown(
        &mut self,
        schema: &Schema,
        members: &mut Map<String, Value>,
        path: &Path<'_>,
    ) {
        let ignored = &mut self.walked.ignored;
        members.retain(|name, value| {
            let known = schema.property_position(name).is_some();
            if !known {
                let path = Path::Member(path, name).text();
                ignored.push(Ignored { path, blank: is_blank(value) });
            }
            known
        });
    }
}

/// "Exactly n" is part of a value's form; a range of lengths is its length.
fn check_length(schema: &Schema, text: &str) -> Result<(), IssueKind> {
    let (min, max) = schema.length;
    if min.is_none() && max.is_none() {
        return Ok(());
    }
    let length = if text.is_ascii() { text.len() } else { text.chars().count() };
    if min.is_none_or(|min| min <= length) && max.is_none_or(|max| length <= max) {
        return Ok(());
    }
    if min == max {
        let exactly = min.unwrap_or_default();
        let form = schema.format.map_or("text", |format| format.expected);
        return Err(IssueKind::Format {
            expected: format!("exactly {exactly} characters: {form}"),
        });
    }
    Err(IssueKind::Length { min, max })
}
