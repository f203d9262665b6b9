//! Users as everybody needs them who makes, shows or removes one: [`account`] makes them, [`names`]
//! says what they may be called.

pub mod account;
pub mod names;
mod removal;

use contract::rest::Stop;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use site_rows::user::UserRow;

pub use self::account::{BoundTo, NewUser, create_user};
pub use self::removal::{keep_an_administrator, remove_user};

use crate::auth::notices::{self, Notice};
use crate::{Call, Via};

/// Edges of the pictures, in pixels.
pub const AVATAR_SIZES: [u32; 3] = [24, 48, 96];
const AVATARS: &str = "https://secure.gravatar.com/avatar";

/// Addresses of the picture, by size.
pub fn avatar_urls(email: &str) -> Value {
    let folded = email.trim().to_lowercase();
    let hash = data_encoding::HEXLOWER.encode(&Sha256::digest(folded.as_bytes()));
    let address =
        |size: u32| (size.to_string(), json!(format!("{AVATARS}/{hash}?s={size}&d=mm&r=g")));
    Value::Object(AVATAR_SIZES.into_iter().map(address).collect())
}

/// Whoever knew the old password is signed out; the one who changed it stays.
pub fn end_other_sessions(call: &mut Call<'_>, user: &UserRow) -> Result<(), Stop> {
    let kept = match &call.visit.identity.via {
        Via::Session { token_hash } if call.user_id() == user.user_id => Some(token_hash.clone()),
        _ => None,
    };
    site_rows::session::delete_of_user(call.conn()?, user.user_id, kept.as_deref())?;
    Ok(())
}

/// What was sent to the address of before lets nobody in any more, and its reader is told.
pub fn leave_address(call: &mut Call<'_>, before: &UserRow) -> Result<(), Stop> {
    end_other_sessions(call, before)?;
    if call.visit.is_import {
        return Ok(());
    }
    let (site, now) = (call.site, call.now());
    Ok(notices::tell(call.conn()?, site, before, Notice::EmailChanged, now)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pictures_follow_from_the_address() {
        let hash = "a5f52d14c3fc8186621560096e5d59e6244a40efd78c497223a37d64a98103e3";
        let expected = format!("{AVATARS}/{hash}?s=24&d=mm&r=g");
        assert_eq!(avatar_urls("  Admin@Example.test ")["24"], json!(expected));
    }
}
