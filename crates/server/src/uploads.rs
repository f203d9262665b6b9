//! Files of the media library on their way in and out, a piece at a time. **Neither way holds a
//! file in memory**, and what is sent out never runs as a part of the site.

use std::io::{Read as _, SeekFrom};
use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::header::{CONTENT_LENGTH, CONTENT_TYPE, IF_NONE_MATCH, IF_RANGE, RANGE};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode};
use frame::Site;
use frame::media::file_type::FileType;
use frame::media::shown::UPLOADS_PATH;
use frame::media::storage::StoredFile;
use frame::media::{FileStorage, Receiver, Upload};
use http_body_util::BodyExt as _;
use site_rows::media::{self, MediaFileRow};
use tokio::sync::mpsc;
use types::{Error, Result};

use crate::answer::set;
use crate::compression;
use crate::intake::{BodyError, drain};

type Response = axum::http::Response<Body>;

/// Pieces that were received and are not written yet.
const WAITING_PIECES_MAX: usize = 4;
/// Bytes that are read at once on the way out.
const PIECE_BYTES: u64 = 64 * 1024;
/// The content of an address never changes: another file gets another name.
const CACHE_CONTROL: &str = "public, max-age=31536000, immutable";

/// Why a file was not received.
#[derive(Debug)]
pub(crate) enum UploadError {
    Body(BodyError),
    Failed(Error),
}

/// Receives a body into a temporary file of the library, within bytes and time. The writing is done
/// on a thread of its own.
pub(crate) async fn receive_file(
    storage: Arc<dyn FileStorage>,
    headers: &HeaderMap,
    mut body: Body,
    bytes_max: u64,
    time_ms: u64,
) -> std::result::Result<Upload, UploadError> {
    let text = |value: &HeaderValue| value.to_str().ok().map(str::to_owned);
    let announced = headers.get(CONTENT_LENGTH).and_then(text);
    if announced.and_then(|length| length.parse::<u64>().ok()).is_some_and(|it| it > bytes_max) {
        drain(body).await;
        return Err(UploadError::Body(BodyError::TooLarge));
    }
    let content_type = headers.get(CONTENT_TYPE).and_then(text).unwrap_or_default();
    let (sender, mut pieces) = mpsc::channel::<Bytes>(WAITING_PIECES_MAX);
    let writing = tokio::task::spawn_blocking(move || {
        let mut receiver = Receiver::new(&*storage, &content_type)?;
        while let Some(piece) = pieces.blocking_recv() {
            // The last piece is empty: a sender that is gone has not finished.
            if piece.is_empty() {
                return receiver.finish().map(Some);
            }
            receiver.feed(&piece)?;
        }
        Ok::<_, Error>(None)
    });
    let mut received = 0;
    let receiving = async {
        while let Some(frame) = body.frame().await {
            let frame = frame.map_err(|_| BodyError::CutOff)?;
            let Ok(piece) = frame.into_data() else { continue };
            received += u64::try_from(piece.len()).unwrap_or(u64::MAX);
            if received > bytes_max {
                return Err(BodyError::TooLarge);
            }
            if !piece.is_empty() && sender.send(piece).await.is_err() {
                // What went wrong, the writer tells.
                return Ok(());
            }
        }
        let _ = sender.send(Bytes::new()).await;
        Ok(())
    };
    let ended = tokio::time::timeout(Duration::from_millis(time_ms), receiving).await;
    drop(sender);
    match ended {
        Ok(Ok(())) => {}
        Ok(Err(error)) => {
            drain(body).await;
            return Err(UploadError::Body(error));
        }
        Err(_) => return Err(UploadError::Body(BodyError::TooSlow)),
    }
    let failed =
        |error| UploadError::Failed(Error::internal("a file was not written").because(error));
    let written = writing.await.map_err(failed)?.map_err(UploadError::Failed)?;
    written.ok_or(UploadError::Body(BodyError::CutOff))
}

