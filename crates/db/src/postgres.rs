//! PostgreSQL: a thread per connection, all taking from one queue.
//!
//! Every write is a serialisable transaction, but for those that take turns by a lock of their own,
//! and those that only add rows.
//! **When two of them get in each other's way, the loser is run again here** ([`turns`]).
//! Several server processes may share one database.

mod connection;
mod failure;
pub(crate) mod listen;
mod pipeline;
pub(crate) mod replica;
mod session;
mod target;
mod turns;

use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use types::{Error, Kind, Result};

use crate::caller::Interrupt;
use crate::job::Job;
use crate::queue::Queue;
use crate::threads::Threads;
use crate::{Conn as _, Migrations};
use connection::{Cancel, Commit, PgConn, spawn};
use replica::ListReads;
use target::Purpose;
pub(crate) use target::Target;

const ATTEMPTS_MAX: u32 = 20;
const RETRY_PAUSE_STEP: Duration = Duration::from_millis(1);
const RETRY_DOUBLINGS_MAX: u32 = 4;
/// How often a change is begun anew after its connection was lost.
const LOST_MAX: u32 = 2;
/// Any number will do as long as nobody else on the server takes it: "boardwlk" in ASCII.
const MIGRATION_LOCK: i64 = 0x626f_6172_6477_6c6b;
/// How often a migration is begun again that lost against a change.
const MIGRATION_RACES_MAX: u32 = 10;
/// Between two attempts, for those who had to wait meanwhile.
const MIGRATION_PAUSE: Duration = Duration::from_secs(1);

/// Connects, brings the schema up to date and starts the threads. Lists are read from the
/// replicas, if there are any.
pub(crate) fn start(
    target: &Target,
    migrations: Migrations,
    writers: usize,
    replicas: Option<(&Target, &Arc<ListReads>)>,
) -> Result<Threads> {
    target.check_sessions()?;
    migrate(target, migrations)?;
    // Who is given few connections to write with is given few to read with.
    let readers = crate::READERS.min(writers + 1);
    let mut threads = Threads::new(writers, readers);
    for _ in 0..writers {
        let (target, queue) = (target.clone(), Arc::clone(&threads.writes));
        let write = move || serve(&target, &queue, Mode::Write);
        threads.writers.push(spawn("postgres-writer", write)?);
    }
    for _ in 0..readers {
        let (target, queue) = (target.clone(), Arc::clone(&threads.reads));
        let read = move || serve(&target, &queue, Mode::Read);
        threads.readers.push(spawn("postgres-reader", read)?);
    }
    if let Some((replicas, reads)) = replicas {
        threads.lists = Arc::new(Queue::new(readers));
        for place in 0..readers {
            let (primary, replicas) = (target.clone(), replicas.clone());
            let (queue, reads) = (Arc::clone(&threads.lists), Arc::clone(reads));
            let read = move || replica::serve(&primary, (&replicas, place), &queue, &reads);
            threads.readers.push(spawn("postgres-replica", read)?);
        }
    }
    Ok(threads)
}

fn migrate(target: &Target, migrations: Migrations) -> Result<()> {
    let mut conn = target.connect(Purpose::Writing)?;
    for _ in 0..MIGRATION_RACES_MAX {
        match migrate_once(&mut conn, target, migrations) {
            // Nodes of an older version go on working, and one may read for long what this changes.
            Err(_) if conn.lost_race => {
                conn.script("ROLLBACK")?;
                conn.lost_race = false;
                thread::sleep(MIGRATION_PAUSE);
            }
            ended => return ended,
        }
    }
    migrate_once(&mut conn, target, migrations)
}

fn migrate_once(conn: &mut PgConn, target: &Target, migrations: Migrations) -> Result<()> {
    // What is counted after a lock was taken includes all that was committed before.
    conn.script("BEGIN ISOLATION LEVEL READ COMMITTED")?;
    // A change of a large table takes its time.
    conn.script("SET LOCAL statement_timeout TO 0")?;
    // Two servers that start at once must not migrate at once.
    conn.script(&format!("SELECT pg_advisory_xact_lock({MIGRATION_LOCK})"))?;
    // Who writes waits for this, which may wait for who reads.
    conn.script("SET LOCAL lock_timeout TO '10s'")?;
    conn.script(&format!("CREATE SCHEMA IF NOT EXISTS {}", target.schema))?;
    crate::migrate::run(conn, migrations)?;
    conn.script("COMMIT")
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    Read,
    Write,
}

impl Mode {
    const fn purpose(self) -> Purpose {
        match self {
            Self::Read => Purpose::Reading,
            Self::Write => Purpose::Writing,
        }
    }
}

/// A thread's life: take a job, run it, answer; connect again when the connection is gone.
fn serve(target: &Target, queue: &Queue, mode: Mode) {
    let mut connection: Option<PgConn> = None;
    while let Some((mut job, turn)) = queue.pop() {
        let ended = transact(target, &mut connection, job.as_mut(), mode);
        if let Err(error) = &ended {
            tracing::error!(error = %error.report(), "database transaction failed");
        }
        // Who is answered finds their turn over.
        drop(turn);
        job.finish(ended);
        if mode == Mode::Read {
            end_read(&mut connection);
        }
    }
}

