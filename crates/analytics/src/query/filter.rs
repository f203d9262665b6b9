//! Which rows count. A filter is a tree; a leaf looks at the row, at its order, or asks whether the
//! order has a line, coupon or tax of some kind.

use crate::facts::{IdSet, OrderText};

/// What kind of row an order row is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RowKind {
    Order,
    Refund,
    /// A refund of an order whose status says that all of it was paid back.
    FullRefund,
    /// Any other refund.
    PartialRefund,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Filter {
    /// All of them hold; of an empty list, that is so.
    All(Vec<Filter>),
    /// One of them holds; of an empty list, that is never so.
    Any(Vec<Filter>),
    Not(Box<Filter>),
    /// The order has one of these texts, such as its status. A refund has those of its order.
    Text(OrderText, Vec<String>),
    Kind(RowKind),
    /// The customer had bought before, or had not. Refunds are neither.
    Returning(bool),
    /// The same, where a refund is with its order.
    CustomerType(bool),
    Orders(IdSet),
    /// Customers as reports number them.
    Customers(IdSet),
    /// The order, or refund, has a line that passes.
    HasLine(LineTest),
    /// The order has one of these coupons.
    HasCoupon(IdSet),
    /// The order has a coupon at all.
    HasAnyCoupon,
    /// The order, or refund, has a tax at one of these rates.
    HasTaxRate(IdSet),
    /// The line itself passes. Where rows are no lines, it never does.
    Line(LineTest),
    /// The coupon itself is one of these. Where rows are no coupons, their order has one of them.
    Coupon(IdSet),
    /// The tax itself is at one of these rates.
    TaxRate(IdSet),
    /// The download is of a file of these products.
    DownloadProduct(IdSet),
    /// The download is by a permission of these orders.
    DownloadOrder(IdSet),
    /// The download was made by these users.
    DownloadUser(IdSet),
    /// The download was made from one of these addresses.
    DownloadIp(Vec<String>),
}

impl Filter {
    pub fn everything() -> Self {
        Self::All(Vec::new())
    }

    pub fn nothing() -> Self {
        Self::Any(Vec::new())
    }

    /// Whether this or a part of it is what is looked for.
    pub(super) fn has(&self, is_wanted: &dyn Fn(&Self) -> bool) -> bool {
        let inner = match self {
            Self::All(list) | Self::Any(list) => list.as_slice(),
            Self::Not(inner) => std::slice::from_ref(&**inner),
            _ => &[],
        };
        is_wanted(self) || inner.iter().any(|filter| filter.has(is_wanted))
    }

    #[must_use]
    pub fn negated(self) -> Self {
        Self::Not(Box::new(self))
    }

    /// This and the other.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        match self {
            Self::All(mut list) => {
                list.push(other);
                Self::All(list)
            }
            first => Self::All(vec![first, other]),
        }
    }
}

/// What a line must be like.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum LineTest {
    All(Vec<LineTest>),
    Any(Vec<LineTest>),
    Not(Box<LineTest>),
    Product(IdSet),
    /// One of these variations; 0 stands for none.
    Variation(IdSet),
    /// It is about a variation at all.
    HasVariation,
    Attribute(AttributeTest),
}

/// Whether a line is about something with this attribute, or with another value of it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct AttributeTest {
    /// As lines have it, such as `pa_colour`.
    pub name: String,
    pub value: String,
    /// Whether the value must be this one, or another.
    pub equal: bool,
    /// Products that have the value without a choice among variations. A line about a product
    /// without variation passes when the product is one of them, or, if the value must be another,
    /// when it is none of them.
    pub products: IdSet,
}
