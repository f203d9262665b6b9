//! The audit log: who did what, from where, in an order that nobody can change unnoticed.
//!
//! A change appends its [`Entry`] with [`append`] **in its own transaction**; housekeeping links
//! entries to chains afterwards ([`Platform::audit_chain`]). Each entry's hash covers the one
//! before it, and the end of each chain is sealed with a key that the database does not have, so
//! that [`Platform::audit_verify`] finds entries that were changed, taken out, moved or cut off.
//! Entries name fields and harmless values; **personal data and secrets never get here**.

mod endpoints;
mod refusals;
mod requests;
mod retention;

use serde_json::{Map, Value, json};
use store::Conn;
use store::audit::{self, Head, Link, Record};
use store::audit_keeping;
use types::{Error, IsoId, Result, Timestamp};

use crate::auth::Refused;
use crate::{Cx, Origin, Platform};
pub use endpoints::{AuditList, AuditVerified, AuditVerify, AuditView, FaultView};
pub(crate) use refusals::Noted;
pub(crate) use requests::RequestLog;
pub use requests::{RequestGet, redacted};
pub use retention::{ONLINE_FOR, Sink};

/// Entries linked in one transaction.
const CHAIN_BATCH: i64 = 500;
/// Entries that one check looks at; a longer chain is checked in several.
pub const VERIFY_MAX: i64 = 100_000;
/// Entries read at once by a check.
const VERIFY_PAGE: i64 = 1_000;
/// Faults told of one check; the first one matters most.
const FAULTS_MAX: usize = 20;
/// Stands for a value that is not to be read.
const MASKED: &str = "***";

/// What an entry says came of it.
pub const DONE: &str = "done";
pub const REFUSED: &str = "refused";

/// Something that somebody did to an object, to be appended in the transaction of doing it.
#[derive(Clone, Debug)]
pub struct Entry {
    record: Record,
    changes: Map<String, Value>,
}

impl Entry {
    /// What the caller of a request does: `action` such as `merchant.suspend`, to the object of
    /// that kind and id.
    pub fn new(cx: &Cx, action: &str, object: &str, object_id: impl Into<String>) -> Result<Self> {
        let (actor, iso_id) = match &cx.device {
            Some(device) => (device.actor(), device.iso_id()),
            None => (cx.caller()?.actor(), cx.caller()?.iso_id()),
        };
        let entry = Self::by(&actor, Some(iso_id), cx.now, action, object, object_id);
        Ok(entry.within(&cx.origin))
    }

    /// What an administrator of the site does to an ISO.
    pub(crate) fn by_administrator(cx: &Cx, iso_id: &IsoId, action: &str) -> Result<Self> {
        let missing = || Error::internal("an administrator's route was reached without one");
        let actor = format!("user:{}", cx.administrator.ok_or_else(missing)?);
        let entry = Self::by(&actor, Some(iso_id), cx.now, action, "iso", iso_id.as_str());
        Ok(entry.within(&cx.origin))
    }

    /// What somebody does to an ISO who needs no credentials for it.
    pub(crate) fn by_visitor(cx: &Cx, iso_id: &IsoId, action: &str) -> Self {
        let entry = Self::by("visitor", Some(iso_id), cx.now, action, "iso", iso_id.as_str());
        entry.within(&cx.origin)
    }

    /// The same author's entry on another object.
    #[must_use]
    pub(crate) fn about(&self, action: &str, object: &str, object_id: &str) -> Self {
        let mut entry = self.clone();
        action.clone_into(&mut entry.record.action);
        object.clone_into(&mut entry.record.object);
        object_id.clone_into(&mut entry.record.object_id);
        entry
    }

    /// What the operator does from the command line, or the server by itself.
    pub fn by_system(
        iso_id: Option<&IsoId>,
        now: Timestamp,
        action: &str,
        object: &str,
        object_id: impl Into<String>,
    ) -> Self {
        Self::by("system", iso_id, now, action, object, object_id)
    }

    fn by(
        actor: &str,
        iso_id: Option<&IsoId>,
        now: Timestamp,
        action: &str,
        object: &str,
        object_id: impl Into<String>,
    ) -> Self {
        let record = Record {
            iso_id: iso_id.cloned(),
            at: now,
            actor: actor.to_owned(),
            address: None,
            request_id: None,
            action: action.to_owned(),
            object: object.to_owned(),
            object_id: object_id.into(),
            related: Vec::new(),
            version_before: None,
            version_after: None,
            changes: String::new(),
            result: DONE.to_owned(),
            reason: String::new(),
        };
        Self { record, changes: Map::new() }
    }

    /// The versions of the object before and after; a new object had none.
    #[must_use]
    pub fn versions(mut self, before: Option<i64>, after: Option<i64>) -> Self {
        (self.record.version_before, self.record.version_after) = (before, after);
        self
    }

    /// Another object that the same change made or touched; it is found by this id, too.
    #[must_use]
    pub fn related(mut self, id: &str) -> Self {
        self.record.related.push(id.to_owned());
        self
    }

    /// A field whose values may be read by everybody who reads the log.
    #[must_use]
    pub fn changed(mut self, field: &str, from: impl Into<Value>, to: impl Into<Value>) -> Self {
        let change = json!({ "from": from.into(), "to": to.into() });
        self.changes.insert(field.to_owned(), change);
        self
    }

