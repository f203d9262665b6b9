//! Analytics: facts about orders in memory, the one algebra over them, and every report.
//!
//! Records ([`mod@record`]) become facts ([`mod@derive`]), which [`facts`] keeps as columns;
//! [`feed`] follows the database's feed of changes and keeps them up to date; a report is a
//! [`query::Query`].
//! [`reports`] declares the reports, [`calendar`] cuts time into intervals, and [`mod@routes`]
//! serves them.
//!
//! **Nothing of record lives here**: all facts follow from the records, and are made anew from them
//! at any time. This crate knows no HTTP and no SQL, and reads no clock. Start with [`query`].

pub mod calendar;
pub mod clickhouse;
pub mod columns;
pub mod compat;
pub mod context;
pub mod current;
pub mod derive;
mod engine;
pub mod exports;
pub mod facts;
pub mod feed;
mod imports;
pub mod indicators;
pub mod intervals;
pub mod known;
pub mod leaderboards;
pub mod live;
pub mod query;
pub mod record;
pub mod reports;
mod routes;
pub mod sales_record;
mod sales_reports;
pub mod settings;
mod view;

pub use context::{Cards, ReportContext, Settings, Shop};
pub use current::Facts;
pub use engine::Engine;
pub use imports::found;
pub use routes::{jobs, routes};
pub use view::View;
