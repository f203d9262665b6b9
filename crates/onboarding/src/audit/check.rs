//! Checking a chain of the audit log: from the last checkpoint, which takes milliseconds, or from
//! its start.
//!
//! A checkpoint says that everything up to an entry was found whole, and holds what the last full
//! check found wrong. It is sealed with a key that the database does not have, so **who can write
//! to the database alone can delete a checkpoint or put an older one back, and never move it
//! forward**. It moves when a check that began at it, or at the start, has come to the sealed end
//! without an error; hashes without a sealed end behind them prove nothing.

use std::borrow::Cow;
use std::sync::Arc;

use data_encoding::HEXLOWER;
use db::Conn;
use serde::{Deserialize, Serialize};
use types::{Error, IsoId, Result, Timestamp};
use vault::Vault;

use super::chain::{seal, seal_start, seal_verified};
use crate::Platform;
use crate::rows::audit::{self, Head, Link};
use crate::rows::audit_keeping;
use crate::rows::audit_verified::{self, VerifiedRow};

/// Entries that one check looks at; a longer chain is checked in several.
pub const VERIFY_MAX: i64 = 100_000;
/// Entries read at once by a check.
const VERIFY_PAGE: i64 = 1_000;
/// Entries that a part of a full check looks at.
const PART_ENTRIES: i64 = 5_000;
/// Errors told of one check; the first one matters most.
const BREAKS_MAX: usize = 20;
/// Entries behind a checkpoint for which a new one is worth a write.
const CHECKPOINT_ENTRIES: i64 = 1_000;
/// Entries behind a checkpoint that are checked before anybody asks, which takes 30 ms.
const UNASKED_MIN: i64 = 10_000;
/// So many are left to a full check.
const UNASKED_MAX: i64 = 80_000;

/// What is wrong with a chain, and where.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChainBreak {
    pub seq: i64,
    pub what: Cow<'static, str>,
}

/// Where a check begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VerifyFrom {
    /// Where the last one ended, or at the start.
    Checkpoint,
    /// After the entry of this number; 0 is the start.
    After(i64),
}

/// What a check of a chain, or of a part of it, found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verified {
    /// After which entry it began.
    pub after: i64,
    pub checked: i64,
    /// Where to go on; none when the end was reached.
    pub next: Option<i64>,
    pub head: Head,
    /// The first ones; none when the chain is whole.
    pub errors: Vec<ChainBreak>,
}

impl Verified {
    /// Hash of the last entry, as people compare it.
    pub fn hash_text(&self) -> String {
        HEXLOWER.encode(&self.head.hash)
    }
}

impl Platform {
    /// Checks the chain of an ISO, or of what belongs to none. Of a check from the checkpoint,
    /// what the last full check found wrong is part.
    pub async fn audit_verify(&self, iso_id: Option<IsoId>, from: VerifyFrom) -> Result<Verified> {
        let (vault, owner) = (Arc::clone(&self.vault), iso_id.clone());
        // One snapshot: entries that are appended meanwhile would look like a broken end.
        let verify = move |conn: &mut dyn Conn| {
            let known = audit_verified::get(conn, owner.as_ref())?;
            let (mut check, may_move) = begin(conn, owner.as_ref(), from, &vault)?;
            let after = check.last;
            let (head, ended) = check.walk(conn, owner.as_ref(), VERIFY_MAX, &vault)?;
            let next = (!ended).then_some(check.last);
            let found =
                Verified { after, checked: check.checked, next, head, errors: check.errors };
            Ok((found, known, may_move))
        };
        let (found, known, may_move) = self.store.read(verify).await?;
        let is_whole = found.next.is_none() && found.errors.is_empty();
        if is_whole && may_move && found.checked >= CHECKPOINT_ENTRIES {
            let end = (found.head.iso_id.as_str(), found.head.seq, found.head.hash.as_slice());
            let row = sealed_row(&self.vault, end, &[], self.clock.now())?;
            // Whoever changed it meanwhile knows more.
            let moved = move |conn: &mut dyn Conn| {
                let is_same = audit_verified::get(conn, iso_id.as_ref())? == known;
                if is_same { audit_verified::set(conn, &row) } else { Ok(()) }
            };
            // A full disk is no reason to keep what was found from the caller.
            let _ = self.store.write(moved).await;
        }
        Ok(found)
    }

    /// [`Platform::audit_chain`], and a check of chains that have become much longer, so that few
    /// entries lie behind the last checkpoint whenever somebody asks. What is wrong stays to be
    /// found by who asks, and by the full check.
    pub async fn audit_chain_and_check(&self) -> Result<()> {
        while self.store.read(audit::has_unchained).await? {
            for iso_id in self.store.write_in_turn(self.chaining()).await?.grown {
                if let Err(error) = self.check_unasked(iso_id).await {
                    let error = error.report();
                    tracing::warn!(error, "what was added to an audit log is not checked yet");
                }
            }
        }
        Ok(())
    }

