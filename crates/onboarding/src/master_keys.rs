//! The master keys that a server has, and what the database says about them. **A database knows its
//! master key by a fingerprint; two keys may be given, and the fingerprint says which of them
//! counts**, so that every server can have the next one before it does.

use data_encoding::HEXLOWER;
use db::{Conn, fact};
use types::{Environment, Error, Result, Timestamp};
use vault::{Fingerprint, MasterKey, Vault, WrappedKey};

/// The master key that counts, by its fingerprint.
pub(crate) const FINGERPRINT: &str = "master_key_fingerprint";
/// Those that counted before, one after the other.
pub(crate) const FORMER: &str = "former_master_keys";
/// The one that is about to count, and since when that is known; empty if there is none.
pub(crate) const NEXT: &str = "next_master_key";
/// When a server last said that it does not have it.
pub(crate) const NEXT_MISSING: &str = "next_master_key_missing";
/// What the first master key derived, in hex; nothing while that one counts.
pub(crate) const DERIVED: &str = "derived_keys";
/// The site's data key, in hex; nothing while it is derived.
pub(crate) const SITE_KEY: &str = "site_data_key";

/// The master keys that somebody has: one, and possibly the one that follows it.
#[derive(Clone, Debug)]
pub struct MasterKeys {
    pub main: MasterKey,
    pub next: Option<MasterKey>,
}

/// What the database says about its keys.
#[derive(Clone, Debug)]
pub(crate) struct KeyFacts {
    pub(crate) fingerprint: String,
    pub(crate) former: String,
    pub(crate) next: Option<(String, Timestamp)>,
    pub(crate) derived: Option<Vec<u8>>,
    pub(crate) site_key: Option<WrappedKey>,
}

impl KeyFacts {
    pub(crate) fn read(conn: &mut dyn Conn) -> Result<Self> {
        let mut text = |name: &str| Ok::<_, Error>(fact::get(conn, name)?.unwrap_or_default());
        let next = text(NEXT)?;
        let next = next.split_once(' ').and_then(|(fingerprint, at)| {
            Some((fingerprint.to_owned(), Timestamp::from_micros(at.parse().ok()?)))
        });
        let (derived, site_key) = (unhexed(&text(DERIVED)?)?, unhexed(&text(SITE_KEY)?)?);
        Ok(Self {
            fingerprint: text(FINGERPRINT)?,
            former: text(FORMER)?,
            next,
            derived,
            site_key: site_key.map(WrappedKey),
        })
    }
}

fn unhexed(text: &str) -> Result<Option<Vec<u8>>> {
    let damaged = |error| Error::internal("a stored key is damaged").because(error);
    let bytes = HEXLOWER.decode(text.as_bytes()).map_err(damaged)?;
    Ok(Some(bytes).filter(|bytes| !bytes.is_empty()))
}

/// Opens what the database keeps with one of the keys. A new database belongs to the main one.
pub(crate) fn open_vault(
    environment: Environment,
    conn: &mut dyn Conn,
    MasterKeys { main, next }: &MasterKeys,
) -> Result<Vault> {
    let next = next.as_ref();
    let text = |key: &MasterKey| Fingerprint::of(key, environment).to_string();
    fact::get_or_set(conn, FINGERPRINT, &text(main))?;
    let facts = KeyFacts::read(conn)?;
    let (counting, other) = match next {
        _ if facts.fingerprint == text(main) => (main, next),
        Some(next) if facts.fingerprint == text(next) => (next, Some(main)),
        _ if facts.former.split(' ').any(|former| former == text(main)) => {
            return Err(Error::invalid(format!(
                "the master key of the {environment} database was replaced; use the new one"
            )));
        }
        _ => {
            return Err(Error::invalid(format!(
                "the {environment} database was created with another master key; use that key"
            )));
        }
    };
    let vault = match &facts.derived {
        None => Vault::new(counting, environment),
        Some(derived) => Vault::with_kept(counting, environment, derived)?,
    };
    if let Some(other) = other {
        vault.accept(other);
    }
    if facts.next.as_ref().is_some_and(|(next, _)| !vault.accepts_text(next)) {
        return Err(Error::invalid(format!(
            "the master key of the {environment} database is being replaced; this server needs \
             the new key beside the old one"
        )));
    }
    if let Some(site_key) = &facts.site_key {
        vault.site_key_use(site_key)?;
    }
    Ok(vault)
}
