//! Reading back what was onboarded. Another ISO's object is the same as none.

use contract::{Answer, Endpoint, Failure, Route};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use store::{merchant, template, tpn};
use types::{Error, MerchantId, Result, Scope, StoreId, Tpn};

use crate::{Caller, Cx, text};
use vault::Aad;

/// Show a merchant.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MerchantGet {
    /// Id returned by the onboarding.
    merchant_id: MerchantId,
}

/// Show a store.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StoreGet {
    /// Id returned by the onboarding.
    store_id: StoreId,
}

/// Show a TPN.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TpnGet {
    /// Number returned by the onboarding.
    tpn: Tpn,
}

/// The person to talk to, and where.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ContactView {
    /// First name.
    first_name: String,
    /// Last name.
    last_name: Option<String>,
    /// E-mail address.
    email: String,
    /// First line of the street address.
    address_line1: String,
    /// Second line of the street address.
    address_line2: Option<String>,
    /// Phone number without the country's calling code.
    phone_number: String,
    /// Country calling code.
    #[serde(rename = "ISDcode")]
    isd_code: String,
}

/// A merchant.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MerchantView {
    /// Id of the merchant.
    merchant_id: MerchantId,
    /// State of the merchant.
    status: String,
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
    /// The person to talk to.
    contact: ContactView,
    /// When it was created.
    created: String,
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
    /// The person to talk to.
    contact: ContactView,
    /// When it was created.
    created: String,
}

/// A TPN.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TpnView {
    /// The TPN number.
    tpn: Tpn,
    /// Id of its merchant.
    merchant_id: MerchantId,
    /// Id of its store.
    store_id: StoreId,
    /// State of the TPN.
    status: String,
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
    /// When it was created.
    created: String,
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

fn object_not_found() -> Error {
    Error::not_found("There is no such object.")
}

/// What is no id at all is not looked up; PostgreSQL does not even take every text.
fn well_formed(id: &str) -> Result<()> {
    if text::is_alphanumeric(id) { Ok(()) } else { Err(object_not_found()) }
}

fn contact(caller: &Caller, kind: &str, id: &str, sealed: &[u8]) -> Result<ContactView> {
    let plain = caller.data_key().open(&Aad { kind, id, column: "sealed" }, sealed)?;
    serde_json::from_slice(plain.expose())
        .map_err(|error| Error::internal("stored personal data cannot be read").because(error))
}

impl Endpoint<Cx> for MerchantGet {
    const ROUTE: Route = Route::get("/v1/merchants/{merchantId}").scope(Scope::MerchantsRead);
    type Reply = MerchantView;

    async fn handle(self, cx: &Cx) -> std::result::Result<Answer<MerchantView>, Failure> {
        let caller = cx.caller()?;
        well_formed(self.merchant_id.as_str())?;
        let (iso_id, id) = (caller.iso_id().clone(), self.merchant_id);
        let row = cx.platform.store.read(move |conn| merchant::get(conn, &iso_id, &id)).await?;
        let row = row.ok_or_else(object_not_found)?;
        let contact = contact(caller, "merchant", row.merchant_id.as_str(), &row.sealed)?;
        Ok(Answer::new(MerchantView {
            merchant_id: row.merchant_id,
            status: row.status,
            version: row.version,
            dba: row.dba,
            zip_code: row.zip,
            city: row.city,
            state: row.state,
            ebt: row.ebt,
            iso_agent_reference: row.iso_agent_reference,
            iso_merchant: row.iso_merchant,
            merchant_logo_url: row.logo_url,
            contact,
            created: row.created.to_string(),
        }))
    }
}

impl Endpoint<Cx> for StoreGet {
    const ROUTE: Route = Route::get("/v1/stores/{storeId}").scope(Scope::StoresRead);
    type Reply = StoreView;

    async fn handle(self, cx: &Cx) -> std::result::Result<Answer<StoreView>, Failure> {
        let caller = cx.caller()?;
        well_formed(self.store_id.as_str())?;
        let (iso_id, id) = (caller.iso_id().clone(), self.store_id);
        let found = cx.platform.store.read(move |conn| {
            let Some(store) = merchant::store_get(conn, &iso_id, &id)? else { return Ok(None) };
            let merchant = merchant::get(conn, &iso_id, &store.merchant_id)?;
            Ok(Some((store, merchant.and_then(|merchant| merchant.ebt))))
        });
        let (row, merchant_ebt) = found.await?.ok_or_else(object_not_found)?;
        let contact = contact(caller, "store", row.store_id.as_str(), &row.sealed)?;
        Ok(Answer::new(StoreView {
            store_id: row.store_id,
            merchant_id: row.merchant_id,
            status: row.status,
            version: row.version,
            dba: row.dba,
            mcc_code: row.mcc,
            zip_code: row.zip,
            city: row.city,
            state: row.state,
            effective_ebt: row.ebt.clone().or(merchant_ebt),
            ebt: row.ebt,
            contact,
            created: row.created.to_string(),
        }))
    }
}

impl Endpoint<Cx> for TpnGet {
    const ROUTE: Route = Route::get("/v1/tpns/{tpn}").scope(Scope::TpnsRead);
    type Reply = TpnView;

    async fn handle(self, cx: &Cx) -> std::result::Result<Answer<TpnView>, Failure> {
        well_formed(self.tpn.as_str())?;
        let (iso_id, number) = (cx.caller()?.iso_id().clone(), self.tpn);
        let found = cx.platform.store.read(move |conn| {
            let Some(row) = tpn::get(conn, &iso_id, &number)? else { return Ok(None) };
            let template = match &row.template {
                Some((id, _)) => template::name(conn, &iso_id, id)?,
                None => None,
            };
            Ok(Some((row, template, tpn::profile_list(conn, &iso_id, &number)?)))
        });
        let (row, template, profiles) = found.await?.ok_or_else(object_not_found)?;
        let profile: Result<Vec<ProfileView>> = profiles.into_iter().map(profile_view).collect();
        Ok(Answer::new(TpnView {
            tpn: row.tpn,
            merchant_id: row.merchant_id,
            store_id: row.store_id,
            status: row.status,
            version: row.version,
            device_manufacturer: row.device_manufacturer,
            device_model: row.device_model,
            tpn_application_sign: row.application_sign,
            tpn_routing_type: row.routing_type,
            default_label: row.default_label,
            tpn_assign_template: template,
            tpn_bin: row.tpn_bin,
            template_version: row.template.map(|(_, version)| version),
            tpn_processor: ProcessorView { processor_name: row.processor, profile: profile? },
            created: row.created.to_string(),
        }))
    }
}

fn profile_view(row: tpn::ProfileRow) -> Result<ProfileView> {
    let identifiers = serde_json::from_str(&row.identifiers).map_err(|error| {
        Error::internal("the stored identifiers of a profile cannot be read").because(error)
    })?;
    Ok(ProfileView {
        profile_id: row.profile_id,
        status: row.status,
        tpn_bin: row.tpn_bin,
        identifiers,
    })
}
