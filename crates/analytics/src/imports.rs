//! Imports: the facts made from the records again, as clients of the reference know it. The facts
//! follow every change by themselves, so an import repairs what is damaged or was deleted.
//!
//! [`job`] does the work in the background; here are the routes that start it, stop it and tell how
//! far it is. **What is told is read from the job and the facts**, nothing is kept beside them.

mod job;

use std::sync::Arc;
use std::time::Duration;

use contract::rest::route::{CREATE, EDIT, READ, Route};
use contract::rest::{Args, Item, Refusal, Reply, Schema, Stop};
use db::background_job::{self, JobRow, JobState};
use db::filter::Page;
use db::{Conn, outbox};
use frame::action::{read, write};
use frame::{Action, Call, jobs};
use serde_json::{Value, json};
use shop_rows::order;
use site_rows::user::{self, UserFilter};
use types::{Capability, Result, Timestamp};

use crate::calendar::Calendar;
use crate::context::{ReportContext, is_there, seconds};
use crate::feed;

pub(crate) use job::{CATCH_UP, CATCH_UP_EVERY, jobs};
use job::{DELETE, Done, Plan};

/// A job begins a moment after it was asked for, so that one can see it wait and call it back.
const HEAD_START: Duration = Duration::from_millis(500);
/// Who asks for what will happen within this time is told that it is under way.
const SOON: Duration = Duration::from_mins(1);
/// There is one import at a time.
const KEY: &str = "reports";
const DAY_US: i64 = 86_400_000_000;
/// Unfinished jobs of a kind that one request cancels at once.
const CANCELLED_AT_ONCE: i64 = 100;
/// How clients know an import of everything.
const FROM_EVERYTHING: i64 = -1;

