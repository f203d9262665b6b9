//! `POST /v1/onboardmerchant`: merchant, store and TPN, in one call or in stages.
//!
//! The body's content tells its shape: a `merchantId` means an existing merchant, a `storeId`
//! beside it an existing store. Everything that one request creates is stored in **one
//! transaction: all or nothing**.

mod endpoint;
mod lookup;
mod records;
mod request;
mod rules;

pub use endpoint::Onboarded;
pub(crate) use endpoint::{carry_out, check};
pub(crate) use records::{OnboardedIds, Prepared};
pub(crate) use request::TpnDetails;
pub use request::{FAILURE, OnboardMerchant};
pub(crate) use rules::check as check_rules;
