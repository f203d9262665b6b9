//! API keys: their text, how they are issued, and the routes by which an ISO manages its own.

pub(crate) mod issue;
pub mod manage;
mod text;

pub use issue::{KEY_LIFE_DEFAULT, KEY_LIFE_MAX, KEY_OVERLAP_MAX, KEYS_MAX, KeyLife, NewKey};
pub use text::{ApiKey, KeyFault, ParsedKey, parse_authorization};
