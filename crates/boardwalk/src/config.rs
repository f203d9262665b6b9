//! Settings: documented defaults, then a TOML file, then environment variables, then flags.
//!
//! **Unknown keys are refused**, so that a misspelt setting cannot pass for a set one. Environment
//! variables are named after the key with `BOARDWALK_` before it and two underscores for each dot:
//! `BOARDWALK_SERVER__LIMITS__CONNECTIONS=100`.

use std::ffi::OsString;
use std::fmt::Write as _;
use std::io::ErrorKind;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};

use contract::card_data;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toml::{Table, Value};
use types::{Error, Result};

use crate::args::Common;

const PREFIX: &str = "BOARDWALK_";
/// The master key is a secret and no setting; it is read elsewhere.
pub(crate) const MASTER_KEY_VARIABLE: &str = "BOARDWALK_MASTER_KEY";
/// The same for the one that is to follow it.
pub(crate) const NEXT_MASTER_KEY_VARIABLE: &str = "BOARDWALK_NEXT_MASTER_KEY";
/// The key for a server elsewhere, for whoever does not want it in the list of processes.
pub(crate) const API_KEY_VARIABLE: &str = "BOARDWALK_API_KEY";
/// Secrets, which are read where they are used.
const NO_SETTINGS: [&str; 3] = [MASTER_KEY_VARIABLE, NEXT_MASTER_KEY_VARIABLE, API_KEY_VARIABLE];
/// The data folder is where the file with the settings is, so it cannot be one of them.
const DATA_VARIABLE: &str = "BOARDWALK_DATA";
const FILE_NAME: &str = "boardwalk.toml";
const DATA_DEFAULT: &str = "boardwalk-data";
/// Of the media library, in the data folder.
const UPLOADS_FOLDER: &str = "uploads";
/// Of the certificates that the server gets itself, in the data folder.
pub(crate) const CERTIFICATES_FOLDER: &str = "certificates";

/// All settings.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Config {
    /// Database.
    pub(crate) database: Database,
    /// Listen addresses of the environments.
    pub(crate) listen: Listen,
    /// The HTTP server.
    pub(crate) server: server::Settings,
    /// Onboarding interface.
    pub(crate) onboarding: onboarding::Settings,
    /// Site: its URL, names and cross-origin rules.
    pub(crate) site: frame::Settings,
    /// Reports.
    pub(crate) analytics: analytics::Settings,
    /// Connected stores.
    pub(crate) connect: connect::Settings,
    /// Outgoing e-mail. Without a relay, none is sent.
    pub(crate) mail: server::mail::MailSettings,
    /// Backups on a schedule.
    pub(crate) backup: server::backups::BackupSettings,
    /// Sources of plugins, themes and marketplace products.
    pub(crate) admin: admin::Settings,
    /// Protection of both interfaces.
    pub(crate) security: Security,
    /// Log, written to standard error.
    pub(crate) log: Log,
    /// Data folder; set only by flag or environment variable.
    #[serde(skip)]
    pub(crate) data: PathBuf,
}

/// Database.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Database {
    /// A postgres:// URL. Default: SQLite files in the data folder.
    pub(crate) url: Option<String>,
    /// Maximum number of concurrent write connections to PostgreSQL.
    pub(crate) connections: usize,
    /// A postgres:// URL of standbys that lists are read from. Default: none.
    pub(crate) replicas: Option<String>,
}

impl Default for Database {
    fn default() -> Self {
        Self { url: None, connections: 16, replicas: None }
    }
}

/// Listen addresses of the environments.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Listen {
    /// Listen address of the sandbox.
    pub(crate) sandbox: SocketAddr,
    /// Listen address of production.
    pub(crate) production: SocketAddr,
}

impl Default for Listen {
    fn default() -> Self {
        let at = |port| SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        Self { sandbox: at(8080), production: at(8081) }
    }
}

/// Protection of both interfaces.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Security {
    /// What to do about card numbers in requests and imports: `refuse` them, or only `report` them
    /// as a warning in the log.
    pub(crate) card_data: card_data::Policy,
}

/// Log, written to standard error.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Log {
    /// Minimum level: error, warn, info, debug or trace, or a filter such as
    /// `info,db=debug`.
    pub(crate) level: String,
    /// Write JSON Lines. Default: JSON unless standard error is a terminal.
    pub(crate) json: Option<bool>,
}

