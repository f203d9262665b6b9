//! What can be typed about ISOs: their accounts, keys, templates, merchants and audit logs.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args as ClapArgs, Subcommand};
use onboarding::dialect::ResponseStyle;
use onboarding::keys::KeyLife;
use types::{AddressRange, Scope};

use super::{Listing, duration, key_life};

#[derive(Debug, Subcommand)]
pub(crate) enum Audit {
    /// Export the audit log to a file, as JSON Lines
    Export {
        /// Output file; must not exist
        file: PathBuf,
        /// ISO of the log [default: the operator's log]
        #[arg(long, value_name = "ID")]
        iso: Option<String>,
    },
    /// Check every entry of the audit log; exit status 1 if one was changed or removed
    Verify {
        /// ISO of the log [default: the operator's log]
        #[arg(long, value_name = "ID")]
        iso: Option<String>,
    },
    /// Move old entries to a file; the remaining entries can still be verified
    Purge {
        /// Output file; must not exist
        file: PathBuf,
        /// ISO of the log [default: the operator's log]
        #[arg(long, value_name = "ID")]
        iso: Option<String>,
        /// Minimum age, such as 400d; production does not accept less
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
        /// Response style: `detailed` lists all errors, `summary` only the first one
        #[arg(long, default_value = "detailed")]
        response_style: ResponseStyle,
    },
    /// List ISOs
    List,
    /// Approve an ISO that registered itself
    Approve(Decided),
    /// Permanently reject an ISO that registered itself
    Reject(Decided),
    /// Suspend an ISO: its API keys and users are blocked within a second
    Suspend(Decided),
    /// Resume a suspended ISO
    Resume(Decided),
    /// Show or set an ISO's limits
    Limit {
        /// Id of the ISO, as shown by `iso list`
        iso_id: String,
        /// Limits such as merchants=500, tpns=none, onboardings=1000 (per day) or requests=20 (per
        /// second)
        #[arg(value_name = "NAME=VALUE", value_parser = onboarding::isos::limits::parse_change)]
        limits: Vec<onboarding::isos::limits::Change>,
    },
}

/// The ISO of a decision.
#[derive(Debug, ClapArgs)]
pub(crate) struct Decided {
    /// Id of the ISO, as shown by `iso list`
    pub(crate) iso_id: String,
    /// Short reason, visible to the ISO
    #[arg(long)]
    pub(crate) reason: Option<String>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Key {
    /// Create an API key; it is shown only once
    Create {
        /// ISO of the key; with --server that of the calling key
        #[arg(long, value_name = "ID")]
        iso: Option<String>,
        /// Name of the key
        #[arg(long, default_value = "API key")]
        name: String,
        #[arg(
            long = "scope",
            value_name = "SCOPE",
            value_delimiter = ',',
            help = format!(
                "Scope of the key; repeatable [default: all, or with --server those of the \
                 calling key]: {}",
                scopes()
            )
        )]
        scopes: Vec<Scope>,
        /// Lifetime of the key, such as 90d or 12h; `never` is accepted only in the sandbox
        /// [default: 365d, or with --server until the calling key expires]
        #[arg(long, value_name = "DURATION", value_parser = key_life)]
        expires: Option<KeyLife>,
        /// Allowed IP address or network; repeatable [default: all]
        #[arg(long = "ip", value_name = "RANGE", value_delimiter = ',')]
        ips: Vec<AddressRange>,
    },
    /// List the API keys of all ISOs
    List,
    /// Replace an API key with a new one that has the same settings
    Rotate {
        /// Id of the key, as shown by `key list`
        key_id: String,
        /// How long the old key stays valid
        #[arg(long, value_name = "DURATION", default_value = "24h", value_parser = duration)]
        overlap: Duration,
    },
    /// Revoke an API key immediately
    Revoke {
        /// Id of the key, as shown by `key list`
        key_id: String,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum Template {
    /// Create a template
    Create {
        /// ISO of the template; with --server that of the key
        #[arg(long, value_name = "ID")]
        iso: Option<String>,
        /// Name: 5 to 30 letters and digits, unique within the ISO
        #[arg(long)]
        name: String,
        /// JSON file with the parameters
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
    /// List the merchants of a server
    List(Listing),
    /// Show a merchant of a server
    Show {
        /// Id, as shown by `merchant list`
        id: String,
    },
    /// Approve a merchant
    Approve(Reviewed),
    /// Permanently reject a merchant
    Reject(Reviewed),
    /// Request more information; the review continues when the merchant is updated
    Ask {
        #[command(flatten)]
        reviewed: Reviewed,
        /// Requested field, such as phoneNumber; repeatable
        #[arg(long = "field", value_name = "NAME", required = true)]
        fields: Vec<String>,
    },
}

/// The merchant of a review.
#[derive(Debug, ClapArgs)]
pub(crate) struct Reviewed {
    /// ISO of the merchant
    #[arg(long, value_name = "ID")]
    pub(crate) iso: String,
    /// Id of the merchant
    pub(crate) merchant_id: String,
    /// Short reason, visible to the ISO
    #[arg(long)]
    pub(crate) reason: Option<String>,
}

fn scopes() -> String {
    let names: Vec<&str> = Scope::ALL.iter().map(|scope| scope.name()).collect();
    names.join(", ")
}
