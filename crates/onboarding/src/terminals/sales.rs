//! Sale requests: an order of a merchant's store is sent to one of its terminals, and paid back
//! there. What devices do with them is in [`super::device_sales`].

use std::time::Duration;

use contract::{Answer, Endpoint, Failure, Route};
use db::Conn;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use types::{Amount, Scope, Tpn};

use super::devices::AT_WORK;
use super::sale_orders::{REFUND, SALE, Shop, decimal};
use super::views::effective_status;
use crate::change::{Action, TpnRecord, announce, load};
use crate::codes::refusal;
use crate::event_kinds;
use crate::fields::{StatusReason, Word};
use crate::id_source::random_text;
use crate::lifecycle::schedule::{self, DueKind};
use crate::lifecycle::{self, SaleStatus};
use crate::perform::{Outcome, perform};
use crate::rows::sale::{self, SaleRow};
use crate::rows::{device, due_work};
use crate::transition::take_step;
use crate::{Code, Cx};

/// Requests that a list shows: the newest.
const SHOWN_MAX: i64 = 100;

const fn lifetime_default() -> i64 {
    120
}

/// A request to a terminal to take the money for an order, or to pay it back.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SaleView {
    /// Id of the request.
    sale_id: String,
    /// `sale` or `refund`.
    kind: String,
    /// The TPN number.
    tpn: Tpn,
    /// The order of the store.
    order_id: i64,
    /// The sale that a refund pays back.
    refund_of: Option<String>,
    /// The amount, as a decimal number.
    amount: String,
    /// Currency of the amount.
    currency: String,
    /// `requested`, `shown`, `approved`, `declined`, `cancelled` or `expired`.
    status: String,
    /// Why it has this state.
    reason: Option<String>,
    /// What the device says the processor calls it.
    approval_code: Option<String>,
    /// Until when the device can answer.
    expires: String,
    /// When it was made.
    created: String,
    /// Grows by one with every change.
    version: i64,
}

impl From<SaleRow> for SaleView {
    fn from(row: SaleRow) -> Self {
        Self {
            amount: decimal(row.amount),
            expires: row.expires.to_string(),
            created: row.created.to_string(),
            sale_id: row.sale_id,
            kind: row.kind,
            tpn: row.tpn,
            order_id: row.order_id,
            refund_of: row.refund_of,
            currency: row.currency,
            status: row.status,
            reason: row.status_reason,
            approval_code: row.approval_code,
            version: row.version,
        }
    }
}

/// Send an order to a terminal.
///
/// The order is one of the TPN's merchant and store, and waits for its payment. The device shows
/// the amount and answers; an approved sale pays the order.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SaleCreate {
    /// The TPN number.
    tpn: Tpn,
    /// The order of the store.
    #[schemars(range(min = 1))]
    order_id: i64,
    /// Seconds in which the device can answer: half a minute to a quarter of an hour.
    #[serde(default = "lifetime_default")]
    #[schemars(range(min = 30, max = 900))]
    lifetime_seconds: i64,
}

impl Endpoint<Cx> for SaleCreate {
    const ROUTE: Route = Route::post("/v1/tpns/{tpn}/sales").scope(Scope::TpnsWrite);
    type Reply = SaleView;

    async fn handle(self, cx: &Cx) -> Result<Answer<SaleView>, Failure> {
        let iso_id = cx.caller()?.iso_id().clone();
        let (shop, sale_id, now) = (Shop::of(&cx.platform)?, new_id()?, cx.now);
        let action = Action::of(cx, "request_sale")?;
        let expires = now.plus(lifetime(self.lifetime_seconds));
        perform(cx, move |conn| {
            let record: TpnRecord = load(conn, &iso_id, self.tpn.as_str())?;
            let order = shop.payable(conn, &record, self.order_id, now)?;
            let row = SaleRow {
                iso_id: iso_id.clone(),
                sale_id: sale_id.clone(),
                merchant_id: record.row.merchant_id.clone(),
                store_id: record.row.store_id.clone(),
                tpn: self.tpn.clone(),
                kind: SALE.to_owned(),
                order_id: order.order_id,
                refund_of: None,
                amount: order.total,
                currency: order.currency,
                status: SaleStatus::Requested.name().to_owned(),
                status_reason: None,
                approval_code: None,
                version: 1,
                expires,
                created: now,
                updated: now,
            };
            request(conn, &record, row, &action)
        })
        .await
    }
}

fn new_id() -> types::Result<String> {
    Ok(format!("sale{}", random_text(16)?))
}

fn lifetime(seconds: i64) -> Duration {
    Duration::from_secs(u64::try_from(seconds).unwrap_or_default())
}

fn is_open(sale: &SaleRow) -> bool {
    lifecycle::SALE.step("cancel", &sale.status).is_some()
}

/// Sends a request to a terminal that is at work, and has a device to answer it.
fn request(
    conn: &mut dyn Conn,
    record: &TpnRecord,
    row: SaleRow,
    action: &Action,
) -> Outcome<Answer<SaleView>> {
    let has_device = device::get(conn, &row.iso_id, &row.tpn)?.is_some();
    let status = effective_status(conn, record, None)?;
    if !has_device || !AT_WORK.contains(&&*status) {
        let message = "The TPN is not active or has no device.";
        return Err(refusal("tpn", Code::NotActive, message));
    }
    if sale::of_order(conn, &row.iso_id, row.order_id)?.iter().any(is_open) {
        let message = "A terminal was asked for this order already; cancel that request first.";
        return Err(refusal("orderId", Code::IllegalTransition, message));
    }
    sale::insert(conn, &row)?;
    let due = schedule::at(&row.iso_id, &row.sale_id, DueKind::ExpireSale, row.expires);
    due_work::put(conn, &due)?;
    announce(conn, &row, event_kinds::SALE_REQUESTED, action)?;
    Ok(Answer::new(row.into()))
}