impl Default for Log {
    fn default() -> Self {
        Self { level: String::from("info"), json: None }
    }
}

impl Config {
    /// The settings without passwords in addresses, for showing them.
    pub(crate) fn without_secrets(&self) -> Self {
        let mut shown = self.clone();
        shown.database.url = shown.database.url.map(|url| hide_password(&url));
        shown.database.replicas = shown.database.replicas.map(|url| hide_password(&url));
        shown.analytics.engine = shown.analytics.engine.with_urls(hide_password);
        shown
    }

    /// Reads all layers.
    pub(crate) fn load(common: &Common) -> Result<Self> {
        let variables: Vec<(String, OsString)> = std::env::vars_os()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value)))
            .filter(|(name, _)| name.starts_with(PREFIX))
            .filter(|(name, _)| !NO_SETTINGS.contains(&name.as_str()))
            .collect();
        let data = common
            .data
            .clone()
            .or_else(|| {
                let variable = variables.iter().find(|(name, _)| name == DATA_VARIABLE);
                variable.map(|(_, value)| PathBuf::from(value))
            })
            .unwrap_or_else(|| PathBuf::from(DATA_DEFAULT));
        let (table, path) = read_file(common.config.as_deref(), &data)?;
        let variables: Vec<(String, OsString)> =
            variables.into_iter().filter(|(name, _)| name != DATA_VARIABLE).collect();
        let mut config = layered(&table, &path, &variables)?;
        config.server.uploads.get_or_insert_with(|| data.join(UPLOADS_FOLDER));
        config.backup.work_folder.clone_from(&data);
        if let Some(acme) = config.server.tls.as_mut().and_then(|tls| tls.acme.as_mut()) {
            acme.folder = data.join(CERTIFICATES_FOLDER);
        }
        config.data = data;
        config.server.mail = config.mail.clone();
        config.server.backup = config.backup.clone();
        config.server.admin = config.admin.clone();
        config.onboarding.card_data = config.security.card_data;
        config.site.card_data = config.security.card_data;
        if let Some(url) = &common.database {
            config.database.url = Some(url.clone());
        }
        Ok(config)
    }
}

/// The settings of the file with those of the variables over them. Either may need the other to be
/// whole, so they are judged together; who is to blame is looked for afterwards.
fn layered(file: &Table, path: &Path, variables: &[(String, OsString)]) -> Result<Config> {
    let schema = schema();
    let with_all_but = |left_out: Option<&str>| {
        let mut table = file.clone();
        for (name, value) in variables.iter().filter(|(name, _)| Some(&**name) != left_out) {
            set_from_variable(&mut table, &schema, name, value)?;
        }
        Ok::<_, Error>(table.try_into::<Config>())
    };
    let error = match with_all_but(None)? {
        Ok(config) => return Ok(config),
        Err(error) => error,
    };
    // Without it all is well.
    let is_to_blame = |name: &&str| matches!(with_all_but(Some(name)), Ok(Ok(_)));
    let what = match variables.iter().map(|(name, _)| name.as_str()).find(is_to_blame) {
        Some(name) => format!("the environment variable {name}"),
        None if variables.is_empty() => format!("the configuration file {}", path.display()),
        None => format!("the configuration ({} and environment variables)", path.display()),
    };
    Err(Error::invalid(format!("{what} is wrong")).because(error))
}

/// `postgres://user:secret@host/db?password=secret` with stars for both secrets.
fn hide_password(url: &str) -> String {
    let (address, query) = url.split_once('?').unwrap_or((url, ""));
    let (scheme, rest) = address.split_once("://").unwrap_or(("", address));
    let shown = match rest.rsplit_once('@').map(|(login, place)| (login.split_once(':'), place)) {
        Some((Some((user, _)), place)) => format!("{scheme}://{user}:***@{place}"),
        _ => address.to_owned(),
    };
    let hide = |part: &str| match part.split_once('=') {
        Some((name @ ("password" | "sslpassword"), _)) => format!("{name}=***"),
        _ => part.to_owned(),
    };
    let query: Vec<String> = query.split('&').filter(|part| !part.is_empty()).map(hide).collect();
    if query.is_empty() { shown } else { format!("{shown}?{}", query.join("&")) }
}

