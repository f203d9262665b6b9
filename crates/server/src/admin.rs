//! The operator's address: liveness, readiness and metrics.

mod connected;
mod memory;

use std::fmt::Write as _;
use std::sync::Arc;

use analytics::Facts;
use axum::Router;
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::response::IntoResponse;
use axum::routing::get;
use db::backlog::{Backlog, Waiting};
use frame::Site;
use onboarding::Platform;
use types::{Environment, Timestamp};

use crate::backups::{BackupSettings, LastBackup};
use crate::data_keys::Rotation;
use crate::shared::{STORAGE_ANSWER_MAX, Shared};
use crate::tls::Known;

/// An environment, and the facts of its reports, if somebody keeps them.
pub(crate) type Watched = (Arc<Platform>, Option<Arc<Facts>>);

/// The sites, and the copies of the stores that are connected to them.
pub(crate) type Sites = (Vec<Arc<Site>>, Vec<Arc<connect::Stores>>);

pub(crate) fn router(shared: Arc<Shared>, watched: Vec<Watched>, sites: Sites) -> Router {
    let (watched, sites) = (Arc::new(watched), Arc::new(sites));
    let ready = (Arc::clone(&shared), Arc::clone(&watched));
    Router::new()
        .route("/", get(|| async { "healthz, readyz and metrics are here\n" }))
        .route("/healthz", get(|| async { "alive\n" }))
        .route("/readyz", get(move || readiness(ready.0.clone(), ready.1.clone())))
        .route(
            "/metrics",
            get(move || metrics(Arc::clone(&shared), Arc::clone(&watched), Arc::clone(&sites))),
        )
}

/// 200 when every environment's storage answers and takes changes, its facts are loaded, and the
/// server is not stopping.
pub(crate) async fn readiness(
    shared: Arc<Shared>,
    watched: Arc<Vec<Watched>>,
) -> impl IntoResponse {
    if shared.is_stopping() {
        return (StatusCode::SERVICE_UNAVAILABLE, "stopping\n");
    }
    for (platform, facts) in watched.iter() {
        // What is elsewhere keeps nobody from the rest.
        if facts.as_ref().is_some_and(|facts| facts.cluster().is_none() && !facts.are_ready()) {
            return (StatusCode::SERVICE_UNAVAILABLE, "reports are loading\n");
        }
        let answers = platform.store.read(db::outbox::has_unsequenced);
        match tokio::time::timeout(STORAGE_ANSWER_MAX, answers).await {
            Ok(Ok(_)) => {}
            _ => return (StatusCode::SERVICE_UNAVAILABLE, "the database does not respond\n"),
        }
        if platform.key_is_replaced() {
            let reason = "the master key was replaced; this server needs the new one\n";
            return (StatusCode::SERVICE_UNAVAILABLE, reason);
        }
        if !shared.probes.takes_changes(platform).await {
            let reason = "the storage takes no changes; look at the log and the free space\n";
            return (StatusCode::SERVICE_UNAVAILABLE, reason);
        }
    }
    (StatusCode::OK, "ready\n")
}

