//! Records what was asked and answered, so that the caller can look it up by the request's id.

use std::time::Duration;

use contract::json;
use onboarding::audit::redacted;
use onboarding::{Caller, Origin, Platform};
use store::request_log::RequestRow;
use types::Timestamp;

use crate::answer::Answer;

/// Characters of a path that are kept.
const PATH_LENGTH_MAX: usize = 512;

/// A request that was answered.
#[derive(Debug)]
pub(crate) struct Exchange<'a> {
    pub(crate) caller: Option<&'a Caller>,
    pub(crate) origin: &'a Origin,
    pub(crate) method: &'a str,
    pub(crate) path: &'a str,
    /// The body, redacted.
    pub(crate) sent: String,
    pub(crate) answer: &'a Answer,
    pub(crate) at: Timestamp,
    pub(crate) took: Duration,
}

/// Only what a known caller asked is recorded: nobody else could look it up. What a successful GET
/// showed is not kept, since it can be read again.
pub(crate) fn record(platform: &Platform, exchange: Exchange<'_>) {
    let Some(caller) = exchange.caller.filter(|_| platform.keeps_requests()) else { return };
    let answer = exchange.answer;
    let is_read = matches!(exchange.method, "GET" | "HEAD") && answer.status < 400;
    let response = (!is_read).then(|| json::parse(&answer.body).ok()).flatten();
    platform.request_record(RequestRow {
        iso_id: caller.iso_id().clone(),
        request_id: exchange.origin.request_id.clone(),
        at: exchange.at,
        actor: caller.actor(),
        address: exchange.origin.address.map(|address| address.to_string()),
        method: exchange.method.to_owned(),
        path: exchange.path.chars().take(PATH_LENGTH_MAX).collect(),
        status: i64::from(answer.status),
        duration: exchange.took,
        request: exchange.sent,
        response: response.map(|body| redacted(&body)).unwrap_or_default(),
    });
}
