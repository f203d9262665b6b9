//! `boardwalk backup` and `boardwalk restore`.

use std::fs::{self, File};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use db::backup::{self, Summary};
use db::{Database, Location};
use onboarding::Platform;
use serde_json::json;
use types::{Clock, Error, Result};

use crate::args::Common;
use crate::config::Config;
use crate::output::Printer;
use crate::{environment, server_lock};

/// Writes beside the final name first, so that a file of that name is always a whole backup.
pub(crate) fn backup(config: &Config, common: &Common, file: &Path, out: &Printer) -> Result<()> {
    if fs::symlink_metadata(file).is_ok() {
        return Err(Error::invalid(format!(
            "{} already exists; choose another name or remove it",
            file.display()
        )));
    }
    let environment = common.environment();
    let platform = environment::open_existing(config, environment)?;
    let mut partial = PathBuf::from(file).into_os_string();
    partial.push(format!(".partial-{}", std::process::id()));
    let partial = PathBuf::from(partial);
    let (target, now) = (partial.clone(), platform.clock.now());
    let wanted = file.to_owned();
    let library = environment::library(config, environment);
    let written = platform.store.read_blocking(move |conn| {
        let mut out = create(&target).map_err(|error| cannot_write(&wanted, error))?;
        let summary =
            backup::write(conn, schema::MIGRATIONS, environment, now, &library, &mut out)?;
        out.sync_all().map_err(|error| cannot_write(&target, error))?;
        Ok(summary)
    });
    let renamed = written.and_then(|summary| {
        // Unlike a rename, a link replaces nothing.
        fs::hard_link(&partial, file).map_err(|error| cannot_write(file, error))?;
        let _ = fs::remove_file(&partial);
        Ok(summary)
    });
    match renamed {
        Ok(summary) => {
            let text = format!(
                "Backed up {} rows and {} files of {environment} to {}.\nThe backup does not \
                 contain the master key: keep a copy of the key in a separate place.",
                summary.rows_total(),
                summary.files,
                file.display()
            );
            out.result(&object(&summary, file), &text);
            Ok(())
        }
        Err(error) => {
            let _ = fs::remove_file(&partial);
            Err(error)
        }
    }
}

/// A new file for the owner only; never one that somebody put there.
fn create(path: &Path) -> std::io::Result<File> {
    let _ = fs::remove_file(path);
    File::options().write(true).create_new(true).mode(0o600).open(path)
}

fn cannot_write(path: &Path, error: std::io::Error) -> Error {
    Error::unavailable(format!("cannot write {}", path.display())).because(error)
}

pub(crate) fn restore(config: &Config, common: &Common, file: &Path, out: &Printer) -> Result<()> {
    let environment = common.environment();
    environment::make_folder(&config.data)?;
    let master = environment::existing_master_key(&config.data)?;
    let _lock = server_lock::take(config, environment)?;
    let location = environment::location(config, environment)?;
    let is_new = matches!(&location, Location::File(path) if fs::symlink_metadata(path).is_err());
    let restored = Database::open(&location, schema::MIGRATIONS).and_then(|store| {
        let summary = backup::restore(
            &store,
            file,
            environment,
            &mut environment::library(config, environment),
        )?;
        Ok((store, summary))
    });
    let (store, summary) = restored.inspect_err(|_| {
        if let (true, Location::File(path)) = (is_new, &location) {
            remove_database(path);
        }
    })?;
    // The platform refuses to start on data that another key sealed.
    Platform::new(environment, store, &master, config.onboarding, Clock::System).map_err(
        |error| Error::invalid("all data was restored, but it cannot be read yet").because(error),
    )?;
    let text = format!(
        "Restored {} rows and {} files of {environment} from {}.",
        summary.rows_total(),
        summary.files,
        file.display()
    );
    out.result(&object(&summary, file), &text);
    Ok(())
}

/// What was refused leaves no database behind that was not there before.
fn remove_database(path: &Path) {
    for end in ["", "-wal", "-shm"] {
        let mut file = path.as_os_str().to_owned();
        file.push(end);
        let _ = fs::remove_file(PathBuf::from(file));
    }
}

fn object(summary: &Summary, file: &Path) -> serde_json::Value {
    json!({
        "file": file.display().to_string(),
        "environment": summary.environment,
        "created": summary.created.to_string(),
        "rows": summary.rows,
        "rowsTotal": summary.rows_total(),
        "files": summary.files,
        "checksum": summary.checksum,
    })
}
