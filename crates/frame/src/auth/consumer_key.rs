//! Consumer keys: a key and a secret for one program, with the right to read, to write, or both.
//!
//! Over TLS they are sent as they are, in the query string or as Basic; without TLS a request is
//! signed with the secret instead, see [`super::oauth`]. They count on paths of the commerce
//! family alone.

use std::sync::Arc;
use std::time::Duration;

use contract::rest::Refusal;
use site_rows::consumer_key::{self as rows, ConsumerKeyRow};
use subtle::ConstantTimeEq as _;
use types::{Error, Result, Secret, Timestamp};
use vault::{Aad, Vault};

use super::oauth::wrong;
use super::{Found, basic, oauth};
use crate::{Identity, Request, Site, User, Via};

const KEY_PREFIX: &str = "ck_";
const SECRET_PREFIX: &str = "cs_";
const RANDOM_BYTES: usize = 20;
/// Letters of the key that lists show.
const SHOWN: usize = 7;
const HASH_PURPOSE: &str = "consumer key";
const LAST_ACCESS_PRECISION: Duration = Duration::from_mins(1);

/// What a key may be used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Permissions {
    Read,
    Write,
    ReadWrite,
}

impl Permissions {
    pub const fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::ReadWrite => "read_write",
        }
    }

    pub fn parse(name: &str) -> Option<Self> {
        [Self::Read, Self::Write, Self::ReadWrite].into_iter().find(|one| one.name() == name)
    }

    fn refusal(self, method: &str) -> Option<Refusal> {
        let missing = match (method, self) {
            ("GET" | "HEAD", Self::Write) => "read",
            ("POST" | "PUT" | "PATCH" | "DELETE", Self::Read) => "write",
            ("GET" | "HEAD" | "POST" | "PUT" | "PATCH" | "DELETE" | "OPTIONS", _) => return None,
            _ => "use this method with",
        };
        Some(wrong(format!("This key does not have {missing} permission.")))
    }
}

/// A new key, shown this once.
#[derive(Debug)]
pub struct NewKey {
    pub key: Secret<String>,
    pub secret: Secret<String>,
    pub row: ConsumerKeyRow,
}

/// Makes a key for a user. The row's id is given by the database.
pub fn generate(
    vault: &Vault,
    user_id: i64,
    permissions: Permissions,
    description: &str,
    now: Timestamp,
) -> Result<NewKey> {
    let pair = (random_text(KEY_PREFIX)?, random_text(SECRET_PREFIX)?);
    let row = row_of(vault, user_id, (&pair.0, &pair.1), (permissions, description), now)?;
    Ok(NewKey { key: Secret::new(pair.0), secret: Secret::new(pair.1), row })
}

/// The row of a key that was made before. Its id is given by the database.
pub fn row_of(
    vault: &Vault,
    user_id: i64,
    (key, secret): (&str, &str),
    (permissions, description): (Permissions, &str),
    now: Timestamp,
) -> Result<ConsumerKeyRow> {
    let truncated = key.chars().skip(key.chars().count().saturating_sub(SHOWN)).collect();
    let place = hash_text(vault, key);
    Ok(ConsumerKeyRow {
        key_id: 0,
        user_id,
        description: description.to_owned(),
        permissions: permissions.name().to_owned(),
        key_hash: hash(vault, key),
        secret_sealed: vault.site_seal(&secret_place(&place), secret.as_bytes())?,
        truncated_key: truncated,
        created: now,
        last_access: None,
    })
}

fn random_text(prefix: &str) -> Result<String> {
    let mut bytes = [0_u8; RANDOM_BYTES];
    vault::fill_random(&mut bytes)?;
    Ok(format!("{prefix}{}", data_encoding::HEXLOWER.encode(&bytes)))
}

fn hash(vault: &Vault, key: &str) -> Vec<u8> {
    vault.site_hash(HASH_PURPOSE, key, "").to_vec()
}

fn hash_text(vault: &Vault, key: &str) -> String {
    data_encoding::HEXLOWER.encode(&hash(vault, key))
}

/// A sealed secret opens only beside the key that it was made with.
fn secret_place(key_hash: &str) -> Aad<'_> {
    Aad { kind: "consumer_key", id: key_hash, column: "secret" }
}

