//! The card-data guard in front of every write: requests, items of batches, requests from within
//! and imports. **What it finds is neither told nor logged, only where it was.**

use std::fmt::Write as _;

use contract::card_data::{self, Policy, Step};
use contract::rest::check::ParamError;
use contract::rest::params::{ParamErrors, invalid_params};
use contract::rest::{CompiledArgs, Params, Refusal, Sources, Verb};
use serde_json::{Map, Value};

use crate::Site;

/// How archives begin, which the guard does not open.
const ARCHIVE: &[u8] = b"PK\x03\x04";

impl Site {
    /// The parameters, checked; or as they are, with what is wrong.
    pub(crate) fn accept(
        &self,
        (verb, path): (Verb, &str),
        args: &CompiledArgs,
        sources: Sources,
    ) -> (Params, Option<Refusal>) {
        let prohibited = match verb {
            Verb::Get => None,
            _ => self.guard(path, &sources),
        };
        match (prohibited, contract::rest::accept(args, sources.clone())) {
            (None, Ok(params)) => (params, None),
            (Some(refusal), _) | (None, Err(refusal)) => {
                (Params::unchecked(sources), Some(refusal))
            }
        }
    }

    /// Refuses a record of an import that has card data, unless that is only to be reported.
    pub fn guard_record(&self, what: &str, record: &Map<String, Value>) -> Option<Refusal> {
        self.judge(what, errors_of(record))
    }

    fn guard(&self, path: &str, sources: &Sources) -> Option<Refusal> {
        let Sources { json, form, query, path: _, files } = sources;
        let json = json.as_ref().and_then(Value::as_object);
        let maps = [json, Some(form), Some(query)].into_iter().flatten();
        let mut errors: ParamErrors = maps.flat_map(errors_of).collect();
        for file in files.iter() {
            // Digits are the same in most encodings; what is no text has no words around them.
            let text = String::from_utf8_lossy(&file.bytes);
            let is_text = !file.bytes.starts_with(ARCHIVE);
            if is_text && card_data::is_card_data(&text) || card_data::is_card_data(&file.file_name)
            {
                errors.push((file.field.clone(), Some(error())));
            }
        }
        self.judge(path, errors)
    }

    fn judge(&self, what: &str, errors: ParamErrors) -> Option<Refusal> {
        if errors.is_empty() {
            return None;
        }
        let policy = self.settings().card_data;
        let fields: Vec<&str> = errors.iter().map(|(name, _)| name.as_str()).collect();
        tracing::warn!(
            environment = self.environment().name(),
            path = what,
            fields = fields.join(", "),
            refused = policy == Policy::Refuse,
            "request has card data"
        );
        (policy == Policy::Refuse).then(|| invalid_params(errors))
    }
}

fn error() -> ParamError {
    ParamError::new(card_data::CODE, card_data::MESSAGE)
}

/// An error for each parameter that has card data, with the place of the first.
fn errors_of(members: &Map<String, Value>) -> ParamErrors {
    let mut errors = ParamErrors::new();
    card_data::find(members, &mut |steps| {
        let name = match steps.first() {
            Some(Step::Member(name)) => (*name).to_owned(),
            _ => String::new(),
        };
        if !errors.iter().any(|(known, _)| *known == name) {
            errors.push((name, Some(error().with_data(place(steps)))));
        }
    });
    errors
}

/// Where it is, such as `{ "field": "meta_data[0][value]" }`.
fn place(steps: &[Step<'_>]) -> Value {
    let mut field = String::new();
    for step in steps {
        // Writing to a text cannot fail.
        let _ = match step {
            Step::Member(name) if field.is_empty() => field.write_str(name),
            Step::Member(name) => write!(field, "[{name}]"),
            Step::Item(index) => write!(field, "[{index}]"),
        };
    }
    serde_json::json!({ "field": field })
}
