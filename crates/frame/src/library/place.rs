//! Takes a file into the library: looks at it, makes its sizes, and puts all of it into the
//! storage. **Files come first, rows after them**; files whose rows are not written are taken out
//! again.

use std::collections::HashMap;
use std::io::{self, BufReader, BufWriter, Read as _, Write as _};
use std::sync::Arc;

use contract::rest::{Refusal, Stop};
use db::Conn;
use serde_json::{Map, Value};
use site_rows::media::{self, MediaFileRow, MediaRow};
use types::{Error, Result};

use super::placed::{Placed, count, sizes_text, tag};
use crate::Site;
use crate::dates::{Moment, written};
use crate::media::file_type::{self, FileType, START_BYTES};
use crate::media::picture::{Picture, PictureError};
use crate::media::sizes::{PictureSize, SizedFile};
use crate::media::storage::{FileStorage, NAME_LENGTH_MAX, Temporary, unavailable};
use crate::media::{file_name, strip};

/// Where files of fonts go.
const FONTS_FOLDER: &str = "fonts";
/// Numbers behind a name that are tried.
const NAMES_MAX: u32 = 10_000;
/// Bytes that are read at once.
const CHUNK_BYTES: usize = 64 * 1024;
/// A card number with what stands around it.
const OVERLAP_BYTES: usize = 512;

/// Why a file is not taken.
#[derive(Debug)]
pub enum NotTaken {
    /// The type is not among those that are taken, or the content is of another one.
    Type,
    Picture(PictureError),
    /// The library is full.
    Quota,
    /// Something is in it that nobody may send.
    Refused(Refusal),
    /// Our own failure.
    Failed(Error),
}

impl From<Error> for NotTaken {
    fn from(error: Error) -> Self {
        Self::Failed(error)
    }
}

impl From<PictureError> for NotTaken {
    fn from(error: PictureError) -> Self {
        Self::Picture(error)
    }
}

impl NotTaken {
    /// In the words of the interface.
    pub fn into_stop(self) -> Stop {
        let code = "rest_upload_sideload_error";
        match self {
            Self::Type => {
                let message = "Files of this type are not allowed, or the file is not what its \
                               name says.";
                Refusal::new(400, code, message).into()
            }
            Self::Picture(PictureError::TooLarge) => {
                let message = "The image has too many pixels; make it smaller.";
                Refusal::new(400, code, message).into()
            }
            Self::Picture(_) => Refusal::new(400, code, "The file is not a valid image.").into(),
            Self::Quota => {
                let message = "The media library is full; delete files first.";
                Refusal::new(400, "rest_upload_limited_space", message).into()
            }
            Self::Refused(refusal) => refusal.into(),
            Self::Failed(error) => error.into(),
        }
    }
}

/// Where files of this time go: the year and the month.
pub fn folder_of(now: Moment) -> String {
    let date = written(now.local);
    let year_and_month = date.get(..7).unwrap_or_default();
    year_and_month.replace('-', "/")
}

impl Site {
    /// Takes a file in, on a thread of its own, once it is its turn. `folder` is where it goes.
    pub async fn place(
        self: &Arc<Self>,
        content: Temporary,
        called: String,
        folder: String,
    ) -> std::result::Result<Placed, NotTaken> {
        let site = Arc::clone(self);
        self.on_worker(move || {
            let (stem, ending) = file_name::safe_parts(&called);
            let incoming = Incoming::examine(&site, content, &ending)?;
            incoming.place(&site, (&folder, &stem), site.library().sizes())
        })
        .await
    }

