//! Whose cart a request is about, and whether it may change it.
//!
//! A guest's cart has a name that nobody can guess. Who knows it shows a token: in the header
//! `Cart-Token`, or in a cookie. **A token is signed, holds for two days and is the only way to a
//! guest's cart; that of a user needs the user's sign-in as well.** A cookie is sent by a browser
//! whether or not its user wants that, so who has no token in the header shows a nonce.

use std::time::Duration;

use contract::rest::{Refusal, Reply, Stop};
use data_encoding::{BASE64URL_NOPAD, HEXLOWER};
use frame::auth::nonce::{self, Holder};
use frame::cookies::{self, Life};
use frame::{Call, Site, Via, Visit};
use md5::{Digest as _, Md5};
use serde_json::{Value, json};
use subtle::ConstantTimeEq as _;
use types::Error;

/// How long a token and a cart hold.
pub(crate) const LIFE: Duration = Duration::from_hours(48);
const ISSUER: &str = "store-api";
/// Of what stands in links: it shows a cart, and gives it to nobody.
const LINK_ISSUER: &str = "cart-link";
const HEADER: &str = r#"{"alg":"HS256","typ":"JWT"}"#;
/// The action that nonces are for.
const NONCE_ACTION: &str = "wc_store_api";
/// Random bytes in the name of a guest's cart, and what it begins with.
const GUEST_BYTES: usize = 15;
const GUEST_PREFIX: &str = "t_";
/// Characters of a token at most.
const TOKEN_LENGTH_MAX: usize = 1_000;
/// The header by which the items of a batch learn of the cart of the whole.
pub(crate) const OUTER_TOKEN: &str = "outer-cart-token";
const ITEMS_COOKIE: &str = "woocommerce_items_in_cart";
const HASH_COOKIE: &str = "woocommerce_cart_hash";

/// Who asks, as far as carts are concerned.
#[derive(Clone, Debug)]
pub(crate) struct Session {
    /// The name of the cart.
    pub(crate) key: String,
    /// Whether the request itself showed a token, so that it needs no nonce.
    has_token: bool,
}

impl Session {
    pub(crate) fn of(call: &Call<'_>) -> Result<Self, Error> {
        let shown = call.visit.header("cart-token").and_then(|token| key_of(call, token, ISSUER));
        if let Some(key) = shown {
            return Ok(Self { key, has_token: true });
        }
        if let Some(key) = user_key(call) {
            return Ok(Self { key, has_token: false });
        }
        let cookie = cookies::among(&call.visit.headers, &cookie_name(call));
        let outer = call.visit.header(OUTER_TOKEN).or(cookie);
        let key = match outer.and_then(|token| key_of(call, token, ISSUER)) {
            Some(key) => key,
            None => guest_key()?,
        };
        Ok(Self { key, has_token: false })
    }

    /// The guest's cart that the browser's cookie names, whoever is signed in.
    pub(crate) fn of_guest(call: &Call<'_>) -> Option<Self> {
        let cookie = cookies::among(&call.visit.headers, &cookie_name(call))?;
        let key = key_of(call, cookie, ISSUER).filter(|key| key.starts_with(GUEST_PREFIX))?;
        Some(Self { key, has_token: false })
    }

    /// The guest's cart that a link names.
    pub(crate) fn of_link(call: &Call<'_>, token: &str) -> Option<Self> {
        let key = key_of(call, token, LINK_ISSUER).filter(|key| key.starts_with(GUEST_PREFIX))?;
        Some(Self { key, has_token: false })
    }

    /// Refuses a request that shows neither a token nor a nonce.
    pub(crate) fn prove(&self, call: &Call<'_>) -> Result<(), Refusal> {
        if self.has_token {
            return Ok(());
        }
        let Some(given) = call.visit.header("nonce").filter(|nonce| !nonce.is_empty()) else {
            let message = "The Nonce header is required; every response of the cart has one.";
            return Err(Refusal::new(401, "woocommerce_rest_missing_nonce", message));
        };
        let holder = holder(call.visit);
        if nonce::is_valid(call.site.vault(), NONCE_ACTION, holder, call.now(), given) {
            return Ok(());
        }
        let message = "The nonce is invalid or expired; use that of the last response.";
        Err(Refusal::new(403, "woocommerce_rest_invalid_nonce", message))
    }

    /// The token by which the cart is found again.
    pub(crate) fn token(&self, call: &Call<'_>) -> Result<String, Error> {
        token(call, &self.key, ISSUER)
    }

    /// Adds what every response about a cart carries. A hash is empty for an empty cart; `before`
    /// is that of the cart before the request.
    pub(crate) fn dress(
        &self,
        call: &Call<'_>,
        reply: Reply,
        before: &str,
        hash: &str,
    ) -> Result<Reply, Error> {
        let reply = self.with_headers(call, reply, hash)?;
        let token = self.token(call)?;
        Ok(self.with_cookies(call, reply, (before, hash), &token))
    }

    /// The same for a response that tells nothing about what is in the cart.
    pub(crate) fn with_headers(
        &self,
        call: &Call<'_>,
        reply: Reply,
        hash: &str,
    ) -> Result<Reply, Error> {
        let nonce = nonce_for(call.site, call.visit);
        let token = self.token(call)?;
        let seconds = call.now().as_micros().div_euclid(1_000_000);
        let reply = reply
            .header("nonce", nonce)
            .header("nonce-timestamp", seconds.to_string())
            .header("user-id", call.user_id().to_string())
            .header("cart-token", token)
            .header("cart-hash", hash);
        Ok(reply.header("cache-control", "no-store"))
    }

