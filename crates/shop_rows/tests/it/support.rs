//! Databases to test on, and rows of the site that those of the shop refer to.

pub(crate) use testkit::database::{TestDatabase, count, time, together};
pub(crate) use testkit::rows::{post, term, user};
