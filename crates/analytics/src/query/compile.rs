//! A filter made ready for columns: names become sets over the numbers of the dictionaries, so that
//! testing a row is looking up a flag.

use std::sync::Arc;

use super::filter::{AttributeTest, Filter, LineTest, RowKind};
use super::{Scope, Table};
use crate::facts::chunk::{Chunk, order};
use crate::facts::{IdSet, OrderText, Snapshot};

/// Customers up to which chunks are looked through for who bought there at all.
const BUYERS_MAX: usize = 128;

/// Which numbers of a dictionary are wanted.
pub(super) type Flags = Vec<bool>;

/// A test of an order or refund.
#[derive(Debug)]
pub(super) enum RowTest {
    All(Vec<RowTest>),
    Any(Vec<RowTest>),
    Not(Box<RowTest>),
    /// The column holds one of these numbers.
    Code(usize, Flags),
    /// It is of one of these few customers.
    Buyers(Vec<u32>),
    /// It is a refund, or is none.
    Refund(bool),
    Returning(bool),
    /// The same, where a refund is with its order.
    CustomerType(bool),
    Ids(IdSet),
    HasLine(LineFlags),
    HasCoupon(Flags),
    HasRate(Flags),
}

/// A test of a row of the query's table.
#[derive(Debug)]
pub(super) enum UnitTest {
    All(Vec<UnitTest>),
    Any(Vec<UnitTest>),
    Not(Box<UnitTest>),
    /// Of its order.
    Row(RowTest),
    Line(LineFlags),
    /// Of its coupon or rate, whichever it has.
    Code(Flags),
    Never,
}

/// A test of a line.
#[derive(Debug)]
pub(super) enum LineFlags {
    All(Vec<LineFlags>),
    Any(Vec<LineFlags>),
    Not(Box<LineFlags>),
    Goods(Flags),
    Attributes(Flags),
}

/// A filter in two parts: what can be told of the order alone, and the rest.
#[derive(Debug)]
pub(super) struct Compiled {
    pub(super) row: RowTest,
    pub(super) unit: Option<UnitTest>,
}

impl Compiled {
    /// The filter within the scope.
    pub(super) fn new(facts: &Snapshot, table: Table, scope: &Scope, filter: &Filter) -> Self {
        let compiler = Compiler { facts, table };
        let mut rows = compiler.scope(scope);
        let mut units = Vec::new();
        compiler.split(filter, &mut rows, &mut units);
        let unit = (!units.is_empty()).then_some(UnitTest::All(units));
        Self { row: RowTest::All(rows), unit }
    }

    /// Whether all that passes is of a few customers.
    pub(super) fn is_of_few_buyers(&self) -> bool {
        match &self.row {
            RowTest::All(list) => list.iter().any(|test| matches!(test, RowTest::Buyers(_))),
            _ => false,
        }
    }

    /// Whether no row of the chunk can pass, as far as its bounds tell.
    pub(super) fn skips(&self, chunk: &Chunk) -> bool {
        self.row.skips(chunk)
    }
}

impl RowTest {
    fn skips(&self, chunk: &Chunk) -> bool {
        match self {
            Self::All(list) => list.iter().any(|test| test.skips(chunk)),
            Self::Any(list) => list.iter().all(|test| test.skips(chunk)),
            Self::Ids(ids) => chunk.ids.is_none_or(|(least, greatest)| {
                let next = ids.ids().partition_point(|id| *id < least);
                ids.ids().get(next).is_none_or(|id| *id > greatest)
            }),
            Self::Refund(true) => chunk.parents.is_none(),
            Self::Buyers(codes) => !chunk.has_buyer(codes),
            _ => false,
        }
    }
}

struct Compiler<'a> {
    facts: &'a Snapshot,
    table: Table,
}

