//! The kinds of endpoints that can be told of changes. A further kind implements [`Kind`], follows
//! the feed in [`follow`], and is found in [`of`].

use std::fmt::Debug;
use std::sync::Arc;

use commerce::webhooks::{follow as webhooks, send};
use site::Site;
use site::outbound::Fetch;
use store::Conn;
use store::webhook_delivery::{DeliveryRow, Endpoint};
use types::{Kind as ErrorKind, Result, Timestamp};

/// What the engine must know about an endpoint.
pub(super) trait Kind: Send + Sync + Debug {
    /// The request of a delivery, signed; nothing when the endpoint does not want it any more.
    fn request(
        &self,
        site: &Site,
        conn: &mut dyn Conn,
        delivery: &DeliveryRow,
    ) -> Result<Option<Fetch>>;

    /// Whether an answer with this status took the delivery.
    fn is_taken(&self, status: u16) -> bool;

    /// Notes what came of an attempt, in the transaction that finishes it. Returns whether one that
    /// failed is to be tried again.
    fn note(
        &self,
        conn: &mut dyn Conn,
        delivery: &DeliveryRow,
        succeeded: bool,
        now: Timestamp,
    ) -> Result<bool>;
}

/// The kind of an endpoint, if there is one of its name.
pub(super) fn of(endpoint: &Endpoint) -> Option<&'static dyn Kind> {
    match endpoint.kind.as_str() {
        Endpoint::WEBHOOK => Some(&Webhook),
        _ => None,
    }
}

/// Turns the events since the last time into deliveries, for all kinds of endpoints.
pub(super) async fn follow(site: &Arc<Site>) -> Result<()> {
    let now = site.clock().now();
    loop {
        let seen_by = Arc::clone(site);
        let step = site.store().read(move |conn| webhooks::next_step(&seen_by, conn, now));
        let Some(step) = step.await? else { return Ok(()) };
        let count = step.deliveries();
        match site.store().write(move |conn| webhooks::take_step(conn, &step)).await {
            // Another process follows, too, and was faster.
            Err(error) if error.kind() == ErrorKind::Conflict => return Ok(()),
            taken => taken?,
        }
        if count > 0 {
            tracing::debug!(count, "changes wait to be delivered");
        }
    }
}

/// A webhook of the shop.
#[derive(Debug)]
struct Webhook;

impl Kind for Webhook {
    fn request(
        &self,
        site: &Site,
        conn: &mut dyn Conn,
        delivery: &DeliveryRow,
    ) -> Result<Option<Fetch>> {
        send::request(site, conn, delivery)
    }

    fn is_taken(&self, status: u16) -> bool {
        send::is_taken(status)
    }

    fn note(
        &self,
        conn: &mut dyn Conn,
        delivery: &DeliveryRow,
        succeeded: bool,
        now: Timestamp,
    ) -> Result<bool> {
        send::note(conn, delivery, succeeded, now)
    }
}
