//! How merchants and stores are shown.

use std::collections::BTreeMap;

use db::Conn;
use schemars::JsonSchema;
use serde::Serialize;
use types::{Error, MerchantId, Result, StoreId, Timestamp};
use vault::DataKey;

use super::details::{Contact, MerchantShown, StoreShown};
use crate::change::{self, Viewed};
use crate::rows::merchant::{MerchantRow, StoreRow};
use crate::{Caller, lifecycle};

/// A merchant.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MerchantView {
    /// Id of the merchant.
    merchant_id: MerchantId,
    /// State of the merchant.
    status: String,
    /// Why it is in that state, if somebody said so.
    status_reason: Option<String>,
    /// What can be done with it in this state, by the name of the route.
    actions: Vec<&'static str>,
    /// Grows by one with every change.
    version: i64,
    #[serde(flatten)]
    details: MerchantShown,
    /// City of the ZIP code.
    city: String,
    /// State of the ZIP code.
    state: String,
    /// The ISO's own reference of any kind.
    external_reference: Option<String>,
    /// What the ISO notes about it.
    metadata: BTreeMap<String, String>,
    /// The person to talk to.
    contact: Contact,
    /// When it was created.
    created: String,
    /// When it got this version.
    updated: String,
}

/// A store.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StoreView {
    /// Id of the store.
    store_id: StoreId,
    /// Id of its merchant.
    merchant_id: MerchantId,
    /// State of the store.
    status: String,
    /// Why it is in that state, if somebody said so.
    status_reason: Option<String>,
    /// What can be done with it in this state, by the name of the route.
    actions: Vec<&'static str>,
    /// The worst of its own state and its merchant's.
    effective_status: String,
    /// Grows by one with every change.
    version: i64,
    #[serde(flatten)]
    details: StoreShown,
    /// City of the ZIP code.
    city: String,
    /// State of the ZIP code.
    state: String,
    /// The number in force: the store's own, else its merchant's.
    effective_ebt: Option<String>,
    /// The ISO's own reference of any kind.
    external_reference: Option<String>,
    /// What the ISO notes about it.
    metadata: BTreeMap<String, String>,
    /// The person to talk to.
    contact: Contact,
    /// When it was created.
    created: String,
    /// When it got this version.
    updated: String,
}

impl MerchantView {
    pub(crate) fn of(row: MerchantRow, data_key: &DataKey) -> Result<Self> {
        let contact = Contact::of_merchant(data_key, &row)?;
        Ok(Self {
            details: MerchantShown::from(&row),
            merchant_id: row.merchant_id,
            actions: lifecycle::MERCHANT.actions_in(&row.status),
            status: row.status,
            status_reason: row.status_reason,
            version: row.version,
            city: row.city,
            state: row.state,
            external_reference: row.external_reference,
            metadata: metadata(row.metadata.as_deref())?,
            contact,
            created: row.created.to_string(),
            updated: row.updated.to_string(),
        })
    }
}

impl StoreView {
    /// The merchant is looked up, as it was `at` that time.
    pub(crate) fn of(
        conn: &mut dyn Conn,
        row: StoreRow,
        data_key: &DataKey,
        at: Option<Timestamp>,
    ) -> Result<Self> {
        let merchant: MerchantRow =
            change::load_as_of(conn, &row.iso_id, row.merchant_id.as_str(), at)?;
        let contact = Contact::open(data_key, "store", row.store_id.as_str(), &row.sealed)?;
        let effective_status = lifecycle::worst(&row.status, &[&merchant.status]).to_owned();
        Ok(Self {
            details: StoreShown::from(&row),
            store_id: row.store_id,
            merchant_id: row.merchant_id,
            actions: lifecycle::STORE.actions_in(&row.status),
            status: row.status,
            status_reason: row.status_reason,
            effective_status,
            version: row.version,
            city: row.city,
            state: row.state,
            effective_ebt: row.ebt.or(merchant.ebt),
            external_reference: row.external_reference,
            metadata: metadata(row.metadata.as_deref())?,
            contact,
            created: row.created.to_string(),
            updated: row.updated.to_string(),
        })
    }
}

impl Viewed for MerchantRow {
    type View = MerchantView;

    fn view(self, _: &mut dyn Conn, caller: &Caller) -> Result<MerchantView> {
        MerchantView::of(self, caller.data_key())
    }
}

impl Viewed for StoreRow {
    type View = StoreView;

    fn view(self, conn: &mut dyn Conn, caller: &Caller) -> Result<StoreView> {
        StoreView::of(conn, self, caller.data_key(), None)
    }
}

/// What an ISO noted about an object.
pub(crate) fn metadata(text: Option<&str>) -> Result<BTreeMap<String, String>> {
    let Some(text) = text else { return Ok(BTreeMap::new()) };
    serde_json::from_str(text)
        .map_err(|error| Error::internal("stored metadata cannot be read").because(error))
}
