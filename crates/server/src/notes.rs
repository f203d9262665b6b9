//! Raises the notes of the system: follows the feed for them, and tends them once in a while.

use std::sync::Arc;
use std::time::{Duration, Instant};

use admin::notes::{follow, tend};
use frame::Site;
use tokio::sync::watch;
use types::{Kind as ErrorKind, Result};

/// How long an event may wait before it is looked at.
const PAUSE: Duration = Duration::from_secs(1);
/// How late a snoozed note may wake.
const TEND_EVERY: Duration = Duration::from_secs(30);

/// Works until it is told to stop.
pub(crate) async fn run(site: Arc<Site>, mut stop: watch::Receiver<bool>) {
    let mut tended: Option<Instant> = None;
    while !*stop.borrow() {
        if let Err(error) = follow_events(&site).await {
            tracing::warn!(error = error.report(), "notes must wait; trying again");
        }
        if tended.is_none_or(|at| at.elapsed() >= TEND_EVERY) {
            tended = Some(Instant::now());
            if let Err(error) = tend_notes(&site).await {
                tracing::warn!(error = error.report(), "cannot update notes");
            }
        }
        tokio::select! {
            () = tokio::time::sleep(PAUSE) => {}
            _ = stop.changed() => break,
        }
    }
}

/// Looking costs a read; only where there is something is written.
async fn follow_events(site: &Site) -> Result<()> {
    while site.store().read(follow::is_behind).await? {
        let now = site.clock().now();
        match site.store().write(move |conn| follow::step(conn, now)).await {
            // Another process follows, too, and was faster.
            Err(error) if error.kind() == ErrorKind::Conflict => return Ok(()),
            stepped => stepped?,
        };
    }
    Ok(())
}

async fn tend_notes(site: &Site) -> Result<()> {
    let now = site.clock().now();
    if site.store().read(move |conn| tend::is_due(conn, now)).await? {
        site.store().write(move |conn| tend::tend(conn, now)).await?;
    }
    Ok(())
}
