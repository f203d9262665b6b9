//! A bucket of an S3-compatible service: the only place that knows `object_store`.

use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use bytes::{Buf as _, Bytes};
use object_store::aws::{AmazonS3, AmazonS3Builder};
use object_store::path::Path as Key;
use object_store::{
    ClientOptions, MultipartUpload, ObjectStore as _, ObjectStoreExt as _, RetryConfig,
};
use tokio::runtime::Handle;
use types::{Error, Result};
use url::{Host, Url};

use super::blocking;
use crate::backups::S3Settings;

const SCHEME: &str = "s3://";
/// Bytes that are sent or read at once.
const PIECE_BYTES: u64 = 8 << 20;
/// An upload has at most 10,000 parts; a large file has larger ones.
const PARTS_MAX: u64 = 9_000;
/// For one request: a piece over a slow line.
const REQUEST_TIME_MAX: Duration = Duration::from_mins(2);
/// Of a request that the service could not serve; the job is tried again as well.
const RETRIES_MAX: usize = 3;

#[derive(Clone, Debug)]
pub(super) struct Bucket {
    store: Arc<AmazonS3>,
    prefix: Key,
    address: String,
}

impl Bucket {
    pub(super) fn is_address(text: &str) -> bool {
        text.starts_with(SCHEME)
    }

    /// `s3://bucket` or `s3://bucket/prefix`, at the service that the settings name.
    pub(super) fn new(address: &str, settings: &S3Settings) -> Result<Self> {
        let place = address.strip_prefix(SCHEME).unwrap_or(address);
        let (bucket, prefix) = place.split_once('/').unwrap_or((place, ""));
        if bucket.is_empty() {
            return Err(Error::invalid("backup.to names no bucket; write s3://bucket/prefix"));
        }
        let (Some(id), Some(secret)) = (&settings.access_key_id, &settings.secret_access_key)
        else {
            return Err(Error::invalid(
                "set backup.s3.access_key_id and backup.s3.secret_access_key to use a bucket",
            ));
        };
        let options = ClientOptions::new().with_timeout(REQUEST_TIME_MAX);
        let mut builder = AmazonS3Builder::new()
            .with_bucket_name(bucket)
            .with_region(&settings.region)
            .with_access_key_id(id)
            .with_secret_access_key(secret.expose())
            .with_client_options(options)
            .with_retry(RetryConfig { max_retries: RETRIES_MAX, ..RetryConfig::default() })
            // One at a time, which every service understands.
            .with_disable_bulk_delete(true);
        if let Some(endpoint) = &settings.endpoint {
            let is_plain = is_plain_text(endpoint)?;
            builder =
                builder.with_endpoint(endpoint.trim_end_matches('/')).with_allow_http(is_plain);
        }
        let unfit =
            |error| Error::invalid("the settings of backup.s3 cannot be used").because(error);
        let store = Arc::new(builder.build().map_err(unfit)?);
        let prefix = Key::parse(prefix.trim_matches('/')).map_err(|error| {
            Error::invalid("the prefix in backup.to cannot be used").because(error)
        })?;
        Ok(Self { store, prefix, address: address.trim_end_matches('/').to_owned() })
    }

    /// Names and sizes of what is right below the prefix.
    pub(super) async fn list(&self) -> Result<Vec<(String, u64)>> {
        let listed = self.store.list_with_delimiter(Some(&self.prefix)).await;
        let listed = listed.map_err(|error| self.failed("list", error))?;
        let name = |key: &Key| key.filename().map(str::to_owned);
        let files = listed.objects.into_iter();
        Ok(files.filter_map(|file| Some((name(&file.location)?, file.size))).collect())
    }