    async fn check_unasked(&self, iso_id: Option<IsoId>) -> Result<()> {
        let owner = iso_id.clone();
        let behind = move |conn: &mut dyn Conn| {
            let checked = audit_verified::get(conn, owner.as_ref())?.map_or(0, |row| row.seq);
            Ok(audit::head(conn, owner.as_ref())?.seq - checked)
        };
        if (UNASKED_MIN..UNASKED_MAX).contains(&self.store.read(behind).await?) {
            self.audit_verify(iso_id, VerifyFrom::Checkpoint).await?;
        }
        Ok(())
    }

    /// A full check, a part at a time, for the command line: `told` learns how many entries were
    /// looked at, and how many there are.
    pub fn audit_verify_blocking(
        &self,
        iso_id: Option<&IsoId>,
        told: &mut dyn FnMut(i64, i64),
    ) -> Result<Verified> {
        self.audit_chain_blocking()?;
        let mut check: Option<Check> = None;
        loop {
            let (owner, vault, before) = (iso_id.cloned(), Arc::clone(&self.vault), check);
            let part =
                move |conn: &mut dyn Conn| full_part(conn, owner.as_ref(), before.clone(), &vault);
            let (after, head, ended) = self.store.read_blocking(part)?;
            told(after.checked, after.total(&head));
            if ended {
                let (row, now) = (iso_id.cloned(), self.clock.now());
                let (ended, end, vault) = (after.clone(), head.clone(), Arc::clone(&self.vault));
                self.store.write_blocking(move |conn| {
                    settle(conn, row.as_ref(), (&ended, &end), &vault, now)
                })?;
                let Check { checked, errors, .. } = after;
                return Ok(Verified { after: 0, checked, next: None, head, errors });
            }
            check = Some(after);
        }
    }
}

fn sealed_row(
    vault: &Vault,
    (iso_id, seq, hash): (&str, i64, &[u8]),
    errors: &[ChainBreak],
    now: Timestamp,
) -> Result<VerifiedRow> {
    let errors = serde_json::to_string(errors)
        .map_err(|error| Error::internal("cannot serialize errors").because(error))?;
    let (iso_id, hash) = (iso_id.to_owned(), hash.to_vec());
    let mut row = VerifiedRow { iso_id, seq, hash, errors, made: now, seal: Vec::new() };
    row.seal = seal_verified(vault, &row);
    Ok(row)
}

/// The next part of a full check, which begins at the start of the chain. Entries may be appended
/// between parts, and the oldest taken off line.
pub(super) fn full_part(
    conn: &mut dyn Conn,
    iso_id: Option<&IsoId>,
    before: Option<Check>,
    vault: &Vault,
) -> Result<(Check, Head, bool)> {
    let mut check = match before {
        None => {
            let mut check = Check::start(conn, iso_id, 0, vault)?;
            check.milestone = check.known(conn, iso_id, vault)?.map(|row| (row.seq, row.hash));
            check
        }
        Some(mut check) => {
            let start = audit_keeping::checkpoint(conn, iso_id)?;
            if start.seq > check.last {
                check.stand_at_start(&start, vault);
            }
            check
        }
    };
    let (head, ended) = check.walk(conn, iso_id, PART_ENTRIES, vault)?;
    let enough = check.errors.len() >= BREAKS_MAX;
    Ok((check, head, ended || enough))
}

/// Writes down what a full check found: a new checkpoint, or the errors beside the old one.
pub(super) fn settle(
    conn: &mut dyn Conn,
    iso_id: Option<&IsoId>,
    (check, head): (&Check, &Head),
    vault: &Vault,
    now: Timestamp,
) -> Result<()> {
    let chain = head.iso_id.as_str();
    let row = if check.errors.is_empty() {
        sealed_row(vault, (chain, check.last, &check.hash), &[], now)?
    } else {
        let known = audit_verified::get(conn, iso_id)?;
        let known = known.filter(|row| row.seal == seal_verified(vault, row)).unwrap_or_default();
        sealed_row(vault, (chain, known.seq, &known.hash), &check.errors, now)?
    };
    audit_verified::set(conn, &row)
}

