//! What can be typed about a server elsewhere: profiles of servers, and objects that commands reach
//! over HTTP only.

use clap::{Args as ClapArgs, Subcommand};
use url::Url;

use super::Interface;

#[derive(Debug, Subcommand)]
pub(crate) enum Profile {
    /// Save the server of --server under a name, with an API key read from standard input
    Set {
        /// Name of the profile
        name: String,
    },
    /// List profiles; keys are not shown
    List,
    /// Delete a profile
    Remove {
        /// Name of the profile
        name: String,
    },
}

/// Objects of a kind that has a list.
#[derive(Debug, Subcommand)]
pub(crate) enum Listed {
    /// List the newest first
    List(Listing),
    /// Show one
    Show {
        /// Id, as shown by `list`
        id: String,
    },
}

#[derive(Debug, ClapArgs)]
pub(crate) struct Listing {
    /// Filter of the list, by a parameter of the API such as merchantId=…; repeatable
    #[arg(long = "filter", value_name = "NAME=VALUE", value_parser = filter)]
    pub(crate) filters: Vec<(String, String)>,
    /// Maximum number of rows
    #[arg(long, value_name = "N", default_value_t = 100)]
    pub(crate) limit: usize,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Webhook {
    /// Create a webhook; its secret is shown only once
    Create {
        /// Receiver of the events
        #[arg(long, value_name = "URL")]
        url: Url,
        /// Event type such as merchant.created or tpn.*; repeatable [default: all]
        #[arg(long = "event", value_name = "TYPE", value_delimiter = ',')]
        events: Vec<String>,
        /// What the webhook is for
        #[arg(long)]
        description: Option<String>,
    },
    /// List webhooks
    List,
    /// Send a test event
    Test {
        /// Id of the webhook, as shown by `webhook list`
        webhook_id: String,
    },
    /// Delete a webhook and its pending deliveries
    Delete {
        /// Id of the webhook, as shown by `webhook list`
        webhook_id: String,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum Connect {
    /// Connect a store and wait until it is copied. Without a key, shows the page on which its
    /// owner grants one
    Woocommerce(ConnectWoocommerce),
    /// List connected stores, the newest first
    List(Listing),
    /// Show a connected store
    Show {
        /// Id of the connection, as shown by `connect list`
        connection_id: String,
    },
    /// Change a connected store: its URL, the key to it, or whose it is
    Update(ConnectUpdate),
    /// Stop asking a store for anything
    Pause {
        /// Id of the connection, as shown by `connect list`
        connection_id: String,
    },
    /// Ask a store for changes again
    Resume {
        /// Id of the connection, as shown by `connect list`
        connection_id: String,
    },
    /// Replace the key for the reports of a store; the old one stops working at once
    ReplaceKey {
        /// Id of the connection, as shown by `connect list`
        connection_id: String,
    },
    /// Disconnect a store and delete its copy
    Remove {
        /// Id of the connection, as shown by `connect list`
        connection_id: String,
    },
    /// Show what all connected stores sold
    Portfolio(Portfolio),
    /// List alerts about connected stores, the newest first
    Alerts(Listing),
    /// Exchange rates of the portfolio
    #[command(subcommand)]
    Rates(Rates),
}

#[derive(Debug, ClapArgs)]
pub(crate) struct Portfolio {
    /// First day, such as 2026-11-01
    #[arg(long, value_name = "DAY")]
    pub(crate) from: String,
    /// Last day
    #[arg(long, value_name = "DAY")]
    pub(crate) to: String,
    /// Group by merchant, store, day, country, category or currency
    #[arg(long, value_name = "GROUP", default_value = "merchant")]
    pub(crate) group_by: String,
    /// Convert into this currency by the rates of `connect rates`
    #[arg(long, value_name = "CURRENCY")]
    pub(crate) currency: Option<String>,
    /// Sort by netSales, orders, refunds or growth
    #[arg(long, value_name = "COLUMN", default_value = "netSales")]
    pub(crate) order_by: String,
    /// Maximum number of groups of each currency
    #[arg(long, value_name = "N", default_value_t = 100)]
    pub(crate) limit: usize,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Rates {
    /// List the rates
    List,
    /// Set a rate, such as `rates set EUR USD 1.0825 --from 2026-11-01`
    Set {
        /// Currency that is converted
        currency: String,
        /// Currency that it is converted into
        into: String,
        /// What one unit of the former is in units of the latter
        rate: String,
        /// First day on which the rate holds
        #[arg(long, value_name = "DAY")]
        from: String,
    },
    /// Remove a rate
    Remove {
        /// Currency that is converted
        currency: String,
        /// Currency that it is converted into
        into: String,
        /// First day on which the rate holds
        #[arg(long, value_name = "DAY")]
        from: String,
    },
}

#[derive(Debug, ClapArgs)]
pub(crate) struct ConnectWoocommerce {
    /// URL of the store
    #[arg(long, value_name = "URL")]
    pub(crate) url: Url,
    #[command(flatten)]
    pub(crate) key: StoreKeyArgs,
    #[command(flatten)]
    pub(crate) owner: StoreOwnerArgs,
    /// Do not wait until the store is checked and copied
    #[arg(long)]
    pub(crate) no_wait: bool,
    /// Copy the store without asking, whatever the checks find
    #[arg(long)]
    pub(crate) yes: bool,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct ConnectUpdate {
    /// Id of the connection, as shown by `connect list`
    pub(crate) connection_id: String,
    /// New URL of the same store
    #[arg(long, value_name = "URL")]
    pub(crate) url: Option<Url>,
    #[command(flatten)]
    pub(crate) key: StoreKeyArgs,
    #[command(flatten)]
    pub(crate) owner: StoreOwnerArgs,
}

/// The key to a store.
#[derive(Debug, ClapArgs)]
pub(crate) struct StoreKeyArgs {
    /// Consumer key of the store
    #[arg(long, value_name = "KEY", requires = "consumer_secret")]
    pub(crate) consumer_key: Option<String>,
    /// Consumer secret; `-` reads it from standard input, which hides it from other users of the
    /// machine
    #[arg(long, value_name = "SECRET", requires = "consumer_key")]
    pub(crate) consumer_secret: Option<String>,
}

/// Whose store it is.
#[derive(Debug, ClapArgs)]
pub(crate) struct StoreOwnerArgs {
    /// Merchant whose store it is
    #[arg(long, value_name = "ID")]
    pub(crate) merchant: Option<String>,
    /// Store of that merchant that it belongs to
    #[arg(long, value_name = "ID")]
    pub(crate) store: Option<String>,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct Listen {
    #[arg(
        long,
        value_name = "URL",
        help = "Local address to send events to, such as http://127.0.0.1:3000/webhooks"
    )]
    pub(crate) forward_to: Url,
    /// Event type such as merchant.created or tpn.*; repeatable [default: all]
    #[arg(long = "event", value_name = "TYPE", value_delimiter = ',')]
    pub(crate) events: Vec<String>,
    /// Start after the event with this number [default: new events only]
    #[arg(long, value_name = "SEQUENCE")]
    pub(crate) after: Option<u64>,
    /// Secret to sign with (whsec_…) [default: a new one, which is printed]
    #[arg(long, value_name = "SECRET")]
    pub(crate) secret: Option<String>,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct Mcp {
    /// Offer tools that change data as well
    #[arg(long)]
    pub(crate) allow_writes: bool,
    /// Interface to serve; for `rest`, the API key is KEY:SECRET or LOGIN:PASSWORD
    #[arg(long, value_enum, default_value_t = Interface::Onboarding)]
    pub(crate) interface: Interface,
    /// Group of operations, such as merchants or wc/v3; repeatable [default: all, or wc/v3]
    #[arg(long = "group", value_name = "GROUP", value_delimiter = ',')]
    pub(crate) groups: Vec<String>,
}

fn filter(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or_else(|| String::from("expected NAME=VALUE"))?;
    Ok((name.to_owned(), value.to_owned()))
}