impl Site {
    pub(super) async fn consumer_key_of(
        &self,
        request: &Request,
        method: &str,
        now: Timestamp,
    ) -> Result<Found, Error> {
        let plain = if request.secure { plain_pair(request) } else { None };
        // Basic may be an application password as well; what is in the query is a key or nothing.
        let is_key_alone = plain.is_some() && request.query_parameter("consumer_key").is_some();
        let found = match plain {
            Some((key, secret)) => self.check_plain(&key, &secret).await?,
            None => self.check_signed(request, now).await?,
        };
        match found {
            Ok(Some((row, user))) => {
                let refusal = match Permissions::parse(&row.permissions) {
                    Some(may) => may.refusal(method),
                    None => {
                        Some(wrong("The permissions of this key are invalid; create a new key."))
                    }
                };
                if let Some(refusal) = refusal {
                    return Ok(self.refused_key(refusal));
                }
                self.note_access(&row, now).await?;
                let identity = Identity::of(user, Via::ConsumerKey { key_id: row.key_id });
                Ok(Found::Somebody(Box::new(identity)))
            }
            Ok(None) if is_key_alone => {
                Ok(Found::Unknown(Box::new(wrong("The consumer key is invalid."))))
            }
            Ok(None) => Ok(Found::Nothing),
            Err(refusal) => Ok(self.refused_key(refusal)),
        }
    }

    /// The refusal by the name that the shop's family of routes gives it.
    fn refused_key(&self, refusal: Refusal) -> Found {
        let code = self.shop_code(&refusal.code).into();
        Found::Refused(Box::new(Refusal { code, ..refusal }))
    }

    async fn check_plain(&self, key: &str, secret: &str) -> Result<Checked, Error> {
        let Some((row, user)) = self.find_consumer_key(key).await? else { return Ok(Ok(None)) };
        let stored = self.secret_of(&row, key)?;
        if bool::from(stored.expose().as_slice().ct_eq(secret.as_bytes())) {
            Ok(Ok(Some((row, user))))
        } else {
            Ok(Err(wrong("The consumer secret is invalid.")))
        }
    }

    async fn check_signed(&self, request: &Request, now: Timestamp) -> Result<Checked, Error> {
        let signed = match oauth::read(request) {
            Ok(Some(signed)) => signed,
            Ok(None) => return Ok(Ok(None)),
            Err(refusal) => return Ok(Err(refusal)),
        };
        let Some((row, user)) = self.find_consumer_key(&signed.consumer_key).await? else {
            return Ok(Err(wrong("The consumer key is invalid.")));
        };
        let secret = self.secret_of(&row, &signed.consumer_key)?;
        let address = format!("{}{}", self.home_of(request), request.url_path);
        if let Err(refusal) = signed.verify(&request.method, &address, &secret, now) {
            return Ok(Err(refusal));
        }
        let (key_id, nonce, timestamp) = (row.key_id, signed.nonce.clone(), signed.timestamp);
        let fresh = self
            .store()
            .write(move |conn| rows::use_nonce(conn, key_id, &nonce, timestamp))
            .await?;
        if !fresh {
            return Ok(Err(wrong("This nonce was already used; use a new one for each request.")));
        }
        Ok(Ok(Some((row, user))))
    }

    async fn find_consumer_key(&self, key: &str) -> Result<Option<(ConsumerKeyRow, Arc<User>)>> {
        let hash = hash(self.vault(), key);
        let found = self.store().read(move |conn| {
            let Some(row) = rows::find_by_hash(conn, &hash)? else { return Ok(None) };
            let user = site_rows::user::get(conn, row.user_id)?;
            Ok(user.map(|user| (row, user)))
        });
        Ok(found.await?.map(|(row, user)| (row, Arc::new(User::new(user)))))
    }

    fn secret_of(&self, row: &ConsumerKeyRow, key: &str) -> Result<Secret<Vec<u8>>> {
        let hash = hash_text(self.vault(), key);
        self.vault().site_open(&secret_place(&hash), &row.secret_sealed)
    }

    async fn note_access(&self, row: &ConsumerKeyRow, now: Timestamp) -> Result<()> {
        let stale = row.last_access.is_none_or(|at| now.since(at) >= LAST_ACCESS_PRECISION);
        if !stale {
            return Ok(());
        }
        let key_id = row.key_id;
        self.store().write(move |conn| rows::touch(conn, key_id, now)).await
    }
}

type Checked = std::result::Result<Option<(ConsumerKeyRow, Arc<User>)>, Refusal>;

/// Key and secret as they are: in the query string, or as Basic.
fn plain_pair(request: &Request) -> Option<(String, String)> {
    let query = |name| request.query_parameter(name).filter(|text| !text.is_empty());
    if let (Some(key), Some(secret)) = (query("consumer_key"), query("consumer_secret")) {
        return Some((key.to_owned(), secret.to_owned()));
    }
    let basic = basic::of(request)?;
    Some((basic.login, basic.secret))
}
