//! The audit log: who did what, from where, in an order that nobody can change unnoticed.
//!
//! A change appends its [`Entry`] with [`append`] **in its own transaction**; housekeeping links
//! entries to chains afterwards (`Platform::audit_chain`). Each entry's hash covers the one
//! before it, and the end of each chain is sealed with a key that the database does not have, so
//! that `Platform::audit_verify` finds entries that were changed, taken out, moved or cut off. It
//! starts where the last check ended; [`AuditCheckJob`] checks everything, in the background.
//! Entries name fields and harmless values; **personal data and secrets never get here**.

mod actions;
pub(crate) mod chain;
mod check;
mod endpoints;
pub(crate) mod entry;
mod full_check;
mod requests;
mod retention;
mod shown;

pub use check::{ChainBreak, VERIFY_MAX, Verified, VerifyFrom};
pub use endpoints::{AuditList, AuditVerified, AuditVerify, ChainBreakView};
pub use entry::{DONE, Entry, REFUSED, append};
pub use full_check::{AuditCheckGet, AuditCheckJob, AuditCheckStart, AuditCheckView};
pub use requests::RequestGet;
pub use retention::{ONLINE_FOR, Sink};
pub use shown::{AuditShown, AuditView};
pub(crate) use shown::{searched, shown};

pub use crate::request_log::redacted;
