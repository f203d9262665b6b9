//! News for pages that stay open: one short event whenever reports would say something new, as a
//! stream of server-sent events. Whether the caller may have it was decided by the route itself.

use std::collections::{HashMap, VecDeque};
use std::convert::Infallible;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};
use std::time::Duration;

use analytics::live::STREAM;
use axum::body::{Body, Bytes};
use axum::http::header::ACCEPT;
use axum::http::{HeaderMap, HeaderValue};
use futures_util::stream;
use tokio::sync::watch;
use tokio::time::Instant;
use types::Environment;

use crate::compression;
use crate::shared::Shared;

/// Streams that one process keeps open at most.
const STREAMS_MAX: usize = 512;
/// Streams of one user among them: a few windows on a few devices.
const STREAMS_OF_USER_MAX: usize = 16;
/// Then the stream ends, and whoever still listens asks again, with credentials that are looked at.
const LIFE: Duration = Duration::from_mins(5);
/// Many changes within this time are one piece of news.
const PAUSE: Duration = Duration::from_millis(250);
/// How soon a stream notices that the server stops.
const LOOK: Duration = Duration::from_millis(500);
/// Something is sent at least this often, so that nobody on the way takes the stream for dead.
const SIGN_OF_LIFE: Duration = Duration::from_secs(15);

/// Who listens: the same number is somebody else in another environment.
pub(crate) type User = (Environment, Option<i64>);

/// The streams of each user, the oldest first. A flag that is set tells its stream to end.
type Streams = HashMap<User, VecDeque<Arc<AtomicBool>>>;

static SLOTS: LazyLock<Mutex<Streams>> = LazyLock::new(Mutex::default);

/// A place among the streams, which is free again when this is dropped.
#[derive(Debug)]
struct Slot {
    user: User,
    is_over: Arc<AtomicBool>,
}

impl Slot {
    /// **Of one user the newest streams stay**: a window that was closed is noticed only when
    /// something is sent to it, and must not stand in the way of the one that was opened after it.
    fn take(user: User) -> Option<Self> {
        let mut open = SLOTS.lock().unwrap_or_else(PoisonError::into_inner);
        let total: usize = open.values().map(VecDeque::len).sum();
        let is_full = total >= STREAMS_MAX;
        let own = open.entry(user).or_default();
        if own.len() >= STREAMS_OF_USER_MAX {
            if let Some(oldest) = own.pop_front() {
                oldest.store(true, Ordering::Relaxed);
            }
        } else if is_full {
            if own.is_empty() {
                open.remove(&user);
            }
            return None;
        }
        let is_over = Arc::new(AtomicBool::new(false));
        own.push_back(Arc::clone(&is_over));
        Some(Self { user, is_over })
    }

    fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Relaxed)
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        let mut open = SLOTS.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(own) = open.get_mut(&self.user) else { return };
        own.retain(|other| !Arc::ptr_eq(other, &self.is_over));
        if own.is_empty() {
            open.remove(&self.user);
        }
    }
}

/// A stream that somebody reads.
struct Listener {
    positions: watch::Receiver<Option<i64>>,
    shared: Arc<Shared>,
    ends: Instant,
    is_greeted: bool,
    place: Slot,
}

pub(crate) fn wants_stream(headers: &HeaderMap) -> bool {
    headers.get(ACCEPT).is_some_and(|accept| accept.as_bytes() == STREAM.as_bytes())
}

/// Turns a good answer of the route into a stream. Stays as it is when too many are open.
pub(crate) fn go_on(
    response: &mut axum::http::Response<Body>,
    positions: watch::Receiver<Option<i64>>,
    shared: &Arc<Shared>,
    user: User,
) {
    let Some(place) = Slot::take(user) else { return };
    let listener = Listener {
        positions,
        shared: Arc::clone(shared),
        ends: Instant::now() + LIFE,
        is_greeted: false,
        place,
    };
    let events = stream::unfold(listener, async |mut listener| {
        let text = listener.next().await?;
        Some((Ok::<_, Infallible>(Bytes::from(text)), listener))
    });
    *response.body_mut() = compression::body_of(events);
    let headers = response.headers_mut();
    headers.remove("content-length");
    headers.insert("content-type", HeaderValue::from_static(STREAM));
    headers.insert("cache-control", HeaderValue::from_static("no-store"));
    // Proxies that collect answers would hold the news back.
    headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
}

impl Listener {
    /// The next piece, or nothing at the end.
    async fn next(&mut self) -> Option<String> {
        if !self.is_greeted {
            self.is_greeted = true;
            return Some(format!("retry: 1000\n{}", self.event()));
        }
        let quiet_since = Instant::now();
        while Instant::now() < self.ends && !self.shared.is_stopping() && !self.place.is_over() {
            match tokio::time::timeout(LOOK, self.positions.changed()).await {
                Ok(Ok(())) => {
                    tokio::time::sleep(PAUSE).await;
                    return Some(self.event());
                }
                Ok(Err(_)) => return None,
                Err(_) if quiet_since.elapsed() >= SIGN_OF_LIFE => {
                    return Some(String::from(": still here\n\n"));
                }
                Err(_) => {}
            }
        }
        None
    }

    fn event(&mut self) -> String {
        let position = self.positions.borrow_and_update().unwrap_or_default();
        format!("event: facts\ndata: {{\"position\":{position}}}\n\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_user_leaves_places_to_others() {
        let (greedy, other) = ((Environment::Sandbox, Some(-1)), (Environment::Sandbox, Some(-2)));
        let taken: Vec<Slot> =
            std::iter::from_fn(|| Slot::take(greedy)).take(STREAMS_MAX + 88).collect();
        let over = taken.iter().take_while(|place| place.is_over()).count();
        assert_eq!(taken.len() - over, STREAMS_OF_USER_MAX, "the newest stay");
        assert!(taken.iter().skip(over).all(|place| !place.is_over()));
        assert!(Slot::take(other).is_some());
        assert!(Slot::take((Environment::Production, Some(-1))).is_some(), "is somebody else");
        drop(taken);
        let open = SLOTS.lock().unwrap();
        assert!(!open.contains_key(&greedy) && !open.contains_key(&other), "nothing is left");
    }
}
