//! `boardwalk encryption`: new data keys, a new master key, and how far that is.

use std::thread;

use onboarding::Platform;
use onboarding::encryption::{KeyStatus, SETTLED};
use serde_json::json;
use server::data_keys::{self, Rotation, Wanted};
use types::{Environment, Error, IsoId, Result};
use vault::Fingerprint;

use crate::args::{Common, Encryption};
use crate::config::{Config, NEXT_MASTER_KEY_VARIABLE};
use crate::environment;
use crate::output::Printer;
use crate::progress::{Bar, Unit};

pub(crate) fn encryption(
    config: &Config,
    common: &Common,
    command: Encryption,
    out: &Printer,
) -> Result<()> {
    match command {
        Encryption::Status => status(config, common, out),
        Encryption::RotateDataKeys { iso, site } => {
            let wanted = match iso {
                Some(iso) => Wanted::Iso(IsoId::new(iso)),
                None if site => Wanted::Site,
                None => Wanted::All,
            };
            let platform = environment::open_existing(config, common.environment())?;
            let job_id = data_keys::rotate(&platform, wanted)?;
            let text = format!(
                "Queued. A server of {0} replaces the data keys and encrypts the data again; \
                 `boardwalk --environment {0} encryption status` shows how far it is.",
                common.environment()
            );
            out.result(&json!({ "jobId": job_id }), &text);
            Ok(())
        }
        Encryption::NewMasterKey => {
            let path = environment::make_next_key(&config.data)?;
            let text = format!(
                "Created {0}. Keep a copy of it in a separate place, put it into the data folder \
                 of every server as {0} (mode 0600), and run `boardwalk encryption \
                 rotate-master-key`.",
                path.display()
            );
            out.result(&json!({ "file": path.display().to_string() }), &text);
            Ok(())
        }
        Encryption::RotateMasterKey => rotate_master_key(config, out),
    }
}

fn status(config: &Config, common: &Common, out: &Printer) -> Result<()> {
    let environments = match common.environment {
        Some(environment) => vec![environment],
        None => existing(config)?,
    };
    let mut rows = Vec::new();
    for environment in environments {
        let platform = environment::open_existing(config, environment)?;
        let keys = platform.key_status()?;
        let rotation = platform.store.read_blocking(Rotation::read)?;
        let object = json!({ "environment": environment, "keys": keys, "rotation": rotation });
        let KeyStatus { master_key, next_master_key, site_key_version, iso_key_versions, .. } =
            keys;
        let isos = iso_key_versions.map_or_else(
            || String::from("none"),
            |(low, high)| if low == high { low.to_string() } else { format!("{low} to {high}") },
        );
        let master = match next_master_key {
            None => master_key,
            Some(next) => format!("{master_key}, to be replaced by {next}"),
        };
        let shown = rotation.map_or_else(|| String::from("none"), |rotation| shown(&rotation));
        let cells =
            vec![environment.to_string(), master, site_key_version.to_string(), isos, shown];
        rows.push((object, cells));
    }
    let titles = ["Environment", "Master key", "Site key version", "ISO key versions", "Rotation"];
    out.list("environments", &titles, rows);
    Ok(())
}

fn shown(rotation: &Rotation) -> String {
    let Rotation { state, done, total, resealed, unreadable, error, .. } = rotation;
    let mut text = format!("{state}, {done} of {total}, {resealed} values encrypted again");
    if *unreadable > 0 {
        text = format!("{text}, {unreadable} unreadable");
    }
    match error {
        Some(error) => format!("{text}; {error}"),
        None => text,
    }
}

/// The environments of the installation.
fn existing(config: &Config) -> Result<Vec<Environment>> {
    let mut found = Vec::new();
    for environment in Environment::ALL {
        if environment::exists(config, environment)? {
            found.push(environment);
        }
    }
    if found.is_empty() {
        let message = format!("there is no installation in {}", config.data.display());
        return Err(Error::not_found(message));
    }
    Ok(found)
}

/// Replaces the master key of all environments, which share it. Goes on where it was cut off.
fn rotate_master_key(config: &Config, out: &Printer) -> Result<()> {
    let keys = environment::existing_master_keys(&config.data)?;
    let Some(next) = &keys.next else {
        return Err(Error::invalid(format!(
            "there is no new master key; create one with `boardwalk encryption new-master-key`, \
             or set {NEXT_MASTER_KEY_VARIABLE}"
        )));
    };
    // Servers look for the file once in a while, and would object to a key that they see a moment
    // later.
    thread::sleep(SETTLED);
    let mut objects = Vec::new();
    for environment in existing(config)? {
        let platform = environment::open_existing(config, environment)?;
        let by = Fingerprint::of(next, environment);
        let isos = replace(&platform, by)?;
        objects
            .push(json!({ "environment": environment, "masterKey": by.to_string(), "isos": isos }));
    }
    let swapped = environment::promote_next_key(&config.data)?;
    let text = match &swapped {
        Some(old) => format!(
            "The master key was replaced. {} is the new one; the old one is {}: keep it in a \
             separate place for backups that were taken before, and delete it here. On other \
             servers, rename master.key.next to master.key.",
            environment::key_file(&config.data).display(),
            old.display()
        ),
        None => String::from(
            "The master key was replaced. Give the new one to every server as its only master \
             key; keep the old one in a separate place for backups that were taken before.",
        ),
    };
    let previous = swapped.map(|path| path.display().to_string());
    out.result(&json!({ "environments": objects, "previousKeyFile": previous }), &text);
    Ok(())
}

/// Returns the number of ISOs whose data keys were looked at.
fn replace(platform: &Platform, by: Fingerprint) -> Result<usize> {
    let announced = platform.master_key_announce(by, data_keys::check_not_rotating)?;
    thread::sleep(SETTLED);
    if platform.master_key_is_missing(&announced)? {
        return Err(Error::invalid(format!(
            "a server of {} does not have the new master key yet; put it into its data folder as \
             master.key.next, or set {NEXT_MASTER_KEY_VARIABLE}, and run this again",
            platform.environment
        )));
    }
    let mut wrapped = 0;
    for is_last in [false, true] {
        let all = platform.iso_count()?;
        let (mut bar, mut after, mut done) = (Bar::new(), String::new(), 0);
        while let Some((last, count)) = platform.master_key_wrap_some(&announced, &after)? {
            (after, done) = (last, done + count);
            let count = |count: i64| u64::try_from(count).unwrap_or_default();
            let shown = u64::try_from(done).unwrap_or_default();
            bar.show("Data keys", Unit::Records, shown, count(all));
        }
        wrapped = done;
        if !is_last {
            platform.master_key_finish(&announced)?;
            // What servers wrapped before they noticed is wrapped again.
            thread::sleep(SETTLED);
        }
    }
    Ok(wrapped)
}