/// Nobody waits for the end of a transaction that changed nothing, so it comes after the answer.
fn end_read(connection: &mut Option<PgConn>) {
    let Some(conn) = connection else { return };
    let was_begun = conn.first.take().is_none();
    if was_begun && conn.script("COMMIT").is_err() {
        *connection = None;
    }
}

fn transact(
    target: &Target,
    connection: &mut Option<PgConn>,
    job: &mut dyn Job,
    mode: Mode,
) -> Result<()> {
    let (mut lost, mut races) = (0, 0);
    for _ in 0..ATTEMPTS_MAX {
        let (conn, fresh) = match connection {
            Some(conn) if !conn.session.is_closed() => (conn, false),
            _ => (connection.insert(target.connect(mode.purpose())?), true),
        };
        match attempt_once(target, conn, job, mode, races) {
            Attempt::Ended(Ok(())) => return Ok(()),
            Attempt::Ended(Err(error)) => {
                *connection = None;
                return Err(error);
            }
            Attempt::NotBegun(error) => {
                *connection = None;
                if fresh {
                    return Err(error);
                }
            }
            Attempt::Lost(error) => {
                *connection = None;
                lost += 1;
                if lost > LOST_MAX {
                    return Err(error);
                }
            }
            Attempt::LostRace => {
                target.turns.lost(job.isolation());
                races += 1;
                thread::sleep(retry_pause(races));
            }
        }
    }
    Err(Error::unavailable("the storage is too busy; try again"))
}

/// Spreads the losers of a race over a time that doubles with each attempt.
fn retry_pause(attempt: u32) -> Duration {
    let longest = RETRY_PAUSE_STEP * (1 << attempt.min(RETRY_DOUBLINGS_MAX));
    // A new hasher is seeded at random, which is random enough here.
    let noise = RandomState::new().build_hasher().finish();
    let share = u32::try_from(noise % 1024).unwrap_or(0);
    longest * share / 1024
}

enum Attempt {
    Ended(Result<()>),
    NotBegun(Error),
    /// The connection broke before the commit was sent, so that the server stored nothing.
    Lost(Error),
    LostRace,
}

fn attempt_once(
    target: &Target,
    conn: &mut PgConn,
    job: &mut dyn Job,
    mode: Mode,
    races: u32,
) -> Attempt {
    (conn.failed, conn.lost, conn.lost_race) = (false, false, false);
    match mode {
        Mode::Read => conn.first = Some("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"),
        // By itself: were it refused, the changes behind it would be stored one by one.
        Mode::Write => {
            if let Err(error) = target.turns.begin(conn, job.isolation(), races) {
                // Nothing has run yet, so a connection that died while idle is no reason to fail.
                return Attempt::NotBegun(error);
            }
        }
    }
    if let Some(interest) = job.interest() {
        let cancel: Arc<dyn Interrupt> = Arc::<Cancel>::clone(&conn.cancel);
        interest.set_interrupt(Some(cancel));
    }
    let keep = job.run(conn);
    if let Some(interest) = job.interest() {
        interest.set_interrupt(None);
    }
    if conn.lost_race {
        let _ = conn.script("ROLLBACK");
        return Attempt::LostRace;
    }
    if conn.lost {
        conn.written.publish();
        return Attempt::Lost(Error::unavailable("the connection to the storage was lost"));
    }
    if mode == Mode::Read {
        conn.written.publish();
        return Attempt::Ended(Ok(()));
    }
    if !keep {
        let ended = conn.script("ROLLBACK");
        conn.written.publish();
        return match ended {
            Err(_) if conn.lost_race => Attempt::LostRace,
            ended => Attempt::Ended(ended),
        };
    }
    if conn.failed {
        // The server would answer the commit with a silent rollback.
        return Attempt::Ended(conn.script("ROLLBACK").and_then(|()| {
            Err(Error::internal("a change was not stored, since a part of it had failed"))
        }));
    }
    commit(target, conn)
}

/// **Once the commit was sent, nothing is run again by itself**: if its answer is lost, the change
/// may be stored, and the caller is told so. A request with an idempotency key can be sent again,
/// since the answer for the key is stored with the change or not at all.
fn commit(target: &Target, conn: &mut PgConn) -> Attempt {
    let ended = conn.commit(&target.schema, &target.news);
    conn.written.publish();
    let uncertain = |message: &'static str| Error::new(Kind::Uncertain, message);
    match ended {
        Ok(Commit::Durable) => Attempt::Ended(Ok(())),
        Ok(Commit::NotOnStandby) => Attempt::Ended(Err(uncertain(
            "the storage stopped waiting for its standby while a change was being stored",
        ))),
        Err(_) if conn.lost_race => Attempt::LostRace,
        // A server that goes on answering has refused; one that is gone may have stored it before.
        Err(error) if conn.script("ROLLBACK").is_err() => {
            let message = "the connection to the storage was lost while a change was being stored";
            Attempt::Ended(Err(uncertain(message).because(error)))
        }
        Err(error) => Attempt::Ended(Err(error)),
    }
}
