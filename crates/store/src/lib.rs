//! The only crate that knows SQL: SQLite and PostgreSQL behind one seam.
//!
//! A caller hands [`Store`] a closure; the closure runs as **one transaction on a database thread**
//! and talks to the database through [`Conn`]. There is one SQL text for both engines, in a
//! portable subset, and migrations are written once. Nothing waits inside a transaction: no clock,
//! no network, no await; time and ids come in as arguments.
//!
//! - [`Store::write`]: on SQLite one writer thread runs waiting closures in savepoints and commits
//!   them as a group (an answer is given only after the commit reached the disk); on PostgreSQL
//!   each closure is a serialisable transaction, run again when it loses a race.
//! - [`Store::attempt`]: a write that may refuse, and then leaves nothing behind.
//! - [`Store::read`]: a consistent snapshot on a reader connection.
//! - The modules named after nouns ([`iso`], [`iso_account`], [`iso_registration`], [`api_key`],
//!   [`template`], [`merchant`], [`tpn`], [`device`], [`history`], [`due_work`];
//!   of the site [`user`], [`application_password`], [`consumer_key`], [`session`], [`option`],
//!   [`post`], [`revision`], [`term`], [`oembed_cache`]; of the shop [`product`], [`attribute`],
//!   [`review`], [`coupon`], [`tax_class`], [`tax_rate`], [`download_permission`],
//!   [`download_log`], [`order`], [`order_note`], [`customer`], [`customer_lookup`], [`shipping`],
//!   [`webhook`], [`webhook_delivery`], [`webhook_endpoint`], [`package`], [`marketplace`],
//!   [`catalogue_feed`]; of both [`background_job`] and [`report_file`]; of imports [`import`] and
//!   [`bulk_upload`]) hold the queries; lists with many filters are put together by [`filter`];
//!   [`outbox`] is the feed of all changes, [`audit`] tells who made them, [`counter`] hands out
//!   numbers, [`backup`] copies everything in a form that both engines read.
//!
//! Start with [`Store::open`], then read [`merchant`] for what a query looks like.

pub mod admin_note;
pub mod api_key;
pub mod application_password;
pub mod attribute;
pub mod audit;
pub mod audit_keeping;
pub mod background_job;
pub mod backup;
mod bulk;
pub mod bulk_upload;
pub mod catalogue_feed;
pub mod caught_webhook;
mod conn;
pub mod consumer_key;
pub mod counter;
pub mod coupon;
pub mod customer;
pub mod customer_lookup;
mod database;
pub mod delivery_step;
pub mod device;
pub mod download_log;
pub mod download_permission;
pub mod due_work;
pub mod fact;
pub mod filter;
mod hex;
pub mod history;
pub mod idempotency;
pub mod import;
pub mod iso;
pub mod iso_account;
pub mod iso_registration;
mod job;
pub mod login_token;
pub mod marketplace;
pub mod merchant;
mod migrate;
mod named;
pub mod oembed_cache;
pub mod option;
pub mod order;
pub mod order_note;
pub mod outbox;
pub mod package;
pub mod post;
mod postgres;
pub mod presence;
pub mod product;
mod queue;
pub mod quota;
pub mod record;
pub mod report_file;
pub mod request_log;
pub mod reset;
pub mod review;
pub mod revision;
pub mod session;
pub mod shipping;
mod sqlite;
mod statements;
pub mod tax_class;
pub mod tax_rate;
pub mod template;
pub mod term;
pub mod tpn;
pub mod user;
pub mod webhook;
pub mod webhook_delivery;
pub mod webhook_endpoint;

pub use conn::{Column, Conn, Engine, Row, Sql, Val};
pub use database::{GroupSizes, Location, Store};
pub use record::Record;
pub use statements::all as all_statements;

/// Snapshots that are read at once. Who lets somebody read for long leaves one for everybody else.
pub const READERS: usize = 4;

/// One installation serves one site for now; the column is there so that tables can be distributed.
pub(crate) const SITE: i64 = 1;
