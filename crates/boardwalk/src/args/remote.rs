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
    /// Filter of the list, such as status=active; the API reference names them; repeatable
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
