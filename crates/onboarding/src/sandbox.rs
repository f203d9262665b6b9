//! Failures on demand, in the sandbox only: by a header, and by values that are legal elsewhere.
//!
//! **Production ignores all of it**: [`Scenario::read`] and [`add_findings`] do nothing there, and
//! it has none of the routes below [`ROOT`].

pub mod catcher;
pub mod clock;
pub mod devices;
pub mod reset;

use std::time::Duration;

use contract::{Draft, Fault};
use serde_json::Value;
use types::{Environment, Timestamp};

use crate::lifecycle::due_work;
use crate::terminals::processors::Processor;
use crate::{Code, text};

/// Below this path are the routes that production does not have.
pub const ROOT: &str = "/v1/sandbox/";
/// A delay may last this long at most.
const DELAY_MAX: Duration = Duration::from_secs(5);
/// How long a slow answer takes.
const SLOW: Duration = Duration::from_secs(5);

/// What the header `X-Sandbox-Scenario` asks for, such as
/// `code=unknown_zip; param=storeData.zipCode; delay=200`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scenario {
    pub code: Option<Code>,
    pub param: String,
    pub delay: Duration,
    pub status: Option<u16>,
    /// Commit, and then hang up instead of answering.
    pub drop_after_commit: bool,
}

impl Scenario {
    /// Reads the header; an error says what cannot be read.
    pub fn read(environment: Environment, header: Option<&str>) -> Result<Self, String> {
        let mut scenario = Self::default();
        let Some(header) = header.filter(|_| environment == Environment::Sandbox) else {
            return Ok(scenario);
        };
        for part in header.split(';').filter(|part| !part.trim().is_empty()) {
            scenario.read_part(part).ok_or_else(|| {
                String::from("Write code=CODE; param=PATH; delay=MS; status=N; drop=after_commit.")
            })?;
        }
        Ok(scenario)
    }

    fn read_part(&mut self, part: &str) -> Option<()> {
        let (name, value) = part.split_once('=')?;
        let value = value.trim();
        match name.trim() {
            "code" => self.code = Some(Code::ALL.iter().copied().find(|c| c.name() == value)?),
            "param" => value.clone_into(&mut self.param),
            "delay" => self.delay = Duration::from_millis(value.parse().ok()?).min(DELAY_MAX),
            "status" => {
                self.status = Some(value.parse().ok().filter(|s| (400..600).contains(s))?);
            }
            "drop" if value == "after_commit" => self.drop_after_commit = true,
            _ => return None,
        }
        Some(())
    }

    /// The code and status of an answer that has nothing to do with the content of the request.
    pub fn outright(&self) -> Option<(Code, u16)> {
        let status = self.status.or_else(|| self.code.map(Code::status))?;
        let usual = || Code::ALL.iter().copied().find(|code| code.status() == status);
        let code = self.code.or_else(usual).unwrap_or(Code::InternalError);
        (status != 400).then_some((code, status))
    }
}

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
    for place in taken_terminals(draft.params) {
        let path = format!("tpnData.tpnProcessor.profile[{place}].profileId");
        found.push((path, Code::DuplicateProfile));
    }
    for (path, code) in found {
        let message = format!("Asked for in the sandbox: {}", code.condition());
        draft.issues.add(path, Fault::rule(code.name(), message));
    }
}

/// The places of profiles whose terminal number is all eights.
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
    profiles.filter(|(_, profile)| is_taken(profile)).map(|(place, _)| place).collect()
}

/// Whether the sandbox's processor refuses an account of this merchant number: one of nines only.
pub(crate) fn is_refused_mid(mid: Option<&str>) -> bool {
    mid.is_some_and(|mid| !mid.is_empty() && mid.bytes().all(|byte| byte == b'9'))
}

/// How long the sandbox's reviewer takes.
const REVIEW_TAKES: Duration = Duration::from_mins(1);
/// How long the sandbox's processor takes to refuse credentials.
const REFUSAL_TAKES: Duration = Duration::from_secs(30);

/// What is to happen later to a merchant of this folded dba, whether it waits for a review until
/// then, and when.
pub(crate) fn staged_for_merchant(
    environment: Environment,
    dba_key: &str,
    now: Timestamp,
) -> Option<(due_work::Kind, bool, Timestamp)> {
    let stages = [
        ("sbx review", due_work::Kind::Approve, true),
        ("sbx reject", due_work::Kind::Reject, true),
        ("sbx suspend", due_work::Kind::Suspend, false),
    ];
    let found = stages.into_iter().find(|(start, ..)| dba_key.starts_with(start));
    let found = found.filter(|_| environment == Environment::Sandbox);
    found.map(|(_, kind, in_review)| (kind, in_review, now.plus(REVIEW_TAKES)))
}

/// When the processor will refuse one of the merchant numbers, if it will.
pub(crate) fn staged_refusal<'a>(
    environment: Environment,
    mut mids: impl Iterator<Item = Option<&'a str>>,
    now: Timestamp,
) -> Option<Timestamp> {
    let refused = environment == Environment::Sandbox && mids.any(is_refused_mid);
    refused.then(|| now.plus(REFUSAL_TAKES))
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
    fn a_scenario_is_read() {
        let header = "code=unknown_zip; param=storeData.zipCode; delay=99999; drop=after_commit";
        let scenario = Scenario::read(Environment::Sandbox, Some(header)).unwrap();
        assert_eq!(scenario.code, Some(Code::UnknownZip));
        assert_eq!(scenario.param, "storeData.zipCode");
        assert_eq!(scenario.delay, DELAY_MAX);
        assert!(scenario.drop_after_commit && scenario.outright().is_none());
        for header in ["code=unavailable; status=503", "code=unavailable", "status=503;"] {
            let down = Scenario::read(Environment::Sandbox, Some(header)).unwrap();
            assert_eq!(down.outright(), Some((Code::Unavailable, 503)), "{header}");
        }
    }

    #[test]
    fn nonsense_is_refused_and_production_reads_nothing() {
        for nonsense in ["code", "code=nope", "status=200", "delay=-1", "=;=", "unknown_zip"] {
            assert!(Scenario::read(Environment::Sandbox, Some(nonsense)).is_err(), "{nonsense}");
            let ignored = Scenario::read(Environment::Production, Some(nonsense));
            assert_eq!(ignored, Ok(Scenario::default()), "{nonsense}");
        }
        let header = Some("code=unknown_zip; drop=after_commit");
        assert_eq!(Scenario::read(Environment::Production, header), Ok(Scenario::default()));
        let params = serde_json::json!({ "merchantData": { "email": "error500@example.com" } });
        assert_eq!(magic(Environment::Production, &params).failure, None);
        assert_eq!(magic(Environment::Sandbox, &params).failure, Some(Code::InternalError));
    }
}
