//! The versions of the products whose clients this site serves. Clients look at them before they
//! ask for more.

/// Of the shop's family of routes.
pub const SHOP: &str = "10.9.4";
/// Of the site's.
pub const SITE: &str = "7.0.4";
