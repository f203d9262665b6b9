//! OAuth 1.0a with a consumer key and no token: the request is signed, the secret is never sent.

use std::borrow::Cow;

use contract::rest::{Refusal, form};
use hmac::{Hmac, KeyInit as _, Mac as _};
use serde_json::{Map, Value};
use sha1::Sha1;
use sha2::Sha256;
use subtle::ConstantTimeEq as _;
use types::{Secret, Timestamp};
use url::{Position, Url};

use crate::Request;

/// How far the clocks of client and server may be apart.
const SKEW_S: u64 = 15 * 60;
/// Longer nonces are refused: each is kept for a while.
const NONCE_LENGTH_MAX: usize = 255;

/// How the names of all parameters begin.
const PREFIX: &str = "oauth_";
const REQUIRED: [&str; 5] = [
    "oauth_consumer_key",
    "oauth_timestamp",
    "oauth_nonce",
    "oauth_signature",
    "oauth_signature_method",
];

/// A signed request.
#[derive(Debug)]
pub(super) struct Signed {
    pub(super) consumer_key: String,
    pub(super) nonce: String,
    /// Seconds since 1970.
    pub(super) timestamp: i64,
    method: String,
    signature: String,
    /// All parameters but the signature, with brackets for nesting.
    params: Vec<(String, String)>,
}

/// The signature of the request, if it has one; some of its parts without the others are refused.
pub(super) fn read(request: &Request) -> Result<Option<Signed>, Refusal> {
    let media_type = request.header("content-type").unwrap_or_default();
    let is_form = media_type.starts_with("application/x-www-form-urlencoded");
    let of_header = header_params(request);
    // Nearly all requests have nothing of the kind, and need no copy of what they have.
    let is_signed = |name: &String| name.starts_with(PREFIX);
    if !is_form && of_header.is_empty() && !request.query.keys().any(is_signed) {
        return Ok(None);
    }
    let mut all = request.query.clone();
    if is_form {
        all.extend(form::decode(&String::from_utf8_lossy(&request.body)));
    }
    all.extend(of_header);
    let missing: Vec<&str> = REQUIRED.into_iter().filter(|name| !all.contains_key(*name)).collect();
    if missing.len() == REQUIRED.len() {
        return Ok(None);
    }
    if !missing.is_empty() {
        let message = format!("Missing OAuth parameters: {}.", missing.join(", "));
        let code = "authentication_missing_parameter";
        return Err(Refusal::new(401, code, message));
    }
    let text = |name: &str| all.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
    let timestamp = text("oauth_timestamp");
    let timestamp = timestamp.parse().map_err(|_| wrong("The timestamp must be in seconds."))?;
    let (consumer_key, nonce) = (text("oauth_consumer_key"), text("oauth_nonce"));
    let (signature, method) = (text("oauth_signature"), text("oauth_signature_method"));
    if nonce.is_empty() || nonce.len() > NONCE_LENGTH_MAX {
        return Err(wrong(format!("The nonce must have 1 to {NONCE_LENGTH_MAX} characters.")));
    }
    all.shift_remove("oauth_signature");
    let params = flatten(&all);
    Ok(Some(Signed { consumer_key, nonce, timestamp, method, signature, params }))
}

/// The address of a request with a signature in its query, for shops that are asked in plain text.
/// The address must not have a query with brackets.
pub fn signed(
    method: &str,
    url: &Url,
    (key, secret): (&str, &Secret<String>),
    nonce: &str,
    now: Timestamp,
) -> Url {
    let mut url = url.clone();
    let seconds = now.as_micros().div_euclid(1_000_000);
    url.query_pairs_mut()
        .append_pair("oauth_consumer_key", key)
        .append_pair("oauth_nonce", nonce)
        .append_pair("oauth_signature_method", "HMAC-SHA256")
        .append_pair("oauth_timestamp", &seconds.to_string());
    let pairs = url.query_pairs().map(|(name, value)| (name.into_owned(), value.into_owned()));
    let text = base_string(method, &url[..Position::AfterPath], &pairs.collect::<Vec<_>>());
    let signature = hmac_sha256(format!("{}&", secret.expose()).as_bytes(), text.as_bytes());
    let signature = data_encoding::BASE64.encode(&signature);
    url.query_pairs_mut().append_pair("oauth_signature", &signature);
    url
}

pub(super) fn wrong(message: impl Into<Cow<'static, str>>) -> Refusal {
    Refusal::new(401, "authentication_error", message)
}