/// The settings of the file, and where it is or would be.
fn read_file(named: Option<&Path>, data: &Path) -> Result<(Table, PathBuf)> {
    let path = named.map_or_else(|| data.join(FILE_NAME), Path::to_owned);
    let text = match std::fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == ErrorKind::NotFound && named.is_none() => {
            return Ok((Table::new(), path));
        }
        Err(error) if error.kind() == ErrorKind::PermissionDenied && is_closed(data) => {
            let message = format!(
                "no permission to read the data folder {}; run as the user that owns it",
                data.display()
            );
            return Err(Error::invalid(message).because(error));
        }
        Err(error) => {
            let message = format!("cannot read the configuration file {}", path.display());
            return Err(Error::invalid(message).because(error));
        }
    };
    let table = text.parse().map_err(|error: toml::de::Error| {
        let message = format!("the configuration file {} is not valid TOML", path.display());
        Error::invalid(message).because(error)
    })?;
    Ok((table, path))
}

fn is_closed(folder: &Path) -> bool {
    let listed = std::fs::read_dir(folder);
    listed.is_err_and(|error| error.kind() == ErrorKind::PermissionDenied)
}

fn set_from_variable(
    table: &mut Table,
    schema: &serde_json::Value,
    name: &str,
    value: &OsString,
) -> Result<()> {
    let wrong = |what: &str| Error::invalid(format!("the environment variable {name} {what}"));
    let unknown = "is not a setting; remove it and run `boardwalk config print` for a list";
    let text = value.to_str().ok_or_else(|| wrong("is not valid UTF-8"))?;
    let key = name.strip_prefix(PREFIX).unwrap_or(name).to_ascii_lowercase();
    let parts: Vec<&str> = key.split("__").collect();
    let Some((last, folders)) = parts.split_last() else { return Err(wrong(unknown)) };
    let (mut place, mut schema) = (table, schema);
    for part in folders {
        let inner = place.entry(*part).or_insert_with(|| Value::Table(Table::new()));
        place = inner.as_table_mut().ok_or_else(|| wrong(unknown))?;
        schema = property(schema, part).ok_or_else(|| wrong(unknown))?;
    }
    let setting = property(schema, last).ok_or_else(|| wrong(unknown))?;
    // A password of digits is text all the same.
    let value = if is_text(setting) { Value::String(text.to_owned()) } else { parse_value(text) };
    place.insert((*last).to_owned(), value);
    Ok(())
}

fn property<'a>(schema: &'a serde_json::Value, name: &str) -> Option<&'a serde_json::Value> {
    let named = schema.get("properties").and_then(|properties| properties.get(name));
    named.or_else(|| schema.get("additionalProperties").filter(|any| any.is_object()))
}

/// Whether a setting takes any text and nothing else, but for being absent.
fn is_text(setting: &serde_json::Value) -> bool {
    match setting.get("type") {
        Some(serde_json::Value::String(kind)) => kind == "string",
        Some(serde_json::Value::Array(kinds)) => {
            kinds.iter().all(|kind| kind == "string" || kind == "null")
        }
        _ => false,
    }
}

/// What reads as a TOML value is one; anything else is text, so that nobody must quote twice.
fn parse_value(text: &str) -> Value {
    let document: std::result::Result<Table, _> = format!("value = {text}").parse();
    let value = document.ok().and_then(|mut table| table.remove("value"));
    value.unwrap_or_else(|| Value::String(text.to_owned()))
}

/// How settings are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Settings {
    /// With the values in effect.
    Set,
    /// The same in comments, so that whoever removes a comment changes that setting only.
    Commented,
}

/// The configuration as a file with comments, derived from the types and their doc comments.
pub(crate) fn print(config: &Config, style: Settings) -> Result<String> {
    let unprintable = |error| Error::internal("cannot print the configuration").because(error);
    let values = Table::try_from(config).map_err(unprintable)?;
    let schema = schema();
    let mut text = String::from(match style {
        Settings::Set => "# Boardwalk configuration, with the values in effect.\n",
        Settings::Commented => {
            "# Boardwalk configuration. Every setting has its default; to change one, remove the\n\
             # `#` before it, and before the name of its section, and restart the server.\n"
        }
    });
    print_table(&mut text, ("", style), &schema, &values);
    Ok(text)
}

/// What settings there are, without references.
fn schema() -> serde_json::Value {
    let generator = schemars::generate::SchemaSettings::draft2020_12()
        .with(|settings| settings.inline_subschemas = true)
        .into_generator();
    generator.into_root_schema_for::<Config>().to_value()
}

