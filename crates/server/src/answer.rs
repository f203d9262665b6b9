//! Answers in the words of the onboarding interface, with the headers that every answer carries.

use std::borrow::Cow;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::header::{
    ALLOW, CACHE_CONTROL, CONTENT_TYPE, ETAG, HeaderName, IF_NONE_MATCH, RETRY_AFTER,
    WWW_AUTHENTICATE,
};
use axum::http::{HeaderMap, HeaderValue, Response, StatusCode};
use contract::Failure;
use onboarding::Code;
use onboarding::caller::{Reason, Refused};
use onboarding::dialect::{
    self, ErrorItem, REQUEST_FAILED, ResponseStyle, denied_body, failure_body,
};
use types::Kind;

use crate::limits::{Exceeded, Standing};

/// What an answer's header may list of ignored members.
const IGNORED_FIELDS_MAX: usize = 20;
const IGNORED_FIELD_LENGTH_MAX: usize = 100;
const MAY_BE_STORED: &str = "The database was lost while this was being saved, so it may or may \
                             not have been saved. Send it again with the same Idempotency-Key, or \
                             look it up first.";

/// An answer before its headers.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) body: Vec<u8>,
    pub(crate) headers: Vec<(&'static str, String)>,
}

/// How failures are told to this caller on this route.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Dialect {
    pub(crate) style: ResponseStyle,
    pub(crate) message: &'static str,
}

impl Default for Dialect {
    fn default() -> Self {
        Self { style: ResponseStyle::default(), message: REQUEST_FAILED }
    }
}

impl Dialect {
    /// A failure with one error.
    pub(crate) fn refuse(self, code: Code, param: &str, message: impl Into<String>) -> Answer {
        self.refuse_with(ErrorItem::new(code, param, message))
    }

    pub(crate) fn refuse_with(self, error: ErrorItem) -> Answer {
        let status = Code::status_of(&error.code);
        let body = failure_body(self.style, self.message, vec![error]);
        Answer { status, body, headers: Vec::new() }
    }

    pub(crate) fn too_many(self, exceeded: Exceeded) -> Answer {
        let seconds = exceeded.retry_after.as_secs_f64().ceil().max(1.0);
        let mut answer = self.refuse(
            Code::RateLimited,
            "",
            format!("Too many requests; try again in {seconds} seconds."),
        );
        answer.headers.push((RETRY_AFTER.as_str(), format!("{seconds}")));
        answer
    }

    pub(crate) fn not_now(self, message: &str) -> Answer {
        let mut answer = self.refuse(Code::Unavailable, "", message);
        answer.headers.push((RETRY_AFTER.as_str(), String::from("1")));
        answer
    }

    pub(crate) fn wrong_method(self, allowed: &str) -> Answer {
        let message = format!("This path supports only {allowed}.");
        let mut answer = self.refuse(Code::MethodNotAllowed, "", message);
        answer.headers.push((ALLOW.as_str(), allowed.to_owned()));
        answer
    }

    pub(crate) fn failure(self, failure: Failure) -> Answer {
        match failure {
            Failure::Issues { issues, headers } => {
                let items = dialect::error_items(&issues);
                let status = items.first().map_or(400, |item| Code::status_of(&item.code));
                Answer { status, body: failure_body(self.style, self.message, items), headers }
            }
            Failure::AnsweredAlready => {
                // Only reached if the kept answer vanished between two look-ups.
                self.refuse(Code::RequestInProgress, "", "Try again.")
            }
            Failure::Error(error) => self.error(&error),
        }
    }

    pub(crate) fn error(self, error: &types::Error) -> Answer {
        match error.kind() {
            Kind::NotFound => self.refuse(Code::ObjectNotFound, "", error.to_string()),
            Kind::Unavailable => {
                tracing::warn!(error = %error.report(), "request could not be served now");
                self.not_now("The service is temporarily unavailable; try again.")
            }
            Kind::Uncertain => {
                tracing::warn!(error = %error.report(), "a change may be stored or not");
                // No Retry-After: what is sent again without a key could be stored twice.
                self.refuse(Code::Unavailable, "", MAY_BE_STORED)
            }
            Kind::Invalid | Kind::Conflict | Kind::Internal => {
                tracing::error!(error = %error.report(), "request failed with an internal error");
                self.refuse(Code::InternalError, "", "Something went wrong on our side.")
            }
        }
    }
}

