//! The kinds of endpoints that can be told of changes. A further kind implements [`Kind`], follows
//! the feed in [`follow`], and is found in [`of`].

use std::fmt::Debug;
use std::sync::Arc;
use std::time::Duration;

use commerce::webhooks::{follow as webhooks, send};
use onboarding::Platform;
use onboarding::webhooks::send::Attempted;
use onboarding::webhooks::{WebhookSettings, follow as iso_webhooks, send as iso_send};
use site::Site;
use site::outbound::Fetch;
use store::Conn;
use store::delivery_step::Step;
use store::webhook_delivery::{DeliveryRow, Endpoint};
use types::{Kind as ErrorKind, Result, Timestamp};

/// Those for whom is delivered, and how.
#[derive(Clone, Debug)]
pub(super) struct Parties {
    pub(super) site: Arc<Site>,
    pub(super) platform: Arc<Platform>,
    pub(super) settings: WebhookSettings,
}

/// What follows an attempt that failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// Another one, after the engine's usual wait.
    Usual,
    /// Another one, after about this long.
    After(Duration),
    /// None: it is given up.
    Never,
}

/// What the engine must know about an endpoint.
pub(super) trait Kind: Send + Sync + Debug {
    /// The request of a delivery, signed; nothing when the endpoint does not want it any more.
    fn request(
        &self,
        parties: &Parties,
        conn: &mut dyn Conn,
        delivery: &DeliveryRow,
        now: Timestamp,
    ) -> Result<Option<Fetch>>;

    /// Whether an answer with this status took the delivery.
    fn is_taken(&self, status: u16) -> bool;

    /// Notes what came of an attempt, in the transaction that finishes it, and says what follows if
    /// it failed.
    fn note(
        &self,
        parties: &Parties,
        conn: &mut dyn Conn,
        delivery: &DeliveryRow,
        attempted: Attempted,
        now: Timestamp,
    ) -> Result<Next>;
}

/// The kind of an endpoint, if there is one of its name.
pub(super) fn of(endpoint: &Endpoint) -> Option<&'static dyn Kind> {
    match endpoint.kind.as_str() {
        Endpoint::WEBHOOK => Some(&Webhook),
        Endpoint::ISO_WEBHOOK => Some(&IsoWebhook),
        _ => None,
    }
}

/// Turns the events since the last time into deliveries, for all kinds of endpoints.
pub(super) async fn follow(parties: &Parties) -> Result<()> {
    let now = parties.site.clock().now();
    let site = Arc::clone(&parties.site);
    follow_with(parties, move |conn| webhooks::next_step(&site, conn, now)).await?;
    let platform = Arc::clone(&parties.platform);
    follow_with(parties, move |conn| iso_webhooks::next_step(&platform, conn, now)).await
}

async fn follow_with(
    parties: &Parties,
    next: impl Fn(&mut dyn Conn) -> Result<Option<Step>> + Clone + Send + 'static,
) -> Result<()> {
    let store = parties.site.store();
    loop {
        let Some(step) = store.read(next.clone()).await? else { return Ok(()) };
        let count = step.deliveries();
        match store.write(move |conn| step.take(conn)).await {
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
        parties: &Parties,
        conn: &mut dyn Conn,
        delivery: &DeliveryRow,
        _: Timestamp,
    ) -> Result<Option<Fetch>> {
        send::request(&parties.site, conn, delivery)
    }

    fn is_taken(&self, status: u16) -> bool {
        send::is_taken(status)
    }

    fn note(
        &self,
        _: &Parties,
        conn: &mut dyn Conn,
        delivery: &DeliveryRow,
        attempted: Attempted,
        now: Timestamp,
    ) -> Result<Next> {
        let goes_on = send::note(conn, delivery, attempted.succeeded, now)?;
        Ok(if goes_on { Next::Usual } else { Next::Never })
    }
}

/// A webhook of an ISO.
#[derive(Debug)]
struct IsoWebhook;

impl Kind for IsoWebhook {
    fn request(
        &self,
        parties: &Parties,
        conn: &mut dyn Conn,
        delivery: &DeliveryRow,
        now: Timestamp,
    ) -> Result<Option<Fetch>> {
        iso_send::request(&parties.platform, conn, delivery, &parties.settings, now)
    }

    fn is_taken(&self, status: u16) -> bool {
        iso_send::is_taken(status)
    }

    fn note(
        &self,
        parties: &Parties,
        conn: &mut dyn Conn,
        delivery: &DeliveryRow,
        attempted: Attempted,
        now: Timestamp,
    ) -> Result<Next> {
        let wait = iso_send::record(conn, delivery, attempted, &parties.settings, now)?;
        Ok(wait.map_or(Next::Never, Next::After))
    }
}
