//! Guessing is made slow: who is refused too often must wait, longer each time.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

const WINDOW: Duration = Duration::from_mins(1);
/// The first wait; it doubles with each further window of too many refusals.
const WAIT_FIRST: Duration = Duration::from_secs(30);
const WAIT_MAX: Duration = Duration::from_hours(1);
/// After this time without a refusal, the waits begin small again.
const FORGIVEN_AFTER: Duration = Duration::from_hours(2);
/// Clients remembered at most; beyond that those that are not waiting are forgotten first.
const CLIENTS_MAX: usize = 10_000;

/// Refusals by whoever is counted: a client address, or an account.
#[derive(Debug)]
pub struct Refusals<K> {
    per_minute: u32,
    wait_max: Duration,
    clients: Mutex<HashMap<K, Record>>,
}

#[derive(Clone, Copy, Debug)]
struct Record {
    window_start: Instant,
    refused: u32,
    waits: u32,
    blocked_until: Option<Instant>,
}

impl<K: Hash + Eq> Refusals<K> {
    pub fn new(per_minute: u32) -> Self {
        Self { per_minute, wait_max: WAIT_MAX, clients: Mutex::new(HashMap::new()) }
    }

    /// Nobody waits longer than this: for what others can be made to wait for.
    #[must_use]
    pub fn waiting_at_most(self, wait_max: Duration) -> Self {
        Self { wait_max, ..self }
    }

    pub fn per_minute(&self) -> u32 {
        self.per_minute
    }

    /// How long the client must wait before what it shows is even looked at.
    pub fn check(&self, client: &K, now: Instant) -> Result<(), Duration> {
        let clients = self.clients.lock().unwrap_or_else(PoisonError::into_inner);
        let until = clients.get(client).and_then(|record| record.blocked_until);
        match until.and_then(|until| until.checked_duration_since(now)) {
            Some(wait) if !wait.is_zero() => Err(wait),
            _ => Ok(()),
        }
    }

    /// Counts an attempt before its outcome is known, so that attempts side by side count too.
    /// One that turns out right is to be [forgiven](Self::forgive).
    pub fn attempt(&self, client: K, now: Instant) -> Result<(), Duration> {
        self.check(&client, now)?;
        self.note(client, now);
        Ok(())
    }

    /// Takes an attempt back.
    pub fn forgive(&self, client: &K) {
        let mut clients = self.clients.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(record) = clients.get_mut(client) {
            record.refused = record.refused.saturating_sub(1);
        }
    }

    /// Counts a refusal.
    pub fn note(&self, client: K, now: Instant) {
        let mut clients = self.clients.lock().unwrap_or_else(PoisonError::into_inner);
        if clients.len() >= CLIENTS_MAX && !clients.contains_key(&client) {
            clients.retain(|_, record| record.blocked_until.is_some_and(|until| now < until));
            if clients.len() >= CLIENTS_MAX {
                // So many at once are one attacker with many addresses: start over.
                clients.clear();
            }
        }
        let fresh = Record { window_start: now, refused: 0, waits: 0, blocked_until: None };
        let record = clients.entry(client).or_insert(fresh);
        let quiet = now.duration_since(record.window_start);
        if quiet >= FORGIVEN_AFTER {
            *record = fresh;
        } else if quiet >= WINDOW {
            *record = Record { window_start: now, refused: 0, ..*record };
        }
        record.refused = record.refused.saturating_add(1);
        if record.refused >= self.per_minute {
            let wait = WAIT_FIRST.saturating_mul(1 << record.waits.min(7)).min(self.wait_max);
            record.blocked_until = Some(now + wait);
            record.waits = record.waits.saturating_add(1);
            record.refused = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::IpAddr;

    use super::*;

    const CLIENT: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(192, 0, 2, 7));

    #[test]
    fn waits_grow_with_persistence() {
        let refusals = Refusals::new(3);
        let start = Instant::now();
        let mut last_wait = Duration::ZERO;
        let mut now = start;
        for _ in 0..3 {
            for _ in 0..3 {
                assert!(refusals.check(&CLIENT, now).is_ok());
                refusals.note(CLIENT, now);
            }
            let wait = refusals.check(&CLIENT, now).expect_err("must wait");
            assert!(wait > last_wait, "{wait:?} after {last_wait:?}");
            last_wait = wait;
            now += wait + Duration::from_secs(1);
        }
    }

    #[test]
    fn a_slow_client_is_never_blocked() {
        let refusals = Refusals::new(3);
        let mut now = Instant::now();
        for _ in 0..20 {
            refusals.note(CLIENT, now);
            assert!(refusals.check(&CLIENT, now).is_ok());
            now += Duration::from_secs(31);
        }
    }

    #[test]
    fn memory_is_bounded() {
        for per_minute in [1, 3] {
            let refusals = Refusals::new(per_minute);
            let now = Instant::now();
            for number in 0..u32::try_from(CLIENTS_MAX).unwrap() * 2 {
                refusals.note(IpAddr::V4(number.into()), now);
            }
            assert!(refusals.clients.lock().unwrap().len() <= CLIENTS_MAX);
        }
    }
}
