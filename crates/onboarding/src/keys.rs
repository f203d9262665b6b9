//! API keys: their text, how they are issued, and the routes by which an ISO manages its own.

pub mod catalogue;
pub(crate) mod issue;
pub mod manage;
pub(crate) mod text;

pub use issue::{KEY_LIFE_DEFAULT, KEY_LIFE_MAX, KEY_OVERLAP_MAX, KEYS_MAX, KeyLife, NewKey};
pub use text::{ApiKey, KeyError, ParsedKey, parse_authorization};