    pub(super) async fn upload(&self, file: &Path, name: &str) -> Result<()> {
        let unreadable =
            |error| Error::unavailable(format!("cannot read {}", file.display())).because(error);
        let file = File::open(file).map_err(unreadable)?;
        let bytes = file.metadata().map_err(unreadable)?.len();
        let (key, piece) = (self.key(name), PIECE_BYTES.max(bytes / PARTS_MAX));
        if bytes <= piece {
            let (_, content) = read_piece(file, piece).await?;
            let put = self.store.put(&key, content.into()).await;
            return put.map(drop).map_err(|error| self.failed("write to", error));
        }
        let begun = self.store.put_multipart(&key).await;
        let mut upload = begun.map_err(|error| self.failed("write to", error))?;
        let sent = self.send(file, piece, upload.as_mut()).await;
        if sent.is_err() {
            // Parts that nobody completes would be stored and paid for.
            let _ = upload.abort().await;
        }
        sent
    }

    async fn send(
        &self,
        mut file: File,
        piece: u64,
        upload: &mut dyn MultipartUpload,
    ) -> Result<()> {
        loop {
            let (rest, content) = read_piece(file, piece).await?;
            if content.is_empty() {
                break;
            }
            file = rest;
            let sent = upload.put_part(content.into()).await;
            sent.map_err(|error| self.failed("write to", error))?;
        }
        upload.complete().await.map(drop).map_err(|error| self.failed("write to", error))
    }

    pub(super) async fn open(&self, name: &str) -> Result<Option<Reader>> {
        let key = self.key(name);
        let bytes = match self.store.head(&key).await {
            Ok(found) => found.size,
            Err(object_store::Error::NotFound { .. }) => return Ok(None),
            Err(error) => return Err(self.failed("read", error)),
        };
        let (store, runtime) = (Arc::clone(&self.store), Handle::current());
        Ok(Some(Reader { store, key, runtime, at: 0, bytes, piece: Bytes::new() }))
    }

    pub(super) async fn remove(&self, name: &str) -> Result<()> {
        let removed = self.store.delete(&self.key(name)).await;
        removed.map_err(|error| self.failed("delete from", error))
    }

    fn key(&self, name: &str) -> Key {
        self.prefix.clone().join(name)
    }

    fn failed(&self, what: &str, error: object_store::Error) -> Error {
        Error::unavailable(format!("cannot {what} the bucket {self}")).because(error)
    }
}

impl fmt::Display for Bucket {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.address)
    }
}

/// Whether the service is asked without TLS, which only this machine may be.
fn is_plain_text(endpoint: &str) -> Result<bool> {
    let wrong =
        || Error::invalid("backup.s3.endpoint must be a URL, such as https://s3.eu-1.example");
    let url = Url::parse(endpoint).map_err(|error| wrong().because(error))?;
    let is_local = match url.host().ok_or_else(wrong)? {
        Host::Domain(name) => name == "localhost",
        Host::Ipv4(address) => address.is_loopback(),
        Host::Ipv6(address) => address.is_loopback(),
    };
    match url.scheme() {
        "https" => Ok(false),
        "http" if is_local => Ok(true),
        "http" => Err(Error::invalid(
            "backups would cross the network in plain text; use https in backup.s3.endpoint",
        )),
        _ => Err(wrong()),
    }
}

/// The next bytes of a file, and the file.
async fn read_piece(mut file: File, bytes: u64) -> Result<(File, Bytes)> {
    blocking(move || {
        let mut piece = Vec::new();
        let read = (&mut file).take(bytes).read_to_end(&mut piece);
        read.map_err(|error| Error::unavailable("cannot read the backup").because(error))?;
        Ok((file, Bytes::from(piece)))
    })
    .await
}

/// Reads an object piece by piece, so that each request ends soon and is repeated by itself. It
/// waits for the runtime, and must be read outside of it.
#[derive(Debug)]
pub(super) struct Reader {
    store: Arc<AmazonS3>,
    key: Key,
    runtime: Handle,
    at: u64,
    bytes: u64,
    piece: Bytes,
}

impl Read for Reader {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if self.piece.is_empty() && self.at < self.bytes {
            let end = self.bytes.min(self.at + PIECE_BYTES);
            let read = self.runtime.block_on(self.store.get_range(&self.key, self.at..end));
            self.piece = read.map_err(io::Error::other)?;
            self.at = end;
        }
        let count = self.piece.len().min(out.len());
        self.piece.copy_to_slice(out.get_mut(..count).unwrap_or_default());
        Ok(count)
    }
}
