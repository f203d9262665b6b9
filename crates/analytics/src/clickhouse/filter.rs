//! The filters of the algebra as conditions, and the columns that they and other expressions need.

use std::collections::BTreeSet;

use super::sql::{self, FALSE, all, any, is_id_among, is_text_among, not};
use super::tables::ATTRIBUTE_BREAK;
use crate::facts::OrderText;
use crate::query::{AttributeTest, Filter, LineTest, RowKind, Scope, Table};

/// The status of an order of which everything was paid back.
const REFUNDED: &str = "refunded";
/// The column that says whether a customer had bought before.
pub(super) const RETURNING: &str = "is_returning";
/// The column that says which of the rows of its order a row is.
pub(super) const PLACE: &str = "place";

/// Prints expressions about the rows of a table, and notes what they are made of.
#[derive(Debug)]
pub(super) struct Printer {
    table: Table,
    /// Columns of the order, be they lists.
    columns: BTreeSet<String>,
    /// Lists of which each row has one element.
    own: BTreeSet<String>,
    is_returning_needed: bool,
    is_place_needed: bool,
}

impl Printer {
    pub(super) fn new(table: Table) -> Self {
        let (columns, own) = (BTreeSet::new(), BTreeSet::new());
        Self { table, columns, own, is_returning_needed: false, is_place_needed: false }
    }

    pub(super) fn table(&self) -> Table {
        self.table
    }

    /// A column of the order.
    pub(super) fn column(&mut self, name: &str) -> String {
        self.columns.insert(name.to_owned());
        name.to_owned()
    }

    /// The row's own element of a list of its order.
    pub(super) fn own(&mut self, list: &str) -> String {
        self.columns.insert(list.to_owned());
        self.own.insert(list.to_owned());
        own_name(list)
    }

    /// Whether the customer had bought before. A refund is with its order.
    pub(super) fn returning(&mut self) -> String {
        self.is_returning_needed = true;
        RETURNING.to_owned()
    }

    /// The place of a row among those of its order.
    pub(super) fn place(&mut self) -> String {
        self.is_place_needed = true;
        PLACE.to_owned()
    }

    pub(super) fn needs_place(&self) -> bool {
        self.is_place_needed
    }

    /// Whether all of it is about columns that the table of orders has itself.
    pub(super) fn is_about_orders(&self) -> bool {
        self.own.is_empty() && !self.is_returning_needed
    }

    pub(super) fn columns(&self) -> &BTreeSet<String> {
        &self.columns
    }

    pub(super) fn own_lists(&self) -> &BTreeSet<String> {
        &self.own
    }

    pub(super) fn needs_returning(&self) -> bool {
        self.is_returning_needed
    }

    /// What the caller may see.
    pub(super) fn scope(&mut self, scope: &Scope) -> String {
        let (merchants, stores) = scope.parts();
        let parts = [(OrderText::Merchant, merchants), (OrderText::Store, stores)];
        let bound = parts.into_iter().filter_map(|(field, list)| Some((field, list?)));
        let tests: Vec<String> =
            bound.map(|(field, list)| is_text_among(&self.column(field.name()), list)).collect();
        all(tests)
    }

    pub(super) fn filter(&mut self, filter: &Filter) -> String {
        match filter {
            Filter::All(list) => all(list.iter().map(|own| self.filter(own)).collect::<Vec<_>>()),
            Filter::Any(list) => any(list.iter().map(|own| self.filter(own)).collect::<Vec<_>>()),
            Filter::Not(inner) => not(&self.filter(inner)),
            Filter::Text(field, list) => is_text_among(&self.column(field.name()), list),
            Filter::Kind(kind) => self.kind(*kind),
            Filter::Returning(wanted) => {
                let (returning, order) = (self.returning(), self.is_order());
                all([order, format!("{returning} = {}", u8::from(*wanted))])
            }
            Filter::CustomerType(wanted) => format!("{} = {}", self.returning(), u8::from(*wanted)),
            Filter::Orders(ids) => is_id_among(&self.column("order_id"), ids),
            Filter::Customers(ids) => is_id_among(&self.column("customer_id"), ids),
            Filter::HasLine(test) => self.has_line(test),
            Filter::Line(test) if self.table == Table::Lines => {
                for list in lists_of(test) {
                    self.own(list);
                }
                let [product, variation, attributes] = LINE_LISTS.map(own_name);
                Line { product, variation, attributes }.passes(test)
            }
            Filter::Coupon(ids) if self.table == Table::Coupons => {
                is_id_among(&self.own("coupon_id"), ids)
            }
            Filter::HasCoupon(ids) | Filter::Coupon(ids) => {
                exists(&self.column("coupon_id"), &is_id_among("x", ids))
            }
            Filter::HasAnyCoupon => format!("notEmpty({})", self.column("coupon_id")),
            Filter::HasTaxRate(ids) => exists(&self.column("tax_rate_id"), &is_id_among("x", ids)),
            Filter::TaxRate(ids) if self.table == Table::Taxes => {
                is_id_among(&self.own("tax_rate_id"), ids)
            }
            Filter::Line(_)
            | Filter::TaxRate(_)
            | Filter::DownloadProduct(_)
            | Filter::DownloadOrder(_)
            | Filter::DownloadUser(_)
            | Filter::DownloadIp(_) => FALSE.to_owned(),
        }
    }

