//! `/v1/sandbox/devices`: a terminal that is not there. It pairs with a code and asks for its
//! parameters as a real one does, at its owner's word.

use contract::{Answer, Endpoint, Failure, Route};
use schemars::JsonSchema;
use serde::Deserialize;
use types::Scope;

use crate::Cx;
use crate::change::object_not_found;
use crate::fields::{PairingCodeText, StatusReason};
use crate::rows::device;
use crate::terminals::device_sales::{Verdict, answer_next};
use crate::terminals::devices::{DeviceParametersView, PairedView, download, pair};
use crate::terminals::sales::SaleView;

/// The serial number of the device that was paired with a code: by it the device is found again.
fn serial_number(code: &PairingCodeText) -> String {
    format!("SIMULATED-{}", code.as_str().to_ascii_uppercase())
}

/// Pair a simulated device with the TPN of a code. Sandbox only.
///
/// The code is used up, as by a real device. The token in the answer works at `/v1/device`.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct SimulatedPair {
    code: PairingCodeText,
}

impl Endpoint<Cx> for SimulatedPair {
    const ROUTE: Route = Route::post("/v1/sandbox/devices/{code}/pair").scope(Scope::TpnsWrite);
    type Reply = PairedView;

    async fn handle(self, cx: &Cx) -> Result<Answer<PairedView>, Failure> {
        let (iso_id, now) = (cx.caller()?.iso_id().clone(), cx.now);
        let hash = cx.platform.code_hash(self.code.as_str());
        let found = cx.platform.store.read(move |conn| device::pairing_find(conn, &hash)).await?;
        let own = found.filter(|code| code.iso_id == iso_id && now < code.expires);
        pair(cx, own.ok_or_else(object_not_found)?, serial_number(&self.code)).await
    }
}

/// Let a simulated device ask for its parameters. Sandbox only.
///
/// It remembers what it was given and gets what changed since, or everything.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct SimulatedDownload {
    code: PairingCodeText,
    /// Ask for everything, as a device that remembers nothing.
    #[serde(default)]
    full: bool,
}

impl Endpoint<Cx> for SimulatedDownload {
    const ROUTE: Route = Route::post("/v1/sandbox/devices/{code}/download").scope(Scope::TpnsWrite);
    type Reply = DeviceParametersView;

    async fn handle(self, cx: &Cx) -> Result<Answer<DeviceParametersView>, Failure> {
        let iso_id = cx.caller()?.iso_id().clone();
        let serial = serial_number(&self.code);
        let found = cx.platform.store.read(move |conn| device::by_serial(conn, &iso_id, &serial));
        let device = found.await?.ok_or_else(object_not_found)?;
        let known = device.parameters.as_ref().map(|(version, _)| version.clone());
        let have = known.filter(|_| !self.full);
        download(cx, device, have.as_deref()).await
    }
}

/// Let a simulated device answer what it is asked for. Sandbox only.
///
/// It takes the oldest sale request that waits at its TPN, shows it, and answers.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct SimulatedAnswer {
    code: PairingCodeText,
    /// Whether the card is accepted.
    #[serde(default = "approved_default")]
    approved: bool,
    reason: Option<StatusReason>,
}

const fn approved_default() -> bool {
    true
}

impl Endpoint<Cx> for SimulatedAnswer {
    const ROUTE: Route = Route::post("/v1/sandbox/devices/{code}/answer").scope(Scope::TpnsWrite);
    type Reply = SaleView;

    async fn handle(self, cx: &Cx) -> Result<Answer<SaleView>, Failure> {
        let iso_id = cx.caller()?.iso_id().clone();
        let serial = serial_number(&self.code);
        let found = cx.platform.store.read(move |conn| device::by_serial(conn, &iso_id, &serial));
        let device = found.await?.ok_or_else(object_not_found)?;
        let approval_code = self.approved.then(|| String::from("SIMULATED"));
        let verdict = Verdict { approved: self.approved, reason: self.reason, approval_code };
        answer_next(cx, device, verdict).await
    }
}
