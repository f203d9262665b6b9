//! Files of crates above that a browser downloads by an address that nobody can guess, such as a
//! report that was written in the background. **Whoever knows the address may have the file.**

use std::fmt::Debug;
use std::sync::Arc;

use db::Conn;
use types::{Result, Timestamp};

use crate::Site;

/// A file that was asked for rightly.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileFound {
    /// How it is to be called where it is saved: letters, digits, hyphens and dots.
    pub name: String,
    pub media_type: &'static str,
    /// By which the source knows it.
    pub key: String,
    /// Its parts are numbered from 1 on.
    pub parts: i64,
    pub bytes: usize,
}

/// Something that has such files.
pub trait FileSource: Send + Sync + Debug {
    /// Whether a path with its query string is meant for this source. Nothing is looked up.
    fn may_be_at(&self, path: &str, query: &str) -> bool;

    /// The file that the query string names, if it may be had.
    fn file_at(
        &self,
        site: &Site,
        conn: &mut dyn Conn,
        query: &str,
        now: Timestamp,
    ) -> Result<Option<FileFound>>;

    /// A part of a file; none if it has gone meanwhile.
    fn part(&self, conn: &mut dyn Conn, key: &str, number: i64) -> Result<Option<Vec<u8>>>;
}

impl Site {
    /// Adds files of a crate above.
    #[must_use]
    pub fn with_files(mut self, source: Box<dyn FileSource>) -> Self {
        self.file_sources.push(source);
        self
    }

    /// Which source a path with its query string is meant for, by its number.
    pub fn file_source(&self, path: &str, query: &str) -> Option<usize> {
        self.file_sources.iter().position(|source| source.may_be_at(path, query))
    }

    /// The file of this source that the query string names.
    pub async fn file(self: &Arc<Self>, source: usize, query: String) -> Result<Option<FileFound>> {
        let (site, now) = (Arc::clone(self), self.clock().now());
        let find = move |conn: &mut dyn Conn| match site.file_sources.get(source) {
            Some(source) => source.file_at(&site, conn, &query, now),
            None => Ok(None),
        };
        self.store().read(find).await
    }

    /// A part of a file of this source.
    pub async fn file_part(
        self: &Arc<Self>,
        source: usize,
        key: String,
        number: i64,
    ) -> Result<Option<Vec<u8>>> {
        let site = Arc::clone(self);
        let read = move |conn: &mut dyn Conn| match site.file_sources.get(source) {
            Some(source) => source.part(conn, &key, number),
            None => Ok(None),
        };
        self.store().read(read).await
    }
}
