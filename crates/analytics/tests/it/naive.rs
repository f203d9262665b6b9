//! The algebra once more, as slow and as plain as possible: every measure by a walk over all facts.

use std::collections::{BTreeMap, BTreeSet};

use analytics::facts::{Catalog, CouponFact, LineFact, OrderFact, TaxFact};
use analytics::query::{
    Column, DateColumn, Filter, Group, Key, LineTest, Measure, Per, Query, RowKind, Scope, Subject,
    Table, When,
};
use types::Timestamp;

use crate::random::EXCLUDED;

/// A row of a table, with its order.
#[derive(Clone, Copy)]
struct Unit<'a> {
    order: &'a OrderFact,
    line: Option<&'a LineFact>,
    coupon: Option<&'a CouponFact>,
    tax: Option<&'a TaxFact>,
}

pub(crate) struct Naive<'a> {
    pub(crate) facts: &'a [OrderFact],
    pub(crate) catalog: &'a Catalog,
    pub(crate) scope: (Option<Vec<String>>, Option<Vec<String>>),
}

/// The numbers by bucket and key.
pub(crate) type Rows = BTreeMap<(usize, Key), Vec<i64>>;

/// What the scope is made of.
pub(crate) fn scope(merchants: Option<Vec<String>>, stores: Option<Vec<String>>) -> Scope {
    let scope = Scope::everything();
    let scope = match merchants {
        Some(merchants) => scope.of_merchants(merchants),
        None => scope,
    };
    match stores {
        Some(stores) => scope.of_stores(stores),
        None => scope,
    }
}

