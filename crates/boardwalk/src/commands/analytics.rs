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
        Analytics::Rebuild => rebuild(config, common, out),
    }
}

/// Fills ClickHouse from the records, beside servers that run.
fn rebuild(config: &Config, common: &Common, out: &Printer) -> Result<()> {
    let environment = common.environment();
    let platform = environment::open_existing(config, environment)?;
    let reports = Reports::open(&config.analytics, environment)?;
    let mut bar = Bar::new();
    let rows_at_once = feed::CLUSTER_ROWS_AT_ONCE;
    let orders = feed::rebuild(&platform.store, &reports.facts, rows_at_once, &mut |done, all| {
        bar.show("Filling ClickHouse", Unit::Records, done, all);
    })?;
    drop(bar);
    let text = format!("Wrote {orders} orders and refunds to ClickHouse.");
    out.result(&json!({ "orders": orders }), &text);
    Ok(())
}
