//! Numbers handed out in blocks. A block belongs to one process; a crash leaves a gap, never a
//! reuse.

use std::hash::{DefaultHasher, Hash, Hasher as _};

use types::{Error, Result};

use crate::{Conn, Val, statements};

statements! {
    COUNTER_TAKE =
        "INSERT INTO counters (name, next) VALUES ($1, $2)
         ON CONFLICT (name) DO UPDATE SET next = counters.next + excluded.next
         RETURNING next";
    COUNTER_RAISE =
        "INSERT INTO counters (name, next) VALUES ($1, $2)
         ON CONFLICT (name) DO UPDATE SET next =
           CASE WHEN counters.next > excluded.next THEN counters.next ELSE excluded.next END";
    COUNTER_LOCK =
        "INSERT INTO counters (name, next) VALUES ($1, 1)
         ON CONFLICT (name) DO UPDATE SET next = counters.next
         RETURNING next";
    COUNTER_READ = "SELECT next FROM counters WHERE name = $1";
}

/// Takes `count` numbers and returns the first of them. Counting starts at zero.
pub fn take(conn: &mut dyn Conn, name: &str, count: i64) -> Result<i64> {
    assert!(count > 0, "a block has at least one number");
    let params = [Val::Text(name), Val::Int(count)];
    let next = conn.row(&COUNTER_TAKE, &params, |row| row.get::<i64>(0))?;
    let next = next.ok_or_else(|| Error::internal("a counter gave no number"))?;
    Ok(next - count)
}

/// Moves the counter to `next` unless it is there already or further: for numbers that came with
/// something imported.
pub fn raise(conn: &mut dyn Conn, name: &str, next: i64) -> Result<()> {
    conn.execute_one(&COUNTER_RAISE, &[name.into(), next.into()])
}

/// Lets one transaction at a time pass, and returns where the counter stands; a new one is at 1.
pub fn lock(conn: &mut dyn Conn, name: &str) -> Result<i64> {
    let next = conn.row(&COUNTER_LOCK, &[name.into()], |row| row.get(0))?;
    next.ok_or_else(|| Error::internal("a counter could not be locked"))
}

/// Numbers between the beginnings of two periods: far more than a period has, so that neither its
/// bound nor the leap of a restore reaches into the next one.
const PERIOD_NUMBERS: i64 = 1 << 32;

/// Counters of one name that [`take_shared`] chooses from.
const SHARED_COUNTERS: u64 = 16_384;

/// Takes one of the `max` that a period has, such as letters of a day; false when none is left.
/// Periods are numbered upwards, and the counter serves nothing else. **What is taken in a
/// transaction that fails, or is run again, was not taken.**
pub fn take_of_period(conn: &mut dyn Conn, name: &str, period: i64, max: i64) -> Result<bool> {
    assert!((1..PERIOD_NUMBERS).contains(&max), "a period has at least one and not too many");
    let first = period.saturating_mul(PERIOD_NUMBERS);
    if read(conn, name)? >= first.saturating_add(max) {
        return Ok(false);
    }
    raise(conn, name, first)?;
    take(conn, name, 1)?;
    Ok(true)
}

/// How many of the `max` a period has left.
pub fn left_of_period(conn: &mut dyn Conn, name: &str, period: i64, max: i64) -> Result<i64> {
    let first = period.saturating_mul(PERIOD_NUMBERS);
    let taken = read(conn, name)?.saturating_sub(first).max(0);
    Ok(max.saturating_sub(taken).max(0))
}

/// [`take_of_period`] for one of those who are told apart by `key`, such as addresses that
/// strangers make up. **They share a fixed number of counters**, so that inventing keys does not
/// fill the store; two that meet by chance share what there is.
pub fn take_shared(
    conn: &mut dyn Conn,
    name: &str,
    key: &impl Hash,
    period: i64,
    max: i64,
) -> Result<bool> {
    let mut hasher = DefaultHasher::new();
    key.hash(&mut hasher);
    let name = format!("{name} {}", hasher.finish() % SHARED_COUNTERS);
    take_of_period(conn, &name, period, max)
}

/// How many numbers were taken.
pub fn read(conn: &mut dyn Conn, name: &str) -> Result<i64> {
    let next = conn.row(&COUNTER_READ, &[name.into()], |row| row.get(0))?;
    Ok(next.unwrap_or(0))
}
