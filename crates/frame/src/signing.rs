//! Signatures by which the receiver of a message knows who sent it, and that nobody changed it.
//!
//! A signed message has an id, a time and a body, and its signature covers all three, as Standard
//! Webhooks has it. Our webhooks are signed so, and so is what payment gateways and we tell each
//! other: **one definition for both directions**.

use std::time::Duration;

use data_encoding::BASE64;
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;
use subtle::ConstantTimeEq as _;
use types::{Error, Result, Secret, Timestamp};

/// The header fields of a signed message.
pub const MESSAGE_ID: &str = "webhook-id";
pub const MESSAGE_TIME: &str = "webhook-timestamp";
pub const MESSAGE_SIGNATURE: &str = "webhook-signature";
/// Before the text of a secret.
pub const SECRET_PREFIX: &str = "whsec_";
const SECRET_BYTES: usize = 32;
/// How far the time of a message may be from ours.
const TOLERANCE: Duration = Duration::from_mins(5);
/// Characters of a message's id at most.
const ID_LENGTH_MAX: usize = 100;
/// Signatures that are looked at; more than one comes while a secret is replaced.
const SIGNATURES_MAX: usize = 8;
const MICROS_PER_SECOND: i64 = 1_000_000;

/// Why a message is not believed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unproven {
    /// A field is missing or malformed.
    Unsigned,
    /// It was signed too long ago, or is from the future.
    Expired,
    /// None of its signatures is right.
    Wrong,
}

/// HMAC-SHA256 of the message, in base64.
pub fn hmac_sha256_base64(key: &[u8], message: &[u8]) -> Result<String> {
    Ok(BASE64.encode(&hmac_sha256(key, message)?))
}

/// HMAC-SHA256 of the message.
pub fn hmac_sha256(key: &[u8], message: &[u8]) -> Result<[u8; 32]> {
    let mac = Hmac::<Sha256>::new_from_slice(key);
    let mut mac = mac.map_err(|_| Error::internal("a key of this length cannot sign"))?;
    mac.update(message);
    Ok(mac.finalize().into_bytes().into())
}

/// A new secret: its text, to be shown once, and the bytes that sign.
pub fn new_secret() -> Result<(Secret<String>, Secret<Vec<u8>>)> {
    let mut bytes = vec![0; SECRET_BYTES];
    vault::fill_random(&mut bytes)?;
    let bytes = Secret::new(bytes);
    let text = format!("{SECRET_PREFIX}{}", BASE64.encode(bytes.expose()));
    Ok((Secret::new(text), bytes))
}

/// The bytes that sign for a secret as people write it; none if it is no such text.
pub fn key_of(secret: &str) -> Option<Secret<Vec<u8>>> {
    let bytes = BASE64.decode(secret.strip_prefix(SECRET_PREFIX)?.as_bytes()).ok()?;
    (bytes.len() >= SECRET_BYTES / 2).then(|| Secret::new(bytes))
}

/// The header fields that go with a message; each key adds a signature.
pub fn message_headers(
    keys: &[Secret<Vec<u8>>],
    id: &str,
    body: &[u8],
    now: Timestamp,
) -> Result<[(String, String); 3]> {
    let time = now.as_micros().div_euclid(MICROS_PER_SECOND).to_string();
    let signatures = keys
        .iter()
        .map(|key| Ok(format!("v1,{}", message_signature(key.expose(), (id, &time), body)?)))
        .collect::<Result<Vec<String>>>()?;
    Ok([
        (MESSAGE_ID.to_owned(), id.to_owned()),
        (MESSAGE_TIME.to_owned(), time),
        (MESSAGE_SIGNATURE.to_owned(), signatures.join(" ")),
    ])
}

fn message_signature(key: &[u8], (id, time): (&str, &str), body: &[u8]) -> Result<String> {
    let mut signed = format!("{id}.{time}.").into_bytes();
    signed.extend_from_slice(body);
    hmac_sha256_base64(key, &signed)
}

