//! Analytics: facts about orders in memory, and the one algebra that answers every report.
//!
//! Records become facts ([`derive`]), which [`facts`] keeps as columns; [`feed`] follows the
//! store's feed of changes and keeps them up to date; a report is a [`query::Query`].
//!
//! **Nothing of record lives here**: all facts follow from the records, and are made anew from them
//! at any time. This crate knows no HTTP and no SQL, and reads no clock. Start with [`query`].

pub mod facts;
pub mod query;
