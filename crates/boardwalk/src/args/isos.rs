//! What can be typed about ISOs: their accounts, keys, templates, merchants and audit logs.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args as ClapArgs, Subcommand};
use onboarding::dialect::ResponseStyle;
use onboarding::keys::KeyLife;
use types::{AddressRange, Scope};

use super::{duration, key_life};

#[derive(Debug, Subcommand)]
pub(crate) enum Audit {
    /// Write the audit log to a file, as JSON lines
    Export {
        /// The file to write; it must not exist
        file: PathBuf,
        /// The ISO whose log it is [default: what belongs to no ISO]
        #[arg(long, value_name = "ID")]
        iso: Option<String>,
    },
    /// Write old entries to a file and take them off line; the rest can still be checked
    Purge {
        /// The file to write; it must not exist
        file: PathBuf,
        /// The ISO whose log it is [default: what belongs to no ISO]
        #[arg(long, value_name = "ID")]
        iso: Option<String>,
        /// How old they must be, such as 400d; less is refused in production
        #[arg(long, value_name = "DURATION", default_value = "400d", value_parser = duration)]
        older_than: Duration,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum Iso {
    /// Register an ISO
    Create {
        /// Name of the ISO
        #[arg(long)]
        name: String,
        /// Form of its answers: detailed lists every error, summary tells the first one alone
        #[arg(long, default_value = "detailed")]
        response_style: ResponseStyle,
    },
    /// List the ISOs
    List,
    /// Let an ISO that registered itself start to work
    Approve(Decided),
    /// Turn down an ISO that registered itself, for good
    Reject(Decided),
    /// Stop an ISO: its keys and people are refused within a second
    Suspend(Decided),
    /// Let a suspended ISO go on
    Resume(Decided),
    /// Show or set what an ISO may use
    Limit {
        /// Id of the ISO, as `iso list` shows it
        iso_id: String,
        /// Such as merchants=500, tpns=none, onboardings=1000 (a day) or requests=20 (a second)
        #[arg(value_name = "NAME=VALUE", value_parser = onboarding::isos::limits::parse_change)]
        limits: Vec<onboarding::isos::limits::Change>,
    },
}

/// The ISO of a decision.
#[derive(Debug, ClapArgs)]
pub(crate) struct Decided {
    /// Id of the ISO, as `iso list` shows it
    pub(crate) iso_id: String,
    /// Why, in a few words; the ISO can read it
    #[arg(long)]
    pub(crate) reason: Option<String>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Key {
    /// Make an API key; it is shown this once
    Create {
        /// The ISO that the key belongs to
        #[arg(long, value_name = "ID")]
        iso: String,
        /// What the key is for
        #[arg(long, default_value = "API key")]
        name: String,
        #[arg(
            long = "scope",
            value_name = "SCOPE",
            value_delimiter = ',',
            help = format!("A scope of the key, repeatable [default: everything]: {}", scopes())
        )]
        scopes: Vec<Scope>,
        /// How long the key lives, such as 365d or 12h; `never` in the sandbox only
        #[arg(long, value_name = "DURATION", default_value = "365d", value_parser = key_life)]
        expires: KeyLife,
        /// An address or network from which the key may be used, repeatable [default: all]
        #[arg(long = "ip", value_name = "RANGE", value_delimiter = ',')]
        ips: Vec<AddressRange>,
    },
    /// List the keys of all ISOs
    List,
    /// Replace a key by a new one like it
    Rotate {
        /// Id of the key, as `key list` shows it
        key_id: String,
        /// How long the old key stays valid
        #[arg(long, value_name = "DURATION", default_value = "24h", value_parser = duration)]
        overlap: Duration,
    },
    /// End a key at once
    Revoke {
        /// Id of the key, as `key list` shows it
        key_id: String,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum Template {
    /// Make a template
    Create {
        /// The ISO that the template belongs to
        #[arg(long, value_name = "ID")]
        iso: String,
        /// 5 to 30 letters and digits, unique for the ISO
        #[arg(long)]
        name: String,
        /// A JSON object with the parameters
        #[arg(long, value_name = "JSON")]
        file: Option<PathBuf>,
        /// Start from a template that an active plugin offers
        #[arg(long, value_name = "NAME", conflicts_with = "file")]
        offer: Option<String>,
    },
    /// List the templates that active plugins offer
    Offers,
    /// List the templates of all ISOs
    List,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Merchant {
    /// Let a merchant start to work
    Approve(Reviewed),
    /// Reject a merchant for good
    Reject(Reviewed),
    /// Ask for data; the merchant comes back into review when they are sent
    Ask {
        #[command(flatten)]
        reviewed: Reviewed,
        /// A field to ask for, such as phoneNumber; may be given several times
        #[arg(long = "field", value_name = "NAME", required = true)]
        fields: Vec<String>,
    },
}

/// The merchant of a review.
#[derive(Debug, ClapArgs)]
pub(crate) struct Reviewed {
    /// The ISO of the merchant
    #[arg(long, value_name = "ID")]
    pub(crate) iso: String,
    /// Id of the merchant
    pub(crate) merchant_id: String,
    /// Why, in a few words; the ISO can read it
    #[arg(long)]
    pub(crate) reason: Option<String>,
}

fn scopes() -> String {
    let names: Vec<&str> = Scope::ALL.iter().map(|scope| scope.name()).collect();
    names.join(", ")
}