impl Naive<'_> {
    pub(crate) fn answer(&self, query: &Query) -> Rows {
        let mut cells: BTreeMap<(usize, Key), Vec<Unit<'_>>> = BTreeMap::new();
        if query.group == Group::None {
            cells.extend((0..query.buckets()).map(|bucket| ((bucket, Key::All), Vec::new())));
        }
        for order in self.facts.iter().filter(|order| self.sees(order)) {
            let Some(bucket) = date(order, query.date).and_then(|at| bucket(query, at)) else {
                continue;
            };
            for unit in units(query.table, order) {
                if self.passes(&query.filter, unit) {
                    for key in self.keys(query.group, unit) {
                        cells.entry((bucket, key)).or_default().push(unit);
                    }
                }
            }
        }
        let values = |units: &[Unit<'_>]| {
            query.measures.iter().map(|measure| value(query.table, *measure, units)).collect()
        };
        cells.into_iter().map(|(cell, units)| (cell, values(&units))).collect()
    }

    /// The ids of the orders that pass, in the order of the facts.
    pub(crate) fn list(&self, query: &Query) -> Vec<&OrderFact> {
        let seen = self.facts.iter().filter(|order| self.sees(order));
        let dated = seen
            .filter(|order| date(order, query.date).is_some_and(|at| bucket(query, at).is_some()));
        dated
            .filter(|order| {
                units(Table::Orders, order).any(|unit| self.passes(&query.filter, unit))
            })
            .collect()
    }

    fn sees(&self, order: &OrderFact) -> bool {
        let (merchants, stores) = &self.scope;
        let is_in = |list: &Option<Vec<String>>, own: &str| {
            list.as_ref().is_none_or(|list| list.iter().any(|wanted| wanted == own))
        };
        is_in(merchants, &order.merchant_id) && is_in(stores, &order.store_id)
    }

    /// A refund is of a new customer if it is of the first order that counts, or was made before it.
    fn is_returning(&self, order: &OrderFact) -> bool {
        let firsts = self.facts.iter().filter(|other| {
            other.parent_id == 0
                && other.customer_id == order.customer_id
                && !EXCLUDED.contains(&&*other.status)
        });
        let place = |order: &OrderFact| (order.created, order.order_id);
        let first = firsts.min_by_key(|other| place(other)).filter(|_| order.customer_id != 0);
        let is_late =
            |first: &OrderFact| place(order) > place(first) && order.parent_id != first.order_id;
        order.returning.unwrap_or_else(|| first.is_some_and(is_late))
    }

    fn passes(&self, filter: &Filter, unit: Unit<'_>) -> bool {
        let order = unit.order;
        let is_in = |list: &[String], own: &str| list.iter().any(|wanted| wanted == own);
        match filter {
            Filter::All(list) => list.iter().all(|filter| self.passes(filter, unit)),
            Filter::Any(list) => list.iter().any(|filter| self.passes(filter, unit)),
            Filter::Not(inner) => !self.passes(inner, unit),
            Filter::Text(field, list) => is_in(list, field.of(order)),
            Filter::Kind(kind) => match kind {
                RowKind::Order => order.parent_id == 0,
                RowKind::Refund => order.parent_id != 0,
                RowKind::FullRefund => order.parent_id != 0 && &*order.status == "refunded",
                RowKind::PartialRefund => order.parent_id != 0 && &*order.status != "refunded",
            },
            Filter::Returning(wanted) => order.returning == Some(*wanted),
            Filter::CustomerType(wanted) => self.is_returning(order) == *wanted,
            Filter::Orders(ids) => ids.contains(order.order_id),
            Filter::Customers(ids) => ids.contains(order.customer_id),
            Filter::HasLine(test) => order.lines.iter().any(|line| line_passes(test, line)),
            Filter::HasCoupon(ids) => order.coupons.iter().any(|own| ids.contains(own.coupon_id)),
            Filter::HasAnyCoupon => !order.coupons.is_empty(),
            Filter::HasTaxRate(ids) => order.taxes.iter().any(|tax| ids.contains(tax.rate_id)),
            Filter::Line(test) => unit.line.is_some_and(|line| line_passes(test, line)),
            Filter::Coupon(ids) => match unit.coupon {
                Some(own) => ids.contains(own.coupon_id),
                None => order.coupons.iter().any(|own| ids.contains(own.coupon_id)),
            },
            Filter::TaxRate(ids) => unit.tax.is_some_and(|tax| ids.contains(tax.rate_id)),
            Filter::DownloadProduct(_)
            | Filter::DownloadOrder(_)
            | Filter::DownloadUser(_)
            | Filter::DownloadIp(_) => false,
        }
    }

    fn keys(&self, group: Group, unit: Unit<'_>) -> Vec<Key> {
        let order = unit.order;
        match group {
            Group::None => vec![Key::All],
            Group::Product => unit.line.map(|line| Key::Id(line.product_id)).into_iter().collect(),
            Group::Variation => unit
                .line
                .map(|line| Key::Variation {
                    product_id: line.product_id,
                    variation_id: line.variation_id,
                })
                .into_iter()
                .collect(),
            Group::Category(roll_up) => unit.line.map_or(Vec::new(), |line| {
                let all = self.catalog.categories_of(line.product_id, roll_up);
                all.into_iter().map(Key::Id).collect()
            }),
            Group::Coupon => {
                unit.coupon.map(|coupon| Key::Id(coupon.coupon_id)).into_iter().collect()
            }
            Group::TaxRate => unit.tax.map(|tax| Key::Id(tax.rate_id)).into_iter().collect(),
            Group::TaxCode => unit
                .tax
                .map(|tax| Key::TaxCode {
                    rate_id: tax.rate_id,
                    code: tax.code.clone(),
                    percent: tax.percent,
                })
                .into_iter()
                .collect(),
            Group::Customer => vec![Key::Id(order.customer_id)],
            Group::CustomerType => vec![Key::Returning(self.is_returning(order))],
            Group::Text(field) => vec![Key::Text(field.of(order).clone())],
            Group::VariationId => {
                unit.line.map(|line| Key::Id(line.variation_id)).into_iter().collect()
            }
        }
    }
}

pub(crate) fn date(order: &OrderFact, column: DateColumn) -> Option<Timestamp> {
    match column {
        DateColumn::Created => Some(order.created),
        DateColumn::Paid => order.paid,
        DateColumn::Completed => order.completed,
    }
}

fn bucket(query: &Query, at: Timestamp) -> Option<usize> {
    if at < query.span.from || at >= query.span.until {
        return None;
    }
    if query.bounds.is_empty() {
        return Some(0);
    }
    query.bounds.windows(2).position(|pair| pair[0] <= at && at < pair[1])
}

fn units(table: Table, order: &OrderFact) -> impl Iterator<Item = Unit<'_>> {
    let bare = Unit { order, line: None, coupon: None, tax: None };
    let units: Vec<Unit<'_>> = match table {
        Table::Orders => vec![bare],
        Table::Lines => order.lines.iter().map(|line| Unit { line: Some(line), ..bare }).collect(),
        Table::Coupons => {
            order.coupons.iter().map(|coupon| Unit { coupon: Some(coupon), ..bare }).collect()
        }
        Table::Taxes => order.taxes.iter().map(|tax| Unit { tax: Some(tax), ..bare }).collect(),
        Table::Downloads => Vec::new(),
    };
    units.into_iter()
}

