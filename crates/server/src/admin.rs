//! The operator's address: liveness, readiness and metrics.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use analytics::facts::Facts;
use axum::Router;
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::response::IntoResponse;
use axum::routing::get;
use onboarding::Platform;
use types::Environment;

use crate::Shared;

const STORAGE_ANSWER_MAX: Duration = Duration::from_secs(2);
/// How often the storage is asked to take a change.
const PROBE_EVERY: Duration = Duration::from_secs(10);
/// The fact that says when it last did.
const PROBE: &str = "ready_at";

/// An environment, and the facts of its reports, if somebody keeps them.
pub(crate) type Watched = (Arc<Platform>, Option<Arc<Facts>>);

pub(crate) fn router(shared: Arc<Shared>, watched: Vec<Watched>) -> Router {
    let watched = Arc::new(watched);
    let ready = (Arc::clone(&shared), Arc::clone(&watched));
    Router::new()
        .route("/", get(|| async { "healthz, readyz and metrics are here\n" }))
        .route("/healthz", get(|| async { "alive\n" }))
        .route("/readyz", get(move || readiness(ready.0.clone(), ready.1.clone())))
        .route("/metrics", get(move || std::future::ready(metrics(&shared, &watched))))
}

/// What was last known of whether the storage takes changes. It is tried when the server starts,
/// and then, since anybody may ask, only once in a while.
#[derive(Debug, Default)]
pub(crate) struct WriteProbes {
    last: Mutex<HashMap<Environment, (Instant, bool)>>,
}

impl WriteProbes {
    async fn takes_changes(&self, platform: &Platform) -> bool {
        {
            let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
            match last.get_mut(&platform.environment) {
                Some((at, is_fine)) if at.elapsed() < PROBE_EVERY => return *is_fine,
                // Who asks meanwhile is told what was known before.
                Some((at, _)) => *at = Instant::now(),
                None => {}
            }
        }
        self.probe(platform).await
    }

    /// Tries a change, and remembers what came of it.
    pub(crate) async fn probe(&self, platform: &Platform) -> bool {
        let now = platform.clock.now().to_string();
        let write = platform.store.write(move |conn| db::fact::put(conn, PROBE, &now));
        let is_fine = matches!(tokio::time::timeout(STORAGE_ANSWER_MAX, write).await, Ok(Ok(())));
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        last.insert(platform.environment, (Instant::now(), is_fine));
        is_fine
    }
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
        if facts.as_ref().is_some_and(|facts| !facts.are_ready()) {
            return (StatusCode::SERVICE_UNAVAILABLE, "the facts of reports are being loaded\n");
        }
        let asked = platform.store.read(db::outbox::has_unsequenced);
        match tokio::time::timeout(STORAGE_ANSWER_MAX, asked).await {
            Ok(Ok(_)) => {}
            _ => return (StatusCode::SERVICE_UNAVAILABLE, "the storage does not answer\n"),
        }
        if !shared.probes.takes_changes(platform).await {
            let told = "the storage takes no changes; look at the log and the free space\n";
            return (StatusCode::SERVICE_UNAVAILABLE, told);
        }
    }
    (StatusCode::OK, "ready\n")
}

fn metrics(shared: &Shared, watched: &[Watched]) -> impl IntoResponse + use<> {
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
    for (platform, _) in watched {
        for (size, count) in platform.store.group_sizes().snapshot() {
            let _ = writeln!(
                text,
                "boardwalk_commit_group_size_total{{environment=\"{}\",size=\"{size}\"}} {count}",
                platform.environment
            );
        }
    }
    text.push_str(end);
    let kind = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    ([(CONTENT_TYPE, kind)], text)
}
