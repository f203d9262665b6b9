//! Schemas with alternatives (`anyOf`, `oneOf`): which of them a value fits, and if none, which was
//! probably meant.

use serde_json::{Value, json};

use super::{ParamError, Path, validate_at};
use crate::rest::node::Node;

/// The first alternative that fits.
pub(in crate::rest) fn find_any<'a>(
    node: &'a Node,
    value: &Value,
    path: Path<'_>,
) -> Result<&'a Node, ParamError> {
    let mut misses = Vec::new();
    for (position, alternative) in node.any_of.iter().enumerate() {
        match validate_at(alternative, value, path) {
            Ok(()) => return Ok(alternative),
            Err(error) => misses.push(Miss { position, alternative, error }),
        }
    }
    Err(none_matches(misses, value, path))
}

/// The only alternative that fits.
pub(in crate::rest) fn find_one<'a>(
    node: &'a Node,
    value: &Value,
    path: Path<'_>,
) -> Result<&'a Node, ParamError> {
    let mut misses = Vec::new();
    let mut matches = Vec::new();
    for (position, alternative) in node.one_of.iter().enumerate() {
        match validate_at(alternative, value, path) {
            Ok(()) => matches.push((position, alternative)),
            Err(error) => misses.push(Miss { position, alternative, error }),
        }
    }
    match matches.as_slice() {
        [] => Err(none_matches(misses, value, path)),
        [(_, only)] => Ok(only),
        several => {
            let positions: Vec<usize> = several.iter().map(|(position, _)| *position).collect();
            let message = format!("{path} must match exactly one of its alternatives.");
            let error = ParamError::new("rest_one_of_multiple_matches", message);
            Err(error.with_data(json!({ "positions": positions })))
        }
    }
}

/// An alternative that does not fit, and why.
struct Miss<'a> {
    position: usize,
    alternative: &'a Node,
    error: ParamError,
}

impl Miss<'_> {
    /// Whether the value has the right type at least.
    fn is_of_type(&self, path: Path<'_>) -> bool {
        let whole = path.to_string();
        let misses_itself = self.error.data.get("param").is_none_or(|param| *param == *whole);
        self.error.code != "rest_invalid_type" || !misses_itself
    }

    fn shared_properties(&self, value: &Value) -> usize {
        let rules = self.alternative.object.as_ref().filter(|rules| rules.says_properties);
        match (rules, value) {
            (Some(rules), Value::Object(members)) => {
                members.keys().filter(|name| rules.properties.contains_key(*name)).count()
            }
            _ => 0,
        }
    }
}

/// Reports the alternative that was probably meant, if one stands out.
fn none_matches(misses: Vec<Miss<'_>>, value: &Value, path: Path<'_>) -> ParamError {
    let of_type: Vec<&Miss<'_>> = misses.iter().filter(|miss| miss.is_of_type(path)).collect();
    let meant = match (misses.as_slice(), of_type.as_slice()) {
        ([only], _) => Some(only),
        (_, [only]) => Some(*only),
        (_, several) => {
            let mut best: Option<(&Miss<'_>, usize)> = None;
            for miss in several {
                let shared = miss.shared_properties(value);
                if shared > best.map_or(0, |(_, most)| most) {
                    best = Some((miss, shared));
                }
            }
            best.map(|(miss, _)| miss)
        }
    };
    let Some(meant) = meant else {
        let titles: Vec<&str> =
            misses.iter().filter_map(|miss| miss.alternative.title.as_deref()).collect();
        let message = if titles.len() == misses.len() && !titles.is_empty() {
            format!("{path} must be one of: {}.", titles.join(", "))
        } else {
            format!("{path} must match one of its alternatives.")
        };
        return ParamError::new("rest_no_matching_schema", message);
    };
    let expected = meant.alternative.title.as_deref().unwrap_or("the expected type");
    let message = format!("{path} is not {expected}: {}", meant.error.message);
    let data = json!({ "position": meant.position });
    ParamError::new("rest_no_matching_schema", message).with_data(data)
}
