//! The pages on which somebody decides: logging in, connecting an application, and what is said
//! when something went wrong.

use askama::Template;
use frame::pages::{Address, Link};
use types::Secret;
use url::{Host, Url};

use super::masthead::{Masthead, rendered};

/// Posts `log`, `pwd`, `redirect_to` and the token to `action`.
#[derive(Debug, Template)]
#[template(path = "login.html")]
pub struct LoginPage<'a> {
    pub site: Masthead<'a>,
    pub action: Address<'a>,
    /// Where to go afterwards; comes back as it is, and is checked then.
    pub redirect_to: &'a str,
    pub csrf: &'a str,
    pub error: Option<&'a str>,
    /// What was typed before.
    pub login: &'a str,
    /// Where a forgotten password is reset; none where nobody could be written to.
    pub forgot: Option<Address<'a>>,
    /// What the company's provider is called, and where one signs in there.
    pub provider: Option<(&'a str, Address<'a>)>,
}

/// Posts `second_factor`, `code` and the token to `action`.
#[derive(Debug, Template)]
#[template(path = "code.html")]
pub struct CodePage<'a> {
    pub site: Masthead<'a>,
    pub action: Address<'a>,
    /// Proves that the password was shown before.
    pub step: &'a str,
    pub csrf: &'a str,
    pub error: Option<&'a str>,
}

/// Posts `user_login` and the token to `action`.
#[derive(Debug, Template)]
#[template(path = "forgot.html")]
pub struct ForgotPage<'a> {
    pub site: Masthead<'a>,
    pub action: Address<'a>,
    pub sign_in: Address<'a>,
    pub csrf: &'a str,
    pub error: Option<&'a str>,
    /// Whether the e-mail is on its way, if there is somebody to write to.
    pub is_sent: bool,
}

/// Posts `key`, `pass1` and the token to `action`.
#[derive(Debug, Template)]
#[template(path = "new_password.html")]
pub struct NewPasswordPage<'a> {
    pub site: Masthead<'a>,
    pub action: Address<'a>,
    pub sign_in: Address<'a>,
    /// The token of the link.
    pub link: &'a str,
    /// Whose password it is.
    pub login: &'a str,
    pub csrf: &'a str,
    pub error: Option<&'a str>,
    pub is_done: bool,
}

/// Posts `magic_link`, `redirect_to` and the token to `action`.
#[derive(Debug, Template)]
#[template(path = "link.html")]
pub struct LinkPage<'a> {
    pub site: Masthead<'a>,
    pub action: Address<'a>,
    /// The token of the link.
    pub link: &'a str,
    /// Where to go afterwards; comes back as it is, and is checked then.
    pub redirect_to: &'a str,
    pub csrf: &'a str,
    /// Whom it signs in.
    pub login: &'a str,
    pub error: Option<&'a str>,
}

/// Posts `app_name`, `app_id`, `success_url`, `reject_url`, the token, and `approve` or `reject` to
/// `action`. The addresses were checked before; the form's are checked again.
#[derive(Debug, Template)]
#[template(path = "authorize.html")]
pub struct AuthorizePage<'a> {
    pub site: Masthead<'a>,
    pub action: Address<'a>,
    pub csrf: &'a str,
    /// The name of the person who decides.
    pub user_name: &'a str,
    pub app_name: &'a str,
    /// May be empty.
    pub app_id: &'a str,
    pub success_url: Option<&'a str>,
    pub reject_url: Option<&'a str>,
    /// For whoever wants to decide under another name.
    pub logout: Option<Address<'a>>,
    /// What to change about the name.
    pub error: Option<&'a str>,
}

/// The password of a connected application, for the one time that it is shown.
#[derive(Debug, Template)]
#[template(path = "authorized.html")]
pub struct AuthorizedPage<'a> {
    pub site: Masthead<'a>,
    pub app_name: &'a str,
    pub user_login: &'a str,
    pub password: &'a Secret<String>,
    pub done: Option<Address<'a>>,
}

#[derive(Debug, Template)]
#[template(path = "error.html")]
pub struct ErrorPage<'a> {
    pub site: Masthead<'a>,
    pub status: u16,
    pub title: &'a str,
    pub message: &'a str,
    pub back: Option<Link<'a>>,
}

/// What was done, where there is no other page to show it.
#[derive(Debug, Template)]
#[template(path = "notice.html")]
pub struct NoticePage<'a> {
    pub site: Masthead<'a>,
    pub title: &'a str,
    pub message: &'a str,
    pub back: Option<Link<'a>>,
}

pub fn notice(page: &NoticePage<'_>) -> String {
    rendered(page)
}

pub fn login(page: &LoginPage<'_>) -> String {
    rendered(page)
}

pub fn code(page: &CodePage<'_>) -> String {
    rendered(page)
}

pub fn forgot(page: &ForgotPage<'_>) -> String {
    rendered(page)
}

pub fn new_password(page: &NewPasswordPage<'_>) -> String {
    rendered(page)
}

pub fn link(page: &LinkPage<'_>) -> String {
    rendered(page)
}

pub fn authorize(page: &AuthorizePage<'_>) -> String {
    rendered(page)
}

pub fn authorized(page: &AuthorizedPage<'_>) -> String {
    rendered(page)
}

pub fn error(page: &ErrorPage<'_>) -> String {
    rendered(page)
}

/// Who gets the password, said so that a person can judge it.
#[derive(Debug, PartialEq, Eq)]
enum Destination {
    Website(String),
    ThisComputer(String),
    /// By the scheme of the addresses that it opens.
    App(String),
    /// Nobody but the person who approves.
    Screen,
}

impl AuthorizePage<'_> {
    fn destination(&self) -> Destination {
        self.success_url.map_or(Destination::Screen, destination)
    }
}

/// Reads the address as a browser does, so that `https://known.example@other.example` shows where
/// it leads.
fn destination(address: &str) -> Destination {
    let Ok(url) = Url::parse(address) else {
        return Destination::Website(address.to_owned());
    };
    if !matches!(url.scheme(), "http" | "https") {
        return Destination::App(format!("{}:", url.scheme()));
    }
    let is_loopback = match url.host() {
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        Some(Host::Domain(name)) => name == "localhost",
        None => false,
    };
    let host = url.host_str().unwrap_or(address);
    let shown = match url.port() {
        Some(port) => format!("{host}:{port}"),
        None => host.to_owned(),
    };
    if is_loopback { Destination::ThisComputer(shown) } else { Destination::Website(shown) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_destination_is_where_the_browser_would_go() {
        let website = |host: &str| Destination::Website(host.to_owned());
        let here = |host: &str| Destination::ThisComputer(host.to_owned());
        for (address, expected) in [
            ("https://app.example/cb?a=b", website("app.example")),
            ("https://APP.example:8443/cb", website("app.example:8443")),
            ("https://known.example@other.example/", website("other.example")),
            ("https://other.example\\@known.example/", website("other.example")),
            ("https://other.exam\tple/", website("other.example")),
            ("https://аpp.example/", website("xn--pp-6kc.example")),
            ("http://127.0.0.1:9/cb", here("127.0.0.1:9")),
            ("http://[::1]:9/cb", here("[::1]:9")),
            ("http://localhost/", here("localhost")),
            ("http://0x7f000001/", here("127.0.0.1")),
            ("shop://known.example/", Destination::App("shop:".to_owned())),
            ("no address", website("no address")),
        ] {
            assert_eq!(destination(address), expected, "{address}");
        }
    }
}
