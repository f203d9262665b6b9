//! `boardwalk onboard`: bulk onboarding of a file.

use std::cell::RefCell;
use std::fmt::Display;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::sync::Arc;

use onboarding::bulk::command::{self, RowFile};
use serde_json::json;
use types::{Error, IsoId, Result};

use crate::args::{Common, Onboard, named_iso};
use crate::config::Config;
use crate::environment;
use crate::output::Printer;
use crate::progress::{Bar, Unit};

pub(crate) fn onboard(
    config: &Config,
    common: &Common,
    args: &Onboard,
    out: &Printer,
) -> Result<()> {
    let iso_id = IsoId::new(named_iso(args.iso.clone()));
    let platform = Arc::new(environment::open_existing(config, common.environment())?);
    let file = RowFile::open(&args.file)?;
    let mut results: Box<dyn Write> = match &args.results {
        Some(path) => {
            let unwritable = |error: io::Error| {
                Error::invalid(format!("cannot write {}", path.display())).because(error)
            };
            Box::new(BufWriter::new(File::create(path).map_err(unwritable)?))
        }
        None => Box::new(io::sink()),
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .map_err(|error| Error::internal("cannot start the async runtime").because(error))?;
    let bar = RefCell::new(Bar::new());
    let rows = u64::try_from(file.rows).unwrap_or(u64::MAX);
    let told = |done: u64| bar.borrow_mut().show("Onboarding", Unit::Records, done, rows);
    let onboarded =
        command::onboard(&platform, &iso_id, &file, args.resume, results.as_mut(), &told);
    let totals = runtime.block_on(onboarded)?;
    results
        .flush()
        .map_err(|error| Error::unavailable("cannot write all results").because(error))?;
    drop(bar);
    let command::Totals { bulk_id, rows, succeeded, failed } = totals;
    let object =
        json!({ "bulkId": bulk_id, "rows": rows, "succeeded": succeeded, "failed": failed });
    out.result(&object, &format!("Onboarded {succeeded} of {rows} rows as {bulk_id}."));
    judge(args, rows, u64::try_from(failed).unwrap_or_default())
}

/// Rejected rows are a failure, and the results say why.
pub(super) fn judge(args: &Onboard, rows: impl Display, failed: u64) -> Result<()> {
    if failed == 0 {
        return Ok(());
    }
    let where_to_look = match &args.results {
        Some(path) => format!("see {} for the reasons", path.display()),
        None => String::from("run again with --resume and --results FILE to see the reasons"),
    };
    Err(Error::conflict(format!("{failed} of {rows} rows were rejected; {where_to_look}")))
}
