//! Reading a TPN back, as it is or as it was.

use contract::{Answer, Endpoint, Failure, Route};
use schemars::JsonSchema;
use serde::Deserialize;
use types::{Scope, Tpn};

use super::views::TpnView;
use crate::Cx;
use crate::change::{self, TpnRecord, load_as_of};
use crate::fields::Moment;

/// Show a TPN.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TpnGet {
    /// Number returned by the onboarding.
    tpn: Tpn,
    /// Show it as it was at this time.
    as_of: Option<Moment>,
}

impl Endpoint<Cx> for TpnGet {
    const ROUTE: Route = Route::get("/v1/tpns/{tpn}").scope(Scope::TpnsRead);
    type Reply = TpnView;

    async fn handle(self, cx: &Cx) -> Result<Answer<TpnView>, Failure> {
        let iso_id = cx.caller()?.iso_id().clone();
        let at = self.as_of.as_ref().and_then(Moment::time);
        let found = cx.platform.store.read(move |conn| {
            let record: TpnRecord = load_as_of(conn, &iso_id, self.tpn.as_str(), at)?;
            Ok((record.row.version, TpnView::of(conn, record, at)?))
        });
        let (version, view) = found.await?;
        Ok(change::tagged(version, view))
    }
}