    /// Takes in a picture that was changed here.
    pub async fn place_picture(
        self: &Arc<Self>,
        draw: impl FnOnce(&Site) -> std::result::Result<(Picture, &'static FileType), NotTaken>
        + Send
        + 'static,
        (folder, stem): (String, String),
        sizes: Vec<PictureSize>,
    ) -> std::result::Result<Placed, NotTaken> {
        let site = Arc::clone(self);
        self.on_worker(move || {
            let (picture, kind) = draw(&site)?;
            let content = site.library().storage.temporary()?;
            picture.encode(kind, content.create()?)?;
            let ending = kind.endings.first().copied().unwrap_or_default().to_owned();
            Incoming { content, kind, ending, picture: Some(picture) }.place(
                &site,
                (&folder, &stem),
                &sizes,
            )
        })
        .await
    }

    /// Takes in a file of a font, which is told by what is in it.
    pub async fn place_font(
        self: &Arc<Self>,
        called: String,
        bytes: Vec<u8>,
    ) -> std::result::Result<Placed, NotTaken> {
        let site = Arc::clone(self);
        self.on_worker(move || {
            let (stem, ending) = file_name::safe_parts(&called);
            let kind = file_type::recognise_font(&ending, &bytes).ok_or(NotTaken::Type)?;
            let further = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
            let full = Arc::clone(&site);
            let checked = site.store().read_blocking(move |conn| {
                Ok(matches!(full.check_quota(conn, further), Err(NotTaken::Quota)))
            });
            if checked? {
                return Err(NotTaken::Quota);
            }
            let content = site.library().storage.temporary()?;
            content.create()?.write_all(&bytes).map_err(unavailable)?;
            let incoming = Incoming { content, kind, ending, picture: None };
            incoming.place(&site, (FONTS_FOLDER, &stem), &[])
        })
        .await
    }

    /// Runs what takes the processor and memory: few at once. A codec that panics has refused.
    pub async fn on_worker<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> std::result::Result<T, NotTaken> + Send + 'static,
    ) -> std::result::Result<T, NotTaken> {
        let _turn = self.library().workers.acquire().await;
        match tokio::task::spawn_blocking(work).await {
            Ok(done) => done,
            Err(error) => {
                tracing::warn!(error = %error, "work on a picture failed");
                Err(NotTaken::Picture(PictureError::Broken))
            }
        }
    }

    /// Refuses a file that would not fit into the library any more.
    pub fn check_quota(
        &self,
        conn: &mut dyn Conn,
        further: u64,
    ) -> std::result::Result<(), NotTaken> {
        let quota = self.settings().media.quota_bytes;
        if quota > 0 && count(further).saturating_add(media::bytes(conn)?) > count(quota) {
            return Err(NotTaken::Quota);
        }
        Ok(())
    }

    /// Deletes files whose rows are gone. What fails is swept later.
    pub async fn remove_files(&self, files: Vec<MediaFileRow>) {
        let storage = Arc::clone(&self.library().storage);
        let removed = tokio::task::spawn_blocking(move || {
            for file in files {
                if let Err(error) = storage.remove(&file.name) {
                    tracing::warn!(error = error.report(), "a file stays until the next sweep");
                }
            }
        });
        let _ = removed.await;
    }
}

/// A file that was looked at.
struct Incoming {
    content: Temporary,
    kind: &'static FileType,
    ending: String,
    picture: Option<Picture>,
}

impl Incoming {
    fn examine(
        site: &Site,
        content: Temporary,
        ending: &str,
    ) -> std::result::Result<Self, NotTaken> {
        let mut start = Vec::new();
        let most = u64::try_from(START_BYTES).unwrap_or(u64::MAX);
        content.open()?.take(most).read_to_end(&mut start).map_err(unavailable)?;
        let kind = file_type::recognise(ending, &start).ok_or(NotTaken::Type)?;
        let ending = kind.ending_for(ending).into_owned();
        if FileType::family(kind.mime_type) == "text" {
            guard_text(site, &content)?;
        }
        if !kind.is_picture() {
            return Ok(Self { content, kind, ending, picture: None });
        }
        let bytes_max = site.settings().media.picture_bytes;
        let picture = Picture::decode(content.open()?, kind, bytes_max)?;
        let storage = &*site.library().storage;
        let content = if picture.was_turned {
            let upright = storage.temporary()?;
            picture.encode(kind, upright.create()?)?;
            upright
        } else {
            stripped(storage, content, kind)?
        };
        Ok(Self { content, kind, ending, picture: Some(picture) })
    }