    pub(super) fn is_order(&mut self) -> String {
        format!("{} = 0", self.column("parent_id"))
    }

    pub(super) fn is_refund(&mut self) -> String {
        format!("{} != 0", self.column("parent_id"))
    }

    fn kind(&mut self, kind: RowKind) -> String {
        let status = self.column(OrderText::Status.name());
        let is_full = format!("{status} = {}", sql::text(REFUNDED));
        match kind {
            RowKind::Order => self.is_order(),
            RowKind::Refund => self.is_refund(),
            RowKind::FullRefund => all([self.is_refund(), is_full]),
            RowKind::PartialRefund => all([self.is_refund(), not(&is_full)]),
        }
    }

    fn has_line(&mut self, test: &LineTest) -> String {
        let lists = lists_of(test);
        let columns = sql::joined(lists.iter().map(|list| self.column(list)), ", ");
        // Other names than those of the row's own elements, which may be there as well.
        let name = |list: &str| format!("x_{list}");
        let names = sql::joined(lists.iter().map(|list| name(list)), ", ");
        let [product, variation, attributes] = LINE_LISTS.map(name);
        let passes = Line { product, variation, attributes }.passes(test);
        format!("arrayExists(({names}) -> {passes}, {columns})")
    }
}

/// What lines can be tested by.
const LINE_LISTS: [&str; 3] = ["line_product_id", "line_variation_id", "line_attributes"];

/// The lists that the test reads, and one in any case.
fn lists_of(test: &LineTest) -> BTreeSet<&'static str> {
    let [product, variation, attributes] = LINE_LISTS;
    let mut lists = BTreeSet::from([product]);
    match test {
        LineTest::All(list) | LineTest::Any(list) => lists.extend(list.iter().flat_map(lists_of)),
        LineTest::Not(inner) => lists.extend(lists_of(inner)),
        LineTest::Product(_) => {}
        LineTest::Variation(_) | LineTest::HasVariation => drop(lists.insert(variation)),
        LineTest::Attribute(_) => lists.extend([variation, attributes]),
    }
    lists
}

/// The name of the row's own element of a list.
pub(super) fn own_name(list: &str) -> String {
    format!("own_{list}")
}

fn exists(list: &str, test: &str) -> String {
    format!("arrayExists(x -> {test}, {list})")
}

/// What a line is tested by: names of columns, or of the parameters of a function.
struct Line {
    product: String,
    variation: String,
    attributes: String,
}

impl Line {
    fn passes(&self, test: &LineTest) -> String {
        match test {
            LineTest::All(list) => all(list.iter().map(|own| self.passes(own))),
            LineTest::Any(list) => any(list.iter().map(|own| self.passes(own))),
            LineTest::Not(inner) => not(&self.passes(inner)),
            LineTest::Product(ids) => is_id_among(&self.product, ids),
            LineTest::Variation(ids) => is_id_among(&self.variation, ids),
            LineTest::HasVariation => format!("{} != 0", self.variation),
            LineTest::Attribute(test) => self.has_attribute(test),
        }
    }

    fn has_attribute(&self, test: &AttributeTest) -> String {
        let AttributeTest { name, value, equal, products } = test;
        let whole = sql::text(&format!("{name}{ATTRIBUTE_BREAK}{value}"));
        let start = sql::text(&format!("{name}{ATTRIBUTE_BREAK}"));
        let is_chosen = if *equal {
            format!("has({}, {whole})", self.attributes)
        } else {
            let other = format!("startsWith(x, {start}) AND x != {whole}");
            exists(&self.attributes, &other)
        };
        let is_among = is_id_among(&self.product, products);
        let is_fixed = if *equal { is_among } else { not(&is_among) };
        any([is_chosen, all([format!("{} = 0", self.variation), is_fixed])])
    }
}
