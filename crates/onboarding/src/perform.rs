//! The one way in which a request changes something: one transaction that holds the change and the
//! answer for the request's idempotency key, and that leaves nothing behind in a dry run.

use std::collections::BTreeMap;

use contract::{Answer, Failure, Fault, Header, Issues};
use db::Conn;
use serde::Serialize;
use serde_json::Value;
use types::{Error, Result};

use crate::idempotency::KeptAnswer;
use crate::{Code, Cx};

/// What a transaction of an endpoint comes to: an answer, or issues, which undo it.
pub(crate) type Verdict<T> = Result<std::result::Result<T, Issues>>;

/// Leaves the closure with a refusal, like `?` for the inner result of a [`Verdict`].
macro_rules! accept {
    ($verdict:expr) => {
        match $verdict {
            Ok(value) => value,
            Err(issues) => return Ok(Err(issues)),
        }
    };
}
pub(crate) use accept;

/// A refusal of one kind at one place.
pub(crate) fn refusal(path: &str, code: Code, message: impl Into<String>) -> Issues {
    let mut issues = Issues::default();
    issues.add(path, Fault::rule(code.name(), message));
    issues
}

/// Issues that were found outside of a transaction.
pub(crate) fn failure(issues: Issues) -> Failure {
    Failure::Issues { issues, headers: Vec::new() }
}

/// Why a transaction that went well leaves nothing behind.
enum Undone<T> {
    Refused(Issues),
    AnsweredAlready,
    DryRun(Answer<T>),
}

/// Runs the changes of a request in one transaction, with the answer for its idempotency key.
pub(crate) async fn perform<T: Serialize + Send + 'static>(
    cx: &Cx,
    work: impl Fn(&mut dyn Conn) -> Verdict<Answer<T>> + Send + 'static,
) -> std::result::Result<Answer<T>, Failure> {
    perform_once_shown(cx, &[], work).await
}

/// [`perform`] for an answer with members that are shown **once and stored nowhere**: a repetition
/// gets null in their place.
pub(crate) async fn perform_once_shown<T: Serialize + Send + 'static>(
    cx: &Cx,
    once_shown: &'static [&'static str],
    work: impl Fn(&mut dyn Conn) -> Verdict<Answer<T>> + Send + 'static,
) -> std::result::Result<Answer<T>, Failure> {
    let (now, validate_only) = (cx.now, cx.wishes.validate_only);
    let kept = cx.wishes.idempotency.clone().zip(cx.caller.clone());
    let done = cx.platform.store.attempt(move |conn| {
        let answer = match work(conn)? {
            Ok(answer) => answer,
            Err(issues) => return Ok(Err(Undone::Refused(issues))),
        };
        if validate_only {
            return Ok(Err(Undone::DryRun(answer)));
        }
        if let Some((request, caller)) = &kept
            && !request.keep(conn, caller, &kept_answer(&answer, once_shown)?, now)?
        {
            return Ok(Err(Undone::AnsweredAlready));
        }
        Ok(Ok(answer))
    });
    match done.await? {
        Ok(answer) => Ok(answer),
        Err(Undone::Refused(issues)) => Err(failure(issues)),
        Err(Undone::AnsweredAlready) => Err(Failure::AnsweredAlready),
        Err(Undone::DryRun(answer)) => Ok(answer.header("x-validated-only", "true")),
    }
}

fn kept_answer<T: Serialize>(answer: &Answer<T>, once_shown: &[&str]) -> Result<KeptAnswer> {
    let mut body = serde_json::to_value(&answer.body)
        .map_err(|error| Error::internal("reply cannot be written as JSON").because(error))?;
    for name in once_shown {
        if let Some(member) = body.get_mut(name) {
            *member = Value::Null;
        }
    }
    let header = |(name, value): &Header| ((*name).to_owned(), value.clone());
    let headers: BTreeMap<String, String> = answer.headers.iter().map(header).collect();
    Ok(KeptAnswer { status: 200, body: body.to_string(), headers })
}