impl Compiler<'_> {
    fn scope(&self, scope: &Scope) -> Vec<RowTest> {
        let (merchants, stores) = scope.parts();
        let of = |field: OrderText, wanted: Option<&[String]>| {
            wanted.map(|wanted| self.text(field, wanted))
        };
        let merchants = of(OrderText::Merchant, merchants);
        merchants.into_iter().chain(of(OrderText::Store, stores)).collect()
    }

    fn text(&self, field: OrderText, wanted: &[String]) -> RowTest {
        RowTest::Code(order::text(field), texts(self.facts.names.texts(field), wanted))
    }

    /// Adds what must hold to one of the lists.
    fn split(&self, filter: &Filter, rows: &mut Vec<RowTest>, units: &mut Vec<UnitTest>) {
        if let Filter::All(list) = filter {
            for filter in list {
                self.split(filter, rows, units);
            }
        } else if let Some(test) = self.row(filter) {
            rows.push(test);
        } else {
            units.push(self.unit(filter));
        }
    }

    /// The filter as a test of the order alone. None when it needs more than that.
    fn row(&self, filter: &Filter) -> Option<RowTest> {
        let names = &self.facts.names;
        Some(match filter {
            Filter::All(list) => RowTest::All(self.rows(list)?),
            Filter::Any(list) => RowTest::Any(self.rows(list)?),
            Filter::Not(inner) => RowTest::Not(Box::new(self.row(inner)?)),
            Filter::Text(field, list) => self.text(*field, list),
            Filter::Kind(kind) => self.kind(*kind),
            Filter::Returning(returning) => RowTest::Returning(*returning),
            Filter::CustomerType(returning) => RowTest::CustomerType(*returning),
            Filter::Orders(ids) => RowTest::Ids(ids.clone()),
            Filter::Customers(ids) if ids.len() <= BUYERS_MAX => {
                RowTest::Buyers(few(&names.customers, ids))
            }
            Filter::Customers(ids) => RowTest::Code(order::CUSTOMER, flags(&names.customers, ids)),
            Filter::HasLine(test) => RowTest::HasLine(self.line(test)),
            Filter::HasCoupon(ids) => RowTest::HasCoupon(flags(&names.coupons, ids)),
            Filter::HasAnyCoupon => RowTest::HasCoupon(vec![true; names.coupons.len()]),
            Filter::HasTaxRate(ids) => RowTest::HasRate(self.rates(ids)),
            Filter::Coupon(ids) if self.table != Table::Coupons => {
                RowTest::HasCoupon(flags(&names.coupons, ids))
            }
            Filter::Line(_)
            | Filter::Coupon(_)
            | Filter::TaxRate(_)
            | Filter::DownloadProduct(_)
            | Filter::DownloadOrder(_)
            | Filter::DownloadUser(_)
            | Filter::DownloadIp(_) => return None,
        })
    }

    fn rows(&self, list: &[Filter]) -> Option<Vec<RowTest>> {
        list.iter().map(|filter| self.row(filter)).collect()
    }

    fn kind(&self, kind: RowKind) -> RowTest {
        let refunded = ["refunded".to_owned()];
        let full = self.text(OrderText::Status, &refunded);
        match kind {
            RowKind::Order => RowTest::Refund(false),
            RowKind::Refund => RowTest::Refund(true),
            RowKind::FullRefund => RowTest::All(vec![RowTest::Refund(true), full]),
            RowKind::PartialRefund => {
                RowTest::All(vec![RowTest::Refund(true), RowTest::Not(Box::new(full))])
            }
        }
    }

    fn unit(&self, filter: &Filter) -> UnitTest {
        if let Some(test) = self.row(filter) {
            return UnitTest::Row(test);
        }
        let all = |list: &[Filter]| list.iter().map(|filter| self.unit(filter)).collect();
        match (filter, self.table) {
            (Filter::All(list), _) => UnitTest::All(all(list)),
            (Filter::Any(list), _) => UnitTest::Any(all(list)),
            (Filter::Not(inner), _) => UnitTest::Not(Box::new(self.unit(inner))),
            (Filter::Line(test), Table::Lines) => UnitTest::Line(self.line(test)),
            (Filter::Coupon(ids), Table::Coupons) => {
                UnitTest::Code(flags(&self.facts.names.coupons, ids))
            }
            (Filter::TaxRate(ids), Table::Taxes) => UnitTest::Code(self.rates(ids)),
            _ => UnitTest::Never,
        }
    }

    fn rates(&self, ids: &IdSet) -> Flags {
        self.facts.names.rates.iter().map(|rate| ids.contains(rate.rate_id)).collect()
    }

    fn line(&self, test: &LineTest) -> LineFlags {
        let goods = |passes: &dyn Fn(i64, i64) -> bool| {
            let pairs = self.facts.names.goods.iter();
            LineFlags::Goods(
                pairs.map(|(product, variation)| passes(*product, *variation)).collect(),
            )
        };
        let all = |list: &[LineTest]| list.iter().map(|test| self.line(test)).collect();
        match test {
            LineTest::All(list) => LineFlags::All(all(list)),
            LineTest::Any(list) => LineFlags::Any(all(list)),
            LineTest::Not(inner) => LineFlags::Not(Box::new(self.line(inner))),
            LineTest::Product(ids) => goods(&|product, _| ids.contains(product)),
            LineTest::Variation(ids) => goods(&|_, variation| ids.contains(variation)),
            LineTest::HasVariation => goods(&|_, variation| variation != 0),
            LineTest::Attribute(test) => {
                let passes = |set: &Vec<(String, String)>| has(set, test);
                let chosen = self.facts.names.attributes.iter().map(passes).collect();
                let fixed = goods(&|product, variation| {
                    variation == 0 && test.products.contains(product) == test.equal
                });
                LineFlags::Any(vec![LineFlags::Attributes(chosen), fixed])
            }
        }
    }
}

fn has(set: &[(String, String)], test: &AttributeTest) -> bool {
    set.iter().any(|(name, value)| *name == test.name && (*value == test.value) == test.equal)
}

fn texts(names: &[Arc<str>], wanted: &[String]) -> Flags {
    names.iter().map(|name| wanted.iter().any(|wanted| **wanted == **name)).collect()
}

fn flags(names: &[i64], wanted: &IdSet) -> Flags {
    names.iter().map(|name| wanted.contains(*name)).collect()
}

/// The numbers of a few names. Nearly all names are told from them by their last bits.
fn few(names: &[i64], wanted: &IdSet) -> Vec<u32> {
    const BITS: i64 = 255;
    let bit = |id: i64| usize::try_from(id & BITS).unwrap_or_default();
    let mut ends = [false; 256];
    for id in wanted.ids() {
        if let Some(end) = ends.get_mut(bit(*id)) {
            *end = true;
        }
    }
    let is_wanted = |name: i64| ends.get(bit(name)) == Some(&true) && wanted.contains(name);
    (0..).zip(names).filter(|(_, name)| is_wanted(**name)).map(|(code, _)| code).collect()
}
