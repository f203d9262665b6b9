//! How TPNs are shown. Credentials never are.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};
use store::merchant::{MerchantRow, StoreRow};
use store::tpn::ProfileRow;
use store::{Conn, device, template};
use types::{MerchantId, Result, StoreId, Timestamp, Tpn};

use crate::change::{self, TpnRecord, Viewed, json_object};
use crate::merchants::views::metadata;
use crate::{Caller, lifecycle};

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
            actions: lifecycle::TPN.actions_in(&row.status),
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

impl Viewed for TpnRecord {
    type View = TpnView;

    fn view(self, conn: &mut dyn Conn, _: &Caller) -> Result<TpnView> {
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
