//! The card-data guard: finds card numbers and magnetic-stripe tracks in what a request gives, so
//! that they are refused before anything is stored or logged.
//!
//! It stands in front of every write of both interfaces and of imports, at one place each, and
//! looks at **all** texts, whole numbers and names of members. A number counts as a card number by
//! its issuer's prefix, its length and its check digit, alone or in the groups in which cards show
//! it. Nothing tells a card from a random number that has all of these, so **identifiers that
//! machines make are exempt by the name of their field**, such as `transaction_id`, or by the words
//! before them, such as "tracking number". It **never repeats what it found**.

mod issuer;
mod scan;
mod words;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The code of a refusal in both interfaces.
pub const CODE: &str = "prohibited_data";
/// What a caller is told. It says nothing about the value.
pub const MESSAGE: &str = "This looks like card data, which must never be sent here.";

/// What is done about card data in a request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Policy {
    /// The request is refused, and a warning is logged.
    #[default]
    Refuse,
    /// A warning is logged, and the request is served.
    Report,
}

/// A step of the path to a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step<'a> {
    Member(&'a str),
    Item(usize),
}

/// Whether some part of a text may be card data, whatever the text is called.
pub fn is_card_data(text: &str) -> bool {
    scan::finds_card_data(text, None)
}

/// Calls back with the path of each value that may be card data, or of the object that has a member
/// of such a name.
///
/// An item with a `key` or an `id` beside its `value` is named by that, as those of `meta_data` and
/// of settings are.
pub fn find<'a>(members: &'a Map<String, Value>, found: &mut dyn FnMut(&[Step<'a>])) {
    Walk { path: Vec::new(), found }.members(members, None);
}

struct Walk<'a, 'f> {
    path: Vec<Step<'a>>,
    found: &'f mut dyn FnMut(&[Step<'a>]),
}

impl<'a> Walk<'a, '_> {
    fn members(&mut self, members: &'a Map<String, Value>, outer: Option<&'a str>) {
        let text = |name: &str| members.get(name).and_then(Value::as_str);
        let named = text("key").or_else(|| text("id"));
        for (name, value) in members {
            if is_card_data(name) {
                // The path must not repeat it.
                (self.found)(&self.path);
                continue;
            }
            let field = match name.as_str() {
                "value" | "display_value" => named.or(outer),
                _ => None,
            };
            self.path.push(Step::Member(name));
            self.value(value, field.unwrap_or(name));
            self.path.pop();
        }
    }

    fn value(&mut self, value: &'a Value, field: &'a str) {
        let is_found = match value {
            Value::String(text) => scan::finds_card_data(text, Some(field)),
            Value::Number(number) => {
                // A whole number may be written as a fraction or with an exponent.
                let whole = number.as_f64().filter(|value| number.is_f64() && value.fract() == 0.0);
                let text = whole.map_or_else(|| number.to_string(), |value| format!("{value:.0}"));
                scan::finds_card_data(&text, Some(field))
            }
            Value::Array(items) => {
                for (index, item) in items.iter().enumerate() {
                    self.path.push(Step::Item(index));
                    self.value(item, field);
                    self.path.pop();
                }
                false
            }
            Value::Object(members) => {
                self.members(members, Some(field));
                false
            }
            _ => false,
        };
        if is_found {
            (self.found)(&self.path);
        }
    }
}
