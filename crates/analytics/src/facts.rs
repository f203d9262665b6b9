//! Facts: what orders come to in reports, resident in memory as typed columns.
//!
//! [`derive`](crate::derive) makes an [`OrderFact`] of each record; the [`Writer`] keeps them in
//! chunks and hands out [`Snapshot`]s; [`query`](crate::query) reads those. [`Facts`](crate::Facts)
//! is what the rest of the house holds: the snapshot of now.

mod bytes;
mod catalog;
pub(crate) mod chunk;
pub(crate) mod column;
pub(crate) mod dictionary;
mod directory;
mod fact;
mod field;
pub(crate) mod file;
mod id_set;
mod layout;
pub(crate) mod returning;
pub(crate) mod snapshot;
mod writer;

pub use catalog::{Catalog, RollUp};
pub use directory::{Directory, Found, Question};
pub use fact::{
    CouponFact, DownloadFact, LineFact, LineNumber, OrderFact, OrderNumber, OrderText, TaxFact,
};
pub use id_set::IdSet;
pub use snapshot::Snapshot;
pub use writer::Writer;
