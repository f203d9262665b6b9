//! Where backups are kept: a folder, or a bucket of an S3-compatible service.
//!
//! **What has a backup's name is whole**: it was read back to its end before it got the name in a
//! folder, and is deleted from a bucket if it does not read back. Files of other names are nobody's
//! business here.

use std::fmt;
use std::fs::{self, File};
use std::io::{self, Read};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use types::{Environment, Error, Result, Timestamp};

use super::BackupSettings;
use crate::bucket::{Bucket, Named};

const NAMED: Named = Named { place: "backup.to", service: "backup.s3" };
const ENDING: &str = ".backup";
const PARTIAL: &str = ".partial-";
const SECOND_US: i64 = 1_000_000;

/// A backup in a target.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Stored {
    pub taken: Timestamp,
    pub name: String,
    pub bytes: u64,
}

/// A place for backups.
#[derive(Clone, Debug)]
pub struct Target {
    place: Place,
}

#[derive(Clone, Debug)]
enum Place {
    Folder(PathBuf),
    Bucket(Bucket),
}

/// Reads a backup to its end, and fails unless it is the one that was written.
pub(super) type Check = Box<dyn FnOnce(Box<dyn Read + Send>) -> Result<()> + Send>;

impl Target {
    /// The place of scheduled backups; none where they are off.
    pub fn of(settings: &BackupSettings) -> Result<Option<Self>> {
        settings.place().map(|place| Self::at(place, settings)).transpose()
    }

    fn at(place: &str, settings: &BackupSettings) -> Result<Self> {
        let place = if Bucket::is_address(place) {
            Place::Bucket(Bucket::new(place, &settings.s3, NAMED)?)
        } else if Path::new(place).is_absolute() {
            Place::Folder(PathBuf::from(place))
        } else {
            return Err(Error::invalid(
                "backup.to must be the absolute path of a folder, or s3://bucket/prefix",
            ));
        };
        Ok(Self { place })
    }

    /// The bucket and the name of a backup that is written as `s3://bucket/prefix/name`.
    pub fn of_address(address: &str, settings: &BackupSettings) -> Result<Option<(Self, String)>> {
        if !Bucket::is_address(address) {
            return Ok(None);
        }
        let (place, name) = address.rsplit_once('/').unwrap_or((address, ""));
        Self::at(place, settings).map(|target| Some((target, name.to_owned())))
    }

    /// The backups of an environment, the oldest first.
    pub async fn list(&self, environment: Environment) -> Result<Vec<Stored>> {
        let files = match &self.place {
            Place::Folder(folder) => match files_in(folder) {
                Ok(files) => files,
                // It is made for the first backup.
                Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
                Err(error) => return Err(self.unusable("read").because(error)),
            },
            Place::Bucket(bucket) => bucket.list().await?,
        };
        let mut found: Vec<Stored> = files
            .into_iter()
            .filter_map(|(name, bytes)| {
                Some(Stored { taken: time_of(&name, environment)?, name, bytes })
            })
            .collect();
        found.sort();
        Ok(found)
    }

    /// Opens a backup, if there is one of that name. What it returns blocks while it is read; never
    /// read it on an async thread.
    pub(super) async fn open(&self, name: &str) -> Result<Option<Box<dyn Read + Send>>> {
        match &self.place {
            Place::Folder(folder) => match File::open(folder.join(name)) {
                Ok(file) => Ok(Some(Box::new(file))),
                Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
                Err(error) => Err(self.unusable("read").because(error)),
            },
            Place::Bucket(bucket) => match bucket.open(name).await? {
                Some(object) => Ok(Some(Box::new(object))),
                None => Ok(None),
            },
        }
    }

    /// Where a backup is written first. On its way to a bucket it is a file as well, so that a slow
    /// network does not keep a snapshot of the database open.
    pub(super) fn work_folder<'a>(&'a self, usual: &'a Path) -> Result<&'a Path> {
        let Place::Folder(folder) = &self.place else { return Ok(usual) };
        // The folder above is not made: it may be a disk that is not there.
        match fs::DirBuilder::new().mode(0o700).create(folder) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                Err(self.unusable("create").because(error))
            }
            _ => Ok(folder),
        }
    }

    /// Takes a file in under the name, if what was stored passes the check.
    pub(super) async fn take_in(&self, file: &Path, name: &str, check: Check) -> Result<()> {
        match &self.place {
            Place::Folder(folder) => {
                let written = File::open(file);
                let written = written.map_err(|error| self.unusable("read").because(error))?;
                blocking(move || check(Box::new(written))).await?;
                // Unlike a rename, a link replaces nothing.
                fs::hard_link(file, folder.join(name))
                    .and_then(|()| File::open(folder)?.sync_all())
                    .map_err(|error| self.unusable("write to").because(error))
            }
            Place::Bucket(bucket) => {
                bucket.upload(file, name).await?;
                let checked = self.check_stored(name, check).await;
                if checked.is_err() {
                    // If that fails too, the next attempt knows the name.
                    let _ = bucket.remove(name).await;
                }
                checked
            }
        }
    }

    async fn check_stored(&self, name: &str, check: Check) -> Result<()> {
        let deleted =
            || Error::unavailable(format!("{name} is not in {self} although it was stored"));
        let stored = self.open(name).await?.ok_or_else(deleted)?;
        blocking(move || check(stored)).await
    }

    pub(super) async fn remove(&self, name: &str) -> Result<()> {
        match &self.place {
            Place::Folder(folder) => fs::remove_file(folder.join(name))
                .map_err(|error| self.unusable("delete from").because(error)),
            Place::Bucket(bucket) => bucket.remove(name).await,
        }
    }

    fn unusable(&self, what: &str) -> Error {
        Error::unavailable(format!("cannot {what} the backup folder {self}"))
    }
}

