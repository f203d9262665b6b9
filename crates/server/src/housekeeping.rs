//! Work beside the requests: events get their numbers, what has expired is forgotten.

use std::sync::Arc;
use std::time::{Duration, Instant};

use admin::catalogue_feed;
use commerce::products::sync;
use db::{outbox, text_index};
use frame::Site;
use onboarding::Platform;
use onboarding::encryption::LOOK;
use onboarding::rows::idempotency;
use shop_rows::{order, report_file};

use site_rows::{consumer_key, login_token, oembed_cache, session};
use tokio::sync::watch;
use types::Timestamp;

/// How long an event may wait for its number.
const PAUSE: Duration = Duration::from_millis(200);
/// Events numbered, or answers forgotten, in one transaction at most.
const BATCH: i64 = 2_000;
/// Texts of orders indexed in one transaction at most: some milliseconds.
const TEXTS: usize = 250;
const TEXTS_PAUSE: Duration = Duration::from_millis(5);
/// How late may happen what is due at a time.
const WORK_EVERY: Duration = Duration::from_secs(1);
const PURGE_EVERY: Duration = Duration::from_hours(1);
/// How long events can be read.
const EVENTS_KEPT: Duration = Duration::from_hours(400 * 24);
/// How late a scheduled post or product may appear, a sale begin or end, and an unpaid order be
/// cancelled.
const PUBLISH_EVERY: Duration = Duration::from_secs(30);
/// Signatures are refused long before: after a quarter of an hour.
const NONCE_LIFE_S: i64 = 3_600;
/// How long tokens of one use are kept after their end: how many were made is counted by the hour.
const TOKENS_KEPT: Duration = Duration::from_hours(2);

/// Looks which keys the environment has: whoever replaces them waits so long for this server.
pub(crate) async fn follow_keys(platform: Arc<Platform>, mut stop: watch::Receiver<bool>) {
    while !*stop.borrow() {
        if let Err(error) = platform.keys_refresh().await {
            tracing::warn!(error = %error.report(), "the state of the keys is not known");
        }
        tokio::select! {
            () = tokio::time::sleep(LOOK) => {}
            _ = stop.changed() => break,
        }
    }
}

pub(crate) async fn run(platform: Arc<Platform>, mut stop: watch::Receiver<bool>) {
    let mut purged: Option<Instant> = None;
    let mut worked: Option<Instant> = None;
    let mut published: Option<Instant> = None;
    loop {
        if let Err(error) = number_events(&platform).await {
            tracing::warn!(error = %error.report(), "events could not be numbered; trying again");
        }
        if let Err(error) = platform.requests_flush().await {
            tracing::warn!(error = %error.report(), "some requests cannot be looked up");
        }
        if let Err(error) = platform.audit_chain_and_check().await {
            tracing::warn!(error = %error.report(), "the audit log waits to be linked");
        }
        if worked.is_none_or(|at| at.elapsed() >= WORK_EVERY) {
            worked = Some(Instant::now());
            carry_out_due_work(&platform).await;
            if let Err(error) = platform.store.settle_tallies().await {
                tracing::warn!(error = error.report(), "what was counted is not drawn together");
            }
        }
        if purged.is_none_or(|at| at.elapsed() >= PURGE_EVERY) {
            purged = Some(Instant::now());
            purge_answers(&platform).await;
            forget_events(&platform).await;
            warn_of_keys(&platform).await;
            forget_requests(&platform).await;
            forget_uploads(&platform).await;
            forget_registrations(&platform).await;
            tell_heads(&platform).await;
            forget_credentials(&platform).await;
            forget_files(&platform).await;
            forget_rates(&platform).await;
        }
        if published.is_none_or(|at| at.elapsed() >= PUBLISH_EVERY) {
            published = Some(Instant::now());
            publish_due_posts(&platform).await;
            follow_calendar_of_goods(&platform).await;
            forget_carts(&platform).await;
            remove_old_feeds(&platform).await;
        }
        tokio::select! {
            () = tokio::time::sleep(PAUSE) => {}
            _ = stop.changed() => break,
        }
    }
    // What the last requests added gets its numbers before the server ends.
    let _ = number_events(&platform).await;
    let _ = platform.requests_flush().await;
    let _ = platform.audit_chain().await;
}

/// Sweeps the media library once in a while, until it is told to stop.
pub(crate) async fn sweep_library(site: Arc<Site>, mut stop: watch::Receiver<bool>) {
    while !*stop.borrow() {
        match site.sweep_library().await {
            Ok(0) => {}
            Ok(count) => tracing::info!(count, "files that nothing speaks of were deleted"),
            Err(error) => {
                tracing::warn!(error = error.report(), "the media library was not swept");
            }
        }
        tokio::select! {
            () = tokio::time::sleep(PURGE_EVERY) => {}
            _ = stop.changed() => break,
        }
    }
}

