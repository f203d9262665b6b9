//! What can be typed after `boardwalk`.

mod export;
mod isos;
mod plugin;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args as ClapArgs, Parser, Subcommand, ValueEnum, value_parser};
use clap_complete::Shell;
use commerce::demo::{ORDERS_DEFAULT, ORDERS_MAX, SEED_DEFAULT};
use onboarding::keys::KeyLife;
use types::{Environment, Timestamp};

pub(crate) use self::isos::{Audit, Decided, Iso, Key, Merchant, Reviewed, Template};

pub(crate) use self::plugin::Plugin;
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
    /// Which environment to work on [default: sandbox; `serve` runs both]
    #[arg(long, global = true, help_heading = GLOBAL, value_name = "ENVIRONMENT")]
    pub(crate) environment: Option<Environment>,
    /// Configuration file [default: boardwalk.toml in the data folder, if there is one]
    #[arg(long, global = true, help_heading = GLOBAL, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
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
    /// Run the server: sandbox and production, or the one environment that is named
    Serve(Serve),
    /// Make a sandbox with an ISO, merchants and a shop with orders, and serve it
    Demo(Demo),
    /// Register and list ISOs
    #[command(subcommand)]
    Iso(Iso),
    /// Export the audit log, and take old entries off line
    #[command(subcommand)]
    Audit(Audit),
    /// Make, list, rotate and revoke API keys
    #[command(subcommand)]
    Key(Key),
    /// Make and list templates of terminal parameters
    #[command(subcommand)]
    Template(Template),
    /// Decide on merchants that wait for a review
    #[command(subcommand)]
    Merchant(Merchant),
    /// Make and list users of the site, and their credentials
    #[command(subcommand)]
    User(User),
    /// Onboard the rows of a JSON-lines or CSV file, with a result for each
    Onboard(Onboard),
    /// Import records
    #[command(subcommand)]
    Import(Import),
    /// Write reports into files
    #[command(subcommand)]
    Export(Export),
    /// Pack and check plugins and themes, for their authors
    #[command(subcommand)]
    Plugin(Plugin),
    /// Try how mail is sent
    #[command(subcommand)]
    Mail(Mail),
    /// Print the OpenAPI 3.1 document
    Openapi {
        /// Which interface to describe
        #[arg(long, value_enum, default_value_t = Interface::Onboarding)]
        interface: Interface,
    },
    /// Copy an environment into a file, also while it is being served
    Backup {
        /// The file to write; it must not exist
        file: PathBuf,
    },
    /// Fill an empty environment from a backup; the engine may be another one
    Restore {
        /// The file to read
        file: PathBuf,
    },
    /// Check the installation and say what to mend
    Doctor,
    /// Show the configuration
    #[command(subcommand)]
    Config(Config),
    /// Print shell completions
    Completions {
        /// The shell to complete for
        shell: Shell,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum Mail {
    /// Queue a letter that says that mail works; a running server sends it
    Test {
        /// Address to write to
        #[arg(long, value_name = "ADDRESS")]
        to: String,
    },
}

#[derive(Debug, ClapArgs)]
pub(crate) struct Serve {
    /// Address of the sandbox, or of the one environment that is named
    #[arg(long, value_name = "ADDR", value_parser = address)]
    pub(crate) listen: Option<SocketAddr>,
    /// Address of production
    #[arg(long, value_name = "ADDR", value_parser = address)]
    pub(crate) listen_production: Option<SocketAddr>,
    /// Address of liveness, readiness and metrics
    #[arg(long, value_name = "ADDR", value_parser = address)]
    pub(crate) admin_listen: Option<SocketAddr>,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct Demo {
    /// Address to serve on
    #[arg(long, value_name = "ADDR", value_parser = address)]
    pub(crate) listen: Option<SocketAddr>,
    /// Address of liveness, readiness and metrics
    #[arg(long, value_name = "ADDR", value_parser = address)]
    pub(crate) admin_listen: Option<SocketAddr>,
    #[arg(
        long,
        value_name = "N",
        value_parser = value_parser!(u64).range(..=ORDERS_MAX),
        help = format!("How many orders the shop of a new demo has [default: {ORDERS_DEFAULT}]")
    )]
    pub(crate) orders: Option<u64>,
    #[arg(
        long,
        value_name = "S",
        help = format!("Number from which a new shop is drawn [default: {SEED_DEFAULT}]")
    )]
    pub(crate) seed: Option<u64>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum User {
    /// Make a user
    Create(UserCreate),
    /// List the users
    List {
        /// Only users with this role
        #[arg(long, value_enum)]
        role: Option<Role>,
    },
    /// Make an application password; it is shown this once
    AppPassword {
        /// Whose password it is
        #[arg(long)]
        login: String,
        /// The program that it is for
        #[arg(long)]
        name: String,
    },
    /// Make a consumer key with its secret; both are shown this once
    ConsumerKey {
        /// Whose key it is
        #[arg(long)]
        login: String,
        /// What it may be used for
        #[arg(long, value_enum)]
        permissions: KeyPermissions,
        /// What it is for
        #[arg(long, default_value = "Consumer key")]
        description: String,
    },
    /// List the application passwords and consumer keys of a user
    Credentials {
        /// Whose they are
        #[arg(long)]
        login: String,
    },
    /// End an application password or a consumer key at once
    Revoke {
        /// Whose it is
        #[arg(long)]
        login: String,
        /// Its id, as `user credentials` shows it
        id: String,
    },
    /// Set the password with which a user signs in on the site, read from standard input
    SetPassword {
        /// Whose password it is
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
    /// Import a whole site from a bundle, its ids kept
    Bundle {
        /// The bundle, a JSON file
        file: PathBuf,
    },
    /// Import orders, products, customers and what belongs to them, as JSON lines or CSV in the
    /// shape of the REST bodies
    Orders(ImportOrders),
    /// Import a live store through its REST interface, its ids kept
    Woocommerce(ImportWoocommerce),
}

#[derive(Debug, ClapArgs)]
pub(crate) struct ImportWoocommerce {
    /// Address of the store
    #[arg(long, value_name = "URL")]
    pub(crate) url: url::Url,
    /// A consumer key of the store that may read
    #[arg(long, value_name = "KEY")]
    pub(crate) consumer_key: String,
    /// The secret of the consumer key; `-` reads it from standard input, where no other user of the
    /// machine sees it
    #[arg(long, value_name = "SECRET")]
    pub(crate) consumer_secret: String,
    /// Only products, coupons and orders that were changed after this time, such as
    /// 2026-03-31T12:00:00Z; what is here already becomes what the store says
    #[arg(long, value_name = "TIME", value_parser = moment)]
    pub(crate) since: Option<Timestamp>,
    /// Go on where an import from the same store was cut
    #[arg(long)]
    pub(crate) resume: bool,
    /// Also ask a store that is not on the public internet, or without encryption
    #[arg(long)]
    pub(crate) allow_private: bool,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct ImportOrders {
    /// JSON lines (.jsonl) or CSV (.csv)
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// Leave out rows with faults, and tell of them; otherwise one fault keeps all rows out
    #[arg(long)]
    pub(crate) skip_bad: bool,
    /// Go on where an import of the same files was cut
    #[arg(long)]
    pub(crate) resume: bool,
    /// Where the records come from: files of one source refer to each other by their own numbers
    #[arg(long, value_name = "NAME", default_value = "files")]
    pub(crate) source: String,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct Onboard {
    /// The file; its name ends in .jsonl, .ndjson or .csv
    pub(crate) file: PathBuf,
    /// The ISO whose merchants they are
    #[arg(long, value_name = "ID")]
    pub(crate) iso: String,
    /// Where to write what became of each row, as JSON lines
    #[arg(long, value_name = "FILE")]
    pub(crate) results: Option<PathBuf>,
    /// Go on with a file that was begun before: try the rows that are not onboarded yet
    #[arg(long)]
    pub(crate) resume: bool,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct UserCreate {
    /// Name to log in with
    #[arg(long)]
    pub(crate) login: String,
    /// E-mail address
    #[arg(long)]
    pub(crate) email: String,
    /// What the user may do
    #[arg(long, value_enum)]
    pub(crate) role: Role,
    /// The ISO of an `iso_admin` or `iso_staff`
    #[arg(long, value_name = "ID")]
    pub(crate) iso: Option<String>,
    /// The merchant of a merchant user
    #[arg(long, value_name = "ID")]
    pub(crate) merchant: Option<String>,
    /// The store of a store user
    #[arg(long, value_name = "ID")]
    pub(crate) store: Option<String>,
    /// Read the password from standard input; without it the user has none yet
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
    /// The site's REST interface, under the names that the settings give it
    Rest,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Config {
    /// Print every setting with its value and meaning, as a configuration file
    Print,
}

fn address(text: &str) -> Result<SocketAddr, String> {
    text.parse().map_err(|_| String::from("write an address and a port, such as 127.0.0.1:8080"))
}

fn key_life(text: &str) -> Result<KeyLife, String> {
    if text == "never" { Ok(KeyLife::Forever) } else { duration(text).map(KeyLife::For) }
}

fn moment(text: &str) -> Result<Timestamp, String> {
    Timestamp::parse(text).ok_or_else(|| String::from("write a time such as 2026-03-31T12:00:00Z"))
}

fn duration(text: &str) -> Result<Duration, String> {
    let wrong = || format!("`{text}` is no duration; write a number and d, h, m or s: 30d");
    let unit = text.chars().last().ok_or_else(wrong)?;
    let seconds_per_unit = match unit {
        'd' => 24 * 60 * 60,
        'h' => 60 * 60,
        'm' => 60,
        's' => 1,
        _ => return Err(wrong()),
    };
    let digits = text.strip_suffix(unit).filter(|digits| !digits.starts_with('+'));
    let digits = digits.ok_or_else(wrong)?;
    let number: u64 = digits.parse().map_err(|_| wrong())?;
    number.checked_mul(seconds_per_unit).map(Duration::from_secs).ok_or_else(wrong)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        use clap::CommandFactory as _;
        Args::command().debug_assert();
    }

    #[test]
    fn durations() {
        assert_eq!(duration("2h"), Ok(Duration::from_hours(2)));
        assert_eq!(key_life("never"), Ok(KeyLife::Forever));
        for wrong in ["", "h", "3", "-1d", "1.5h", "99999999999999999999d", "3dd", "+1d", "1 d"] {
            assert!(duration(wrong).is_err(), "{wrong:?}");
        }
    }
}
