//! What can be typed after `boardwalk`.

mod analytics;
mod export;
mod isos;
mod plugin;
mod privacy;
mod remote;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use clap::error::ErrorKind;
use clap::{Args as ClapArgs, CommandFactory as _, Parser, Subcommand, ValueEnum, value_parser};
use clap_complete::Shell;
use commerce::demo::{ORDERS_DEFAULT, ORDERS_MAX, SEED_DEFAULT};
use onboarding::keys::KeyLife;
use types::{Environment, Period, Timestamp};

pub(crate) use self::analytics::Analytics;
pub(crate) use self::isos::{Audit, Decided, Iso, Key, Merchant, Reviewed, Template};

pub(crate) use self::plugin::Plugin;
pub(crate) use self::privacy::Privacy;
pub(crate) use self::remote::{
    Connect, ConnectUpdate, ConnectWoocommerce, Listed, Listen, Listing, Mcp, Portfolio, Profile,
    Rates, StoreKeyArgs, StoreOwnerArgs, Webhook,
};
pub(crate) use export::{Export, ExportReport, ReportFormat};

/// Merchant onboarding and a shop with its REST interface, in one binary.
#[derive(Debug, Parser)]
#[command(name = "boardwalk", version)]
pub(crate) struct Args {
    #[command(flatten)]
    pub(crate) common: Common,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// Above the options that every command takes.
const GLOBAL: &str = "Global options";

/// Taken by every command.
#[derive(Clone, Debug, ClapArgs)]
pub(crate) struct Common {
    /// Folder with the databases, the master key and the configuration [default: ./boardwalk-data]
    #[arg(long, global = true, help_heading = GLOBAL, value_name = "DIR")]
    pub(crate) data: Option<PathBuf>,
    /// PostgreSQL URL [default: SQLite files in the data folder]
    #[arg(long, global = true, help_heading = GLOBAL, value_name = "URL")]
    pub(crate) database: Option<String>,
    /// Environment to use [default: sandbox; `serve` runs both]
    #[arg(long, global = true, help_heading = GLOBAL, value_name = "ENVIRONMENT")]
    pub(crate) environment: Option<Environment>,
    /// Configuration file [default: boardwalk.toml in the data folder, if there is one]
    #[arg(long, global = true, help_heading = GLOBAL, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// URL of a server to work on over HTTP, with an API key, instead of a data folder
    #[arg(long, global = true, help_heading = GLOBAL, value_name = "URL")]
    pub(crate) server: Option<url::Url>,
    /// API key for --server; `-` reads it from standard input [default: `$BOARDWALK_API_KEY`]
    #[arg(long, global = true, help_heading = GLOBAL, value_name = "KEY")]
    pub(crate) api_key: Option<String>,
    /// Server and API key that `boardwalk profile set` saved
    #[arg(long, global = true, help_heading = GLOBAL, value_name = "NAME")]
    pub(crate) profile: Option<String>,
    /// Print one JSON object instead of text
    #[arg(long, global = true, help_heading = GLOBAL)]
    pub(crate) json: bool,
}

impl Common {
    pub(crate) fn environment(&self) -> Environment {
        self.environment.unwrap_or(Environment::Sandbox)
    }
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run the server for sandbox and production, or for one environment
    Serve(Serve),
    /// Create a sandbox with an ISO, merchants and a shop with orders, and run it
    Demo(Demo),
    /// Register and list ISOs
    #[command(subcommand)]
    Iso(Iso),
    /// Export the audit log and purge old entries
    #[command(subcommand)]
    Audit(Audit),
    /// Create, list, rotate and revoke API keys
    #[command(subcommand)]
    Key(Key),
    /// Create and list templates of terminal parameters
    #[command(subcommand)]
    Template(Template),
    /// List and review merchants
    #[command(subcommand)]
    Merchant(Merchant),
    /// List stores of a server
    #[command(subcommand)]
    Store(Listed),
    /// List TPNs of a server
    #[command(subcommand)]
    Tpn(Listed),
    /// Manage webhooks on a server
    #[command(subcommand)]
    Webhook(Webhook),
    /// Connect stores and show how far their copies are
    #[command(subcommand)]
    Connect(Connect),
    /// Forward events of a server to a local address, signed like webhooks
    Listen(Listen),
    /// Serve the operations of a server to assistants, over the Model Context Protocol
    Mcp(Mcp),
    /// Save servers and their API keys under a name
    #[command(subcommand)]
    Profile(Profile),
    /// Manage the site's users and their credentials
    #[command(subcommand)]
    User(User),
    /// Onboard merchants from a JSON Lines or CSV file
    Onboard(Onboard),
    /// Import records
    #[command(subcommand)]
    Import(Import),
    /// Export reports to files
    #[command(subcommand)]
    Export(Export),
    /// Manage the data that reports are answered from
    #[command(subcommand)]
    Analytics(Analytics),
    /// Export or erase the personal data of a buyer
    #[command(subcommand)]
    Privacy(Privacy),
    /// Pack, check and sign plugins and themes
    #[command(subcommand)]
    Plugin(Plugin),
    /// Test e-mail delivery
    #[command(subcommand)]
    Mail(Mail),
    /// Print the OpenAPI 3.1 document
    Openapi {
        /// Interface to describe
        #[arg(long, value_enum, default_value_t = Interface::Onboarding)]
        interface: Interface,
    },
    /// Back up an environment to a file, even while the server is running
    Backup {
        /// Output file; must not exist
        file: PathBuf,
    },
    /// List scheduled backups
    Backups,
    /// Restore a backup to an empty environment, on either database engine
    Restore(Restore),
    /// Replace the keys that data is encrypted with
    #[command(subcommand)]
    Encryption(Encryption),
    /// Check the installation and suggest fixes
    Doctor {
        /// Read every row and index of the databases, which takes longer
        #[arg(long)]
        full: bool,
    },
    /// Show the configuration
    #[command(subcommand)]
    Config(Config),
    /// Print shell completions
    Completions {
        /// Shell
        shell: Shell,
    },
    /// Write the man pages of all commands to a folder
    Man {
        /// Existing folder
        folder: PathBuf,
    },
}

#[derive(Debug, ClapArgs)]
pub(crate) struct Restore {
    /// Backup file, or `s3://bucket/prefix/name`
    #[arg(required_unless_present = "latest")]
    pub(crate) file: Option<PathBuf>,
    /// Newest scheduled backup of the environment
    #[arg(long, conflicts_with = "file")]
    latest: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Encryption {
    /// Show the versions of the keys, and how far a replacement is
    Status,
    /// Create new data keys and encrypt the data again, in the background of a running server
    RotateDataKeys {
        /// Only the data key of this ISO
        #[arg(long, value_name = "ID", conflicts_with = "site")]
        iso: Option<String>,
        /// Only the data key of the site
        #[arg(long)]
        site: bool,
    },
    /// Create the file of a new master key, which is not used yet
    NewMasterKey,
    /// Replace the master key of both environments by the new one, even while servers are running
    RotateMasterKey,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Mail {
    /// Queue a test e-mail; a running server sends it
    Test {
        /// Recipient
        #[arg(long, value_name = "ADDRESS")]
        to: String,
    },
}

#[derive(Debug, ClapArgs)]
pub(crate) struct Serve {
    /// Listen address of the sandbox, or of the environment given with --environment
    #[arg(long, value_name = "ADDR", value_parser = address)]
    pub(crate) listen: Option<SocketAddr>,
    /// Listen address of production
    #[arg(long, value_name = "ADDR", value_parser = address)]
    pub(crate) listen_production: Option<SocketAddr>,
    /// Listen address of liveness, readiness and metrics
    #[arg(long, value_name = "ADDR", value_parser = address)]
    pub(crate) admin_listen: Option<SocketAddr>,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct Demo {
    /// Listen address
    #[arg(long, value_name = "ADDR", value_parser = address)]
    pub(crate) listen: Option<SocketAddr>,
    /// Listen address of liveness, readiness and metrics
    #[arg(long, value_name = "ADDR", value_parser = address)]
    pub(crate) admin_listen: Option<SocketAddr>,
    #[arg(
        long,
        value_name = "N",
        value_parser = value_parser!(u64).range(..=ORDERS_MAX),
        help = format!("Number of orders in a new demo shop [default: {ORDERS_DEFAULT}]")
    )]
    pub(crate) orders: Option<u64>,
    #[arg(
        long,
        value_name = "S",
        help = format!("Random seed for a new demo shop [default: {SEED_DEFAULT}]")
    )]
    pub(crate) seed: Option<u64>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum User {
    /// Create a user
    Create(UserCreate),
    /// List users
    List {
        /// Only users with this role
        #[arg(long, value_enum)]
        role: Option<Role>,
    },
    /// Create an application password; it is shown only once
    AppPassword {
        /// Login of the user
        #[arg(long)]
        login: String,
        /// Program that uses the password
        #[arg(long)]
        name: String,
    },
    /// Create a consumer key and secret; they are shown only once
    ConsumerKey {
        /// Login of the user
        #[arg(long)]
        login: String,
        /// Permissions of the key
        #[arg(long, value_enum)]
        permissions: KeyPermissions,
        /// Description of the key
        #[arg(long, default_value = "Consumer key")]
        description: String,
    },
    /// List a user's application passwords and consumer keys
    Credentials {
        /// Login of the user
        #[arg(long)]
        login: String,
    },
    /// Revoke an application password or a consumer key immediately
    Revoke {
        /// Login of the user
        #[arg(long)]
        login: String,
        /// Id, as shown by `user credentials`
        id: String,
    },
    /// Set a user's password, read from standard input
    SetPassword {
        /// Login of the user
        #[arg(long)]
        login: String,
    },
    /// Turn off two-factor authentication for a user who lost phone and recovery codes
    ResetSecondFactor {
        /// Login of the user
        #[arg(long)]
        login: String,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "snake_case")]
pub(crate) enum KeyPermissions {
    Read,
    Write,
    ReadWrite,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Import {
    /// Import a whole site from a bundle and keep its ids
    Bundle {
        /// JSON file of the bundle
        file: PathBuf,
    },
    /// Import orders, products, customers and related records from JSON Lines or CSV files that
    /// have the fields of the REST interface
    Orders(ImportOrders),
    /// Import a live store through its REST interface and keep its ids
    Woocommerce(ImportWoocommerce),
}

#[derive(Debug, ClapArgs)]
pub(crate) struct ImportWoocommerce {
    /// URL of the store
    #[arg(long, value_name = "URL")]
    pub(crate) url: url::Url,
    /// Consumer key of the store with read permission
    #[arg(long, value_name = "KEY")]
    pub(crate) consumer_key: String,
    /// Consumer secret; `-` reads it from standard input, which hides it from other users of the
    /// machine
    #[arg(long, value_name = "SECRET")]
    pub(crate) consumer_secret: String,
    /// Import only products, coupons and orders modified after this time, such as
    /// 2026-03-31T12:00:00Z; existing records are updated
    #[arg(long, value_name = "TIME", value_parser = moment)]
    pub(crate) since: Option<Timestamp>,
    /// Resume an interrupted import from the same store
    #[arg(long)]
    pub(crate) resume: bool,
    /// Allow stores on private networks and without TLS
    #[arg(long)]
    pub(crate) allow_private: bool,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct ImportOrders {
    /// JSON Lines (.jsonl) or CSV (.csv) files
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// Skip rows with errors and list them; without this option, any error cancels the import
    #[arg(long)]
    pub(crate) skip_bad: bool,
    /// Resume an interrupted import of the same files
    #[arg(long)]
    pub(crate) resume: bool,
    /// Name of the source; files from the same source can refer to each other's ids
    #[arg(long, value_name = "NAME", default_value = "files")]
    pub(crate) source: String,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct Onboard {
    /// File to onboard (.jsonl, .ndjson or .csv)
    pub(crate) file: PathBuf,
    /// ISO of the merchants; with --server that of the key
    #[arg(long, value_name = "ID")]
    pub(crate) iso: Option<String>,
    /// File for the result of each row, as JSON Lines
    #[arg(long, value_name = "FILE")]
    pub(crate) results: Option<PathBuf>,
    /// Resume an interrupted file: process the rows that are not onboarded yet
    #[arg(long)]
    pub(crate) resume: bool,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct UserCreate {
    /// Login name
    #[arg(long)]
    pub(crate) login: String,
    /// E-mail address
    #[arg(long)]
    pub(crate) email: String,
    /// Role of the user
    #[arg(long, value_enum)]
    pub(crate) role: Role,
    /// ISO of an `iso_admin` or `iso_staff`
    #[arg(long, value_name = "ID")]
    pub(crate) iso: Option<String>,
    /// Merchant of a `merchant` user
    #[arg(long, value_name = "ID")]
    pub(crate) merchant: Option<String>,
    /// Store of a `store` user
    #[arg(long, value_name = "ID")]
    pub(crate) store: Option<String>,
    /// Read the password from standard input; without this option the user has no password
    #[arg(long)]
    pub(crate) password_stdin: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "snake_case")]
pub(crate) enum Role {
    Administrator,
    ShopManager,
    Editor,
    Customer,
    Subscriber,
    IsoAdmin,
    IsoStaff,
    Merchant,
    Store,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Interface {
    /// Merchants, stores and TPNs
    Onboarding,
    /// The site's REST interface, with the configured names
    Rest,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Config {
    /// Print every setting with its value and meaning, as a configuration file
    Print {
        /// Print the defaults, commented out, for a new configuration file
        #[arg(long, conflicts_with = "json")]
        commented: bool,
    },
}

/// The ISO that a command on a data folder names; with `--server`, the key tells.
pub(crate) fn named_iso(iso: Option<String>) -> String {
    iso.unwrap_or_else(|| {
        let message = "the following required arguments were not provided:\n  --iso <ID>";
        Args::command().error(ErrorKind::MissingRequiredArgument, message).exit()
    })
}

fn address(text: &str) -> Result<SocketAddr, String> {
    text.parse().map_err(|_| String::from("expected an address and a port, such as 127.0.0.1:8080"))
}

fn key_life(text: &str) -> Result<KeyLife, String> {
    if text == "never" { Ok(KeyLife::Forever) } else { duration(text).map(KeyLife::For) }
}

fn moment(text: &str) -> Result<Timestamp, String> {
    Timestamp::parse(text)
        .ok_or_else(|| String::from("expected a time such as 2026-03-31T12:00:00Z"))
}

fn duration(text: &str) -> Result<Duration, String> {
    text.parse().map(Period::duration)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Args::command().debug_assert();
    }

    #[test]
    fn durations() {
        assert_eq!(duration("2h"), Ok(Duration::from_hours(2)));
        assert_eq!(key_life("never"), Ok(KeyLife::Forever));
        assert!(duration("soon").is_err());
    }
}
