//! Facts from records: what an order and its refunds come to in reports. Pure functions; whoever
//! calls them has read the records.
//!
//! An order and its refunds are derived together ([`family`]), since a refund of all that is left
//! counts for what the order and the other refunds leave over. The rules are the reference's, with
//! its mistakes about refunds and taxes fixed: see `conformance/deviations`.
//!
//! **Shares of shipping are divided as binary fractions**, because the recorded facts are roundings
//! of those; everything else is exact.

mod customers;
mod refund;

use std::collections::HashMap;
use std::sync::Arc;

use shop_rows::order::figures::{Figures, ItemFigures};
use shop_rows::order::{ItemKind, OrderKind};
use types::{Amount, Result};

pub use customers::Customers;

use crate::facts::{CouponFact, LineFact, OrderFact, TaxFact};
use crate::record::details::LineDetails;
use crate::record::{LineRecord, Record, Rules};

/// The statuses of records that are no part of the facts, with all their refunds.
const ABSENT_STATUS: &str = "trash";

/// The numbers of coupons by their folded codes.
pub type Coupons = HashMap<String, i64>;

/// The facts of an order and of all its refunds. None of an order in the trash, or of one that was
/// only a test.
pub fn family(
    rules: Rules,
    (customers, coupons): (&Customers, &Coupons),
    order: &Figures,
    refunds: &[Figures],
) -> Result<Vec<OrderFact>> {
    if order.row.kind != OrderKind::Order || order.row.status == ABSENT_STATUS {
        return Ok(Vec::new());
    }
    let record = Record::read(order)?;
    if record.details.is_test() {
        return Ok(Vec::new());
    }
    let refunds = refunds.iter().map(Record::read).collect::<Result<Vec<Record<'_>>>>()?;
    let mut own = record.fact(rules);
    own.customer_id = customers.of(&order.row);
    own.coupons = record.coupons(coupons);
    let mut facts = Vec::with_capacity(refunds.len() + 1);
    for index in 0..refunds.len() {
        facts.extend(refund::fact(rules, (&record, &own), &refunds, index));
    }
    facts.insert(0, own);
    Ok(facts)
}

/// The coupons whose ids a record does not tell, by their codes, so that they can be looked up.
pub fn unnumbered_coupons(order: &Figures) -> Result<Vec<String>> {
    let mut codes = Vec::new();
    for item in order.items.iter().filter(|item| item.kind == ItemKind::Coupon) {
        if LineDetails::read(item)?.coupon_id().is_none() {
            codes.push(item.name.clone());
        }
    }
    Ok(codes)
}

impl<'a> Record<'a> {
    /// As its own figures say, without regard to other records.
    fn fact(&self, rules: Rules) -> OrderFact {
        let row = &self.order.row;
        OrderFact {
            order_id: row.order_id,
            created: row.created,
            paid: row.paid,
            completed: row.completed,
            lines: self.lines(rules).into_iter().map(|(_, line)| line).collect(),
            taxes: self.taxes(),
            ..OrderFact::of(self)
        }
    }

    /// The lines about products, each with its record.
    fn lines(&self, rules: Rules) -> Vec<(&(&'a ItemFigures, LineDetails), LineFact)> {
        let rates: Vec<i64> = self.of_kind(ItemKind::Tax).map(|(item, _)| item.rate_id).collect();
        let quantity = self.quantity().to_f64();
        let shipping = self.order.row.shipping_total.to_f64();
        let shipping_tax: Amount =
            self.of_kind(ItemKind::Shipping).map(|(_, details)| details.tax(&rates)).sum();
        let mut lines = Vec::new();
        for record in self.of_kind(ItemKind::Line) {
            let (item, details) = record;
            let line = LineFact {
                product_id: item.product_id,
                variation_id: item.variation_id,
                attributes: details.attributes(),
                ..LineFact::of(&LineRecord { item, details, rules, rates: &rates })
            };
            if item.quantity.is_zero() && !line.net.is_negative() {
                continue;
            }
            let own = item.quantity.to_f64();
            let shares = [shipping, shipping_tax.to_f64()].map(|sum| share(sum, quantity, own));
            lines.push((record, with_shares(line, shares)));
        }
        lines
    }

    fn taxes(&self) -> Vec<TaxFact> {
        let tax = |(item, details): &(&ItemFigures, LineDetails)| TaxFact {
            rate_id: item.rate_id,
            code: Arc::from(item.name.as_str()),
            percent: details.rate_percent.unwrap_or_default(),
            of_goods: item.total_tax,
            of_shipping: details.shipping_tax.unwrap_or_default(),
        };
        self.of_kind(ItemKind::Tax).map(tax).collect()
    }

    fn coupons(&self, numbers: &Coupons) -> Vec<CouponFact> {
        let mut coupons: Vec<CouponFact> = Vec::new();
        let mut unknown = 0;
        for (item, details) in self.of_kind(ItemKind::Coupon) {
            let by_code = || numbers.get(&db::filter::fold(&item.name)).copied();
            let coupon_id = details.coupon_id().or_else(by_code).unwrap_or_else(|| {
                unknown -= 1;
                unknown
            });
            match coupons.iter_mut().find(|coupon| coupon.coupon_id == coupon_id) {
                Some(coupon) => coupon.discount += item.total,
                None => coupons.push(CouponFact { coupon_id, discount: item.total }),
            }
        }
        coupons
    }
}

/// The part of a sum that belongs to so many of all pieces.
fn share(sum: f64, all: f64, own: f64) -> f64 {
    if all == 0.0 { 0.0 } else { sum / all * own }
}

/// The line with its parts of shipping and of the tax on it, and what it comes to with all that.
fn with_shares(line: LineFact, [shipping, shipping_tax]: [f64; 2]) -> LineFact {
    let gross = line.net.to_f64() + line.tax.to_f64() + shipping + shipping_tax;
    LineFact {
        shipping: six_decimals(shipping),
        shipping_tax: six_decimals(shipping_tax),
        gross: six_decimals(gross),
        ..line
    }
}

/// Rounded by what the binary fraction is exactly, not by how it is commonly written.
fn six_decimals(value: f64) -> Amount {
    let millionths = value * 1e6;
    // The product is the nearest to what it stands for: only close to the middle between two whole
    // numbers could it be rounded to the wrong one.
    let distance = (millionths - millionths.trunc()).abs();
    if millionths.abs() < SURE_MAX && (distance - 0.5).abs() > 0.001 {
        return Amount::from_millionths(whole(millionths.round()));
    }
    Amount::parse(&format!("{value:.6}")).unwrap_or_default()
}

/// Up to so many millionths, a product of a binary fraction is off by far less than a thousandth.
const SURE_MAX: f64 = 1e12;

#[expect(
    clippy::as_conversions,
    clippy::cast_possible_truncation,
    reason = "it is whole, and small enough"
)]
fn whole(value: f64) -> i64 {
    value as i64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn six_decimals_are_those_of_the_exact_value() {
        let exact = |value: f64| Amount::parse(&format!("{value:.6}")).unwrap_or_default();
        for value in [0.0, -0.0, 0.000_000_5, 0.000_001_5, 2.5e-6, 1e300, -1e300, f64::NAN] {
            assert_eq!(six_decimals(value), exact(value), "{value}");
        }
        let mut number = 1_u64;
        for _ in 0..100_000 {
            number = number.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let amount = Amount::from_millionths(number.cast_signed() >> (20 + number % 40));
            for value in [amount.to_f64(), amount.to_f64() / 3.0, amount.to_f64() / 2e6 * 1e6] {
                assert_eq!(six_decimals(value), exact(value), "{value}");
            }
        }
    }
}