/// The file of the library that the request asks for, if its path is one of those.
pub(crate) async fn file(site: &Arc<Site>, parts: &Parts) -> Option<Response> {
    let is_read = parts.method == Method::GET || parts.method == Method::HEAD;
    let name = parts.uri.path().strip_prefix(UPLOADS_PATH).filter(|_| is_read)?;
    Some(match find(site, name).await {
        Ok(Some((row, stored))) => serve(&row, stored, parts),
        Ok(None) => plain(StatusCode::NOT_FOUND, "There is no such file."),
        Err(error) => {
            tracing::warn!(error = error.report(), "a file could not be served");
            plain(StatusCode::SERVICE_UNAVAILABLE, "The file is temporarily unavailable.")
        }
    })
}

async fn find(site: &Arc<Site>, name: &str) -> Result<Option<(MediaFileRow, StoredFile)>> {
    if !frame::media::storage::is_name(name) {
        return Ok(None);
    }
    let asked = name.to_owned();
    let row = site.store().read(move |conn| media::file(conn, &asked)).await?;
    let Some(row) = row.filter(|row| row.post_id != 0) else { return Ok(None) };
    let storage = Arc::clone(site.library().storage());
    let opened = tokio::task::spawn_blocking(move || {
        let stored = storage.open(&row.name)?;
        Ok::<_, Error>(stored.map(|stored| (row, stored)))
    });
    let failed = |error| Error::internal("a file was not opened").because(error);
    opened.await.map_err(failed)?
}

fn plain(status: StatusCode, sentence: &'static str) -> Response {
    let mut response = axum::http::Response::new(Body::from(sentence));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    set(headers, "content-type", "text/plain; charset=utf-8");
    set(headers, "cache-control", "no-store");
    set(headers, "x-content-type-options", "nosniff");
    response
}

fn serve(row: &MediaFileRow, stored: StoredFile, parts: &Parts) -> Response {
    let tag = format!("\"{}\"", row.tag);
    let header = |name| parts.headers.get(name).and_then(|value: &HeaderValue| value.to_str().ok());
    let is_known = header(IF_NONE_MATCH).is_some_and(|tags| {
        tags.split(',').any(|known| known.trim().trim_start_matches("W/") == tag || known == "*")
    });
    let range = header(RANGE).filter(|_| header(IF_RANGE).is_none_or(|known| known == tag));
    let range =
        range.map_or(RequestedRange::Whole, |range| RequestedRange::read(range, stored.bytes));
    let (status, from, length) = match range {
        _ if is_known => (StatusCode::NOT_MODIFIED, 0, 0),
        RequestedRange::Whole => (StatusCode::OK, 0, stored.bytes),
        RequestedRange::Part(from, length) => (StatusCode::PARTIAL_CONTENT, from, length),
        RequestedRange::Nothing => (StatusCode::RANGE_NOT_SATISFIABLE, 0, 0),
    };
    let bytes = stored.bytes;
    let body = if parts.method == Method::HEAD || length == 0 {
        Body::empty()
    } else {
        stream(stored, from, length)
    };
    let mut response = axum::http::Response::new(body);
    *response.status_mut() = status;
    let headers = response.headers_mut();
    if status != StatusCode::NOT_MODIFIED {
        headers.insert(CONTENT_LENGTH, HeaderValue::from(length));
    }
    match range {
        _ if status == StatusCode::PARTIAL_CONTENT => {
            let last = from + length - 1;
            set(headers, "content-range", format!("bytes {from}-{last}/{bytes}"));
        }
        RequestedRange::Nothing => set(headers, "content-range", format!("bytes */{bytes}")),
        _ => {}
    }
    let name = row.name.rsplit('/').next().unwrap_or_default();
    for (header, value) in [
        ("content-type", content_type(&row.mime_type)),
        ("content-disposition", format!("{}; filename=\"{name}\"", disposition(&row.mime_type))),
        ("content-security-policy", String::from("default-src 'none'; sandbox")),
        ("cross-origin-resource-policy", String::from("cross-origin")),
        ("accept-ranges", String::from("bytes")),
        ("cache-control", String::from(CACHE_CONTROL)),
        ("etag", tag),
        ("x-content-type-options", String::from("nosniff")),
    ] {
        set(headers, header, value);
    }
    response
}

