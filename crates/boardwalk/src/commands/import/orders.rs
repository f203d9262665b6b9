//! `boardwalk import orders`: files of records.

use std::sync::Arc;

use commerce::ingest::file::{self, FileError, News, Report, Stage};
use commerce::ingest::{ImportPolicy, Importer};
use serde_json::json;
use types::{Error, Result};

use crate::args::{Common, ImportOrders};
use crate::config::Config;
use crate::environment;
use crate::output::{self, Printer};
use crate::progress::{Bar, Unit};

pub(super) fn import(
    config: &Config,
    common: &Common,
    args: &ImportOrders,
    out: &Printer,
) -> Result<()> {
    let platform = Arc::new(environment::open(config, common.environment())?);
    let reports = server::Reports::default();
    let site = server::make_site(&platform, &config.server, config.site.clone(), &reports)?;
    let manner = ImportPolicy { skip_bad: args.skip_bad, replace: false, same_ids: false };
    let importer = Importer::new(Arc::clone(&site), &args.source, manner)?;
    let mut bar = Bar::new();
    let mut watch = |news: News| match news.stage {
        Stage::Check => bar.show("Checking", Unit::Bytes, news.done, news.all),
        Stage::Write => bar.show("Writing", Unit::Records, news.done, news.all),
    };
    let report = file::import(&importer, &args.files, args.resume, &mut watch)?;
    drop(bar);
    if report.refused {
        if out.is_json() {
            out.result(&json!(report), "");
        } else {
            output::notes(&errors(&report));
        }
        return Err(Error::invalid(refusal(&report)));
    }
    out.result(&json!(report), &summary(&report));
    Ok(())
}

/// What is wrong, where, and what to do.
fn refusal(report: &Report) -> String {
    let what_now = if report.imported.is_empty() {
        "nothing was imported; fix the file, or skip these rows with --skip-bad"
    } else {
        "rows imported so far are kept; fix the file, or continue with --resume --skip-bad"
    };
    let count = report.error_count;
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} error{plural}: {what_now}")
}

fn summary(report: &Report) -> String {
    let counts = report.imported.iter();
    let counts: Vec<String> = counts.map(|(kind, count)| format!("{count} {kind}")).collect();
    let mut lines = vec![if counts.is_empty() {
        String::from("Nothing new to import.")
    } else {
        format!("Imported: {}.", counts.join(", "))
    }];
    if report.present > 0 {
        lines.push(format!("{} records had already been imported.", report.present));
    }
    if report.error_count > 0 {
        lines.push(format!("Skipped because of {} errors:", report.error_count));
        lines.push(errors(report));
    }
    lines.join("\n")
}

fn errors(report: &Report) -> String {
    let line = |FileError { file, error }: &FileError| {
        let field = error.field.as_ref().map(|field| format!("{field}: ")).unwrap_or_default();
        format!("{file}:{}: {field}{}", error.line, error.message)
    };
    let mut lines: Vec<String> = report.errors.iter().map(line).collect();
    let told = u64::try_from(report.errors.len()).unwrap_or_default();
    if report.error_count > told {
        lines.push(format!("… and {} more", report.error_count - told));
    }
    lines.join("\n")
}
