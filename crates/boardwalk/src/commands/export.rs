//! `boardwalk export`: reports as files, beside a running server or without one.

use std::iter;
use std::path::PathBuf;
use std::sync::Arc;

use analytics::exports::file::{self, Format};
use analytics::exports::{self, Reader, Reading};
use analytics::feed;
use contract::rest::{Refusal, Stop};
use serde_json::{Map, Value, json};
use server::Reports;
use site_rows::user::UserRow;
use types::{Error, Result, Role};

use crate::args::{Common, Export, ExportReport, ReportFormat};
use crate::config::Config;
use crate::environment;
use crate::output::Printer;
use crate::progress::{Bar, Unit};

pub(crate) fn export(
    config: &Config,
    common: &Common,
    command: Export,
    out: &Printer,
) -> Result<()> {
    let Export::Report(args) = command;
    let names: Vec<&str> = exports::ALL.iter().map(|export| export.name).collect();
    let Some(export) = exports::Export::named(&args.report) else {
        return Err(Error::invalid(format!(
            "unknown report `{}`; available reports: {}",
            args.report,
            names.join(", ")
        )));
    };
    let format = match args.format {
        ReportFormat::Csv => Format::Csv,
        ReportFormat::Json => Format::Json,
        ReportFormat::Parquet => Format::Parquet,
    };
    let usual = || PathBuf::from(format!("{}.{}", export.name, format.ending()));
    let path = args.output.clone().unwrap_or_else(usual);
    let environment = common.environment();
    let platform = Arc::new(environment::open_existing(config, environment)?);
    let reports = Reports::open(&config.analytics, environment)?;
    let site = server::make_site(&platform, &config.server, config.site.clone(), &reports)?;
    let facts_file = Some(config.data.join(format!("{environment}.facts")));
    feed::load(platform.store.clone(), &reports.facts, facts_file)?;
    let context = reports.context(&config.site.names);
    let operator = UserRow { roles: vec![Role::Administrator], ..UserRow::default() };
    let reader = (Reader::Operator(Box::new(operator)), platform.clock.now());
    let reading = Reading::new(export, &site, &context, &parameters(&args), reader);
    let reading = reading.map_err(|stop| match stop {
        Stop::Refused(refusal) => Error::invalid(sentence(&refusal)),
        Stop::Failed(error) => error,
    })?;
    let mut bar = Bar::new();
    let count = |rows: i64| u64::try_from(rows).unwrap_or_default();
    let rows = file::write(&reading, format, &path, |done, all| {
        bar.show("Writing", Unit::Records, count(done), count(all));
    })?;
    drop(bar);
    let object = json!({ "rows": rows, "path": path });
    out.result(&object, &format!("Wrote {rows} rows to {}.", path.display()));
    Ok(())
}

fn parameters(args: &ExportReport) -> Map<String, Value> {
    let dates = [("after", &args.after), ("before", &args.before)];
    let dates = dates.into_iter();
    let dates = dates.filter_map(|(name, value)| Some((name.to_owned(), value.clone()?)));
    let all = dates.chain(args.set.iter().cloned());
    all.map(|(name, value)| (name, json!(value))).collect()
}

/// The message, and what is wrong with each parameter.
fn sentence(refusal: &Refusal) -> String {
    let body = refusal.body();
    let params = body.pointer("/data/params").and_then(Value::as_object);
    let details = params.into_iter().flatten().filter_map(|(_, detail)| detail.as_str());
    iter::once(refusal.message.as_ref()).chain(details).collect::<Vec<&str>>().join(" ")
}