/// Where a check begins, and whether it proves everything before its end.
fn begin(
    conn: &mut dyn Conn,
    iso_id: Option<&IsoId>,
    from: VerifyFrom,
    vault: &Vault,
) -> Result<(Check, bool)> {
    if let VerifyFrom::After(after) = from {
        return Ok((Check::start(conn, iso_id, after, vault)?, false));
    }
    let mut check = Check::start(conn, iso_id, 0, vault)?;
    let Some(known) = check.known(conn, iso_id, vault)? else { return Ok((check, true)) };
    let found: Vec<ChainBreak> = serde_json::from_str(&known.errors)
        .map_err(|error| Error::internal("cannot read what a check found").because(error))?;
    check.errors.extend(found);
    if known.seq <= check.last {
        return Ok((check, true));
    }
    let (seq, hash) = (known.seq, known.hash);
    let link = audit::after(conn, iso_id, seq - 1, 1)?;
    match link.first().filter(|link| link.seq == seq) {
        None => check.error(seq, "the entry is missing"),
        Some(link) if link.hash != hash || !is_as_hashed(link) => {
            check.error(seq, "the entry was changed");
        }
        Some(_) => {}
    }
    (check.last, check.hash) = (seq, hash);
    Ok((check, true))
}

/// A walk along a chain.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Check {
    last: i64,
    hash: Vec<u8>,
    pub(super) checked: i64,
    pub(super) errors: Vec<ChainBreak>,
    /// An entry that an earlier check has seen, and its hash.
    milestone: Option<(i64, Vec<u8>)>,
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
        let mut check =
            Self { last: 0, hash: Vec::new(), checked: 0, errors: Vec::new(), milestone: None };
        check.stand_at_start(&start, vault);
        if after > start.seq {
            check.last = after;
            let before = audit::after(conn, iso_id, after - 1, 1)?;
            match before.first().filter(|link| link.seq == after) {
                Some(link) => check.hash.clone_from(&link.hash),
                None => check.error(after, "the entry is missing"),
            }
        }
        Ok(check)
    }

    fn stand_at_start(&mut self, start: &Head, vault: &Vault) {
        if start.seq > 0 && start.seal != seal_start(vault, start) {
            self.error(start.seq, "the seal of the chain's start is wrong");
        }
        self.last = start.seq;
        self.hash.clone_from(&start.hash);
    }

    /// What earlier checks found, if it is sealed right.
    fn known(
        &mut self,
        conn: &mut dyn Conn,
        iso_id: Option<&IsoId>,
        vault: &Vault,
    ) -> Result<Option<VerifiedRow>> {
        let known = audit_verified::get(conn, iso_id)?;
        if let Some(row) = known.as_ref().filter(|row| row.seal != seal_verified(vault, row)) {
            self.error(row.seq, "the seal of the last check is wrong");
            return Ok(None);
        }
        Ok(known)
    }

    /// Looks at up to `limit` entries; returns the end of the chain, and whether it was reached.
    fn walk(
        &mut self,
        conn: &mut dyn Conn,
        iso_id: Option<&IsoId>,
        limit: i64,
        vault: &Vault,
    ) -> Result<(Head, bool)> {
        let head = audit::head(conn, iso_id)?;
        let until = self.checked + limit;
        while self.checked < until && self.errors.len() < BREAKS_MAX {
            let page = audit::after(conn, iso_id, self.last, VERIFY_PAGE)?;
            if page.is_empty() {
                self.end(&head, &seal(vault, &head));
                return Ok((head, true));
            }
            for link in &page {
                self.link(link);
            }
        }
        Ok((head, false))
    }

    /// How many entries the whole walk looks at, as far as is known.
    pub(super) fn total(&self, head: &Head) -> i64 {
        self.checked + (head.seq - self.last).max(0)
    }

    fn error(&mut self, seq: i64, what: &'static str) {
        if self.errors.len() < BREAKS_MAX {
            self.errors.push(ChainBreak { seq, what: Cow::Borrowed(what) });
        }
    }

    fn link(&mut self, link: &Link) {
        let expected = self.last + 1;
        if link.seq != expected {
            self.error(expected, "the entry is missing");
        } else if link.prev_hash != self.hash {
            self.error(link.seq, "the entry does not follow the one before it");
        }
        if !is_as_hashed(link) {
            self.error(link.seq, "the entry was changed");
        }
        if self.milestone.as_ref().is_some_and(|(seq, hash)| *seq == link.seq && *hash != link.hash)
        {
            self.error(link.seq, "the entry is another one than at the last check");
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
        if self.milestone.as_ref().is_some_and(|(seq, _)| *seq > self.last) {
            self.error(self.last + 1, "entries of the last check are missing at the end");
        }
    }
}

fn is_as_hashed(link: &Link) -> bool {
    audit::hash(link.seq, &link.record, &link.prev_hash) == link.hash.as_slice()
}
