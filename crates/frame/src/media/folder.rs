//! The library in a folder of this machine. Several servers of one site share the folder.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use types::{Error, Result};

use super::storage::{FileStorage, StoredFile, Temporary, is_name, unavailable};

/// Holds what is being received; no name begins with a dot.
const INCOMING: &str = ".incoming";
/// Folders within each other that are looked into.
const DEPTH_MAX: usize = 8;
const ATTEMPTS_MAX: u32 = 100;

/// A folder with the files of a library.
#[derive(Debug)]
pub struct FolderStorage {
    root: PathBuf,
    made: AtomicU64,
}

impl FolderStorage {
    /// Nothing is made before there is something to keep.
    pub fn new(root: PathBuf) -> Self {
        Self { root, made: AtomicU64::new(0) }
    }

    fn path(&self, name: &str) -> Result<PathBuf> {
        if is_name(name) {
            return Ok(self.root.join(name));
        }
        Err(Error::invalid("this is no name of a file"))
    }

    fn visit(
        &self,
        (folder, depth): (&Path, usize),
        visit: &mut dyn FnMut(&str, SystemTime) -> Result<()>,
    ) -> Result<()> {
        let entries = match fs::read_dir(folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(unavailable(error)),
        };
        for entry in entries {
            let path = entry.map_err(unavailable)?.path();
            let Ok(found) = fs::symlink_metadata(&path) else { continue };
            let name = path.strip_prefix(&self.root).ok().and_then(Path::to_str);
            let Some(name) = name.filter(|name| is_name(name)) else { continue };
            if found.is_dir() && depth < DEPTH_MAX {
                self.visit((&path, depth + 1), visit)?;
            } else if found.is_file() {
                visit(name, found.modified().unwrap_or(UNIX_EPOCH))?;
            }
        }
        Ok(())
    }
}

fn make_folder(folder: &Path) -> Result<()> {
    fs::DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(unavailable)
}

impl FileStorage for FolderStorage {
    fn place(&self) -> String {
        self.root.display().to_string()
    }

    fn temporary(&self) -> Result<Temporary> {
        let folder = self.root.join(INCOMING);
        make_folder(&folder)?;
        for _ in 0..ATTEMPTS_MAX {
            let number = self.made.fetch_add(1, Ordering::Relaxed);
            let path = folder.join(format!("{}-{number}", std::process::id()));
            let made = File::options().write(true).create_new(true).mode(0o600).open(&path);
            match made {
                Ok(_) => return Ok(Temporary::at(path)),
                // A process of the same number left it behind, or has it on another machine.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(unavailable(error)),
            }
        }
        Err(Error::unavailable("no temporary file can be made"))
    }

    fn put(&self, file: &Path, name: &str) -> Result<bool> {
        let target = self.path(name)?;
        let folder = target.parent().unwrap_or(&self.root);
        make_folder(folder)?;
        File::open(file).and_then(|file| file.sync_all()).map_err(unavailable)?;
        // Unlike a rename, a link replaces nothing.
        match fs::hard_link(file, &target) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Ok(false),
            Err(error) => return Err(unavailable(error)),
        }
        File::open(folder).and_then(|folder| folder.sync_all()).map_err(unavailable)?;
        Ok(true)
    }

    fn open(&self, name: &str) -> Result<Option<StoredFile>> {
        let Ok(path) = self.path(name) else { return Ok(None) };
        let file = match File::open(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(unavailable(error)),
        };
        let found = file.metadata().map_err(unavailable)?;
        let bytes = found.len();
        Ok(found.is_file().then(|| StoredFile { content: Box::new(file), bytes }))
    }

    fn remove(&self, name: &str) -> Result<()> {
        match fs::remove_file(self.path(name)?) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(unavailable(error)),
            _ => Ok(()),
        }
    }

    fn each(&self, visit: &mut dyn FnMut(&str, SystemTime) -> Result<()>) -> Result<()> {
        self.visit((&self.root, 0), visit)
    }

    fn forget_temporaries(&self, before: SystemTime) -> Result<()> {
        let Ok(entries) = fs::read_dir(self.root.join(INCOMING)) else { return Ok(()) };
        for entry in entries.flatten() {
            let modified = entry.metadata().and_then(|found| found.modified());
            if modified.is_ok_and(|modified| modified < before) {
                let _ = fs::remove_file(entry.path());
            }
        }
        Ok(())
    }
}
