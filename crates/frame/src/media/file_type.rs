//! Which files the library takes: by their endings, **and by what is in them**. What a browser
//! might run is not among them.

/// A type of file.
#[derive(Debug, PartialEq, Eq)]
pub struct FileType {
    pub mime_type: &'static str,
    /// The first is the usual one.
    pub endings: &'static [&'static str],
    /// How the content begins.
    start: Start,
}

/// How contents are told apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Start {
    /// One of these at the beginning.
    With(&'static [&'static [u8]]),
    /// These at the place.
    At(usize, &'static [&'static [u8]]),
    /// The first four bytes, four that say anything, and these.
    Riff(&'static [u8; 4]),
    /// Text in UTF-8.
    Text,
}

/// Bytes of the beginning that are looked at.
pub const START_BYTES: usize = 4096;
const ZIP: Start = Start::With(&[b"PK\x03\x04"]);
const COMPOUND: Start = Start::With(&[b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"]);
const OGG: Start = Start::With(&[b"OggS"]);

const fn file_type(
    mime_type: &'static str,
    endings: &'static [&'static str],
    start: Start,
) -> FileType {
    FileType { mime_type, endings, start }
}

pub static JPEG: FileType =
    file_type("image/jpeg", &["jpg", "jpeg", "jpe"], Start::With(&[b"\xff\xd8\xff"]));
pub static GIF: FileType = file_type("image/gif", &["gif"], Start::With(&[b"GIF87a", b"GIF89a"]));
pub static PNG: FileType = file_type("image/png", &["png"], Start::With(&[b"\x89PNG\r\n\x1a\n"]));
pub static WEBP: FileType = file_type("image/webp", &["webp"], Start::Riff(b"WEBP"));

/// What is no picture.
static OTHERS: &[FileType] = &[
    file_type("video/mp4", &["mp4", "m4v"], Start::At(4, &[b"ftyp"])),
    file_type("video/quicktime", &["mov", "qt"], Start::At(4, &[b"ftyp", b"moov", b"mdat"])),
    file_type("video/webm", &["webm"], Start::With(&[b"\x1a\x45\xdf\xa3"])),
    file_type("video/ogg", &["ogv"], OGG),
    file_type("video/avi", &["avi"], Start::Riff(b"AVI ")),
    file_type(
        "audio/mpeg",
        &["mp3"],
        Start::With(&[b"ID3", b"\xff\xfb", b"\xff\xf3", b"\xff\xf2"]),
    ),
    file_type("audio/mp4", &["m4a", "m4b"], Start::At(4, &[b"ftyp"])),
    file_type("audio/wav", &["wav"], Start::Riff(b"WAVE")),
    file_type("audio/ogg", &["ogg", "oga"], OGG),
    file_type("audio/flac", &["flac"], Start::With(&[b"fLaC"])),
    file_type("text/plain", &["txt", "asc"], Start::Text),
    file_type("text/csv", &["csv"], Start::Text),
    file_type("text/tab-separated-values", &["tsv"], Start::Text),
    file_type("application/pdf", &["pdf"], Start::With(&[b"%PDF-"])),
    file_type("application/rtf", &["rtf"], Start::With(&[b"{\\rtf"])),
    file_type("application/zip", &["zip"], ZIP),
    file_type("application/msword", &["doc"], COMPOUND),
    file_type("application/vnd.ms-excel", &["xls"], COMPOUND),
    file_type("application/vnd.ms-powerpoint", &["ppt"], COMPOUND),
    file_type(
        "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
        &["docx"],
        ZIP,
    ),
    file_type("application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", &["xlsx"], ZIP),
    file_type(
        "application/vnd.openxmlformats-officedocument.presentationml.presentation",
        &["pptx"],
        ZIP,
    ),
    file_type("application/vnd.oasis.opendocument.text", &["odt"], ZIP),
    file_type("application/vnd.oasis.opendocument.spreadsheet", &["ods"], ZIP),
    file_type("application/vnd.oasis.opendocument.presentation", &["odp"], ZIP),
];

/// Fonts, which are no items of the library.
static FONTS: &[FileType] = &[
    file_type("font/woff2", &["woff2"], Start::With(&[b"wOF2"])),
    file_type("font/woff", &["woff"], Start::With(&[b"wOFF"])),
    file_type("font/ttf", &["ttf"], Start::With(&[b"\x00\x01\x00\x00", b"true"])),
    file_type("font/otf", &["otf"], Start::With(&[b"OTTO"])),
];

/// The type of a file of a font that is called so and begins so.
pub fn recognise_font(ending: &str, start: &[u8]) -> Option<&'static FileType> {
    let ending = ending.to_ascii_lowercase();
    let named = FONTS.iter().find(|one| one.endings.contains(&ending.as_str()))?;
    Some(named).filter(|one| one.begins(start))
}