/// The id of a message that the key signed a moment ago. `header` finds a field by its name.
pub fn verify_message<'h>(
    key: &[u8],
    header: impl Fn(&str) -> Option<&'h str>,
    body: &[u8],
    now: Timestamp,
) -> std::result::Result<&'h str, Unproven> {
    let field = |name: &str| header(name).filter(|value| !value.is_empty());
    let (Some(id), Some(time), Some(signatures)) =
        (field(MESSAGE_ID), field(MESSAGE_TIME), field(MESSAGE_SIGNATURE))
    else {
        return Err(Unproven::Unsigned);
    };
    let seconds: i64 = time.parse().map_err(|_| Unproven::Unsigned)?;
    if id.len() > ID_LENGTH_MAX {
        return Err(Unproven::Unsigned);
    }
    let expected = message_signature(key, (id, time), body).map_err(|_| Unproven::Wrong)?;
    let is_right = |signature: &str| {
        let given = signature.strip_prefix("v1,").unwrap_or_default();
        bool::from(given.as_bytes().ct_eq(expected.as_bytes()))
    };
    if !signatures.split(' ').take(SIGNATURES_MAX).any(is_right) {
        return Err(Unproven::Wrong);
    }
    let signed = Timestamp::from_micros(seconds.saturating_mul(MICROS_PER_SECOND));
    if now > signed.plus(TOLERANCE) || signed > now.plus(TOLERANCE) {
        return Err(Unproven::Expired);
    }
    Ok(id)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 4231, test case 2.
    #[test]
    fn a_known_message_has_its_known_signature() {
        let signed = hmac_sha256_base64(b"Jefe", b"what do ya want for nothing?").unwrap();
        assert_eq!(signed, "W9zBRr9gdU5qBCQmCJV1x1oAPwidJzmDnexYuWTsOEM=");
        assert!(hmac_sha256_base64(b"", b"").is_ok(), "an empty key signs, too");
    }

    #[test]
    fn a_message_is_believed_as_it_was_signed_and_for_a_short_time() {
        let (text, key) = new_secret().unwrap();
        assert_eq!(key_of(text.expose()).unwrap().expose(), key.expose());
        assert!(key_of("whsec_c2hvcnQ=").is_none() && key_of("secret").is_none());
        let now = Timestamp::from_micros(1_700_000_000 * MICROS_PER_SECOND);
        let other = new_secret().unwrap().1;
        let headers =
            message_headers(&[other, Secret::new(key.expose().clone())], "msg_1", b"{}", now)
                .unwrap();
        let verify = |id: Option<&str>, body: &[u8], now: Timestamp| {
            let header = |name: &str| match (name, id) {
                (MESSAGE_ID, Some(id)) => Some(id.to_owned()),
                _ => headers.iter().find(|(own, _)| own == name).map(|(_, value)| value.clone()),
            };
            let found: Vec<(String, Option<String>)> =
                [MESSAGE_ID, MESSAGE_TIME, MESSAGE_SIGNATURE]
                    .map(|name| (name.to_owned(), header(name)))
                    .into();
            let header = |name: &str| {
                found.iter().find(|(own, _)| own == name).and_then(|(_, value)| value.as_deref())
            };
            verify_message(key.expose(), header, body, now).map(str::to_owned)
        };
        assert_eq!(verify(None, b"{}", now), Ok(String::from("msg_1")));
        assert_eq!(verify(None, b"{ }", now), Err(Unproven::Wrong));
        assert_eq!(verify(Some("msg_2"), b"{}", now), Err(Unproven::Wrong));
        assert_eq!(verify(Some(""), b"{}", now), Err(Unproven::Unsigned));
        let late = now.plus(TOLERANCE).plus(Duration::from_secs(1));
        assert_eq!(verify(None, b"{}", late), Err(Unproven::Expired));
        let early = Timestamp::from_micros(now.as_micros() - 301 * MICROS_PER_SECOND);
        assert_eq!(verify(None, b"{}", early), Err(Unproven::Expired));
    }
}
