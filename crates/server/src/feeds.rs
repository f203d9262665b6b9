//! Hands out the files of catalogue feeds, a piece at a time as the storage has them. Their names
//! cannot be guessed, and whoever knows one may read it.

use std::sync::Arc;

use admin::catalogue_feed::FEEDS_PATH;
use admin::rows::catalogue_feed::{self, FeedState};
use axum::body::{Body, Bytes};
use axum::http::header::{
    CACHE_CONTROL, CONTENT_LENGTH, CONTENT_TYPE, HeaderValue, X_CONTENT_TYPE_OPTIONS,
};
use axum::http::{Method, Response, StatusCode};
use db::Conn;
use frame::Site;
use futures_util::stream;
use types::{Error, Result};

use crate::compression;

/// Characters of a file's name at most.
const NAME_LENGTH_MAX: usize = 200;

/// The answer to a request below the path of the feeds; nothing if it is not.
pub(crate) async fn answer(site: &Arc<Site>, method: Method, path: &str) -> Option<Response<Body>> {
    let name = path.strip_prefix(FEEDS_PATH)?;
    let is_read = matches!(method, Method::GET | Method::HEAD);
    let plain = |c: char| c.is_ascii_alphanumeric() || "-.".contains(c);
    let fits = is_read && name.len() <= NAME_LENGTH_MAX && name.chars().all(plain);
    let length = if fits { length_of(site, name.to_owned()).await } else { Ok(None) };
    Some(match length {
        Ok(Some(length)) => {
            let is_head = method == Method::HEAD;
            let body = if is_head { Body::empty() } else { body(site, name) };
            file(body, length)
        }
        Ok(None) => text(StatusCode::NOT_FOUND, "File not found.\n"),
        Err(error) => {
            tracing::error!(error = %error.report(), "a feed cannot be read");
            text(StatusCode::SERVICE_UNAVAILABLE, "Try again later.\n")
        }
    })
}

/// Bytes of a file that is complete.
async fn length_of(site: &Site, name: String) -> Result<Option<i64>> {
    let find = move |conn: &mut dyn Conn| {
        let feed = catalogue_feed::of_file(conn, &name)?;
        match feed.filter(|feed| feed.state == FeedState::Completed) {
            Some(_) => catalogue_feed::bytes(conn, &name).map(Some),
            None => Ok(None),
        }
    };
    site.store().read(find).await
}

/// The pieces one after the other: the next is read when the last one is on its way.
fn body(site: &Arc<Site>, name: &str) -> Body {
    let start = (Arc::clone(site), name.to_owned(), 0);
    let pieces =
        stream::try_unfold(start, |(site, name, part): (Arc<Site>, String, i64)| async move {
            let wanted = name.clone();
            let read = move |conn: &mut dyn Conn| catalogue_feed::part(conn, &wanted, part);
            let piece = site.store().read(read).await?;
            Ok::<_, Error>(piece.map(|piece| (Bytes::from(piece), (site, name, part + 1))))
        });
    compression::body_of(pieces)
}

fn file(body: Body, length: i64) -> Response<Body> {
    let mut response = Response::new(body);
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("private, no-cache"));
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(CONTENT_LENGTH, HeaderValue::from(length));
    response
}

fn text(status: StatusCode, text: &'static str) -> Response<Body> {
    let mut response = Response::new(Body::from(text));
    *response.status_mut() = status;
    let plain = HeaderValue::from_static("text/plain; charset=UTF-8");
    response.headers_mut().insert(CONTENT_TYPE, plain);
    response
}
