//! `boardwalk audit`: the audit log checked, as a file, and its oldest entries off line.

use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use onboarding::Platform;
use serde_json::{Value, json};
use types::{Error, IsoId, Result};

use crate::args::{Audit, Common};
use crate::config::Config;
use crate::environment;
use crate::output::Printer;

pub(crate) fn audit(config: &Config, common: &Common, command: Audit, out: &Printer) -> Result<()> {
    let platform = environment::open_existing(config, common.environment())?;
    let (file, iso, older_than) = match command {
        Audit::Verify { iso } => return verify(&platform, iso.map(IsoId::new).as_ref(), out),
        Audit::Export { file, iso } => (file, iso, None),
        Audit::Purge { file, iso, older_than } => (file, iso, Some(older_than)),
    };
    let iso_id = iso.map(IsoId::new);
    let mut written = create(&file)?;
    let mut sink = |lines: &[String]| write(&mut written, lines);
    let count = match older_than {
        None => platform.audit_export(iso_id.as_ref(), &mut sink),
        Some(age) => platform.audit_purge(iso_id.as_ref(), age, &mut sink),
    }?;
    let done = if older_than.is_some() { "Purged" } else { "Wrote" };
    let whose = if iso_id.is_some() {
        ""
    } else {
        " of the operator's log (use --iso ID for an ISO's log)"
    };
    let text = format!("{done} {count} entries{whose} to {}.", file.display());
    out.result(&json!({ "entries": count, "path": file }), &text);
    Ok(())
}

/// Checks a whole log, and fails if something is wrong with it.
fn verify(platform: &Platform, iso_id: Option<&IsoId>, out: &Printer) -> Result<()> {
    let bar = out.progress("Checking", 0);
    let found = platform.audit_verify_blocking(iso_id, &mut |checked, total| {
        bar.set_length(u64::try_from(total).unwrap_or(0));
        bar.set_position(u64::try_from(checked).unwrap_or(0));
    })?;
    bar.finish_and_clear();
    let errors: Vec<Value> = found
        .errors
        .iter()
        .map(|error| json!({ "sequence": error.seq, "message": error.what }))
        .collect();
    let object = json!({
        "valid": errors.is_empty(), "checked": found.checked, "sequence": found.head.seq,
        "hash": found.hash_text(), "faults": errors,
    });
    let Some(first) = found.errors.first() else {
        out.result(
            &object,
            &format!("{} entries checked, none changed or missing.", found.checked),
        );
        return Ok(());
    };
    if out.is_json() {
        out.result(&object, "");
    }
    Err(Error::invalid(format!("the audit log is damaged at entry {}: {}", first.seq, first.what)))
}

fn create(path: &Path) -> Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true).mode(0o600).open(path).map_err(|error| {
        Error::invalid(format!("cannot create {}; the file must not exist yet", path.display()))
            .because(error)
    })
}

/// What goes off line must be on the disk before.
fn write(file: &mut File, lines: &[String]) -> Result<()> {
    let mut text = lines.join("\n");
    text.push('\n');
    file.write_all(text.as_bytes()).and_then(|()| file.sync_data()).map_err(failed)
}

fn failed(error: std::io::Error) -> Error {
    Error::unavailable("cannot write the file; is the disk full?").because(error)
}
