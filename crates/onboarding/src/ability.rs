//! Onboarding as an ability of the site, for programs that are signed in there. **It is the
//! endpoint of the one call**: who may, what it takes, what it checks and what it answers are
//! those.

use std::sync::Arc;

use contract::rest::{Refusal, Stop};
use contract::walk::Sanitizer;
use contract::{Compiled, Failure, Table, entries};
use frame::{AbilityCategory, AbilityRun, SiteAbility, Visit};
use serde_json::{Map, Value, json};
use types::Error;

use crate::dialect;
use crate::formats::FORMATS;
use crate::id_source::random_text;
use crate::onboard::OnboardMerchant;
use crate::{Code, Cx, Origin, Platform, RequestOptions, text};

/// The ISO that an administrator of the site acts for; others have their own.
const ISO_INPUT: &str = "isoId";
const FORBIDDEN: &str = "You are not allowed to onboard merchants for this ISO.";

/// The ability on the platform of an environment.
#[derive(Debug)]
pub struct OnboardAbility {
    platform: Arc<Platform>,
    endpoint: Arc<Compiled<Cx>>,
}

impl OnboardAbility {
    pub fn new(platform: &Arc<Platform>) -> Self {
        let sanitizer = Sanitizer { clean: text::clean };
        let table = Table::compile(&[entries![OnboardMerchant]], sanitizer, FORMATS);
        let endpoint = table.map(Table::into_endpoints).unwrap_or_default().pop();
        let endpoint =
            endpoint.unwrap_or_else(|| unreachable!("the table of all endpoints has it, too"));
        Self { platform: Arc::clone(platform), endpoint: Arc::new(endpoint) }
    }
}

impl SiteAbility for OnboardAbility {
    fn name(&self) -> &'static str {
        "boardwalk/onboard-merchant"
    }

    fn label(&self) -> &'static str {
        "Onboard a merchant"
    }

    fn about(&self) -> &'static str {
        "Creates a merchant, a store and a TPN, in one call or in stages."
    }

    fn category(&self) -> AbilityCategory {
        AbilityCategory {
            slug: "onboarding",
            label: "Onboarding",
            about: "Merchants, their stores and TPNs.",
        }
    }

    fn input_schema(&self) -> Value {
        let mut schema = self.endpoint.params_document().clone();
        let about = "ISO to act for; site administrators name it, others have their own.";
        let iso = json!({ "type": "string", "description": about });
        let shapes = schema.get_mut("anyOf").and_then(Value::as_array_mut);
        for shape in shapes.into_iter().flatten() {
            if let Some(properties) = shape.get_mut("properties").and_then(Value::as_object_mut) {
                properties.insert(ISO_INPUT.to_owned(), iso.clone());
            }
        }
        schema
    }

    fn output_schema(&self) -> Value {
        self.endpoint.reply_document().clone()
    }

    fn run(&self, visit: Arc<Visit>, mut input: Map<String, Value>) -> AbilityRun {
        let (platform, endpoint) = (Arc::clone(&self.platform), Arc::clone(&self.endpoint));
        Box::pin(async move {
            let named = input.remove(ISO_INPUT);
            let cx = context(&platform, &visit, named.as_ref().and_then(Value::as_str)).await?;
            let outcome = endpoint.run(Value::Object(input), &cx).await;
            match outcome.result {
                Ok(body) => Ok(serde_json::from_slice(&body).map_err(|error| {
                    Error::internal("an answer of onboarding is no JSON").because(error)
                })?),
                Err(failure) => Err(stop(failure)),
            }
        })
    }
}

/// The request as the endpoint knows it, if the visitor may send it.
async fn context(platform: &Arc<Platform>, visit: &Visit, named: Option<&str>) -> Result<Cx, Stop> {
    let forbidden = || Refusal::new(403, "rest_forbidden", FORBIDDEN);
    let user = visit.identity.user.as_ref().ok_or_else(forbidden)?;
    let route = <OnboardMerchant as contract::Endpoint<Cx>>::ROUTE;
    let admitted = platform.admit_user(&user.row, named, (route.permission, route.method)).await?;
    let caller = admitted.map_err(|_| forbidden())?;
    let address = Some(visit.client.address);
    Ok(Cx {
        platform: Arc::clone(platform),
        device: None,
        administrator: None,
        now: visit.now.plus(caller.clock_ahead()),
        request_options: RequestOptions::default(),
        origin: Origin { request_id: format!("req_{}", random_text(32)?), address },
        caller: Some(caller),
    })
}

/// What the endpoint refuses, in the words of abilities, with its own errors beside them.
fn stop(failure: Failure) -> Stop {
    let issues = match failure {
        Failure::Issues { issues, .. } => issues,
        Failure::Error(error) => return error.into(),
        Failure::AnsweredAlready => {
            return Error::internal("a request without a key was answered already").into();
        }
    };
    let items = dialect::error_items(&issues);
    let first = items.first();
    let status = first.map_or(400, |item| Code::status_of(&item.code));
    let message = match first {
        Some(item) if item.param.is_empty() => item.message.clone(),
        Some(item) => format!("{}: {}", item.param, item.message),
        None => String::from("The input is not valid."),
    };
    Refusal::new(status, "ability_invalid_input", message).with("errors", json!(items)).into()
}