async fn metrics(
    shared: Arc<Shared>,
    watched: Arc<Vec<Watched>>,
    sites: Arc<Sites>,
) -> impl IntoResponse {
    let mut text = shared.metrics.text();
    let end = "# EOF\n";
    text.truncate(text.strip_suffix(end).map_or(text.len(), str::len));
    let (version, uptime) = (env!("CARGO_PKG_VERSION"), shared.started.elapsed().as_secs());
    let _ = write!(
        text,
        "# HELP boardwalk_build Which version runs.\n# TYPE boardwalk_build info\n\
         boardwalk_build_info{{version=\"{version}\"}} 1\n\
         # HELP boardwalk_uptime_seconds Since the server started.\n\
         # TYPE boardwalk_uptime_seconds gauge\n# UNIT boardwalk_uptime_seconds seconds\n\
         boardwalk_uptime_seconds {uptime}\n"
    );
    text.push_str("# HELP boardwalk_commit_group_size Transactions committed together.\n");
    text.push_str("# TYPE boardwalk_commit_group_size counter\n");
    for (platform, _) in watched.iter() {
        for (size, count) in platform.store.group_sizes().snapshot() {
            let _ = writeln!(
                text,
                "boardwalk_commit_group_size_total{{environment=\"{}\",size=\"{size}\"}} {count}",
                platform.environment
            );
        }
    }
    write_list_reads(&mut text, &watched);
    let (mut backlogs, mut backups, mut rotations) = (Vec::new(), Vec::new(), Vec::new());
    for (platform, _) in watched.iter() {
        let now = platform.clock.now();
        let read = platform.store.read(move |conn| {
            let (backlog, backup) = (Backlog::read(conn, now)?, LastBackup::read(conn)?);
            Ok((backlog, backup, Rotation::under_way(conn)?))
        });
        // Whoever looks at a storage that does not answer wants the other figures.
        if let Ok(Ok((backlog, backup, rotation))) =
            tokio::time::timeout(STORAGE_ANSWER_MAX, read).await
        {
            backlogs.push((platform.environment, now, backlog));
            backups.push((platform.environment, backup));
            rotations.extend(rotation.map(|rotation| (platform.environment, rotation)));
        }
    }
    memory::write(&mut text, &watched, &sites.0);
    connected::write(&mut text, &sites.1);
    write_backlogs(&mut text, &backlogs);
    write_backups(&mut text, &shared.settings.backup, &backups);
    write_certificate(&mut text, shared.certificate.get());
    write_rotations(&mut text, &rotations);
    text.push_str(end);
    let kind = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    ([(CONTENT_TYPE, kind)], text)
}

/// Where lists were read, if there are replicas.
fn write_list_reads(text: &mut String, watched: &[Watched]) {
    let counted = watched.iter().filter_map(|(platform, _)| {
        platform.store.list_reads().map(|counts| (platform.environment, counts))
    });
    let mut counted = counted.peekable();
    if counted.peek().is_none() {
        return;
    }
    text.push_str("# HELP boardwalk_list_reads Lists by the database server that was read.\n");
    text.push_str("# TYPE boardwalk_list_reads counter\n");
    for (environment, (replica, primary)) in counted {
        for (from, count) in [("replica", replica), ("primary", primary)] {
            let labels = format!("environment=\"{environment}\",from=\"{from}\"");
            let _ = writeln!(text, "boardwalk_list_reads_total{{{labels}}} {count}");
        }
    }
}

/// How much waits, and for how long the first of it has.
fn write_backlogs(text: &mut String, backlogs: &[(Environment, Timestamp, Backlog)]) {
    write_waiting(text, "jobs", "Background jobs that are due", backlogs, |one| &one.jobs);
    let about = "Messages to webhooks that are due";
    write_waiting(text, "deliveries", about, backlogs, |one| &one.deliveries);
    write_head(text, "outbox_lag_events", "Events that a follower of all changes has not seen");
    for (environment, _, backlog) in backlogs {
        for (follower, lag) in &backlog.followers {
            let labels = format!("environment=\"{environment}\",follower=\"{follower}\"");
            let _ = writeln!(text, "boardwalk_outbox_lag_events{{{labels}}} {lag}");
        }
    }
}

fn write_waiting(
    text: &mut String,
    name: &str,
    about: &str,
    backlogs: &[(Environment, Timestamp, Backlog)],
    waiting: fn(&Backlog) -> &Vec<Waiting>,
) {
    let (mut counts, mut waits) = (String::new(), String::new());
    for (environment, now, backlog) in backlogs {
        for Waiting { kind, count, since } in waiting(backlog) {
            let labels = format!("environment=\"{environment}\",kind=\"{kind}\"");
            let seconds = (now.as_micros() - since.as_micros()).max(0) / 1_000_000;
            let _ = writeln!(counts, "boardwalk_{name}_waiting{{{labels}}} {count}");
            let _ = writeln!(waits, "boardwalk_{name}_waiting_seconds{{{labels}}} {seconds}");
        }
    }
    write_head(text, &format!("{name}_waiting"), about);
    text.push_str(&counts);
    write_head(text, &format!("{name}_waiting_seconds"), "Since the first of them is due");
    text.push_str(&waits);
}

