//! The audit log over the years: its end is told once a day, it is exported as JSON lines, and what
//! is old is taken off line after it was exported.

use std::time::Duration;

use data_encoding::HEXLOWER;
use db::Conn;
use db::outbox::{self, Event};
use serde_json::json;
use types::{Environment, Error, IsoId, Result, Timestamp};

use super::chain::seal_start;
use super::entry::{Entry, append};
use super::full_check;
use super::shown::AuditView;
use crate::Platform;
use crate::event_kinds;
use crate::rows::audit;
use crate::rows::audit::Head;
use crate::rows::audit_keeping as retention;

/// How long entries stay on line at least, in production.
pub const ONLINE_FOR: Duration = Duration::from_hours(400 * 24);
/// How often the end of a chain is announced.
const ANNOUNCED_EVERY: Duration = Duration::from_hours(24);
/// Chains whose end one round announces; the next round does the rest.
const ANNOUNCED_MAX: i64 = 1_000;
/// Entries read, or taken off line, at once.
const PAGE: i64 = 1_000;

/// Takes lines, page by page; when it returns, they are on the disk. An error ends the export.
pub type Sink<'a> = &'a mut dyn FnMut(&[String]) -> Result<()>;

impl Platform {
    /// Tells each ISO the end of its chain, if it moved, once a day: whoever keeps it can prove
    /// later what the log said. Every such chain is checked as a whole, too. Returns those that
    /// belong to no ISO, for the operator's log.
    pub async fn audit_heads_tell(&self) -> Result<Vec<Head>> {
        let now = self.clock.now();
        let day = i64::try_from(ANNOUNCED_EVERY.as_micros()).unwrap_or(i64::MAX);
        let until = Timestamp::from_micros(now.as_micros().saturating_sub(day));
        let untold = move |conn: &mut dyn Conn| retention::untold(conn, until, ANNOUNCED_MAX);
        if self.store.read(untold).await?.is_empty() {
            return Ok(Vec::new());
        }
        let announce = move |conn: &mut dyn Conn| {
            let mut of_nobody = Vec::new();
            for (head, is_new) in retention::untold(conn, until, ANNOUNCED_MAX)? {
                // A new chain is told of when its first day is over.
                let seq = if is_new { 0 } else { head.seq };
                retention::note_told(conn, &head.iso_id, seq, now)?;
                if is_new {
                    continue;
                }
                let owner = (!head.iso_id.is_empty()).then(|| IsoId::new(&*head.iso_id));
                full_check::enqueue(conn, owner.as_ref(), now)?;
                if owner.is_none() {
                    of_nobody.push(head);
                } else {
                    outbox::append(conn, &head_event(&head, now))?;
                }
            }
            Ok(of_nobody)
        };
        self.store.write(announce).await
    }

    /// Writes a chain as JSON lines, the oldest entry first, and returns how many there were.
    /// Blocks; it is for the command line.
    pub fn audit_export(&self, iso_id: Option<&IsoId>, sink: Sink<'_>) -> Result<u64> {
        self.audit_chain_blocking()?;
        let (mut after, mut count) = (0, 0_u64);
        loop {
            let (owner, from) = (iso_id.cloned(), after);
            let page = self
                .store
                .list_blocking(move |conn| audit::after(conn, owner.as_ref(), from, PAGE))?;
            let Some(last) = page.last() else { return Ok(count) };
            after = last.seq;
            count += write_page(page, sink)?;
        }
    }

    /// Exports what is older than that and takes it off line; returns how much it was. A checkpoint
    /// stays, by which the rest can be checked. **An entry goes only after it was written.**
    /// Blocks; it is for the command line.
    pub fn audit_purge(
        &self,
        iso_id: Option<&IsoId>,
        older_than: Duration,
        sink: Sink<'_>,
    ) -> Result<u64> {
        if self.environment == Environment::Production && older_than < ONLINE_FOR {
            return Err(Error::invalid("audit log entries must be kept for at least 400 days"));
        }
        self.audit_chain_blocking()?;
        let now = self.clock.now();
        let age = i64::try_from(older_than.as_micros()).unwrap_or(i64::MAX);
        let before = Timestamp::from_micros(now.as_micros().saturating_sub(age));
        let mut count = 0_u64;
        loop {
            let owner = iso_id.cloned();
            let page = self
                .store
                .read_blocking(move |conn| retention::oldest(conn, owner.as_ref(), before, PAGE))?;
            let Some(last) = page.last().cloned() else { break };
            count += write_page(page, sink)?;
            let vault = std::sync::Arc::clone(&self.vault);
            self.store.write_blocking(move |conn| {
                retention::cut(conn, &last, &|start| seal_start(&vault, start), now)
            })?;
        }
        if count > 0 {
            let entry = Entry::by_system(iso_id, now, "audit.purge", "audit", "");
            let entry = entry.changed("entries", (), count);
            self.store.write_blocking(move |conn| append(conn, &entry))?;
        }
        Ok(count)
    }
}

fn write_page(page: Vec<audit::Link>, sink: Sink<'_>) -> Result<u64> {
    let line = |link: audit::Link| {
        serde_json::to_string(&AuditView::from(link))
            .map_err(|error| Error::internal("cannot serialize an entry").because(error))
    };
    let lines = page.into_iter().map(line).collect::<Result<Vec<String>>>()?;
    sink(&lines)?;
    Ok(u64::try_from(lines.len()).unwrap_or(u64::MAX))
}

fn head_event(head: &Head, now: Timestamp) -> Event {
    let data = json!({
        "object": "audit", "id": head.iso_id, "status": "chained", "sequence": head.seq,
        "hash": HEXLOWER.encode(&head.hash), "seal": HEXLOWER.encode(&head.seal), "changed": [],
    });
    Event {
        iso_id: Some(IsoId::new(&*head.iso_id)),
        kind: event_kinds::AUDIT_HEAD,
        object_id: head.iso_id.clone(),
        payload: data.to_string(),
        created: now,
    }
}
