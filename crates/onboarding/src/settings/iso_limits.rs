//! What an ISO may use: objects, onboardings a day, requests a second.
//!
//! The operator's settings say what holds for all; an ISO may have limits of its own. **Only what
//! is limited is counted**, in the transaction that would exceed it.

use std::num::NonZeroU32;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use types::{Error, Result};

/// What an ISO may use. What is empty is not limited.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct IsoLimits {
    /// Merchants that are neither closed nor rejected.
    pub merchants: Option<u32>,
    /// Stores that are not closed.
    pub stores: Option<u32>,
    /// TPNs that are not retired.
    pub tpns: Option<u32>,
    /// Onboardings within 24 hours.
    pub onboardings: Option<u32>,
    /// Requests of one key in a second, and twice as many at once. Empty: as
    /// `server.rate_limits` has it.
    pub requests: Option<NonZeroU32>,
}

impl IsoLimits {
    /// The limits of an ISO as they are stored.
    pub(crate) fn read(text: &str) -> Result<Self> {
        serde_json::from_str(text)
            .map_err(|error| Error::internal("limits of an ISO cannot be read").because(error))
    }

    /// These, where the ISO has none of its own.
    pub(crate) fn unless(self, own: Self) -> Self {
        Self {
            merchants: own.merchants.or(self.merchants),
            stores: own.stores.or(self.stores),
            tpns: own.tpns.or(self.tpns),
            onboardings: own.onboardings.or(self.onboardings),
            requests: own.requests.or(self.requests),
        }
    }

    /// Whether an onboarding must count anything.
    pub(crate) fn has_quotas(&self) -> bool {
        let quotas = [self.merchants, self.stores, self.tpns, self.onboardings];
        quotas.iter().any(Option::is_some)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_limits_come_first() {
        let everybody = IsoLimits { merchants: Some(5), tpns: Some(7), ..IsoLimits::default() };
        let own = IsoLimits::read(r#"{"merchants":9,"onboardings":0}"#).unwrap();
        let limits = everybody.unless(own);
        assert_eq!(
            (limits.merchants, limits.tpns, limits.onboardings),
            (Some(9), Some(7), Some(0))
        );
        assert!(limits.has_quotas() && !IsoLimits::default().has_quotas());
        assert!(IsoLimits::read(r#"{"merchant":9}"#).is_err());
    }
}