/// The published 401. Why a key was refused is not told, except that it has expired.
pub(crate) fn denied(refused: Refused) -> Answer {
    let challenge = match refused.reason {
        Reason::Expired => "api-key realm=\"boardwalk\", error=\"expired\"",
        _ => "api-key realm=\"boardwalk\"",
    };
    Answer {
        status: 401,
        body: denied_body(refused.style),
        headers: vec![(WWW_AUTHENTICATE.as_str(), challenge.to_owned())],
    }
}

/// What the headers of every answer need to know.
#[derive(Debug)]
pub(crate) struct Envelope<'a> {
    pub(crate) request_id: &'a str,
    pub(crate) standing: Standing,
    pub(crate) took: Duration,
    pub(crate) https: bool,
}

impl Answer {
    /// Nothing, when the client has just this already and said so.
    pub(crate) fn unless_known(self, headers: &HeaderMap) -> Self {
        let known = headers.get(IF_NONE_MATCH).and_then(|value| value.to_str().ok());
        let tag = self.headers.iter().find(|(name, _)| *name == ETAG.as_str());
        let is_known = tag.zip(known).is_some_and(|((_, tag), known)| {
            known.split(',').any(|one| one.trim().trim_start_matches("W/") == tag)
        });
        if is_known { Self { status: 304, body: Vec::new(), ..self } } else { self }
    }

    pub(crate) fn into_response(self, envelope: &Envelope<'_>) -> Response<Body> {
        let mut response = Response::new(Body::from(self.body));
        *response.status_mut() =
            StatusCode::from_u16(self.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
        headers.insert("x-content-type-options", HeaderValue::from_static("nosniff"));
        if envelope.https {
            let policy = HeaderValue::from_static("max-age=31536000");
            headers.insert("strict-transport-security", policy);
        }
        let standing = envelope.standing;
        let micros = envelope.took.as_micros();
        let computed = [
            ("x-request-id", envelope.request_id.to_owned()),
            (
                "ratelimit-policy",
                format!("\"{}\";q={};w={}", standing.policy, standing.quota, standing.window_s),
            ),
            (
                "ratelimit",
                format!("\"{}\";r={};t={}", standing.policy, standing.remaining, standing.window_s),
            ),
            ("server-timing", format!("app;dur={}.{:03}", micros / 1000, micros % 1000)),
        ];
        for (name, value) in computed.into_iter().chain(self.headers) {
            if let Ok(value) = HeaderValue::try_from(value) {
                headers.insert(HeaderName::from_static(name), value);
            }
        }
        response
    }
}

/// Paths of ignored members for a header: visible ASCII without commas, and not too many.
pub(crate) fn ignored_fields<'p>(paths: impl Iterator<Item = &'p str>) -> String {
    let shown = paths.take(IGNORED_FIELDS_MAX).map(|path| {
        let plain = |c: char| if c.is_ascii_graphic() && c != ',' { c } else { '?' };
        path.chars().take(IGNORED_FIELD_LENGTH_MAX).map(plain)
    });
    let texts: Vec<String> = shown.map(Iterator::collect).collect();
    texts.join(", ")
}

/// What cannot be a header's value, such as one with a line end, is left out.
pub(crate) fn set(
    headers: &mut HeaderMap,
    name: &'static str,
    value: impl Into<Cow<'static, str>>,
) {
    let value = match value.into() {
        Cow::Borrowed(text) => HeaderValue::from_maybe_shared(Bytes::from_static(text.as_bytes())),
        Cow::Owned(text) => HeaderValue::from_maybe_shared(Bytes::from(text)),
    };
    if let Ok(value) = value {
        headers.append(HeaderName::from_static(name), value);
    }
}
