//! The marketplace as the site knows it: [`client`] asks it, over HTTP or the bundled one, and
//! [`subscriptions`] keeps what was bought.

mod answer;
mod bundled;
pub(crate) mod client;
pub(crate) mod subscriptions;

pub(crate) use self::answer::MarketReply;
