//! Which node brings facts to `ClickHouse`: the one that holds the lease, which is kept with the
//! records. The others look whether its holder still renews it, **each by its own watch**: no two
//! clocks need to agree, and none may jump.
//!
//! A holder that stands still for long may find out late that it has lost the lease, so that two
//! write for a moment. What became of that is put right ([`rechecks`](super::rechecks)).

use std::time::{Duration, Instant};

use db::{Conn, Database, fact};
use types::{Clock, Result};

/// The fact about the database that says who holds the lease, and how often it was renewed.
const NAME: &str = "local.analytics_lease";
/// Without a renewal for so long the lease is anybody's.
const LENGTH: Duration = Duration::from_secs(15);
/// It is renewed so often.
const RENEWED_EVERY: Duration = Duration::from_secs(5);

#[derive(Debug)]
pub(super) struct Lease {
    store: Database,
    /// Who holds it, if it is held here.
    holder: String,
    renewals: u64,
    /// When it was taken or renewed here, if it is held here.
    renewed: Option<Instant>,
    /// What others had written, and since when it has been seen.
    seen: Option<(String, Instant)>,
}

impl Lease {
    pub(super) fn new(store: Database) -> Self {
        let now = Clock::System.now().as_micros();
        let holder = format!("{:x}-{now:x}", std::process::id());
        Self { store, holder, renewals: 0, renewed: None, seen: None }
    }

    /// Holds on to the lease, or takes it if nobody has it. Returns whether it is held here.
    pub(super) fn hold(&mut self) -> Result<bool> {
        if self.renewed.is_some_and(|renewed| renewed.elapsed() < RENEWED_EVERY) {
            return Ok(true);
        }
        let known = self.store.read_blocking(|conn| fact::get(conn, NAME))?.unwrap_or_default();
        if !self.is_free(&known, Instant::now()) {
            self.renewed = None;
            return Ok(false);
        }
        self.write(Some(known))
    }

    /// Takes the lease from whoever has it.
    pub(super) fn seize(&mut self) -> Result<bool> {
        self.write(None)
    }

    /// Whether what is known is the own lease, nobody's, or one that was not renewed for long.
    fn is_free(&mut self, known: &str, now: Instant) -> bool {
        if known.is_empty() || holder_of(known) == self.holder {
            return true;
        }
        match &self.seen {
            Some((seen, since)) if seen == known => now.duration_since(*since) >= LENGTH,
            _ => {
                self.seen = Some((known.to_owned(), now));
                false
            }
        }
    }

    /// Writes the own lease, if what is there is still what is known.
    fn write(&mut self, known: Option<String>) -> Result<bool> {
        self.renewals += 1;
        let started = Instant::now();
        let own = format!("{} {}", self.holder, self.renewals);
        let is_held = self.store.write_blocking(move |conn| {
            let is_known = known.as_ref().map_or(Ok(true), |known| is(conn, known))?;
            if is_known {
                fact::put(conn, NAME, &own)?;
            }
            Ok(is_known)
        })?;
        self.renewed = is_held.then_some(started);
        Ok(is_held)
    }

    /// Lets go of the lease, if it is held here.
    pub(super) fn release(&mut self) -> Result<()> {
        if self.renewed.take().is_none() {
            return Ok(());
        }
        let own = format!("{} {}", self.holder, self.renewals);
        self.store.write_blocking(
            move |conn| if is(conn, &own)? { fact::put(conn, NAME, "") } else { Ok(()) },
        )
    }
}

fn is(conn: &mut dyn Conn, known: &str) -> Result<bool> {
    Ok(fact::get(conn, NAME)?.unwrap_or_default() == known)
}

fn holder_of(known: &str) -> &str {
    known.split_once(' ').unwrap_or_default().0
}

#[cfg(test)]
mod tests {
    use db::Location;

    use super::*;

    #[test]
    fn a_lease_that_nobody_renews_is_anybodys() {
        let folder = tempfile::tempdir().unwrap();
        let location = Location::File(folder.path().join("site.db"));
        let store = Database::open(&location, schema::MIGRATIONS).unwrap();
        let [mut one, mut other] = ["one", "other"]
            .map(|holder| Lease { holder: holder.to_owned(), ..Lease::new(store.clone()) });
        assert!(one.hold().unwrap() && one.hold().unwrap());
        assert!(!other.hold().unwrap());
        let (now, late) = (Instant::now(), Instant::now() + LENGTH);
        assert!(!other.is_free("one 1", now), "seen a moment ago");
        assert!(!other.is_free("one 2", late), "renewed");
        assert!(other.is_free("one 2", late + LENGTH));
        assert!(one.is_free("one 2", now), "the own one");
        // Who was away finds out, and lets go of nothing that is not theirs.
        assert!(other.seize().unwrap());
        one.renewed = None;
        assert!(!one.hold().unwrap());
        one.renewed = Some(Instant::now());
        one.release().unwrap();
        assert!(!one.hold().unwrap());
        other.release().unwrap();
        assert!(one.hold().unwrap());
    }
}
