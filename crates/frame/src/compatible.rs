//! What the clients of other products look at before they ask for more: the versions of the
//! products whose clients this site serves, and names that they know.

/// Of the shop's family of routes.
pub const SHOP: &str = "10.9.4";
/// Of the site's.
pub const SITE: &str = "7.0.4";
/// Of the theme that a new site has. Clients keep the names of templates and styles with it.
pub const STYLESHEET: &str = "twentytwentyfive";
