//! `boardwalk doctor`: checks the installation and says what to fix. **A check makes nothing.**

use std::fs;
use std::net::IpAddr;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use db::Location;
use db::integrity::{Depth, Report};
use onboarding::Platform;
use serde_json::json;
use server::backups::{self, LastBackup};
use server::tls::{self, Validity};
use site_rows::media;
use site_rows::user::{self, UserFilter};
use types::{Clock, Environment, Error, Result};
use url::Host;

use crate::args::Common;
use crate::config::{CERTIFICATES_FOLDER, Config, MASTER_KEY_VARIABLE};
use crate::environment;
use crate::output::Printer;

/// The bits of a file's mode that let others than its owner do something with it.
const GROUP_AND_OTHERS: u32 = 0o077;
/// The same for files that a group may read, such as a certificate's key.
const GROUP_WRITE_AND_OTHERS: u32 = 0o027;

/// A certificate that somebody else renews should have been renewed by then.
const CERTIFICATE_SOON: Duration = Duration::from_hours(14 * 24);

/// Files that are looked for at once.
const FILES_AT_ONCE: i64 = 500;

struct Finding {
    what: String,
    state: State,
    detail: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Fine,
    /// Works, but not as most installations want it.
    Warning,
    Problem,
}

impl State {
    fn name(self) -> &'static str {
        match self {
            Self::Fine => "ok",
            Self::Warning => "warning",
            Self::Problem => "problem",
        }
    }
}

impl Finding {
    fn new(what: impl Into<String>, state: State, detail: impl Into<String>) -> Self {
        Self { what: what.into(), state, detail: detail.into() }
    }

    /// Fine or a problem.
    fn of(what: impl Into<String>, outcome: std::result::Result<String, String>) -> Self {
        match outcome {
            Ok(detail) => Self::new(what, State::Fine, detail),
            Err(detail) => Self::new(what, State::Problem, detail),
        }
    }
}

pub(crate) fn doctor(config: &Config, common: &Common, full: bool, out: &Printer) -> Result<()> {
    let depth = if full { Depth::Full } else { Depth::Quick };
    let mut findings = vec![check_folder(config), check_files(config, common), check_key(config)];
    let environments = match common.environment {
        Some(environment) => vec![environment],
        None => Environment::ALL.to_vec(),
    };
    let mut in_production = false;
    for environment in environments {
        let (finding, is_used) = check_database(config, environment, depth);
        in_production |= is_used && environment == Environment::Production;
        findings.push(finding);
        findings.extend(check_library(config, environment));
        findings.extend(check_backups(config, environment));
    }
    findings.extend(check_schedule(config));
    findings.extend(check_certificate(config));
    findings.push(check_mail(config));
    findings.push(check_site(config, in_production));
    findings.push(check_portal());
    let failed = findings.iter().filter(|finding| finding.state == State::Problem).count();
    let rows = findings.into_iter().map(|Finding { what, state, detail }| {
        let object = json!({ "check": what, "state": state.name(), "detail": detail });
        (object, vec![what, state.name().to_owned(), detail])
    });
    out.list("checks", &["Check", "State", "Detail"], rows.collect());
    match failed {
        0 => Ok(()),
        1 => Err(Error::invalid("1 problem found; see the table")),
        count => Err(Error::invalid(format!("{count} problems found; see the table"))),
    }
}

fn check_folder(config: &Config) -> Finding {
    let outcome = match fs::metadata(&config.data) {
        Err(error) => Err(format!("cannot be read ({error}); start the server once to create it")),
        Ok(metadata) if metadata.permissions().mode() & GROUP_AND_OTHERS != 0 => {
            Err(format!("accessible to other users; run `chmod 700 {}`", config.data.display()))
        }
        Ok(_) => Ok(String::from("accessible only to its owner")),
    };
    Finding::of(format!("data folder {}", config.data.display()), outcome)
}

/// The folder keeps others out for as long as it is closed and nobody copies its files; so each
/// file must be closed too. The master key has a check of its own.
fn check_files(config: &Config, common: &Common) -> Finding {
    let folders = [config.data.clone(), config.data.join(CERTIFICATES_FOLDER)];
    let entries = folders.iter().flat_map(fs::read_dir).flatten().flatten();
    let own_check = (!is_key_in_variable()).then(|| environment::key_file(&config.data));
    let in_folder =
        entries.map(|entry| entry.path()).filter(|path| Some(path) != own_check.as_ref());
    let tls_key = config.server.tls.as_ref().and_then(|tls| tls.private_key.clone());
    let elsewhere = tls_key.into_iter().chain(common.config.clone());
    let mut open: Vec<PathBuf> = in_folder
        .filter(|path| lets_in(path, GROUP_AND_OTHERS))
        .chain(elsewhere.filter(|path| lets_in(path, GROUP_WRITE_AND_OTHERS)))
        .collect();
    open.sort();
    let outcome = if open.is_empty() {
        Ok(String::from("accessible only to their owner"))
    } else {
        let paths: Vec<String> = open.iter().map(|path| path.display().to_string()).collect();
        let paths = paths.join(" ");
        Err(format!("other users can read or change files; run `chmod 600 {paths}`"))
    };
    Finding::of("files", outcome)
}

