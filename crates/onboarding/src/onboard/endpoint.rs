//! The endpoint of the one call that creates a merchant, a store and a TPN.

use contract::{Answer, Draft, Endpoint, Failure, Route};
use db::Conn;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use types::{Error, Kind, Result, Scope};

use super::lookup::{self, References};
use super::records::{OnboardedIds, Prepared};
use super::request::{OnboardMerchant, Shape};
use super::rules;
use crate::Cx;
use crate::perform::{Isolation, Outcome, perform_answered};
use crate::sandbox::triggers;

/// What was created, with what was there already.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Onboarded {
    /// Success text of the shape.
    message: &'static str,
    /// The ids; empty when the request was only to be validated.
    data: OnboardedData,
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(untagged)]
#[schemars(inline, transform = as_one_object)]
enum OnboardedData {
    Ids(OnboardedIds),
    Nothing {},
}

/// Described as one object of which nothing is required: clients that others generate know what to
/// do with an absent id, and not with an object that may be another one.
fn as_one_object(schema: &mut schemars::Schema) {
    let ids = schema.get("anyOf").and_then(|both| both.get(0)).and_then(Value::as_object);
    let Some(mut ids) = ids.cloned() else { return };
    ids.shift_remove("required");
    *schema = ids.into();
}

/// The success message of a request that was only to be validated.
const VALIDATED: &str = "Validation successful, nothing was stored";
/// How often an onboarding that lost its dba to a vanished rival is tried again.
const ATTEMPTS_MAX: usize = 3;

impl Endpoint<Cx> for OnboardMerchant {
    const ROUTE: Route = Route::post("/v1/onboardmerchant").scope(Scope::OnboardWrite);
    type Reply = Onboarded;

    fn failure_message(params: &Value) -> Option<&'static str> {
        Some(Shape::of(params).failure())
    }

    async fn check(draft: &mut Draft<'_>, cx: &Cx) -> Result<()> {
        check(draft, cx).await
    }

    async fn handle(self, cx: &Cx) -> std::result::Result<Answer<Onboarded>, Failure> {
        let prepared = Prepared::new(self, cx).await?;
        let isolation =
            if prepared.only_adds() { Isolation::Adding } else { Isolation::Serialisable };
        insert(prepared, cx, isolation, |_, _| Ok(())).await
    }
}

/// Onboards what passed all checks, and does `also` something in the same transaction.
pub(crate) async fn carry_out(
    request: OnboardMerchant,
    cx: &Cx,
    also: impl Fn(&mut dyn Conn, &OnboardedIds) -> Outcome<()> + Clone + Send + 'static,
) -> Outcome<Answer<Onboarded>> {
    insert(Prepared::new(request, cx).await?, cx, Isolation::Serialisable, also).await
}

async fn insert(
    prepared: Prepared,
    cx: &Cx,
    isolation: Isolation,
    also: impl Fn(&mut dyn Conn, &OnboardedIds) -> Outcome<()> + Clone + Send + 'static,
) -> Outcome<Answer<Onboarded>> {
    let message = prepared.shape().success(cx.caller()?.style());
    let store = &cx.platform.store;
    if cx.request_options.validate_only {
        lookup::find_outside(store, prepared.references()).await?.refuse()?;
        let data = OnboardedData::Nothing {};
        return Ok(Answer::new(Onboarded { message: VALIDATED, data }));
    }
    let reply = Onboarded { message, data: OnboardedData::Ids(prepared.ids()) };
    for _ in 0..ATTEMPTS_MAX {
        let (inserted, also, ids) = (prepared.clone(), also.clone(), prepared.ids());
        let insert = move |conn: &mut dyn Conn| Ok(inserted.insert(conn).map(drop)?);
        let also = move |conn: &mut dyn Conn| also(conn, &ids);
        match perform_answered(cx, isolation, reply.clone(), insert, also).await {
            Err(Failure::Error(error)) if error.kind() == Kind::Conflict => {}
            answered => return answered,
        }
        lookup::find_outside(store, prepared.references()).await?.refuse()?;
    }
    Err(Error::unavailable("the names are being taken and freed; try again").into())
}

/// Checks what a schema cannot say about a request, here or in a row of a file.
pub(crate) async fn check(draft: &mut Draft<'_>, cx: &Cx) -> Result<()> {
    rules::check(draft, cx.platform.settings);
    let (environment, scenario) = (cx.platform.environment, &cx.request_options.scenario);
    triggers::add_findings(draft, environment, scenario);
    if draft.issues.is_empty() {
        // The transaction will look everything up; looking twice would tell nothing new.
        return Ok(());
    }
    let references = References::in_params(draft.params, cx)?;
    let findings = lookup::find_outside(&cx.platform.store, references).await?;
    findings.add_to(draft.issues, draft.headers);
    Ok(())
}
