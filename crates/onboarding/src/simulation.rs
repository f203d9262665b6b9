//! What the sandbox simulates: failures that a header asks for ([`Scenario`]), and the parties that
//! decide on merchants and accounts, a reviewer and a processor. The name of a merchant, or the
//! number of an account, tells what they decide.

mod scenario;

use std::time::Duration;

use types::{Environment, Timestamp};

pub use self::scenario::Scenario;

use crate::lifecycle::schedule::DueKind;

/// How long the sandbox's reviewer takes.
const REVIEW_TAKES: Duration = Duration::from_mins(1);
/// How long the sandbox's processor takes to refuse credentials.
const REFUSAL_TAKES: Duration = Duration::from_secs(30);

/// Whether the sandbox's processor refuses an account of this merchant number: one of nines only.
pub(crate) fn is_refused_mid(mid: Option<&str>) -> bool {
    mid.is_some_and(|mid| !mid.is_empty() && mid.bytes().all(|byte| byte == b'9'))
}

/// What is to happen later to a merchant of this folded dba, whether it waits for a review until
/// then, and when.
pub(crate) fn simulated_for_merchant(
    environment: Environment,
    dba_key: &str,
    now: Timestamp,
) -> Option<(DueKind, bool, Timestamp)> {
    let outcomes = [
        ("sbx review", DueKind::Approve, true),
        ("sbx reject", DueKind::Reject, true),
        ("sbx suspend", DueKind::Suspend, false),
    ];
    let found = outcomes.into_iter().find(|(start, ..)| dba_key.starts_with(start));
    let found = found.filter(|_| environment == Environment::Sandbox);
    found.map(|(_, kind, in_review)| (kind, in_review, now.plus(REVIEW_TAKES)))
}

/// When the processor will refuse one of the merchant numbers, if it will.
pub(crate) fn simulated_refusal<'a>(
    environment: Environment,
    mut mids: impl Iterator<Item = Option<&'a str>>,
    now: Timestamp,
) -> Option<Timestamp> {
    let refused = environment == Environment::Sandbox && mids.any(is_refused_mid);
    refused.then(|| now.plus(REFUSAL_TAKES))
}
