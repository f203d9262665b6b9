//! The files of the library in backups: all that rows speak of go out, and come in under their
//! names.

use std::fs::File;
use std::io::{BufWriter, Read, Write as _};
use std::sync::Arc;

use db::Conn;
use db::backup::{FileSink, Files};
use site_rows::media;
use types::{Error, Result};

use crate::media::storage::{FileStorage, Temporary, is_name, unavailable};

/// Rows that are read at once.
const BATCH: i64 = 500;

/// The files of a library, for a backup or from one.
#[derive(Debug)]
pub struct LibraryFiles {
    storage: Arc<dyn FileStorage>,
    coming: Option<(String, Temporary, BufWriter<File>)>,
}

impl LibraryFiles {
    pub fn new(storage: Arc<dyn FileStorage>) -> Self {
        Self { storage, coming: None }
    }
}

impl Files for LibraryFiles {
    fn each(
        &self,
        conn: &mut dyn Conn,
        visit: &mut dyn FnMut(&str, u64, &mut dyn Read) -> Result<()>,
    ) -> Result<()> {
        let mut last = String::new();
        loop {
            let files = media::files_after(conn, &last, BATCH)?;
            let Some(end) = files.last() else { return Ok(()) };
            last.clone_from(&end.name);
            for file in &files {
                let Some(mut stored) = self.storage.open(&file.name)? else {
                    tracing::warn!(file = file.name, "a file is missing in the backup");
                    continue;
                };
                visit(&file.name, stored.bytes, &mut stored.content)?;
            }
        }
    }
}

impl FileSink for LibraryFiles {
    fn begin(&mut self, name: &str) -> Result<()> {
        if !is_name(name) {
            return Err(Error::invalid("the backup has a file whose name is none"));
        }
        let content = self.storage.temporary()?;
        let out = BufWriter::new(content.create()?);
        self.coming = Some((name.to_owned(), content, out));
        Ok(())
    }

    fn data(&mut self, bytes: &[u8]) -> Result<()> {
        match &mut self.coming {
            Some((_, _, out)) => out.write_all(bytes).map_err(unavailable),
            None => Err(Error::invalid("the backup has bytes without a file")),
        }
    }

    fn end(&mut self) -> Result<()> {
        let Some((name, content, mut out)) = self.coming.take() else { return Ok(()) };
        out.flush().map_err(unavailable)?;
        if self.storage.put(content.path(), &name)? {
            return Ok(());
        }
        Err(Error::conflict(format!("the library has a file {name} already; empty it first")))
    }
}
