//! The media library in a bucket, so that nodes on several machines share it. What is being
//! received lies in a folder of this machine until it is whole.
//!
//! **Nothing is replaced**, as the library demands: an object is only created under a name that is
//! free, which the service decides (`If-None-Match: *`).

use std::fmt;
use std::future::Future;
use std::path::Path;
use std::sync::mpsc;
use std::time::SystemTime;

use frame::media::storage::{StoredFile, Temporary, is_name};
use frame::media::{FileStorage, FolderStorage};
use tokio::runtime::{Builder, Runtime};
use types::{Error, Result};

use super::Bucket;

/// Fetched at once for somebody who may want only a part.
const AHEAD_BYTES: u64 = 1 << 20;

/// The files of a library in a bucket.
pub(crate) struct BucketStorage {
    bucket: Bucket,
    incoming: FolderStorage,
    /// Of its own, since commands have none, and whoever asks waits.
    runtime: Option<Runtime>,
}

impl fmt::Debug for BucketStorage {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "BucketStorage({})", self.bucket)
    }
}

impl BucketStorage {
    /// A library in the bucket, with what comes in in the folder.
    pub(crate) fn new(bucket: Bucket, incoming: FolderStorage) -> Result<Self> {
        let runtime = Builder::new_multi_thread()
            .worker_threads(1)
            .thread_name("bucket")
            .enable_all()
            .build()
            .map_err(|error| Error::internal("cannot start a thread").because(error))?;
        Ok(Self { bucket, incoming, runtime: Some(runtime) })
    }

    /// Does something with the bucket, and waits for it, on whichever thread.
    fn wait<T: Send + 'static, F: Future<Output = Result<T>> + Send + 'static>(
        &self,
        work: impl FnOnce(Bucket) -> F,
    ) -> Result<T> {
        let broken = || Error::internal("the work on the bucket broke off");
        let (sender, receiver) = mpsc::sync_channel(1);
        let work = work(self.bucket.clone());
        let runtime = self.runtime.as_ref().ok_or_else(broken)?;
        runtime.spawn(async move {
            // Whoever asked waits.
            let _ = sender.send(work.await);
        });
        receiver.recv().map_err(|_| broken())?
    }
}

impl Drop for BucketStorage {
    /// A runtime may not be waited for on an async thread, where this may be dropped.
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

impl FileStorage for BucketStorage {
    fn place(&self) -> String {
        self.bucket.to_string()
    }

    fn temporary(&self) -> Result<Temporary> {
        self.incoming.temporary()
    }

    fn put(&self, file: &Path, name: &str) -> Result<bool> {
        if !is_name(name) {
            return Err(Error::invalid("this is no name of a file"));
        }
        let (file, name) = (file.to_owned(), name.to_owned());
        self.wait(move |bucket| async move { bucket.create(&file, &name).await })
    }

    fn open(&self, name: &str) -> Result<Option<StoredFile>> {
        if !is_name(name) {
            return Ok(None);
        }
        let name = name.to_owned();
        let opened = self.wait(move |bucket| async move { bucket.open(&name).await })?;
        Ok(opened.map(|reader| {
            let (bytes, content) = (reader.bytes(), Box::new(reader.fetching(AHEAD_BYTES)));
            StoredFile { content, bytes }
        }))
    }

    fn remove(&self, name: &str) -> Result<()> {
        if !is_name(name) {
            return Err(Error::invalid("this is no name of a file"));
        }
        let name = name.to_owned();
        self.wait(move |bucket| async move { bucket.remove(&name).await })
    }

    fn each(&self, visit: &mut dyn FnMut(&str, SystemTime) -> Result<()>) -> Result<()> {
        let files = self.wait(|bucket| async move { bucket.list_all().await })?;
        for (name, since) in files.iter().filter(|(name, _)| is_name(name)) {
            visit(name, *since)?;
        }
        Ok(())
    }

    fn forget_temporaries(&self, before: SystemTime) -> Result<()> {
        self.incoming.forget_temporaries(before)
    }
}
