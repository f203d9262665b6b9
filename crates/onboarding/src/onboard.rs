//! `POST /v1/onboardmerchant`: merchant, store and TPN, in one call or in stages.
//!
//! The body's content tells its shape: a `merchantId` means an existing merchant, a `storeId`
//! beside it an existing store. Everything that one request creates is stored in **one
//! transaction: all or nothing**.

mod lookup;
mod records;
mod rules;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use contract::{Answer, Draft, Endpoint, Failure, Issues, Route};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use store::{Conn, due_work, merchant, outbox, tpn};
use types::{Error, Kind, MerchantId, Result, Scope, StoreId, Tpn};

use crate::dialect::ResponseStyle;
use crate::fields::{
    AddressLine, ApplicationSign, Dba, DefaultLabel, DeviceManufacturer, DeviceModel, Ebt, Email,
    FirstName, IsdCode, IsoAgentReference, IsoMerchant, LastName, LogoUrl, MccCode, PhoneNumber,
    RoutingType, TemplateName, TpnBin, ZipCode,
};
use crate::idempotency::KeptAnswer;
use crate::terminals::processors::Processor;
use crate::{Cx, audit, sandbox};
use lookup::{Findings, Wanted};
use records::Records;

pub(crate) use records::{credentials_aad, credentials_id, email_key, place_of, profile_row};

/// Details of a new merchant. City and state follow from the ZIP code.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MerchantDetails {
    dba: Dba,
    first_name: FirstName,
    last_name: Option<LastName>,
    email: Email,
    address_line1: AddressLine,
    address_line2: Option<AddressLine>,
    zip_code: ZipCode,
    phone_number: PhoneNumber,
    /// Applies to all stores of the merchant that have no number of their own.
    ebt: Option<Ebt>,
    iso_agent_reference: Option<IsoAgentReference>,
    iso_merchant: Option<IsoMerchant>,
    merchant_logo_url: Option<LogoUrl>,
    #[serde(rename = "ISDcode")]
    isd_code: IsdCode,
}

/// Details of a new store.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StoreDetails {
    mcc_code: MccCode,
    first_name: FirstName,
    last_name: Option<LastName>,
    dba: Dba,
    address_line1: AddressLine,
    address_line2: Option<AddressLine>,
    zip_code: ZipCode,
    email: Email,
    phone_number: PhoneNumber,
    #[serde(rename = "ISDcode")]
    isd_code: IsdCode,
    /// Applies to this store and outranks the merchant's.
    ebt: Option<Ebt>,
}

/// Names a merchant that exists; nothing else may stand beside the id.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ExistingMerchant {
    /// Id returned by an earlier onboarding.
    merchant_id: MerchantId,
}

/// Names a store that exists; nothing else may stand beside the id.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ExistingStore {
    /// Id returned by an earlier onboarding.
    store_id: StoreId,
}

/// The terminal profile to create.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TpnDetails {
    device_manufacturer: DeviceManufacturer,
    device_model: DeviceModel,
    tpn_application_sign: ApplicationSign,
    #[serde(default)]
    tpn_routing_type: RoutingType,
    tpn_assign_template: Option<TemplateName>,
    default_label: Option<DefaultLabel>,
    /// Mandatory for TSYS and FRDC, here or in each profile.
    tpn_bin: Option<TpnBin>,
    /// The payment processor and its accounts.
    tpn_processor: Processor,
}

/// Onboard a merchant, a store or a TPN.
///
/// Three shapes share this endpoint. With all merchant and store details, a merchant, a store and
/// a TPN are created. With `merchantData.merchantId` alone in `merchantData`, a store and a TPN are
/// created under that merchant. With `storeData.storeId` alone in `storeData` as well, a TPN is
/// created under that store. Everything is created, or nothing is.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(untagged, rename_all_fields = "camelCase")]
#[expect(clippy::large_enum_variant, reason = "it lives for one request, mostly as the largest")]
pub enum OnboardMerchant {
    /// A TPN under an existing store.
    #[schemars(extend("x-select" = ["merchantData.merchantId", "storeData.storeId"]))]
    Tpn { merchant_data: ExistingMerchant, store_data: ExistingStore, tpn_data: TpnDetails },
    /// A store and a TPN under an existing merchant.
    #[schemars(extend("x-select" = ["merchantData.merchantId"]))]
    Store { merchant_data: ExistingMerchant, store_data: StoreDetails, tpn_data: TpnDetails },
    /// A merchant, a store and a TPN.
    Full { merchant_data: MerchantDetails, store_data: StoreDetails, tpn_data: TpnDetails },
}

