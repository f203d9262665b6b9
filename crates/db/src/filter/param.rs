//! Values of a query's parameters.

use types::{Amount, Timestamp};

use crate::Val;

/// A value that a condition compares with.
#[derive(Clone, Debug)]
pub enum Param {
    Int(i64),
    Text(String),
    Bytes(Vec<u8>),
}

impl From<Vec<u8>> for Param {
    fn from(value: Vec<u8>) -> Self {
        Self::Bytes(value)
    }
}

impl From<i64> for Param {
    fn from(value: i64) -> Self {
        Self::Int(value)
    }
}

impl From<bool> for Param {
    fn from(value: bool) -> Self {
        Self::Int(i64::from(value))
    }
}

impl From<Timestamp> for Param {
    fn from(value: Timestamp) -> Self {
        Self::Int(value.as_micros())
    }
}

impl From<Amount> for Param {
    fn from(value: Amount) -> Self {
        Self::Int(value.as_millionths())
    }
}

impl From<String> for Param {
    fn from(value: String) -> Self {
        Self::Text(value)
    }
}

impl Param {
    pub(super) fn as_val(&self) -> Val<'_> {
        match self {
            Self::Int(value) => Val::Int(*value),
            Self::Text(value) => Val::Text(value),
            Self::Bytes(value) => Val::Bytes(value),
        }
    }
}
