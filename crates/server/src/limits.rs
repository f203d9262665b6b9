//! Rate limits: per API key, per ISO for onboardings, and per client address for refused keys.
//! Nodes on one database share them ([`shared`]).

mod shared;

use std::collections::HashMap;
use std::net::IpAddr;
use std::num::NonZeroU32;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use db::Database;
use frame::throttle::Refusals;
use governor::clock::{Clock as _, DefaultClock};
use governor::middleware::StateInformationMiddleware;
use governor::state::keyed::DashMapStateStore;
use governor::{Quota, RateLimiter};
use types::{Environment, Timestamp};

use shared::{Passed, SharedLimit};

use crate::settings::{Rate, RateLimits};

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
    quota: u32,
    window_s: u32,
    limiter: Option<Limiter>,
    /// Where other nodes count as well. The limiter is for when the database is away.
    shared: Option<SharedLimit>,
}

/// How a limit is counted.
#[derive(Clone, Copy, Debug)]
struct Counting<'a> {
    is_on: bool,
    /// The database that other nodes work on too.
    shared: Option<&'a Database>,
}

impl RateLimit {
    fn new(policy: &'static str, rate: Rate, counting: Counting<'_>) -> Self {
        let quota = Quota::per_second(rate.per_second).allow_burst(rate.burst);
        Self::of(policy, (rate.per_second.get(), 1), quota, counting)
    }

    fn per_hour(policy: &'static str, count: NonZeroU32, counting: Counting<'_>) -> Self {
        Self::of(policy, (count.get(), 60 * 60), Quota::per_hour(count), counting)
    }

    fn of(
        policy: &'static str,
        (per_window, window_s): (u32, u32),
        quota: Quota,
        counting: Counting<'_>,
    ) -> Self {
        let limiter = counting
            .is_on
            .then(|| RateLimiter::dashmap(quota).with_middleware::<StateInformationMiddleware>());
        let shared = counting.shared.filter(|_| counting.is_on);
        let shared = shared.map(|store| {
            // Buckets of another rate are others.
            let prefix = format!("{policy}/{per_window}:");
            SharedLimit::new(store.clone(), prefix, quota)
        });
        Self { policy, quota: per_window, window_s, limiter, shared }
    }

    pub(crate) async fn check(&self, name: &str, now: Timestamp) -> Result<Standing, Exceeded> {
        let Some(limiter) = &self.limiter else { return Ok(Standing::UNLIMITED) };
        let standing = |remaining| Standing {
            policy: self.policy,
            quota: self.quota,
            window_s: self.window_s,
            remaining,
        };
        let exceeded = |retry_after| Exceeded { standing: standing(0), retry_after };
        if let Some(shared) = &self.shared {
            match shared.pass(name, now).await {
                Ok(Passed::Yes { left }) => return Ok(standing(left)),
                Ok(Passed::NotFor(wait)) => return Err(exceeded(wait)),
                // Whoever asks meets the same database a moment later.
                Err(error) => {
                    tracing::debug!(error = %error.report(), "a rate limit is not shared now");
                }
            }
        }
        match limiter.check_key(&name.to_owned()) {
            Ok(state) => Ok(standing(state.remaining_burst_capacity())),
            Err(not_until) => {
                Err(exceeded(not_until.wait_time_from(DefaultClock::default().now())))
            }
        }
    }

    /// Forgets names that have been quiet, so that memory stays bounded.
    fn tidy(&self) {
        if let Some(limiter) = &self.limiter {
            limiter.retain_recent();
        }
        if let Some(shared) = &self.shared {
            shared.tidy();
        }
    }
}

/// Rates of ISOs that have their own, which are few; beyond that counting starts over.
const OWN_RATES_MAX: usize = 100;

/// The limits of keys whose ISO has a rate of its own, by that rate.
#[derive(Debug)]
struct OwnRates {
    by_rate: Mutex<HashMap<NonZeroU32, Arc<RateLimit>>>,
    shared: Option<Database>,
}

