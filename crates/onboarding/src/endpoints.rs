//! The table of all onboarding endpoints, and its OpenAPI document.

use std::sync::LazyLock;

use contract::openapi::{self, About, ErrorAnswer, RequestHeader};
use contract::walk::Sanitizer;
use contract::{Answer, Endpoint, Entry, Failure, Route, Table, entries};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::activity::MerchantAudit;
use crate::audit::{AuditCheckGet, AuditCheckStart, AuditList, AuditVerify, RequestGet};
use crate::bulk::{BulkCancel, BulkCreate, BulkGet, BulkList, BulkResults};
use crate::codes::CodeView;
use crate::connections::alerts::AlertList;
use crate::connections::manage::{
    ConnectionCreate, ConnectionDelete, ConnectionGet, ConnectionList, ConnectionPatch,
};
use crate::connections::portfolio::PortfolioGet;
use crate::connections::rates::{RatesGet, RatesPut};
use crate::dialect::FailureBody;
use crate::formats::FORMATS;
use crate::isos::account::{
    IsoApprove, IsoGet, IsoList, IsoPatch, IsoReject, IsoResume, IsoSuspend,
};
use crate::isos::invitations::{
    InvitationAccept, InvitationCreate, InvitationList, InvitationResend, InvitationWithdraw,
};
use crate::isos::members::{MemberList, MemberRemove, MemberUpdate};
use crate::isos::registration::{IsoConfirm, IsoRegister};
use crate::isos::usage::IsoUsageGet;
use crate::keys::catalogue::ScopeList;
use crate::keys::manage::{KeyCreate, KeyGet, KeyList, KeyRevoke, KeyRotate};
use crate::links::form::{OnboardingLinkDraft, OnboardingLinkOpen, OnboardingLinkSubmit};
use crate::links::manage::{
    OnboardingLinkCreate, OnboardingLinkGet, OnboardingLinkList, OnboardingLinkResend,
    OnboardingLinkWithdraw,
};
use crate::links::onboarding::OnboardingLinkOnboard;
use crate::merchants::actions::{
    MerchantClose, MerchantResume, MerchantSuspend, StoreActivate, StoreClose, StoreDeactivate,
};
use crate::merchants::duplicates::MerchantDuplicates;
use crate::merchants::get::{MerchantGet, StoreGet};
use crate::merchants::list::{MerchantList, StoreList};
use crate::merchants::patch::{MerchantPatch, StorePatch};
use crate::merchants::requirements::MerchantRequirements;
use crate::onboard::OnboardMerchant;
use crate::sandbox::catcher::{CaughtClear, CaughtList};
use crate::sandbox::clock::{ClockAdvance, ClockGet};
use crate::sandbox::devices::{SimulatedAnswer, SimulatedDownload, SimulatedPair};
use crate::sandbox::reset::SandboxReset;
use crate::terminals::actions::{TpnActivate, TpnDeactivate, TpnReassign, TpnRetire};
use crate::terminals::device_sales::{DeviceSaleAnswer, DeviceSaleGet};
use crate::terminals::devices::{DevicePair, DeviceParametersGet, PairingCodeCreate, TpnSwap};
use crate::terminals::get::TpnGet;
use crate::terminals::list::TpnList;
use crate::terminals::models::DeviceModelList;
use crate::terminals::parameters::{ParameterList, TpnParametersGet};
use crate::terminals::patch::TpnPatch;
use crate::terminals::profiles::{ProfilePut, ProfileReveal, ProfileVerify};
use crate::terminals::rollouts::{RolloutGet, RolloutList, RolloutStart, RolloutStop, RolloutTpns};
use crate::terminals::sales::{SaleCancel, SaleCreate, SaleGet, SaleList, SaleRefund};
use crate::terminals::template_users::{TemplateStores, TemplateTpns};
use crate::terminals::templates::{
    DefaultsGet, DefaultsPut, TemplateCreate, TemplateGet, TemplateList, TemplatePatch,
    TemplateRetire,
};
use crate::webhooks::events::EventList;
use crate::webhooks::{
    DeliveryGet, DeliveryList, DeliveryResend, WebhookCreate, WebhookDelete, WebhookGet,
    WebhookList, WebhookRecover, WebhookRotate, WebhookTest, WebhookUpdate,
};
use crate::{Code, Cx, text};

