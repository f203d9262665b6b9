//! What a merchant still lacks to be at work, and the review that may ask for more.

use contract::{Answer, Endpoint, Failure, Route};
use db::Conn;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use types::{Error, IsoId, MerchantId, Result, Scope};

use super::details::merchant_fields;
use crate::change::{self, Action, TpnRecord};
use crate::lifecycle::{MerchantStatus, ProfileStatus, StoreStatus, TpnStatus};
use crate::perform::{errors_outside, refusal_error};
use crate::rows::merchant::MerchantRow;
use crate::rows::{merchant, tpn};
use crate::transition::take_step;
use crate::{Cx, Platform};

/// Stores, and TPNs, that are looked at.
const LOOKED_AT_MAX: i64 = 100;
/// Length of the reason of a review at most.
const REASON_LENGTH_MAX: usize = 200;

/// Show what a merchant still lacks to be at work.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MerchantRequirements {
    /// Id of the merchant.
    merchant_id: MerchantId,
}

/// What is lacking; nothing if the merchant is at work.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RequirementsView {
    /// Id of the merchant.
    merchant_id: MerchantId,
    /// State of the merchant.
    status: String,
    /// What is lacking, of up to 100 stores and TPNs.
    requirements: Vec<Requirement>,
}

/// Something that is lacking.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Requirement {
    /// A stable code.
    code: &'static str,
    /// What to do.
    message: &'static str,
    /// The field, or the id of the store or TPN, that it is about; empty for the merchant itself.
    param: String,
}

impl Requirement {
    fn new(code: &'static str, message: &'static str, param: impl Into<String>) -> Self {
        Self { code, message, param: param.into() }
    }
}

impl Endpoint<Cx> for MerchantRequirements {
    const ROUTE: Route =
        Route::get("/v1/merchants/{merchantId}/requirements").scope(Scope::MerchantsRead);
    type Reply = RequirementsView;

    async fn handle(self, cx: &Cx) -> std::result::Result<Answer<RequirementsView>, Failure> {
        let iso_id = cx.caller()?.iso_id().clone();
        let view = cx.platform.store.read(move |conn| {
            let merchant: MerchantRow = change::load(conn, &iso_id, self.merchant_id.as_str())?;
            let requirements = lacking(conn, &merchant)?;
            Ok(RequirementsView {
                merchant_id: merchant.merchant_id,
                status: merchant.status,
                requirements,
            })
        });
        Ok(Answer::new(view.await?))
    }
}

fn lacking(conn: &mut dyn Conn, merchant: &MerchantRow) -> Result<Vec<Requirement>> {
    let mut lacking = Vec::new();
    for field in asked_for(merchant)? {
        lacking.push(Requirement::new("data_needed", "Send this field with PATCH.", field));
    }
    lacking.extend(
        match MerchantStatus::from_name(&merchant.status) {
            Some(MerchantStatus::InReview) => Some(("review_pending", "Wait for the review.")),
            Some(MerchantStatus::Suspended) => Some(("merchant_suspended", "Resume the merchant.")),
            Some(MerchantStatus::Rejected) => {
                Some(("merchant_rejected", "The merchant was permanently rejected."))
            }
            Some(MerchantStatus::Closed) => {
                Some(("merchant_closed", "The merchant is permanently closed."))
            }
            _ => None,
        }
        .map(|(code, message)| Requirement::new(code, message, "")),
    );
    let (iso_id, id) = (&merchant.iso_id, &merchant.merchant_id);
    let stores = merchant::stores_of(conn, iso_id, id, LOOKED_AT_MAX)?;
    if !stores.iter().any(|store| store.status == StoreStatus::Active) {
        lacking.push(Requirement::new("store_needed", "Activate a store or add one.", ""));
    }
    let tpns = tpn::of_merchant(conn, iso_id, id, LOOKED_AT_MAX)?;
    if tpns.iter().all(|row| row.status == TpnStatus::Retired) {
        lacking.push(Requirement::new("tpn_needed", "Add a TPN.", ""));
    }
    for row in tpns {
        let record = TpnRecord::of_row(conn, row)?;
        lacking.extend(lacking_of_tpn(&record));
    }
    Ok(lacking)
}

fn lacking_of_tpn(record: &TpnRecord) -> Vec<Requirement> {
    let row = &record.row;
    let about = |code, message| Requirement::new(code, message, row.tpn.as_str());
    let mut lacking = Vec::new();
    lacking.extend(
        match TpnStatus::from_name(&row.status) {
            Some(TpnStatus::Retired) => return lacking,
            _ if row.store_id.is_none() => Some(("store_needed", "Reassign the TPN to a store.")),
            Some(TpnStatus::Provisioned) => Some(("device_needed", "Pair a device with the TPN.")),
            Some(TpnStatus::Inactive) => Some(("tpn_inactive", "Activate the TPN.")),
            Some(TpnStatus::Reassigning) => {
                Some(("download_needed", "Let the device fetch its parameters."))
            }
            _ => None,
        }
        .map(|(code, message)| about(code, message)),
    );
    if record.profiles.iter().any(|profile| profile.status == ProfileStatus::Failed) {
        let message = "The processor rejected the credentials; replace the profile.";
        lacking.push(about("credentials_refused", message));
    }
    lacking
}

/// The fields that a review asked for and that were not sent yet.
pub(crate) fn asked_for(merchant: &MerchantRow) -> Result<Vec<String>> {
    let Some(text) = &merchant.requirements else { return Ok(Vec::new()) };
    serde_json::from_str(text)
        .map_err(|error| Error::internal("stored requirements cannot be read").because(error))
}

/// What a review comes to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Review {
    Approve,
    Reject,
    /// Asks for fields, by the names that `PATCH` knows.
    Ask(Vec<String>),
}

impl Platform {
    /// Decides on a merchant in review and returns its new state. Blocks; it is for the command
    /// line.
    pub fn merchant_review(
        &self,
        iso_id: &IsoId,
        merchant_id: &MerchantId,
        review: Review,
        reason: Option<String>,
    ) -> Result<String> {
        let long = reason.as_ref().is_some_and(|text| text.chars().count() > REASON_LENGTH_MAX);
        if long {
            return Err(Error::invalid(format!(
                "the reason must have at most {REASON_LENGTH_MAX} characters"
            )));
        }
        let (name, fields) = match review {
            Review::Approve => ("approve", Vec::new()),
            Review::Reject => ("reject", Vec::new()),
            Review::Ask(fields) => ("ask", checked_fields(fields)?),
        };
        let mut action = Action::by_system(iso_id, name, self.clock.now());
        action.reason = reason;
        let (iso_id, merchant_id) = (iso_id.clone(), merchant_id.clone());
        let done = self.store.attempt_blocking(move |conn| {
            let before: MerchantRow = change::load(conn, &iso_id, merchant_id.as_str())?;
            let requested = (!fields.is_empty()).then(|| Value::from(fields.clone()).to_string());
            let after = MerchantRow { requirements: requested, ..before.clone() };
            errors_outside(take_step(conn, &before, after, &action))
        })?;
        done.map(|merchant| merchant.status).map_err(refusal_error)
    }
}

fn checked_fields(fields: Vec<String>) -> Result<Vec<String>> {
    let known: Vec<&str> = merchant_fields().collect();
    let unknown = fields.iter().find(|field| !known.contains(&field.as_str()));
    if let Some(unknown) = unknown {
        let known = known.join(", ");
        return Err(Error::invalid(format!("unknown field {unknown}; use one of {known}")));
    }
    if fields.is_empty() {
        return Err(Error::invalid("at least one field is required"));
    }
    Ok(fields)
}
