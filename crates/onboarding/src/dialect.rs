//! How the onboarding interface says things: its error envelope, in both published styles.

use std::str::FromStr;

use contract::{Issue, IssueKind, Issues};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::Code;

/// Sent with every 401, whatever the reason.
pub const ACCESS_DENIED: &str = "Access denied, invalid authorization token!";
const ACCESS_DENIED_SUMMARY: &str = "Unauthorized Access / Forbidden";
/// Sent with every failure that has no message of its own.
pub const REQUEST_FAILED: &str = "Request failure";

/// Which of the two published forms an ISO gets its answers in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ResponseStyle {
    /// A message per shape, and every error in a list.
    #[default]
    Detailed,
    /// The texts of the interface's summary section, and the first error alone, flat.
    Summary,
}

impl ResponseStyle {
    pub const fn name(self) -> &'static str {
        match self {
            Self::Detailed => "detailed",
            Self::Summary => "summary",
        }
    }
}

impl FromStr for ResponseStyle {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        [Self::Detailed, Self::Summary]
            .into_iter()
            .find(|style| style.name() == text)
            .ok_or_else(|| format!("`{text}` is not a response style; use detailed or summary"))
    }
}

/// One error of a failed request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ErrorItem {
    /// A stable code; `GET /v1/errors` lists them all.
    pub code: String,
    /// A sentence for people.
    pub message: String,
    /// Path of the field, such as `storeData.dba`; empty for the whole request.
    pub param: String,
}

impl ErrorItem {
    pub fn new(code: Code, param: &str, message: impl Into<String>) -> Self {
        Self { code: code.name().to_owned(), message: message.into(), param: param.to_owned() }
    }
}

impl From<&Issue> for ErrorItem {
    fn from(issue: &Issue) -> Self {
        let code = issue.code.as_deref().unwrap_or_else(|| code_of(&issue.error));
        Self { code: code.to_owned(), message: issue.error.to_string(), param: issue.path.clone() }
    }
}

fn code_of(error: &IssueKind) -> &'static str {
    match error {
        IssueKind::Missing => Code::MandatoryField.name(),
        IssueKind::Type { .. } => Code::InvalidType.name(),
        IssueKind::Length { .. } => Code::InvalidLength.name(),
        IssueKind::Format { .. } | IssueKind::Items { .. } => Code::InvalidFormat.name(),
        IssueKind::Value { .. } => Code::InvalidValue.name(),
        IssueKind::Rule { code, .. } => code,
    }
}

/// The body of every failure, in the detailed form.
#[derive(Debug, Serialize, JsonSchema)]
pub struct FailureBody {
    /// What failed.
    pub message: String,
    /// Everything that is wrong, in the order of the published tables; empty for a 401.
    pub errors: Vec<ErrorItem>,
}

/// Reads the body of a request, or says what its sender is told.
pub fn read_object(bytes: &[u8]) -> Result<Map<String, Value>, ErrorItem> {
    contract::json::parse_object(bytes).map_err(|reason| {
        let message = format!("The body is not valid: {reason}.");
        ErrorItem::new(Code::MalformedJson, "", message)
    })
}

/// What the sender of a body is told that is over the limit.
pub fn too_large(bytes_max: usize) -> ErrorItem {
    let message = format!("The body must not exceed {bytes_max} bytes.");
    ErrorItem::new(Code::PayloadTooLarge, "body", message)
}

/// Writes the body of a failure.
pub fn failure_body(style: ResponseStyle, message: &str, errors: Vec<ErrorItem>) -> Vec<u8> {
    let body = match (style, errors.first()) {
        (ResponseStyle::Summary, Some(first)) => serde_json::to_vec(first),
        _ => serde_json::to_vec(&FailureBody { message: message.to_owned(), errors }),
    };
    body.unwrap_or_else(|_| b"{\"message\":\"Request failure\",\"errors\":[]}".to_vec())
}

/// The body of a 401.
pub fn denied_body(style: ResponseStyle) -> Vec<u8> {
    let message = match style {
        ResponseStyle::Detailed => ACCESS_DENIED,
        ResponseStyle::Summary => ACCESS_DENIED_SUMMARY,
    };
    failure_body(ResponseStyle::Detailed, message, Vec::new())
}

/// The items of a failure, one per issue.
pub fn error_items(issues: &Issues) -> Vec<ErrorItem> {
    issues.iter().map(ErrorItem::from).collect()
}
