//! Guessing is made slow: who is refused too often must wait, longer each time.
//!
//! Nodes on one database tell each other of refusals, within a moment and by digests of who was
//! refused, so that asking another node gains nothing. A node that has just started knows of none.

use std::collections::HashMap;
use std::fmt::Display;
use std::marker::PhantomData;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use db::Database;

/// What nodes tell each other about.
const TOPIC: &str = "refused";
const REFUSED: &str = "+";
const FORGIVEN: &str = "-";

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
    counts: Arc<Counts>,
    others: Option<(&'static str, Database)>,
    of: PhantomData<fn(K)>,
}

#[derive(Debug)]
struct Counts {
    per_minute: u32,
    wait_max: Duration,
    clients: Mutex<HashMap<Digest, Record>>,
}

/// Of whoever is counted.
type Digest = [u8; 16];

#[derive(Clone, Copy, Debug)]
struct Record {
    window_start: Instant,
    refused: u32,
    waits: u32,
    blocked_until: Option<Instant>,
}

impl<K: Display> Refusals<K> {
    pub fn new(per_minute: u32) -> Self {
        let counts = Counts { per_minute, wait_max: WAIT_MAX, clients: Mutex::default() };
        Self { per_minute, counts: Arc::new(counts), others: None, of: PhantomData }
    }

    /// Nobody waits longer than this: for what others can be made to wait for.
    #[must_use]
    pub fn waiting_at_most(self, wait_max: Duration) -> Self {
        let counts = Counts { per_minute: self.per_minute, wait_max, clients: Mutex::default() };
        Self { counts: Arc::new(counts), ..self }
    }

    /// Counts with the other nodes on the database; `name` says what is counted, in one word.
    #[must_use]
    pub fn shared(self, name: &'static str, store: &Database) -> Self {
        let counts = Arc::clone(&self.counts);
        store.on_told(TOPIC, move |text| {
            let Some((told, sign, digest)) = read(text) else { return };
            match sign {
                REFUSED if told == name => counts.note(digest, Instant::now()),
                FORGIVEN if told == name => counts.forgive(digest),
                _ => {}
            }
        });
        Self { others: Some((name, store.clone())), ..self }
    }

    pub fn per_minute(&self) -> u32 {
        self.per_minute
    }

    /// How long the client must wait before what it shows is even looked at.
    pub fn check(&self, client: &K, now: Instant) -> Result<(), Duration> {
        self.counts.check(digest(client), now)
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
        let client = digest(client);
        self.counts.forgive(client);
        self.tell(FORGIVEN, client);
    }

    /// Counts a refusal.
    pub fn note(&self, client: K, now: Instant) {
        let client = digest(&client);
        self.counts.note(client, now);
        self.tell(REFUSED, client);
    }

    fn tell(&self, sign: &str, client: Digest) {
        // Without a limit nobody counts.
        if let Some((name, store)) = self.others.as_ref().filter(|_| self.per_minute != u32::MAX) {
            store.tell(TOPIC, &format!("{name} {sign} {:032x}", u128::from_be_bytes(client)));
        }
    }
}

fn digest(client: &impl Display) -> Digest {
    let mut digest = Digest::default();
    let mut hasher = blake3::Hasher::new();
    hasher.update(client.to_string().as_bytes()).finalize_xof().fill(&mut digest);
    digest
}

fn read(text: &str) -> Option<(&str, &str, Digest)> {
    let mut words = text.split(' ');
    let (name, sign, digest) = (words.next()?, words.next()?, words.next()?);
    Some((name, sign, u128::from_str_radix(digest, 16).ok()?.to_be_bytes()))
}

impl Counts {
    fn check(&self, client: Digest, now: Instant) -> Result<(), Duration> {
        let clients = self.clients.lock().unwrap_or_else(PoisonError::into_inner);
        let until = clients.get(&client).and_then(|record| record.blocked_until);
        match until.and_then(|until| until.checked_duration_since(now)) {
            Some(wait) if !wait.is_zero() => Err(wait),
            _ => Ok(()),
        }
    }

    fn forgive(&self, client: Digest) {
        let mut clients = self.clients.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(record) = clients.get_mut(&client) {
            record.refused = record.refused.saturating_sub(1);
        }
    }

    fn note(&self, client: Digest, now: Instant) {
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
            assert!(refusals.counts.clients.lock().unwrap().len() <= CLIENTS_MAX);
        }
    }
}
