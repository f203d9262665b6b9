//! Looks after the connections of an environment: takes those that are due, works on a few at once,
//! and says when to look at each again. A process that ends in the middle leaves a lease behind
//! that runs out.

use std::sync::Arc;
use std::time::{Duration, Instant};

use db::Conn;
use onboarding::rows::connection::{self, ConnectionRow, ConnectionStatus};
use tokio::sync::watch;
use tokio::task::JoinSet;
use types::{Result, Timestamp};

use crate::source::{Code, Source, Trouble};
use crate::stores::Stores;
use crate::work::{Cursor, Halt, LEASE, Stage, Work};
use crate::{alerts, checks, copy, days, follow, hooks, reconcile, upkeep};

/// How often somebody looks for connections that are due.
const LOOK: Duration = Duration::from_millis(500);
/// Sums by day that could not be made at once are made then.
const DAYS_PAUSE: Duration = Duration::from_secs(5);
const CLOSE_EVERY: Duration = Duration::from_secs(30);
/// The first pause after a failure; each further one is twice as long.
const PAUSE_MIN: Duration = Duration::from_secs(2);
const PAUSE_MAX: Duration = Duration::from_mins(15);
/// So many failures in a row, and the connection is said to fail.
const FAILURES_MAX: i64 = 3;

/// Works until the server ends.
pub async fn run(stores: Arc<Stores>, mut stop: watch::Receiver<bool>) {
    let process = format!("{:x}-{}", std::process::id(), stores.platform.clock.now().as_micros());
    // Each time it is another one: what the owner took away from a turn is not its own again when
    // this process takes it up once more.
    let mut claims = 0_u64;
    let mut turns: JoinSet<()> = JoinSet::new();
    let mut closed = Instant::now();
    while !*stop.borrow() {
        while turns.try_join_next().is_some() {}
        let room = stores.settings.stores_at_once.max(1).saturating_sub(turns.len());
        claims += 1;
        let lease = format!("{process}-{claims}");
        match claim(&stores, lease, room).await {
            Ok(rows) => {
                for row in rows {
                    turns.spawn(turn(Arc::clone(&stores), row));
                }
            }
            Err(error) => {
                tracing::warn!(error = %error.report(), "cannot look for connections; retrying");
            }
        }
        if closed.elapsed() > CLOSE_EVERY {
            stores.close_idle().await;
            closed = Instant::now();
        }
        tokio::select! {
            _ = stop.changed() => {}
            () = stores.wake.notified() => {}
            () = tokio::time::sleep(LOOK) => {}
        }
    }
    // What is under way is done again by the next process.
    turns.shutdown().await;
    let _ = tokio::task::spawn_blocking(move || stores.close_all()).await;
}

async fn claim(stores: &Stores, lease: String, room: usize) -> Result<Vec<ConnectionRow>> {
    let Ok(room @ 1..) = i64::try_from(room) else { return Ok(Vec::new()) };
    let now = stores.platform.clock.now();
    let any = stores.platform.store.read(move |conn| connection::is_due(conn, now)).await?;
    if !any {
        return Ok(Vec::new());
    }
    let claim =
        move |conn: &mut dyn Conn| connection::claim(conn, &lease, (now, now.plus(LEASE)), room);
    stores.platform.store.write(claim).await
}

/// When a connection is looked at again.
#[derive(Clone, Copy)]
enum Next {
    /// Then, or as soon as a webhook has told of something.
    Look(Timestamp),
    /// Not before, whatever webhooks tell.
    NotBefore(Timestamp),
}

/// Works on a connection once, and says when to look at it again.
async fn turn(stores: Arc<Stores>, row: ConnectionRow) {
    let claimed = stores.platform.clock.now();
    let working = async {
        if row.status == ConnectionStatus::Disconnected {
            disconnect(&stores, &row).await
        } else {
            work(&stores, &row).await
        }
    };
    let ended = tokio::select! {
        ended = working => ended,
        () = hold(&stores, &row) => return,
    };
    let next = match ended {
        Ok(next) => next,
        Err(error) => {
            tracing::warn!(
                error = %error.report(), connection = row.connection_id,
                "cannot work on a connection; retrying"
            );
            Next::NotBefore(stores.platform.clock.now().plus(PAUSE_MIN))
        }
    };
    let release = move |conn: &mut dyn Conn| match next {
        Next::Look(due) => connection::release(conn, &row, due, claimed),
        Next::NotBefore(due) => connection::put_off(conn, &row, due),
    };
    if let Err(error) = stores.platform.store.write(release).await {
        // The lease runs out.
        tracing::warn!(error = %error.report(), "cannot let go of a connection");
    }
    // What came meanwhile is not kept waiting, and neither are those for whom there was no room.
    stores.wake.notify_one();
}

/// Holds on to the connection, however long its store takes to answer; returns when it is somebody
/// else's.
async fn hold(stores: &Stores, row: &ConnectionRow) {
    loop {
        tokio::time::sleep(LEASE / 3).await;
        let (held, until) = (row.clone(), stores.platform.clock.now().plus(LEASE));
        let renew = move |conn: &mut dyn Conn| connection::renew(conn, &held, until);
        if let Ok(false) = stores.platform.store.write(renew).await {
            return;
        }
    }
}

/// Removes the webhooks of a store and its copy.
async fn disconnect(stores: &Arc<Stores>, row: &ConnectionRow) -> Result<Next> {
    if let Some(source) = source_of(stores, row).await?
        && let Ok(source) = source
    {
        hooks::remove(&source, &row.connection_id).await;
    }
    stores.delete(&row.connection_id).await?;
    let removed = row.clone();
    if !stores.platform.store.write(move |conn| connection::remove(conn, &removed)).await? {
        tracing::debug!(connection = row.connection_id, "somebody else removes a connection");
    }
    Ok(Next::NotBefore(stores.platform.clock.now()))
}