type Act = fn(&ReportContext, &mut Call<'_>) -> Result<Reply, Stop>;

pub(crate) fn routes(namespace: &str, reports: &Arc<ReportContext>) -> Vec<Route<Action>> {
    let at = |path: &str| Route::at(namespace, path);
    let writes = |permit: fn(&mut Call<'_>) -> Result<(), Stop>, act: Act| {
        let reports = Arc::clone(reports);
        write(permit, move |call: &mut Call<'_>| act(&reports, call))
    };
    let reads = |permit: fn(&mut Call<'_>) -> Result<(), Stop>, act: Act| {
        let reports = Arc::clone(reports);
        read(permit, move |call: &mut Call<'_>| act(&reports, call))
    };
    let none = Args::new;
    vec![
        at("/reports/import").on(EDIT, args(), writes(may_edit, start)).schema(outcome()),
        at("/reports/import/cancel").on(EDIT, none(), writes(may_edit, cancel)).schema(outcome()),
        at("/reports/import/delete").on(EDIT, none(), writes(may_edit, delete)).schema(outcome()),
        at("/reports/import/status")
            .on(READ, none(), reads(may_edit, status))
            .schema(status_document()),
        at("/reports/import/totals")
            .on(READ, args(), reads(may_edit, totals))
            .schema(totals_document()),
        at("/imports/status").on(READ, none(), reads(may_access, mode)).schema(mode_document()),
        at("/imports/trigger")
            .on(CREATE, none(), writes(may_access, trigger))
            .schema(trigger_document()),
    ]
}

/// Sees to it that the facts are compared with the records once in a while. Called at each start.
pub fn found(conn: &mut dyn Conn, now: Timestamp) -> Result<()> {
    let due = now.plus(CATCH_UP_EVERY);
    jobs::enqueue_for(conn, CATCH_UP, Some(KEY), &json!({}), (now, due)).map(drop)
}

fn may_edit(call: &mut Call<'_>) -> Result<(), Stop> {
    is_there(call)?;
    let message = "You are not allowed to import reports.";
    call.need(Capability::ManageWoocommerce, "woocommerce_rest_cannot_edit", message)
}

fn may_access(call: &mut Call<'_>) -> Result<(), Stop> {
    is_there(call)?;
    let message = "You are not allowed to manage imports.";
    call.need(Capability::ManageWoocommerce, "woocommerce_rest_cannot_access", message)
}

fn args() -> Args {
    let days = Schema::integer().min(0).about("Number of days to import.");
    let skip = Schema::boolean().default(false).about("Skip records that were already imported.");
    Args::new().arg("days", days).arg("skip_existing", skip)
}

/// What a request asks to import.
fn plan(reports: &ReportContext, call: &mut Call<'_>) -> Result<Plan, Stop> {
    let days = call.params.int("days");
    // The first day counts from its midnight in UTC.
    let today = call.now().as_micros().div_euclid(DAY_US);
    let first = |days: i64| today.saturating_sub(days).saturating_mul(DAY_US);
    let since = days.map(|days| Timestamp::from_micros(first(days)));
    let skips_existing = call.params.flag("skip_existing");
    let orders = orders_total(reports, call.conn()?, since, skips_existing)?;
    let customers = customers_total(call.conn()?, since, skips_existing)?;
    Ok(Plan { since_us: since.map(Timestamp::as_micros), skips_existing, customers, orders })
}

fn orders_total(
    reports: &ReportContext,
    conn: &mut dyn Conn,
    since: Option<Timestamp>,
    skips_existing: bool,
) -> Result<i64> {
    let all = match since {
        Some(since) => order::count_since(conn, since)?,
        None => order::count(conn)?,
    };
    let since = since.unwrap_or(Timestamp::from_micros(i64::MIN));
    let there =
        if skips_existing { reports.facts.view(Vec::new()).orders_since(since)? } else { 0 };
    Ok(all.saturating_sub(count(there)).max(0))
}

fn customers_total(
    conn: &mut dyn Conn,
    since: Option<Timestamp>,
    skips_existing: bool,
) -> Result<i64> {
    let wanted =
        UserFilter { page: Page { offset: 0, limit: 1 }, ..job::customers(since, skips_existing) };
    Ok(user::list(conn, &wanted)?.1)
}

fn count(items: usize) -> i64 {
    i64::try_from(items).unwrap_or(i64::MAX)
}

fn said(status: &str, message: &str) -> Reply {
    Reply::new(json!({ "status": status, "message": message }))
}

fn start(reports: &ReportContext, call: &mut Call<'_>) -> Result<Reply, Stop> {
    let (plan, now) = (plan(reports, call)?, call.now());
    let moments = (now, now.plus(HEAD_START));
    let kind = jobs::REPORT_IMPORT;
    let asked = jobs::enqueue_for(call.conn()?, kind, Some(KEY), &plan, moments)?;
    Ok(if asked.is_new {
        said("success", "The reports are being rebuilt from your records.")
    } else {
        said("error", "An import is already running; wait until it ends, or cancel it.")
    })
}

fn cancel(_: &ReportContext, call: &mut Call<'_>) -> Result<Reply, Stop> {
    for kind in [jobs::REPORT_IMPORT, jobs::REPORT_EXPORT] {
        cancel_all(call, kind)?;
    }
    Ok(said("success", "Report imports and exports were cancelled."))
}

/// Asks all unfinished jobs of the kind to end.
fn cancel_all(call: &mut Call<'_>, kind: &str) -> Result<()> {
    let (site, now) = (call.site, call.now());
    let page = Page { offset: 0, limit: CANCELLED_AT_ONCE };
    let unfinished = [JobState::Queued, JobState::Running];
    for job in background_job::list(call.conn()?, kind, &unfinished, page)?.0 {
        jobs::cancel(site, call.conn()?, job.job_id, now)?;
    }
    Ok(())
}

/// The facts are forgotten in the transaction that stops an import, so that nothing of it comes
/// after.
fn delete(_: &ReportContext, call: &mut Call<'_>) -> Result<Reply, Stop> {
    cancel_all(call, jobs::REPORT_IMPORT)?;
    let now = call.now();
    feed::ask_to_clear(call.conn()?, now)?;
    jobs::enqueue(call.conn()?, DELETE, Some(KEY), &json!({}), now)?;
    Ok(said("success", "The data of all reports is being deleted."))
}

/// The newest job of the kind.
fn newest(conn: &mut dyn Conn, kind: &str) -> Result<Option<JobRow>> {
    let page = Page { offset: 0, limit: 1 };
    Ok(background_job::list(conn, kind, &[], page)?.0.into_iter().next())
}

fn status(reports: &ReportContext, call: &mut Call<'_>) -> Result<Reply, Stop> {
    let import = newest(call.conn()?, jobs::REPORT_IMPORT)?;
    let deleted = newest(call.conn()?, DELETE)?.map(|job| job.job_id);
    let nothing = || Ok(Reply::new(json!({ "is_importing": false })));
    let Some(import) = import.filter(|import| deleted < Some(import.job_id)) else {
        return if deleted.is_some() { nothing() } else { followed(reports, call) };
    };
    let plan: Plan = serde_json::from_str(&import.arguments).unwrap_or_default();
    let done = import.checkpoint.as_deref().and_then(|text| serde_json::from_str(text).ok());
    let done: Done = done.unwrap_or_default();
    let from = plan.since_us.map_or(json!(FROM_EVERYTHING), |since| {
        json!(Calendar::utc().text(seconds(Timestamp::from_micros(since))))
    });
    let is_importing = matches!(import.state, JobState::Queued | JobState::Running);
    let both = (done.customers.min(plan.customers), done.orders.min(plan.orders));
    Ok(progress(both, (plan.customers, plan.orders), from, is_importing))
}

fn progress(
    (customers, orders): (i64, i64),
    (all_customers, all_orders): (i64, i64),
    from: Value,
    is_importing: bool,
) -> Reply {
    Reply::new(json!({
        "customers": { "imported": customers, "total": all_customers },
        "orders": { "imported": orders, "total": all_orders },
        "imported_from": from,
        "is_importing": is_importing,
    }))
}

/// Without any import, the facts are what has been followed. A shop that has nothing has imported
/// nothing.
fn followed(reports: &ReportContext, call: &mut Call<'_>) -> Result<Reply, Stop> {
    let conn = call.conn()?;
    let orders = orders_total(reports, conn, None, false)?;
    let missing_orders = orders_total(reports, conn, None, true)?;
    let customers = customers_total(conn, None, false)?;
    let missing_customers = customers_total(conn, None, true)?;
    if orders == 0 && customers == 0 {
        return Ok(Reply::new(json!({ "is_importing": false })));
    }
    let there = (customers - missing_customers, orders - missing_orders);
    Ok(progress(there, (customers, orders), json!(FROM_EVERYTHING), false))
}

fn totals(reports: &ReportContext, call: &mut Call<'_>) -> Result<Reply, Stop> {
    let plan = plan(reports, call)?;
    Ok(Reply::new(json!({ "customers": plan.customers, "orders": plan.orders })))
}

/// Whether the shop wants its reports brought up to date at set times; here they are beyond that.
fn is_scheduled(call: &Call<'_>) -> bool {
    call.options().is_on("woocommerce_analytics_scheduled_import")
}

/// The job that compares the facts with the records next, and whether it does so about now.
fn next_catch_up(call: &mut Call<'_>) -> Result<(Option<JobRow>, bool), Stop> {
    let soon = call.now().plus(SOON);
    let next = newest(call.conn()?, CATCH_UP)?.filter(|job| job.finished.is_none());
    let is_due = next.as_ref().is_some_and(|job| job.state == JobState::Running || job.due <= soon);
    Ok((next, is_due))
}

fn mode(reports: &ReportContext, call: &mut Call<'_>) -> Result<Reply, Stop> {
    if !is_scheduled(call) {
        return Ok(Reply::new(json!({
            "mode": "immediate",
            "last_processed_date": null,
            "next_scheduled": null,
            "import_in_progress_or_due": null,
        })));
    }
    let calendar = Calendar::of(call.options());
    let text = |time: Timestamp| calendar.text(seconds(time));
    let position = reports.facts.position().unwrap_or_default();
    let last = outbox::after(call.conn()?, position - 1, 1)?;
    let last = last.first().filter(|event| event.seq == position).map(|event| text(event.created));
    let (next, is_due) = next_catch_up(call)?;
    Ok(Reply::new(json!({
        "mode": "scheduled",
        "last_processed_date": last,
        "next_scheduled": next.map(|job| text(job.due)),
        "import_in_progress_or_due": is_due,
    })))
}

fn trigger(_: &ReportContext, call: &mut Call<'_>) -> Result<Reply, Stop> {
    if !is_scheduled(call) {
        let message = "Reports are updated immediately; there is nothing to start.";
        let code = "woocommerce_rest_analytics_import_immediate_mode";
        return Err(Refusal::new(400, code, message).into());
    }
    let (next, is_due) = next_catch_up(call)?;
    if is_due {
        let message = "The reports are already being updated.";
        let code = "woocommerce_rest_analytics_import_in_progress";
        return Err(Refusal::new(400, code, message).into());
    }
    let (site, now) = (call.site, call.now());
    if let Some(next) = next {
        jobs::cancel(site, call.conn()?, next.job_id, now)?;
    }
    let moments = (now, now.plus(HEAD_START));
    jobs::enqueue_for(call.conn()?, CATCH_UP, Some(KEY), &json!({}), moments)?;
    let message = "The reports are being updated.";
    Ok(Reply::new(json!({ "success": true, "message": message })))
}

fn outcome() -> Value {
    let members = [
        ("status", Schema::text().about("Result: success or error.")),
        ("message", Schema::text().about("Result message.")),
    ];
    Item::new("reports_import", Schema::object(members)).document()
}

fn status_document() -> Value {
    let part = |about: &str| {
        let members = [
            ("imported", Schema::integer().about("Number of processed records.")),
            ("total", Schema::integer().about("Total number of records.")),
        ];
        Schema::object(members).about(about)
    };
    let from = Schema::types(&["string", "integer"]);
    let members = [
        ("customers", part("Progress of customers.")),
        ("orders", part("Progress of orders and refunds.")),
        ("imported_from", from.about("Start date of the import; -1 for all records.")),
        ("is_importing", Schema::boolean().about("Whether an import is running.")),
    ];
    Item::new("reports_import_status", Schema::object(members)).document()
}

fn totals_document() -> Value {
    let members = [
        ("customers", Schema::integer().about("Number of customers to import.")),
        ("orders", Schema::integer().about("Number of orders and refunds to import.")),
    ];
    Item::new("reports_import_totals", Schema::object(members)).document()
}

fn mode_document() -> Value {
    let or_null = |kind: &str| Schema::types(&[kind, "null"]);
    let members = [
        ("mode", Schema::text().about("Update mode: scheduled or immediate.")),
        ("last_processed_date", or_null("string").about("Date of the last update.")),
        ("next_scheduled", or_null("string").about("Date of the next update.")),
        ("import_in_progress_or_due", or_null("boolean").about("Whether the next update is due.")),
    ];
    Item::new("analytics_import_status", Schema::object(members)).document()
}

fn trigger_document() -> Value {
    let members = [
        ("success", Schema::boolean().about("Whether the import was started.")),
        ("message", Schema::text().about("Result message.")),
    ];
    Item::new("analytics_import_trigger", Schema::object(members)).document()
}
