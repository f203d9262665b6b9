//! The words of `boardwalk analytics`.

use ::analytics::feed::CLUSTER_ROWS_AT_ONCE;
use clap::Subcommand;
use clap::builder::RangedU64ValueParser;

/// Rows that a server of ordinary size takes at once.
const BATCH_MAX: u64 = 200_000;

#[derive(Debug, Subcommand)]
pub(crate) enum Analytics {
    /// Fill ClickHouse from the records; an interrupted run is continued
    Rebuild {
        /// Orders and refunds to write together; fewer need less memory
        #[arg(
            long,
            value_name = "N",
            default_value_t = CLUSTER_ROWS_AT_ONCE,
            value_parser = RangedU64ValueParser::<usize>::new().range(1..=BATCH_MAX)
        )]
        batch: usize,
    },
}