/// The store of a connection; nothing without a key.
async fn source_of(
    stores: &Arc<Stores>,
    row: &ConnectionRow,
) -> Result<Option<std::result::Result<Source, Trouble>>> {
    let keys = keys_of(stores, row).await?;
    let ahead = Cursor::of(row).ahead;
    let source = |key| Source::new(Arc::clone(&stores.site), (&row.url, key), ahead);
    Ok(keys.store.as_ref().map(source))
}

async fn keys_of(
    stores: &Arc<Stores>,
    row: &ConnectionRow,
) -> Result<onboarding::connections::Keys> {
    let (platform, row) = (Arc::clone(&stores.platform), row.clone());
    let read = move |conn: &mut dyn Conn| platform.connection_keys(conn, &row);
    stores.platform.store.read(read).await
}

async fn work(stores: &Arc<Stores>, row: &ConnectionRow) -> Result<Next> {
    let now = || stores.platform.clock.now();
    if row.is_held && row.status == ConnectionStatus::Checked {
        return Ok(Next::NotBefore(now().plus(PAUSE_MAX)));
    }
    // A store of an ISO that is suspended is left alone.
    if stores.reader(&row.connection_id).await?.is_none() {
        return Ok(Next::NotBefore(now().plus(PAUSE_MAX)));
    }
    let keys = keys_of(stores, row).await?;
    let Some(source) = source_of(stores, row).await? else {
        return Ok(Next::NotBefore(now().plus(PAUSE_MAX)));
    };
    let store = stores.open(&row.connection_id).await?;
    let source = match source {
        Ok(source) => source,
        Err(trouble) => return fail(stores, row.clone(), &trouble).await,
    };
    let mut work = Work::new(Arc::clone(stores), row.clone(), (source, store));
    let ended = go_on(&mut work, &keys.access).await;
    match ended {
        // There may be more of what webhooks told of than fits into a turn.
        Ok(()) if work.is_turn_over() => Ok(Next::NotBefore(now())),
        Ok(()) => Ok(Next::Look(next_look(&work))),
        Err(Halt::Lost | Halt::TurnOver) => Ok(Next::NotBefore(now())),
        Err(Halt::Trouble(trouble)) => fail(stores, work.row, &trouble).await,
    }
}

async fn go_on(
    work: &mut Work,
    access: &onboarding::connections::Access,
) -> std::result::Result<(), Halt> {
    work.check_copy().await?;
    if work.cursor.stage == Stage::Settings {
        checks::run(work).await?;
        if work.row.is_held {
            work.set_status(ConnectionStatus::Checked);
            forget_trouble(work);
            return work.save().await;
        }
    }
    if work.cursor.stage != Stage::Live {
        copy::run(work).await?;
    }
    follow::hints(work).await?;
    if follow::is_due(work) {
        let checks = follow::is_check_due(work);
        if checks || hooks::are_missing(&work.cursor) {
            hooks::ensure(work, access).await?;
        }
        follow::run(work).await?;
        // What is known is told before the store is asked for what it may not be able to give.
        days::refresh(work).await?;
        alerts::look(work).await?;
        if checks {
            follow::look_for_gaps(work).await?;
            reconcile::look_at_some_skipped(work).await?;
        }
        match reconcile::run_if_due(work).await {
            // It goes on at the next look.
            Err(Halt::TurnOver) => {}
            ended => ended?,
        }
        forget_trouble(work);
    }
    days::refresh(work).await?;
    alerts::look(work).await?;
    work.save().await?;
    upkeep::run(work).await
}

/// Notes that nothing is wrong.
fn forget_trouble(work: &mut Work) {
    (work.row.error_code, work.row.error_message) = Default::default();
    work.row.failures = 0;
}

/// When there is something to do again, unless a webhook comes first.
fn next_look(work: &Work) -> Timestamp {
    let polled = work.cursor.polled.map_or(work.now(), Timestamp::from_micros);
    let poll = polled.plus(work.stores.settings.poll());
    let days = work.now().plus(DAYS_PAUSE);
    if work.cursor.days_stale { poll.min(days) } else { poll }
}

/// Notes what is wrong, and says when to try again.
async fn fail(stores: &Stores, mut row: ConnectionRow, trouble: &Trouble) -> Result<Next> {
    let now = stores.platform.clock.now();
    row.failures += 1;
    trouble.code.name().clone_into(&mut row.error_code);
    row.error_message.clone_from(&trouble.message);
    let is_lasting = trouble.code.needs_owner() || row.failures >= FAILURES_MAX;
    if is_lasting && trouble.code != Code::RateLimited {
        row.status = ConnectionStatus::Failing;
    }
    tracing::info!(
        connection = row.connection_id,
        code = row.error_code,
        failures = row.failures,
        "a connected store could not be followed"
    );
    let shift = u32::try_from(row.failures.clamp(1, 16)).unwrap_or(1) - 1;
    let pause = PAUSE_MIN.saturating_mul(1 << shift).min(PAUSE_MAX);
    let save = move |conn: &mut dyn Conn| connection::progress(conn, &row, now.plus(LEASE));
    stores.platform.store.write(save).await?;
    Ok(Next::NotBefore(now.plus(trouble.wait.map_or(pause, |wait| wait.max(PAUSE_MIN)))))
}
