//! Lists and searches: the newest first, page by page, with a cursor that survives new objects.
//!
//! Names, e-mail addresses and phone numbers are found without being readable in the database: by
//! their folded or blind forms.

use contract::{Answer, Endpoint, Failure, Route};
use schemars::JsonSchema;
use serde::Deserialize;
use types::Scope;

use super::views::{MerchantView, StoreView};
use crate::fields::{
    Dba, Email, ExternalReference, IdSearched, IsoAgentReference, IsoMerchant, MccCode,
    MidSearched, Moment, PhoneNumber, ZipCode,
};
use crate::lifecycle::{MerchantStatus, StoreStatus};
use crate::paging::{Page, cursor, page_default, read_cursor};
use crate::rows::merchant::{self, ListFilter};
use crate::{Cx, text};

/// A list's query: these parameters, and those that all lists share.
macro_rules! lists {
    ($(
        $(#[doc = $doc:literal])*
        $name:ident {
            $($(#[doc = $field_doc:literal])* $field:ident: $type:ty,)*
        }
    )*) => {$(
        $(#[doc = $doc])*
        #[derive(Debug, Deserialize, JsonSchema)]
        #[serde(rename_all = "camelCase")]
        pub struct $name {
            $($(#[doc = $field_doc])* $field: Option<$type>,)*
            /// Only those with this reference of the ISO.
            external_reference: Option<ExternalReference>,
            /// Only those created at this time or later.
            created_from: Option<Moment>,
            /// Only those created before this time.
            created_to: Option<Moment>,
            /// Objects on the page.
            #[serde(default = "page_default")]
            #[schemars(range(min = 1, max = 100))]
            limit: i64,
            /// What `nextCursor` of the page before said.
            #[schemars(length(max = 100))]
            cursor: Option<String>,
        }

        impl $name {
            fn common(&self) -> Result<ListFilter, Failure> {
                let time = |moment: &Option<Moment>| moment.as_ref().and_then(Moment::time);
                Ok(ListFilter {
                    external_reference: self.external_reference.as_ref().map(|r| r.as_str().into()),
                    created_from: time(&self.created_from),
                    created_to: time(&self.created_to),
                    after: self.cursor.as_deref().map(read_cursor).transpose()?,
                    // One more tells whether there is another page.
                    limit: self.limit + 1,
                    ..ListFilter::default()
                })
            }
        }
    )*};
}
pub(crate) use lists;

lists! {
    /// List merchants.
    MerchantList {
        /// Only those whose trading name begins so.
        dba: Dba,
        /// Only those with this e-mail address.
        email: Email,
        /// Only those with this phone number.
        phone_number: PhoneNumber,
        /// Only those with this ZIP code.
        zip_code: ZipCode,
        /// Only those with a store of this category.
        mcc_code: MccCode,
        /// Only those with a processor account of this merchant number.
        mid: MidSearched,
        /// Only those in this state.
        status: MerchantStatus,
        /// Only those with this number of the ISO.
        iso_merchant: IsoMerchant,
        /// Only those of this agent.
        iso_agent_reference: IsoAgentReference,
    }
    /// List stores.
    StoreList {
        /// Only those of this merchant.
        merchant_id: IdSearched,
        /// Only those whose trading name begins so.
        dba: Dba,
        /// Only those with this e-mail address.
        email: Email,
        /// Only those with this phone number.
        phone_number: PhoneNumber,
        /// Only those with this ZIP code.
        zip_code: ZipCode,
        /// Only those of this category.
        mcc_code: MccCode,
        /// Only those with a processor account of this merchant number.
        mid: MidSearched,
        /// Only those in this state.
        status: StoreStatus,
        /// Only those whose merchant has this number of the ISO.
        iso_merchant: IsoMerchant,
        /// Only those whose merchant is of this agent.
        iso_agent_reference: IsoAgentReference,
    }
}

/// The filters by contact and state of a merchant or store, which have the same names.
macro_rules! contact_filters {
    ($list:expr, $filter:expr, $cx:expr) => {{
        let index = |kind: &str, value: &str| {
            let iso_id = $cx.caller()?.iso_id();
            Ok::<_, types::Error>($cx.platform.vault.blind_index(iso_id, kind, value).to_vec())
        };
        let email = $list.email.map(|email| index("email", &text::email_key(email.as_str())));
        let phone = $list.phone_number.map(|phone| index("phone", phone.as_str()));
        ListFilter {
            dba: $list.dba.map(|dba| text::dba_key(dba.as_str())),
            email_index: email.transpose()?,
            phone_index: phone.transpose()?,
            zip: $list.zip_code.map(ZipCode::into_string),
            mcc: $list.mcc_code.map(MccCode::into_string),
            mid: $list.mid.map(MidSearched::into_string),
            status: $list.status.map(|status| status.name().to_owned()),
            iso_merchant: $list.iso_merchant.map(IsoMerchant::into_string),
            iso_agent_reference: $list.iso_agent_reference.map(IsoAgentReference::into_string),
            ..$filter
        }
    }};
}

impl Endpoint<Cx> for MerchantList {
    const ROUTE: Route = Route::get("/v1/merchants").scope(Scope::MerchantsRead);
    type Reply = Page<MerchantView>;

    async fn handle(self, cx: &Cx) -> Result<Answer<Self::Reply>, Failure> {
        let (caller, limit) = (cx.caller()?.clone(), self.limit);
        let filter = self.common()?;
        let filter = contact_filters!(self, filter, cx);
        let found = cx.platform.store.list(move |conn| {
            let rows = merchant::list(conn, caller.iso_id(), &filter)?;
            let view = |row: merchant::MerchantRow| {
                let cursor = cursor(row.created, row.merchant_id.as_str());
                Ok((cursor, MerchantView::of(row, caller.data_key())?))
            };
            rows.into_iter().map(view).collect::<types::Result<Vec<_>>>()
        });
        Ok(Answer::new(Page::of(found.await?, limit)))
    }
}

impl Endpoint<Cx> for StoreList {
    const ROUTE: Route = Route::get("/v1/stores").scope(Scope::StoresRead);
    type Reply = Page<StoreView>;

    async fn handle(self, cx: &Cx) -> Result<Answer<Self::Reply>, Failure> {
        let (caller, limit) = (cx.caller()?.clone(), self.limit);
        let mut filter = self.common()?;
        filter.merchant_id = self.merchant_id.as_ref().map(|id| id.as_str().to_owned());
        let filter = contact_filters!(self, filter, cx);
        let found = cx.platform.store.list(move |conn| {
            let rows = merchant::store_list(conn, caller.iso_id(), &filter)?;
            let mut found = Vec::with_capacity(rows.len());
            for row in rows {
                let cursor = cursor(row.created, row.store_id.as_str());
                found.push((cursor, StoreView::of(conn, row, caller.data_key(), None)?));
            }
            Ok(found)
        });
        Ok(Answer::new(Page::of(found.await?, limit)))
    }
}
