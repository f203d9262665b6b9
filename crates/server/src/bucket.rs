//! A bucket of an S3-compatible service: the only place that knows `object_store`. Backups go
//! there, and the files of the media library ([`storage`]).

mod storage;

use std::fmt;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use bytes::{Buf as _, Bytes};
use futures_util::TryStreamExt as _;
use object_store::aws::{AmazonS3, AmazonS3Builder};
use object_store::path::Path as Key;
use object_store::{
    ClientOptions, MultipartUpload, ObjectStore as _, ObjectStoreExt as _, PutMode, PutPayload,
    RetryConfig,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio::runtime::Handle;
use types::{Error, Result, Secret};
use url::{Host, Url};

pub(crate) use storage::BucketStorage;

const SCHEME: &str = "s3://";
/// Bytes that are sent or read at once.
const PIECE_BYTES: u64 = 8 << 20;
/// An upload has at most 10,000 parts; a large file has larger ones.
const PARTS_MAX: u64 = 9_000;
/// For one request: a piece over a slow line.
const REQUEST_TIME_MAX: Duration = Duration::from_mins(2);
/// Of a request that the service could not serve; the job is tried again as well.
const RETRIES_MAX: usize = 3;

/// An S3-compatible service.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct S3Settings {
    /// URL of the service, such as `https://minio.example`. Empty: Amazon S3.
    pub endpoint: Option<String>,
    /// Region of the bucket.
    pub region: String,
    /// Id of the access key.
    pub access_key_id: Option<String>,
    /// Secret of the access key; never shown.
    #[serde(skip_serializing)]
    #[schemars(with = "Option<String>")]
    pub secret_access_key: Option<Secret<String>>,
}

impl Default for S3Settings {
    fn default() -> Self {
        let region = String::from("us-east-1");
        Self { endpoint: None, region, access_key_id: None, secret_access_key: None }
    }
}

/// What the settings are called that name a bucket and its service, for messages.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Named {
    pub(crate) place: &'static str,
    pub(crate) service: &'static str,
}

#[derive(Clone, Debug)]
pub(crate) struct Bucket {
    store: Arc<AmazonS3>,
    prefix: Key,
    address: String,
}

impl Bucket {
    pub(crate) fn is_address(text: &str) -> bool {
        text.starts_with(SCHEME)
    }

    /// `s3://bucket` or `s3://bucket/prefix`, at the service that the settings name.
    pub(crate) fn new(address: &str, settings: &S3Settings, named: Named) -> Result<Self> {
        let Named { place: setting, service } = named;
        let place = address.strip_prefix(SCHEME).unwrap_or(address);
        let (bucket, prefix) = place.split_once('/').unwrap_or((place, ""));
        if bucket.is_empty() {
            let message = format!("{setting} names no bucket; write s3://bucket/prefix");
            return Err(Error::invalid(message));
        }
        let (Some(id), Some(secret)) = (&settings.access_key_id, &settings.secret_access_key)
        else {
            return Err(Error::invalid(format!(
                "set {service}.access_key_id and {service}.secret_access_key to use a bucket"
            )));
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
            let is_plain = is_plain_text(endpoint, service)?;
            builder =
                builder.with_endpoint(endpoint.trim_end_matches('/')).with_allow_http(is_plain);
        }
        let unfit = |error| {
            Error::invalid(format!("the settings of {service} cannot be used")).because(error)
        };
        let store = Arc::new(builder.build().map_err(unfit)?);
        let prefix = Key::parse(prefix.trim_matches('/')).map_err(|error| {
            Error::invalid(format!("the prefix in {setting} cannot be used")).because(error)
        })?;
        Ok(Self { store, prefix, address: address.trim_end_matches('/').to_owned() })
    }

    /// Names and sizes of what is right below the prefix.
    pub(crate) async fn list(&self) -> Result<Vec<(String, u64)>> {
        let listed = self.store.list_with_delimiter(Some(&self.prefix)).await;
        let listed = listed.map_err(|error| self.failed("list", error))?;
        let name = |key: &Key| key.filename().map(str::to_owned);
        let files = listed.objects.into_iter();
        Ok(files.filter_map(|file| Some((name(&file.location)?, file.size))).collect())
    }

