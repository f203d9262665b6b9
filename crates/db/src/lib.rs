//! A database that SQLite or PostgreSQL keeps, behind one seam. **Knows no noun**: which tables
//! there are is told by who opens it, and the queries of a noun stand beside who owns it.
//!
//! A caller hands [`Database`] a closure; the closure runs as **one transaction on a database
//! thread** and talks to the database through [`Conn`]. There is one SQL text for both engines, in
//! a portable subset, and migrations are written once. Nothing waits inside a transaction: no
//! clock, no network, no await; time and ids come in as arguments.
//!
//! - [`Database::write`]: on SQLite one writer thread runs waiting closures one after the other and
//!   commits them as a group (an answer is given only after the commit reached the disk); on
//!   PostgreSQL each closure is a serialisable transaction, run again when it loses a race.
//! - [`Database::attempt`]: a write that may refuse, and then leaves nothing behind.
//! - [`Database::read`]: a consistent snapshot on a reader connection.
//! - [`as_caller`] says on whose behalf all of these are called: callers take turns, and a read
//!   whose caller has left is stopped.
//! - [`Database::watch`] tells who keeps something in memory when its tables were written to, by
//!   any node that is [heard](Database::listen).
//! - [`statements!`] declares the queries of a module; lists with many filters are put together by
//!   [`filter`], rows in great numbers go in by [`bulk`].
//! - What every kind of data needs is here: [`outbox`] is the feed of all changes, [`counter`]
//!   hands out numbers, [`rate_bucket`] what nodes may let pass, [`fact`] keeps what is true of the
//!   database itself, [`background_job`] and [`webhook_delivery`] are queues, [`backup`] copies
//!   everything in a form that both engines read.
//! - A line of a migration has a [text found by its parts](text_index) or [rows counted](tally)
//!   while they are written.
//! - [`Database::check_integrity`] looks for damaged data, and [`About`] tells how much there is.
//!
//! Start with [`Database::open`], then read [`fact`] for what queries look like.

mod about;
pub mod background_job;
pub mod backlog;
pub mod backup;
pub mod bulk;
mod caller;
mod changes;
mod conn;
pub mod counter;
mod database;
pub mod delivery_step;
pub mod fact;
pub mod filter;
pub mod integrity;
mod job;
mod migrate;
mod named;
mod news;
pub mod outbox;
mod postgres;
mod queue;
pub mod rate_bucket;
pub mod record;
mod settling;
mod sqlite;
mod tally;
pub mod text_index;
mod threads;
pub mod webhook_delivery;

pub use about::About;
pub use caller::{Caller, as_caller};
pub use changes::Watch;
pub use conn::{Column, Conn, Engine, Row, Sql, Val};
pub use database::{Database, Location};
pub use migrate::{Migrations, check_tables};
pub use record::Record;
pub use text_index::TextIndex;
pub use threads::GroupSizes;

/// Snapshots that are read at once. One caller has all but one of them at most.
pub const READERS: usize = 5;

/// One installation serves one site for now; the column is there so that tables can be distributed.
pub const SITE: i64 = 1;

/// Every statement of this crate.
pub fn all_statements() -> Vec<&'static Sql> {
    [
        background_job::STATEMENTS,
        backlog::STATEMENTS,
        counter::STATEMENTS,
        fact::STATEMENTS,
        migrate::STATEMENTS,
        outbox::STATEMENTS,
        rate_bucket::STATEMENTS,
        webhook_delivery::STATEMENTS,
    ]
    .concat()
}
