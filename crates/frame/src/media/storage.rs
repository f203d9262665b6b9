//! Where the files of the library are. **An implementation never replaces a file**: a name that is
//! taken is refused, and a file appears whole or not at all.

use std::fmt::Debug;
use std::fs::File;
use std::io::{Read, Seek};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use types::{Error, Result};

/// A place for files. Names have the form of [`is_name`]. All of it blocks.
pub trait FileStorage: Send + Sync + Debug {
    /// Where it is, for people.
    fn place(&self) -> String;

    /// A new file of this machine to write into.
    fn temporary(&self) -> Result<Temporary>;

    /// Takes a finished file in under this name. False if the name is taken.
    fn put(&self, file: &Path, name: &str) -> Result<bool>;

    fn open(&self, name: &str) -> Result<Option<StoredFile>>;

    /// Deletes a file, if it is there.
    fn remove(&self, name: &str) -> Result<()>;

    /// Every file by its name, with the time when it was taken in.
    fn each(&self, visit: &mut dyn FnMut(&str, SystemTime) -> Result<()>) -> Result<()>;

    /// Forgets temporary files that a crash has left, from before this time.
    fn forget_temporaries(&self, before: SystemTime) -> Result<()>;
}

/// What can be read from any place in it.
pub trait ReadSeek: Read + Seek + Send {}

impl<T: Read + Seek + Send> ReadSeek for T {}

/// A file of the library.
pub struct StoredFile {
    pub content: Box<dyn ReadSeek>,
    pub bytes: u64,
}

impl Debug for StoredFile {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("StoredFile").field("bytes", &self.bytes).finish_non_exhaustive()
    }
}

/// A file that is gone when it is dropped.
#[derive(Debug)]
pub struct Temporary {
    path: PathBuf,
}

impl Temporary {
    /// Takes over a file that was made for this.
    pub fn at(path: PathBuf) -> Self {
        Self { path }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn create(&self) -> Result<File> {
        File::options().write(true).truncate(true).open(&self.path).map_err(unavailable)
    }

    pub fn open(&self) -> Result<File> {
        File::open(&self.path).map_err(unavailable)
    }

    pub fn bytes(&self) -> Result<u64> {
        Ok(std::fs::metadata(&self.path).map_err(unavailable)?.len())
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        // Whoever put it into the library may have moved it.
        let _ = std::fs::remove_file(&self.path);
    }
}

/// Whether a text can be the name of a file of the library: parts of letters, digits and `-_.`,
/// none of which begins with a dot.
pub fn is_name(name: &str) -> bool {
    let is_plain = |part: &str| {
        !part.is_empty()
            && !part.starts_with('.')
            && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte))
    };
    name.len() <= NAME_LENGTH_MAX && name.split('/').all(is_plain)
}

/// Bytes of a name with its folders.
pub const NAME_LENGTH_MAX: usize = 240;

pub(crate) fn unavailable(error: std::io::Error) -> Error {
    Error::unavailable("the media library cannot be used now").because(error)
}

/// The storage of a site that was given none.
#[derive(Debug)]
pub struct NoStorage;

impl NoStorage {
    fn refusal() -> Error {
        Error::unavailable("this site has no media library")
    }
}

impl FileStorage for NoStorage {
    fn place(&self) -> String {
        String::from("nowhere")
    }

    fn temporary(&self) -> Result<Temporary> {
        Err(Self::refusal())
    }

    fn put(&self, _: &Path, _: &str) -> Result<bool> {
        Err(Self::refusal())
    }

    fn open(&self, _: &str) -> Result<Option<StoredFile>> {
        Ok(None)
    }

    fn remove(&self, _: &str) -> Result<()> {
        Ok(())
    }

    fn each(&self, _: &mut dyn FnMut(&str, SystemTime) -> Result<()>) -> Result<()> {
        Ok(())
    }

    fn forget_temporaries(&self, _: SystemTime) -> Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::is_name;

    #[test]
    fn names_lead_nowhere_else() {
        for (name, fine) in [
            ("2026/11/anchor-blue_1.png", true),
            ("placeholder.webp", true),
            ("", false),
            ("/etc/passwd", false),
            ("../x.png", false),
            ("2026/../x.png", false),
            ("2026//x.png", false),
            ("2026/.x.png", false),
            (".incoming/1", false),
            ("a\\b.png", false),
            ("a b.png", false),
            ("ü.png", false),
            ("a\0.png", false),
        ] {
            assert_eq!(is_name(name), fine, "{name}");
        }
        assert!(!is_name(&"a".repeat(300)));
    }
}
