//! Gives outbox events their numbers, soon after they became visible.

use std::sync::Arc;
use std::time::Duration;

use onboarding::Platform;
use store::outbox;
use tokio::sync::watch;

/// How long an event may wait for its number.
const PAUSE: Duration = Duration::from_millis(200);
/// Events numbered in one transaction at most.
const BATCH: i64 = 2_000;

pub(crate) async fn run(platform: Arc<Platform>, mut stop: watch::Receiver<bool>) {
    loop {
        if let Err(error) = number_all(&platform).await {
            tracing::warn!(error = %error.report(), "events could not be numbered; trying again");
        }
        tokio::select! {
            () = tokio::time::sleep(PAUSE) => {}
            _ = stop.changed() => break,
        }
    }
    // What the last requests added gets its numbers before the server ends.
    let _ = number_all(&platform).await;
}

async fn number_all(platform: &Platform) -> types::Result<()> {
    while platform.store.read(outbox::has_unsequenced).await? {
        platform.store.write(|conn| outbox::sequence(conn, BATCH)).await?;
    }
    Ok(())
}