/// Texts are in UTF-8, as was looked at when they came.
fn content_type(mime_type: &str) -> String {
    match FileType::family(mime_type) {
        "text" => format!("{mime_type}; charset=utf-8"),
        _ => mime_type.to_owned(),
    }
}

/// What a browser only shows or plays may be opened; anything else is saved.
fn disposition(mime_type: &str) -> &'static str {
    let is_shown = matches!(FileType::family(mime_type), "image" | "audio" | "video")
        || mime_type == "text/plain";
    if is_shown { "inline" } else { "attachment" }
}

/// What of a file is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RequestedRange {
    Whole,
    /// From where, and how much.
    Part(u64, u64),
    /// Nothing that there is.
    Nothing,
}

impl RequestedRange {
    /// One range of bytes. Several of them, or another unit, are answered with the whole.
    fn read(range: &str, bytes: u64) -> Self {
        let Some(range) = range.trim().strip_prefix("bytes=") else { return Self::Whole };
        let Some((first, last)) = range.split_once('-') else { return Self::Whole };
        let (first, last) = (first.trim(), last.trim());
        match (first.parse::<u64>(), last.parse::<u64>()) {
            (Ok(first), _) if first >= bytes => Self::Nothing,
            (Ok(first), Ok(last)) if last >= first => {
                Self::Part(first, last.min(bytes - 1) - first + 1)
            }
            (Ok(first), Err(_)) if last.is_empty() => Self::Part(first, bytes - first),
            (Err(_), Ok(0)) if first.is_empty() => Self::Nothing,
            (Err(_), Ok(last)) if first.is_empty() && bytes > 0 => {
                Self::Part(bytes - last.min(bytes), last.min(bytes))
            }
            _ => Self::Whole,
        }
    }
}

/// A part of a file, a piece after another. Who reads slowly holds no more than one piece.
fn stream(stored: StoredFile, from: u64, length: u64) -> Body {
    let begin = (Some(stored), from, length);
    let next = |(stored, from, left): (Option<StoredFile>, u64, u64)| async move {
        let mut stored = stored.filter(|_| left > 0)?;
        let size = left.min(PIECE_BYTES);
        let read = tokio::task::spawn_blocking(move || {
            let mut piece = Vec::new();
            stored.content.seek(SeekFrom::Start(from))?;
            (&mut stored.content).take(size).read_to_end(&mut piece)?;
            Ok::<_, std::io::Error>((stored, piece))
        });
        match read.await {
            // A file that ends too early misses the length that was promised: the client notices.
            Ok(Ok((_, piece))) if piece.is_empty() => None,
            Ok(Ok((stored, piece))) => {
                let read = u64::try_from(piece.len()).unwrap_or(size);
                let rest = (Some(stored), from + read, left.saturating_sub(read));
                Some((Ok(Bytes::from(piece)), rest))
            }
            Ok(Err(error)) => Some((Err(error), (None, from, 0))),
            Err(error) => Some((Err(std::io::Error::other(error)), (None, from, 0))),
        }
    };
    compression::body_of(futures_util::stream::unfold(begin, next))
}

#[cfg(test)]
mod tests {
    use super::RequestedRange;

    #[test]
    fn ranges_are_read() {
        for (range, expected) in [
            ("bytes=0-9", RequestedRange::Part(0, 10)),
            ("bytes=90-200", RequestedRange::Part(90, 10)),
            ("bytes=95-", RequestedRange::Part(95, 5)),
            ("bytes=-5", RequestedRange::Part(95, 5)),
            ("bytes=-500", RequestedRange::Part(0, 100)),
            ("bytes=100-", RequestedRange::Nothing),
            ("bytes=-0", RequestedRange::Nothing),
            ("bytes=9-0", RequestedRange::Whole),
            ("bytes=0-1,5-6", RequestedRange::Whole),
            ("lines=1-2", RequestedRange::Whole),
            ("bytes=", RequestedRange::Whole),
            ("bytes=99999999999999999999-", RequestedRange::Whole),
        ] {
            assert_eq!(RequestedRange::read(range, 100), expected, "{range}");
        }
    }
}
