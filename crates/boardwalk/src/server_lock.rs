//! One server per SQLite environment: a second one would not see the writes of the first until
//! later, and would answer with lists that are out of date.
//!
//! The lock is the kernel's, on a file beside the database, so that **it ends with the process,
//! however that ends**. The file itself stays. Commands do not take it, except those that need the
//! environment for themselves: they read what is on disk, and a server sees their writes within a
//! second. On PostgreSQL nothing is locked, since servers share a database there.

use std::fs::{File, TryLockError};
use std::io::{self, Read as _, Seek as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;

use db::Location;
use types::{Environment, Error, Result};

use crate::config::Config;
use crate::environment;

/// The longest process id in decimal, and some more.
const PROCESS_BYTES_MAX: u64 = 32;

/// Held for as long as this value lives.
#[derive(Debug)]
pub(crate) struct ServerLock {
    _file: Option<File>,
}

/// Takes the environment for this process, or says who has it.
pub(crate) fn take(config: &Config, environment: Environment) -> Result<ServerLock> {
    let Location::File(database) = environment::location(config, environment)? else {
        return Ok(ServerLock { _file: None });
    };
    environment::make_folder(&config.data)?;
    let path = database.with_extension("lock");
    let failed = |error: io::Error| {
        Error::unavailable(format!("cannot lock {}", path.display())).because(error)
    };
    let mut options = File::options();
    let mut file = options
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600)
        .open(&path)
        .map_err(failed)?;
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => {
            let holder = holder(&mut file);
            return Err(Error::conflict(format!(
                "another server{holder} is running on the {environment} environment in {}; stop it \
                 first, or use PostgreSQL, which several servers can share",
                config.data.display()
            )));
        }
        Err(TryLockError::Error(error)) if error.kind() == io::ErrorKind::Unsupported => {
            tracing::warn!("the file system has no locks: make sure that no other server runs");
        }
        Err(TryLockError::Error(error)) => return Err(failed(error)),
    }
    // For who finds the lock taken; nothing depends on it.
    let _ = file.set_len(0).and_then(|()| write!(file, "{}", std::process::id()));
    Ok(ServerLock { _file: Some(file) })
}

/// The process that the file names, in words.
fn holder(file: &mut File) -> String {
    let mut text = String::new();
    let read = file.rewind().and_then(|()| file.take(PROCESS_BYTES_MAX).read_to_string(&mut text));
    match (read, text.trim().parse::<u32>()) {
        (Ok(_), Ok(process)) => format!(" (process {process})"),
        _ => String::new(),
    }
}
