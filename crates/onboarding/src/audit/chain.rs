//! The chain of hashes along the audit log of each ISO: linking entries to it, and checking it.

use std::sync::Arc;

use data_encoding::HEXLOWER;
use db::Conn;
use types::{IsoId, Result, Timestamp};
use vault::Vault;

use super::entry::{Entry, append};
use crate::Platform;
use crate::caller::{Origin, Refused};
use crate::rows::audit::{self, Head, Link};
use crate::rows::audit_keeping;

/// Entries linked in one transaction.
const CHAIN_BATCH: i64 = 500;
/// Entries that one check looks at; a longer chain is checked in several.
pub const VERIFY_MAX: i64 = 100_000;
/// Entries read at once by a check.
const VERIFY_PAGE: i64 = 1_000;
/// Errors told of one check; the first one matters most.
const BREAKS_MAX: usize = 20;
/// What is wrong with a chain, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChainBreak {
    pub seq: i64,
    pub what: &'static str,
}

/// What a check of a chain, or of a part of it, found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verified {
    pub checked: i64,
    /// Where to go on; none when the end was reached.
    pub next: Option<i64>,
    pub head: Head,
    /// The first ones; none when the chain is whole.
    pub errors: Vec<ChainBreak>,
}

impl Platform {
    /// Links what has been appended. A read when there is nothing to link.
    pub async fn audit_chain(&self) -> Result<()> {
        while self.store.read(audit::has_unchained).await? {
            self.store.write(self.chaining()).await?;
        }
        Ok(())
    }

    /// [`Platform::audit_chain`] for the command line.
    pub(super) fn audit_chain_blocking(&self) -> Result<()> {
        while self.store.read_blocking(audit::has_unchained)? {
            self.store.write_blocking(self.chaining())?;
        }
        Ok(())
    }

    fn chaining(&self) -> impl Fn(&mut dyn Conn) -> Result<usize> + Send + 'static {
        let vault = Arc::clone(&self.vault);
        move |conn| audit::chain(conn, CHAIN_BATCH, &|head| seal(&vault, head))
    }

    /// Appends that a key was refused, in the chain of its ISO if it has one; of equal refusals,
    /// one in a minute.
    pub async fn audit_refused_key(
        &self,
        refused: &Refused,
        origin: &Origin,
        now: Timestamp,
    ) -> Result<()> {
        if !self.refusals.is_new(refused, origin.address) {
            return Ok(());
        }
        let (iso_id, key_id) = match &refused.key {
            Some((iso_id, key_id)) => (Some(iso_id), key_id.as_str()),
            None => (None, ""),
        };
        let actor = if key_id.is_empty() { "unknown".to_owned() } else { format!("key:{key_id}") };
        let entry = Entry::by(&actor, iso_id, now, "key.use", "key", key_id);
        let entry = entry.within(origin).refused(refused.reason.text());
        self.store.write(move |conn| append(conn, &entry)).await
    }

    /// Checks the chain of an ISO after the entry `after`, or of what belongs to none.
    pub async fn audit_verify(&self, iso_id: Option<IsoId>, after: i64) -> Result<Verified> {
        let vault = Arc::clone(&self.vault);
        // One snapshot: entries that are appended meanwhile would look like a broken end.
        let verify = move |conn: &mut dyn Conn| {
            let head = audit::head(conn, iso_id.as_ref())?;
            let mut check = Check::start(conn, iso_id.as_ref(), after, &vault)?;
            while check.checked < VERIFY_MAX && check.errors.len() < BREAKS_MAX {
                let page = audit::after(conn, iso_id.as_ref(), check.last, VERIFY_PAGE)?;
                if page.is_empty() {
                    check.end(&head, &seal(&vault, &head));
                    return Ok(Verified {
                        checked: check.checked,
                        next: None,
                        head,
                        errors: check.errors,
                    });
                }
                for link in &page {
                    check.link(link);
                }
            }
            let next = Some(check.last);
            Ok(Verified { checked: check.checked, next, head, errors: check.errors })
        };
        self.store.read(verify).await
    }
}

/// Proves the end of a chain, to those who have the installation's key.
fn seal(vault: &Vault, head: &Head) -> Vec<u8> {
    let hash = HEXLOWER.encode(&head.hash);
    vault.site_hash("audit head", &format!("{} {hash}", head.seq), &head.iso_id).to_vec()
}

/// Proves the start of a chain, to those who have the installation's key.
pub(super) fn seal_start(vault: &Vault, start: &Head) -> Vec<u8> {
    let position = format!("{} {}", start.seq, HEXLOWER.encode(&start.hash));
    vault.site_hash("audit checkpoint", &position, &start.iso_id).to_vec()
}

/// A walk along a chain.
struct Check {
    last: i64,
    hash: Vec<u8>,
    checked: i64,
    errors: Vec<ChainBreak>,
}

impl Check {
    /// What was taken off line is not looked at: the checkpoint stands for it.
    fn start(
        conn: &mut dyn Conn,
        iso_id: Option<&IsoId>,
        after: i64,
        vault: &Vault,
    ) -> Result<Self> {
        let start = audit_keeping::checkpoint(conn, iso_id)?;
        let last = after.max(start.seq);
        let mut check = Self { last, hash: Vec::new(), checked: 0, errors: Vec::new() };
        if start.seq > 0 && start.seal != seal_start(vault, &start) {
            check.error(start.seq, "the seal of the chain's start is wrong");
        }
        if check.last == start.seq {
            check.hash.clone_from(&start.hash);
        } else {
            let before = audit::after(conn, iso_id, check.last - 1, 1)?;
            match before.first().filter(|link| link.seq == check.last) {
                Some(link) => check.hash.clone_from(&link.hash),
                None => check.error(check.last, "the entry is missing"),
            }
        }
        Ok(check)
    }

    fn error(&mut self, seq: i64, what: &'static str) {
        if self.errors.len() < BREAKS_MAX {
            self.errors.push(ChainBreak { seq, what });
        }
    }

    fn link(&mut self, link: &Link) {
        let expected = self.last + 1;
        if link.seq != expected {
            self.error(expected, "the entry is missing");
        } else if link.prev_hash != self.hash {
            self.error(link.seq, "the entry does not follow the one before it");
        }
        if audit::hash(link.seq, &link.record, &link.prev_hash) != link.hash.as_slice() {
            self.error(link.seq, "the entry was changed");
        }
        self.last = link.seq;
        self.hash.clone_from(&link.hash);
        self.checked += 1;
    }

    fn end(&mut self, head: &Head, seal: &[u8]) {
        if head.seq > self.last {
            self.error(self.last + 1, "entries are missing at the end");
        } else if head.seq < self.last || head.hash != self.hash {
            self.error(self.last, "the end of the chain is another one");
        }
        if head.seq > 0 && head.seal != seal {
            self.error(head.seq, "the seal of the chain's end is wrong");
        }
    }
}
