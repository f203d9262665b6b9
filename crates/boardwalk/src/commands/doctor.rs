//! `boardwalk doctor`: checks the installation and says what to fix.

use std::os::unix::fs::PermissionsExt as _;

use db::Location;
use serde_json::json;
use types::{Environment, Error, Result};

use crate::args::Common;
use crate::config::Config;
use crate::environment;
use crate::output::Printer;

struct Finding {
    what: String,
    outcome: std::result::Result<String, String>,
}

pub(crate) fn doctor(config: &Config, common: &Common, out: &Printer) -> Result<()> {
    let mut findings = vec![check_folder(config), check_key(config)];
    let environments = match common.environment {
        Some(environment) => vec![environment],
        None => Environment::ALL.to_vec(),
    };
    findings
        .extend(environments.into_iter().map(|environment| check_database(config, environment)));
    findings.push(check_mail(config));
    findings.push(check_site(config));
    findings.push(check_portal());
    let failed = findings.iter().filter(|finding| finding.outcome.is_err()).count();
    let rows = findings.into_iter().map(|finding| {
        let (state, detail) = match finding.outcome {
            Ok(detail) => ("ok", detail),
            Err(detail) => ("problem", detail),
        };
        let object = json!({ "check": finding.what, "state": state, "detail": detail });
        (object, vec![finding.what, state.to_owned(), detail])
    });
    out.list("checks", &["Check", "State", "Detail"], rows.collect());
    match failed {
        0 => Ok(()),
        1 => Err(Error::invalid("1 problem found; see the table")),
        count => Err(Error::invalid(format!("{count} problems found; see the table"))),
    }
}

fn check_folder(config: &Config) -> Finding {
    let what = format!("data folder {}", config.data.display());
    let outcome = match std::fs::metadata(&config.data) {
        Err(error) => Err(format!("cannot be read ({error}); start the server once to create it")),
        Ok(metadata) if metadata.permissions().mode() & 0o077 != 0 => {
            Err(format!("accessible to other users; run `chmod 700 {}`", config.data.display()))
        }
        Ok(_) => Ok(String::from("accessible only to its owner")),
    };
    Finding { what, outcome }
}

fn check_key(config: &Config) -> Finding {
    let known = environment::key_file(&config.data);
    let from_variable = std::env::var_os(crate::config::MASTER_KEY_VARIABLE).is_some();
    let outcome = if !from_variable && std::fs::metadata(&known).is_err() {
        Err(format!("{} does not exist; start the server once to create it", known.display()))
    } else {
        match environment::existing_master_key(&config.data) {
            Ok(_) => Ok(String::from("readable only by its owner; keep a copy elsewhere")),
            Err(error) => Err(error.report()),
        }
    };
    Finding { what: String::from("master key"), outcome }
}

fn check_mail(config: &Config) -> Finding {
    let outcome = match server::mail::check(&config.mail) {
        Ok(None) => Ok(String::from("off; set mail.relay to enable it")),
        Ok(Some(found)) => Ok(found),
        Err(error) => Err(error.report()),
    };
    Finding { what: String::from("mail relay"), outcome }
}

/// The addresses that the site tells of itself.
fn check_site(config: &Config) -> Finding {
    let detail = match &config.site.url {
        Some(url) => format!("links and e-mails use {url}"),
        None => String::from(
            "site.url is not set: links use the host of each request; set it in production",
        ),
    };
    Finding { what: String::from("site URL"), outcome: Ok(detail) }
}

fn check_portal() -> Finding {
    let detail = if portal::PORTAL.is_here() {
        "included"
    } else {
        "not included; build with `cargo xtask build`"
    };
    Finding { what: String::from("portal"), outcome: Ok(detail.to_owned()) }
}

/// Looks at what is there; **a check makes nothing**.
fn check_database(config: &Config, environment: Environment) -> Finding {
    let what = format!("{environment} database");
    let place = environment::location(config, environment);
    if let Ok(Location::File(path)) = &place
        && std::fs::metadata(path).is_err()
    {
        return Finding {
            what,
            outcome: Ok(String::from("not created yet; it is created on first use")),
        };
    }
    if environment::existing_master_key(&config.data).is_err() {
        return Finding {
            what,
            outcome: Err(String::from("cannot be read without the master key")),
        };
    }
    let engine = place.map_or("database", |place| place.engine_name());
    let opened = environment::open_existing(config, environment).and_then(|platform| {
        platform.store.read_blocking(|conn| {
            server::all_statements().into_iter().try_for_each(|sql| conn.prepare(sql))
        })?;
        platform.iso_list()
    });
    let outcome = match opened {
        Ok(isos) => Ok(format!("{engine} answers; {} ISOs", isos.len())),
        Err(error) => Err(error.report()),
    };
    Finding { what, outcome }
}