    /// A field of which only the name may be told: personal data, and everything secret.
    #[must_use]
    pub fn changed_unseen(mut self, field: &str) -> Self {
        self.changes.insert(field.to_owned(), MASKED.into());
        self
    }

    /// The request that it is a part of.
    fn within(mut self, origin: &Origin) -> Self {
        self.record.request_id = Some(origin.request_id.clone());
        self.record.address = origin.address.map(|address| address.to_string());
        self
    }

    /// It was not done, for this reason.
    #[must_use]
    pub fn refused(mut self, reason: &str) -> Self {
        REFUSED.clone_into(&mut self.record.result);
        reason.clone_into(&mut self.record.reason);
        self
    }

    /// Why it was done, in the words of who did it. No personal data.
    #[must_use]
    pub fn because(mut self, reason: &str) -> Self {
        reason.clone_into(&mut self.record.reason);
        self
    }
}

/// Appends an entry. Call it in the transaction of the change.
pub fn append(conn: &mut dyn Conn, entry: &Entry) -> Result<()> {
    let changes = Value::Object(entry.changes.clone()).to_string();
    audit::append(conn, &Record { changes, ..entry.record.clone() })
}

/// What is wrong with a chain, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChainFault {
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
    pub faults: Vec<ChainFault>,
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
    fn audit_chain_blocking(&self) -> Result<()> {
        while self.store.read_blocking(audit::has_unchained)? {
            self.store.write_blocking(self.chaining())?;
        }
        Ok(())
    }

    fn chaining(&self) -> impl Fn(&mut dyn Conn) -> Result<usize> + Send + 'static {
        let vault = std::sync::Arc::clone(&self.vault);
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
        let vault = std::sync::Arc::clone(&self.vault);
        // One snapshot: entries that are appended meanwhile would look like a broken end.
        let verify = move |conn: &mut dyn Conn| {
            let head = audit::head(conn, iso_id.as_ref())?;
            let mut check = Check::start(conn, iso_id.as_ref(), after, &vault)?;
            while check.checked < VERIFY_MAX && check.faults.len() < FAULTS_MAX {
                let page = audit::after(conn, iso_id.as_ref(), check.last, VERIFY_PAGE)?;
                if page.is_empty() {
                    check.end(&head, &seal(&vault, &head));
                    return Ok(Verified {
                        checked: check.checked,
                        next: None,
                        head,
                        faults: check.faults,
                    });
                }
                for link in &page {
                    check.link(link);
                }
            }
            let next = Some(check.last);
            Ok(Verified { checked: check.checked, next, head, faults: check.faults })
        };
        self.store.read(verify).await
    }
}

/// Proves the end of a chain, to those who have the installation's key.
fn seal(vault: &vault::Vault, head: &Head) -> Vec<u8> {
    let hash = blake3::Hash::from_slice(&head.hash)
        .map_or_else(|_| String::new(), |hash| hash.to_hex().to_string());
    vault.site_hash("audit head", &format!("{} {hash}", head.seq), &head.iso_id).to_vec()
}

/// A walk along a chain.
struct Check {
    last: i64,
    hash: Vec<u8>,
    checked: i64,
    faults: Vec<ChainFault>,
}

impl Check {
    /// What was taken off line is not looked at: the checkpoint stands for it.
    fn start(
        conn: &mut dyn Conn,
        iso_id: Option<&IsoId>,
        after: i64,
        vault: &vault::Vault,
    ) -> Result<Self> {
        let start = audit_keeping::checkpoint(conn, iso_id)?;
        let last = after.max(start.seq);
        let mut check = Self { last, hash: Vec::new(), checked: 0, faults: Vec::new() };
        if start.seq > 0 && start.seal != retention::seal_start(vault, &start) {
            check.fault(start.seq, "the seal of the chain's start is wrong");
        }
        if check.last == start.seq {
            check.hash.clone_from(&start.hash);
        } else {
            let before = audit::after(conn, iso_id, check.last - 1, 1)?;
            match before.first().filter(|link| link.seq == check.last) {
                Some(link) => check.hash.clone_from(&link.hash),
                None => check.fault(check.last, "the entry is missing"),
            }
        }
        Ok(check)
    }

    fn fault(&mut self, seq: i64, what: &'static str) {
        if self.faults.len() < FAULTS_MAX {
            self.faults.push(ChainFault { seq, what });
        }
    }

    fn link(&mut self, link: &Link) {
        let expected = self.last + 1;
        if link.seq != expected {
            self.fault(expected, "the entry is missing");
        } else if link.prev_hash != self.hash {
            self.fault(link.seq, "the entry does not follow the one before it");
        }
        if audit::hash(link.seq, &link.record, &link.prev_hash) != link.hash.as_slice() {
            self.fault(link.seq, "the entry was changed");
        }
        self.last = link.seq;
        self.hash.clone_from(&link.hash);
        self.checked += 1;
    }

    fn end(&mut self, head: &Head, seal: &[u8]) {
        if head.seq > self.last {
            self.fault(self.last + 1, "entries are missing at the end");
        } else if head.seq < self.last || head.hash != self.hash {
            self.fault(self.last, "the end of the chain is another one");
        }
        if head.seq > 0 && head.seal != seal {
            self.fault(head.seq, "the seal of the chain's end is wrong");
        }
    }
}
