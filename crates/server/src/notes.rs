//! Raises the notes of the system and sends the e-mails of plugins: follows the feed for them, and
//! looks once in a while at what no event tells.

use std::sync::Arc;
use std::time::{Duration, Instant};

use admin::notes::{follow, maintain};
use admin::plugins::emails;
use analytics::Facts;
use analytics::sales_record;
use frame::{Options, Site};
use tokio::sync::watch;
use types::{Error, Kind as ErrorKind, Result};

/// How long an event may wait before it is looked at.
const PAUSE: Duration = Duration::from_secs(1);
/// How late a snoozed note may wake.
const MAINTAIN_EVERY: Duration = Duration::from_secs(30);

/// Works until it is told to stop.
pub(crate) async fn run(site: Arc<Site>, facts: Arc<Facts>, mut stop: watch::Receiver<bool>) {
    let mut tended: Option<Instant> = None;
    while !*stop.borrow() {
        if let Err(error) = follow_events(&site).await {
            tracing::warn!(error = error.report(), "notes must wait; trying again");
        }
        if let Err(error) = send_emails(&site).await {
            tracing::warn!(error = error.report(), "e-mails of plugins must wait; trying again");
        }
        if tended.is_none_or(|at| at.elapsed() >= MAINTAIN_EVERY) {
            tended = Some(Instant::now());
            if let Err(error) = maintain_notes(&site, &facts).await {
                tracing::warn!(error = error.report(), "cannot update notes");
            }
            if let Err(error) = remind(&site).await {
                tracing::warn!(error = error.report(), "cannot remind of unpaid orders");
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

/// The same for e-mails of plugins.
async fn send_emails(site: &Arc<Site>) -> Result<()> {
    while site.store().read(emails::is_behind).await? {
        let (of_step, now) = (Arc::clone(site), site.clock().now());
        match site.store().write(move |conn| emails::step(&of_step, conn, now)).await {
            Err(error) if error.kind() == ErrorKind::Conflict => return Ok(()),
            stepped => stepped?,
        };
    }
    Ok(())
}

async fn remind(site: &Arc<Site>) -> Result<()> {
    if !site.store().read(emails::reminds).await? {
        return Ok(());
    }
    let (of_step, now) = (Arc::clone(site), site.clock().now());
    site.store().write(move |conn| emails::remind(&of_step, conn, now)).await.map(drop)
}

async fn maintain_notes(site: &Site, facts: &Arc<Facts>) -> Result<()> {
    let now = site.clock().now();
    let options = site.store().read(Options::read).await?;
    // Facts that are elsewhere are waited for.
    let asked = Arc::clone(facts);
    let asked =
        tokio::task::spawn_blocking(move || sales_record::last_day(&asked, &options, now)).await;
    let last_day = asked.map_err(|error| Error::internal("a question failed").because(error))?;
    let last_day = last_day?.map(|day| maintain::LastDay {
        day: day.day,
        sold: day.sold,
        best_before: day.best_before,
    });
    let due = last_day.clone();
    if site.store().read(move |conn| maintain::is_due(conn, due.as_ref(), now)).await? {
        site.store().write(move |conn| maintain::maintain(conn, last_day.as_ref(), now)).await?;
    }
    Ok(())
}
