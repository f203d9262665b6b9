//! Answers of a moment ago: the same question by the same caller is answered again from memory, as
//! long as nothing has been written since.
//!
//! Only where one process serves the storage: it knows of every write but those of the command
//! line, which show after half a second. With several processes on one database nothing is kept,
//! so that what one has written the other one shows.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use contract::rest::{Body, Reply};

use crate::bounded::{Bounded, CacheSize};
use crate::{Request, Via, Visit};

const LIFE: Duration = Duration::from_millis(500);
/// Bytes of all answers that are kept, and of one.
const BYTES_MAX: usize = 4 * 1024 * 1024;
const ANSWER_BYTES_MAX: usize = 64 * 1024;

/// Counts writes, and keeps what was answered since the last one.
#[derive(Debug)]
pub(crate) struct Recent {
    writes: AtomicU64,
    kept: Mutex<Bounded<String, Kept>>,
}

impl Default for Recent {
    fn default() -> Self {
        Self { writes: AtomicU64::new(0), kept: Mutex::new(Bounded::new(BYTES_MAX)) }
    }
}

#[derive(Debug)]
struct Kept {
    since: Instant,
    /// The count of changes before the answer was made.
    changes: u64,
    reply: Reply,
}

impl Recent {
    /// To be called after every write, before its answer is sent.
    pub(crate) fn note_write(&self) {
        self.writes.fetch_add(1, Ordering::AcqRel);
    }

    /// How many writes there were so far.
    pub(crate) fn writes(&self) -> u64 {
        self.writes.load(Ordering::Acquire)
    }

    /// The reply that was kept, if nothing has changed since.
    pub(crate) fn get(&self, key: &str, changes: u64) -> Option<Reply> {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let found = kept.get(key)?;
        let fresh = found.changes == changes && found.since.elapsed() < LIFE;
        fresh.then(|| found.reply.clone())
    }

    /// Keeps a reply that was made after so many changes, and gives it back as it will be sent.
    pub(crate) fn keep(&self, key: String, changes: u64, mut reply: Reply) -> Reply {
        let Body::Json(value) = &reply.body else { return reply };
        if reply.status != 200 || is_for_one(&reply) {
            return reply;
        }
        let text = value.to_string().into_bytes();
        let is_small = text.len() <= ANSWER_BYTES_MAX;
        let headers: usize = reply.headers.iter().map(|(_, value)| value.len()).sum();
        let bytes = text.len() + key.len() + headers;
        reply.body = Body::Written(Arc::new(text));
        if is_small {
            let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
            if !kept.has_room(bytes) {
                kept.retain(|one| one.since.elapsed() < LIFE);
            }
            let one = Kept { since: Instant::now(), changes, reply: reply.clone() };
            kept.insert(key, one, bytes);
        }
        reply
    }

    pub(crate) fn size(&self) -> CacheSize {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner).size("answers")
    }
}

/// Whether the reply is for one caller, whom the question alone does not tell from others: by a
/// cookie or a token.
fn is_for_one(reply: &Reply) -> bool {
    let is_private = |(name, value): &(&'static str, String)| {
        *name == "set-cookie" || (*name == "cache-control" && value.contains("no-store"))
    };
    reply.headers.iter().any(is_private)
}

/// What makes two questions the same; none for questions whose answers are not kept.
pub(crate) fn key_of(request: &Request, method: &str, visit: &Visit) -> Option<String> {
    let via = match &visit.identity.via {
        Via::Nothing => "nothing",
        Via::ApplicationPassword { uuid } => uuid,
        Via::ConsumerKey { .. } => "key",
        // Each answer to a session brings a nonce of its own.
        Via::Session { .. } => return None,
    };
    if method != "GET" || !request.body.is_empty() {
        return None;
    }
    // Each password that is shown is counted, and none is looked at while a client waits.
    if request.query_parameter("password").is_some() {
        return None;
    }
    let user_id = visit.identity.user.as_ref().map_or(0, |user| user.id());
    let mut key = user_id.to_string();
    let flag = |is_set: bool| if is_set { " +" } else { " -" };
    let (passwords, secure) = (flag(visit.application_passwords), flag(visit.secure));
    let (home, path, query) = (&*visit.home, &*request.path, &*request.query_text);
    let parts = [" ", via, passwords, secure, " ", home, path, "?", query];
    key.reserve(parts.iter().map(|part| part.len()).sum());
    key.extend(parts);
    Some(key)
}
