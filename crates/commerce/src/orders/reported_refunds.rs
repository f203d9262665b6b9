//! Refunds that follow what a gateway did: one that it made by itself is recorded, one that it
//! declined is taken back. Nobody's request is answered here.

use contract::rest::Stop;
use frame::Call;
use shop_rows::order::OrderKind;
use types::Amount;

use super::effects::{self, Before};
use super::record::Order;
use super::refunds::{carry_out, left, prepared};
use super::restocked::unmark_restocked;
use super::status;
use crate::common::moments;

/// A refund that a gateway made by itself.
#[derive(Debug)]
pub(crate) struct ReportedRefund {
    pub(crate) amount: Amount,
    pub(crate) reason: String,
}

/// Records what a gateway has paid back. Nothing if that is more than is left of the order.
pub(crate) fn record_refund(
    call: &mut Call<'_>,
    order: Order,
    wanted: ReportedRefund,
) -> Result<Option<i64>, Stop> {
    if wanted.amount > left(call, &order)? {
        return Ok(None);
    }
    let mut refund = prepared(call, &order, wanted.amount, wanted.reason, &[])?;
    refund.details.refunded_payment = true;
    Ok(Some(carry_out(call, order, refund, &[])?.id()))
}

/// Takes a refund back that no money followed; the order gets its former status again, and the
/// goods that came back are sold again.
pub(crate) fn undo_refund(
    call: &mut Call<'_>,
    refund_id: i64,
    status_before: &str,
) -> Result<(), Stop> {
    let found = Order::get(call.conn()?, refund_id, OrderKind::Refund)?;
    let Some(refund) = found else { return Ok(()) };
    shop_rows::order::delete(call.conn()?, refund_id)?;
    effects::append_event(call, "refund.deleted", &refund)?;
    let found = Order::get(call.conn()?, refund.row.parent_id, OrderKind::Order)?;
    let Some(mut order) = found else { return Ok(()) };
    unmark_restocked(call, &mut order, &refund)?;
    if order.row.status == status::REFUNDED && !status_before.is_empty() {
        effects::set_status(call, &mut order, status_before)?;
        // Whoever bought was told of the refund; that it is undone, people tell them.
        order.transitions.clear();
    }
    order.row.modified = moments::now(call);
    let before = Before::same(&order);
    effects::settle(call, &mut order, &before)?;
    let order = order.update(call.conn()?)?;
    Ok(effects::append_event(call, "order.updated", &order)?)
}
