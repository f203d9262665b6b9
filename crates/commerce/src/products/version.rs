//! What the versions of the interface share and do not share about products.

use types::Capability;

use crate::Rights;
use crate::common::version::Version;

/// Whether this is the third version, or builds on it.
pub(crate) fn is_current(version: Version) -> bool {
    version >= Version::Three
}

pub(crate) const RIGHTS: Rights = Rights {
    read: Capability::ReadPrivateProducts,
    create: Capability::PublishProducts,
    edit: Capability::EditProducts,
    delete: Capability::DeleteProducts,
    batch: Capability::EditOthersProducts,
};