/// Whether the files are there that the media library speaks of. An environment that does not
/// exist has none.
fn check_library(config: &Config, environment: Environment) -> Option<Finding> {
    let platform = environment::open_existing(config, environment).ok()?;
    let title = format!("media library of {environment}");
    let storage = match server::storage(&config.server, environment) {
        Ok(storage) => storage,
        Err(error) => return Some(Finding::of(title, Err(error.report()))),
    };
    let place = storage.place();
    let missing = platform.store.read_blocking(move |conn| {
        let (mut last, mut files, mut missing) = (String::new(), 0, 0);
        loop {
            let found = media::files_after(conn, &last, FILES_AT_ONCE)?;
            let Some(end) = found.last() else { return Ok((files, missing)) };
            last.clone_from(&end.name);
            for file in &found {
                files += 1;
                missing += i64::from(storage.open(&file.name)?.is_none());
            }
        }
    });
    let outcome = match missing {
        Ok((0, _)) => return None,
        Ok((files, 0)) => Ok(format!("{files} files, all there")),
        Ok((files, missing)) => Err(format!(
            "{missing} of {files} files are missing in {place}; restore them from a backup"
        )),
        Err(error) => Err(error.report()),
    };
    Some(Finding::of(title, outcome))
}

fn lets_in(path: &Path, bits: u32) -> bool {
    fs::metadata(path)
        .is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & bits != 0)
}

fn is_key_in_variable() -> bool {
    std::env::var_os(MASTER_KEY_VARIABLE).is_some()
}

fn check_key(config: &Config) -> Finding {
    let known = environment::key_file(&config.data);
    let outcome = if !is_key_in_variable() && fs::metadata(&known).is_err() {
        Err(format!("{} does not exist; start the server once to create it", known.display()))
    } else {
        match environment::existing_master_key(&config.data) {
            Ok(_) if is_key_in_variable() => {
                Ok(format!("taken from {MASTER_KEY_VARIABLE}; keep a copy elsewhere"))
            }
            Ok(_) => Ok(String::from("readable only by its owner; keep a copy elsewhere")),
            Err(error) => Err(error.report()),
        }
    };
    Finding::of("master key", outcome)
}

/// Whether https can be served, and for how long. Nothing if a proxy does it.
fn check_certificate(config: &Config) -> Option<Finding> {
    let tls = config.server.tls.as_ref()?;
    let (now, renewing) = (Clock::System.now(), tls.acme.is_some());
    let (state, detail) = match tls::validity(tls) {
        Err(error) => (State::Problem, error.report()),
        Ok(None) => {
            let detail = "none issued yet; the log says why if the server runs";
            (State::Warning, String::from(detail))
        }
        Ok(Some(Validity { until, .. })) if until <= now => {
            (State::Problem, format!("expired {until}"))
        }
        Ok(Some(Validity { until, .. })) if !renewing && until.since(now) < CERTIFICATE_SOON => {
            (State::Warning, format!("expires {until}; renew the files"))
        }
        Ok(Some(Validity { until, .. })) => (State::Fine, format!("valid until {until}")),
    };
    Some(Finding::new("certificate", state, detail))
}

/// Whether the schedule keeps its promise. An environment that does not exist has no backups.
fn check_backups(config: &Config, environment: Environment) -> Option<Finding> {
    let what = format!("backups of {environment}");
    let platform = environment::open_existing(config, environment).ok()?;
    let last = platform.store.read_blocking(LastBackup::read);
    let stored = match backups::list(&config.backup, environment) {
        Ok(stored) => stored?,
        Err(error) => return Some(Finding::new(what, State::Problem, error.report())),
    };
    let last = match last {
        Ok(Some(last)) => last,
        Ok(None) => {
            let detail = "none was taken yet; start the server, and look for `a job failed` in \
                          the log";
            return Some(Finding::new(what, State::Warning, detail));
        }
        Err(error) => return Some(Finding::new(what, State::Problem, error.report())),
    };
    let (name, at, every) = (&last.name, last.at, config.backup.every);
    // A newer one may have been taken meanwhile; names sort by time.
    let (state, detail) = if !stored.iter().any(|stored| stored.name >= *name) {
        (State::Problem, format!("the last one, {name}, is not in its place any more"))
    } else if last.is_old(&config.backup, platform.clock.now()) {
        let detail = format!(
            "the last one is of {at}, although there should be one every {every}; look for `a job \
             failed` in the log"
        );
        (State::Warning, detail)
    } else {
        (State::Fine, format!("{} kept; the last one is of {at}", stored.len()))
    };
    Some(Finding::new(what, state, detail))
}

