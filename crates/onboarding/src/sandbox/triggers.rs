//! Values that are legal elsewhere and make the sandbox fail.

use std::time::Duration;

use contract::{Draft, IssueKind};
use serde_json::Value;
use types::Environment;

use crate::simulation::Scenario;
use crate::terminals::processors::Processor;
use crate::{Code, text};

/// How long a slow answer takes.
const SLOW: Duration = Duration::from_secs(5);

/// Adds what the scenario and the values of the request ask for.
pub(crate) fn add_findings(draft: &mut Draft<'_>, environment: Environment, scenario: &Scenario) {
    if environment != Environment::Sandbox {
        return;
    }
    let mut found = Vec::new();
    if let Some(code) = scenario.code {
        found.push((scenario.param.clone(), code));
    }
    let text_at = |pointer: &str| draft.params.pointer(pointer).and_then(Value::as_str);
    for object in ["merchantData", "storeData"] {
        let dba = text_at(&format!("/{object}/dba")).map(text::dba_key);
        if dba.as_deref() == Some("sbx already exists") {
            found.push((format!("{object}.dba"), Code::AlreadyExists));
        }
    }
    if text_at("/merchantData/isoMerchant") == Some("QUOTA1") {
        found.push((String::from("merchantData"), Code::LimitExceeded));
    }
    if text_at("/tpnData/tpnAssignTemplate") == Some("MISSINGTEMPLATE") {
        found.push((String::from("tpnData.tpnAssignTemplate"), Code::TemplateNotFound));
    }
    for index in taken_terminals(draft.params) {
        let path = format!("tpnData.tpnProcessor.profile[{index}].profileId");
        found.push((path, Code::DuplicateProfile));
    }
    for (path, code) in found {
        let message = format!("Simulated in the sandbox: {}", code.condition());
        draft.issues.add(path, IssueKind::rule(code.name(), message));
    }
}

/// The positions of profiles whose terminal number is all eights.
fn taken_terminals(params: &Value) -> Vec<usize> {
    let profiles = params.pointer("/tpnData/tpnProcessor/profile").and_then(Value::as_array);
    let is_taken = |profile: &Value| {
        ["TermId", "TerminalNumber"]
            .iter()
            .filter(|field| Processor::is_profile_field(field))
            .filter_map(|field| profile.get(field)?.as_str())
            .any(|value| value.bytes().all(|byte| byte == b'8'))
    };
    let profiles = profiles.map_or(&[][..], Vec::as_slice).iter().enumerate();
    profiles.filter(|(_, profile)| is_taken(profile)).map(|(index, _)| index).collect()
}

/// What the values of a request ask of its answer as a whole: a delay, or a failure of ours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Magic {
    pub delay: Duration,
    pub failure: Option<Code>,
}

/// Reads a request's magic values before anything is checked.
pub fn magic(environment: Environment, params: &Value) -> Magic {
    let mut magic = Magic { delay: Duration::ZERO, failure: None };
    if environment != Environment::Sandbox {
        return magic;
    }
    for object in ["merchantData", "storeData"] {
        let field = |name: &str| params.get(object)?.get(name)?.as_str();
        let dba = field("dba").map(text::dba_key).unwrap_or_default();
        if dba.starts_with("sbx slow") {
            magic.delay = SLOW;
        }
        let local = field("email").and_then(|email| email.split('@').next());
        magic.failure = magic.failure.or(match local {
            Some("error500") => Some(Code::InternalError),
            Some("error503") => Some(Code::Unavailable),
            Some("limit429") => Some(Code::RateLimited),
            _ => None,
        });
    }
    magic
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn production_has_no_magic_values() {
        let params = serde_json::json!({ "merchantData": { "email": "error500@example.com" } });
        assert_eq!(magic(Environment::Production, &params).failure, None);
        assert_eq!(magic(Environment::Sandbox, &params).failure, Some(Code::InternalError));
    }
}
