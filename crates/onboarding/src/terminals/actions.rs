//! The actions that move TPNs from state to state. Which are allowed when is in
//! [`crate::lifecycle`].

use contract::{Answer, Endpoint, Failure, Route};
use schemars::JsonSchema;
use serde::Deserialize;
use types::{Scope, StoreId, Tpn};

use super::views::TpnView;
use crate::Cx;
use crate::change::{Action, Basis, Record as _, TpnRecord, Viewed as _, load};
use crate::fields::StatusReason;
use crate::merchants::actions::actions;
use crate::perform::perform;
use crate::transition::{self, take_step};

actions! {
    /// Take a TPN out of work for a while.
    TpnDeactivate(TpnRecord => TpnView, Tpn, "tpn"),
        "/v1/tpns/{tpn}/deactivate", Scope::TpnsWrite, "deactivate";
    /// Let an inactive TPN work again.
    TpnActivate(TpnRecord => TpnView, Tpn, "tpn"),
        "/v1/tpns/{tpn}/activate", Scope::TpnsWrite, "activate";
    /// Retire a TPN for good.
    ///
    /// Its number is never used again, its device is unbound, and its credentials are shredded
    /// after 30 days.
    TpnRetire(TpnRecord => TpnView, Tpn, "tpn"),
        "/v1/tpns/{tpn}/retire", Scope::TpnsWrite, "retire";
}

/// Move a TPN to another store of its merchant.
///
/// It is at work there as soon as its device has asked for its parameters.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TpnReassign {
    /// The TPN number.
    tpn: Tpn,
    /// Id of the store to move it to.
    store_id: StoreId,
    reason: Option<StatusReason>,
    /// Refuse if the TPN has another version by now; instead of `If-Match`.
    expected_version: Option<i64>,
}

impl Endpoint<Cx> for TpnReassign {
    const ROUTE: Route = Route::post("/v1/tpns/{tpn}/reassign").scope(Scope::TpnsWrite);
    type Reply = TpnView;

    async fn handle(self, cx: &Cx) -> Result<Answer<TpnView>, Failure> {
        let caller = cx.caller()?.clone();
        let basis = Basis::of(cx, self.expected_version);
        let action =
            Action::of(cx, "reassign")?.then("reassign", &["storeId"]).because(self.reason);
        perform(cx, move |conn| {
            let before: TpnRecord = load(conn, caller.iso_id(), self.tpn.as_str())?;
            basis.check_given(before.row.version)?;
            let store_id = self.store_id.as_str();
            let after = transition::reassign(conn, &before, store_id, &action)?;
            Ok(after.answer(conn, &caller)?)
        })
        .await
    }
}