/// Says that there is no schedule.
fn check_schedule(config: &Config) -> Option<Finding> {
    let detail = "off; set backup.to, or let another program run `boardwalk backup`";
    config.backup.place().is_none().then(|| Finding::new("backups", State::Warning, detail))
}

fn check_mail(config: &Config) -> Finding {
    const WHAT: &str = "mail relay";
    match server::mail::check(&config.mail) {
        Ok(None) => Finding::new(
            WHAT,
            State::Warning,
            "off; set mail.relay to enable it: without it nobody can reset a password or confirm \
             a registration, and no notification is sent",
        ),
        Ok(Some(found)) => Finding::new(WHAT, State::Fine, found),
        Err(error) => Finding::new(WHAT, State::Problem, error.report()),
    }
}

/// The addresses that the site tells of itself.
fn check_site(config: &Config, in_production: bool) -> Finding {
    const WHAT: &str = "site URL";
    const UNSET: &str = "site.url is not set: links use the host of each request, and e-mails the \
                         listening address";
    match &config.site.url {
        Some(url) if config.mail.relay.is_some() && is_local(url) => {
            let detail = format!(
                "e-mails link to {url}, which their readers cannot open; set site.url to the \
                 address that they use"
            );
            Finding::new(WHAT, State::Warning, detail)
        }
        Some(url) => Finding::new(WHAT, State::Fine, format!("links and e-mails use {url}")),
        None if in_production => {
            let example = "set it, for example to https://shop.example";
            Finding::new(WHAT, State::Problem, format!("{UNSET}; {example}"))
        }
        None => Finding::new(WHAT, State::Warning, format!("{UNSET}; set it before production")),
    }
}

/// Whether the address is one that only this machine can open, or none that anybody can.
fn is_local(url: &str) -> bool {
    let local = |ip: IpAddr| ip.is_loopback() || ip.is_unspecified();
    match url::Url::parse(url).ok().as_ref().and_then(url::Url::host) {
        Some(Host::Ipv4(ip)) => local(ip.into()),
        Some(Host::Ipv6(ip)) => local(ip.into()),
        Some(Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
        None => false,
    }
}

fn check_portal() -> Finding {
    if portal::PORTAL.is_here() {
        Finding::new("portal", State::Fine, "included")
    } else {
        let detail = "not included; build with `cargo xtask build`";
        Finding::new("portal", State::Warning, detail)
    }
}

/// Looks at what is there, and whether anybody uses it.
fn check_database(config: &Config, environment: Environment, depth: Depth) -> (Finding, bool) {
    let what = format!("{environment} database");
    let location = environment::location(config, environment);
    if let Ok(Location::File(path)) = &location
        && fs::metadata(path).is_err()
    {
        let detail = "not created yet; it is created on first use";
        return (Finding::new(what, State::Fine, detail), false);
    }
    if environment::existing_master_key(&config.data).is_err() {
        let detail = "cannot be read without the master key";
        return (Finding::new(what, State::Problem, detail), false);
    }
    let engine = location.map_or("database", |location| location.engine_name());
    let looked = environment::open_existing(config, environment).and_then(|platform| {
        let (isos, users) = population(&platform)?;
        let report = platform.store.check_integrity(depth)?;
        if report.damage.is_empty() && !report.miscounted.is_empty() {
            platform.store.recount_tallies_blocking()?;
        }
        Ok((isos, users, report))
    });
    match looked {
        Ok((isos, users, report)) => {
            let outcome = judge(&report, depth)
                .map(|checked| format!("{engine} answers; {isos} ISOs, {users} users; {checked}"));
            (Finding::of(what, outcome), isos > 0 || users > 0)
        }
        Err(error) => (Finding::new(what, State::Problem, error.report()), false),
    }
}

/// How many ISOs and users there are; every statement of the program is tried as well.
fn population(platform: &Platform) -> Result<(usize, i64)> {
    platform.store.read_blocking(|conn| {
        server::all_statements().into_iter().try_for_each(|sql| conn.prepare(sql))?;
        let (_, users) = user::list(conn, &UserFilter::default())?;
        Ok((site_rows::iso::list(conn)?.len(), users))
    })
}

fn judge(report: &Report, depth: Depth) -> std::result::Result<String, String> {
    if !report.damage.is_empty() {
        return Err(format!(
            "damaged: {}; stop the server, keep a copy of the database, and restore the last \
             backup",
            report.damage.join("; ")
        ));
    }
    let checked = match depth {
        Depth::Quick => "no damage found; `boardwalk doctor --full` reads every row and index",
        Depth::Full => "every row and index was read, no damage found",
    };
    let recounted = report.miscounted.iter();
    let recounted =
        recounted.map(|table| format!("; the total of {table} was wrong and was counted again"));
    let unchecked = report.unchecked.iter().map(|what| format!("; {what}"));
    Ok(recounted.chain(unchecked).fold(checked.to_owned(), |text, more| text + &more))
}