/// The shape of a request, known before anything is checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shape {
    Full,
    Store,
    Tpn,
}

impl Shape {
    fn of(params: &Value) -> Self {
        let given = |object: &str, id: &str| match params.get(object).and_then(|o| o.get(id)) {
            None | Some(Value::Null) => false,
            Some(Value::String(text)) => !text.trim().is_empty(),
            Some(_) => true,
        };
        match (given("merchantData", "merchantId"), given("storeData", "storeId")) {
            (true, true) => Self::Tpn,
            (true, false) => Self::Store,
            (false, _) => Self::Full,
        }
    }

    const fn success(self, style: ResponseStyle) -> &'static str {
        match (style, self) {
            (ResponseStyle::Summary, _) => "Merchant created successfully",
            (ResponseStyle::Detailed, Self::Full) => "Merchant onboard successfully",
            (ResponseStyle::Detailed, Self::Store) => "Store onboard successfully",
            (ResponseStyle::Detailed, Self::Tpn) => "TPN onboard success",
        }
    }

    const fn failure(self) -> &'static str {
        match self {
            Self::Full => FAILURE,
            Self::Store => "Store onboard failure",
            Self::Tpn => "TPN onboard failure",
        }
    }
}

/// The failure message when not even the shape is known.
pub const FAILURE: &str = "Merchant onboard failure";

/// What was created, with what was there already.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Onboarded {
    /// Success text of the shape.
    message: &'static str,
    /// The ids; empty when the request was only to be validated.
    data: OnboardedData,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged)]
enum OnboardedData {
    Ids(OnboardedIds),
    #[schemars(extend("maxProperties" = 0))]
    Nothing {},
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct OnboardedIds {
    /// Id of the merchant.
    pub(crate) merchant_id: MerchantId,
    /// Id of the store.
    pub(crate) store_id: StoreId,
    /// The TPN number.
    pub(crate) tpn: Tpn,
}

/// The success message of a request that was only to be validated.
const VALIDATED: &str = "Validation successful, nothing was stored";
/// How often an onboarding that lost its dba to a vanished rival is tried again.
const ATTEMPTS_MAX: usize = 3;

impl Endpoint<Cx> for OnboardMerchant {
    const ROUTE: Route = Route::post("/v1/onboardmerchant").scope(Scope::OnboardWrite);
    type Reply = Onboarded;

    fn failure_message(params: &Value) -> Option<&'static str> {
        Some(Shape::of(params).failure())
    }

    async fn check(draft: &mut Draft<'_>, cx: &Cx) -> Result<()> {
        rules::check(draft, cx.platform.settings);
        sandbox::add_findings(draft, cx.platform.environment, &cx.wishes.scenario);
        if draft.issues.is_empty() {
            // The transaction will look everything up; looking twice would tell nothing new.
            return Ok(());
        }
        let wanted = Wanted::in_params(draft.params, cx)?;
        let findings = lookup::find_outside(cx, wanted).await?;
        findings.add_to(draft.issues, draft.headers);
        Ok(())
    }

    async fn handle(self, cx: &Cx) -> std::result::Result<Answer<Onboarded>, Failure> {
        let style = cx.caller()?.style();
        let shape = self.shape();
        let ids = cx.platform.ids.fresh(&cx.platform.store).await?;
        let (records, wanted) = Records::build(self, ids, cx)?;
        if cx.wishes.validate_only {
            let findings = lookup::find_outside(cx, (*wanted).clone()).await?;
            return if findings.is_empty() {
                let data = OnboardedData::Nothing {};
                Ok(Answer::new(Onboarded { message: VALIDATED, data }))
            } else {
                Err(findings.into_failure())
            };
        }
        let message = shape.success(style);
        let reply = Onboarded { message, data: OnboardedData::Ids(records.ids()) };
        if let Some(later) = &cx.wishes.later {
            later.put(Prepared { records, wanted });
            return Ok(Answer::new(reply));
        }
        for _ in 0..ATTEMPTS_MAX {
            match store_once(cx, &records, &wanted, &reply).await? {
                Stored::Everything => return Ok(Answer::new(reply)),
                Stored::AnsweredAlready => return Err(Failure::AnsweredAlready),
                Stored::Nothing => {}
            }
            let findings = lookup::find_outside(cx, (*wanted).clone()).await?;
            if !findings.is_empty() {
                return Err(findings.into_failure());
            }
        }
        Err(Error::unavailable("the names are being taken and freed; try again").into())
    }
}

/// Takes what a request would store, so that many requests can be stored in one transaction. The
/// endpoint then answers as if it had been stored.
#[derive(Clone, Debug, Default)]
pub struct Later(Arc<Mutex<Option<Prepared>>>);

