//! `boardwalk analytics`: the data that reports are answered from.

use ::analytics::feed;
use serde_json::json;
use server::Reports;
use types::Result;

use crate::args::{Analytics, Common};
use crate::config::Config;
use crate::environment;
use crate::output::Printer;
use crate::progress::{Bar, Unit};

pub(crate) fn analytics(
    config: &Config,
    common: &Common,
    command: &Analytics,
    out: &Printer,
) -> Result<()> {
    match command {
        Analytics::Rebuild { batch } => rebuild(config, common, *batch, out),
    }
}

/// Fills ClickHouse from the records, beside servers that run.
fn rebuild(config: &Config, common: &Common, batch: usize, out: &Printer) -> Result<()> {
    let environment = common.environment();
    let platform = environment::open_existing(config, environment)?;
    let reports = Reports::open(&config.analytics, environment)?;
    let mut bar = Bar::new();
    let orders = feed::rebuild(&platform.store, &reports.facts, batch, &mut |done, all| {
        bar.show("Filling ClickHouse", Unit::Records, done, all);
    })?;
    drop(bar);
    let text = format!("Wrote {orders} orders to ClickHouse.");
    out.result(&json!({ "orders": orders }), &text);
    Ok(())
}
