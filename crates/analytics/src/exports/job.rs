//! The background work of an export: page after page into parts of a file, which the store keeps
//! until it expires, so that any process on the same database can hand it out.
//!
//! **An attempt writes a file of its own**: one that was cut off leaves nothing to the next, so all
//! rows of a file are of one state of the facts.

use std::sync::Arc;
use std::time::Duration;

use db::Conn;
use db::background_job::{JobRow, JobState};
use frame::jobs::{Halt, JobCx, JobKind, Limits, Progress, REPORT_EXPORT, Running};
use frame::mail::{self, Email, Sender};
use frame::pages::{Address, Link};
use frame::{Options, Site, Visit};
use serde_json::json;
use shop_rows::report_file;
use types::{Error, Result, Timestamp};

use super::request::{ExportRequest, KEPT, WrittenFile};
use super::{Export, ROWS_AT_ONCE, Reader, Reading, csv, link};
use crate::context::ReportContext;

/// How often a job that waits for the facts looks whether the server ends.
const LOOK_AGAIN: Duration = Duration::from_secs(1);
/// Bytes of a file at most.
const BYTES_MAX: usize = 2 * 1024 * 1024 * 1024;

#[derive(Debug)]
pub(crate) struct ExportJob {
    pub(crate) reports: Arc<ReportContext>,
}

impl JobKind for ExportJob {
    fn name(&self) -> &'static str {
        REPORT_EXPORT
    }

    fn run<'a>(&'a self, cx: &'a JobCx) -> Running<'a> {
        Box::pin(async move {
            let written = self.write(cx).await?;
            Ok(json!(written))
        })
    }

    /// Nothing is left of what failed or was cancelled. Who wants an e-mail gets it when there is
    /// something to open.
    fn ended(&self, site: &Site, conn: &mut dyn Conn, ended: &JobRow) -> Result<()> {
        let export_id = ended.key.as_deref().unwrap_or_default();
        if ended.state != JobState::Done {
            return report_file::delete(conn, export_id).map(drop);
        }
        let Ok(ordered) = serde_json::from_str::<ExportRequest>(&ended.arguments) else {
            return Ok(());
        };
        if !ordered.email || !mail::is_on(site) {
            return Ok(());
        }
        tell(site, conn, &ordered, export_id, ended.finished.unwrap_or(ended.due))
    }

    fn result_address(&self, site: &Site, visit: &Visit, job: &JobRow) -> Option<String> {
        let export_id = job.key.as_deref()?;
        let ordered: ExportRequest = serde_json::from_str(&job.arguments).ok()?;
        let is_there = job.state == JobState::Done
            && job.finished.is_some_and(|finished| visit.now < finished.plus(KEPT));
        let user = visit.identity.user.as_ref()?;
        // Who sees some sales only sees their own exports only.
        let may_have = !user.is_bound() || ordered.user_id == user.id();
        let named = (ordered.report.as_str(), export_id);
        (is_there && may_have).then(|| link::address(site, &visit.home, named))
    }

    fn limits(&self) -> Limits {
        Limits { kept: KEPT, ..Limits::USUAL }
    }
}

impl ExportJob {
    async fn write(&self, cx: &JobCx) -> Result<WrittenFile, Halt> {
        // A server that starts takes up its jobs before it has loaded the facts.
        while !self.reports.facts.wait_until(0, LOOK_AGAIN).await {
            cx.check()?;
        }
        let ordered: ExportRequest = cx.arguments()?;
        let export_id = cx.job().key.clone().unwrap_or_default();
        let unknown = || Halt::Failed(Error::invalid("report not found"));
        let export = Export::named(&ordered.report).ok_or_else(unknown)?;
        let reader = (Reader::User(ordered.user_id), cx.job().created);
        let reading = Reading::new(export, cx.site(), &self.reports, &ordered.args, reader);
        let reading = Arc::new(reading.map_err(|_| unknown())?);
        let expires = cx.now().plus(KEPT);
        let mut written = WrittenFile::default();
        loop {
            cx.check()?;
            let (pages, number) = (Arc::clone(&reading), written.parts + 1);
            let page = cx.site().store().read(move |conn| pages.page(conn, number)).await?;
            let count = i64::try_from(page.rows.len()).unwrap_or(i64::MAX);
            let mut text = if number == 1 { csv::head(&page.columns) } else { String::new() };
            text.push_str(&csv::rows(&page));
            let is_first = number == 1;
            let part = Part { export_id: export_id.clone(), number, text, expires };
            written.rows = written.rows.saturating_add(count);
            written.parts = number;
            written.bytes = written.bytes.saturating_add(part.text.len());
            if written.bytes > BYTES_MAX {
                let message = "the file would be too large; choose a shorter date range";
                return Err(Halt::Failed(Error::invalid(message)));
            }
            let total = page.total.max(written.rows);
            let progress = Progress { done: written.rows, total: Some(total) };
            cx.step(progress, &written, move |conn| part.keep(conn, is_first)).await?;
            if count < ROWS_AT_ONCE {
                return Ok(written);
            }
        }
    }
}

struct Part {
    export_id: String,
    number: i64,
    text: String,
    expires: Timestamp,
}

impl Part {
    fn keep(&self, conn: &mut dyn Conn, is_first: bool) -> Result<()> {
        if is_first {
            report_file::delete(conn, &self.export_id)?;
        }
        let content = self.text.as_bytes();
        report_file::put(conn, (&self.export_id, self.number), content, self.expires)
    }
}

/// Tells the user where the file is.
fn tell(
    site: &Site,
    conn: &mut dyn Conn,
    ordered: &ExportRequest,
    export_id: &str,
    now: Timestamp,
) -> Result<()> {
    let Some(user) = site_rows::user::get(conn, ordered.user_id)? else { return Ok(()) };
    let title = Export::named(&ordered.report).map_or("", |export| export.title);
    let address = link::address(site, &ordered.home, (&ordered.report, export_id));
    let days = KEPT.as_secs() / 86_400;
    let paragraphs = [
        format!("Your {title} report is ready."),
        format!("The link is valid for {days} days. Anyone with the link can download the file."),
    ];
    let subject = format!("Your {title} report");
    let site_name = Options::read(conn)?.text("blogname");
    let email = Email {
        to: &user.email,
        subject: &subject,
        paragraphs: &paragraphs,
        link: Some(Link { text: "Download report", href: Address::new(&address) }),
    };
    let sender = Sender { site_name: &site_name, home: &ordered.home };
    match mail::enqueue(site, conn, sender, &email, now) {
        // An account without a proper address gets no e-mail; the file is there all the same.
        Err(error) if error.kind() == types::Kind::Invalid => Ok(()),
        queued => queued.map(drop),
    }
}