fn line_passes(test: &LineTest, line: &LineFact) -> bool {
    match test {
        LineTest::All(list) => list.iter().all(|test| line_passes(test, line)),
        LineTest::Any(list) => list.iter().any(|test| line_passes(test, line)),
        LineTest::Not(inner) => !line_passes(inner, line),
        LineTest::Product(ids) => ids.contains(line.product_id),
        LineTest::Variation(ids) => ids.contains(line.variation_id),
        LineTest::HasVariation => line.variation_id != 0,
        LineTest::Attribute(test) => {
            let mut chosen = line.attributes.iter().filter(|(name, _)| *name == test.name);
            let is_chosen = chosen.any(|(_, value)| (*value == test.value) == test.equal);
            let is_fixed = test.products.contains(line.product_id) == test.equal;
            is_chosen || (line.variation_id == 0 && is_fixed)
        }
    }
}

fn value(table: Table, measure: Measure, units: &[Unit<'_>]) -> i64 {
    let of = |when: When| -> Vec<Unit<'_>> {
        units.iter().copied().filter(|unit| holds(table, when, *unit)).collect()
    };
    match measure {
        Measure::Rows(when) => i64::try_from(of(when).len()).unwrap(),
        Measure::Sum(column, when, per) => {
            let mut sum = 0;
            let mut seen = BTreeSet::new();
            for unit in of(when) {
                let times = match per {
                    Per::Row => 1,
                    Per::Order => i64::from(seen.insert(unit.order.order_id)),
                };
                sum += column_of(column, unit) * times;
            }
            sum
        }
        Measure::Distinct(subject, when) => {
            let mut set = BTreeSet::new();
            for unit in of(when) {
                set.extend(subjects(subject, unit));
            }
            i64::try_from(set.len()).unwrap()
        }
        Measure::Latest(column) => {
            let dates = units.iter().filter_map(|unit| date(unit.order, column));
            dates.map(Timestamp::as_micros).max().unwrap_or_default().max(0)
        }
    }
}

fn gross(order: &OrderFact) -> i64 {
    (order.net + order.tax + order.shipping).as_millionths()
}

fn holds(table: Table, when: When, unit: Unit<'_>) -> bool {
    let sign = match (table, unit.line) {
        (Table::Lines, Some(line)) => line.gross.as_millionths(),
        _ => gross(unit.order),
    };
    match when {
        When::Always => true,
        When::Order => unit.order.parent_id == 0,
        When::Refund => unit.order.parent_id != 0,
        When::Negative => sign < 0,
        When::NotNegative => sign >= 0,
    }
}

fn column_of(column: Column, unit: Unit<'_>) -> i64 {
    let order = unit.order;
    let tax = |of: fn(&TaxFact) -> i64| unit.tax.map(of).unwrap_or_default();
    match column {
        Column::Order(number) => number.of(order),
        Column::Gross => gross(order),
        Column::Discounts => order.coupons.iter().map(|own| own.discount.as_millionths()).sum(),
        Column::Line(number) => unit.line.map(|line| number.of(line)).unwrap_or_default(),
        Column::CouponDiscount => {
            unit.coupon.map(|own| own.discount.as_millionths()).unwrap_or_default()
        }
        Column::TaxOfGoods => tax(|tax| tax.of_goods.as_millionths()),
        Column::TaxOfShipping => tax(|tax| tax.of_shipping.as_millionths()),
        Column::TaxOfBoth => tax(|tax| (tax.of_goods + tax.of_shipping).as_millionths()),
    }
}

fn subjects(subject: Subject, unit: Unit<'_>) -> Vec<i64> {
    let order = unit.order;
    let lines = |of: fn(&LineFact) -> i64| -> Vec<i64> {
        match unit.line {
            Some(line) => vec![of(line)],
            None => order.lines.iter().map(of).collect(),
        }
    };
    match subject {
        Subject::Order => vec![order.order_id],
        Subject::Customer => vec![order.customer_id],
        Subject::Product => lines(|line| line.product_id),
        Subject::Variation => {
            lines(|line| line.variation_id).into_iter().filter(|id| *id != 0).collect()
        }
        Subject::VariationOrNone => lines(|line| line.variation_id),
        Subject::Coupon => match unit.coupon {
            Some(coupon) => vec![coupon.coupon_id],
            None => order.coupons.iter().map(|coupon| coupon.coupon_id).collect(),
        },
        Subject::TaxRate => match unit.tax {
            Some(tax) => vec![tax.rate_id],
            None => order.taxes.iter().map(|tax| tax.rate_id).collect(),
        },
    }
}
