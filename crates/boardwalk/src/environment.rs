//! Opens an environment: data folder, master key, database, platform.

use std::fs;
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use db::{Database, Location};
use frame::library::LibraryFiles;
use onboarding::Platform;
use onboarding::encryption::MasterKeys;
use types::{Clock, Environment, Error, Result};
use vault::MasterKey;

use crate::config::{Config, MASTER_KEY_VARIABLE, NEXT_MASTER_KEY_VARIABLE};

const KEY_FILE: &str = "master.key";
/// The key that is to follow, and the one that was followed.
const NEXT_KEY_FILE: &str = "master.key.next";
const PREVIOUS_KEY_FILE: &str = "master.key.previous";
/// The low bits of a file's mode that are about others than its owner.
const GROUP_AND_OTHERS_BITS: u32 = 6;

/// Opens the environment that the configuration describes, making what is missing.
pub(crate) fn open(config: &Config, environment: Environment) -> Result<Platform> {
    // Whatever a command does with the environment, it knows the options of all crates.
    frame::options::declare(server::OPTIONS);
    make_folder(&config.data)?;
    let location = location(config, environment)?;
    let main = match find_master_key(&config.data)? {
        Some(key) => key,
        None => make_key(&config.data, &location)?,
    };
    let keys = MasterKeys { main, next: next_master_key(&config.data)? };
    let store = Database::open(&location, schema::MIGRATIONS)?;
    Platform::with_keys(environment, store, keys, config.onboarding, Clock::System)
}

/// Whether an environment was ever used, as far as that can be told without opening it.
pub(crate) fn exists(config: &Config, environment: Environment) -> Result<bool> {
    Ok(match location(config, environment)? {
        Location::File(path) => fs::metadata(path).is_ok(),
        Location::Postgres { .. } => true,
    })
}

/// Opens an environment that must be there already: a mistyped folder shall not become a new,
/// empty installation.
pub(crate) fn open_existing(config: &Config, environment: Environment) -> Result<Platform> {
    if !exists(config, environment)? {
        return Err(Error::not_found(format!(
            "there is no {environment} environment in {}; choose another folder with --data, or \
             create one with `boardwalk serve` or `boardwalk iso create`",
            config.data.display()
        )));
    }
    open(config, environment)
}

pub(crate) fn location(config: &Config, environment: Environment) -> Result<Location> {
    let database = &config.database;
    let location =
        Location::parse(database.url.as_deref(), &config.data, environment, database.connections)?;
    match &database.replicas {
        Some(replicas) => location.with_replicas(replicas),
        None => Ok(location),
    }
}

/// Only the owner may look into the data folder.
pub(crate) fn make_folder(data: &Path) -> Result<()> {
    fs::DirBuilder::new().recursive(true).mode(0o700).create(data).map_err(|error| {
        let message = format!("cannot create the data folder {}", data.display());
        Error::invalid(message).because(error)
    })
}

/// The files of the media library of an environment, for backups.
pub(crate) fn library(config: &Config, environment: Environment) -> Result<LibraryFiles> {
    server::storage(&config.server, environment).map(LibraryFiles::new)
}

pub(crate) fn key_file(data: &Path) -> PathBuf {
    data.join(KEY_FILE)
}

/// The master key, where making a new one would be a mistake.
pub(crate) fn existing_master_key(data: &Path) -> Result<MasterKey> {
    find_master_key(data)?.ok_or_else(|| {
        Error::invalid(format!(
            "the master key is missing; put the key that the data was encrypted with into {} \
             (mode 0600) or {MASTER_KEY_VARIABLE}",
            key_file(data).display()
        ))
    })
}

/// The same with the one that is to follow, if there is one.
pub(crate) fn existing_master_keys(data: &Path) -> Result<MasterKeys> {
    Ok(MasterKeys { main: existing_master_key(data)?, next: next_master_key(data)? })
}

fn find_master_key(data: &Path) -> Result<Option<MasterKey>> {
    find_key(MASTER_KEY_VARIABLE, key_file(data))
}

/// The master key that is to follow, if there is one.
pub(crate) fn next_master_key(data: &Path) -> Result<Option<MasterKey>> {
    find_key(NEXT_MASTER_KEY_VARIABLE, data.join(NEXT_KEY_FILE))
}

/// Makes the master key that is to follow, unless there is one, and returns its file.
pub(crate) fn make_next_key(data: &Path) -> Result<PathBuf> {
    existing_master_key(data)?;
    let path = data.join(NEXT_KEY_FILE);
    if next_master_key(data)?.is_some() {
        return Err(Error::invalid(format!(
            "there is a new master key already; use it, or remove {} and \
             {NEXT_MASTER_KEY_VARIABLE}",
            path.display()
        )));
    }
    write_key(data, &path, &MasterKey::generate()?).map_err(|error| {
        let message = format!("cannot write the master key {}", path.display());
        Error::invalid(message).because(error)
    })?;
    Ok(path)
}

