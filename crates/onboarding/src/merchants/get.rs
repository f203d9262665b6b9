//! Reading merchants and stores back, as it is or as it was. Another ISO's object does not exist.

use contract::{Answer, Endpoint, Failure, Route};
use schemars::JsonSchema;
use serde::Deserialize;
use store::merchant::{MerchantRow, StoreRow};
use types::{MerchantId, Scope, StoreId};

use crate::Cx;
use crate::change::{self, load_as_of};
use crate::fields::Moment;
use crate::merchants::views::{MerchantView, StoreView};

/// Show a merchant.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MerchantGet {
    /// Id returned by the onboarding.
    merchant_id: MerchantId,
    /// Show it as it was at this time.
    as_of: Option<Moment>,
}

/// Show a store.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StoreGet {
    /// Id returned by the onboarding.
    store_id: StoreId,
    /// Show it as it was at this time.
    as_of: Option<Moment>,
}

impl Endpoint<Cx> for MerchantGet {
    const ROUTE: Route = Route::get("/v1/merchants/{merchantId}").scope(Scope::MerchantsRead);
    type Reply = MerchantView;

    async fn handle(self, cx: &Cx) -> Result<Answer<MerchantView>, Failure> {
        let caller = cx.caller()?.clone();
        let at = self.as_of.as_ref().and_then(Moment::time);
        let found = cx.platform.store.read(move |conn| {
            let id = self.merchant_id.as_str();
            let row: MerchantRow = load_as_of(conn, caller.iso_id(), id, at)?;
            Ok((row.version, MerchantView::of(row, caller.data_key())?))
        });
        let (version, view) = found.await?;
        Ok(change::tagged(version, view))
    }
}

impl Endpoint<Cx> for StoreGet {
    const ROUTE: Route = Route::get("/v1/stores/{storeId}").scope(Scope::StoresRead);
    type Reply = StoreView;

    async fn handle(self, cx: &Cx) -> Result<Answer<StoreView>, Failure> {
        let caller = cx.caller()?.clone();
        let at = self.as_of.as_ref().and_then(Moment::time);
        let found = cx.platform.store.read(move |conn| {
            let row: StoreRow = load_as_of(conn, caller.iso_id(), self.store_id.as_str(), at)?;
            Ok((row.version, StoreView::of(conn, row, caller.data_key(), at)?))
        });
        let (version, view) = found.await?;
        Ok(change::tagged(version, view))
    }
}
