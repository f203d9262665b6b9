//! The one way in which a request changes something: one transaction that holds the change and the
//! answer for the request's idempotency key, and that leaves nothing behind in a dry run.

use std::collections::BTreeMap;

use contract::{Answer, Failure, Header};
use db::Conn;
use serde::Serialize;
use serde_json::Value;
use types::{Error, Result, Timestamp};

use crate::caller::Caller;
use crate::idempotency::{Idempotency, KeptAnswer, Known, RunningGuard};
use crate::{Cx, Platform};

/// What a step of a transaction comes to. A failure undoes the transaction.
pub(crate) type Outcome<T> = std::result::Result<T, Failure>;

/// How a transaction is kept apart from others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Isolation {
    /// As if nobody else wrote meanwhile.
    Serialisable,
    /// Not at all: it reads nothing, and only adds what belongs together, under unique indexes.
    Adding,
}

/// Why a transaction that went well leaves nothing behind.
enum Undone<T> {
    Refused(Failure),
    DryRun(Answer<T>),
}

/// Runs the changes of a request in one transaction, with the answer for its idempotency key.
pub(crate) async fn perform<T: Serialize + Send + 'static>(
    cx: &Cx,
    work: impl Fn(&mut dyn Conn) -> Outcome<Answer<T>> + Send + 'static,
) -> Outcome<Answer<T>> {
    perform_once_shown(cx, &[], work).await
}

/// [`perform`] for an answer with members that are shown **once and stored nowhere**: a repetition
/// gets null in their place.
pub(crate) async fn perform_once_shown<T: Serialize + Send + 'static>(
    cx: &Cx,
    once_shown: &'static [&'static str],
    work: impl Fn(&mut dyn Conn) -> Outcome<Answer<T>> + Send + 'static,
) -> Outcome<Answer<T>> {
    let keeper = Keeper::new(cx, once_shown);
    transact(cx, Isolation::Serialisable, move |conn| {
        let answer = work(conn)?;
        keeper.keep(conn, &answer)?;
        Ok(answer)
    })
    .await
}

/// [`perform`] for an answer that is known before the work. It is kept first, so that a
/// repetition finds it and not what the first request changed. Every change of `insert` must
/// insert a row, so that they go to the database together; one that inserts nothing is a
/// conflict. `also` may do anything.
pub(crate) async fn perform_answered<T: Clone + Serialize + Send + 'static>(
    cx: &Cx,
    isolation: Isolation,
    reply: T,
    insert: impl Fn(&mut dyn Conn) -> Outcome<()> + Send + 'static,
    also: impl Fn(&mut dyn Conn) -> Outcome<()> + Send + 'static,
) -> Outcome<Answer<T>> {
    let keeper = Keeper::new(cx, &[]);
    transact(cx, isolation, move |conn| {
        let answer = Answer::new(reply.clone());
        let mut done = Ok(());
        let unchanged = conn.together(&mut |conn| {
            done = keeper.keep(conn, &answer).and_then(|()| insert(conn));
            Ok(done.is_ok())
        })?;
        match unchanged {
            Some(0) if keeper.request.is_some() => return Err(Failure::AnsweredAlready),
            Some(_) => return Err(Error::conflict("it exists already").into()),
            None => done?,
        }
        also(conn)?;
        Ok(answer)
    })
    .await
}

async fn transact<T: Serialize + Send + 'static>(
    cx: &Cx,
    isolation: Isolation,
    work: impl Fn(&mut dyn Conn) -> Outcome<Answer<T>> + Send + 'static,
) -> Outcome<Answer<T>> {
    let validate_only = cx.request_options.validate_only;
    let transaction = move |conn: &mut dyn Conn| {
        Ok(match errors_outside(work(conn))? {
            Ok(answer) if validate_only => Err(Undone::DryRun(answer)),
            Ok(answer) => Ok(answer),
            Err(failure) => Err(Undone::Refused(failure)),
        })
    };
    let store = &cx.platform.store;
    let done = match isolation {
        Isolation::Serialisable => store.attempt(transaction).await?,
        Isolation::Adding => store.attempt_adding(transaction).await?,
    };
    match done {
        Ok(answer) => Ok(answer),
        Err(Undone::Refused(failure)) => Err(failure),
        Err(Undone::DryRun(answer)) => Ok(answer.header("x-validated-only", "true")),
    }
}

/// Keeps the answer of a request for its idempotency key, if it has one and is no dry run.
struct Keeper {
    request: Option<(Idempotency, Caller)>,
    once_shown: &'static [&'static str],
    now: Timestamp,
}

impl Keeper {
    fn new(cx: &Cx, once_shown: &'static [&'static str]) -> Self {
        let request = cx.request_options.idempotency.clone().zip(cx.caller.clone());
        let request = request.filter(|_| !cx.request_options.validate_only);
        Self { request, once_shown, now: cx.now }
    }

    fn keep<T: Serialize>(&self, conn: &mut dyn Conn, answer: &Answer<T>) -> Outcome<()> {
        let Some((request, caller)) = &self.request else { return Ok(()) };
        let answer = kept_answer(answer, self.once_shown)?;
        if request.keep(conn, caller.iso_id(), &answer, self.now)? {
            return Ok(());
        }
        Err(Failure::AnsweredAlready)
    }
}

/// Parts errors, which are ours, from refusals, which are the caller's.
pub(crate) fn errors_outside<T>(outcome: Outcome<T>) -> Result<Outcome<T>> {
    match outcome {
        Err(Failure::Error(error)) => Err(error),
        outcome => Ok(outcome),
    }
}

/// A refusal as the command line tells it: its first sentence.
pub(crate) fn refusal_error(failure: Failure) -> Error {
    match failure {
        Failure::Error(error) => error,
        Failure::Issues { issues, .. } => {
            let message = issues.iter().map(|issue| issue.error.to_string()).next();
            Error::invalid(message.unwrap_or_default())
        }
        Failure::AnsweredAlready => Error::internal("a command without a key was answered already"),
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

impl Platform {
    /// What the caller's key is known for.
    pub async fn idempotency_known(
        &self,
        caller: &Caller,
        request: &Idempotency,
        now: Timestamp,
    ) -> Result<Known> {
        request.known(&self.store, caller.iso_id(), now).await
    }

    /// Keeps a refusal, which changed nothing. If the key has an answer by now, that one stays.
    pub async fn idempotency_keep_refusal(
        &self,
        cx: &Cx,
        request: Idempotency,
        refusal: KeptAnswer,
    ) -> Result<()> {
        let (iso_id, now) = (cx.caller()?.iso_id().clone(), cx.now);
        let keep = move |conn: &mut dyn Conn| request.keep(conn, &iso_id, &refusal, now);
        self.store.write(keep).await.map(drop)
    }

    /// Takes the key for a request; `None` while another request of this process has it.
    pub fn idempotency_start(
        &self,
        caller: &Caller,
        request: &Idempotency,
    ) -> Option<RunningGuard<'_>> {
        self.running.start(caller.iso_id(), request)
    }
}