    pub(crate) async fn upload(&self, file: &Path, name: &str) -> Result<()> {
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

    /// Stores a file unless the name is taken, and returns whether it was stored. A large file
    /// takes its name with an empty object first, since parts replace whatever is there.
    pub(crate) async fn create(&self, file: &Path, name: &str) -> Result<bool> {
        let unreadable =
            |error| Error::unavailable(format!("cannot read {}", file.display())).because(error);
        let content = File::open(file).map_err(unreadable)?;
        let is_large = content.metadata().map_err(unreadable)?.len() > PIECE_BYTES;
        let content =
            if is_large { Bytes::new() } else { read_piece(content, PIECE_BYTES).await?.1 };
        let payload = PutPayload::from(content);
        match self.store.put_opts(&self.key(name), payload, PutMode::Create.into()).await {
            Ok(_) if !is_large => return Ok(true),
            Ok(_) => {}
            Err(object_store::Error::AlreadyExists { .. }) => return Ok(false),
            Err(error) => return Err(self.failed("write to", error)),
        }
        let uploaded = self.upload(file, name).await;
        if uploaded.is_err() {
            // If that fails too, the sweep finds an object that nothing speaks of.
            let _ = self.remove(name).await;
        }
        uploaded.map(|()| true)
    }

    /// Every object below the prefix, by what follows the prefix, with the time of its last change.
    pub(crate) async fn list_all(&self) -> Result<Vec<(String, SystemTime)>> {
        let objects: Vec<_> = self
            .store
            .list(Some(&self.prefix))
            .try_collect()
            .await
            .map_err(|error| self.failed("list", error))?;
        let name = |key: &Key| {
            let parts: Vec<_> = key.prefix_match(&self.prefix)?.collect();
            Some(parts.iter().map(AsRef::as_ref).collect::<Vec<&str>>().join("/"))
        };
        let named = objects.into_iter().filter_map(|object| {
            Some((name(&object.location)?, SystemTime::from(object.last_modified)))
        });
        Ok(named.collect())
    }

    pub(crate) async fn open(&self, name: &str) -> Result<Option<Reader>> {
        let key = self.key(name);
        let bytes = match self.store.head(&key).await {
            Ok(found) => found.size,
            Err(object_store::Error::NotFound { .. }) => return Ok(None),
            Err(error) => return Err(self.failed("read", error)),
        };
        let (store, runtime) = (Arc::clone(&self.store), Handle::current());
        Ok(Some(Reader {
            store,
            key,
            runtime,
            at: 0,
            bytes,
            ahead: PIECE_BYTES,
            piece: Bytes::new(),
        }))
    }

    pub(crate) async fn remove(&self, name: &str) -> Result<()> {
        let removed = self.store.delete(&self.key(name)).await;
        removed.map_err(|error| self.failed("delete from", error))
    }

    fn key(&self, name: &str) -> Key {
        let parts = name.split('/');
        parts.fold(self.prefix.clone(), Key::join)
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
fn is_plain_text(endpoint: &str, service: &str) -> Result<bool> {
    let wrong = || {
        Error::invalid(format!("{service}.endpoint must be a URL, such as https://s3.eu-1.example"))
    };
    let url = Url::parse(endpoint).map_err(|error| wrong().because(error))?;
    let is_local = match url.host().ok_or_else(wrong)? {
        Host::Domain(name) => name == "localhost",
        Host::Ipv4(address) => address.is_loopback(),
        Host::Ipv6(address) => address.is_loopback(),
    };
    match url.scheme() {
        "https" => Ok(false),
        "http" if is_local => Ok(true),
        "http" => Err(Error::invalid(format!(
            "files would cross the network in plain text; use https in {service}.endpoint"
        ))),
        _ => Err(wrong()),
    }
}

/// The next bytes of a file, and the file.
async fn read_piece(mut file: File, bytes: u64) -> Result<(File, Bytes)> {
    let read = tokio::task::spawn_blocking(move || {
        let mut piece = Vec::new();
        let read = (&mut file).take(bytes).read_to_end(&mut piece);
        read.map_err(|error| Error::unavailable("cannot read the file").because(error))?;
        Ok((file, Bytes::from(piece)))
    });
    read.await.map_err(|error| Error::internal("the reading of a file broke off").because(error))?
}

/// Reads an object piece by piece, so that each request ends soon and is repeated by itself. It
/// waits for the runtime, and must be read outside of it.
#[derive(Debug)]
pub(crate) struct Reader {
    store: Arc<AmazonS3>,
    key: Key,
    runtime: Handle,
    /// Where the piece ends that was fetched last.
    at: u64,
    bytes: u64,
    /// How much is fetched at once.
    ahead: u64,
    piece: Bytes,
}

impl Reader {
    /// How many bytes the object has.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Fetches so much at once, for whoever reads parts.
    #[must_use]
    pub(crate) fn fetching(self, ahead: u64) -> Self {
        Self { ahead, ..self }
    }

    fn position(&self) -> u64 {
        self.at - u64::try_from(self.piece.len()).unwrap_or(self.at)
    }
}

impl Read for Reader {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if self.piece.is_empty() && self.at < self.bytes {
            let end = self.bytes.min(self.at + self.ahead);
            let read = self.runtime.block_on(self.store.get_range(&self.key, self.at..end));
            self.piece = read.map_err(io::Error::other)?;
            self.at = end;
        }
        let count = self.piece.len().min(out.len());
        self.piece.copy_to_slice(out.get_mut(..count).unwrap_or_default());
        Ok(count)
    }
}

impl Seek for Reader {
    /// What was fetched is kept if it has what is sought.
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let wrong = || io::Error::new(io::ErrorKind::InvalidInput, "no place in the object");
        let wanted = match to {
            SeekFrom::Start(place) => Some(place),
            SeekFrom::Current(offset) => self.position().checked_add_signed(offset),
            SeekFrom::End(offset) => self.bytes.checked_add_signed(offset),
        };
        let wanted = wanted.ok_or_else(wrong)?;
        let skipped = wanted.checked_sub(self.position()).and_then(|it| usize::try_from(it).ok());
        if let Some(skipped) = skipped.filter(|skipped| *skipped <= self.piece.len()) {
            self.piece.advance(skipped);
        } else {
            (self.at, self.piece) = (wanted, Bytes::new());
        }
        Ok(wanted)
    }
}
