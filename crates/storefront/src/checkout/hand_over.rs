//! Where a buyer goes once there is an order: to the page that thanks them, or to pay. An order
//! that is paid elsewhere keeps its stock for as long as the shop holds it.

use std::time::Duration;

use commerce::gateways::{Offered, hosted};
use commerce::orders::{Order, pay_path, place};
use commerce::payments;
use contract::rest::Stop;
use frame::{Call, Visit};
use shop_rows::order::ItemKind;
use shop_rows::stock_hold;
use types::Amount;

/// The goods whose stock is counted, with the pieces that the order has of each.
pub(super) fn counted_pieces(
    call: &mut Call<'_>,
    order: &Order,
) -> Result<Vec<(i64, Amount)>, Stop> {
    let mut pieces: Vec<(i64, Amount)> = Vec::new();
    for line in order.lines(ItemKind::Line) {
        let counted = commerce::products::stock::counted_on(call.conn()?, line.sold_id())?;
        let Some(counted) = counted else { continue };
        match pieces.iter_mut().find(|(id, _)| *id == counted.id()) {
            Some((_, quantity)) => *quantity += line.row.quantity,
            None => pieces.push((counted.id(), line.row.quantity)),
        }
    }
    Ok(pieces)
}

/// The address that the buyer is sent to. The gateway itself is asked for its page there, when this
/// transaction is over.
pub(super) fn address(
    call: &mut Call<'_>,
    order: &Order,
    method: Option<&Offered>,
) -> Result<String, Stop> {
    let Some(method) = method.filter(|method| hosted::is_hosted(&method.id)) else {
        return Ok(received(call.visit, order));
    };
    hold(call, order)?;
    let payment = payments::open(call, order, &method.id)?;
    let path = pay_path(call.options(), (order.id(), &order.row.order_key));
    Ok(call.visit.page(&format!("{path}&payment={}", payment.payment_id)))
}

fn hold(call: &mut Call<'_>, order: &Order) -> Result<(), Stop> {
    let minutes = place::hold_minutes(call.options());
    if minutes == 0 || order.details.stock_reduced {
        return Ok(stock_hold::release(call.conn()?, order.id())?);
    }
    let pieces = counted_pieces(call, order)?;
    let until = call.now().plus(Duration::from_mins(minutes));
    Ok(stock_hold::set(call.conn()?, order.id(), &pieces, until)?)
}

/// Where the buyer reads that the order was received.
fn received(visit: &Visit, order: &Order) -> String {
    let (id, key) = (order.row.order_id, &order.row.order_key);
    let endpoint = visit.options.text("woocommerce_checkout_order_received_endpoint");
    visit.page(&format!("/checkout/{endpoint}/{id}/?key={key}"))
}