impl OwnRates {
    fn limit(&self, rate: NonZeroU32) -> Arc<RateLimit> {
        let mut by_rate = self.by_rate.lock().unwrap_or_else(PoisonError::into_inner);
        if by_rate.len() >= OWN_RATES_MAX && !by_rate.contains_key(&rate) {
            by_rate.clear();
        }
        let made = || {
            let burst = rate.saturating_mul(NonZeroU32::MIN.saturating_add(1));
            let counting = Counting { is_on: true, shared: self.shared.as_ref() };
            Arc::new(RateLimit::new("key", Rate { per_second: rate, burst }, counting))
        };
        Arc::clone(by_rate.entry(rate).or_insert_with(made))
    }

    fn tidy(&self) {
        let by_rate = self.by_rate.lock().unwrap_or_else(PoisonError::into_inner);
        by_rate.values().for_each(|limit| limit.tidy());
    }
}

/// All limits of one environment.
#[derive(Debug)]
pub(crate) struct EnvironmentLimits {
    key: RateLimit,
    own: OwnRates,
    pub(crate) onboard: RateLimit,
    /// What is sent without credentials, by client address.
    pub(crate) visitor: RateLimit,
    /// What is sent with the token of a link, by client address.
    pub(crate) form: RateLimit,
    pub(crate) refusals: Refusals<IpAddr>,
}

impl EnvironmentLimits {
    /// Of an environment in that database.
    pub(crate) fn new(limits: &RateLimits, environment: Environment, store: &Database) -> Self {
        let per_minute =
            if limits.enabled { limits.refused_keys_per_minute.get() } else { u32::MAX };
        let shared = (!store.is_embedded()).then_some(store);
        let counting = Counting { is_on: limits.enabled, shared };
        Self {
            own: OwnRates { by_rate: Mutex::default(), shared: shared.cloned() },
            key: RateLimit::new("key", limits.key(environment), counting),
            onboard: RateLimit::new("onboard", limits.onboard(environment), counting),
            visitor: RateLimit::per_hour("registrations", limits.registrations_per_hour, counting),
            form: RateLimit::per_hour("forms", limits.forms_per_hour, counting),
            refusals: Refusals::new(per_minute).shared("api-keys", store),
        }
    }

    pub(crate) fn tidy(&self) {
        self.key.tidy();
        self.own.tidy();
        self.onboard.tidy();
        self.visitor.tidy();
        self.form.tidy();
    }

    /// Counts a request of a key or device, at the rate that its ISO has for itself, if any.
    pub(crate) async fn check_key(
        &self,
        name: &str,
        own: Option<NonZeroU32>,
        now: Timestamp,
    ) -> Result<Standing, Exceeded> {
        match own.filter(|_| self.key.limiter.is_some()) {
            Some(rate) => self.own.limit(rate).check(name, now).await,
            None => self.key.check(name, now).await,
        }
    }

    /// Whether the client must wait, before its key is even looked at.
    pub(crate) fn check_refusals(&self, client: IpAddr, now: Instant) -> Result<(), Exceeded> {
        self.refusals.check(&client, now).map_err(|retry_after| {
            let quota = self.refusals.per_minute();
            let standing = Standing { policy: "refused-keys", quota, window_s: 60, remaining: 0 };
            Exceeded { standing, retry_after }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_burst_and_no_more() {
        let rate = Rate { per_second: NonZeroU32::MIN, burst: NonZeroU32::new(3).unwrap() };
        let limit = RateLimit::new("key", rate, Counting { is_on: true, shared: None });
        let now = Timestamp::from_micros(0);
        let mut passed = 0;
        for _ in 0..10 {
            passed += usize::from(limit.check("a", now).await.is_ok());
        }
        assert_eq!(passed, 3);
        assert!(limit.check("b", now).await.is_ok(), "names do not share a limit");
    }
}
