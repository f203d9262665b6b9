//! The pages on which somebody hands a consumer key to an application. The names of their fields
//! and what they tell search engines are those that existing clients know.

use askama::Template;
use frame::auth::consumer_key::Permissions;
use frame::pages::Address;

use super::masthead::{Masthead, rendered};

/// The field of the sign-in form with the token that proves that the form is ours.
pub const LOGIN_TOKEN_FIELD: &str = "woocommerce-login-nonce";
/// The query parameter of an approval with the token of the page that asked.
pub const GRANT_TOKEN_FIELD: &str = "wc_auth_nonce";

/// Posts `username`, `password`, `redirect` and the token to `action`.
#[derive(Debug, Template)]
#[template(path = "grant_login.html")]
pub struct GrantLoginPage<'a> {
    pub site: Masthead<'a>,
    pub app_name: &'a str,
    pub action: Address<'a>,
    /// Where to go afterwards; comes back as it is, and is checked then.
    pub redirect: &'a str,
    /// The page's own path.
    pub referer: &'a str,
    pub csrf: &'a str,
    pub error: Option<&'a str>,
    /// What was typed before.
    pub login: &'a str,
}

/// The question; both answers are links.
#[derive(Debug, Template)]
#[template(path = "grant.html")]
pub struct GrantPage<'a> {
    pub site: Masthead<'a>,
    /// The name of the person who decides.
    pub user_name: &'a str,
    pub app_name: &'a str,
    /// The host that gets the key.
    pub recipient: &'a str,
    pub permissions: Permissions,
    pub approve: Address<'a>,
    pub deny: Address<'a>,
    /// For whoever wants to decide under another name.
    pub logout: Address<'a>,
}

#[derive(Debug, Template)]
#[template(path = "grant_error.html")]
pub struct GrantErrorPage<'a> {
    pub site: Masthead<'a>,
    pub message: &'a str,
}

pub fn grant_login(page: &GrantLoginPage<'_>) -> String {
    rendered(page)
}

pub fn grant(page: &GrantPage<'_>) -> String {
    rendered(page)
}

pub fn grant_error(page: &GrantErrorPage<'_>) -> String {
    rendered(page)
}

impl GrantPage<'_> {
    /// What the key is good for, in a sentence's words.
    fn may(&self) -> &'static str {
        match self.permissions {
            Permissions::Read => "read everything in the store that you can",
            Permissions::Write => "create, change and delete what you can, without reading it",
            Permissions::ReadWrite => "read, create, change and delete everything that you can",
        }
    }
}
