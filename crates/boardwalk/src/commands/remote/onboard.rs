//! `boardwalk onboard` on a server elsewhere: uploads the file, and waits for its rows.

use std::fs::{self, File};
use std::io::{BufWriter, Write as _};
use std::path::Path;
use std::time::Duration;

use onboarding::bulk::command::RowFile;
use serde_json::{Value, json};
use types::{Error, Result};

use crate::args::Onboard;
use crate::output::Printer;
use crate::progress::{Bar, Unit};
use crate::remote::Remote;

const UPLOADS: &str = "/v1/bulk/onboardings";
const POLL_EVERY: Duration = Duration::from_millis(500);

pub(super) fn onboard(remote: &Remote, args: &Onboard, out: &Printer) -> Result<()> {
    let file = RowFile::open(&args.file)?;
    let content = fs::read(&args.file).map_err(|error| {
        Error::invalid(format!("cannot read {}", args.file.display())).because(error)
    })?;
    // Sent again, a file goes on where it was, so that --resume needs nothing of its own.
    let mut upload = remote.post_file(UPLOADS, file.media_type(), content)?;
    let bulk_id = upload.get("bulkId").and_then(Value::as_str).unwrap_or_default().to_owned();
    let number =
        |upload: &Value, name: &str| upload.get(name).and_then(Value::as_u64).unwrap_or_default();
    let mut bar = Bar::new();
    while matches!(status(&upload), "queued" | "running") {
        bar.show("Onboarding", Unit::Records, number(&upload, "done"), number(&upload, "rows"));
        std::thread::sleep(POLL_EVERY);
        upload = remote.get(&format!("{UPLOADS}/{bulk_id}"), &[])?;
    }
    drop(bar);
    if status(&upload) != "done" {
        let reason = upload.get("error").and_then(Value::as_str).unwrap_or("it was cancelled");
        return Err(Error::conflict(format!("the upload {bulk_id} failed: {reason}")));
    }
    if let Some(path) = &args.results {
        write_results(remote, &bulk_id, path)?;
    }
    let [rows, succeeded, failed] = ["rows", "succeeded", "failed"].map(|n| number(&upload, n));
    let object =
        json!({ "bulkId": bulk_id, "rows": rows, "succeeded": succeeded, "failed": failed });
    out.result(&object, &format!("Onboarded {succeeded} of {rows} rows as {bulk_id}."));
    crate::commands::onboard::judge(args, rows, failed)
}

fn status(upload: &Value) -> &str {
    upload.get("status").and_then(Value::as_str).unwrap_or_default()
}

fn write_results(remote: &Remote, bulk_id: &str, path: &Path) -> Result<()> {
    let unwritable = |error: std::io::Error| {
        Error::invalid(format!("cannot write {}", path.display())).because(error)
    };
    let mut results = BufWriter::new(File::create(path).map_err(unwritable)?);
    for row in remote.list(&format!("{UPLOADS}/{bulk_id}/results"), &[], usize::MAX)? {
        writeln!(results, "{row}").map_err(unwritable)?;
    }
    results.flush().map_err(unwritable)
}