async fn number_events(platform: &Platform) -> types::Result<()> {
    while platform.store.read(outbox::has_unsequenced).await? {
        platform.store.write_in_turn(|conn| outbox::sequence(conn, BATCH)).await?;
    }
    Ok(())
}

/// What was to happen to merchants, stores and TPNs at a time that has come.
async fn carry_out_due_work(platform: &Platform) {
    match platform.due_work_round().await {
        Ok(0) => {}
        Ok(count) => tracing::info!(count, "due work was done"),
        Err(error) => {
            let error = error.report();
            tracing::warn!(error, "due work could not be carried out; trying again");
        }
    }
}

/// Indexes texts that are due until it is told to stop: a few at a time, with a pause after each,
/// so that a shop which was imported or upgraded goes on with everything else meanwhile.
pub(crate) async fn index_texts(platform: Arc<Platform>, mut stop: watch::Receiver<bool>) {
    let index = order::TEXT_INDEX;
    while !*stop.borrow() {
        let tended = async {
            if !platform.store.read(move |conn| text_index::is_due(conn, &index)).await? {
                return Ok(false);
            }
            platform.store.write(move |conn| text_index::index_due(conn, &index, TEXTS)).await
        };
        let pause = match tended.await {
            Ok(true) => TEXTS_PAUSE,
            Ok(false) => WORK_EVERY,
            Err(error) => {
                let error: types::Error = error;
                tracing::warn!(error = error.report(), "texts wait to be indexed");
                WORK_EVERY
            }
        };
        tokio::select! {
            () = tokio::time::sleep(pause) => {}
            _ = stop.changed() => break,
        }
    }
}

/// Carts that nobody came back to, a batch at a time.
async fn forget_carts(platform: &Platform) {
    let now = platform.clock.now();
    loop {
        let swept = platform.store.write(move |conn| storefront::sweep::sweep(conn, now));
        match swept.await {
            Ok(0) => return,
            Ok(count) => tracing::info!(count, "carts were forgotten"),
            Err(error) => {
                let error = error.report();
                return tracing::warn!(error, "carts could not be forgotten");
            }
        }
    }
}

/// Cancels what buyers ordered and did not pay in time, until it is told to stop.
pub(crate) async fn cancel_unpaid_orders(site: Arc<Site>, mut stop: watch::Receiver<bool>) {
    while !*stop.borrow() {
        match storefront::sweep::cancel_unpaid(&site, site.clock().now()).await {
            Ok(0) => {}
            Ok(count) => {
                tracing::info!(count, "orders that were not paid in time were cancelled");
            }
            Err(error) => {
                tracing::warn!(error = error.report(), "unpaid orders could not be cancelled");
            }
        }
        tokio::select! {
            () = tokio::time::sleep(PUBLISH_EVERY) => {}
            _ = stop.changed() => break,
        }
    }
}

/// A batch at a time, so that requests get their turn in between.
async fn purge_answers(platform: &Platform) {
    let now = platform.clock.now();
    loop {
        let purged = platform.store.write(move |conn| idempotency::purge(conn, now, BATCH));
        match purged.await {
            Ok(0) => return,
            Ok(count) => tracing::info!(count, "expired answers were forgotten"),
            Err(error) => {
                let error = error.report();
                return tracing::warn!(error, "expired answers could not be forgotten");
            }
        }
    }
}

/// Events are kept for those who come late, but not for ever.
async fn forget_events(platform: &Platform) {
    let kept = i64::try_from(EVENTS_KEPT.as_micros()).unwrap_or(i64::MAX);
    let before = platform.clock.now().as_micros().saturating_sub(kept);
    let before = Timestamp::from_micros(before);
    loop {
        match platform.store.write(move |conn| outbox::prune(conn, before, BATCH)).await {
            Ok(0) => return,
            Ok(count) => tracing::info!(count, "old events were forgotten"),
            Err(error) => {
                let error = error.report();
                return tracing::warn!(error, "old events could not be forgotten");
            }
        }
    }
}

async fn forget_requests(platform: &Platform) {
    loop {
        match platform.requests_prune().await {
            Ok(0) => return,
            Ok(count) => tracing::debug!(count, "old requests were forgotten"),
            Err(error) => {
                let error = error.report();
                return tracing::warn!(error, "old requests could not be forgotten");
            }
        }
    }
}

/// What became of uploaded files can be looked up for a while.
async fn forget_uploads(platform: &Platform) {
    loop {
        match platform.bulk_forget().await {
            Ok(0) => return,
            Ok(count) => tracing::info!(count, "old uploads were forgotten"),
            Err(error) => {
                let error = error.report();
                return tracing::warn!(error, "old uploads could not be forgotten");
            }
        }
    }
}

/// Registrations of ISOs that nobody confirmed in time.
async fn forget_registrations(platform: &Platform) {
    match platform.registrations_prune().await {
        Ok(0) => {}
        Ok(count) => tracing::info!(count, "unconfirmed registrations were forgotten"),
        Err(error) => {
            let error = error.report();
            tracing::warn!(error, "unconfirmed registrations could not be forgotten");
        }
    }
}