impl Signed {
    /// Checks the signature and its time. Whether the nonce is fresh, the storage knows.
    pub(super) fn verify(
        &self,
        http_method: &str,
        address: &str,
        secret: &Secret<Vec<u8>>,
        now: Timestamp,
    ) -> Result<(), Refusal> {
        let text = self.base_string(http_method, address);
        let mut key = secret.expose().clone();
        key.push(b'&');
        let expected = match self.method.as_str() {
            "HMAC-SHA1" => hmac_sha1(&key, text.as_bytes()),
            "HMAC-SHA256" => hmac_sha256(&key, text.as_bytes()),
            _ => return Err(wrong("The signature method must be HMAC-SHA1 or HMAC-SHA256.")),
        };
        let expected = data_encoding::BASE64.encode(&expected);
        // A sign that was not encoded in the query string arrives as a blank.
        let given = self.signature.replace(' ', "+");
        if !bool::from(given.as_bytes().ct_eq(expected.as_bytes())) {
            // Not even at debug: what was signed holds every value of the request.
            return Err(wrong("The signature does not match the request."));
        }
        let apart = (now.as_micros() / 1_000_000).abs_diff(self.timestamp);
        if apart > SKEW_S {
            return Err(wrong("The timestamp is more than 15 minutes off; check your clock."));
        }
        Ok(())
    }

    fn base_string(&self, http_method: &str, address: &str) -> String {
        base_string(http_method, address, &self.params)
    }
}

fn base_string(http_method: &str, address: &str, params: &[(String, String)]) -> String {
    let mut pairs: Vec<(String, String)> =
        params.iter().map(|(name, value)| (encode(name), encode(value))).collect();
    pairs.sort();
    let joined: Vec<String> = pairs.iter().map(|(n, v)| format!("{n}={v}")).collect();
    let joined = encode(&joined.join("&"));
    format!("{}&{}&{joined}", http_method.to_ascii_uppercase(), encode(address))
}

/// The parameters of an `Authorization: OAuth` header.
fn header_params(request: &Request) -> Map<String, Value> {
    let header = request.header("authorization").unwrap_or_default();
    let Some(rest) = header.strip_prefix("OAuth ") else { return Map::new() };
    let pairs = rest.split(',').filter_map(|pair| pair.trim().split_once('='));
    pairs
        .filter(|(name, _)| name.starts_with(PREFIX))
        .map(|(name, value)| (name.to_owned(), Value::from(decode(value.trim_matches('"')))))
        .collect()
}

fn decode(text: &str) -> String {
    let pair = form::decode(&format!("x={}", text.replace('+', "%2B")));
    pair.get("x").and_then(Value::as_str).unwrap_or_default().to_owned()
}

/// Nested parameters by their names with brackets.
fn flatten(params: &Map<String, Value>) -> Vec<(String, String)> {
    let mut pairs = Vec::new();
    for (name, value) in params {
        flatten_into(&mut pairs, name.clone(), value);
    }
    pairs
}

fn flatten_into(pairs: &mut Vec<(String, String)>, name: String, value: &Value) {
    match value {
        Value::Object(members) => {
            for (key, inner) in members {
                flatten_into(pairs, format!("{name}[{key}]"), inner);
            }
        }
        Value::Array(items) => {
            for (index, inner) in items.iter().enumerate() {
                flatten_into(pairs, format!("{name}[{index}]"), inner);
            }
        }
        Value::String(text) => pairs.push((name, text.clone())),
        other => pairs.push((name, other.to_string())),
    }
}

/// Percent-encoding of RFC 3986: all but letters, digits and `-._~`.
fn encode(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            encoded.push(char::from(byte));
        } else {
            encoded.push('%');
            encoded.push_str(&data_encoding::HEXUPPER.encode(&[byte]));
        }
    }
    encoded
}

pub(super) fn hmac_sha1(key: &[u8], text: &[u8]) -> Vec<u8> {
    let Ok(mut mac) = Hmac::<Sha1>::new_from_slice(key) else { return Vec::new() };
    mac.update(text);
    mac.finalize().into_bytes().to_vec()
}

fn hmac_sha256(key: &[u8], text: &[u8]) -> Vec<u8> {
    let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(key) else { return Vec::new() };
    mac.update(text);
    mac.finalize().into_bytes().to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 5849, 1.2: the example of a photograph, signed without a token's secret here.
    #[test]
    fn the_base_string_sorts_and_encodes() {
        let params = [("size", "original"), ("file", "vacation.jpg"), ("a[b]", "1 2")];
        let params = params.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec();
        let signed = Signed {
            consumer_key: String::new(),
            nonce: String::new(),
            timestamp: 0,
            method: String::from("HMAC-SHA1"),
            signature: String::new(),
            params,
        };
        assert_eq!(
            signed.base_string("get", "http://photos.example.net/photos"),
            "GET&http%3A%2F%2Fphotos.example.net%2Fphotos&a%255Bb%255D%3D1%25202%26file%3D\
             vacation.jpg%26size%3Doriginal"
        );
    }

    /// RFC 2202, test case 2.
    #[test]
    fn hmac_is_hmac() {
        let mac = hmac_sha1(b"Jefe", b"what do ya want for nothing?");
        let text = data_encoding::HEXLOWER.encode(&mac);
        assert_eq!(text, "effcdf6ae5eb2fa2d27416d5f184df9c259a7c79");
    }
}
