//! `cargo xtask chaos`: kills, a full disk, a restarted database, standbys that take over,
//! jumping clocks and a greedy caller, and at the end a comparison of everything that was
//! acknowledged. Runs `crates/boardwalk/tests/chaos` on the binary that the tests build.

use std::path::PathBuf;

use anyhow::{Context as _, Result};
use clap::Args;

use crate::openapi::test_of;
use crate::tools::{self, Tool};

#[derive(Args, Debug, Default)]
pub(crate) struct Options {
    /// Go on for this long; without it, each disturbance happens once
    #[arg(long, value_name = "N")]
    seconds: Option<u64>,
    /// Choose the same moments as the run that printed this seed
    #[arg(long)]
    seed: Option<u64>,
    /// The program of an older version, which nodes are upgraded from
    #[arg(long, value_name = "FILE")]
    upgrade_from: Option<PathBuf>,
}

pub(crate) fn run(options: &Options) -> Result<()> {
    Tool::Postgres.ensure()?;
    let mut test = tools::cargo();
    test.args(test_of("chaos")).args(["--", "--nocapture"]);
    for (variable, number) in [("CHAOS_SECONDS", options.seconds), ("CRASH_SEED", options.seed)] {
        if let Some(number) = number {
            test.env(variable, number.to_string());
        }
    }
    if let Some(older) = &options.upgrade_from {
        Tool::Proxies.ensure()?;
        let older = older.canonicalize().with_context(|| format!("no {}", older.display()))?;
        test.env("CHAOS_UPGRADE_FROM", older);
    }
    tools::run(&mut test)
}

/// Stage: each disturbance once.
pub(crate) fn stage() -> Result<()> {
    run(&Options::default())
}