/// Let a terminal pay a sale back, in full or in part.
///
/// The device that took the money is asked; an approved refund is a refund of the order.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SaleRefund {
    /// Id of the sale.
    sale_id: String,
    /// The amount, as a decimal number; all that is left if left out.
    amount: Option<Word>,
    /// Seconds in which the device can answer: half a minute to a quarter of an hour.
    #[serde(default = "lifetime_default")]
    #[schemars(range(min = 30, max = 900))]
    lifetime_seconds: i64,
}

impl Endpoint<Cx> for SaleRefund {
    const ROUTE: Route = Route::post("/v1/sales/{saleId}/refund").scope(Scope::TpnsWrite);
    type Reply = SaleView;

    async fn handle(self, cx: &Cx) -> Result<Answer<SaleView>, Failure> {
        let iso_id = cx.caller()?.iso_id().clone();
        let (shop, refund_id, now) = (Shop::of(&cx.platform)?, new_id()?, cx.now);
        let action = Action::of(cx, "request_refund")?;
        let expires = now.plus(lifetime(self.lifetime_seconds));
        perform(cx, move |conn| {
            let sold: SaleRow = load(conn, &iso_id, &self.sale_id)?;
            if sold.kind != SALE || sold.status != SaleStatus::Approved {
                let message = "Only an approved sale can be paid back.";
                return Err(refusal("saleId", Code::IllegalTransition, message));
            }
            let left = left_of(conn, &sold)?.min(shop.left(conn, sold.order_id, now)?);
            let amount = wanted_amount(self.amount.as_ref(), left)?;
            let record: TpnRecord = load(conn, &iso_id, sold.tpn.as_str())?;
            let row = SaleRow {
                sale_id: refund_id.clone(),
                kind: REFUND.to_owned(),
                refund_of: Some(sold.sale_id.clone()),
                amount,
                status: SaleStatus::Requested.name().to_owned(),
                status_reason: None,
                approval_code: None,
                version: 1,
                expires,
                created: now,
                updated: now,
                ..sold
            };
            request(conn, &record, row, &action)
        })
        .await
    }
}

/// What was not paid back of a sale.
fn left_of(conn: &mut dyn Conn, sold: &SaleRow) -> types::Result<Amount> {
    let of_order = sale::of_order(conn, &sold.iso_id, sold.order_id)?;
    let refunds = of_order.iter().filter(|other| {
        other.refund_of.as_deref() == Some(&*sold.sale_id) && other.status == SaleStatus::Approved
    });
    Ok(sold.amount - refunds.map(|refund| refund.amount).sum())
}

fn wanted_amount(given: Option<&Word>, left: Amount) -> Outcome<Amount> {
    let amount = match given {
        Some(text) => Amount::parse(text.as_str()).unwrap_or_default(),
        None => left,
    };
    if amount > Amount::ZERO && amount <= left {
        return Ok(amount);
    }
    let message = "The amount must be a positive number, and at most what is left of the sale.";
    Err(refusal("amount", Code::InvalidValue, message))
}

/// Show a sale request.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SaleGet {
    /// Id of the request.
    sale_id: String,
}

impl Endpoint<Cx> for SaleGet {
    const ROUTE: Route = Route::get("/v1/sales/{saleId}").scope(Scope::TpnsRead);
    type Reply = SaleView;

    async fn handle(self, cx: &Cx) -> Result<Answer<SaleView>, Failure> {
        let iso_id = cx.caller()?.iso_id().clone();
        let found = cx.platform.store.read(move |conn| {
            let row: SaleRow = load(conn, &iso_id, &self.sale_id)?;
            Ok(row)
        });
        Ok(Answer::new(found.await?.into()))
    }
}

/// Sale requests of a TPN.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SalePage {
    /// The requests, the newest first.
    data: Vec<SaleView>,
}

/// List the newest sale requests of a TPN, a hundred at most.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct SaleList {
    /// The TPN number.
    tpn: Tpn,
}

impl Endpoint<Cx> for SaleList {
    const ROUTE: Route = Route::get("/v1/tpns/{tpn}/sales").scope(Scope::TpnsRead);
    type Reply = SalePage;

    async fn handle(self, cx: &Cx) -> Result<Answer<SalePage>, Failure> {
        let iso_id = cx.caller()?.iso_id().clone();
        let found = cx.platform.store.list(move |conn| {
            let record: TpnRecord = load(conn, &iso_id, self.tpn.as_str())?;
            sale::of_tpn(conn, &iso_id, &record.row.tpn, SHOWN_MAX)
        });
        let data = found.await?.into_iter().map(SaleView::from).collect();
        Ok(Answer::new(SalePage { data }))
    }
}

/// Cancel a sale request that the device has not answered.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SaleCancel {
    /// Id of the request.
    sale_id: String,
    reason: Option<StatusReason>,
}

impl Endpoint<Cx> for SaleCancel {
    const ROUTE: Route = Route::post("/v1/sales/{saleId}/cancel").scope(Scope::TpnsWrite);
    type Reply = SaleView;

    async fn handle(self, cx: &Cx) -> Result<Answer<SaleView>, Failure> {
        let iso_id = cx.caller()?.iso_id().clone();
        let action = Action::of(cx, "cancel")?.because(self.reason);
        perform(cx, move |conn| {
            let before: SaleRow = load(conn, &iso_id, &self.sale_id)?;
            let after = take_step(conn, &before, before.clone(), &action)?;
            Ok(Answer::new(after.into()))
        })
        .await
    }
}
