//! Connections of an ISO to stores elsewhere: which store, by which key, for which merchant.
//!
//! Here a connection is made, shown, changed and ended; what is done with it (copying the store and
//! following it) is the matter of a crate above, which works on the rows. **Keys are sealed with
//! the ISO's data key.** What anybody needs to ask the store, or to believe it, is [`Keys`].

pub mod alerts;
pub mod calendar;
pub mod manage;
pub mod portfolio;
pub mod rates;
mod view;

pub use view::StoreCheck;

use data_encoding::HEXLOWER;
use db::Conn;
use serde::{Deserialize, Serialize};
use site_rows::iso;
use types::{Error, Result, Secret, Timestamp};
use vault::{Aad, DataKey, WrappedKey};

use crate::Platform;
use crate::audit::{self, Entry};
use crate::rows::connection::{self, ConnectionRow, ConnectionStatus};
use crate::rows::iso_account;

/// Connections of one ISO at most.
pub const CONNECTIONS_MAX: i64 = 20_000;
/// What ids of connections begin with.
pub const ID_PREFIX: &str = "con_";
/// Below it are the copies of connected stores.
pub const STORES_ROOT: &str = "/s/";
const RANDOM_BYTES: usize = 20;

/// A key by which a store, or the copy of one, is asked.
#[derive(Clone, Serialize, Deserialize)]
pub struct StoreKey {
    pub consumer_key: String,
    pub consumer_secret: String,
}

impl std::fmt::Debug for StoreKey {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("StoreKey(***)")
    }
}

/// How programs read the copy, and how we believe what the store sends.
#[derive(Clone, Serialize, Deserialize)]
pub struct Access {
    pub reports: StoreKey,
    /// Signs the store's webhooks.
    pub webhook_secret: String,
    /// Comes back with the key that the store's owner grants.
    pub grant_token: String,
}

impl std::fmt::Debug for Access {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Access(***)")
    }
}

/// The keys of a connection.
#[derive(Clone, Debug)]
pub struct Keys {
    /// None until the store's owner has granted one.
    pub store: Option<StoreKey>,
    pub access: Access,
}

impl StoreKey {
    fn generate() -> Result<Self> {
        Ok(Self {
            consumer_key: format!("ck_{}", random_hex()?),
            consumer_secret: format!("cs_{}", random_hex()?),
        })
    }
}

impl Access {
    fn generate() -> Result<Self> {
        let reports = StoreKey::generate()?;
        Ok(Self { reports, webhook_secret: random_hex()?, grant_token: random_hex()? })
    }
}

fn random_hex() -> Result<String> {
    let mut bytes = [0_u8; RANDOM_BYTES];
    vault::fill_random(&mut bytes)?;
    Ok(HEXLOWER.encode(&bytes))
}

fn key_aad(id: &str) -> Aad<'_> {
    Aad { kind: "connection", id, column: "key" }
}

fn access_aad(id: &str) -> Aad<'_> {
    Aad { kind: "connection", id, column: "access" }
}

fn seal(key: &DataKey, aad: &Aad<'_>, value: &impl Serialize) -> Result<Vec<u8>> {
    let plain = serde_json::to_vec(value)
        .map_err(|error| Error::internal("a key cannot be written as JSON").because(error))?;
    key.seal(aad, Secret::new(plain).expose())
}

fn open<T: for<'a> Deserialize<'a>>(key: &DataKey, aad: &Aad<'_>, sealed: &[u8]) -> Result<T> {
    serde_json::from_slice(key.open(aad, sealed)?.expose())
        .map_err(|error| Error::internal("a key of a connection cannot be read").because(error))
}

/// Lets a connection have another key for its reports.
fn access_with_new_reports_key(data_key: &DataKey, row: &mut ConnectionRow) -> Result<Access> {
    let access = Access { reports: StoreKey::generate()?, ..keys_of(data_key, row)?.access };
    row.access_sealed = seal(data_key, &access_aad(&row.connection_id), &access)?;
    Ok(access)
}

fn keys_of(data_key: &DataKey, row: &ConnectionRow) -> Result<Keys> {
    let id = &*row.connection_id;
    let store = row.key_sealed.as_ref();
    Ok(Keys {
        store: store.map(|sealed| open(data_key, &key_aad(id), sealed)).transpose()?,
        access: open(data_key, &access_aad(id), &row.access_sealed)?,
    })
}

/// Whether a text can be the id of a connection at all.
pub fn is_id(text: &str) -> bool {
    text.strip_prefix(ID_PREFIX).is_some_and(crate::text::is_alphanumeric)
}

/// Notes in the audit log that the owner of a store granted its key.
pub fn record_grant(conn: &mut dyn Conn, row: &ConnectionRow, now: Timestamp) -> Result<()> {
    let (action, id) = ("connection.authorize", &*row.connection_id);
    let entry = Entry::by_system(Some(&row.iso_id), now, action, "connection", id);
    let entry = entry.changed_unseen("consumerKey");
    audit::append(conn, &entry.versions(Some(row.version - 1), Some(row.version)))
}

impl Platform {
    /// The keys of a connection, for who works on it.
    pub fn connection_keys(&self, conn: &mut dyn Conn, row: &ConnectionRow) -> Result<Keys> {
        keys_of(&self.iso_data_key(conn, row)?, row)
    }

    /// The key by which programs read the copy of a connection. None where nobody may: there is no
    /// such connection, it is being removed, or its ISO is not active.
    pub fn connection_reader(&self, conn: &mut dyn Conn, id: &str) -> Result<Option<StoreKey>> {
        let row = connection::find(conn, id)?;
        let is_there = |row: &ConnectionRow| row.status != ConnectionStatus::Disconnected;
        let Some(row) = row.filter(is_there) else { return Ok(None) };
        if !iso_account::get(conn, &row.iso_id)?.is_active() {
            return Ok(None);
        }
        Ok(Some(self.connection_keys(conn, &row)?.access.reports))
    }

    /// Seals the key that the owner of a store granted.
    pub fn seal_store_key(
        &self,
        conn: &mut dyn Conn,
        row: &ConnectionRow,
        key: &StoreKey,
    ) -> Result<Vec<u8>> {
        seal(&self.iso_data_key(conn, row)?, &key_aad(&row.connection_id), key)
    }

    fn iso_data_key(&self, conn: &mut dyn Conn, row: &ConnectionRow) -> Result<DataKey> {
        let owner = iso::get(conn, &row.iso_id)?;
        let owner = owner.ok_or_else(|| Error::internal("a connection has no ISO"))?;
        self.vault.data_key_open(&row.iso_id, &WrappedKey(owner.data_key))
    }
}
