//! What a refund comes to. One of lines counts for those lines; one that pays back all that is left
//! counts for what the order has left, in money, tax, shipping and goods, so that an order that was
//! paid back in whole comes to nothing.

use std::sync::Arc;

use shop_rows::order::figures::ItemFigures;
use types::Amount;

use super::{share, with_shares};
use crate::facts::{LineFact, OrderFact};
use crate::record::details::LineDetails;
use crate::record::{Record, Rules};

/// The fact of the refund at `index` of all refunds of an order.
pub(super) fn fact(
    rules: Rules,
    (order, of_order): (&Record<'_>, &OrderFact),
    refunds: &[Record<'_>],
    index: usize,
) -> Option<OrderFact> {
    let refund = refunds.get(index)?;
    let others: Vec<&Record<'_>> = refunds
        .iter()
        .enumerate()
        .filter_map(|(other, record)| (other != index).then_some(record))
        .collect();
    let mut fact = refund.fact(rules);
    fact.parent_id = of_order.order_id;
    (fact.paid, fact.completed) = (Some(fact.created), Some(fact.created));
    fact.status = Arc::clone(&of_order.status);
    fact.customer_id = of_order.customer_id;
    fact.currency = Arc::clone(&of_order.currency);
    if fact.merchant_id.is_empty() && fact.store_id.is_empty() && fact.tpn.is_empty() {
        fact.merchant_id = Arc::clone(&of_order.merchant_id);
        fact.store_id = Arc::clone(&of_order.store_id);
        fact.tpn = Arc::clone(&of_order.tpn);
    }
    let is_full = refund.details.is_full_refund();
    let pays_all = others.is_empty()
        && refund.quantity() <= Amount::ZERO
        && refund.order.row.total.abs() == order.order.row.total;
    if is_full || pays_all {
        let left = Left::of(order, &others);
        fact.items = -left.quantity.to_whole();
        fact.tax = -left.tax;
        fact.shipping = -left.shipping;
        fact.net = -left.net;
        if is_full && fact.lines.is_empty() {
            fact.lines = lines(rules, order, &others, &left);
        }
    }
    Some(fact)
}

/// What other refunds have left of an order.
struct Left {
    quantity: Amount,
    tax: Amount,
    shipping: Amount,
    shipping_tax: Amount,
    net: Amount,
}

impl Left {
    #[expect(
        clippy::redundant_closure_for_method_calls,
        reason = "a method by itself is of one lifetime, and does not fit"
    )]
    fn of(order: &Record<'_>, others: &[&Record<'_>]) -> Self {
        // The figures of refunds are negative.
        let left = |of: fn(&Record<'_>) -> Amount| {
            of(order) + others.iter().map(|other| of(other)).sum::<Amount>()
        };
        Self {
            quantity: left(|record| record.quantity()),
            tax: left(|record| record.order.row.total_tax),
            shipping: left(|record| record.order.row.shipping_total),
            shipping_tax: left(|record| record.order.row.shipping_tax),
            net: left(|record| record.net()),
        }
    }
}

/// The lines that a refund of all that is left stands for, when it names none itself.
fn lines(rules: Rules, order: &Record<'_>, others: &[&Record<'_>], left: &Left) -> Vec<LineFact> {
    let mut lines = Vec::new();
    for (record, own) in order.lines(rules) {
        let (mut quantity, mut net, mut tax) = (record.0.quantity, own.net, own.tax);
        for (other, line) in others.iter().flat_map(|other| other.lines(rules)) {
            if is_about(other, record) {
                quantity += other.0.quantity;
                net += line.net;
                tax += line.tax;
            }
        }
        if net.is_zero() {
            continue;
        }
        let part = |sum: Amount| {
            if sum <= Amount::ZERO {
                return 0.0;
            }
            -share(sum.to_f64(), left.quantity.to_f64(), quantity.to_f64()).abs()
        };
        let line = LineFact {
            quantity: -quantity.abs().to_whole(),
            net: -net.abs(),
            tax: -tax.abs(),
            discount: Amount::ZERO,
            ..own
        };
        lines.push(with_shares(line, [part(left.shipping), part(left.shipping_tax)]));
    }
    lines
}

/// Whether a line of a refund is about this line of the order.
fn is_about(
    (refunded, details): &(&ItemFigures, LineDetails),
    (item, _): &(&ItemFigures, LineDetails),
) -> bool {
    match details.refunded_item() {
        Some(item_id) => item_id == item.item_id,
        None => {
            (refunded.product_id, refunded.variation_id) == (item.product_id, item.variation_id)
        }
    }
}
