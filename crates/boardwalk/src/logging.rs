//! Logs to standard error: text for people, JSON lines for collectors.

use std::io::IsTerminal as _;

use tracing_subscriber::EnvFilter;
use types::{Error, Result};

use crate::config::Log;

/// These tell the values of all statements at lower levels: names, hashes, everything.
const QUIETED: [&str; 3] =
    ["tokio_postgres=warn", "tokio_postgres::query=warn", "tokio_postgres::prepare=warn"];

pub(crate) fn start(log: &Log) -> Result<()> {
    let wrong = || Error::invalid(format!("log.level `{}` is no level", log.level));
    let mut filter = EnvFilter::try_new(&log.level).map_err(|error| wrong().because(error))?;
    for directive in QUIETED {
        // The last one about a target counts, so a level in the settings does not undo this.
        filter = filter.add_directive(directive.parse().map_err(|error| wrong().because(error))?);
    }
    let builder = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr);
    if log.json.unwrap_or(!std::io::stderr().is_terminal()) {
        builder.json().flatten_event(true).with_span_list(false).init();
    } else {
        builder.init();
    }
    Ok(())
}
