//! Rate limits: per API key, per ISO for onboardings, and per client address for refused keys.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use governor::clock::{Clock as _, DefaultClock};
use governor::middleware::StateInformationMiddleware;
use governor::state::keyed::DashMapStateStore;
use governor::{Quota, RateLimiter};
use types::Environment;

use crate::{Rate, RateLimits};

type Limiter =
    RateLimiter<String, DashMapStateStore<String>, DefaultClock, StateInformationMiddleware>;

/// What the `RateLimit` headers say.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Standing {
    pub(crate) policy: &'static str,
    pub(crate) quota: u32,
    pub(crate) window_s: u32,
    pub(crate) remaining: u32,
}

impl Standing {
    /// Said when nothing is limited.
    pub(crate) const UNLIMITED: Self =
        Self { policy: "unlimited", quota: u32::MAX, window_s: 1, remaining: u32::MAX };
}

/// Over the limit; come back later.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Exceeded {
    pub(crate) standing: Standing,
    pub(crate) retry_after: Duration,
}

/// A limit on a sustained rate, for each name.
#[derive(Debug)]
pub(crate) struct RateLimit {
    policy: &'static str,
    rate: Rate,
    limiter: Option<Limiter>,
}

impl RateLimit {
    fn new(policy: &'static str, rate: Rate, enabled: bool) -> Self {
        let quota = Quota::per_second(rate.per_second).allow_burst(rate.burst);
        let limiter = enabled
            .then(|| RateLimiter::dashmap(quota).with_middleware::<StateInformationMiddleware>());
        Self { policy, rate, limiter }
    }

    pub(crate) fn check(&self, name: &str) -> Result<Standing, Exceeded> {
        let Some(limiter) = &self.limiter else { return Ok(Standing::UNLIMITED) };
        let standing = |remaining| Standing {
            policy: self.policy,
            quota: self.rate.per_second.get(),
            window_s: 1,
            remaining,
        };
        match limiter.check_key(&name.to_owned()) {
            Ok(state) => Ok(standing(state.remaining_burst_capacity())),
            Err(not_until) => {
                let retry_after = not_until.wait_time_from(DefaultClock::default().now());
                Err(Exceeded { standing: standing(0), retry_after })
            }
        }
    }

    /// Forgets names that have been quiet, so that memory stays bounded.
    fn tidy(&self) {
        if let Some(limiter) = &self.limiter {
            limiter.retain_recent();
        }
    }
}

/// All limits of one environment.
#[derive(Debug)]
pub(crate) struct EnvironmentLimits {
    pub(crate) key: RateLimit,
    pub(crate) onboard: RateLimit,
    pub(crate) refusals: Refusals,
}

impl EnvironmentLimits {
    pub(crate) fn new(limits: &RateLimits, environment: Environment) -> Self {
        let per_minute =
            if limits.enabled { limits.refused_keys_per_minute.get() } else { u32::MAX };
        Self {
            key: RateLimit::new("key", limits.key(environment), limits.enabled),
            onboard: RateLimit::new("onboard", limits.onboard(environment), limits.enabled),
            refusals: Refusals::new(per_minute),
        }
    }

    pub(crate) fn tidy(&self) {
        self.key.tidy();
        self.onboard.tidy();
    }
}

const WINDOW: Duration = Duration::from_mins(1);
/// The first wait; it doubles with each further window of too many refusals.
const WAIT_FIRST: Duration = Duration::from_secs(30);
const WAIT_MAX: Duration = Duration::from_hours(1);
/// Clients remembered at most; beyond that those that are not waiting are forgotten first.
const CLIENTS_MAX: usize = 10_000;

/// Refused keys by client address, with growing waits.
#[derive(Debug)]
pub(crate) struct Refusals {
    per_minute: u32,
    clients: Mutex<HashMap<IpAddr, Record>>,
}

#[derive(Clone, Copy, Debug)]
struct Record {
    window_start: Instant,
    refused: u32,
    waits: u32,
    blocked_until: Option<Instant>,
}

impl Refusals {
    fn new(per_minute: u32) -> Self {
        Self { per_minute, clients: Mutex::new(HashMap::new()) }
    }

    /// Whether the client must wait, before its key is even looked at.
    pub(crate) fn check(&self, client: IpAddr, now: Instant) -> Result<(), Exceeded> {
        let clients = self.clients.lock().unwrap_or_else(PoisonError::into_inner);
        let until = clients.get(&client).and_then(|record| record.blocked_until);
        match until.and_then(|until| until.checked_duration_since(now)) {
            Some(wait) if !wait.is_zero() => {
                let standing = Standing {
                    policy: "refused-keys",
                    quota: self.per_minute,
                    window_s: 60,
                    remaining: 0,
                };
                Err(Exceeded { standing, retry_after: wait })
            }
            _ => Ok(()),
        }
    }

    /// Counts a refused key.
    pub(crate) fn note(&self, client: IpAddr, now: Instant) {
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
        if now.duration_since(record.window_start) >= WINDOW {
            *record = Record { window_start: now, refused: 0, ..*record };
        }
        record.refused = record.refused.saturating_add(1);
        if record.refused >= self.per_minute {
            let wait = WAIT_FIRST.saturating_mul(1 << record.waits.min(7)).min(WAIT_MAX);
            record.blocked_until = Some(now + wait);
            record.waits = record.waits.saturating_add(1);
            record.refused = 0;
        }
    }
}

#[cfg(test)]
mod tests {
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
                assert!(refusals.check(CLIENT, now).is_ok());
                refusals.note(CLIENT, now);
            }
            let wait = refusals.check(CLIENT, now).expect_err("must wait").retry_after;
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
            assert!(refusals.check(CLIENT, now).is_ok());
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

    #[test]
    fn a_burst_and_no_more() {
        let rate = Rate {
            per_second: std::num::NonZeroU32::MIN,
            burst: std::num::NonZeroU32::new(3).unwrap(),
        };
        let limit = RateLimit::new("key", rate, true);
        let passed = (0..10).filter(|_| limit.check("a").is_ok()).count();
        assert_eq!(passed, 3);
        assert!(limit.check("b").is_ok(), "names do not share a limit");
    }
}