fn print_table(
    text: &mut String,
    (path, style): (&str, Settings),
    schema: &serde_json::Value,
    values: &Table,
) {
    let Some(properties) = schema.get("properties").and_then(|p| p.as_object()) else { return };
    let mark = if style == Settings::Commented { "#" } else { "" };
    let mut tables = Vec::new();
    for (name, property) in properties {
        if let Some(Value::Table(inner)) = values.get(name) {
            tables.push((name, property, inner));
            continue;
        }
        push_comment(text, property);
        match values.get(name) {
            Some(value) => {
                let _ = writeln!(text, "{mark}{name} = {value}");
            }
            None => {
                let _ = writeln!(text, "# {name} =");
            }
        }
    }
    for (name, property, inner) in tables {
        let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
        text.push('\n');
        push_comment(text, property);
        // A section whose settings must all be there, or none, cannot stand empty.
        let mark = if property.get("required").is_some() { mark } else { "" };
        let _ = writeln!(text, "{mark}[{path}]");
        print_table(text, (&path, style), property, inner);
    }
}

fn push_comment(text: &mut String, property: &serde_json::Value) {
    let description = property.get("description").and_then(|d| d.as_str()).unwrap_or_default();
    for line in description.lines() {
        let _ = writeln!(text, "# {line}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_outrank_the_file() {
        let mut table: Table = "[server.limits]\nconnections = 5".parse().unwrap();
        let set = |table: &mut Table, name: &str, value: &str| {
            set_from_variable(table, &schema(), name, &OsString::from(value)).unwrap();
        };
        set(&mut table, "BOARDWALK_SERVER__LIMITS__CONNECTIONS", "7");
        set(&mut table, "BOARDWALK_DATABASE__URL", "postgres://db/x");
        set(&mut table, "BOARDWALK_SERVER__TRUSTED_PROXIES", "[\"10.0.0.1\"]");
        set(&mut table, "BOARDWALK_MAIL__PASSWORD", "12345");
        let config: Config = table.try_into().unwrap();
        assert_eq!(config.server.limits.connections.get(), 7);
        assert_eq!(config.database.url.as_deref(), Some("postgres://db/x"));
        assert_eq!(config.server.trusted_proxies.len(), 1);
        assert!(config.mail.password.is_some());
    }

    #[test]
    fn variables_that_name_no_setting_are_refused() {
        for name in ["BOARDWALK_FOO", "BOARDWALK_SERVER__FOO", "BOARDWALK_MAIL__PASSWORD__FOO"] {
            let set = set_from_variable(&mut Table::new(), &schema(), name, &OsString::from("1"));
            assert!(set.unwrap_err().to_string().contains(name), "{name}");
        }
    }

    #[test]
    fn passwords_are_not_shown() {
        let shown = hide_password("postgres://me:p@ss:word@db.example/x");
        assert_eq!(shown, "postgres://me:***@db.example/x");
        assert_eq!(hide_password("postgres://me@db/x"), "postgres://me@db/x");
        let shown = hide_password("postgres://me@db/x?password=a@b&sslmode=require");
        assert_eq!(shown, "postgres://me@db/x?password=***&sslmode=require");
    }

    #[test]
    fn a_misspelt_key_is_refused() {
        let table: Table = "[server]\nlimit = 1".parse().unwrap();
        assert!(table.try_into::<Config>().is_err());
    }

    #[test]
    fn the_printed_configuration_reads_back() {
        let printed = print(&Config::default(), Settings::Set).unwrap();
        let config: Config = toml::from_str(&printed).unwrap();
        assert_eq!(config.server.limits.body_bytes, 32 * 1024);
        assert!(printed.contains("# Bytes of a request body of the"), "{printed}");
    }

    #[test]
    fn a_commented_configuration_sets_nothing_until_a_comment_is_removed() {
        let mut changed = Config::default();
        changed.server.limits.body_bytes = 7;
        let printed = print(&changed, Settings::Commented).unwrap();
        let read = |text: &str| toml::from_str::<Config>(text).unwrap().server.limits.body_bytes;
        assert_eq!(read(&printed), 32 * 1024, "{printed}");
        assert_eq!(read(&printed.replace("#body_bytes", "body_bytes")), 7, "{printed}");
    }
}
