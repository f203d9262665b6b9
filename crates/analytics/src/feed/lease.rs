//! Which node brings facts to `ClickHouse`: the one that holds the lease, which is kept with the
//! records. **Two at a time do no harm**, since a change that is made twice comes to the same; the
//! lease saves the work.

use std::time::Duration;

use db::{Conn, Database, fact};
use types::{Clock, Result, Timestamp};

/// The fact about the database that says who holds the lease, and until when.
const NAME: &str = "analytics.feed_lease";
/// After so long without a sign of its holder the lease is anybody's.
const LENGTH: Duration = Duration::from_secs(15);
/// It is renewed when less than this is left of it.
const RENEWED_BEFORE: Duration = Duration::from_secs(10);

#[derive(Debug)]
pub(super) struct Lease {
    store: Database,
    /// Who holds it, if it is held here.
    holder: String,
    until: Option<Timestamp>,
}

impl Lease {
    pub(super) fn new(store: Database) -> Self {
        let now = Clock::System.now().as_micros();
        let holder = format!("{:x}-{now:x}", std::process::id());
        Self { store, holder, until: None }
    }

    /// Holds on to the lease, or takes it if nobody has it. Returns whether it is held here.
    pub(super) fn hold(&mut self) -> Result<bool> {
        self.take(false)
    }

    /// Takes the lease from whoever has it.
    pub(super) fn seize(&mut self) -> Result<bool> {
        self.take(true)
    }

    fn take(&mut self, from_others: bool) -> Result<bool> {
        let now = Clock::System.now();
        if self.until.is_some_and(|until| until > now.plus(RENEWED_BEFORE)) {
            return Ok(true);
        }
        let (holder, until) = (self.holder.clone(), now.plus(LENGTH));
        let is_held = self.store.write_blocking(move |conn| {
            if !from_others && is_of_another(conn, &holder, now)? {
                return Ok(false);
            }
            fact::put(conn, NAME, &format!("{holder} {}", until.as_micros()))?;
            Ok(true)
        })?;
        self.until = is_held.then_some(until);
        Ok(is_held)
    }

    /// Lets go of the lease, if it is held here.
    pub(super) fn release(&mut self) -> Result<()> {
        if self.until.take().is_none() {
            return Ok(());
        }
        let (holder, now) = (self.holder.clone(), Clock::System.now());
        self.store.write_blocking(move |conn| {
            if is_of_another(conn, &holder, now)? {
                return Ok(());
            }
            fact::put(conn, NAME, &format!("{holder} 0"))
        })
    }
}

fn is_of_another(conn: &mut dyn Conn, holder: &str, now: Timestamp) -> Result<bool> {
    let known = fact::get(conn, NAME)?.unwrap_or_default();
    let (other, until) = known.split_once(' ').unwrap_or_default();
    let until = until.parse().unwrap_or_default();
    Ok(other != holder && Timestamp::from_micros(until) > now)
}
