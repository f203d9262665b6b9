//! How a form that was submitted becomes a merchant: the ISO adds the terminal, and **all of it
//! goes through the endpoint of the one call**, as if it had been sent there: same checks, same
//! duplicates, same events, in the transaction that completes the link.

use std::sync::{LazyLock, Mutex, PoisonError};

use contract::card_data::Policy;
use contract::walk::Sanitizer;
use contract::{Answer, Compiled, Draft, Endpoint, Failure, Route, Table, entries};
use db::Conn;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use types::{Error, Result, Scope, Timestamp};

use super::content::{Content, Members};
use super::manage::{erased, load};
use super::parts::{Part, Whole};
use crate::audit::Entry;
use crate::formats::FORMATS;
use crate::lifecycle::LINK;
use crate::merchants::details::{MerchantChanges, StoreChanges};
use crate::onboard::{self, FAILURE, OnboardMerchant, Onboarded, OnboardedIds, TpnDetails};
use crate::perform::Outcome;
use crate::rows::onboarding_link::OnboardingLinkRow;
use crate::transition::{not_allowed, take_link_step};
use crate::{Caller, Cx, text};

/// The endpoint of the one call.
static ONBOARD: LazyLock<Compiled<LinkCx>> = LazyLock::new(|| {
    let table =
        Table::compile(&[entries![OnboardMerchant]], Sanitizer { clean: text::clean }, FORMATS);
    let mut endpoints = table.map(Table::into_endpoints).unwrap_or_default();
    endpoints.pop().unwrap_or_else(|| unreachable!("the table of all endpoints has it, too"))
});

/// The context of an onboarding that completes a link.
struct LinkCx {
    cx: Cx,
    completion: Completion,
    onboarded: Mutex<Option<Answer<Onboarded>>>,
}

impl contract::Context for LinkCx {
    fn card_data_found(&self, paths: &[String]) -> Policy {
        self.cx.card_data_found(paths)
    }
}

impl Endpoint<LinkCx> for OnboardMerchant {
    const ROUTE: Route = <Self as Endpoint<Cx>>::ROUTE;
    type Reply = ();

    async fn check(draft: &mut Draft<'_>, link: &LinkCx) -> Result<()> {
        onboard::check(draft, &link.cx).await
    }

    async fn handle(self, link: &LinkCx) -> Outcome<Answer<()>> {
        let completion = link.completion.clone();
        let complete = move |conn: &mut dyn Conn, ids: &OnboardedIds| completion.write(conn, ids);
        let onboarded = onboard::carry_out(self, &link.cx, complete).await?;
        *link.onboarded.lock().unwrap_or_else(PoisonError::into_inner) = Some(onboarded);
        Ok(Answer::new(()))
    }
}

/// What is left to do in the transaction of the onboarding.
#[derive(Clone)]
struct Completion {
    link_id: String,
    /// Of the link as it was read: what was corrected since is not erased unread.
    version: i64,
    caller: Caller,
    entry: Entry,
    now: Timestamp,
}

impl Completion {
    /// The merchant has what was entered now; here it is erased.
    fn write(&self, conn: &mut dyn Conn, ids: &OnboardedIds) -> Outcome<()> {
        let before = load(conn, self.caller.iso_id(), &self.link_id)?;
        if before.version != self.version {
            return Err(Error::conflict("the form was changed meanwhile; read it again").into());
        }
        let after = OnboardingLinkRow {
            merchant_id: Some(ids.merchant_id.clone()),
            store_id: Some(ids.store_id.clone()),
            tpn: Some(ids.tpn.clone()),
            ..erased(&before, self.caller.data_key())?
        };
        take_link_step(conn, &before, after, ACTION, &self.entry, self.now).map(drop)
    }
}

const ACTION: &str = "onboard";

