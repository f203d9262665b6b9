//! An ISO as it is kept: its row, its account, and its contact, which is sealed.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use store::Conn;
use store::iso::{self, IsoRow};
use store::iso_account::{self, IsoAccount};
use store::outbox::{self, Event};
use types::{Error, IsoId, Result, Secret, Timestamp};
use vault::{Aad, DataKey, Vault, WrappedKey};

use crate::audit::{self, Entry};
use crate::change::object_not_found;

/// The person to talk to about an ISO.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct IsoContact {
    /// Name of the person.
    pub(crate) contact_name: Option<String>,
    /// E-mail address.
    pub(crate) email: Option<String>,
    /// Phone number.
    pub(crate) phone_number: Option<String>,
    /// Address of the ISO's site.
    pub(crate) website: Option<String>,
}

impl IsoContact {
    pub(crate) fn seal(&self, key: &DataKey, iso_id: &IsoId) -> Result<Vec<u8>> {
        let plain = serde_json::to_vec(self)
            .map_err(|error| Error::internal("a contact cannot be kept").because(error))?;
        key.seal(&contact_aad(iso_id), Secret::new(plain).expose())
    }

    fn open(key: &DataKey, account: &IsoAccount) -> Result<Self> {
        let Some(sealed) = &account.contact_sealed else { return Ok(Self::default()) };
        let plain = key.open(&contact_aad(&account.iso_id), sealed)?;
        serde_json::from_slice(plain.expose())
            .map_err(|error| Error::internal("a stored contact cannot be read").because(error))
    }
}

fn contact_aad(iso_id: &IsoId) -> Aad<'_> {
    Aad { kind: "iso", id: iso_id.as_str(), column: "contact_sealed" }
}

/// An ISO with its account.
#[derive(Clone, Debug)]
pub(crate) struct IsoRecord {
    pub(crate) row: IsoRow,
    pub(crate) account: IsoAccount,
}

impl IsoRecord {
    pub(crate) fn load(conn: &mut dyn Conn, iso_id: &IsoId) -> Result<Self> {
        let row = iso::get(conn, iso_id)?.ok_or_else(object_not_found)?;
        let account = iso_account::get(conn, iso_id)?;
        Ok(Self { row, account })
    }

    pub(crate) fn contact(&self, vault: &Vault) -> Result<IsoContact> {
        IsoContact::open(&self.data_key(vault)?, &self.account)
    }

    pub(crate) fn data_key(&self, vault: &Vault) -> Result<DataKey> {
        vault.data_key_open(&self.row.iso_id, &WrappedKey(self.row.data_key.clone()))
    }

    /// Writes what changed, with its event and its entry in the audit log.
    pub(crate) fn store_change(
        &mut self,
        conn: &mut dyn Conn,
        kind: &'static str,
        changed: &[&'static str],
        entry: Entry,
        now: Timestamp,
    ) -> Result<()> {
        let before = self.account.version;
        self.account.version += 1;
        self.account.updated = Some(now);
        iso::update(conn, &self.row)?;
        iso_account::put(conn, &self.account, now)?;
        outbox::append(conn, &self.event(kind, changed, now))?;
        let entry = entry.versions(Some(before), Some(self.account.version));
        audit::append(conn, &entry)
    }

    /// The thin body of an event.
    pub(crate) fn event(&self, kind: &'static str, changed: &[&str], now: Timestamp) -> Event {
        let data = json!({
            "object": "iso", "id": self.row.iso_id, "status": self.account.status,
            "version": self.account.version, "changed": changed,
        });
        Event {
            iso_id: Some(self.row.iso_id.clone()),
            kind,
            object_id: self.row.iso_id.as_str().to_owned(),
            payload: data.to_string(),
            created: now,
        }
    }
}

/// What an administrator, or the operator, decides on an ISO.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    Approve,
    Reject,
    Suspend,
    Resume,
}

impl Decision {
    /// Its name in the table of states.
    pub const fn action(self) -> &'static str {
        match self {
            Self::Approve => "approve",
            Self::Reject => "reject",
            Self::Suspend => "suspend",
            Self::Resume => "resume",
        }
    }

    pub(super) fn audit_action(self) -> String {
        format!("iso.{}", self.action())
    }
}
