//! What devices do with sale requests: they ask for the next one, show it, and answer. **An answer
//! and what follows from it for the order are one transaction.**

use contract::{Answer, Endpoint, Failure, Route};
use db::Conn;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use types::{Error, Timestamp};

use super::devices::AT_WORK;
use super::sale_orders::Shop;
use super::sales::SaleView;
use super::views::effective_status;
use crate::caller::DeviceCaller;
use crate::change::{Action, TpnRecord, load, object_not_found};
use crate::codes::refusal;
use crate::fields::{StatusReason, Word};
use crate::lifecycle::{self, SaleStatus};
use crate::perform::{Outcome, perform};
use crate::rows::device::DeviceRow;
use crate::rows::sale::{self, SaleRow};
use crate::transition::take_step;
use crate::{Code, Cx};

/// What a device says.
#[derive(Clone, Debug)]
pub(crate) struct Verdict {
    pub(crate) approved: bool,
    pub(crate) reason: Option<StatusReason>,
    pub(crate) approval_code: Option<String>,
}

fn device_of(cx: &Cx) -> types::Result<DeviceRow> {
    match cx.device.clone() {
        Some(DeviceCaller::Bound(device)) => Ok(device),
        _ => Err(Error::internal("a device has no token")),
    }
}

/// Ask for the sale request that this device is to show.
///
/// The token goes into the header: `Authorization: device-token bwd_…`. The request that is given
/// counts as shown from then on; the same one is given until it is answered or over.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct DeviceSaleGet {}

/// What a device is to show.
#[derive(Debug, Serialize, JsonSchema)]
pub struct DeviceSaleView {
    /// The request; null if there is none.
    sale: Option<SaleView>,
}

impl Endpoint<Cx> for DeviceSaleGet {
    const ROUTE: Route = Route::get("/v1/device/sale").device();
    type Reply = DeviceSaleView;

    async fn handle(self, cx: &Cx) -> Result<Answer<DeviceSaleView>, Failure> {
        let (device, now) = (device_of(cx)?, cx.now);
        let action = Action::of(cx, "show")?;
        perform(cx, move |conn| {
            let found = next_of(conn, &device, now)?;
            let shown = found.map(|sale| shown(conn, sale, &action)).transpose()?;
            Ok(Answer::new(DeviceSaleView { sale: shown.map(SaleView::from) }))
        })
        .await
    }
}

/// What the device is to do next: nothing while its TPN, store or merchant is not active. What it
/// was given before that, it can still answer, since the money may have been taken.
fn next_of(
    conn: &mut dyn Conn,
    device: &DeviceRow,
    now: Timestamp,
) -> types::Result<Option<SaleRow>> {
    let found = sale::next(conn, &device.iso_id, &device.tpn, now)?;
    let Some(found) = found else { return Ok(None) };
    let record: TpnRecord = load(conn, &device.iso_id, device.tpn.as_str())?;
    let status = effective_status(conn, &record, None)?;
    Ok(AT_WORK.contains(&&*status).then_some(found))
}

/// The request as it is once a device shows it.
fn shown(conn: &mut dyn Conn, sale: SaleRow, action: &Action) -> Outcome<SaleRow> {
    if lifecycle::SALE.step("show", &sale.status).is_none() {
        return Ok(sale);
    }
    take_step(conn, &sale, sale.clone(), &action.then("show", &[]))
}

/// Answer a sale request.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DeviceSaleAnswer {
    /// Id of the request.
    sale_id: String,
    /// Whether the money was taken, or paid back.
    approved: bool,
    reason: Option<StatusReason>,
    /// What the processor calls it.
    approval_code: Option<Word>,
}

impl Endpoint<Cx> for DeviceSaleAnswer {
    const ROUTE: Route = Route::post("/v1/device/sales/{saleId}/answer").device();
    type Reply = SaleView;

    async fn handle(self, cx: &Cx) -> Result<Answer<SaleView>, Failure> {
        let device = device_of(cx)?;
        let approval_code = self.approval_code.map(Word::into_string);
        let verdict = Verdict { approved: self.approved, reason: self.reason, approval_code };
        answer(cx, device, Some(self.sale_id), verdict).await
    }
}

/// Lets a device show and answer what it is asked for next.
pub(crate) async fn answer_next(
    cx: &Cx,
    device: DeviceRow,
    verdict: Verdict,
) -> Result<Answer<SaleView>, Failure> {
    answer(cx, device, None, verdict).await
}

/// Whether the device says again what it has said. It does so if it did not hear that it was
/// understood, and must not take that for a refusal.
fn is_repeated(device: &DeviceRow, sale: &SaleRow, verdict: &Verdict) -> bool {
    let status = if verdict.approved { SaleStatus::Approved } else { SaleStatus::Declined };
    let reason = verdict.reason.clone().map(StatusReason::into_string);
    // One that was paired since then is another device.
    let is_same_device = device.bound <= sale.updated;
    is_same_device
        && sale.status == status
        && sale.status_reason == reason
        && sale.approval_code == verdict.approval_code
}

async fn answer(
    cx: &Cx,
    device: DeviceRow,
    sale_id: Option<String>,
    verdict: Verdict,
) -> Result<Answer<SaleView>, Failure> {
    let (shop, now) = (Shop::of(&cx.platform)?, cx.now);
    let told = shop.clone();
    let name = if verdict.approved { "approve" } else { "decline" };
    let changed: &[&'static str] = if verdict.approved { &["approvalCode"] } else { &[] };
    let action = Action::of(cx, name)?.then(name, changed).because(verdict.reason.clone());
    let answered = perform(cx, move |conn| {
        let before: SaleRow = match &sale_id {
            Some(id) => load(conn, &device.iso_id, id)?,
            None => next_of(conn, &device, now)?.ok_or_else(object_not_found)?,
        };
        if before.tpn != device.tpn {
            return Err(object_not_found().into());
        }
        if is_repeated(&device, &before, &verdict) {
            return Ok(Answer::new(before.into()));
        }
        if now >= before.expires {
            let message = "The time to answer is over; ask for the next request.";
            return Err(refusal("saleId", Code::IllegalTransition, message));
        }
        let before = match &sale_id {
            Some(_) => before,
            None => shown(conn, before, &action)?,
        };
        let approval_code = verdict.approval_code.clone();
        let after = SaleRow { approval_code, ..before.clone() };
        let after = take_step(conn, &before, after, &action)?;
        if verdict.approved {
            shop.approved(conn, &after, now)?;
        } else {
            shop.declined(conn, &after, now)?;
        }
        Ok(Answer::new(after.into()))
    })
    .await;
    told.changed();
    answered
}