    /// Tells a browser whether there is a cart, and which it is.
    fn with_cookies(
        &self,
        call: &Call<'_>,
        mut reply: Reply,
        (before, hash): (&str, &str),
        token: &str,
    ) -> Reply {
        let known = |name: &str| cookies::among(&call.visit.headers, name);
        let secure = call.visit.secure;
        let has_cart = !hash.is_empty();
        for (name, value) in [(ITEMS_COOKIE, "1"), (HASH_COOKIE, hash)] {
            let is_over = !has_cart && (known(name).is_some() || !before.is_empty());
            if has_cart {
                reply = reply.header("set-cookie", cookies::set(name, value, Life::Visit, secure));
            } else if is_over {
                reply = reply.header("set-cookie", cookies::set(name, "", Life::Over, secure));
            }
        }
        let name = cookie_name(call);
        let named = known(&name).and_then(|token| key_of(call, token, ISSUER));
        if self.has_token || !has_cart || named.as_ref() == Some(&self.key) {
            return reply;
        }
        reply.header("set-cookie", cookies::set(&name, token, Life::Lasting(LIFE), secure))
    }
}

/// The reply to a refusal; what the operation changed before it stays.
pub(crate) fn refused(refusal: &Refusal) -> Reply {
    Reply::from(refusal)
}

/// Whatever an operation refuses becomes a reply, so that it can be dressed like any other.
pub(crate) fn reply_of(outcome: Result<Reply, Stop>) -> Result<Reply, Error> {
    match outcome {
        Ok(reply) => Ok(reply),
        Err(Stop::Refused(refusal)) => Ok(refused(&refusal)),
        Err(Stop::Failed(error)) => Err(error),
    }
}

/// A token for the link to a guest's cart; none for a user's, who signs in.
pub(crate) fn link_token(call: &Call<'_>, key: &str) -> Result<Option<String>, Error> {
    key.starts_with(GUEST_PREFIX).then(|| token(call, key, LINK_ISSUER)).transpose()
}

/// MD5 in hexadecimal digits: a short name of something, never a secret.
pub(crate) fn digest(text: &str) -> String {
    HEXLOWER.encode(&Md5::digest(text.as_bytes()))
}

/// The nonce by which a request of this visitor may change their cart.
pub(crate) fn nonce_for(site: &Site, visit: &Visit) -> String {
    nonce::make(site.vault(), NONCE_ACTION, holder(visit), visit.now)
}

fn holder(visit: &Visit) -> Holder<'_> {
    let session: &[u8] = match &visit.identity.via {
        Via::Session { token_hash } => token_hash,
        _ => &[],
    };
    Holder { user_id: visit.identity.user.as_ref().map_or(0, |user| user.id()), session }
}

fn user_key(call: &Call<'_>) -> Option<String> {
    Some(call.user_id()).filter(|id| *id != 0).map(|id| id.to_string())
}

fn guest_key() -> Result<String, Error> {
    let mut bytes = [0; GUEST_BYTES];
    vault::fill_random(&mut bytes)?;
    Ok(format!("{GUEST_PREFIX}{}", HEXLOWER.encode(&bytes)))
}

fn cookie_name(call: &Call<'_>) -> String {
    format!("wp_woocommerce_session_{}", digest(&call.visit.home))
}

fn signature(call: &Call<'_>, message: &str) -> Result<[u8; 32], Error> {
    let key = call.site.vault().site_hash("cart-token", "signing key", "");
    frame::signing::hmac_sha256(&key, message.as_bytes())
}

fn token(call: &Call<'_>, key: &str, issuer: &str) -> Result<String, Error> {
    let seconds = call.now().as_micros().div_euclid(1_000_000);
    let life = i64::try_from(LIFE.as_secs()).unwrap_or_default();
    let claims =
        json!({ "user_id": key, "exp": seconds + life, "iss": issuer, "iat": seconds }).to_string();
    let encode = |text: &str| BASE64URL_NOPAD.encode(text.as_bytes());
    let message = format!("{}.{}", encode(HEADER), encode(&claims));
    let signature = BASE64URL_NOPAD.encode(&signature(call, &message)?);
    Ok(format!("{message}.{signature}"))
}

/// The cart that a token is for, if it is ours, holds still and is for whoever shows it.
fn key_of(call: &Call<'_>, token: &str, issuer: &str) -> Option<String> {
    if token.len() > TOKEN_LENGTH_MAX {
        return None;
    }
    let (message, given) = token.rsplit_once('.')?;
    let given = BASE64URL_NOPAD.decode(given.as_bytes()).ok()?;
    let expected = signature(call, message).ok()?;
    if !bool::from(expected.as_slice().ct_eq(&given)) {
        return None;
    }
    let (_, claims) = message.split_once('.')?;
    let claims = BASE64URL_NOPAD.decode(claims.as_bytes()).ok()?;
    let claims: Value = serde_json::from_slice(&claims).ok()?;
    let now = call.now().as_micros().div_euclid(1_000_000);
    let holds = claims.get("iss")? == issuer && claims.get("exp")?.as_i64()? > now;
    let key = claims.get("user_id")?.as_str().filter(|_| holds)?;
    let is_guest = key.starts_with(GUEST_PREFIX);
    (is_guest || user_key(call).as_deref() == Some(key)).then(|| key.to_owned())
}
