//! How merchants, stores and TPNs are shown. Credentials never are.

use std::collections::BTreeMap;

use contract::Answer;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use store::merchant::{MerchantRow, StoreRow};
use store::tpn::ProfileRow;
use store::{Conn, device, template};
use types::{Error, MerchantId, Result, Secret, StoreId, Timestamp, Tpn};
use vault::{Aad, DataKey};

use crate::change::{self, Record, TpnRecord};
use crate::endpoints::actions_in;
use crate::{Caller, lifecycle};

/// The person to talk to, and where. Sealed as one value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Contact {
    /// First name.
    pub(crate) first_name: String,
    /// Last name.
    pub(crate) last_name: Option<String>,
    /// E-mail address.
    pub(crate) email: String,
    /// First line of the street address.
    pub(crate) address_line1: String,
    /// Second line of the street address.
    pub(crate) address_line2: Option<String>,
    /// Phone number without the country's calling code.
    pub(crate) phone_number: String,
    /// Country calling code.
    #[serde(rename = "ISDcode")]
    pub(crate) isd_code: String,
}

impl Contact {
    /// Seals it for the object of this kind and id.
    pub(crate) fn seal(&self, data_key: &DataKey, kind: &str, id: &str) -> Result<Vec<u8>> {
        let plain = serde_json::to_vec(self).map_err(|error| {
            Error::internal("personal data cannot be written as JSON").because(error)
        })?;
        data_key.seal(&Aad { kind, id, column: "sealed" }, Secret::new(plain).expose())
    }

    pub(crate) fn open(data_key: &DataKey, kind: &str, id: &str, sealed: &[u8]) -> Result<Self> {
        let plain = data_key.open(&Aad { kind, id, column: "sealed" }, sealed)?;
        serde_json::from_slice(plain.expose())
            .map_err(|error| Error::internal("stored personal data cannot be read").because(error))
    }

    pub(crate) fn of_merchant(data_key: &DataKey, row: &MerchantRow) -> Result<Self> {
        Self::open(data_key, "merchant", row.merchant_id.as_str(), &row.sealed)
    }
}

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
    /// Trading name.
    dba: String,
    /// ZIP code.
    zip_code: String,
    /// City of the ZIP code.
    city: String,
    /// State of the ZIP code.
    state: String,
    /// EBT number of all stores that have none of their own.
    ebt: Option<String>,
    /// The ISO's reference of the agent.
    iso_agent_reference: Option<String>,
    /// The ISO's own number of the merchant.
    iso_merchant: Option<String>,
    /// Address of the logo.
    merchant_logo_url: Option<String>,
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
    /// Trading name.
    dba: String,
    /// Merchant category code.
    mcc_code: String,
    /// ZIP code.
    zip_code: String,
    /// City of the ZIP code.
    city: String,
    /// State of the ZIP code.
    state: String,
    /// The store's own EBT number.
    ebt: Option<String>,
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

/// A TPN.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TpnView {
    /// The TPN number.
    tpn: Tpn,
    /// Id of its merchant.
    merchant_id: MerchantId,
    /// Id of its store; none while it waits in the merchant's pool.
    store_id: Option<StoreId>,
    /// State of the TPN.
    status: String,
    /// Why it is in that state, if somebody said so.
    status_reason: Option<String>,
    /// What can be done with it in this state, by the name of the route.
    actions: Vec<&'static str>,
    /// The worst of its own state, its store's and its merchant's.
    effective_status: String,
    /// Grows by one with every change.
    version: i64,
    /// Maker of the device.
    device_manufacturer: String,
    /// Model of the device.
    device_model: String,
    /// Application of the terminal.
    tpn_application_sign: String,
    /// How the terminal routes transactions.
    tpn_routing_type: String,
    /// Label shown for the terminal.
    default_label: Option<String>,
    /// Name of the assigned template.
    tpn_assign_template: Option<String>,
    /// Version of the template that the TPN was given.
    template_version: Option<i64>,
    /// Bank identification number of all profiles that have none of their own.
    tpn_bin: Option<String>,
    /// Processor and accounts; credentials are never shown.
    tpn_processor: ProcessorView,
    /// The device that is bound to it now.
    device: Option<DeviceView>,
    /// The ISO's own reference of any kind.
    external_reference: Option<String>,
    /// What the ISO notes about it.
    metadata: BTreeMap<String, String>,
    /// When it was created.
    created: String,
    /// When it got this version.
    updated: String,
}

/// A TPN's processor.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProcessorView {
    /// Name of the processor.
    processor_name: String,
    /// Its accounts.
    profile: Vec<ProfileView>,
}

/// A processor account.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProfileView {
    /// 01 with fee, 02 without fee.
    profile_id: String,
    /// Whether the processor accepted the credentials.
    status: String,
    /// Bank identification number.
    tpn_bin: Option<String>,
    /// The fields that identify the account.
    identifiers: Map<String, Value>,
}

/// A device that is bound to a TPN.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DeviceView {
    /// Id of the device on this TPN.
    device_id: String,
    /// What the device said its serial number is.
    serial_number: String,
    /// When it was paired.
    bound: String,
    /// When it last asked for its parameters.
    last_seen: Option<String>,
}

