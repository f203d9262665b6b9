//! In whose name something is done to a plugin.

use frame::Site;
use site_rows::user::UserRow;
use types::Timestamp;

/// In whose name something is done, and when.
#[derive(Clone, Debug)]
pub(crate) struct Doing<'a> {
    pub(crate) site: &'a Site,
    pub(crate) user: UserRow,
    pub(crate) now: Timestamp,
}
