//! `boardwalk backup`, `boardwalk backups` and `boardwalk restore`.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use db::backup::{self, Summary};
use db::{Database, Location};
use onboarding::Platform;
use serde_json::json;
use server::backups::{self, Stored, Target};
use types::{Clock, Environment, Error, Result};

use crate::args::{Common, Restore};
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
    let partial = Temporary(PathBuf::from(partial));
    let (target, now) = (partial.0.clone(), platform.clock.now());
    let library = environment::library(config, environment)?;
    let summary = platform.store.read_blocking(move |conn| {
        backups::write_file(conn, (environment, now), &library, &target)
    })?;
    let failed =
        |error| Error::unavailable(format!("cannot write {}", file.display())).because(error);
    backups::check(File::open(&partial.0).map_err(failed)?, &summary.checksum)?;
    // Unlike a rename, a link replaces nothing.
    fs::hard_link(&partial.0, file).map_err(failed)?;
    let text = format!(
        "Backed up {} rows and {} files of {environment} to {}, and read them back.\nThe backup \
         does not contain the master key: keep a copy of the key in a separate place.",
        summary.rows_total(),
        summary.files,
        file.display()
    );
    out.result(&object(&summary, &file.display().to_string()), &text);
    Ok(())
}

/// A file that is gone when the command ends, however it ends.
struct Temporary(PathBuf);

impl Drop for Temporary {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

/// Lists what the schedule keeps.
pub(crate) fn list(config: &Config, common: &Common, out: &Printer) -> Result<()> {
    let environments = match common.environment {
        Some(environment) => vec![environment],
        None => Environment::ALL.to_vec(),
    };
    let mut rows = Vec::new();
    for environment in environments {
        let stored = backups::list(&config.backup, environment)?.ok_or_else(off)?;
        rows.extend(stored.into_iter().map(|Stored { taken, name, bytes }| {
            let taken = taken.to_string();
            let object =
                json!({ "environment": environment, "taken": taken, "name": name, "bytes": bytes });
            (object, vec![environment.to_string(), taken, name, bytes.to_string()])
        }));
    }
    out.list("backups", &["Environment", "Taken", "Name", "Bytes"], rows);
    Ok(())
}

fn off() -> Error {
    Error::invalid("there are no scheduled backups; set backup.to to where they are")
}

/// The backup that is asked for, as a file, and what it is called. One that lies elsewhere is
/// copied into the data folder, and is gone with the last value.
fn find(config: &Config, args: &Restore, environment: Environment) -> Result<Found> {
    let settings = &config.backup;
    let (target, name) = if let Some(file) = &args.file {
        match Target::of_address(&file.to_string_lossy(), settings)? {
            Some(found) => found,
            None => return Ok((file.clone(), file.display().to_string(), None)),
        }
    } else {
        let target = Target::of(settings)?.ok_or_else(off)?;
        let newest = backups::list(settings, environment)?.and_then(|mut all| all.pop());
        let none = || Error::not_found(format!("there is no backup of {environment} in {target}"));
        let name = newest.ok_or_else(none)?.name;
        (target, name)
    };
    let file = config.data.join(format!("{name}.fetched-{}", std::process::id()));
    let temporary = Temporary(file.clone());
    backups::fetch(&target, &name, &file)?;
    Ok((file, format!("{target}/{name}"), Some(temporary)))
}

type Found = (PathBuf, String, Option<Temporary>);

pub(crate) fn restore(
    config: &Config,
    common: &Common,
    args: &Restore,
    out: &Printer,
) -> Result<()> {
    let environment = common.environment();
    environment::make_folder(&config.data)?;
    let keys = environment::existing_master_keys(&config.data)?;
    let _lock = server_lock::take(config, environment)?;
    let location = environment::location(config, environment)?;
    let (file, name, _temporary) = find(config, args, environment)?;
    let is_new = matches!(&location, Location::File(path) if fs::symlink_metadata(path).is_err());
    let restored = Database::open(&location, schema::MIGRATIONS).and_then(|store| {
        let summary = backup::restore(
            &store,
            &file,
            environment,
            &mut environment::library(config, environment)?,
        )?;
        Ok((store, summary))
    });
    let (store, summary) = restored.inspect_err(|_| {
        if let (true, Location::File(path)) = (is_new, &location) {
            remove_database(path);
        }
    })?;
    // The platform refuses to start on data that another key sealed.
    Platform::with_keys(environment, store, keys, config.onboarding, Clock::System).map_err(
        |error| Error::invalid("all data was restored, but it cannot be read yet").because(error),
    )?;
    let text = format!(
        "Restored {} rows and {} files of {environment} from {name}.",
        summary.rows_total(),
        summary.files,
    );
    out.result(&object(&summary, &name), &text);
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

fn object(summary: &Summary, file: &str) -> serde_json::Value {
    json!({
        "file": file,
        "environment": summary.environment,
        "created": summary.created.to_string(),
        "rows": summary.rows,
        "rowsTotal": summary.rows_total(),
        "files": summary.files,
        "checksum": summary.checksum,
    })
}
