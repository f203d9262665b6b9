//! The fields of orders and lines that reports filter, group and sum by.
//!
//! **A field is one line of a table here.** Columns of chunks, dictionaries, the file, filters,
//! groups and sums follow the tables, so that a new field needs its line, its member of the fact
//! and its value in [`derive`](mod@crate::derive), and another version of the file.

use std::sync::Arc;

use types::Amount;

use super::fact::{LineFact, OrderFact};

/// A number of a fact as columns keep it: whole, or an amount in millionths.
trait Number: Copy {
    fn to_column(self) -> i64;
    fn of_column(value: i64) -> Self;
}

impl Number for i64 {
    fn to_column(self) -> i64 {
        self
    }

    fn of_column(value: i64) -> Self {
        value
    }
}

impl Number for Amount {
    fn to_column(self) -> i64 {
        self.as_millionths()
    }

    fn of_column(value: i64) -> Self {
        Self::from_millionths(value)
    }
}

macro_rules! numbers {
    ($(#[$about:meta])* $name:ident of $fact:ident { $($variant:ident: $member:ident,)* }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum $name { $($variant,)* }

        impl $name {
            pub const ALL: &[Self] = &[$(Self::$variant,)*];
            pub(super) const COUNT: usize = Self::ALL.len();

            /// Its place among all.
            pub(super) fn index(self) -> usize {
                Self::ALL.iter().position(|own| *own == self).unwrap_or_default()
            }

            /// Its value: whole, or in millionths.
            pub fn of(self, fact: &$fact) -> i64 {
                match self { $(Self::$variant => fact.$member.to_column(),)* }
            }

            pub(super) fn set(self, fact: &mut $fact, value: i64) {
                match self { $(Self::$variant => fact.$member = Number::of_column(value),)* }
            }
        }
    };
}

macro_rules! texts {
    ($(#[$about:meta])* $name:ident of $fact:ident { $($variant:ident: $member:ident,)* }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum $name { $($variant,)* }

        impl $name {
            pub const ALL: &[Self] = &[$(Self::$variant,)*];
            pub(super) const COUNT: usize = Self::ALL.len();

            /// Its place among all.
            pub(super) fn index(self) -> usize {
                Self::ALL.iter().position(|own| *own == self).unwrap_or_default()
            }

            pub fn of(self, fact: &$fact) -> &Arc<str> {
                match self { $(Self::$variant => &fact.$member,)* }
            }

            pub(super) fn set(self, fact: &mut $fact, text: Arc<str>) {
                match self { $(Self::$variant => fact.$member = text,)* }
            }
        }
    };
}

texts! {
    /// A text of an order or refund, which columns keep as a number of a dictionary.
    OrderText of OrderFact {
        Status: status,
        Merchant: merchant_id,
        Store: store_id,
        Tpn: tpn,
        Currency: currency,
    }
}

numbers! {
    /// A number of an order or refund that can be summed.
    OrderNumber of OrderFact {
        Items: items,
        Total: total,
        Tax: tax,
        Shipping: shipping,
        Net: net,
    }
}

numbers! {
    /// A number of a line that can be summed.
    LineNumber of LineFact {
        Quantity: quantity,
        Net: net,
        Gross: gross,
        Discount: discount,
        Tax: tax,
        Shipping: shipping,
        ShippingTax: shipping_tax,
    }
}
