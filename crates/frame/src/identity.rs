//! Who makes a request: nobody, or a user by one of several kinds of credentials.

use std::sync::Arc;

use site_rows::user::UserRow;
use types::Capability;

/// A user with what their roles allow.
#[derive(Debug)]
pub struct User {
    pub row: UserRow,
}

impl User {
    pub fn new(row: UserRow) -> Self {
        Self { row }
    }

    pub fn id(&self) -> i64 {
        self.row.user_id
    }

    /// Whether they see the sales of one merchant or store only.
    pub fn is_bound(&self) -> bool {
        self.row.merchant_id.is_some() || self.row.store_id.is_some()
    }

    pub fn can(&self, capability: Capability) -> bool {
        self.row.roles.iter().any(|role| role.capabilities().contains(&capability))
    }
}

/// How a user showed who they are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Via {
    Nothing,
    /// A browser session, with a nonce that proves the page is ours.
    Session {
        token_hash: Vec<u8>,
    },
    ApplicationPassword {
        uuid: String,
    },
    ConsumerKey {
        key_id: i64,
    },
}

/// The caller of a request.
#[derive(Clone, Debug)]
pub struct Identity {
    pub user: Option<Arc<User>>,
    pub via: Via,
    /// Sent back to a session that showed a valid nonce.
    pub fresh_nonce: Option<String>,
}

impl Identity {
    pub const ANONYMOUS: Self = Self { user: None, via: Via::Nothing, fresh_nonce: None };

    pub fn of(user: Arc<User>, via: Via) -> Self {
        Self { user: Some(user), via, fresh_nonce: None }
    }

    pub fn is_anonymous(&self) -> bool {
        self.user.is_none()
    }

    pub fn can(&self, capability: Capability) -> bool {
        self.user.as_ref().is_some_and(|user| user.can(capability))
    }
}
