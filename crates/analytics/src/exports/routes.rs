//! The routes of exports: one starts an export, the other tells how far it is and where its file
//! is.

use std::sync::Arc;
use std::time::Duration;

use contract::rest::route::{EDIT, READ, Route};
use contract::rest::{Args, Item, Links, Refusal, Reply, Schema, Stop};
use db::background_job::{JobRow, JobState};
use frame::action::{read, write};
use frame::{Action, Call, jobs, mail};
use serde_json::{Map, Value, json};
use types::Result;

use super::quota::{self, Room};
use super::request::ExportRequest;
use super::{Export, link};
use crate::context::{ReportContext, may_view};

/// An export begins a moment after it was asked for, so that one can see it wait.
const HEAD_START: Duration = Duration::from_millis(500);
const ID_BYTES: usize = 10;
const DONE: i64 = 100;

pub(crate) fn routes(namespace: &str, reports: &Arc<ReportContext>) -> Vec<Route<Action>> {
    let (starting, telling) = (Arc::clone(reports), Arc::clone(reports));
    let start = write(may_view, move |call: &mut Call<'_>| start(&starting, call));
    let tell = read(may_view, move |call: &mut Call<'_>| status(&telling, call));
    let waiting = Arc::clone(reports);
    // Who changed something finds it in the file.
    let start =
        start.after(move |site, visit, params| waiting.fresh(site, visit, params)).in_turns();
    vec![
        Route::at(namespace, "/reports/(?P<type>[a-z]+)/export")
            .on(EDIT, args(), start)
            .schema(document()),
        Route::at(namespace, "/reports/(?P<type>[a-z]+)/export/(?P<export_id>[a-z0-9]+)/status")
            .on(READ, Args::new(), tell)
            .schema(status_document()),
    ]
}

fn args() -> Args {
    let report_args = Schema::map().about("Report parameters.");
    let email = Schema::boolean().about("Whether to e-mail a link when the file is ready.");
    Args::new().arg("report_args", report_args).arg("email", email)
}

fn start(reports: &ReportContext, call: &mut Call<'_>) -> Result<Reply, Stop> {
    let report = call.params.text("type").unwrap_or_default();
    let Some(export) = Export::named(report) else {
        let message = "Report not found.";
        return Err(Refusal::new(400, "woocommerce_rest_invalid_report_type", message).into());
    };
    let args = match call.params.get("report_args") {
        Some(Value::Object(args)) => args.clone(),
        _ => Map::new(),
    };
    let (email, now) = (call.params.flag("email"), call.now());
    let ordered = ExportRequest {
        report: export.name.to_owned(),
        args,
        user_id: call.user_id(),
        email,
        home: call.site.address_for_emails(call.options()),
    };
    let export_id = match quota::room(call.conn()?, &ordered, now)? {
        // Who is impatient gets no second file.
        Room::Waiting(export_id) => export_id,
        Room::None(message) => return Err(Refusal::new(429, quota::CODE, message).into()),
        Room::Free if count(export, reports, call, &ordered.args)? == 0 => {
            let message = "There is nothing to export.";
            return Ok(Reply::new(json!({ "message": message })));
        }
        Room::Free => {
            let export_id = new_id()?;
            let moments = (now, now.plus(HEAD_START));
            let kind = jobs::REPORT_EXPORT;
            jobs::enqueue_for(call.conn()?, kind, Some(&export_id), &ordered, moments)?;
            export_id
        }
    };
    let message = match (email, mail::is_on(call.site)) {
        (true, true) => "The report is being generated; we will e-mail you a link.",
        (true, false) => "The report is being generated. No link is sent, as e-mail is turned off.",
        (false, _) => "The report is being generated.",
    };
    let body = json!({ "message": message, "export_id": export_id });
    let address = call.visit.rest(&path(reports, export.name, &export_id));
    Ok(Reply::new(body).links(Links::new().to("status", address)))
}

/// How many rows the export would have.
fn count(
    export: &Export,
    reports: &ReportContext,
    call: &mut Call<'_>,
    args: &Map<String, Value>,
) -> Result<i64, Stop> {
    let mut params = export.accept(args)?;
    params.set("per_page", json!(1));
    let mut total = Ok(0);
    call.nested(params, &mut |call| {
        total = export.page(reports, call).map(|page| page.total);
        Ok(true)
    })?;
    total
}

fn path(reports: &ReportContext, report: &str, export_id: &str) -> String {
    format!("{}/reports/{report}/export/{export_id}/status", reports.base)
}

/// Letters and digits that nobody can guess.
fn new_id() -> Result<String> {
    let mut bytes = [0; ID_BYTES];
    vault::fill_random(&mut bytes)?;
    Ok(link::hex(&bytes))
}

fn status(reports: &ReportContext, call: &mut Call<'_>) -> Result<Reply, Stop> {
    let text = |name: &str| call.params.text(name).unwrap_or_default().to_owned();
    let (report, export_id) = (text("type"), text("export_id"));
    let now = call.now();
    let found = link::find(call.conn()?, (&report, &export_id), now)?;
    // Who sees some sales only sees their own exports only.
    let is_bound = reports.query_context(call)?.is_bound();
    let found = found.filter(|(_, order)| !is_bound || order.user_id == call.user_id());
    let Some((job, _)) = found else {
        let message = "The export was not found or has expired.";
        let code = "woocommerce_admin_reports_export_invalid_id";
        return Err(Refusal::new(404, code, message).into());
    };
    let mut body = Map::new();
    body.insert(String::from("percent_complete"), json!(percent(&job)));
    if job.state == JobState::Done {
        let address = link::address(call.site, &call.visit.home, (&report, &export_id));
        body.insert(String::from("download_url"), json!(address));
    }
    if let Some(message) = failure(&job) {
        body.insert(String::from("failed"), json!(true));
        body.insert(String::from("message"), json!(message));
    }
    let own = call.visit.rest(&path(reports, &report, &export_id));
    Ok(Reply::new(Value::Object(body)).links(Links::new().to("self", own)))
}

/// How much is written. All of it only when there is something to download.
fn percent(job: &JobRow) -> i64 {
    if job.state == JobState::Done {
        return DONE;
    }
    let total = job.progress.total.unwrap_or_default().max(1);
    (job.progress.done.saturating_mul(DONE) / total).clamp(0, DONE - 1)
}

/// Why there will never be a file. Clients that know nothing of it see a percentage below 100.
fn failure(job: &JobRow) -> Option<String> {
    match job.state {
        JobState::Failed => {
            let reason = job.error.as_deref().unwrap_or("unknown reason");
            Some(format!("The export failed: {reason}. Fix the problem and start it again."))
        }
        JobState::Cancelled => Some("The export was cancelled. Start it again.".to_owned()),
        JobState::Queued | JobState::Running | JobState::Done => None,
    }
}

fn document() -> Value {
    let members = [
        ("message", Schema::text().about("Status message.")),
        (
            "export_id",
            Schema::text().about("Export ID; null if there is nothing to export.").or_null(),
        ),
    ];
    Item::new("report_export", Schema::object(members)).document()
}

// What a failed export adds is ours, and stands in no description that clients compare.
fn status_document() -> Value {
    let members = [
        ("percent_complete", Schema::integer().about("Progress, in percent.")),
        ("download_url", Schema::text().about("Download URL, once the file is complete.")),
    ];
    Item::new("report_export_status", Schema::object(members)).document()
}
