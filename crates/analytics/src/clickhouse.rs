//! Reports on ClickHouse: the same questions as to the columns in memory, asked of one server or of
//! several shards, each of which has the orders of some customers.
//!
//! [`Cluster`] is what the rest of the crate holds. [`source`] prints which rows a question is
//! about, [`filter`] the filters of the algebra, [`question`] the groups and measures; [`answer`]
//! adds up what the shards say. [`writer`] brings facts there, and [`state`] says how far they go.
//!
//! **A statement is understood by ClickHouse 18.16 and by the current version**: the tests run all
//! of them on both. **An answer is of all shards or none**: one that is away makes the question
//! fail, and never a smaller sum. Nothing of record is kept there.

mod answer;
mod binary;
mod cluster;
mod downloads;
mod filter;
mod http;
mod listing;
mod measure;
mod question;
mod source;
mod sql;
mod state;
mod tables;
mod writer;

pub use cluster::{Cluster, Shard};
pub use http::HttpShard;
pub use listing::Wanted;
pub use state::{COMPLETE, State};
pub use writer::ClusterWriter;

pub(crate) use tables::layout;
