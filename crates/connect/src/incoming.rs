//! What stores send us: webhooks, and the keys that their owners grant. **Nothing is believed
//! without its proof**: a webhook is signed with a secret that the store was given, and a key comes
//! with the token that its owner was sent away with.

use std::ops::RangeInclusive;
use std::sync::Arc;

use db::Conn;
use frame::signing;
use onboarding::Platform;
use onboarding::connections::{self, StoreKey};
use onboarding::rows::connection::{self, ConnectionRow, ConnectionStatus, Hint};
use serde::Deserialize;
use serde_json::Value;
use subtle::ConstantTimeEq as _;
use types::Result;

use crate::follow::kind_of;
use crate::stores::Stores;

/// Hints of one connection that are kept; what is beyond is found by asking the store.
const HINTS_MAX: i64 = 10_000;
/// What a store sends to try an address out.
const PING: &[u8] = b"webhook_id=";
/// Bytes of a grant.
pub const GRANT_BYTES_MAX: usize = 16 * 1024;
/// Letters of a key, and of its secret, as whoever sends one to us may use.
const KEY_LENGTH: RangeInclusive<usize> = 10..=200;
const TOKEN_MAX: usize = 100;

/// What became of what a store sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Received {
    Taken,
    /// There is no such connection, or it wants nothing.
    NotFound,
    /// It is not proven.
    Refused,
}

/// Takes a webhook of a store.
pub async fn webhook(
    stores: &Arc<Stores>,
    id: &str,
    (topic, signature): (&str, &str),
    body: &[u8],
) -> Result<Received> {
    let Some(row) = find(stores, id).await? else { return Ok(Received::NotFound) };
    if body.starts_with(PING) && signature.is_empty() {
        return Ok(Received::Taken);
    }
    let (platform, reading) = (Arc::clone(&stores.platform), row.clone());
    let read = move |conn: &mut dyn Conn| platform.connection_keys(conn, &reading);
    let keys = stores.platform.store.read(read).await?;
    let secret = keys.access.webhook_secret.as_bytes();
    let expected = signing::hmac_sha256_base64(secret, body)?;
    if !bool::from(expected.as_bytes().ct_eq(signature.as_bytes())) {
        return Ok(Received::Refused);
    }
    let resource = topic.split('.').next().unwrap_or_default();
    let Some(kind) = kind_of(resource) else { return Ok(Received::Taken) };
    let body: Value = serde_json::from_slice(body).unwrap_or_default();
    let hint = Hint { resource: kind.name().to_owned(), object_id: told_of(&body), received_us: 0 };
    let now = stores.platform.clock.now();
    let keep = move |conn: &mut dyn Conn| connection::hint(conn, &row, &hint, now, HINTS_MAX);
    stores.platform.store.write(keep).await?;
    stores.wake.notify_one();
    Ok(Received::Taken)
}

/// The number of the record that a webhook is about; a variation is looked at with its product.
fn told_of(body: &Value) -> i64 {
    let number = |name: &str| body.get(name).and_then(Value::as_i64).unwrap_or_default();
    let is_variation = body.get("type").and_then(Value::as_str) == Some("variation");
    if is_variation && number("parent_id") > 0 { number("parent_id") } else { number("id") }
}

/// What a store sends when its owner has granted a key.
#[derive(Debug, Deserialize)]
struct Grant {
    user_id: UserId,
    consumer_key: String,
    consumer_secret: String,
}

/// What the owner was sent away with. Some stores make a number of what looks like one.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum UserId {
    Number(u64),
    Text(String),
}

/// The token and the key of a grant; nothing if they cannot be what they should.
fn read_grant(body: &[u8]) -> Option<(String, StoreKey)> {
    if body.len() > GRANT_BYTES_MAX {
        return None;
    }
    let Grant { user_id, consumer_key, consumer_secret } = serde_json::from_slice(body).ok()?;
    let token = match user_id {
        UserId::Number(number) => number.to_string(),
        UserId::Text(text) => text,
    };
    let is_fit = |text: &String| {
        KEY_LENGTH.contains(&text.len()) && text.bytes().all(|byte| matches!(byte, b' '..=b'~'))
    };
    let are_fit = token.len() <= TOKEN_MAX && is_fit(&consumer_key) && is_fit(&consumer_secret);
    are_fit.then_some((token, StoreKey { consumer_key, consumer_secret }))
}