static ENTRIES: &[Entry<Cx>] = entries![
    OnboardMerchant,
    OnboardingLinkCreate,
    OnboardingLinkList,
    OnboardingLinkGet,
    OnboardingLinkResend,
    OnboardingLinkWithdraw,
    OnboardingLinkOnboard,
    OnboardingLinkOpen,
    OnboardingLinkDraft,
    OnboardingLinkSubmit,
    MerchantList,
    MerchantGet,
    MerchantPatch,
    MerchantSuspend,
    MerchantResume,
    MerchantClose,
    MerchantRequirements,
    MerchantDuplicates,
    MerchantAudit,
    StoreList,
    StoreGet,
    StorePatch,
    StoreDeactivate,
    StoreActivate,
    StoreClose,
    TpnList,
    TpnGet,
    TpnPatch,
    TpnParametersGet,
    TpnDeactivate,
    TpnActivate,
    TpnReassign,
    TpnSwap,
    TpnRetire,
    PairingCodeCreate,
    ProfilePut,
    ProfileVerify,
    ProfileReveal,
    DevicePair,
    DeviceParametersGet,
    SaleCreate,
    SaleList,
    SaleGet,
    SaleRefund,
    SaleCancel,
    DeviceSaleGet,
    DeviceSaleAnswer,
    TemplateList,
    TemplateCreate,
    TemplateGet,
    TemplatePatch,
    TemplateRetire,
    TemplateTpns,
    TemplateStores,
    RolloutStart,
    RolloutList,
    RolloutGet,
    RolloutTpns,
    RolloutStop,
    ParameterList,
    DefaultsGet,
    DefaultsPut,
    BulkCreate,
    BulkList,
    BulkGet,
    BulkResults,
    BulkCancel,
    EventList,
    IsoRegister,
    IsoConfirm,
    IsoList,
    IsoGet,
    IsoPatch,
    IsoUsageGet,
    IsoApprove,
    IsoReject,
    IsoSuspend,
    IsoResume,
    MemberList,
    MemberUpdate,
    MemberRemove,
    InvitationCreate,
    InvitationList,
    InvitationResend,
    InvitationWithdraw,
    InvitationAccept,
    KeyCreate,
    KeyList,
    KeyGet,
    KeyRotate,
    KeyRevoke,
    WebhookCreate,
    WebhookList,
    WebhookGet,
    WebhookUpdate,
    WebhookDelete,
    WebhookRotate,
    WebhookTest,
    WebhookRecover,
    DeliveryList,
    DeliveryGet,
    DeliveryResend,
    ConnectionCreate,
    ConnectionList,
    ConnectionGet,
    ConnectionPatch,
    ConnectionDelete,
    PortfolioGet,
    RatesGet,
    RatesPut,
    AlertList,
    AuditList,
    AuditVerify,
    AuditCheckStart,
    AuditCheckGet,
    RequestGet,
    ClockGet,
    ClockAdvance,
    SimulatedPair,
    SimulatedDownload,
    SimulatedAnswer,
    CaughtList,
    CaughtClear,
    SandboxReset,
    ErrorList,
    ScopeList,
    DeviceModelList,
    OpenapiGet,
];

/// All endpoints, ready to run.
///
/// # Panics
/// If a definition is wrong. The tests compile the table, so that cannot happen in a release.
pub fn table() -> Table<Cx> {
    Table::compile(&[ENTRIES], Sanitizer { clean: text::clean }, FORMATS)
        .unwrap_or_else(|message| unreachable!("the endpoint table is wrong: {message}"))
}

/// The OpenAPI 3.1 document of the onboarding interface, as a file.
pub fn openapi_document() -> Value {
    document(&[
        ("http://127.0.0.1:8080", "Sandbox, as `boardwalk serve` starts it."),
        ("http://127.0.0.1:8081", "Production, as `boardwalk serve` starts it."),
    ])
}

fn document(servers: &[(&str, &str)]) -> Value {
    let failure = schemars::SchemaGenerator::default().into_root_schema_for::<FailureBody>();
    openapi::document(
        &table(),
        &About {
            title: "Boardwalk merchant onboarding",
            version: env!("CARGO_PKG_VERSION"),
            description: "Create merchants, stores and TPNs in one call or in several steps. \
                          Every request needs an ISO's API key.",
            servers,
            error_schema: inline_definitions(failure.to_value()),
            error_answers: ERROR_ANSWERS,
            headers: HEADERS,
            request_headers: REQUEST_HEADERS,
        },
    )
}

