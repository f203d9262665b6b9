//! What a request's headers ask for beyond its content: a dry run, a safe retry, a simulated
//! failure.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use axum::http::HeaderMap;
use contract::{Failure, Outcome};
use onboarding::caller::Caller;
use onboarding::idempotency::{Idempotency, KeptAnswer, Known, RunningGuard};
use onboarding::sandbox::{self, Scenario};
use onboarding::{Code, Cx, Platform, RequestOptions};
use serde_json::Value;
use types::Timestamp;

use crate::answer::{Answer, Dialect};

/// How long a request waits for another with the same idempotency key.
const IN_PROGRESS_WAIT: Duration = Duration::from_secs(2);
const IN_PROGRESS_PAUSE: Duration = Duration::from_millis(20);
/// Stands for a header's value that is not ASCII; no header has such a value.
const UNREADABLE: &str = "?";
const KEY_HEADER: &str = "idempotency-key";
const KEY_PARAM: &str = "header.Idempotency-Key";
/// Headers of an answer that belong to its content and are repeated with it.
const KEPT_HEADERS: &[&str] =
    &["x-existing-merchant-id", "x-existing-store-id", "x-ignored-fields", "etag"];

/// Reads the headers of a request whose body is known.
pub(crate) fn read(
    platform: &Platform,
    caller: Option<&Caller>,
    path: &str,
    headers: &HeaderMap,
    params: &Value,
    dialect: Dialect,
) -> Result<RequestOptions, Answer> {
    let text = |name: &str| headers.get(name).map(|value| value.to_str().unwrap_or(UNREADABLE));
    let validate_only = match text("x-validate-only").map(|value| value.trim().to_lowercase()) {
        None => false,
        Some(value) if value == "true" => true,
        Some(value) if value == "false" => false,
        // Storing what was only to be tried would be the worst answer to a typing mistake.
        Some(_) => {
            let param = "header.X-Validate-Only";
            return Err(dialect.refuse(Code::InvalidValue, param, "Send true or false."));
        }
    };
    let scenario = Scenario::read(platform.environment, text("x-sandbox-scenario"));
    let scenario = scenario.map_err(|message| {
        dialect.refuse(Code::InvalidValue, "header.X-Sandbox-Scenario", message)
    })?;
    let idempotency = match (headers.get(KEY_HEADER), caller) {
        (Some(key), Some(caller)) => match key.to_str() {
            Ok(key) if Idempotency::is_key(key.as_bytes()) => {
                Some(Idempotency::new(&platform.vault, caller.iso_id(), key, path, params))
            }
            _ => {
                let message = "The key must be 1 to 255 visible ASCII characters.";
                return Err(dialect.refuse(Code::IdempotencyKeyInvalid, KEY_PARAM, message));
            }
        },
        _ => None,
    };
    // A dry run stores nothing, so there is nothing to repeat.
    let idempotency = idempotency.filter(|_| !validate_only);
    let if_match = text("if-match").map(str::to_owned);
    Ok(RequestOptions { validate_only, idempotency, scenario, if_match })
}

/// Waits until no other request of this process has the key.
pub(crate) async fn take_turn<'p>(
    platform: &'p Platform,
    caller: &Caller,
    request: &Idempotency,
    dialect: Dialect,
) -> Result<RunningGuard<'p>, Answer> {
    let started = Instant::now();
    loop {
        if let Some(guard) = platform.idempotency_start(caller, request) {
            return Ok(guard);
        }
        if started.elapsed() >= IN_PROGRESS_WAIT {
            let message = "A request with this key is still in progress; try again.";
            return Err(dialect.refuse(Code::RequestInProgress, KEY_PARAM, message));
        }
        tokio::time::sleep(IN_PROGRESS_PAUSE).await;
    }
}

/// The kept answer, if the key has one.
pub(crate) async fn kept_answer(
    platform: &Platform,
    caller: &Caller,
    request: &Idempotency,
    now: Timestamp,
    dialect: Dialect,
) -> Option<Answer> {
    match platform.idempotency_known(caller, request, now).await {
        Ok(Known::Nothing) => None,
        Ok(Known::Answer(kept)) => {
            let mut headers = vec![("idempotent-replayed", String::from("true"))];
            for name in KEPT_HEADERS {
                headers.extend(kept.headers.get(*name).map(|value| (*name, value.clone())));
            }
            Some(Answer { status: kept.status, body: kept.body.into_bytes(), headers })
        }
        Ok(Known::OtherRequest) => {
            let message = "This key was used for another request; use a new one.";
            Some(dialect.refuse(Code::IdempotencyKeyReused, KEY_PARAM, message))
        }
        Err(error) => Some(dialect.error(&error)),
    }
}