impl MerchantView {
    pub(crate) fn of(row: MerchantRow, data_key: &DataKey) -> Result<Self> {
        let contact = Contact::of_merchant(data_key, &row)?;
        Ok(Self {
            merchant_id: row.merchant_id,
            actions: actions_in(&lifecycle::MERCHANT, &row.status),
            status: row.status,
            status_reason: row.status_reason,
            version: row.version,
            dba: row.dba,
            zip_code: row.zip,
            city: row.city,
            state: row.state,
            ebt: row.ebt,
            iso_agent_reference: row.iso_agent_reference,
            iso_merchant: row.iso_merchant,
            merchant_logo_url: row.logo_url,
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
            store_id: row.store_id,
            merchant_id: row.merchant_id,
            actions: actions_in(&lifecycle::STORE, &row.status),
            status: row.status,
            status_reason: row.status_reason,
            effective_status,
            version: row.version,
            dba: row.dba,
            mcc_code: row.mcc,
            zip_code: row.zip,
            city: row.city,
            state: row.state,
            effective_ebt: row.ebt.clone().or(merchant.ebt),
            ebt: row.ebt,
            external_reference: row.external_reference,
            metadata: metadata(row.metadata.as_deref())?,
            contact,
            created: row.created.to_string(),
            updated: row.updated.to_string(),
        })
    }
}

impl TpnView {
    /// Merchant, store and template are looked up, as they were `at` that time. The device is the
    /// one of today, and is left out of the past.
    pub(crate) fn of(
        conn: &mut dyn Conn,
        record: TpnRecord,
        at: Option<Timestamp>,
    ) -> Result<Self> {
        let effective_status = effective_status(conn, &record, at)?;
        let TpnRecord { row, profiles } = record;
        let template = match &row.template {
            Some((id, _)) => template::name(conn, &row.iso_id, id)?,
            None => None,
        };
        let device = match at {
            Some(_) => None,
            None => device::get(conn, &row.iso_id, &row.tpn)?,
        };
        let profile: Result<Vec<ProfileView>> = profiles.into_iter().map(profile_view).collect();
        Ok(Self {
            tpn: row.tpn,
            merchant_id: row.merchant_id,
            store_id: row.store_id,
            actions: actions_in(&lifecycle::TPN, &row.status),
            status: row.status,
            status_reason: row.status_reason,
            effective_status,
            version: row.version,
            device_manufacturer: row.device_manufacturer,
            device_model: row.device_model,
            tpn_application_sign: row.application_sign,
            tpn_routing_type: row.routing_type,
            default_label: row.default_label,
            tpn_assign_template: template,
            template_version: row.template.map(|(_, version)| version),
            tpn_bin: row.tpn_bin,
            tpn_processor: ProcessorView { processor_name: row.processor, profile: profile? },
            device: device.map(DeviceView::from),
            external_reference: row.external_reference,
            metadata: metadata(row.metadata.as_deref())?,
            created: row.created.to_string(),
            updated: row.updated.to_string(),
        })
    }
}

/// A record that has a view.
pub(crate) trait Shown: Record {
    type View: Serialize;

    fn show(self, conn: &mut dyn Conn, caller: &Caller) -> Result<Self::View>;

    /// The view with its tag.
    fn answer(self, conn: &mut dyn Conn, caller: &Caller) -> Result<Answer<Self::View>> {
        let version = self.version();
        Ok(change::tagged(version, self.show(conn, caller)?))
    }
}

impl Shown for MerchantRow {
    type View = MerchantView;

    fn show(self, _: &mut dyn Conn, caller: &Caller) -> Result<MerchantView> {
        MerchantView::of(self, caller.data_key())
    }
}

impl Shown for StoreRow {
    type View = StoreView;

    fn show(self, conn: &mut dyn Conn, caller: &Caller) -> Result<StoreView> {
        StoreView::of(conn, self, caller.data_key(), None)
    }
}

impl Shown for TpnRecord {
    type View = TpnView;

    fn show(self, conn: &mut dyn Conn, _: &Caller) -> Result<TpnView> {
        TpnView::of(conn, self, None)
    }
}

/// The worst of the states of a TPN, its store and its merchant.
pub(crate) fn effective_status(
    conn: &mut dyn Conn,
    record: &TpnRecord,
    at: Option<Timestamp>,
) -> Result<String> {
    let row = &record.row;
    let merchant: MerchantRow =
        change::load_as_of(conn, &row.iso_id, row.merchant_id.as_str(), at)?;
    let mut above = vec![merchant.status];
    if let Some(store_id) = &row.store_id {
        let store: StoreRow = change::load_as_of(conn, &row.iso_id, store_id.as_str(), at)?;
        above.push(store.status);
    }
    let above: Vec<&str> = above.iter().map(String::as_str).collect();
    Ok(lifecycle::worst(&row.status, &above).to_owned())
}

impl From<device::DeviceRow> for DeviceView {
    fn from(row: device::DeviceRow) -> Self {
        Self {
            device_id: row.device_id,
            serial_number: row.serial_number,
            bound: row.bound.to_string(),
            last_seen: row.last_seen.map(|at| at.to_string()),
        }
    }
}

fn profile_view(row: ProfileRow) -> Result<ProfileView> {
    Ok(ProfileView {
        profile_id: row.profile_id,
        status: row.status,
        tpn_bin: row.tpn_bin,
        identifiers: json_object(&row.identifiers)?,
    })
}

/// Reads a column that holds a JSON object.
pub(crate) fn json_object(text: &str) -> Result<Map<String, Value>> {
    serde_json::from_str(text)
        .map_err(|error| Error::internal("a stored JSON object cannot be read").because(error))
}

fn metadata(text: Option<&str>) -> Result<BTreeMap<String, String>> {
    let Some(text) = text else { return Ok(BTreeMap::new()) };
    serde_json::from_str(text)
        .map_err(|error| Error::internal("stored metadata cannot be read").because(error))
}