impl fmt::Display for Target {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.place {
            Place::Folder(folder) => write!(formatter, "{}", folder.display()),
            Place::Bucket(bucket) => write!(formatter, "{bucket}"),
        }
    }
}

/// Work that waits for a disk or a network, beside the async threads.
pub(super) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T> + Send + 'static,
) -> Result<T> {
    let done = tokio::task::spawn_blocking(work).await;
    done.map_err(|error| Error::internal("the work on a backup broke off").because(error))?
}

fn files_in(folder: &Path) -> io::Result<Vec<(String, u64)>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if let Ok(name) = entry.file_name().into_string() {
            found.push((name, entry.metadata()?.len()));
        }
    }
    Ok(found)
}

/// `production-2026-11-15T04-00-00Z.backup`: names sort by time, and have no colons.
pub(super) fn name_of(environment: Environment, time: Timestamp) -> String {
    let micros = time.as_micros() - time.as_micros().rem_euclid(SECOND_US);
    let time = Timestamp::from_micros(micros).to_string().replace(':', "-");
    format!("{environment}-{time}{ENDING}")
}

fn time_of(name: &str, environment: Environment) -> Option<Timestamp> {
    let time = name.strip_prefix(environment.name())?.strip_prefix('-')?.strip_suffix(ENDING)?;
    let (day, clock) = time.split_once('T')?;
    Timestamp::parse(&format!("{day}T{}", clock.replace('-', ":")))
}

/// A file that is gone when the work on it ends, however it ends.
#[derive(Debug)]
pub(super) struct WorkFile(PathBuf);

impl WorkFile {
    pub(super) fn new(folder: &Path, name: &str) -> Self {
        Self(folder.join(format!("{name}{PARTIAL}{}", std::process::id())))
    }

    pub(super) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for WorkFile {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

/// Removes what a server left behind that was stopped in the middle.
pub(super) fn remove_partial(folder: &Path, environment: Environment) -> io::Result<()> {
    for (name, _) in files_in(folder)? {
        let whole = name.rsplit_once(PARTIAL).map(|(whole, _)| whole);
        if whole.is_some_and(|name| time_of(name, environment).is_some()) {
            fs::remove_file(folder.join(name))?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_the_time_and_whose_they_are() {
        let time = Timestamp::parse("2026-11-15T04:05:06.789Z").unwrap();
        let name = name_of(Environment::Production, time);
        assert_eq!(name, "production-2026-11-15T04-05-06Z.backup");
        let told = time_of(&name, Environment::Production).unwrap();
        assert_eq!(told.to_string(), "2026-11-15T04:05:06Z");
        assert!(time_of(&name, Environment::Sandbox).is_none());
        assert!(time_of("production-notes.backup", Environment::Production).is_none());
    }

    #[test]
    fn a_place_is_a_folder_or_a_bucket() {
        let mut settings = BackupSettings::default();
        assert!(Target::of(&settings).unwrap().is_none());
        let check = |settings: &BackupSettings, to: &str, complaint: &str| {
            let settings = BackupSettings { to: Some(to.to_owned()), ..settings.clone() };
            match Target::of(&settings) {
                Ok(target) => {
                    assert_eq!((target.unwrap().to_string().as_str(), ""), (to, complaint));
                }
                Err(error) => {
                    assert!(
                        !complaint.is_empty() && error.to_string().contains(complaint),
                        "{error}"
                    );
                }
            }
        };
        check(&settings, "/var/backups", "");
        check(&settings, "backups", "absolute");
        check(&settings, "s3://", "bucket");
        check(&settings, "s3://kept/here", "access_key_id");
        settings.s3.access_key_id = Some(String::from("id"));
        settings.s3.secret_access_key = Some(types::Secret::new(String::from("secret")));
        check(&settings, "s3://kept/here", "");
        settings.s3.endpoint = Some(String::from("http://minio.example:9000"));
        check(&settings, "s3://kept/here", "plain text");
        settings.s3.endpoint = Some(String::from("http://127.0.0.1:9000"));
        check(&settings, "s3://kept", "");
        settings.s3.endpoint = Some(String::from("minio"));
        check(&settings, "s3://kept", "backup.s3.endpoint");
    }
}
