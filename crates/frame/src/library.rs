//! The media library of a site: files come in, pictures get their sizes, rows are written, and what
//! nobody speaks of goes.
//!
//! A file is looked at and placed ([`place`]), then its rows are written ([`item`]). **A crash
//! leaves no row without its files**; files without a row are swept away ([`sweep`]). Nothing of
//! this happens inside of a transaction but the writing of rows. Pictures of other sites come by
//! the way out that is guarded ([`fetch`]).

pub mod backup;
pub mod fetch;
pub mod item;
pub mod place;
pub mod placed;
mod placeholder;
pub mod sweep;

pub use self::backup::LibraryFiles;
pub use self::item::NewItem;
pub use self::place::NotTaken;
pub use self::placed::Placed;