/// Keeps a refusal for the request's key. A success was kept with the change itself, and what is
/// nobody's error is not kept, so that a retry is a real one.
pub(crate) async fn keep_refusal(cx: &Cx, request: Idempotency, answer: &Answer) {
    let own = answer.headers.iter().filter(|(name, _)| KEPT_HEADERS.contains(name));
    let refusal = KeptAnswer {
        status: answer.status,
        body: String::from_utf8_lossy(&answer.body).into_owned(),
        headers: own.map(|(name, value)| ((*name).to_owned(), value.clone())).collect(),
    };
    let kept = cx.platform.idempotency_keep_refusal(cx, request, refusal).await;
    if let Err(error) = kept {
        tracing::warn!(error = %error.report(), "a refusal was not kept for its idempotency key");
    }
}

/// What an outcome means for the key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kept {
    Refusal,
    AnsweredAlready,
    Other,
}

impl From<&Outcome> for Kept {
    fn from(outcome: &Outcome) -> Self {
        match &outcome.result {
            Err(Failure::Issues { .. }) => Self::Refusal,
            Err(Failure::AnsweredAlready) => Self::AnsweredAlready,
            Ok(_) | Err(Failure::Error(_)) => Self::Other,
        }
    }
}

/// A simulated failure by value comes once per key and minute, so that the retry succeeds.
#[derive(Debug, Default)]
pub(crate) struct SimulatedFailures {
    last: Mutex<HashMap<(String, &'static str), Instant>>,
}

const SIMULATED_EVERY: Duration = Duration::from_mins(1);
/// Pairs of key and code remembered at most.
const SIMULATED_MAX: usize = 1_000;

impl SimulatedFailures {
    /// Waits or fails as the values of the request and its scenario ask, in the sandbox only.
    pub(crate) async fn play(
        &self,
        platform: &Platform,
        caller: Option<&Caller>,
        params: &Value,
        scenario: &Scenario,
        dialect: Dialect,
    ) -> Result<(), Answer> {
        let magic = sandbox::magic(platform.environment, params);
        let delay = magic.delay.max(scenario.delay);
        if !delay.is_zero() {
            tokio::time::sleep(delay).await;
        }
        let message = "Simulated in the sandbox.";
        let by_value =
            magic.failure.zip(caller).filter(|(code, caller)| self.is_due(&caller.actor(), *code));
        let simulated = by_value.map(|(code, _)| (code, code.status())).or(scenario.outright());
        let Some((code, status)) = simulated else { return Ok(()) };
        let mut answer = Answer { status, ..dialect.refuse(code, &scenario.param, message) };
        if matches!(status, 429 | 503) {
            answer.headers.push(("retry-after", String::from("1")));
        }
        Err(answer)
    }

    fn is_due(&self, key_id: &str, code: Code) -> bool {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if last.len() >= SIMULATED_MAX {
            last.clear();
        }
        let now = Instant::now();
        let entry = last.entry((key_id.to_owned(), code.name()));
        let mut fresh = false;
        let at = entry.or_insert_with(|| {
            fresh = true;
            now
        });
        let due = fresh || now.duration_since(*at) >= SIMULATED_EVERY;
        if due {
            *at = now;
        }
        due
    }
}

#[cfg(test)]
mod tests {
    use db::{Database, Location};
    use onboarding::dialect::ResponseStyle;
    use onboarding::keys::{KEY_LIFE_DEFAULT, KeyLife};
    use serde_json::json;
    use types::{Clock, Environment, Scope, ScopeSet};
    use vault::MasterKey;

    use super::*;

    #[test]
    fn a_key_that_is_under_way_is_waited_for_and_then_refused() {
        let folder = testkit::temp_dir().unwrap();
        let store =
            Database::open(&Location::File(folder.path().join("sandbox.db")), schema::MIGRATIONS)
                .unwrap();
        let (master, settings) = (MasterKey::generate().unwrap(), onboarding::Settings::default());
        let platform =
            Platform::new(Environment::Sandbox, store, &master, settings, Clock::System).unwrap();
        let iso_id = platform.iso_create("Pier", ResponseStyle::Detailed).unwrap();
        let life = KeyLife::For(KEY_LIFE_DEFAULT);
        let key = platform.key_create(&iso_id, "till", ScopeSet::Full, life).unwrap();
        let header = format!("api-key {}", key.text.expose());
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        let (scope, now) = (Scope::OnboardWrite, platform.clock.now());
        let caller = platform.authenticate(Some(header.as_bytes()), scope, None, now);
        let caller = runtime.block_on(caller).unwrap().unwrap();
        let request =
            Idempotency::new(&platform.vault, caller.iso_id(), "once", "/v1/any", &json!({}));
        let turn = || {
            let turn = take_turn(&platform, &caller, &request, Dialect::default());
            runtime.block_on(turn)
        };
        let Ok(first) = turn() else { panic!("nobody else has the key") };
        let Err(refused) = turn() else { panic!("two requests with one key are under way") };
        assert_eq!(refused.status, 409);
        let body: Value = serde_json::from_slice(&refused.body).unwrap();
        assert_eq!(body["errors"][0]["code"], "request_in_progress");
        drop(first);
        assert!(turn().is_ok());
    }
}
