//! Parts of an onboarding as parameters: checked by the very schemas of `POST /v1/onboardmerchant`,
//! and kept as the JSON that they are, because what is entered today is onboarded later.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use serde_json::{Map, Value};

use super::content::{Members, OF_ISO};

/// Characters of a field while it is being typed; more than any field takes in the end.
const DRAFT_LENGTH_MAX: usize = 2_048;

/// A part that is described and checked as `S` says.
#[derive(Clone, Deserialize)]
#[serde(transparent, bound = "")]
pub(crate) struct Part<S> {
    members: Members,
    schema: PhantomData<S>,
}

impl<S> Part<S> {
    pub(super) fn into_members(self) -> Members {
        self.members
    }
}

/// Leaves out the values, which may be credentials.
impl<S> fmt::Debug for Part<S> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_set().entries(self.members.keys()).finish()
    }
}

/// What a part must be like.
pub(crate) trait PartSchema {
    fn schema(generator: &mut SchemaGenerator) -> Schema;
}

impl<S: PartSchema> JsonSchema for Part<S> {
    fn schema_name() -> Cow<'static, str> {
        "Part".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        S::schema(generator)
    }
}

/// As `T`, with every rule.
#[derive(Clone, Debug)]
pub(crate) struct Whole<T>(PhantomData<T>);

impl<T: JsonSchema> PartSchema for Whole<T> {
    fn schema(generator: &mut SchemaGenerator) -> Schema {
        T::json_schema(generator)
    }
}

/// As `T` without the fields that are the ISO's own.
#[derive(Clone, Debug)]
pub(crate) struct Asked<T>(PhantomData<T>);

impl<T: JsonSchema> PartSchema for Asked<T> {
    fn schema(generator: &mut SchemaGenerator) -> Schema {
        let mut schema = T::json_schema(generator);
        if let Some(properties) = properties_mut(&mut schema) {
            properties.retain(|name, _| !OF_ISO.contains(&name.as_str()));
        }
        schema
    }
}

/// The fields of [`Asked`] as they are while somebody is typing: any text, and none is missing.
#[derive(Clone, Debug)]
pub(crate) struct Drafted<T>(PhantomData<T>);

impl<T: JsonSchema> PartSchema for Drafted<T> {
    fn schema(generator: &mut SchemaGenerator) -> Schema {
        let mut schema = Asked::<T>::schema(generator);
        schema.remove("required");
        for (_, property) in properties_mut(&mut schema).into_iter().flatten() {
            let described = property.get("description").cloned();
            let draft = json_schema!({ "type": "string", "maxLength": DRAFT_LENGTH_MAX });
            *property = draft.to_value();
            if let (Some(members), Some(described)) = (property.as_object_mut(), described) {
                members.insert(String::from("description"), described);
            }
        }
        schema
    }
}

fn properties_mut(schema: &mut Schema) -> Option<&mut Map<String, Value>> {
    schema.get_mut("properties").and_then(Value::as_object_mut)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::merchants::details::MerchantDetails;

    fn names<S: PartSchema>() -> Vec<String> {
        let mut schema = S::schema(&mut SchemaGenerator::default());
        properties_mut(&mut schema).unwrap().keys().cloned().collect()
    }

    #[test]
    fn the_form_has_all_fields_but_those_of_the_iso() {
        let (all, asked) = (names::<Whole<MerchantDetails>>(), names::<Asked<MerchantDetails>>());
        let left_out: Vec<&String> = all.iter().filter(|name| !asked.contains(name)).collect();
        assert_eq!(left_out, OF_ISO);
        assert_eq!(names::<Drafted<MerchantDetails>>(), asked);
    }
}