/// The ends of the chains of the audit log, once a day: to ISOs by event, the operator's own here.
async fn tell_heads(platform: &Platform) {
    match platform.audit_heads_tell().await {
        Ok(heads) => {
            for head in heads {
                let hash = head.hash.iter().map(|byte| format!("{byte:02x}"));
                let hash: String = hash.collect();
                tracing::info!(sequence = head.seq, hash, "end of the audit log");
            }
        }
        Err(error) => {
            let error = error.report();
            tracing::warn!(error, "the end of the audit log could not be told");
        }
    }
}

/// ISOs learn of keys that are about to end.
async fn warn_of_keys(platform: &Platform) {
    match platform.keys_warn().await {
        Ok(0) => {}
        Ok(count) => tracing::info!(count, "keys are about to end"),
        Err(error) => {
            let error = error.report();
            tracing::warn!(error, "ISOs could not be told of keys that are about to end");
        }
    }
}

/// Sessions and tokens that have ended, nonces of signatures that nobody would accept any more, and
/// what other sites said too long ago.
async fn forget_credentials(platform: &Platform) {
    let now = platform.clock.now();
    let forgotten = platform.store.write(move |conn| {
        session::prune(conn, now)?;
        let oldest = now.as_micros() / 1_000_000 - NONCE_LIFE_S;
        consumer_key::prune_nonces(conn, oldest)?;
        let kept = i64::try_from(TOKENS_KEPT.as_micros()).unwrap_or(i64::MAX);
        let ended = Timestamp::from_micros(now.as_micros().saturating_sub(kept));
        login_token::prune(conn, ended)?;
        oembed_cache::prune(conn, now)
    });
    if let Err(error) = forgotten.await {
        let error = error.report();
        tracing::warn!(error, "what has expired could not be forgotten");
    }
}

/// Exports of reports that nobody can download any more.
async fn forget_files(platform: &Platform) {
    let now = platform.clock.now();
    loop {
        match platform.store.write(move |conn| report_file::prune(conn, now, BATCH)).await {
            Ok(0) => return,
            Ok(count) => tracing::info!(count, "expired parts of exports were deleted"),
            Err(error) => {
                let error = error.report();
                return tracing::warn!(error, "expired exports could not be deleted");
            }
        }
    }
}

/// Rate limits of those who have been quiet.
async fn forget_rates(platform: &Platform) {
    let now = platform.clock.now();
    loop {
        match platform.store.write(move |conn| db::rate_bucket::prune(conn, now, BATCH)).await {
            Ok(0) => return,
            Ok(count) => tracing::debug!(count, "unused rate limits were forgotten"),
            Err(error) => {
                let error = error.report();
                return tracing::warn!(error, "unused rate limits could not be forgotten");
            }
        }
    }
}

/// Scheduled posts appear when their time has come. Looking costs a read; only then is written.
async fn publish_due_posts(platform: &Platform) {
    let now = platform.clock.now();
    let due = platform.store.read(move |conn| content::is_any_due(conn, now)).await;
    let published = match due {
        Ok(false) => return,
        Ok(true) => platform.store.write(move |conn| content::publish_due(conn, now)).await,
        Err(error) => Err(error),
    };
    match published {
        Ok(count) => tracing::info!(count, "scheduled posts were published"),
        Err(error) => {
            let error = error.report();
            tracing::warn!(error, "scheduled posts could not be published");
        }
    }
}

/// Prices change when a sale begins or ends, and scheduled products appear. Looking costs a read;
/// only then is written.
async fn follow_calendar_of_goods(platform: &Platform) {
    let now = platform.clock.now();
    let due = platform.store.read(move |conn| sync::is_any_due(conn, now)).await;
    let changed = match due {
        Ok(false) => return,
        Ok(true) => platform.store.write(move |conn| sync::catch_up(conn, now)).await,
        Err(error) => Err(error),
    };
    match changed {
        Ok(0) => {}
        Ok(count) => tracing::info!(count, "sales began or ended, or products appeared"),
        Err(error) => {
            let error = error.report();
            tracing::warn!(error, "sales could not begin or end, nor products appear");
        }
    }
}

/// The catalogue's feeds go when they are too old. Looking costs a read; only then is written.
async fn remove_old_feeds(platform: &Platform) {
    let now = platform.clock.now();
    let old = platform.store.read(move |conn| catalogue_feed::is_any_old(conn, now)).await;
    let removed = match old {
        Ok(false) => return,
        Ok(true) => platform.store.write(move |conn| catalogue_feed::remove_old(conn, now)).await,
        Err(error) => Err(error),
    };
    match removed {
        Ok(count) => tracing::info!(count, "old feeds of the catalogue were removed"),
        Err(error) => {
            let error = error.report();
            tracing::warn!(error, "old feeds of the catalogue could not be removed");
        }
    }
}
