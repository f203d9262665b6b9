//! The e-mails of the shop: which there are, what a merchant can set about each, and how all of
//! them look. [`kinds`] is the one table; settings, previews and what is sent follow from it.
//!
//! **An e-mail that is switched off is not sent**, and one is queued in the transaction of the
//! change that it is about. Who writes about orders is in `orders`.

mod kinds;
mod look;
mod send;

pub use self::kinds::OPTIONS;
pub(crate) use self::kinds::{
    ADDITIONAL_CONTENT, Audience, EMAIL_TYPE, EmailKind, FORMATS, HEADING, KINDS, RECIPIENT,
    SUBJECT, SWITCH, Wording, find,
};
pub use self::look::style;
pub(crate) use self::look::{FONTS, theme_look};
pub(crate) use self::send::{Content, is_on, queue};
