//! Logs to standard error: text for people, JSON lines for collectors.

use std::io::IsTerminal as _;

use tracing_subscriber::EnvFilter;
use types::{Error, Result};

use crate::config::Log;

pub(crate) fn start(log: &Log) -> Result<()> {
    let filter = EnvFilter::try_new(&log.level).map_err(|error| {
        Error::invalid(format!("log.level `{}` is no level", log.level)).because(error)
    })?;
    let builder = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr);
    if log.json.unwrap_or(!std::io::stderr().is_terminal()) {
        builder.json().flatten_event(true).with_current_span(false).init();
    } else {
        builder.init();
    }
    Ok(())
}
