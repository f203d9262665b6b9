//! The picture that stands for missing ones: an item of the library like others, that a new site
//! begins with.

use std::io::Write as _;
use std::sync::Arc;

use site_rows::media::{self, MediaFileRow};
use types::{Error, Result};

use super::placed::{Placed, count, tag};
use crate::Site;
use crate::media::file_type::WEBP;
use crate::media::placeholder::{self, SIDE};
use crate::media::sizes::SizedFile;
use crate::media::storage::unavailable;
use crate::media::{Library, file_name};

impl Site {
    /// Puts the files of the placeholder into a library that never had it. Its rows are still to
    /// be written. Blocks.
    pub fn place_placeholder(&self) -> Result<Option<Placed>> {
        let Some(name) = self.library().placeholder() else { return Ok(None) };
        let known = self.store().read_blocking(move |conn| media::file(conn, name))?;
        if known.is_some() {
            return Ok(None);
        }
        let placed = self.library().place_shipped(name)?;
        // Whoever starts at the same time puts the same files there.
        placed.keep();
        Ok(Some(placed))
    }
}

impl Library {
    fn place_shipped(&self, name: &str) -> Result<Placed> {
        let mut placed = Placed {
            storage: Arc::clone(&self.storage),
            file: name.to_owned(),
            mime_type: WEBP.mime_type,
            bytes: 0,
            measures: Some((SIDE, SIDE)),
            sizes: Vec::new(),
            files: Vec::new(),
            is_kept: false.into(),
        };
        placed.bytes = self.put_shipped(&mut placed.files, name, SIDE)?;
        for (size, side) in placeholder::forms() {
            let file = file_name::sized(name, (side, side));
            let bytes = self.put_shipped(&mut placed.files, &file, side)?;
            let size = size.name.to_owned();
            placed.sizes.push(SizedFile { size, file, width: side, height: side, bytes });
        }
        Ok(placed)
    }

    /// Puts one file there, unless an interrupted start did so, and returns how many bytes it has.
    fn put_shipped(&self, files: &mut Vec<MediaFileRow>, name: &str, side: u32) -> Result<u64> {
        let missing = || Error::internal("a form of the placeholder is not shipped");
        let shipped = placeholder::file(side).ok_or_else(missing)?;
        let content = self.storage.temporary()?;
        content.create()?.write_all(shipped).map_err(unavailable)?;
        let (bytes, tag) = (content.bytes()?, tag(&content)?);
        self.storage.put(content.path(), name)?;
        files.push(MediaFileRow {
            name: name.to_owned(),
            post_id: 0,
            mime_type: WEBP.mime_type.to_owned(),
            bytes: count(bytes),
            tag,
        });
        Ok(bytes)
    }
}
