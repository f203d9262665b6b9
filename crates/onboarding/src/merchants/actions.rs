//! The actions that move merchants and stores from state to state. Which are allowed when is in
//! [`crate::lifecycle`].

use contract::{Answer, Endpoint, Failure, Route};
use schemars::JsonSchema;
use serde::Deserialize;
use types::{MerchantId, Scope, StoreId};

use super::views::{MerchantView, StoreView};
use crate::change::{Action, Basis, Record as _, Viewed as _, load};
use crate::codes::refusal;
use crate::fields::StatusReason;
use crate::perform::perform;
use crate::rows::merchant::{MerchantRow, StoreRow};
use crate::transition::{self, take_step};
use crate::{Code, Cx};

/// Endpoints that do nothing but take a step.
macro_rules! actions {
    ($(
        $(#[doc = $doc:literal])*
        $name:ident($record:ty => $view:ty, $id_type:ty, $id:literal),
        $path:literal, $scope:expr, $action:literal;
    )*) => {$(
        $(#[doc = $doc])*
        #[derive(Debug, Deserialize, JsonSchema)]
        #[serde(rename_all = "camelCase")]
        pub struct $name {
            /// The object.
            #[serde(rename = $id)]
            id: $id_type,
            reason: Option<StatusReason>,
            /// Refuse if the object has another version by now; instead of `If-Match`.
            expected_version: Option<i64>,
        }

        impl Endpoint<Cx> for $name {
            const ROUTE: Route = Route::post($path).scope($scope);
            type Reply = $view;

            async fn handle(self, cx: &Cx) -> Result<Answer<$view>, Failure> {
                let caller = cx.caller()?.clone();
                let basis = Basis::of(cx, self.expected_version);
                let action = Action::of(cx, $action)?.because(self.reason);
                perform(cx, move |conn| {
                    let before: $record = load(conn, caller.iso_id(), self.id.as_str())?;
                    basis.check_given(before.version())?;
                    let after = take_step(conn, &before, before.clone(), &action)?;
                    Ok(after.answer(conn, &caller)?)
                })
                .await
            }
        }
    )*};
}
pub(crate) use actions;

actions! {
    /// Suspend a merchant.
    ///
    /// Its stores and TPNs keep their states, and are suspended in effect.
    MerchantSuspend(MerchantRow => MerchantView, MerchantId, "merchantId"),
        "/v1/merchants/{merchantId}/suspend", Scope::MerchantsWrite, "suspend";
    /// Let a suspended merchant work again.
    MerchantResume(MerchantRow => MerchantView, MerchantId, "merchantId"),
        "/v1/merchants/{merchantId}/resume", Scope::MerchantsWrite, "resume";
    /// Take a store out of work for a while.
    StoreDeactivate(StoreRow => StoreView, StoreId, "storeId"),
        "/v1/stores/{storeId}/deactivate", Scope::StoresWrite, "deactivate";
    /// Let an inactive store work again.
    StoreActivate(StoreRow => StoreView, StoreId, "storeId"),
        "/v1/stores/{storeId}/activate", Scope::StoresWrite, "activate";
    /// Close an inactive store for good.
    ///
    /// Its TPNs become inactive and go to the merchant's pool, from where they can be reassigned.
    StoreClose(StoreRow => StoreView, StoreId, "storeId"),
        "/v1/stores/{storeId}/close", Scope::StoresWrite, "close";
}

/// Close a merchant for good.
///
/// Its stores are closed and its TPNs retired. The names become free after 30 days.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MerchantClose {
    /// Id of the merchant.
    merchant_id: MerchantId,
    reason: Option<StatusReason>,
    /// Close it even though TPNs are at work.
    #[serde(default)]
    force: bool,
    /// Refuse if the merchant has another version by now; instead of `If-Match`.
    expected_version: Option<i64>,
}

impl Endpoint<Cx> for MerchantClose {
    const ROUTE: Route =
        Route::post("/v1/merchants/{merchantId}/close").scope(Scope::MerchantsWrite);
    type Reply = MerchantView;

    async fn handle(self, cx: &Cx) -> Result<Answer<MerchantView>, Failure> {
        let caller = cx.caller()?.clone();
        let basis = Basis::of(cx, self.expected_version);
        let action = Action::of(cx, "close")?.because(self.reason);
        perform(cx, move |conn| {
            let id = self.merchant_id.as_str();
            let before: MerchantRow = load(conn, caller.iso_id(), id)?;
            basis.check_given(before.version)?;
            if !self.force && transition::has_tpns_at_work(conn, &before)? {
                let message = "TPNs are active; deactivate or retire them, or send force.";
                return Err(refusal("force", Code::ActiveTpns, message));
            }
            let after = take_step(conn, &before, before.clone(), &action)?;
            Ok(after.answer(conn, &caller)?)
        })
        .await
    }
}
