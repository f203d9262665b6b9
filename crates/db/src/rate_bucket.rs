//! Rate limits that several nodes share: for each name, when its bucket is full again. A node takes
//! some of what is left at once and hands it out by itself, so that few requests come here.
//!
//! The time is the node's own, and a bucket is never emptier than empty. **A node whose clock is
//! ahead by as long as a bucket takes to fill leaves the others nothing** while it is asked itself:
//! clocks of nodes must agree to a second.

use types::{Result, Timestamp};

use crate::{Conn, Engine, Val, statements};

const NANOSECONDS: i64 = 1_000;

statements! {
    BUCKET_GET = "SELECT full_ns FROM rate_buckets WHERE name = $1";
    BUCKET_SET =
        "INSERT INTO rate_buckets (name, full_ns) VALUES ($1, $2)
         ON CONFLICT (name) DO UPDATE SET full_ns = excluded.full_ns";
    BUCKETS_FULL =
        "DELETE FROM rate_buckets WHERE name IN (
           SELECT name FROM rate_buckets WHERE full_ns < $1 LIMIT $2)";
}

/// A sustained rate, and how much at once after a pause.
#[derive(Clone, Copy, Debug)]
pub struct Rate {
    /// Nanoseconds until the bucket holds one more.
    pub interval_ns: i64,
    pub burst: u32,
}

/// What was taken from a bucket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Taken {
    pub count: u32,
    /// What is left.
    pub left: u32,
    /// How long until there is something, if nothing was taken.
    pub wait_ns: i64,
}

/// Takes up to `wanted` from the bucket of that name.
pub fn take(
    conn: &mut dyn Conn,
    name: &str,
    rate: Rate,
    wanted: u32,
    now: Timestamp,
) -> Result<Taken> {
    if conn.engine() == Engine::Postgres {
        // What a crash forgets here was a moment's rate, and no disk has to be waited for.
        conn.script("SET LOCAL synchronous_commit TO off")?;
    }
    let now = now.as_micros().saturating_mul(NANOSECONDS);
    let size = rate.interval_ns.saturating_mul(i64::from(rate.burst));
    let known = conn.row(&BUCKET_GET, &[name.into()], |row| row.get::<i64>(0))?;
    let full = known.unwrap_or(now).clamp(now, now.saturating_add(size));
    let room = size - (full - now);
    let there = u32::try_from(room / rate.interval_ns.max(1)).unwrap_or(u32::MAX);
    let count = there.min(wanted);
    if count > 0 {
        let full = full.saturating_add(rate.interval_ns.saturating_mul(i64::from(count)));
        conn.execute_one(&BUCKET_SET, &[name.into(), Val::Int(full)])?;
    }
    let wait_ns = if count > 0 { 0 } else { (rate.interval_ns - room).max(0) };
    Ok(Taken { count, left: there - count, wait_ns })
}

/// Forgets buckets that are full, which need not be known, and returns how many.
pub fn prune(conn: &mut dyn Conn, now: Timestamp, limit: i64) -> Result<u64> {
    let now = now.as_micros().saturating_mul(NANOSECONDS);
    conn.execute(&BUCKETS_FULL, &[Val::Int(now), Val::Int(limit)])
}
