//! `/v1/isos/{isoId}/usage`: how much an ISO has, for itself and for whoever decides on it. It
//! tells what a suspension stops before somebody suspends the ISO.

use std::time::Duration;

use contract::{Answer, Endpoint, Failure, Route};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use site_rows::user;
use types::{Scope, Timestamp};

use super::account::own;
use crate::Cx;
use crate::keys::issue::is_live;
use crate::rows::webhook_endpoint::EndpointStatus;
use crate::rows::{api_key, quota, webhook_endpoint};

/// Counting stops there, so that no ISO is too large to be shown.
const COUNTED_MAX: i64 = 100_000;
/// What onboardings are counted in.
const DAY: Duration = Duration::from_hours(24);

/// Show how much the ISO has of what can be limited, and how many keys and people work for it.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct IsoUsageGet {
    /// Id of the ISO.
    iso_id: String,
}

/// What an ISO has. Counting stops at 100,000.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct IsoUsage {
    /// Merchants that are neither closed nor rejected.
    merchants: i64,
    /// Stores that are not closed.
    stores: i64,
    /// TPNs that are not retired.
    tpns: i64,
    /// TPNs that a device is paired with.
    devices: i64,
    /// Onboardings within 24 hours.
    onboardings: i64,
    /// API keys that are neither expired nor revoked.
    keys: i64,
    /// Administrators and staff of the ISO.
    people: i64,
    /// Users of its merchants and stores.
    merchant_people: i64,
    /// Webhooks that are enabled.
    webhooks: i64,
}

impl Endpoint<Cx> for IsoUsageGet {
    const ROUTE: Route = Route::get("/v1/isos/{isoId}/usage").scope(Scope::IsosRead);
    type Reply = IsoUsage;

    async fn handle(self, cx: &Cx) -> Result<Answer<IsoUsage>, Failure> {
        let (iso_id, now) = (own(cx, &self.iso_id)?, cx.now);
        let usage = cx.platform.store.read(move |conn| {
            let day = i64::try_from(DAY.as_micros()).unwrap_or(i64::MAX);
            let since = Timestamp::from_micros(now.as_micros().saturating_sub(day));
            let counts = quota::counts(conn, &iso_id, since, COUNTED_MAX)?;
            let keys = api_key::list_of_iso(conn, &iso_id)?;
            let webhooks = webhook_endpoint::list(conn, &iso_id)?;
            let (people, merchant_people) = user::of_iso_count(conn, iso_id.as_str())?;
            Ok(IsoUsage {
                merchants: counts.merchants,
                stores: counts.stores,
                tpns: counts.tpns,
                devices: counts.devices,
                onboardings: counts.onboardings,
                keys: counted(keys.iter().filter(|key| is_live(key, now))),
                people: people - merchant_people,
                merchant_people,
                webhooks: counted(
                    webhooks.iter().filter(|one| one.status == EndpointStatus::Enabled),
                ),
            })
        });
        Ok(Answer::new(usage.await?))
    }
}

fn counted<T>(items: impl Iterator<Item = T>) -> i64 {
    i64::try_from(items.count()).unwrap_or(i64::MAX)
}
