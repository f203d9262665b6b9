//! What the site lets programs do: abilities of the table, and those that other crates bring along.

use frame::{AbilityCategory, Site, SiteAbility};
use serde_json::Value;

use super::table::{ABILITIES, Ability, CATEGORIES};

/// An ability, whoever brings it along.
#[derive(Clone, Copy, Debug)]
pub(super) enum Offered<'s> {
    Own(&'static Ability),
    Other(&'s dyn SiteAbility),
}

impl<'s> Offered<'s> {
    pub(super) fn all(site: &'s Site) -> impl Iterator<Item = Self> {
        ABILITIES.iter().map(Self::Own).chain(site.abilities().map(Self::Other))
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Own(own) => own.name,
            Self::Other(other) => other.name(),
        }
    }

    pub(super) fn label(self) -> &'static str {
        match self {
            Self::Own(own) => own.label,
            Self::Other(other) => other.label(),
        }
    }

    pub(super) fn about(self) -> &'static str {
        match self {
            Self::Own(own) => own.about,
            Self::Other(other) => other.about(),
        }
    }

    pub(super) fn category(self) -> AbilityCategory {
        match self {
            Self::Own(own) => {
                let known = CATEGORIES.iter().find(|category| category.slug == own.category);
                *known.expect("the category of every ability of the table is listed")
            }
            Self::Other(other) => other.category(),
        }
    }

    pub(super) fn is_readonly(self) -> bool {
        matches!(self, Self::Own(own) if own.is_readonly())
    }

    pub(super) fn input_schema(self, site: &Site) -> Value {
        match self {
            Self::Own(own) => own.input_schema(site),
            Self::Other(other) => other.input_schema(),
        }
    }

    pub(super) fn output_schema(self, site: &Site) -> Value {
        match self {
            Self::Own(own) => own.output_schema(site),
            Self::Other(other) => {
                let mut schema = other.output_schema();
                if let Some(members) = schema.as_object_mut() {
                    members.entry("additionalProperties").or_insert(Value::Bool(true));
                }
                schema
            }
        }
    }
}
