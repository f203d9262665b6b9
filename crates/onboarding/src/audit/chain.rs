//! The chain of hashes along the audit log of each ISO: linking entries to it, and what proves its
//! ends. [`super::check`] walks along it.

use std::sync::Arc;

use data_encoding::HEXLOWER;
use db::Conn;
use types::{Result, Timestamp};
use vault::Vault;

use super::entry::{Entry, append};
use crate::Platform;
use crate::caller::{Origin, Refused};
use crate::rows::audit::{self, Head, Linked};
use crate::rows::audit_verified::VerifiedRow;

/// Entries linked in one transaction.
const CHAIN_BATCH: i64 = 500;

impl Platform {
    /// Links what has been appended. A read when there is nothing to link.
    pub async fn audit_chain(&self) -> Result<()> {
        while self.store.read(audit::has_unchained).await? {
            self.store.write_in_turn(self.chaining()).await?;
        }
        Ok(())
    }

    /// [`Platform::audit_chain`] for the command line.
    pub(super) fn audit_chain_blocking(&self) -> Result<()> {
        while self.store.read_blocking(audit::has_unchained)? {
            self.store.write_in_turn_blocking(self.chaining())?;
        }
        Ok(())
    }

    pub(super) fn chaining(&self) -> impl Fn(&mut dyn Conn) -> Result<Linked> + Send + 'static {
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
}

/// Proves the end of a chain, to those who have the installation's key.
pub(super) fn seal(vault: &Vault, head: &Head) -> Vec<u8> {
    let hash = HEXLOWER.encode(&head.hash);
    vault.site_hash("audit head", &format!("{} {hash}", head.seq), &head.iso_id).to_vec()
}

/// Proves the start of a chain, to those who have the installation's key.
pub(super) fn seal_start(vault: &Vault, start: &Head) -> Vec<u8> {
    let position = format!("{} {}", start.seq, HEXLOWER.encode(&start.hash));
    vault.site_hash("audit checkpoint", &position, &start.iso_id).to_vec()
}

/// Proves what a check found, to those who have the installation's key.
pub(super) fn seal_verified(vault: &Vault, row: &VerifiedRow) -> Vec<u8> {
    let hash = HEXLOWER.encode(&row.hash);
    let found = format!("{} {hash} {} {}", row.seq, row.made.as_micros(), row.errors);
    vault.site_hash("audit verified", &found, &row.iso_id).to_vec()
}
