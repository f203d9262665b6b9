//! `/v1/sandbox/clock`: an ISO's own time in the sandbox, which can be moved forward.
//!
//! What depends on time follows it: due work, the end of keys and of pairing codes, warnings, and
//! the times in records and events. Deliveries of webhooks and e-mails keep to the real time.

use std::time::Duration;

use contract::{Answer, Endpoint, Failure, Route};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use types::{Scope, Timestamp};

use crate::audit;
use crate::codes::refusal;
use crate::perform::perform;
use crate::rows::iso_account;
use crate::{Code, Cx};

/// How far the clock of an ISO may be ahead.
const AHEAD_MAX: Duration = Duration::from_hours(5 * 366 * 24);
/// Rounds of due work that a move of the clock carries out at once; housekeeping does the rest.
const ROUNDS_MAX: usize = 50;

/// The time of an ISO's sandbox.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ClockView {
    /// What time it is for the ISO.
    time: String,
    /// How many seconds that is ahead of the real time.
    ahead_seconds: u64,
}

impl ClockView {
    fn of(now: Timestamp, ahead: Duration) -> Answer<Self> {
        Answer::new(Self { time: now.to_string(), ahead_seconds: ahead.as_secs() })
    }
}

/// Show the ISO's time. Sandbox only.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct ClockGet {}

impl Endpoint<Cx> for ClockGet {
    const ROUTE: Route = Route::get("/v1/sandbox/clock").scope(Scope::IsosRead);
    type Reply = ClockView;

    async fn handle(self, cx: &Cx) -> Result<Answer<ClockView>, Failure> {
        Ok(ClockView::of(cx.now, cx.caller()?.clock_ahead()))
    }
}

/// Move the ISO's time forward, and let happen what is due by then. Sandbox only.
///
/// It never goes back, but for `POST /v1/sandbox/reset`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ClockAdvance {
    /// Seconds to move forward.
    #[schemars(range(min = 1, max = 31_622_400))]
    advance_seconds: i64,
}

impl Endpoint<Cx> for ClockAdvance {
    const ROUTE: Route = Route::post("/v1/sandbox/clock").scope(Scope::IsosWrite);
    type Reply = ClockView;

    async fn handle(self, cx: &Cx) -> Result<Answer<ClockView>, Failure> {
        let iso_id = cx.caller()?.iso_id().clone();
        let step = Duration::from_secs(u64::try_from(self.advance_seconds).unwrap_or(0));
        let now = cx.now.plus(step);
        let entry = cx.entry("sandbox.clock", "iso", iso_id.as_str())?;
        let owner = iso_id.clone();
        let answer = perform(cx, move |conn| {
            let mut account = iso_account::get(conn, &owner)?;
            account.clock_ahead = account.clock_ahead.saturating_add(step);
            if account.clock_ahead > AHEAD_MAX {
                let message = "The clock can be at most five years ahead; reset the sandbox.";
                return Err(refusal("advanceSeconds", Code::InvalidValue, message));
            }
            iso_account::put(conn, &account, now)?;
            audit::append(conn, &entry.clone().changed("advanceSeconds", (), step.as_secs()))?;
            Ok(ClockView::of(now, account.clock_ahead))
        })
        .await?;
        if !cx.request_options.validate_only {
            for _ in 0..ROUNDS_MAX {
                if cx.platform.due_work_run(Some(iso_id.clone()), now).await? == 0 {
                    break;
                }
            }
            cx.platform.keys_warn_of(iso_id, now).await?;
        }
        Ok(answer)
    }
}
