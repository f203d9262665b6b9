//! From the feed of changes to deliveries: a follower reads events from where it stopped, and
//! enqueues what they mean in one transaction with its place.
//!
//! What is delivered is rendered beforehand, on a snapshot, so that writers do not wait for it.

use types::Result;

use crate::Conn;
use crate::outbox::{self, SequencedEvent};
use crate::webhook_delivery::{self, NewDelivery};

/// Events that one step looks at.
const EVENTS_MAX: i64 = 200;

/// Says which deliveries an event means.
pub type Renderer<'r> =
    &'r mut dyn FnMut(&mut dyn Conn, &SequencedEvent) -> Result<Vec<NewDelivery>>;

/// What the next events mean, to be written down at once.
#[derive(Clone, Debug)]
pub struct Step {
    follower: &'static str,
    from: i64,
    to: i64,
    deliveries: Vec<NewDelivery>,
}

impl Step {
    /// Reads the next events, and asks what each means; nothing when there are none.
    pub fn next(
        conn: &mut dyn Conn,
        follower: &'static str,
        render: Renderer<'_>,
    ) -> Result<Option<Self>> {
        let from = outbox::position(conn, follower)?;
        let events = outbox::after(conn, from, EVENTS_MAX)?;
        let Some(last) = events.last() else { return Ok(None) };
        let mut step = Self { follower, from, to: last.seq, deliveries: Vec::new() };
        for event in &events {
            step.deliveries.extend(render(conn, event)?);
        }
        Ok(Some(step))
    }

    /// Enqueues the deliveries and moves on. A conflict when somebody else did meanwhile: then
    /// nothing may stay of it.
    pub fn take(&self, conn: &mut dyn Conn) -> Result<()> {
        outbox::advance(conn, self.follower, self.from, self.to)?;
        for delivery in &self.deliveries {
            webhook_delivery::enqueue(conn, delivery)?;
        }
        Ok(())
    }

    /// How many deliveries it adds.
    pub fn deliveries(&self) -> usize {
        self.deliveries.len()
    }
}