/// Onboard the merchant who submitted a form.
///
/// Merchant, store and TPN are created as by `POST /v1/onboardmerchant`, from what the merchant
/// entered, the terminal that you add, and what you replace. Rejected requests change nothing.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct OnboardingLinkOnboard {
    /// Id of the link.
    link_id: String,
    /// Replaces what the merchant entered of itself, field by field.
    merchant_data: Option<Part<Whole<MerchantChanges>>>,
    /// Replaces what the merchant entered of its store, field by field.
    store_data: Option<Part<Whole<StoreChanges>>>,
    /// The terminal profile to create.
    tpn_data: Part<Whole<TpnDetails>>,
}

/// The body of the one call.
fn body(entered: Content, merchant: Members, store: Members, tpn: &Value) -> Value {
    let Content { mut merchant_data, mut store_data, .. } = entered;
    merchant_data.extend(merchant);
    store_data.extend(store);
    json!({ "merchantData": merchant_data, "storeData": store_data, "tpnData": tpn })
}

async fn entered(cx: &Cx, link_id: &str) -> Result<(OnboardingLinkRow, Content)> {
    let (caller, id) = (cx.caller()?, link_id.to_owned());
    let iso_id = caller.iso_id().clone();
    let link = cx.platform.store.read(move |conn| load(conn, &iso_id, &id)).await?;
    let content = Content::open(caller.data_key(), &link)?;
    Ok((link, content))
}

impl Endpoint<Cx> for OnboardingLinkOnboard {
    const ROUTE: Route =
        Route::post("/v1/onboarding-links/{linkId}/onboard").scope(Scope::OnboardWrite);
    type Reply = Onboarded;

    fn failure_message(_: &Value) -> Option<&'static str> {
        Some(FAILURE)
    }

    /// Something is wrong already: the one call would tell of everything else beside it.
    async fn check(draft: &mut Draft<'_>, cx: &Cx) -> Result<()> {
        let link_id = draft.params.get("linkId").and_then(Value::as_str);
        let (Some(link_id), false) = (link_id, draft.issues.is_empty()) else { return Ok(()) };
        let (_, content) = entered(cx, link_id).await?;
        let members = |name: &str| draft.params.get(name).and_then(Value::as_object).cloned();
        let (merchant, store) = (members("merchantData"), members("storeData"));
        let tpn = draft.params.get("tpnData").cloned().unwrap_or_default();
        let params = body(content, merchant.unwrap_or_default(), store.unwrap_or_default(), &tpn);
        let whole = &mut Draft {
            params: &params,
            ignored: draft.ignored,
            issues: draft.issues,
            headers: draft.headers,
        };
        onboard::check(whole, cx).await
    }

    async fn handle(self, cx: &Cx) -> Outcome<Answer<Onboarded>> {
        let (link, content) = entered(cx, &self.link_id).await?;
        if LINK.step(ACTION, &link.status).is_none() {
            return Err(not_allowed(&LINK, ACTION, &link.status));
        }
        let merchant = self.merchant_data.map(Part::into_members).unwrap_or_default();
        let store = self.store_data.map(Part::into_members).unwrap_or_default();
        let tpn = Value::Object(self.tpn_data.into_members());
        let completion = Completion {
            link_id: link.link_id,
            version: link.version,
            caller: cx.caller()?.clone(),
            entry: cx.entry("", "", "")?,
            now: cx.now,
        };
        let link_cx = LinkCx { cx: cx.clone(), completion, onboarded: Mutex::default() };
        let mut outcome = ONBOARD.run(body(content, merchant, store, &tpn), &link_cx).await;
        if let Err(failure) = &mut outcome.result
            && let Failure::Issues { headers, .. } = failure
        {
            headers.append(&mut outcome.headers);
        }
        outcome.result?;
        let onboarded = link_cx.onboarded.into_inner().unwrap_or_else(PoisonError::into_inner);
        Ok(onboarded.ok_or_else(|| Error::internal("an onboarding came to no answer"))?)
    }
}