impl Later {
    fn put(&self, prepared: Prepared) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(prepared);
    }

    /// What the last request left.
    pub(crate) fn take(&self) -> Option<Prepared> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// An onboarding that only has to be stored.
#[derive(Clone, Debug)]
pub(crate) struct Prepared {
    records: Records,
    wanted: Arc<Wanted>,
}

impl Prepared {
    /// What speaks against it, in the transaction that is to store it.
    pub(crate) fn issues(&self, conn: &mut dyn Conn) -> Result<Option<Issues>> {
        let findings = lookup::find_all(conn, &self.wanted)?;
        let mut issues = Issues::default();
        findings.add_to(&mut issues, &mut Vec::new());
        Ok(Some(issues).filter(|issues| !issues.is_empty()))
    }

    /// Stores it, or fails with [`Kind::Conflict`] so that the transaction is undone.
    pub(crate) fn store(&self, conn: &mut dyn Conn) -> Result<OnboardedIds> {
        self.records.store(conn, &self.wanted)?;
        Ok(self.records.ids())
    }
}

/// What came of an attempt to store an onboarding.
enum Stored {
    Everything,
    /// The unique indexes or a look-up in the transaction refused it.
    Nothing,
    /// Another request with the same idempotency key was faster.
    AnsweredAlready,
}

/// Stores the rows and, beside them, the answer for the request's idempotency key.
async fn store_once(
    cx: &Cx,
    records: &Records,
    wanted: &Arc<Wanted>,
    reply: &Onboarded,
) -> Result<Stored> {
    let kept = match &cx.wishes.idempotency {
        None => None,
        Some(request) => {
            let body = serde_json::to_string(reply).map_err(|error| {
                Error::internal("reply cannot be written as JSON").because(error)
            })?;
            let answer = KeptAnswer { status: 200, body, headers: BTreeMap::new() };
            Some((request.clone(), cx.caller()?.clone(), answer))
        }
    };
    let answered_already = Arc::new(AtomicBool::new(false));
    let (records, wanted, now) = (records.clone(), Arc::clone(wanted), cx.now);
    let lost = Arc::clone(&answered_already);
    let stored = cx.platform.store.write(move |conn| {
        if let Some((request, caller, answer)) = &kept {
            let first = request.keep(conn, caller, answer, now)?;
            lost.store(!first, Ordering::Relaxed);
            if !first {
                return Err(Error::conflict("the idempotency key has an answer"));
            }
        }
        records.store(conn, &wanted)
    });
    match stored.await {
        Ok(()) => Ok(Stored::Everything),
        Err(_) if answered_already.load(Ordering::Relaxed) => Ok(Stored::AnsweredAlready),
        Err(error) if error.kind() == Kind::Conflict => Ok(Stored::Nothing),
        Err(error) => Err(error),
    }
}

impl OnboardMerchant {
    fn shape(&self) -> Shape {
        match self {
            Self::Full { .. } => Shape::Full,
            Self::Store { .. } => Shape::Store,
            Self::Tpn { .. } => Shape::Tpn,
        }
    }
}

impl Records {
    /// Stores everything, or fails with [`Kind::Conflict`] so that the transaction is undone.
    fn store(&self, conn: &mut dyn Conn, wanted: &Wanted) -> Result<()> {
        let refused = || Error::conflict("the onboarding is refused");
        let mut template = None;
        if wanted.must_be_looked_up() {
            let findings = lookup::find(conn, wanted)?;
            if !findings.is_empty() {
                return Err(refused());
            }
            template = findings.template;
        }
        if let Some(row) = &self.merchant
            && !merchant::insert(conn, row)?
        {
            return Err(refused());
        }
        if let Some(row) = &self.store
            && !merchant::store_insert(conn, row)?
        {
            return Err(refused());
        }
        match template {
            None => tpn::insert(conn, &self.tpn)?,
            template => tpn::insert(conn, &tpn::TpnRow { template, ..self.tpn.clone() })?,
        }
        self.profiles.iter().try_for_each(|profile| tpn::profile_put(conn, profile))?;
        self.events.iter().try_for_each(|event| outbox::append(conn, event))?;
        self.due.iter().try_for_each(|work| due_work::put(conn, work))?;
        audit::append(conn, &self.entry)
    }
}

impl Findings {
    fn into_failure(self) -> Failure {
        let mut issues = Issues::default();
        let mut headers = Vec::new();
        self.add_to(&mut issues, &mut headers);
        Failure::Issues { issues, headers }
    }
}