/// Whether a connection waits for this grant. One that is paused takes it and stays so.
fn is_awaited(
    platform: &Platform,
    conn: &mut dyn Conn,
    row: &ConnectionRow,
    token: &str,
) -> Result<bool> {
    let waits = matches!(row.status, ConnectionStatus::Unauthorized | ConnectionStatus::Paused);
    if !waits || row.key_sealed.is_some() {
        return Ok(false);
    }
    let keys = platform.connection_keys(conn, row)?;
    Ok(keys.access.grant_token.as_bytes().ct_eq(token.as_bytes()).into())
}

/// Takes the key that the owner of a store granted. Who cannot prove the grant writes nothing.
pub async fn grant(stores: &Arc<Stores>, id: &str, body: &[u8]) -> Result<Received> {
    let Some(row) = find(stores, id).await? else { return Ok(Received::NotFound) };
    let Some((token, key)) = read_grant(body) else { return Ok(Received::Refused) };
    let platform = Arc::clone(&stores.platform);
    let (reading, asked, sent) = (Arc::clone(&platform), row.clone(), token.clone());
    let read = move |conn: &mut dyn Conn| is_awaited(&reading, conn, &asked, &sent);
    if !stores.platform.store.read(read).await? {
        return Ok(Received::Refused);
    }
    let now = platform.clock.now();
    let take = move |conn: &mut dyn Conn| {
        let Some(row) = connection::get(conn, &row.iso_id, &row.connection_id)? else {
            return Ok(Received::NotFound);
        };
        if !is_awaited(&platform, conn, &row, &token)? {
            return Ok(Received::Refused);
        }
        let is_paused = row.status == ConnectionStatus::Paused;
        let status =
            if is_paused { ConnectionStatus::Paused } else { ConnectionStatus::Connecting };
        let after = ConnectionRow {
            key_sealed: Some(platform.seal_store_key(conn, &row, &key)?),
            status,
            due: (!is_paused).then_some(now),
            lease: String::new(),
            lease_until: None,
            version: row.version + 1,
            updated: now,
            ..row
        };
        connection::update(conn, &after)?;
        connections::record_grant(conn, &after, now)?;
        Ok(Received::Taken)
    };
    let received = stores.platform.store.write(take).await?;
    stores.wake.notify_one();
    Ok(received)
}

/// The connection, unless it wants nothing any more.
async fn find(stores: &Stores, id: &str) -> Result<Option<ConnectionRow>> {
    if !connections::is_id(id) {
        return Ok(None);
    }
    let id = id.to_owned();
    let row = stores.platform.store.read(move |conn| connection::find(conn, &id)).await?;
    Ok(row.filter(|row| row.status != ConnectionStatus::Disconnected))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_what_can_be_a_key_is_read() {
        let body = |user: Value, key: &str, secret: &str| {
            let grant = json!({ "user_id": user, "consumer_key": key, "consumer_secret": secret,
                "key_id": 1, "key_permissions": "read_write" });
            read_grant(grant.to_string().as_bytes()).map(|(token, _)| token)
        };
        let (key, secret) = ("ck_0123456789", "cs_0123456789");
        assert_eq!(body(json!("token"), key, secret).as_deref(), Some("token"));
        assert_eq!(body(json!(12), key, secret).as_deref(), Some("12"));
        assert_eq!(body(json!(["token"]), key, secret), None);
        assert_eq!(body(json!("t".repeat(TOKEN_MAX + 1)), key, secret), None);
        assert_eq!(body(json!("token"), "ck_short", secret), None);
        assert_eq!(body(json!("token"), key, &"s".repeat(201)), None);
        assert_eq!(body(json!("token"), "ck_0123\n456789", secret), None);
        assert!(read_grant(&vec![b' '; GRANT_BYTES_MAX + 1]).is_none());
    }
}