    fn place(
        self,
        site: &Site,
        (folder, stem): (&str, &str),
        sizes: &[PictureSize],
    ) -> std::result::Result<Placed, NotTaken> {
        let storage = &site.library().storage;
        let forms = match &self.picture {
            Some(picture) => forms(&**storage, picture, self.kind, sizes)?,
            None => Vec::new(),
        };
        for number in 0..NAMES_MAX {
            let behind = if number == 0 { String::new() } else { format!("-{number}") };
            let slash = if folder.is_empty() { "" } else { "/" };
            let file = format!("{folder}{slash}{stem}{behind}.{}", self.ending);
            if let Some(placed) = self.put(site, &forms, file)? {
                return Ok(placed);
            }
        }
        Err(Error::conflict("too many files share this name; choose another one").into())
    }

    /// Puts the file and its forms into the storage. Nothing if a name is taken.
    fn put(&self, site: &Site, forms: &[MadeForm], file: String) -> Result<Option<Placed>> {
        if file.len() > NAME_LENGTH_MAX {
            return Err(Error::invalid("the name of the file is too long"));
        }
        let mut names: HashMap<String, &Temporary> = HashMap::new();
        names.insert(file.clone(), &self.content);
        for form in forms {
            names.entry(file_name::sized(&file, form.measures)).or_insert(&form.content);
        }
        let asked: Vec<String> = names.keys().cloned().collect();
        let taken = site.store().read_blocking(move |conn| media::taken_names(conn, &asked))?;
        if !taken.is_empty() {
            return Ok(None);
        }
        let mut placed = Placed {
            storage: Arc::clone(&site.library().storage),
            mime_type: self.kind.mime_type,
            bytes: self.content.bytes()?,
            measures: self.picture.as_ref().map(Picture::measures),
            sizes: forms.iter().map(|form| form.describe(&file)).collect::<Result<_>>()?,
            files: Vec::new(),
            is_kept: false.into(),
            file,
        };
        for (name, content) in names {
            if !placed.storage.put(content.path(), &name)? {
                return Ok(None);
            }
            placed.files.push(MediaFileRow {
                name,
                post_id: 0,
                mime_type: self.kind.mime_type.to_owned(),
                bytes: count(content.bytes()?),
                tag: tag(content)?,
            });
        }
        Ok(Some(placed))
    }
}

/// A smaller form of a picture, in a temporary file.
struct MadeForm {
    size: &'static str,
    measures: (u32, u32),
    content: Temporary,
}

impl MadeForm {
    fn describe(&self, file: &str) -> Result<SizedFile> {
        let name = file_name::sized(file, self.measures);
        let name = name.rsplit('/').next().unwrap_or_default().to_owned();
        let ((width, height), bytes) = (self.measures, self.content.bytes()?);
        Ok(SizedFile { size: self.size.to_owned(), file: name, width, height, bytes })
    }
}

fn forms(
    storage: &dyn FileStorage,
    picture: &Picture,
    kind: &'static FileType,
    sizes: &[PictureSize],
) -> std::result::Result<Vec<MadeForm>, NotTaken> {
    let mut forms = Vec::new();
    for size in sizes {
        let Some(cut) = size.cut(picture.measures()) else { continue };
        let content = storage.temporary()?;
        picture.cut(cut).encode(kind, content.create()?)?;
        forms.push(MadeForm { size: size.name, measures: cut.result, content });
    }
    Ok(forms)
}

