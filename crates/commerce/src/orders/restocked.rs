//! What came back into stock by a refund, kept with the refund itself, so that a refund that a
//! gateway declines can be taken back whole.

use contract::rest::Stop;
use frame::Call;
use serde_json::{Value, json};
use shop_rows::order::ItemKind;
use types::Amount;

use super::effects::RESTOCKED;
use super::record::{Line, Order};
use crate::common::meta;

/// The entry that says of which line a line of a refund is.
pub(super) const REFUNDED_LINE: &str = "_refunded_item_id";

fn restocked(line: &Line) -> Amount {
    line.meta(RESTOCKED).and_then(Amount::parse).unwrap_or_default()
}

/// Remembers with a refund that is not written yet how many of which line came back by it: the
/// lines of the order only say how many came back by all refunds together.
pub(super) fn mark_restocked(
    call: &mut Call<'_>,
    refund: &mut Order,
    came_back: &[(i64, Amount)],
) -> Result<(), Stop> {
    for (item_id, count) in came_back {
        let of = item_id.to_string();
        let mut lines = refund.lines_mut(ItemKind::Line);
        let Some(line) = lines.find(|line| line.meta(REFUNDED_LINE) == Some(&*of)) else {
            continue;
        };
        let value = (restocked(line) + *count).to_string();
        let entry = json!({ "key": RESTOCKED, "value": value });
        meta::merge(call.conn()?, &mut line.details.meta_data, &[entry])?;
    }
    Ok(())
}

/// Lets the order count what came back by the refund as sold again; the stock falls once the order
/// is settled. An order that was cancelled meanwhile has given everything back, and counts nothing.
pub(super) fn unmark_restocked(
    call: &mut Call<'_>,
    order: &mut Order,
    refund: &Order,
) -> Result<(), Stop> {
    for taken in refund.lines(ItemKind::Line) {
        let of = taken.meta(REFUNDED_LINE).unwrap_or_default();
        let mut lines = order.lines_mut(ItemKind::Line);
        let Some(line) = lines.find(|line| line.row.item_id.to_string() == of) else { continue };
        let known = restocked(line);
        let count = restocked(taken).min(known);
        if count <= Amount::ZERO {
            continue;
        }
        let rest = known - count;
        let value = if rest.is_zero() { Value::Null } else { json!(rest.to_string()) };
        let entry = json!({ "key": RESTOCKED, "value": value });
        meta::merge(call.conn()?, &mut line.details.meta_data, &[entry])?;
    }
    Ok(())
}
