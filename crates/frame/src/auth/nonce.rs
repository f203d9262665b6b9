//! Nonces: short proofs that a request with a session's cookie comes from a page of this site.
//!
//! A nonce is bound to an action, a user, their session and half a day, and stays valid for the
//! half day after.

use subtle::ConstantTimeEq as _;
use types::Timestamp;
use vault::Vault;

/// The action of REST requests.
pub const REST: &str = "wp_rest";

const LENGTH: usize = 10;
const TICK_US: i64 = 12 * 60 * 60 * 1_000_000;

/// Whom a nonce is for: user 0 and an empty token stand for nobody.
#[derive(Clone, Copy, Debug)]
pub struct Holder<'a> {
    pub user_id: i64,
    pub session: &'a [u8],
}

pub fn make(vault: &Vault, action: &str, holder: Holder<'_>, now: Timestamp) -> String {
    at_tick(vault, action, holder, now.as_micros().div_euclid(TICK_US))
}

pub fn is_valid(
    vault: &Vault,
    action: &str,
    holder: Holder<'_>,
    now: Timestamp,
    nonce: &str,
) -> bool {
    let tick = now.as_micros().div_euclid(TICK_US);
    [tick, tick - 1]
        .into_iter()
        .any(|tick| at_tick(vault, action, holder, tick).as_bytes().ct_eq(nonce.as_bytes()).into())
}

fn at_tick(vault: &Vault, action: &str, holder: Holder<'_>, tick: i64) -> String {
    let session = data_encoding::HEXLOWER.encode(holder.session);
    let bound_to = format!("{} {session} {tick}", holder.user_id);
    let hash = vault.site_hash("nonce", action, &bound_to);
    data_encoding::HEXLOWER.encode(&hash).chars().take(LENGTH).collect()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_nonce_is_for_one_holder_and_a_day_at_most() {
        let master = vault::MasterKey::generate().unwrap();
        let vault = Vault::new(&master, types::Environment::Sandbox);
        let now = Timestamp::parse("2026-11-15T08:00:00Z").unwrap();
        let anna = Holder { user_id: 7, session: b"token" };
        let nonce = make(&vault, REST, anna, now);
        assert_eq!(nonce.len(), LENGTH);
        let valid = |holder, hours, action| {
            let later = now.plus(Duration::from_hours(hours));
            is_valid(&vault, action, holder, later, &nonce)
        };
        assert!(valid(anna, 0, REST) && valid(anna, 12, REST));
        assert!(!valid(anna, 25, REST));
        assert!(!valid(anna, 0, "other"));
        assert!(!valid(Holder { user_id: 8, ..anna }, 0, REST));
        assert!(!valid(Holder { session: b"other", ..anna }, 0, REST));
    }
}
