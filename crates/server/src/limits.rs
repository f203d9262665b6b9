//! Rate limits: per API key, per ISO for onboardings, and per client address for refused keys.

use std::collections::HashMap;
use std::net::IpAddr;
use std::num::NonZeroU32;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use frame::throttle::Refusals;
use governor::clock::{Clock as _, DefaultClock};
use governor::middleware::StateInformationMiddleware;
use governor::state::keyed::DashMapStateStore;
use governor::{Quota, RateLimiter};
use types::Environment;

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
}

impl RateLimit {
    fn new(policy: &'static str, rate: Rate, enabled: bool) -> Self {
        let quota = Quota::per_second(rate.per_second).allow_burst(rate.burst);
        let quota = enabled.then_some(quota);
        Self::of(policy, rate.per_second.get(), 1, quota)
    }

    fn per_hour(policy: &'static str, count: NonZeroU32, enabled: bool) -> Self {
        let quota = enabled.then(|| Quota::per_hour(count));
        Self::of(policy, count.get(), 60 * 60, quota)
    }

    fn of(policy: &'static str, per_window: u32, window_s: u32, quota: Option<Quota>) -> Self {
        let limiter = quota.map(|quota| {
            RateLimiter::dashmap(quota).with_middleware::<StateInformationMiddleware>()
        });
        Self { policy, quota: per_window, window_s, limiter }
    }

    pub(crate) fn check(&self, name: &str) -> Result<Standing, Exceeded> {
        let Some(limiter) = &self.limiter else { return Ok(Standing::UNLIMITED) };
        let standing = |remaining| Standing {
            policy: self.policy,
            quota: self.quota,
            window_s: self.window_s,
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

/// Rates of ISOs that have their own, which are few; beyond that counting starts over.
const OWN_RATES_MAX: usize = 100;

/// The limits of keys whose ISO has a rate of its own, by that rate.
#[derive(Debug, Default)]
struct OwnRates(Mutex<HashMap<NonZeroU32, Arc<RateLimit>>>);

impl OwnRates {
    fn limit(&self, rate: NonZeroU32) -> Arc<RateLimit> {
        let mut by_rate = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if by_rate.len() >= OWN_RATES_MAX && !by_rate.contains_key(&rate) {
            by_rate.clear();
        }
        let made = || {
            let burst = rate.saturating_mul(NonZeroU32::MIN.saturating_add(1));
            Arc::new(RateLimit::new("key", Rate { per_second: rate, burst }, true))
        };
        Arc::clone(by_rate.entry(rate).or_insert_with(made))
    }

    fn tidy(&self) {
        let by_rate = self.0.lock().unwrap_or_else(PoisonError::into_inner);
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
    pub(crate) fn new(limits: &RateLimits, environment: Environment) -> Self {
        let per_minute =
            if limits.enabled { limits.refused_keys_per_minute.get() } else { u32::MAX };
        Self {
            own: OwnRates::default(),
            key: RateLimit::new("key", limits.key(environment), limits.enabled),
            onboard: RateLimit::new("onboard", limits.onboard(environment), limits.enabled),
            visitor: RateLimit::per_hour(
                "registrations",
                limits.registrations_per_hour,
                limits.enabled,
            ),
            form: RateLimit::per_hour("forms", limits.forms_per_hour, limits.enabled),
            refusals: Refusals::new(per_minute),
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
    pub(crate) fn check_key(
        &self,
        name: &str,
        own: Option<NonZeroU32>,
    ) -> Result<Standing, Exceeded> {
        match own.filter(|_| self.key.limiter.is_some()) {
            Some(rate) => self.own.limit(rate).check(name),
            None => self.key.check(name),
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

    #[test]
    fn a_burst_and_no_more() {
        let rate = Rate { per_second: NonZeroU32::MIN, burst: NonZeroU32::new(3).unwrap() };
        let limit = RateLimit::new("key", rate, true);
        let passed = (0..10).filter(|_| limit.check("a").is_ok()).count();
        assert_eq!(passed, 3);
        assert!(limit.check("b").is_ok(), "names do not share a limit");
    }
}
