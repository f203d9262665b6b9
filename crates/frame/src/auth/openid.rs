//! Users by who they are at a provider of `OpenID` Connect. **Once somebody was here, only what the
//! provider calls them for good counts**: e-mail addresses are given to others one day.

use std::sync::Arc;

use db::Conn;
use site_rows::identity::{self, IdentityRow};
use site_rows::user;
use types::{Result, Role, Timestamp};

use super::notices::{self, Notice};
use crate::{Site, User};

const HASHING: &str = "openid identity";
const ISSUER_HASHING: &str = "openid issuer";
/// Roles that strangers give themselves, under any address.
const UNPROVEN: [Role; 2] = [Role::Customer, Role::Subscriber];

/// Whom a provider vouches for.
#[derive(Clone, Debug)]
pub struct ProvenIdentity {
    pub issuer: String,
    /// What the issuer calls them, and will never call another.
    pub subject: String,
    /// Their e-mail address, if the issuer has verified it.
    pub verified_email: Option<String>,
}

impl Site {
    /// The user whom this is. Who is here for the first time is the user with their e-mail address,
    /// unless that user came with another identity, or registered under an address that nobody
    /// proved. Nobody is made a user by this.
    pub async fn user_by_identity(
        self: &Arc<Self>,
        proven: ProvenIdentity,
        now: Timestamp,
    ) -> Result<Option<Arc<User>>> {
        let site = Arc::clone(self);
        let find = move |conn: &mut dyn Conn| find(conn, &site, &proven, now);
        self.store().write(find).await
    }
}

fn find(
    conn: &mut dyn Conn,
    site: &Site,
    proven: &ProvenIdentity,
    now: Timestamp,
) -> Result<Option<Arc<User>>> {
    let identity_hash = site.vault().site_hash(HASHING, &proven.subject, &proven.issuer).to_vec();
    if let Some(known) = identity::get(conn, &identity_hash)? {
        return Ok(user::get(conn, known.user_id)?.map(|row| Arc::new(User::new(row))));
    }
    let Some(email) = &proven.verified_email else { return Ok(None) };
    let Some(row) = user::find_by_email(conn, email)? else { return Ok(None) };
    let issuer_hash = site.vault().site_hash(ISSUER_HASHING, &proven.issuer, "").to_vec();
    let is_stranger = row.roles.iter().all(|role| UNPROVEN.contains(role));
    if is_stranger || identity::has_one(conn, row.user_id, &issuer_hash)? {
        return Ok(None);
    }
    let (user_id, linked) = (row.user_id, now);
    identity::insert(conn, &IdentityRow { identity_hash, issuer_hash, user_id, linked })?;
    notices::tell(conn, site, &row, Notice::IdentityLinked, now)?;
    Ok(Some(Arc::new(User::new(row))))
}
