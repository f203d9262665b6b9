//! News for pages that stay open: one short event whenever reports would say something new, as a
//! stream of server-sent events. Whether the caller may have it was decided by the route itself.

use std::convert::Infallible;
use std::sync::Arc;
use std::sync::LazyLock;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::header::ACCEPT;
use axum::http::{HeaderMap, HeaderValue};
use futures_util::stream;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::time::Instant;

use crate::Shared;

const MEDIA_TYPE: &str = "text/event-stream";
/// Streams that one process keeps open at most.
const STREAMS_MAX: usize = 512;
/// Then the stream ends, and whoever still listens asks again, with credentials that are looked at.
const LIFE: Duration = Duration::from_mins(5);
/// Many changes within this time are one piece of news.
const PAUSE: Duration = Duration::from_millis(250);
/// How soon a stream notices that the server stops.
const LOOK: Duration = Duration::from_millis(500);
/// Something is sent at least this often, so that nobody on the way takes the stream for dead.
const SIGN_OF_LIFE: Duration = Duration::from_secs(15);

static PLACES: LazyLock<Arc<Semaphore>> = LazyLock::new(|| Arc::new(Semaphore::new(STREAMS_MAX)));

/// A stream that somebody reads.
struct Listener {
    positions: watch::Receiver<Option<i64>>,
    shared: Arc<Shared>,
    ends: Instant,
    is_greeted: bool,
    _place: OwnedSemaphorePermit,
}

pub(crate) fn wants_stream(headers: &HeaderMap) -> bool {
    headers.get(ACCEPT).is_some_and(|accept| accept.as_bytes() == MEDIA_TYPE.as_bytes())
}

/// Turns a good answer of the route into a stream. Stays as it is when too many are open.
pub(crate) fn go_on(
    response: &mut axum::http::Response<Body>,
    positions: watch::Receiver<Option<i64>>,
    shared: &Arc<Shared>,
) {
    let Ok(place) = Arc::clone(&PLACES).try_acquire_owned() else { return };
    let listener = Listener {
        positions,
        shared: Arc::clone(shared),
        ends: Instant::now() + LIFE,
        is_greeted: false,
        _place: place,
    };
    let events = stream::unfold(listener, async |mut listener| {
        let text = listener.next().await?;
        Some((Ok::<_, Infallible>(Bytes::from(text)), listener))
    });
    *response.body_mut() = Body::from_stream(events);
    let headers = response.headers_mut();
    headers.remove("content-length");
    headers.insert("content-type", HeaderValue::from_static(MEDIA_TYPE));
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
        while Instant::now() < self.ends && !self.shared.is_stopping() {
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
