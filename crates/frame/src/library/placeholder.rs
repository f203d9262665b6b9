//! The picture that stands for missing ones: an item of the library from the first upload on, and a
//! file at its address already before.

use std::io::Cursor;
use std::sync::{Arc, PoisonError};

use site_rows::media::{self, MediaFileRow};
use types::{Error, Result};

use super::item::NewItem;
use super::place::{NotTaken, tag};
use crate::Site;
use crate::dates::Moment;
use crate::media::file_type::WEBP;
use crate::media::sizes::{Cut, USUAL};
use crate::media::storage::{StoredFile, unavailable};
use crate::media::{file_name, placeholder};

impl Site {
    /// Makes the first item of a library that never had one.
    pub async fn found_library(self: &Arc<Self>, now: Moment, author_id: i64) -> Result<()> {
        let Some(name) = self.library().placeholder() else { return Ok(()) };
        if !self.store().read(media::is_untouched).await? {
            return Ok(());
        }
        let (stem, _) = file_name::safe_parts(name);
        let draw = |_: &Self| Ok((placeholder::draw(), &WEBP));
        let placed = self.place_picture(draw, (String::new(), stem), USUAL.to_vec()).await;
        let placed = Arc::new(placed.map_err(|fault| match fault {
            NotTaken::Failed(error) => error,
            _ => Error::internal("the placeholder could not be drawn"),
        })?);
        let writing = Arc::clone(&placed);
        let made = self.store().write(move |conn| {
            // Another upload may have been faster.
            if !media::is_untouched(conn)? {
                return Ok(false);
            }
            NewItem::at(now, author_id).insert(conn, &writing)?;
            Ok(true)
        });
        if made.await? {
            placed.keep();
        }
        Ok(())
    }

    /// A form of the placeholder, where it is no item yet.
    pub async fn placeholder_file(
        self: &Arc<Self>,
        name: &str,
    ) -> Result<Option<(MediaFileRow, StoredFile)>> {
        let Some(cut) = self.placeholder_cut(name) else { return Ok(None) };
        if !self.store().read(media::is_untouched).await? {
            return Ok(None);
        }
        let (site, asked) = (Arc::clone(self), name.to_owned());
        let drawn = self.on_worker(move || {
            let known = &site.library().drawn;
            if let Some(drawn) = known.lock().unwrap_or_else(PoisonError::into_inner).get(&asked) {
                return Ok(drawn.clone());
            }
            let whole = placeholder::draw();
            let picture = match cut {
                Some(cut) => whole.cut(cut),
                None => whole,
            };
            let content = site.library().storage().temporary()?;
            picture.encode(&WEBP, content.create()?)?;
            let bytes: Arc<[u8]> = std::fs::read(content.path()).map_err(unavailable)?.into();
            let drawn = (tag(&content)?, bytes);
            known.lock().unwrap_or_else(PoisonError::into_inner).insert(asked, drawn.clone());
            Ok(drawn)
        });
        let failed = |_| Error::unavailable("the placeholder could not be drawn");
        let (tag, bytes) = drawn.await.map_err(failed)?;
        let length = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        let row = MediaFileRow {
            name: name.to_owned(),
            post_id: 0,
            mime_type: WEBP.mime_type.to_owned(),
            bytes: i64::try_from(length).unwrap_or(i64::MAX),
            tag,
        };
        Ok(Some((row, StoredFile { content: Box::new(Cursor::new(bytes)), bytes: length })))
    }

    /// How the form of this name is made; nothing for a name of something else.
    #[expect(clippy::option_option, reason = "the whole picture is not cut")]
    fn placeholder_cut(&self, name: &str) -> Option<Option<Cut>> {
        let whole = self.library().placeholder()?;
        if name == whole {
            return Some(None);
        }
        let cuts = USUAL.iter().filter_map(|size| size.cut((placeholder::SIDE, placeholder::SIDE)));
        let mut cuts = cuts.filter(|cut| file_name::sized(whole, cut.result) == name);
        cuts.next().map(Some)
    }
}
