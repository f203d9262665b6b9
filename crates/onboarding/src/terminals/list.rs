//! The list of TPNs, by any of their filters.

use contract::{Answer, Endpoint, Failure, Route};
use schemars::JsonSchema;
use serde::Deserialize;
use types::Scope;

use super::views::TpnView;
use crate::Cx;
use crate::change::TpnRecord;
use crate::fields::{ExternalReference, IdSearched, MidSearched, Moment};
use crate::lifecycle::TpnStatus;
use crate::merchants::list::lists;
use crate::paging::{Page, cursor, page_default, read_cursor};
use crate::rows::merchant::ListFilter;
use crate::rows::tpn;

lists! {
    /// List TPNs.
    TpnList {
        /// Only those of this merchant.
        merchant_id: IdSearched,
        /// Only those of this store.
        store_id: IdSearched,
        /// Only those with a processor account of this merchant number.
        mid: MidSearched,
        /// Only those in this state.
        status: TpnStatus,
    }
}

impl Endpoint<Cx> for TpnList {
    const ROUTE: Route = Route::get("/v1/tpns").scope(Scope::TpnsRead);
    type Reply = Page<TpnView>;

    async fn handle(self, cx: &Cx) -> Result<Answer<Self::Reply>, Failure> {
        let (iso_id, limit) = (cx.caller()?.iso_id().clone(), self.limit);
        let filter = ListFilter {
            merchant_id: self.merchant_id.as_ref().map(|id| id.as_str().to_owned()),
            store_id: self.store_id.as_ref().map(|id| id.as_str().to_owned()),
            mid: self.mid.as_ref().map(|mid| mid.as_str().to_owned()),
            status: self.status.map(|status| status.name().to_owned()),
            ..self.common()?
        };
        let found = cx.platform.store.list(move |conn| {
            let rows = tpn::list(conn, &iso_id, &filter)?;
            let mut found = Vec::with_capacity(rows.len());
            for row in rows {
                let cursor = cursor(row.created, row.tpn.as_str());
                let record = TpnRecord::of_row(conn, row)?;
                found.push((cursor, TpnView::of(conn, record, None)?));
            }
            Ok(found)
        });
        Ok(Answer::new(Page::of(found.await?, limit)))
    }
}
