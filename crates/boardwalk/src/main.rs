//! The `boardwalk` program: a thin command line over the crates below.
//!
//! [`args`] says what can be typed, [`config`] where settings come from, [`commands`] what each
//! command does, and [`output`] how results are shown to people and to scripts.
//!
//! Results go to standard output, everything else to standard error. Exit status: 0 success,
//! 1 failure, 2 wrong usage.

mod args;
mod commands;
mod config;
mod environment;
mod logging;
mod output;
mod progress;
mod remote;
mod server_lock;
mod service_manager;

use std::process::ExitCode;

use clap::Parser as _;
use types::Kind;

/// That of the C library took a fifth of the time of copying a store, and gives back less of what
/// was freed (docs/adr/0037-an-allocator.md).
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let args = args::Args::parse();
    let printer = output::Printer::new(args.common.json);
    match commands::run(args, &printer) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // An error that the caller can fix is one sentence; the rest needs its causes.
            match error.kind() {
                Kind::Conflict | Kind::NotFound => output::failure(&error.to_string()),
                _ => output::failure(&error.report()),
            }
            ExitCode::FAILURE
        }
    }
}
