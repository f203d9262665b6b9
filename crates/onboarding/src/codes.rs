//! The catalogue of error codes: one row says code, status and condition.

use contract::{Failure, IssueKind, Issues};
use schemars::JsonSchema;
use serde::Serialize;

macro_rules! codes {
    ($($variant:ident = $name:literal, $status:literal, $condition:literal;)*) => {
        /// A public error code.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Code {
            $(#[doc = $condition] $variant,)*
        }

        impl Code {
            pub const ALL: &[Self] = &[$(Self::$variant,)*];

            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }

            pub const fn status(self) -> u16 {
                match self { $(Self::$variant => $status,)* }
            }

            /// The status of an answer that carries the code of this name.
            pub fn status_of(name: &str) -> u16 {
                Self::ALL.iter().find(|code| code.name() == name).map_or(400, |code| code.status())
            }

            /// When the code is given.
            pub const fn condition(self) -> &'static str {
                match self { $(Self::$variant => $condition,)* }
            }
        }
    };
}

codes! {
    MandatoryField = "mandatory_field", 400, "A mandatory field is missing, null or empty.";
    AlreadyExists = "already_exists", 400,
        "The trading name (dba) is already in use, or the e-mail address where it must be unique.";
    InvalidType = "invalid_type", 400, "The value has the wrong JSON type.";
    InvalidLength = "invalid_length", 400, "The text is shorter or longer than the field allows.";
    InvalidFormat = "invalid_format", 400,
        "The text contains characters or a pattern that the field does not allow.";
    InvalidValue = "invalid_value", 400, "The value is not one of the allowed values.";
    InvalidDeviceModel = "invalid_device_model", 400, "The manufacturer does not make this model.";
    UnknownZip = "unknown_zip", 400, "The ZIP code is not active.";
    UnknownMcc = "unknown_mcc", 400, "The merchant category code is unknown.";
    NotFound = "not_found", 400, "The ISO has no merchant or store with this id.";
    StoreMismatch = "store_mismatch", 400, "The store belongs to another merchant.";
    InactiveParent = "inactive_parent", 400, "The merchant or store is not active.";
    TemplateNotFound = "template_not_found", 400, "The ISO has no template with this name.";
    InvalidProfile = "invalid_profile", 400,
        "The list of profiles is empty or too long, or a profileId is neither 01 nor 02.";
    DuplicateProfile = "duplicate_profile", 400,
        "A profileId appears twice, or the processor account is already assigned to another TPN.";
    UnexpectedField = "unexpected_field", 400,
        "The field belongs to another processor. Returned only in strict mode.";
    UnknownField = "unknown_field", 400,
        "Unknown field. Returned only in strict mode.";
    ConflictingField = "conflicting_field", 400,
        "An id is sent together with details of the same object, or two values contradict each \
         other.";
    ProhibitedData = "prohibited_data", 400,
        "The value looks like a card number or track data, which must not be sent here.";
    LimitExceeded = "limit_exceeded", 400, "The ISO's quota is exceeded.";
    MalformedJson = "malformed_json", 400, "The body is not one JSON object within the limits.";
    MalformedRow = "malformed_row", 400,
        "An uploaded file or one of its rows is invalid: no rows or too many, invalid columns, \
         the wrong number of cells, or not UTF-8.";
    UnsupportedMediaType = "unsupported_media_type", 415,
        "The Content-Type is not application/json.";
    PayloadTooLarge = "payload_too_large", 413, "The body is larger than the limit.";
    IdempotencyKeyInvalid = "idempotency_key_invalid", 400,
        "The Idempotency-Key is empty, longer than 255 characters or not visible ASCII.";
    IdempotencyKeyReused = "idempotency_key_reused", 422,
        "The Idempotency-Key was used for another request.";
    RequestInProgress = "request_in_progress", 409,
        "A request with this Idempotency-Key is still in progress.";
    VersionMissing = "version_missing", 412,
        "A change requires the version it is based on, as If-Match or expectedVersion.";
    VersionMismatch = "version_mismatch", 412,
        "The object was changed in the meantime; read it again.";
    IllegalTransition = "illegal_transition", 409,
        "The object's state does not allow this.";
    ActiveTpns = "active_tpns", 409,
        "The merchant has active TPNs; send force to close it anyway.";
    NotActive = "not_active", 409, "The TPN, its store or its merchant is not active.";
    RegistrationClosed = "registration_closed", 409,
        "Self-registration is turned off, or the operator has not set up e-mail.";
    IsoNotActive = "iso_not_active", 403,
        "The ISO is suspended or not approved. Only signed-in users get this; keys get 401.";
    InsufficientScope = "insufficient_scope", 403,
        "The key lacks the scope that the message names, or the role of a signed-in user does.";
    RouteNotFound = "route_not_found", 404, "Unknown path.";
    MethodNotAllowed = "method_not_allowed", 405, "The path does not support this method.";
    ObjectNotFound = "object_not_found", 404, "The ISO has no object with this id.";
    RequestTimeout = "request_timeout", 408, "The request was not received in time.";
    HeadersTooLarge = "headers_too_large", 431, "The headers are larger than the limit.";
    RateLimited = "rate_limited", 429, "Too many requests; wait as long as Retry-After says.";
    InternalError =
        "internal_error", 500, "Internal error; quote the request id when you contact support.";
    Unavailable = "unavailable", 503,
        "The service is starting, stopping or overloaded; try again.";
}

/// A row of the catalogue as `GET /v1/errors` shows it.
#[derive(Debug, Serialize, JsonSchema)]
pub struct CodeView {
    /// What `errors[].code` says.
    code: &'static str,
    /// The HTTP status that comes with it.
    status: u16,
    /// When it is given.
    condition: &'static str,
}

impl From<Code> for CodeView {
    fn from(code: Code) -> Self {
        Self { code: code.name(), status: code.status(), condition: code.condition() }
    }
}

/// A refusal for one reason, at one field.
pub(crate) fn refusal(path: &str, code: Code, message: impl Into<String>) -> Failure {
    let mut issues = Issues::default();
    issues.add(path, IssueKind::rule(code.name(), message));
    issues.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_guide_lists_every_code() {
        let guide = include_str!("../../../docs/onboarding.md");
        for code in Code::ALL {
            let row = format!("| `{}` | {} | {} |", code.name(), code.status(), code.condition());
            assert!(guide.contains(&row), "docs/onboarding.md lacks {row}");
        }
    }
}
