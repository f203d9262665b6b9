//! The algebra of reports: what to read, which rows count, how they are grouped, what is summed.
//!
//! A report is a [`Query`] and nothing else; no report has a loop of its own.
//! [`Snapshot::answer`](crate::facts::Snapshot::answer) carries it out. **Every call is given a
//! [`Scope`]**: what the caller may see is no filter that a report could forget.
//!
//! Dates are instants in UTC. Whoever asks knows the time zone of the site and hands in the bounds
//! of its days and weeks as instants. Money is in millionths, a quantity in whole pieces.

mod answer;
mod best;
mod compile;
mod distinct;
mod downloads;
mod filter;
mod kept;
mod listing;
mod plan;
mod scan;
mod select;
mod shares;
mod subjects;
mod totals;
mod whole;
mod work;

use types::Timestamp;

pub use crate::facts::{IdSet, RollUp};
use crate::facts::{LineNumber, OrderNumber, OrderText};

pub use answer::{Answer, AnswerRow, Key};
pub use filter::{AttributeTest, Filter, LineTest, RowKind};
pub use listing::{DownloadPage, DownloadSort, OrderPage, OrderSort, Paging};

/// What the rows are. Rows of all tables but downloads belong to an order or a refund, and have its
/// dates, status, customer and merchant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Table {
    /// Orders and refunds.
    Orders,
    /// What was sold, or came back: lines about products.
    Lines,
    /// A coupon that an order used.
    Coupons,
    /// What an order paid, or got back, at one rate.
    Taxes,
    /// Files that were downloaded. They have one date, whatever the query says.
    Downloads,
}

/// The date that decides when something happened. A row without that date never counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DateColumn {
    Created,
    Paid,
    Completed,
}

/// From one instant up to, and without, another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Span {
    pub from: Timestamp,
    pub until: Timestamp,
}

impl Span {
    /// All times.
    pub const ALWAYS: Self = Self {
        from: Timestamp::from_micros(i64::MIN + 1),
        until: Timestamp::from_micros(i64::MAX),
    };
}

/// Whose rows the caller may see. **Part of every query, not of its filter.**
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Scope {
    merchants: Option<Vec<String>>,
    stores: Option<Vec<String>>,
}

impl Scope {
    /// Of somebody who is bound to nothing and may see every row.
    pub fn everything() -> Self {
        Self::default()
    }

    /// Of somebody who sees the rows of these merchants only. None of them, none at all.
    #[must_use]
    pub fn of_merchants(self, merchants: Vec<String>) -> Self {
        Self { merchants: Some(merchants), ..self }
    }

    /// Of somebody who sees the rows of these stores only.
    #[must_use]
    pub fn of_stores(self, stores: Vec<String>) -> Self {
        Self { stores: Some(stores), ..self }
    }

    pub(crate) fn parts(&self) -> (Option<&[String]>, Option<&[String]>) {
        (self.merchants.as_deref(), self.stores.as_deref())
    }
}

/// What becomes one row of the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Group {
    /// All rows of a bucket together.
    None,
    /// Of lines and downloads.
    Product,
    /// Of lines: product and variation.
    Variation,
    /// Of lines: the id of the variation; 0 for none.
    VariationId,
    /// Of lines: the categories of the product.
    Category(RollUp),
    /// Of coupons.
    Coupon,
    /// Of taxes: the id of the rate.
    TaxRate,
    /// Of taxes: the id of the rate with the code and the percentage that it had then.
    TaxCode,
    Customer,
    /// New and returning customers. A refund is of a new one if its order is their first.
    CustomerType,
    /// A text of the order, such as its merchant.
    Text(OrderText),
}

/// A number to find out for each row of the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Measure {
    /// How many rows there are.
    Rows(When),
    Sum(Column, When, Per),
    /// How many different ones there are.
    Distinct(Subject, When),
    /// The latest of the dates, in microseconds; 0 when there is none.
    Latest(DateColumn),
}

/// Which rows a measure looks at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum When {
    Always,
    /// Rows of orders, not of refunds.
    Order,
    /// Rows of refunds.
    Refund,
    /// Rows that take money back: a line by its gross revenue, every other row by net, tax and
    /// shipping of its order together.
    Negative,
    /// All others.
    NotNegative,
}

/// How often a row is summed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Per {
    /// Every row once.
    Row,
    /// Of the rows that one order has in a group, the first. For columns of the order.
    Order,
}

/// What can be summed. Columns of the order can be summed over the rows of every table that
/// belongs to one; those of a line, coupon or tax only over their own. Elsewhere they are 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Column {
    /// A number of the order.
    Order(OrderNumber),
    /// Net, tax and shipping of the order.
    Gross,
    /// Discounts of all coupons of the order.
    Discounts,
    /// A number of the line.
    Line(LineNumber),
    /// Of the coupon.
    CouponDiscount,
    /// Of the tax: what it takes of goods and fees.
    TaxOfGoods,
    TaxOfShipping,
    /// Of the tax: both.
    TaxOfBoth,
}

/// What can be counted without counting anything twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Subject {
    /// Orders and refunds.
    Order,
    Customer,
    /// Products of the row, or of all lines of its order.
    Product,
    /// Variations of the row, or of all lines of its order.
    Variation,
    /// The same, where none at all counts as one.
    VariationOrNone,
    /// Coupons of the row, or of its order.
    Coupon,
    /// Rates of the row, or of its order.
    TaxRate,
}

/// A question to the facts.
#[derive(Clone, Debug)]
pub struct Query {
    pub table: Table,
    pub date: DateColumn,
    pub span: Span,
    /// Bounds of the buckets, ascending: the first bucket is from the first to the second. Rows
    /// that lie in none do not count. None: one bucket for the whole span.
    pub bounds: Vec<Timestamp>,
    pub filter: Filter,
    pub group: Group,
    pub measures: Vec<Measure>,
}

impl Query {
    /// All rows of the table, in one bucket and one group.
    pub fn of(table: Table, date: DateColumn, span: Span) -> Self {
        Self {
            table,
            date,
            span,
            bounds: Vec::new(),
            filter: Filter::everything(),
            group: Group::None,
            measures: Vec::new(),
        }
    }

    /// How many buckets there are.
    pub fn buckets(&self) -> usize {
        if self.bounds.is_empty() { 1 } else { self.bounds.len() - 1 }
    }
}
