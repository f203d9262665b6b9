//! What pages of all crates are made of: values that are safe to show, and the active theme.
//! **Values are escaped by construction**: an address that could run a script cannot become an
//! [`Address`], and only [`TrustedHtml`] goes in as it is.

mod theme;
mod values;

pub use self::theme::{EmailLook, EmailStyle, THEME_OPTION, Theme, is_colour};
pub use self::values::{Address, Date, Link, TrustedHtml};

/// The style sheet of all pages, whose colours a theme may change.
pub const STYLE: &str = include_str!("../templates/style.css");
