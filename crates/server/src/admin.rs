//! The operator's address: liveness, readiness and metrics.

use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::response::IntoResponse;
use axum::routing::get;
use onboarding::Platform;

use crate::Shared;

const STORAGE_ANSWER_MAX: Duration = Duration::from_secs(2);

pub(crate) fn router(shared: Arc<Shared>, platforms: Vec<Arc<Platform>>) -> Router {
    let platforms = Arc::new(platforms);
    let ready = (Arc::clone(&shared), Arc::clone(&platforms));
    Router::new()
        .route("/healthz", get(|| async { "alive\n" }))
        .route("/readyz", get(move || readiness(ready.0.clone(), ready.1.clone())))
        .route("/metrics", get(move || std::future::ready(metrics(&shared, &platforms))))
}

/// 200 when every environment's storage answers and the server is not stopping.
pub(crate) async fn readiness(
    shared: Arc<Shared>,
    platforms: Arc<Vec<Arc<Platform>>>,
) -> impl IntoResponse {
    if shared.is_stopping() {
        return (StatusCode::SERVICE_UNAVAILABLE, "stopping\n");
    }
    for platform in platforms.iter() {
        let asked = platform.store.read(store::outbox::has_unsequenced);
        match tokio::time::timeout(STORAGE_ANSWER_MAX, asked).await {
            Ok(Ok(_)) => {}
            _ => return (StatusCode::SERVICE_UNAVAILABLE, "the storage does not answer\n"),
        }
    }
    (StatusCode::OK, "ready\n")
}

fn metrics(shared: &Shared, platforms: &[Arc<Platform>]) -> impl IntoResponse + use<> {
    let mut text = shared.metrics.text();
    let end = "# EOF\n";
    text.truncate(text.strip_suffix(end).map_or(text.len(), str::len));
    text.push_str("# HELP boardwalk_commit_group_size Transactions committed together.\n");
    text.push_str("# TYPE boardwalk_commit_group_size counter\n");
    for platform in platforms {
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
