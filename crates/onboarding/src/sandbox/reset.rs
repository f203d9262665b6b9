//! `POST /v1/sandbox/reset`: an ISO's sandbox starts over.

use contract::{Answer, Endpoint, Failure, Route};
use db::outbox::{self, Event};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::time::Duration;
use types::Scope;

use crate::Cx;
use crate::audit;
use crate::event_kinds;
use crate::perform::perform;
use crate::rows::reset::{self, Removed};
use crate::rows::{caught_webhook, connection, iso_account};

/// Merchants taken away in one transaction.
const BATCH: i64 = 100;
/// Transactions of one call; the next call goes on.
const ROUNDS_MAX: usize = 30;

/// Take away what the ISO onboarded, so that its sandbox starts over. Sandbox only.
///
/// Merchants, stores, TPNs, devices, their past versions, roll-outs, onboarding links, answers of
/// idempotency keys, caught webhooks, and the lead of the clock go. The account, keys, people,
/// templates, defaults, webhooks, events and the audit log stay.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct SandboxReset {}

/// What a reset took away.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ResetView {
    /// Merchants that are gone.
    merchants: u64,
    /// Stores that are gone.
    stores: u64,
    /// TPNs that are gone.
    tpns: u64,
    /// Whether that is all; otherwise call again.
    complete: bool,
}

impl Endpoint<Cx> for SandboxReset {
    const ROUTE: Route = Route::post("/v1/sandbox/reset").scope(Scope::IsosWrite);
    type Reply = ResetView;

    async fn handle(self, cx: &Cx) -> Result<Answer<ResetView>, Failure> {
        let iso_id = cx.caller()?.iso_id().clone();
        let entry = cx.entry("sandbox.reset", "iso", iso_id.as_str())?;
        let (mut total, mut complete) = (Removed::default(), false);
        let rounds = if cx.request_options.validate_only { 0 } else { ROUNDS_MAX };
        for _ in 0..rounds {
            let owner = iso_id.clone();
            let remove = move |conn: &mut dyn db::Conn| reset::remove(conn, &owner, BATCH);
            let removed = cx.platform.store.write(remove).await?;
            complete = removed == Removed::default();
            if complete {
                break;
            }
            total.merchants += removed.merchants;
            total.stores += removed.stores;
            total.tpns += removed.tpns;
        }
        let (now, real_now) = (cx.now, cx.platform.clock.now());
        let answer = perform(cx, move |conn| {
            caught_webhook::clear(conn, &iso_id)?;
            connection::disconnect_all(conn, &iso_id, real_now)?;
            let mut account = iso_account::get(conn, &iso_id)?;
            if !account.clock_ahead.is_zero() {
                account.clock_ahead = Duration::ZERO;
                iso_account::put(conn, &account, now)?;
            }
            let data = json!({
                "object": "sandbox", "id": iso_id, "status": "reset", "changed": [],
            });
            outbox::append(
                conn,
                &Event {
                    iso_id: Some(iso_id.clone()),
                    kind: event_kinds::SANDBOX_RESET,
                    object_id: iso_id.as_str().to_owned(),
                    payload: data.to_string(),
                    created: now,
                },
            )?;
            audit::append(conn, &entry)?;
            let Removed { merchants, stores, tpns, .. } = total;
            Ok(Answer::new(ResetView { merchants, stores, tpns, complete }))
        })
        .await?;
        Ok(answer)
    }
}