/// The types of pictures.
pub fn pictures() -> [&'static FileType; 4] {
    [&JPEG, &GIF, &PNG, &WEBP]
}

/// All types that are taken.
pub fn all() -> impl Iterator<Item = &'static FileType> {
    pictures().into_iter().chain(OTHERS)
}

/// The type of a file that is called so and begins so. A picture under the name of another one is
/// what it is; anything else must be what its name says.
pub fn recognise(ending: &str, start: &[u8]) -> Option<&'static FileType> {
    let ending = ending.to_ascii_lowercase();
    let named = all().find(|one| one.endings.contains(&ending.as_str()))?;
    if named.is_picture() {
        return pictures().into_iter().find(|one| one.begins(start));
    }
    Some(named).filter(|one| one.begins(start))
}

impl FileType {
    pub fn is_picture(&'static self) -> bool {
        pictures().contains(&self)
    }

    /// `image`, `video`, `text` and so on.
    pub fn family(mime_type: &str) -> &str {
        mime_type.split('/').next().unwrap_or_default()
    }

    /// The ending that a file of this type keeps, or the usual one in place of a wrong one.
    pub fn ending_for<'a>(&self, ending: &'a str) -> std::borrow::Cow<'a, str> {
        if self.endings.contains(&ending.to_ascii_lowercase().as_str()) {
            return ending.into();
        }
        self.endings.first().copied().unwrap_or_default().to_owned().into()
    }

    fn begins(&self, start: &[u8]) -> bool {
        let begins_at = |place: usize, marks: &[&[u8]]| {
            let rest = start.get(place..).unwrap_or_default();
            marks.iter().any(|mark| rest.starts_with(mark))
        };
        match self.start {
            Start::With(marks) => begins_at(0, marks),
            Start::At(place, marks) => begins_at(place, marks),
            Start::Riff(mark) => start.starts_with(b"RIFF") && begins_at(8, &[mark]),
            Start::Text => is_text(start),
        }
    }
}

/// Whether bytes are text, of which the last character may be cut off.
fn is_text(bytes: &[u8]) -> bool {
    let text = match std::str::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) if error.error_len().is_none() => {
            let whole = bytes.get(..error.valid_up_to()).unwrap_or_default();
            std::str::from_utf8(whole).unwrap_or_default()
        }
        Err(_) => return false,
    };
    text.chars().all(|character| !character.is_control() || matches!(character, '\n' | '\r' | '\t'))
}

#[cfg(test)]
mod tests {
    use super::recognise;

    #[test]
    fn the_content_decides() {
        let png: &[u8] = b"\x89PNG\r\n\x1a\n....";
        for (ending, start, expected) in [
            ("png", png, Some("image/png")),
            ("PNG", png, Some("image/png")),
            ("jpg", png, Some("image/png")),
            ("txt", png, None),
            ("php", png, None),
            ("svg", b"<svg/>", None),
            ("html", b"<p>", None),
            ("png", b"just text", None),
            ("txt", b"just text", Some("text/plain")),
            ("txt", b"\xc3", Some("text/plain")),
            ("txt", b"a\0b", None),
            ("csv", b"\xff\xfe", None),
            ("pdf", b"%PDF-1.7", Some("application/pdf")),
            ("pdf", b"<html>%PDF-", None),
            ("webp", b"RIFF....WEBPVP8 ", Some("image/webp")),
            ("wav", b"RIFF....WEBPVP8 ", None),
            ("mp4", b"....ftypisom", Some("video/mp4")),
            ("", png, None),
        ] {
            let found = recognise(ending, start).map(|one| one.mime_type);
            assert_eq!(found, expected, "{ending} {start:?}");
        }
    }
}