/// Makes the file of the key that followed the one of the master key, and returns where the old one
/// is now; nothing if the keys are not in files. **At every moment there is a master key.**
pub(crate) fn promote_next_key(data: &Path) -> Result<Option<PathBuf>> {
    let (main, next) = (key_file(data), data.join(NEXT_KEY_FILE));
    let in_variables = [MASTER_KEY_VARIABLE, NEXT_MASTER_KEY_VARIABLE]
        .iter()
        .any(|name| std::env::var_os(name).is_some());
    if in_variables || fs::metadata(&next).is_err() {
        return Ok(None);
    }
    let previous = data.join(PREVIOUS_KEY_FILE);
    let promote = || {
        match fs::remove_file(&previous) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        fs::hard_link(&main, &previous)?;
        fs::rename(&next, &main)?;
        fs::File::open(data)?.sync_all()
    };
    promote().map_err(|error| {
        let message = format!(
            "the master key was replaced, but {} cannot be renamed to {}; do so by hand",
            next.display(),
            main.display()
        );
        Error::unavailable(message).because(error)
    })?;
    Ok(Some(previous))
}

fn find_key(variable: &str, path: PathBuf) -> Result<Option<MasterKey>> {
    if let Some(text) = std::env::var_os(variable) {
        let text = text.to_str().unwrap_or_default();
        return MasterKey::from_text(text).map(Some).map_err(|error| {
            Error::invalid(format!("{variable} is not a master key")).because(error)
        });
    }
    match fs::read_to_string(&path) {
        Ok(text) => {
            check_private(&path, "the master key")?;
            MasterKey::from_text(text.trim()).map(Some).map_err(|error| {
                Error::invalid(format!("{} is not a master key", path.display())).because(error)
            })
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => {
            let message = format!("cannot read the master key {}", path.display());
            Err(Error::invalid(message).because(error))
        }
    }
}

/// Fails if others than its owner can do anything with a file.
pub(crate) fn check_private(path: &Path, what: &str) -> Result<()> {
    let mode = fs::metadata(path).map_or(0, |metadata| metadata.permissions().mode());
    if mode.trailing_zeros() >= GROUP_AND_OTHERS_BITS {
        return Ok(());
    }
    Err(Error::invalid(format!(
        "other users can read {what} {0}; run `chmod 600 {0}`",
        path.display()
    )))
}

/// Makes a key, unless there is a database that was made with another one.
fn make_key(data: &Path, location: &Location) -> Result<MasterKey> {
    let path = key_file(data);
    if let Some(database) = orphaned_database(data, location)? {
        // Another process that starts for the first time makes the key first, then the database.
        if let Some(key) = find_master_key(data)? {
            return Ok(key);
        }
        return Err(Error::invalid(format!(
            "the database {database} exists but its master key is missing; restore the key to {} \
             or {MASTER_KEY_VARIABLE}",
            path.display(),
        )));
    }
    let key = MasterKey::generate()?;
    match write_key(data, &path, &key) {
        Ok(()) => Ok(key),
        // Another process made it a moment ago.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => existing_master_key(data),
        Err(error) => {
            let message = format!("cannot write the master key {}", path.display());
            Err(Error::invalid(message).because(error))
        }
    }
}

/// A database with data that only the missing key can open.
fn orphaned_database(data: &Path, location: &Location) -> Result<Option<String>> {
    if let Location::Postgres { schema, .. } = location {
        let isos =
            Database::open(location, schema::MIGRATIONS)?.read_blocking(site_rows::iso::list)?;
        return Ok((!isos.is_empty()).then(|| format!("schema {schema}")));
    }
    let files = Environment::ALL.map(|environment| data.join(format!("{environment}.db")));
    let found = files.into_iter().find(|file| fs::metadata(file).is_ok());
    Ok(found.map(|file| file.display().to_string()))
}

/// The file appears whole or not at all, so that nobody reads half a key, and stays after a loss of
/// power: without it the data is lost.
fn write_key(data: &Path, path: &Path, key: &MasterKey) -> io::Result<()> {
    let partial = data.join(format!("{KEY_FILE}.{}", std::process::id()));
    let mut options = fs::OpenOptions::new();
    let mut file = options.write(true).create(true).truncate(true).mode(0o600).open(&partial)?;
    writeln!(file, "{}", key.to_text().expose())?;
    file.sync_all()?;
    let linked = fs::hard_link(&partial, path);
    fs::remove_file(&partial)?;
    fs::File::open(data)?.sync_all()?;
    linked
}