const fn answer(status: u16, description: &'static str) -> ErrorAnswer<'static> {
    ErrorAnswer { status, description, only_with_key: false, only_with_body: false }
}

const ERROR_ANSWERS: &[ErrorAnswer<'static>] = &[
    answer(400, "The request is invalid; `errors` lists all problems."),
    ErrorAnswer {
        only_with_key: true,
        ..answer(401, "The key is missing, unknown, expired or revoked.")
    },
    ErrorAnswer {
        only_with_key: true,
        ..answer(403, "The key or the user's role lacks the scope, or the ISO is not active.")
    },
    answer(404, "Not found."),
    answer(408, "The request was not received in time."),
    answer(
        409,
        "The object's state does not allow this, or a request with the same Idempotency-Key is \
         still in progress.",
    ),
    ErrorAnswer {
        only_with_body: true,
        ..answer(412, "The object's version differs from the one the change is based on.")
    },
    ErrorAnswer { only_with_body: true, ..answer(413, "The body is too large.") },
    ErrorAnswer { only_with_body: true, ..answer(415, "The body is not application/json.") },
    ErrorAnswer {
        only_with_body: true,
        ..answer(422, "The Idempotency-Key was used for another request.")
    },
    answer(431, "The headers are too large."),
    answer(429, "Too many requests; wait as long as Retry-After says."),
    answer(500, "Internal error; quote the request id when you contact support."),
    answer(503, "The service is temporarily unavailable; try again."),
];

/// Headers that every answer carries.
const HEADERS: &[(&str, &str)] = &[
    ("X-Request-Id", "Identifies the request in the logs."),
    ("RateLimit-Policy", "The limit that applies."),
    ("RateLimit", "What remains of the limit."),
    ("Server-Timing", "Processing time."),
    ("Cache-Control", "Always no-store."),
];

/// Headers that a writing request may carry.
const REQUEST_HEADERS: &[RequestHeader<'static>] = &[
    RequestHeader {
        name: "Idempotency-Key",
        description: "1 to 255 visible ASCII characters. Repeating a key and body returns the \
                      first response.",
        pattern: Some("^[!-~]{1,255}$"),
        only_with_key: true,
    },
    RequestHeader {
        name: "If-Match",
        description: "The `ETag` of the version to change; instead of `expectedVersion`.",
        pattern: None,
        only_with_key: true,
    },
    RequestHeader {
        name: "X-Validate-Only",
        description: "`true`: validate only and store nothing. Default: `false`.",
        pattern: Some("^([Tt][Rr][Uu][Ee]|[Ff][Aa][Ll][Ss][Ee])$"),
        only_with_key: false,
    },
    RequestHeader {
        name: "X-Sandbox-Scenario",
        description: "Sandbox only: a failure to simulate, such as `code=unknown_zip; \
                      param=storeData.zipCode`.",
        pattern: None,
        only_with_key: false,
    },
];

/// Puts definitions where they are referred to, so that the schema stands alone.
fn inline_definitions(mut schema: Value) -> Value {
    let definitions = schema.as_object_mut().and_then(|object| {
        object.shift_remove("$schema");
        object.shift_remove("$defs")
    });
    if let Some(definitions) = definitions {
        inline(&mut schema, &definitions);
    }
    schema
}

fn inline(value: &mut Value, definitions: &Value) {
    let target = value
        .get("$ref")
        .and_then(Value::as_str)
        .and_then(|reference| definitions.get(reference.strip_prefix("#/$defs/")?).cloned());
    if let Some(target) = target {
        *value = target;
    }
    match value {
        Value::Object(members) => members.values_mut().for_each(|v| inline(v, definitions)),
        Value::Array(items) => items.iter_mut().for_each(|v| inline(v, definitions)),
        _ => {}
    }
}

/// List the error codes.
///
/// The whole catalogue: every code that any answer may carry, with its status and condition.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct ErrorList {}

/// The catalogue of error codes.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ErrorListReply {
    /// All codes.
    data: Vec<CodeView>,
}

impl Endpoint<Cx> for ErrorList {
    const ROUTE: Route = Route::get("/v1/errors").public();
    type Reply = ErrorListReply;

    async fn handle(self, _: &Cx) -> Result<Answer<ErrorListReply>, Failure> {
        let data = Code::ALL.iter().copied().map(CodeView::from).collect();
        Ok(Answer::new(ErrorListReply { data }))
    }
}

/// Show this description of the interface.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct OpenapiGet {}

/// An OpenAPI 3.1 document.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(transparent)]
pub struct OpenapiReply(serde_json::Map<String, Value>);

impl Endpoint<Cx> for OpenapiGet {
    const ROUTE: Route = Route::get("/v1/openapi.json").public();
    type Reply = OpenapiReply;

    async fn handle(self, _: &Cx) -> Result<Answer<OpenapiReply>, Failure> {
        Ok(Answer::new(OpenapiReply(SERVED_DOCUMENT.clone())))
    }
}

/// The document as the server tells it, made once.
static SERVED_DOCUMENT: LazyLock<serde_json::Map<String, Value>> = LazyLock::new(|| {
    let described = document(&[("/", "The server that you asked.")]);
    described.as_object().cloned().unwrap_or_default()
});

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::lifecycle::{ISO, MERCHANT, Machine, STORE, TPN};

    /// Views name the actions that an object allows; each must be there to be asked for.
    #[test]
    fn steps_are_routed_where_their_tables_say_so() {
        let routes: BTreeSet<(&str, &str)> = ENTRIES
            .iter()
            .filter_map(|entry| {
                let parts: Vec<&'static str> = entry.route.path.split('/').collect();
                let ["", "v1", objects, _, action] = parts.as_slice() else { return None };
                Some((objects.strip_suffix('s')?, *action))
            })
            .collect();
        let machines: [&Machine; 4] = [&MERCHANT, &STORE, &TPN, &ISO];
        for machine in machines {
            for step in machine.steps {
                let has_route = routes.contains(&(machine.object, step.action));
                assert_eq!(step.is_routed, has_route, "{} {}", machine.object, step.action);
            }
        }
    }
}
