//! Logs to standard error: text for people, JSON lines for collectors.

use std::io::{BufWriter, IsTerminal as _};
use std::panic::PanicHookInfo;

use tracing_appender::non_blocking::WorkerGuard;
use tracing_subscriber::EnvFilter;
use types::{Error, Result};

use crate::config::Log;

/// These tell the values of all statements at lower levels: names, hashes, everything.
const QUIETED: [&str; 4] = [
    "postgres=warn",
    "tokio_postgres=warn",
    "tokio_postgres::query=warn",
    "tokio_postgres::prepare=warn",
];

const LEVELS: [&str; 6] = ["off", "error", "warn", "info", "debug", "trace"];

/// Starts logging. Lines are written by a thread of their own, so that a slow or closed standard
/// error costs lines and never requests; keep the guard, which writes the last ones.
pub(crate) fn start(log: &Log) -> Result<WorkerGuard> {
    let wrong = || {
        let levels = "use error, warn, info, debug or trace";
        Error::invalid(format!("log.level `{}` is not a log level; {levels}", log.level))
    };
    // A bare word would be read as the name of a module, and everything else be silent.
    let mut bare = log.level.split(',').map(str::trim).filter(|part| !part.contains('='));
    if !bare.all(|part| LEVELS.contains(&part)) {
        return Err(wrong());
    }
    let mut filter = EnvFilter::try_new(&log.level).map_err(|error| wrong().because(error))?;
    for directive in QUIETED {
        // The last one about a target counts, so a level in the settings does not undo this.
        filter = filter.add_directive(directive.parse().map_err(|error| wrong().because(error))?);
    }
    let (writer, guard) = tracing_appender::non_blocking(BufWriter::new(std::io::stderr()));
    let builder = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(writer)
        .with_ansi(std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none())
        .log_internal_errors(false);
    if log.json.unwrap_or(!std::io::stderr().is_terminal()) {
        builder.json().flatten_event(true).with_span_list(false).init();
    } else {
        builder.init();
    }
    std::panic::set_hook(Box::new(note_panic));
    Ok(guard)
}

/// A panic is a line of the log like any other, so that collectors find it.
fn note_panic(panic: &PanicHookInfo<'_>) {
    let thread = std::thread::current();
    let thread = thread.name().unwrap_or("unnamed");
    let place = panic.location().map(ToString::to_string);
    let message = panic.payload_as_str();
    tracing::error!(
        panic = message,
        thread,
        place,
        "an assertion failed; this is a bug in Boardwalk"
    );
}
