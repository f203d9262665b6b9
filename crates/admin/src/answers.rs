//! What many operations of administration answer alike, for the document of the interface.

use contract::rest::Schema;

/// A word about whether it was done.
pub(crate) fn success(about: &str) -> Schema {
    Schema::object([("success", Schema::boolean().about(about))])
}

/// An object of such members, which clients know as an empty list while it has none.
pub(crate) fn members_or_list(member: Schema) -> Schema {
    Schema::types(&["object", "array"]).additional(member)
}
