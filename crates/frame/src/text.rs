//! Texts that become part of pages: cleaned of what could run, rendered, typeset, and as slugs.

pub mod blocks;
mod clean;
mod escape;
pub mod markdown;
pub mod render;
pub mod slug;
mod typography;

pub use self::clean::{clean_comment, clean_content, clean_shown, clean_title};
pub use self::escape::escaped;
pub use self::slug::slugify;