/// Looks for card data in a text, a piece after another; the pieces overlap.
fn guard_text(site: &Site, content: &Temporary) -> std::result::Result<(), NotTaken> {
    let mut file = content.open()?;
    let mut piece = Vec::new();
    loop {
        let most = u64::try_from(CHUNK_BYTES).unwrap_or(u64::MAX);
        let read = (&mut file).take(most).read_to_end(&mut piece).map_err(unavailable)?;
        let text = String::from_utf8_lossy(&piece).into_owned();
        let record = Map::from_iter([(String::from("file"), Value::String(text))]);
        if let Some(refusal) = site.guard_record("media", &record) {
            return Err(NotTaken::Refused(refusal));
        }
        if read == 0 {
            return Ok(());
        }
        piece.drain(..piece.len().saturating_sub(OVERLAP_BYTES));
    }
}

/// The file without what is nobody's business: itself, if there was nothing.
fn stripped(
    storage: &dyn FileStorage,
    content: Temporary,
    kind: &'static FileType,
) -> std::result::Result<Temporary, NotTaken> {
    let copy = storage.temporary()?;
    let mut input = BufReader::new(content.open()?);
    let mut output = BufWriter::new(copy.create()?);
    let changed = match strip::copy(kind, &mut input, &mut output) {
        Ok(changed) => changed,
        Err(error) if is_of_the_file(&error) => return Err(PictureError::Broken.into()),
        Err(error) => return Err(unavailable(error).into()),
    };
    output.flush().map_err(unavailable)?;
    Ok(if changed { copy } else { content })
}

fn is_of_the_file(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::InvalidData | io::ErrorKind::UnexpectedEof)
}

impl Site {
    /// Makes the sizes that an item lacks. Returns it as it is then, with its new files placed.
    pub async fn place_missing_sizes(
        self: &Arc<Self>,
        row: MediaRow,
        missing: Vec<PictureSize>,
    ) -> std::result::Result<(MediaRow, Placed), NotTaken> {
        let site = Arc::clone(self);
        self.on_worker(move || {
            let (picture, kind) = stored_picture(&site, &row)?;
            let forms = forms(&*site.library().storage, &picture, kind, &missing)?;
            let mut row = row;
            let mut sizes: Vec<SizedFile> = serde_json::from_str(&row.sizes).unwrap_or_default();
            let mut placed = Placed {
                storage: Arc::clone(&site.library().storage),
                file: row.file.clone(),
                mime_type: kind.mime_type,
                bytes: 0,
                measures: None,
                sizes: Vec::new(),
                files: Vec::new(),
                is_kept: false.into(),
            };
            for form in &forms {
                let name = file_name::sized(&row.file, form.measures);
                // Another size of the same measures has made it already.
                if placed.storage.put(form.content.path(), &name)? {
                    placed.files.push(MediaFileRow {
                        name,
                        post_id: row.post_id,
                        mime_type: kind.mime_type.to_owned(),
                        bytes: count(form.content.bytes()?),
                        tag: tag(&form.content)?,
                    });
                }
                sizes.push(form.describe(&row.file)?);
            }
            row.sizes = sizes_text(&sizes)?;
            Ok((row, placed))
        })
        .await
    }
}

/// The picture of an item, decoded.
pub fn stored_picture(
    site: &Site,
    row: &MediaRow,
) -> std::result::Result<(Picture, &'static FileType), NotTaken> {
    let kind = file_type::pictures().into_iter().find(|kind| kind.mime_type == row.mime_type);
    let kind = kind.ok_or(NotTaken::Type)?;
    let storage = &*site.library().storage;
    let missing = || NotTaken::Failed(Error::not_found("the file is deleted"));
    let mut stored = storage.open(&row.file)?.ok_or_else(missing)?;
    let content = storage.temporary()?;
    io::copy(&mut stored.content, &mut content.create()?).map_err(unavailable)?;
    let bytes_max = site.settings().media.picture_bytes;
    Ok((Picture::decode(content.open()?, kind, bytes_max)?, kind))
}
