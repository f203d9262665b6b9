//! What the fields and lists of commerce records share: paging and filters, amounts, free data.

pub mod amounts;
pub mod args;
pub mod events;
pub mod first;
pub mod meta;
pub mod paging;
pub mod version;

pub use frame::moments;