/// When the last backup was taken, and how large it is; zero before the first. Nothing where there
/// is no schedule, so that nobody waits for the next.
fn write_backups(
    text: &mut String,
    settings: &BackupSettings,
    backups: &[(Environment, Option<LastBackup>)],
) {
    let is_on = settings.place().is_some();
    let mut write = |name: &str, about: &str, value: fn(&BackupSettings, &LastBackup) -> u64| {
        write_head(text, name, about);
        for (environment, last) in backups.iter().filter(|_| is_on) {
            let none = LastBackup::default();
            let value = value(settings, last.as_ref().unwrap_or(&none));
            let _ = writeln!(text, "boardwalk_{name}{{environment=\"{environment}\"}} {value}");
        }
    };
    let about = "When the last verified backup was taken";
    write("backup_last_success_timestamp_seconds", about, |_, last| last.at_seconds());
    write("backup_size_bytes", "Its size", |_, last| last.bytes);
    let about = "How often backups are to be taken";
    write("backup_period_seconds", about, |settings, _| settings.every.duration().as_secs());
}

/// How far the replacement of data keys is, while it is under way.
fn write_rotations(text: &mut String, rotations: &[(Environment, Rotation)]) {
    let mut write = |name: &str, about: &str, value: fn(&Rotation) -> i64| {
        write_head(text, name, about);
        for (environment, rotation) in rotations {
            let value = value(rotation);
            let _ = writeln!(text, "boardwalk_{name}{{environment=\"{environment}\"}} {value}");
        }
    };
    write("key_rotation_done", "Steps of a replacement of data keys", |one| one.done);
    write("key_rotation_steps", "All steps of it", |one| one.total);
    write("key_rotation_values", "Values encrypted again", |one| one.resealed);
}

/// How long the certificate is good for, and how attempts to renew it ended. Only the names of the
/// figures where there is no certificate, or where somebody else renews it.
fn write_certificate(text: &mut String, known: Option<&Known>) {
    let about = "When the certificate expires; zero while it is self-signed";
    write_head(text, "certificate_expiry_timestamp_seconds", about);
    if let Some(known) = known {
        let expires = known.expires_seconds();
        let _ = writeln!(text, "boardwalk_certificate_expiry_timestamp_seconds {expires}");
    }
    let renewals = known.and_then(|known| known.renewals.as_ref());
    text.push_str("# HELP boardwalk_certificate_renewals Attempts to get a certificate.\n");
    text.push_str("# TYPE boardwalk_certificate_renewals counter\n");
    if let Some((issued, failed)) = renewals.map(|renewals| renewals.counts()) {
        for (outcome, count) in [("issued", issued), ("failed", failed)] {
            let name = "boardwalk_certificate_renewals_total";
            let _ = writeln!(text, "{name}{{outcome=\"{outcome}\"}} {count}");
        }
    }
    let about = "Whether the last attempt to get a certificate succeeded";
    write_head(text, "certificate_renewal_succeeded", about);
    if let Some(is_issued) = renewals.and_then(|renewals| renewals.last()) {
        let last = u8::from(is_issued);
        let _ = writeln!(text, "boardwalk_certificate_renewal_succeeded {last}");
    }
}

fn write_head(text: &mut String, name: &str, about: &str) {
    let _ = write!(text, "# HELP boardwalk_{name} {about}.\n# TYPE boardwalk_{name} gauge\n");
}
